"""Numbers and rows in C (wv_cli._floattext) against exact fractions, printf and NumPy."""

import locale
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.reference.vectors import nearest_float32
from wv_cli import _floattext
from wv_cli.vectors.formats.escape import escape_word, unwritable_part

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
decimals = st.from_regex(re.compile(r"-?[0-9]{1,25}(\.[0-9]{0,45})?([eE][-+]?[0-9]{1,2})?", re.ASCII), fullmatch=True)


def bits(value):
    return int(np.float32(value).view(np.uint32))


def parse(text):
    return _floattext.parse_float(text.encode())


@pytest.mark.full
@settings(max_examples=1000)
@given(decimals)
@example("16777217")  # midway between two floats: the even one
@example("16777217.00000000000000000000000000000000000001")
@example("0.00000000000000000000000000000000000000000000070064923216240853546186479164495806564013097093825788587853")
@example("3.40282356779733661637539395458142568447e38")  # half a step above the largest
@example("3.40282356779733661637539395458142568448e38")
@example("1e-60")
@example("-0.000000")
@example("123456789012345678901234567890")
def test_reading_is_correctly_rounded(text):
    assert bits(parse(text)) == bits(nearest_float32(text))


@settings(max_examples=500)
@given(st.integers(0, 0x7F7FFFFE), st.sampled_from([-1, 0, 1]))
def test_reading_at_midpoints(pattern, side):
    """Exactly between two neighbors, and a hair beside it: where one rounding after another goes wrong."""
    low, high = (np.uint32(p).view(np.float32) for p in (pattern, pattern + 1))
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    digits = middle.denominator.bit_length()  # a power of two, 2^n: n decimals are exact, one more is for the hair
    text = str(middle.numerator * 10**digits // middle.denominator + side).rjust(digits + 1, "0")
    text = f"{text[: len(text) - digits]}.{text[len(text) - digits :]}"
    assert bits(parse(text)) == bits(nearest_float32(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.", 1), (".5", 0.5), ("+3", 3), ("-inf", -math.inf), ("Infinity", math.inf), ("1e400", math.inf), ("1e-400", 0),
     ("0e999999999999", 0), ("1e39", math.inf), ("0." + "0" * 40 + "1e41", 1.0)],
)  # fmt: skip
def test_forms_of_numbers(text, value):
    assert parse(text) == value


def test_nan_keeps_its_sign():
    assert math.isnan(parse("nan")) and math.copysign(1, parse("-NaN")) == -1


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "e5", "1e", "1e+", "0x10", "1_0", "1,5", "1.2.3", "nano", "infinit", "--1", " 1", "1 ", "1\0"],
)
def test_what_is_no_number(text):
    assert parse(text) is None


def test_longest_number():
    assert parse("0." + "0" * 997 + "1") == 0
    assert parse("0." + "0" * 998 + "1") is None


@settings(max_examples=1000)
@given(floats, st.integers(1, 9))
@example(-0.0, 6)
@example(-1e-30, 6)
@example(0.5, 1)
@example(4e9, 9)
@example(3.4028234663852886e38, 9)
@example(2.5e-7, 6)
def test_fixed_decimals_are_printf(value, digits):
    assert _floattext.format_float(value, digits) == b"%.*f" % (digits, value)


@pytest.mark.full
@settings(max_examples=3000)
@given(floats, st.integers(1, 6))
@example(-0.0, 5)
@example(2.0**-149, 6)
@example(3.4028234663852886e38, 1)
@example(9.99995, 5)
@example(99999.5, 5)
@example(0.5, 1)
@example(2.5, 1)
@example(100005.0, 5)
@example(100015.0, 5)
@example(0.0001220703125, 5)
@example(9.9999e-5, 5)
@example(math.inf, 5)
def test_significant_digits_are_printf(value, digits):
    assert _floattext.format_float(value, -digits) == b"%.*g" % (digits, value)


def significant_digits(text):
    return len(re.sub(r"e.*|[-.]", "", text).strip("0"))


