"""The heuristics of `wv filter`: C against the reference implementation, and each bound at its border."""

import codecs
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import characters
from tests.reference import heuristics as reference
from tests.walk import require_rows
from wv_cli import _textstatistics
from wv_cli.filtering.heuristics import HEURISTICS, RECIPES, WORD_STATISTICS, statistics
from wv_cli.filtering.languages import languages, rules_of_language

codecs.register_error("wv-each-byte", lambda error: ("\ufffd", error.start + 1))

LATIN = (
    "the and that a b ab The U.S. e.g. Mr. end. end.Next don't it’s John's they'll we've '' \" “q” ( ) [12] [edit] {x} "
    "# ... .. … • - — mother-in-law a/b x=y 1,000 2-3 10% 9kg 5€ $5 +3 + a,b www.ex-a.com/b-c http://a.bc/d?e "
    "): :) ' '' 's 'd 8) :: cannot id It's hes can't've and/or i.e. 10am. 10a.m.) US$5 C$ GPL'd b. °C. "
    "x.com:y x.co:80 m:a@b.cd 8US$ …… "
    "javascript JavaScript lorem Lorem ipsum. privacy policy Uses cookies A. AB. .. ? ! 3.5. j@x-y.org --"
)
OTHERS = "é été. 中文。 ひ ☺ a☺b \u3000 \u00a0 \u200b \x85 \u2028 \x1c \r \r\n \0 ² Ⅷ ा. 🎉 «mot» é. ؟"
PIECES = f"{LATIN} {OTHERS}".split(" ")
texts = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from([" ", " ", "\n", "\n\n", "a b c d e f ", "line one.\n"]),
        st.text(max_size=3),
    ),
    max_size=60,
).map("".join)
spaced = st.lists(st.sampled_from([*PIECES, "\n", "\n\n", "a"]), max_size=80).map(" ".join)


def check(text: bytes) -> None:
    found = {name: values[0] for name, values in statistics([text], list(HEURISTICS)).items()}
    assert found == reference.statistics(text.decode(errors="wv-each-byte"))
    counted = [name for name in WORD_STATISTICS if "-gram" not in name]  # no list of tokens
    assert {name: values[0] for name, values in statistics([text], counted).items()} == {
        name: found[name] for name in counted
    }


@given(st.one_of(texts, spaced))
@settings(max_examples=60)
def test_statistics_equal_the_reference(text):
    check(text.encode(errors="surrogatepass"))


@given(st.lists(st.one_of(st.binary(max_size=4), st.sampled_from([b"a ", b"\n", "é".encode(), b"."])), max_size=40))
def test_bytes_that_are_not_utf8_count_as_replacement_characters(parts):
    check(b"".join(parts))


@given(st.one_of(texts, spaced), st.integers(0, 7))
def test_tokens_equal_the_reference(text, rules):
    expected = [token.encode() for token in reference.tokens(text, rules)]
    assert _textstatistics.tokens(text.encode(), rules) == expected


def test_exceptions_of_english_hold_for_no_other_language():
    """German "im" is no English "I'm"; emoticons and initials are the same in all languages."""
    text = "im id :-) a. foo(): can't"
    assert b" ".join(_textstatistics.tokens(text.encode())).decode() == "i m i d :-) a. foo ( ): ca n't"
    assert (
        b" ".join(_textstatistics.tokens(text.encode(), _textstatistics.FOREIGN)).decode()
        == "im id :-) a. foo ( ): can't"
    )


def test_hyphens_and_apostrophes_of_other_languages():
    """Hyphens join words in German and Spanish; French and Italian cut behind an apostrophe."""
    text = "Salz-und-Pfeffer 3-4 a--b l'homme qu’à d'accord-il it's «l'un»".encode()
    for rules, expected in (
        (_textstatistics.FOREIGN, "Salz - und - Pfeffer 3 - 4 a -- b l'homme qu’à d'accord - il it 's « l'un »"),
        (_textstatistics.KEEP_HYPHENS, "Salz-und-Pfeffer 3 - 4 a--b l'homme qu’à d'accord-il it 's « l'un »"),
        (
            _textstatistics.CUT_APOSTROPHES,
            "Salz - und - Pfeffer 3 - 4 a -- b l' homme qu’ à d' accord - il it 's « l' un »",
        ),
    ):
        assert b" ".join(_textstatistics.tokens(text, rules)).decode() == expected


# Words that share a beginning of 8 bytes or more, or a length.
stop_words = st.text(st.sampled_from("abé的"), min_size=1, max_size=7) | st.sampled_from(
    ["abcdefgh", "abcdefghi", "abcdefghj", "abcdefgh" * 4, "abcdefgh" * 3 + "abcdefgi", "a\0", ",", "ab,", "7"]
)


@given(st.lists(stop_words, unique=True, max_size=64), st.lists(stop_words, max_size=80), st.integers(0, 7))
def test_stop_words_equal_the_reference(words, text, rules):
    language = _textstatistics.Language([word.encode() for word in words], rules)
    joined = " ".join(text)
    found = _textstatistics.statistics([joined.encode()], list(range(len(HEURISTICS))), language)
    expected = reference.statistics(joined, None, words, rules)
    assert dict(zip(HEURISTICS, found[:, 0].tolist(), strict=True)) == expected
    alone = _textstatistics.statistics([joined.encode()], [list(HEURISTICS).index("stop-words")], language)
    assert alone[0, 0] == expected["stop-words"]


def test_a_mark_may_be_a_stop_word():
    stop_words, language = list(HEURISTICS).index("stop-words"), _textstatistics.Language([b","], 0)
    assert _textstatistics.statistics([b"ab, c"], [stop_words], language).tolist() == [[1]]


def test_a_language_has_at_most_64_different_stop_words():
    words = [str(number).encode() for number in range(65)]
    text = b" ".join(words)
    stop_words, numbers = list(HEURISTICS).index("stop-words"), _textstatistics.Language(words[:64], 0)
    assert _textstatistics.statistics([text, text[-9:]], [stop_words], numbers).tolist() == [[64, 2]]
    for bad in (words, [b"a", b"a"], [b""]):
        with pytest.raises(ValueError, match="stop words"):
            _textstatistics.Language(bad, 0)


def test_every_language_has_its_stop_words():
    for name in languages():
        rules = rules_of_language(name)
        words, text = rules.stop_words, " ".join(rules.stop_words)
        flags = _textstatistics.KEEP_HYPHENS * rules.keeps_hyphens
        flags += _textstatistics.CUT_APOSTROPHES * rules.cuts_apostrophes
        expected = len({*words}.intersection(reference.tokens(text, _textstatistics.FOREIGN + flags)))
        assert statistics([text.encode()], ["stop-words"], None, name)["stop-words"][0] == expected, name
        assert 2 <= expected <= len(words) <= 64


@given(st.one_of(texts, spaced), st.booleans())
def test_c4_keeps_the_lines_of_the_reference(text, terminal):
    expected = "\n".join(reference.c4(text, terminal)["kept"]).strip()
    assert _textstatistics.c4_lines(text.encode(), terminal).decode() == expected


@given(st.lists(st.sampled_from(["a", "b", "ab", "aa", "a b", "\n"]), max_size=200))
def test_repetition_of_few_words(words):
    check(" ".join(words).encode())


@pytest.mark.parametrize(
    "text",
    [
        *[
            b"",
            b"\n",
            b"\n\n\n\n",
            b" \t\n ",
            b"\xff",
            b"\0",
            b"." * 500,
            b"-" * 500,
            b"x" * 1000,
            b"a, " * 1000 + b"\n",
        ],
        *["é☺.".encode() * 200, b"n't" * 200, b"a.b" * 200, b"{\n" * 500],
    ],
)
def test_odd_texts(text):
    check(text)