@settings(max_examples=2000)
@given(floats)
@example(1.1754943508222875e-38)
@example(9007199254740992.0)
@example(2.0**-149)
@example(1e9)
@example(1e10)
@example(9.999999e-6)
def test_shortest_reads_back_and_is_shortest(value):
    text = _floattext.format_float(value, 0).decode()
    assert bits(parse(text)) == bits(value)
    peer = np.format_float_scientific(np.float32(value), unique=True, trim="-")
    assert significant_digits(text) == significant_digits(peer)
    assert Fraction(text) == Fraction(peer)


def test_shortest_of_every_exponent_and_its_neighbors():
    """Powers of two have uneven gaps around them."""
    for exponent in range(255):
        for pattern in (exponent << 23, (exponent << 23) + 1, (exponent << 23) + 0x7FFFFF):
            value = np.uint32(pattern).view(np.float32)
            text = _floattext.format_float(float(value), 0).decode()
            assert bits(parse(text)) == pattern
            assert Fraction(text) == Fraction(np.format_float_scientific(value, unique=True, trim="-"))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1, "0.1"), (-0.0, "-0"), (1, "1"), (1e9, "1e+09"), (123456, "123456"), (1e-6, "0.000001"), (1e-7, "1e-07"),
     (1.5e-10, "1.5e-10"), (3.4028235e38, "3.4028235e+38"), (100, "100"), (12.5, "12.5")],
)  # fmt: skip
def test_shortest_forms(value, text):
    assert _floattext.format_float(value, 0).decode() == text


def test_table_of_powers():
    """The constants of the shortest form, recomputed with whole numbers."""
    source = (Path(__file__).parents[3] / "csrc" / "core" / "floattext_write.c").read_text()
    table = re.search(r"powers_of_ten\[\] = \{(.*?)\};", source, re.DOTALL)
    assert table is not None
    found = [int(text, 16) for text in re.findall(r"0x([0-9A-F]{16})u", table[1])]
    expected = []
    for k in range(-38, 52):
        power = Fraction(10) ** k
        shift = 63 - ((k * 1741647) >> 19)
        assert 2 ** (63 - shift) <= power < 2 ** (64 - shift)
        expected.append(math.ceil(power * Fraction(2) ** shift))
    assert found == expected


def test_no_locale():
    """A program that embeds Python may have set a locale with decimal commas."""
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "ru_RU.UTF-8"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
            break
        except locale.Error:
            continue
    else:
        pytest.skip("no locale with decimal commas is installed")
    try:
        assert parse("16777217.5") == 16777218 and _floattext.format_float(1e20, 6) == b"100000000000000000000.000000"
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)


def read_rows(text, dim, capacity=10, binary=False, dim_is_known=False):
    buffer = bytearray(text) + bytes(_floattext.PADDING)
    matrix, lengths = np.zeros((capacity, dim), np.float32), np.zeros(capacity, np.int64)
    rows, consumed, word_bytes, stop = _floattext.read_rows(buffer, 0, len(text), matrix, lengths, binary, dim_is_known)
    ends = np.cumsum(lengths[:rows])
    words = [bytes(buffer[end - n : end]) for end, n in zip(ends, lengths[:rows], strict=True)]
    assert sum(map(len, words)) == word_bytes
    return words, matrix[:rows].tolist(), consumed, stop


@pytest.mark.parametrize(
    ("line", "word"),
    [(b"w 1 2\n", b"w"), (b"w 1 2 \r\n", b"w"), (b"w\t1\t2\n", b"w"), (b"w  1   2\n", b"w"), (b"3 1 2\n", b"3"),
     (b"new york 1 2\n", b"new york"), (b". . . 1 2\n", b". . ."), (b" . 1 2\n", b" ."), (b"  1 2\n", b" "),
     (b"a\xc2\xa0b 1 2 \n", b"a\xc2\xa0b"), (b"5 times 1 2\n", b"5 times"), (b"a\tb 1 2\n", b"a\tb"),
     (b"\0 1 2\n", b"\0"), (b"x" * 100000 + b" 1 2\n", b"x" * 100000)],
)  # fmt: skip
def test_words_of_text_rows(line, word):
    assert read_rows(line, 2) == ([word], [[1, 2]], len(line), _floattext.STOP_NONE)