@pytest.mark.parametrize(
    "piece", ["x", "a ", "...", "-", "é☺.", "n't", "a.b", "a-b/", "[1]", "\n", "😀", "'s", "):", "x''"]
)
def test_a_line_of_a_megabyte(piece):
    text = piece * (2**20 // len(piece.encode()))
    found = {name: values[0] for name, values in statistics([text.encode()], list(HEURISTICS)).items()}
    assert found["characters"] == len(text)
    assert found["longest-word"] == max(map(len, text.split()), default=0)
    assert found["lines"] == bool(text.strip())


def test_tokens_of_one_stretch():
    stretches = {
        "and.Then": "and . Then",
        "example.com/a-b": "example.com/a-b",
        "either/or": "either / or",
        "they've": "they 've",
        "(mother-in-law),": "( mother - in - law ) ,",
        "don’t": "do n’t",
        "U.S.": "U.S.",
        "etc.": "etc .",
        "Mr.": "Mr.",
        "p.m.).": "p.m. ) .",
        "wait...what": "wait ... what",
        "10GB": "10 GB",
        "$5": "$ 5",
        "1,000": "1,000",
        "C++": "C++",
        "foo(x):": "foo(x ):",
        "(8)": "( 8)",
        ":-).": ":-) .",
        "'''''": "'' '' '",
        "cannot,": "can not ,",
        "id": "i d",
        "GPL'd": "GPL'd",
        "(he'd)": "( he 'd )",
        "and/or": "and/or",
        "9a.m.": "9 a.m.",
        "US$5": "US$ 5",
        "example.com:word": "example.com : word",
        "example.com:80/a-b": "example.com:80/a-b",
        "mailto:a@example.com": "mailto:a@example.com",
        "a…☺b": "a … ☺ b",
        "5US$": "5 US$",
    }
    for stretch, expected in stretches.items():
        assert _textstatistics.tokens(stretch.encode()) == expected.encode().split(), stretch


def repeated(n: int, characters: int, rest: int) -> str:
    """n tokens of so many characters together, twice, and a last token that makes it `rest` characters."""
    sizes = [characters // n + (i < characters % n) for i in range(n)]
    unit = " ".join(chr(ord("a") + i) * size for i, size in enumerate(sizes))
    return f"{unit} {unit} ".ljust(rest, "z")


# For each bound of the recipes: a document at the bound, which is kept, and one just beyond it, which is dropped.
BORDERS = {
    ("words", ">="): ("a " * 49 + "a !", "a " * 49 + "!"),
    ("words", "<="): ("a " * 100_000, "a " * 100_001),
    ("mean-word-length", ">="): ("abc abc !", "abc ab !"),
    ("mean-word-length", "<="): ("x" * 10, "x" * 10 + " " + "x" * 11),
    ("hashes-per-word", "<="): ("a " * 9 + "#", "a " * 8 + "#"),
    ("ellipses-per-word", "<="): ("a " * 9 + "…", "a " * 8 + "..."),
    ("bullet-lines", "<="): (" - a\n" * 9 + "a", " • a\n" * 10),
    ("ellipsis-lines", "<="): ("a... \n" * 3 + "a\n" * 7, "a… \r\n" * 4 + "a\n" * 6),
    ("words-with-letter", ">="): ("a a a a 1", "a a a 1"),
    ("stop-words", ">="): ("the of", "the the The the."),
    ("characters", ">="): ("a", ""),
    ("repeated-paragraphs", "<="): ("\n\n".join("aaaabcdefg"), "\n\n".join("aaaaabcdef")),
    ("repeated-paragraph-characters", "<="): ("aa\n\naa\n\nbb", "aa\n\naa\n\nb"),
    ("repeated-lines", "<="): ("\n".join("aaaabcdefg"), "\n".join("aaaaabcdef")),
    ("repeated-line-characters", "<="): ("aa\naa\nbbbb", "aa\naa\nbbb"),
    ("top-2-gram", "<="): ("a b cdefghijklm", "a b cdefghijkl"),
    ("top-3-gram", "<="): ("aaa bbb c ".ljust(50, "x"), "aaa bbb c ".ljust(49, "x")),
    ("top-4-gram", "<="): ("aa b c d ".ljust(50, "x"), "aa b c d ".ljust(49, "x")),
    **{(f"repeated-{n}-grams", "<="): (repeated(n, 20 - n, 100), repeated(n, 20 - n, 99)) for n in range(5, 11)},
    ("lines", ">="): ("\na", " \n\u3000"),
    ("terminal-lines", ">="): ("a。\n" * 3 + "\n" + "a\n" * 22, "a. \n" + "a.\n" * 2 + "a\n" * 23),
    ("short-lines", "<="): (("é" * 30 + "\n") * 67 + ("é" * 31 + "\n") * 33, "a\n" * 68 + ("a" * 31 + "\n") * 32),
    ("repeated-characters", "<="): ("a\na\n" + "b" * 98, "a\na\n" + "b" * 97),
    ("newlines-per-word", "<="): ("a\nb\nc\nd e f g h i j", "a\nb\nc\nd e f g h i"),
    ("long-lines", ">="): (("é" * 200 + "\n") * 3, ("a" * 200 + "\n") * 2 + "a" * 199),
    ("lorem-ipsum", "<="): ("lorem ipsum", "a Lorem IPSUM"),
    ("curly-brackets", "<="): ("a {", "a b {"),
    ("sentences", ">="): ("One two three. " * 5, "One two three. " * 4),
    ("terminal-lorem-ipsum", "<="): ("a lorem ipsum", "a lorem ipsum."),
    ("terminal-curly-brackets", "<="): ("a b {", 'a b {"'),
    ("terminal-sentences", ">="): ("One two three?\n" * 5, "One two three!\n" * 4 + "One two three\nOne two three..."),
}  # fmt: skip


@pytest.mark.parametrize(
    "bound", {bound: None for name, recipe in RECIPES.items() if name != "fineweb2" for bound in recipe}, ids=str
)
def test_a_bound_keeps_what_equals_it(bound):
    kept, dropped = BORDERS[bound.heuristic, bound.comparison]
    found = statistics([kept.encode(), dropped.encode()], [bound.heuristic])[bound.heuristic]
    assert bound.keeps(found).tolist() == [True, False]
    exact = not isinstance(bound.bound, int) or bound.comparison == ">="
    assert not exact or found[0] == bound.bound


def test_every_statistic_is_a_heuristic():
    require_rows("HEURISTICS of wv_cli/filtering/heuristics.py", HEURISTICS, _textstatistics.NAMES)
    assert list(HEURISTICS) == list(_textstatistics.NAMES), "HEURISTICS has the order of csrc/core/textstatistics.h"
    counted = reference.statistics("a", "a")
    require_rows("statistics() of tests/reference/heuristics.py", counted, _textstatistics.NAMES)


@pytest.mark.parametrize(
    "text", ["", "我们 在北京...\n我们在北京！ # 好", "don't #1 e.g. U.S. a\u2028b", "the the the\n\nthe the the"]
)
@pytest.mark.parametrize(
    "cut", ["", "我们 在 北京 ... \n 我们 在 北京 ！ # 好\n", "don't e.g. U.S.", "the cat and the cat and the cat"]
)
def test_tokens_may_be_words_that_were_cut_before(text, cut):
    found = statistics([b"a", text.encode()], _textstatistics.NAMES, [b"a", cut.encode()])
    assert {name: values[1] for name, values in found.items()} == reference.statistics(text, cut)
    plain = statistics([text.encode()], _textstatistics.NAMES)
    assert all(plain[name][0] == found[name][1] for name in set(found) - WORD_STATISTICS)


def test_words_that_are_no_utf8_count_as_replacement_characters():
    assert statistics([b"a"], ["words", "mean-word-length"], [b"ab\xffc d\xe9"])["mean-word-length"][0] == 3
    with pytest.raises(ValueError, match="expected the words of each text"):
        _textstatistics.statistics([b"a"], [0], _textstatistics.Language([], 0), [])


def test_c4_lines():
    text = (
        'A line of [12] words[edit].\nno end mark here\nToo few.\nMy JavaScript is on.\nWe use cookies here.\n'
        f'A {"w" * 1001} word.\nHe said "no"\nAnd so on...\n'
    )  # fmt: skip
    assert _textstatistics.c4_lines(text.encode(), True) == b'A line of  words.\nHe said "no"'
    assert _textstatistics.c4_lines(text.encode(), False) == (
        b'A line of  words.\nno end mark here\nHe said "no"\nAnd so on...'
    )


def test_names_are_answered_in_their_order_and_alone():
    found = statistics([b"a b", b""], ["words", "characters"])
    assert {name: values.tolist() for name, values in found.items()} == {"words": [2, 0], "characters": [3, 0]}
    assert statistics([], ["words"])["words"].shape == (0,)
    documents = [kept.encode() for kept, _ in BORDERS.values() if len(kept) < 10_000]
    every = statistics(documents, list(HEURISTICS))
    for name in HEURISTICS:
        assert statistics(documents, [name])[name].tolist() == every[name].tolist()


def test_threads_have_the_numbers_of_one():
    documents = [text.encode() for pair in BORDERS.values() for text in pair]
    alone = {name: values.tolist() for name, values in statistics(documents, list(HEURISTICS)).items()}
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: statistics(documents, list(HEURISTICS)), range(8)):
            assert {name: values.tolist() for name, values in found.items()} == alone


@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the classes are those of Unicode 14")
def test_classes_are_those_of_unicode():
    found = _textstatistics.character_classes()
    for code in [*range(0x20000), *range(0x20000, 0x110000, 97)]:
        assert found[code] == characters.character_class(code), hex(code)