@pytest.mark.parametrize(
    "line",
    [b"\n", b" \n", b"w\n", b"w 1\n", b" 1 2\n", b"1 2\n", b"w 1 2 3\n", b"w 5 1 2\n", b"w 1 x\n", b"w 1 2x\n",
     b"w 1 2 x\n", b"w 1,5 2\n", b" w 3 1 2\n"],
)  # fmt: skip
def test_rows_that_are_refused(line):
    assert read_rows(b"good 0.5 0.25\n" + line, 2) == ([b"good"], [[0.5, 0.25]], 14, _floattext.STOP_BAD_ROW)


@pytest.mark.parametrize(
    ("line", "word"),
    [(b"Windows 10 1 2\n", b"Windows 10"), (b"iPhone 6 1 2 \r\n", b"iPhone 6"), (b"w 8.1 1 2\n", b"w 8.1"),
     (b"2 3 4 1 2\n", b"2 3 4"), (b" w 3 1 2\n", b" w 3")],
)  # fmt: skip
def test_words_that_end_with_a_number_where_the_dim_is_known(line, word):
    assert read_rows(line, 2, dim_is_known=True) == ([word], [[1, 2]], len(line), _floattext.STOP_NONE)


def test_a_number_of_many_decimals_ends_no_word():
    assert read_rows(b"w 0.1234 1 2\n", 2, dim_is_known=True)[3] == _floattext.STOP_BAD_ROW


def test_not_finite_stops_at_its_row():
    for number in (b"nan", b"-inf", b"1e39"):
        assert read_rows(b"a 1\nb " + number + b"\nc 3\n", 1)[2:] == (4, _floattext.STOP_NOT_FINITE)


def test_capacity_is_respected():
    assert read_rows(b"a 1\nb 2\nc 3\n", 1, capacity=2) == ([b"a", b"b"], [[1], [2]], 8, _floattext.STOP_NONE)


def test_what_cannot_be_written_has_one_list():
    """C looks for it, Python names and escapes it."""
    for byte in range(256):
        word = b"a" + bytes([byte])
        found = _floattext.first_unwritable(word, np.array([0, 2])) == 0
        assert found is bool(unwritable_part(word)) is (byte in b" \t\n\0")
        assert (escape_word(word) != word) is (found or byte == ord("%"))


def test_misuse_is_refused():
    matrix, lengths, starts = np.zeros((1, 2), np.float32), np.zeros(1, np.int64), np.array([0, 1])
    with pytest.raises(ValueError, match="range"):
        _floattext.read_rows(bytearray(b"a 1 2\n"), 0, 6, matrix, lengths, False)  # no padding
    with pytest.raises(ValueError, match="newline"):
        _floattext.read_rows(bytearray(b"a 1 2" + bytes(16)), 0, 5, matrix, lengths, False)
    with pytest.raises(ValueError, match="fit"):
        _floattext.read_rows(bytearray(22), 0, 0, matrix, np.zeros(0, np.int64), False)
    with pytest.raises(ValueError, match="small"):
        _floattext.format_rows(matrix, b"a", starts, 0, 1, 6, True, bytearray(20))
    with pytest.raises(ValueError, match="range"):
        _floattext.format_rows(matrix, b"a", starts, 0, 2, 6, True, bytearray(999))
    with pytest.raises(ValueError, match="side by side"):
        _floattext.pack_rows(np.zeros((2, 4), np.float32)[:, ::2], b"ab", np.array([0, 1, 2]), 0, 1, bytearray(99))
    with pytest.raises(ValueError, match="decimals"):
        _floattext.format_float(1.0, 10)
