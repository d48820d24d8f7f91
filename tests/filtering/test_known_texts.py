"""Near-duplicates that are verified: sets of shingles, their keys, what is compared, and the index of known texts."""

import io
import itertools
import random
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import shingles as reference
from wv_cli._knowntexts import COMPARED, OF_KEY, KnownTexts, Shingler
from wv_cli.errors import BadFile, WvError
from wv_cli.filtering import known_texts
from wv_cli.filtering.decisions import come_twice, shared_keys
from wv_cli.filtering.known_texts import Bands, Sets, Stored, VerifiedDuplicates
from wv_cli.filtering.near_duplicates import NearDuplicates, character_page, simplify, simplify_bytes
from wv_cli.io import container
from wv_cli.io.input import open_input


@pytest.fixture(scope="module")
def shingler():
    return Shingler(character_page, simplify_bytes, 5)


def words_of(number, count=80):
    chosen = random.Random(number)
    return [f"{chosen.choice('bcdfgklmnprst')}{chosen.choice('aeiou')}{chosen.randrange(999):b}o" for _ in range(count)]


def text_of(words):
    return " ".join(words).encode()


def edited(words, share, number):
    """The words, of which this share is others, each at a place of its own."""
    chosen = random.Random(number)
    other = iter(words_of(10_000 + number, len(words)))
    return [next(other) if chosen.random() < share else word for word in words]


def asked_of(rules, texts, first=1):
    everything = np.arange(len(texts))
    return rules.first_seen(rules.keys(texts), everything, 0, everything + first)


@given(
    st.lists(st.binary(min_size=1, max_size=20).map(lambda word: word.hex().encode()), max_size=30), st.integers(1, 6)
)
def test_shingles_are_those_of_the_reference(words, width):
    text = b" ".join(words)
    shingler = Shingler(character_page, lambda _: b"", width)
    simple = simplify(text.decode()).encode()
    found, starts = shingler.hashes([text, text])
    expected = reference.hashes(simple.split(), text, width)
    assert found.tolist() == expected * 2 and starts.tolist() == [0, len(expected), 2 * len(expected)]
    keys, starts, sets = shingler.sets([text, b"", text], 3, 4)
    assert sets[starts[2] :].tolist() == sets[: starts[1]].tolist() == reference.distinct(expected)
    assert keys[0].tolist() == keys[2].tolist() == reference.keys(expected, 3, 4)


def test_words_of_any_length_end_at_their_space(shingler):
    """Eight bytes are read at once: words of 1 to 24 bytes, at every place."""
    for shift in range(9):
        words = ["x" * shift or "x", *("abcdefghijklmnopqrstuvwxyz"[:length] for length in range(1, 25))]
        text = text_of(words)
        assert shingler.hashes([text])[0].tolist() == reference.hashes(text.split(), text, 5)


def test_texts_that_need_python(shingler):
    """Bytes that are no UTF-8, and characters that C leaves to Python."""
    texts = ["\u0390 a b c d e Σ".encode(), b"\xff a b c d e f", b"a\xcc\x81\xcc\xa7 b c d e f"]
    for text in texts:
        words = simplify_bytes(text).split()
        assert shingler.hashes([text])[0].tolist() == reference.hashes(words, text, 5)


def test_equal_numbers_are_as_many_as_the_similarity():
    """Of 512 bins about as many are equal as shingles are: three standard errors, for short and long texts."""
    chosen = random.Random(5)
    for size, shared in itertools.product((12, 60, 600), (0.2, 0.5, 0.72, 0.9)):
        similarities, found = [], []
        for _ in range(12):
            common = [chosen.getrandbits(64) for _ in range(round(size * shared))]
            a, b = ([*common, *(chosen.getrandbits(64) for _ in range(size - len(common)))] for _ in range(2))
            similarities.append(reference.similarity(set(a), set(b)))
            pairs = zip(reference.numbers(a, 64), reference.numbers(b, 64), strict=True)
            found.append(sum(x == y for x, y in pairs) / 64)
        mean = sum(similarities) / len(similarities)
        assert abs(sum(found) / len(found) - mean) < 3 * (mean * (1 - mean) / (64 * 12)) ** 0.5 + 1e-9


@pytest.mark.parametrize(
    ("threshold", "bands", "rows"),
    [(0.72, 12, 4), (0.7, 14, 4), (0.8, 13, 6), (0.9, 13, 13), (0.5, 28, 3), (0.99, 3, 32)],
)
def test_a_threshold_chooses_bands_of_which_one_is_shared(threshold, bands, rows):
    chosen = Bands.for_threshold(threshold)
    assert 1 - (1 - threshold**chosen.rows) ** chosen.bands >= 0.974
    assert (chosen.bands, chosen.rows) == (bands, rows)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_what_stays_is_what_the_reference_keeps(block):
    """240 texts with edits of every rate, asked about in blocks: the same ones go, and of the same text."""
    base = [words_of(number, 60 + number) for number in range(40)]
    words = [*base, *(edited(each, 0.02 * (i % 6), i) for i, each in enumerate(base * 5))]
    random.Random(3).shuffle(words)
    texts = list(map(text_of, words))
    rules = VerifiedDuplicates(0.72, ["a"])
    bands = rules.bands
    found = [reference.hashes(simplify_bytes(text).split(), text, 5) for text in texts]
    sets = [set(reference.distinct(each)) for each in found]
    expected = reference.first_like(sets, [reference.keys(each, bands.bands, bands.rows) for each in found], 0.72)
    like = []
    for at in range(0, len(texts), block):
        answer = asked_of(rules, texts[at : at + block], at)
        evidence = iter(answer.like)
        like += [None if first else next(evidence) for first in answer.first.tolist()]
    assert [each.record if each else -1 for each in like] == expected
    assert 40 < sum(each >= 0 for each in expected) < 200
    for i, each in enumerate(like):
        if each is not None:
            assert each.file == "a" and each.similarity == reference.similarity(sets[i], sets[each.record]) >= 0.72


def test_nothing_below_the_threshold_goes_and_little_above_it_stays():
    """Pairs from .5 to 1 against the exact similarity: none below .72 goes, and 3 % of those above it stay at most."""
    above = missed = below = 0
    for number in range(300):
        base = words_of(number, 120)
        other = edited(base, 0.001 * (number % 100), number)
        texts = [text_of(base), text_of(other)]
        sets = [set(zip(*(each[k:] for k in range(5)), strict=False)) for each in (base, other)]
        similarity = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
        first = asked_of(VerifiedDuplicates(0.72, ["a"], keep_numbers=True), texts).first
        assert first[0] and (first[1] or similarity >= 0.72)
        above += similarity >= 0.72
        missed += bool(first[1]) and similarity >= 0.72
        below += similarity < 0.72
    assert above > 80 and below > 50 and missed <= 0.03 * above


def test_short_texts_are_compared_as_they_are():
    texts = [b"", b"one two", b"One two", b"one two", b"", b"a b c d e", b"A, b c d e"]
    answer = asked_of(VerifiedDuplicates(0.72, ["a"]), texts)
    assert answer.first.tolist() == [True, True, True, False, False, True, False]
    assert [(each.record, each.similarity) for each in answer.like] == [(2, 1), (1, 1), (6, 1)]


def test_many_texts_of_one_key_cost_a_bounded_time():
    """OF_KEY texts are remembered for a key, and COMPARED are read; texts that share nothing else stay."""
    known, count = KnownTexts(1, 0.9), OF_KEY + 5
    keys = np.full((count, 1), 7, np.uint64)
    sets = np.arange(1, 2 * count + 1, dtype=np.uint32)
    starts = np.arange(0, 2 * count + 1, 2, dtype=np.int64)
    everything, numbers = np.arange(count), np.arange(count, dtype=np.uint32)
    with tempfile.TemporaryFile() as file:
        like, _, packed = known.first_seen(keys, starts, sets, everything, 0, numbers, file.fileno(), 0)
        file.write(packed)
        file.flush()
        assert (like < 0).all() and len(known) == count and OF_KEY < COMPARED
        like, similarity, _ = known.first_seen(keys, starts, sets, everything, 0, numbers, file.fileno(), len(packed))
    assert like.tolist() == [*range(OF_KEY), *[-1] * 5] and (similarity[:OF_KEY] == 1).all()


def test_an_index_knows_what_stayed_and_names_it(tmp_path):
    texts = [text_of(words_of(number)) for number in range(30)]
    old = VerifiedDuplicates(0.72, ["a.jsonl", "b.jsonl"])
    old.first_seen(old.keys(texts[:20]), np.arange(20), 1, np.arange(20) + 1)
    old.save(tmp_path / "old")
    new = VerifiedDuplicates(0.72, ["c.jsonl"], [str(tmp_path / "old")])
    answer = asked_of(new, texts)
    assert answer.first.tolist() == [False] * 20 + [True] * 10
    assert [each[:2] for each in answer.like] == [("b.jsonl", number) for number in range(1, 21)]
    new.save(tmp_path / "new")
    other = VerifiedDuplicates(0.72, ["d"])
    asked_of(other, [text_of(words_of(99))])
    other.save(tmp_path / "other")
    both = VerifiedDuplicates(0.72, ["e"], [str(tmp_path / name) for name in ("other", "new")])
    found = asked_of(both, [text_of(words_of(99)), texts[25], texts[3], text_of(words_of(98))])
    assert found.first.tolist() == [False, False, False, True]
    assert [each[:2] for each in found.like] == [("d", 1), ("c.jsonl", 26), ("b.jsonl", 4)]


def test_an_empty_index(tmp_path):
    VerifiedDuplicates(0.8).save(tmp_path / "index")
    rules = VerifiedDuplicates(0.8, ["a"], [str(tmp_path / "index")])
    assert asked_of(rules, [text_of(words_of(1))]).first.tolist() == [True] and rules.memory < 1 << 18


def test_indexes_that_do_not_fit(tmp_path):
    index = tmp_path / "index"
    rules = VerifiedDuplicates(0.72, ["a"])
    asked_of(rules, [text_of(words_of(number)) for number in range(5)])
    rules.save(index)
    good = index.read_bytes()
    with pytest.raises(BadFile, match=r"give the threshold of --near-duplicates that it was made with, such as 0\.72"):
        VerifiedDuplicates(0.9, ["a"], [str(index)])
    with pytest.raises(BadFile, match="made without --keep-numbers; leave it out"):
        VerifiedDuplicates(0.72, ["a"], [str(index)], keep_numbers=True)
    for bad in [good[:-1], good[: len(good) // 2], b"", b"wv hasher 1\n{}\n", good[:-40] + b"\1" + good[-39:]]:
        index.write_bytes(bad)
        with pytest.raises(BadFile):
            VerifiedDuplicates(0.72, ["a"], [str(index)])
    NearDuplicates().save(index)
    with pytest.raises(BadFile, match="has keys only, so nothing can be verified; make it again, or give --no-verify"):
        VerifiedDuplicates(0.72, ["a"], [str(index)])
    with pytest.raises(WvError, match="no such file"):
        VerifiedDuplicates(0.72, ["a"], [str(tmp_path / "none")])


def test_a_file_of_shingles_that_lost_its_end_is_told():
    texts, known = [text_of(words_of(1))], VerifiedDuplicates(0.72, ["a"])
    asked_of(known, texts)
    known._temporary.flush()
    known._temporary.truncate(100)
    with pytest.raises(
        WvError, match="cannot keep the shingles of texts that stayed in a file: the file ends too early"
    ):
        asked_of(known, texts)


def test_arguments_are_checked():
    for shape in [(0, 0.5), (513, 0.5), (3, 0), (3, 1.5)]:
        with pytest.raises(ValueError):
            KnownTexts(*shape)
    with pytest.raises(ValueError, match="expected a width"):
        Shingler(character_page, simplify_bytes, 0)
    for bands, rows in [(0, 3), (3, 0), (100, 6)]:
        with pytest.raises(ValueError, match="bands and rows"):
            Shingler(character_page, simplify_bytes, 5).sets([b"a"], bands, rows)
    with pytest.raises(TypeError):
        Shingler(character_page, simplify_bytes, 5).sets(["a"], 2, 2)
    known = KnownTexts(2, 0.5)
    with pytest.raises(ValueError, match="a place and shingles"):
        known.insert(np.zeros(8, np.uint64), 0, 0, 0, 1)
    with pytest.raises(ValueError, match="expected the number of a text"):
        known.place(0)
    keys, starts, sets = np.ones((1, 2), np.uint64), np.array([0, 1]), np.ones(1, np.uint32)
    for asked, records in [([1], [1]), ([-1], [1]), ([0], [1, 2])]:
        with pytest.raises(ValueError):
            known.first_seen(keys, starts, sets, np.array(asked), 0, np.array(records, np.uint32), 0, 0)
    with pytest.raises(ValueError):
        known.first_seen(keys, np.array([0, 2]), sets, np.array([0]), 0, np.array([1], np.uint32), 0, 0)
    for shape in [(2, 1), (1, 2)]:
        with pytest.raises(ValueError, match="a bit a band"):
            one, bits = np.array([1], np.uint32), np.zeros(shape, np.uint8)
            known.first_seen(keys, starts, sets, np.array([0]), 0, one, 0, 0, bits)


def test_it_grows():
    keys = np.random.default_rng(1).integers(1, 1 << 63, (20_000, 3), np.uint64)
    known, starts = KnownTexts(3, 0.9), np.arange(20_001)
    sets = np.arange(1, 20_001, dtype=np.uint32)
    like, _, packed = known.first_seen(keys, starts, sets, np.arange(20_000), 0, sets, 0, 0)
    assert (like < 0).all() and len(known) == 20_000
    again = KnownTexts(3, 0.9)
    numbers = np.frombuffer(packed, np.uint64)
    with tempfile.TemporaryFile() as file:
        file.write(packed)
        file.flush()
        half = again.insert(numbers[: len(numbers) // 2], file.fileno(), 0, 0, 1)
        assert half + again.insert(numbers[half:], file.fileno(), 8 * half, 0, 1) == len(numbers)
        like, similarity, _ = again.first_seen(
            keys, starts, sets, np.arange(20_000), 0, sets, file.fileno(), len(packed)
        )
    assert like.tolist() == [*range(20_000)] and (similarity == 1).all()
    assert again.place(7) == (0, 8) and io.BytesIO(packed).read(8) == keys[0, 0].tobytes()


def test_keys_that_come_once_need_not_be_kept():
    """120 texts of which each key is shared or not: the same answers, from sets that lie in a file already."""
    base = [words_of(number, 40 + number) for number in range(60)]
    words = [*base, *(edited(each, 0.01 * (i % 5), i) for i, each in enumerate(base[:20] * 3))]
    random.Random(4).shuffle(words)
    texts = list(map(text_of, words))
    all_kept, few = VerifiedDuplicates(0.72, ["a"]), VerifiedDuplicates(0.72, ["a"])
    keys = few.keys(texts)
    shared = shared_keys([keys.keys[:50], keys.keys[50:]])
    with tempfile.TemporaryFile() as file:
        file.write(b"12345678" + keys.shingles.tobytes())
        file.flush()
        like = []
        for begin in range(0, len(texts), 13):
            rows = slice(begin, min(begin + 13, len(texts)))
            starts = keys.starts[rows.start : rows.stop + 1] - keys.starts[rows.start]
            sets = keys.shingles[keys.starts[rows.start] : keys.starts[rows.stop]]
            stored = Stored(file.fileno(), 8 + 4 * int(keys.starts[rows.start]), shared[rows])
            everything = np.arange(len(starts) - 1)
            like += few.first_seen(Sets(keys.keys[rows], starts, sets, stored), everything, 0, everything + begin).like
    assert like == asked_of(all_kept, texts, 0).like and 30 < len(like) < 60
    assert len(few._known) < len(all_kept._known) - 20 and few._known.memory < all_kept._known.memory


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(0, 5))
def test_what_comes_twice(keys, bits):
    """Sorted whole, and in up to 32 ranges."""
    spread = (np.array(keys, np.uint32) * np.uint32(0x9E3779B1)).astype(np.uint32)
    found = come_twice(spread, most=max(1, len(keys) >> bits))
    assert sorted(found.tolist()) == [i for i, key in enumerate(keys) if keys.count(key) > 1]


def test_shared_keys_are_bits():
    """Ten bands take two bytes; keys that differ in their upper half only are the same."""
    keys = np.arange(30, dtype=np.uint64).reshape(3, 10)
    keys[2, 9] = keys[0, 9] + (1 << 40)
    keys[1, 3] = keys[0, 3]
    assert shared_keys([keys[:1], keys[1:]]).tolist() == [[8, 2], [8, 0], [0, 2]]
    assert shared_keys([]).shape == (0, 0)


@pytest.mark.parametrize(("file", "offset"), [(-1, 0), (1 << 16, 0), (0, 1 << 48)])
def test_a_place_that_does_not_fit_is_refused(file, offset):
    keys, starts, sets = Shingler(character_page, simplify_bytes, 5).sets([b"one two three four five"], 3, 4)
    one = np.ones(1, np.uint32)
    with pytest.raises(ValueError, match="expected a descriptor below"):
        KnownTexts(3, 0.5).first_seen(keys, starts, sets, np.zeros(1, np.int64), 0, one, file, offset)


def test_the_texts_of_an_index_are_read_where_they_lie(tmp_path):
    against: list[str] = []
    for number in range(9):  # names of files of any length, and one more part in each index
        name, one = f"{'a' * number}.jsonl", np.zeros(1, np.int64)
        rules = VerifiedDuplicates(0.7, [name], against)
        keys = rules.keys([f"{'abcdefghi'[number]} two three four five six".encode()])
        assert rules.first_seen(keys, one, 0, np.ones(1, np.int64)).first.all()
        against = [str(tmp_path / f"{number}.index")]
        rules.save(against[0])
        with open_input(against[0]) as source:
            reader = container.Reader(source, known_texts.KIND)
            offsets = [reader.offset(each) for each in reader.layout if each.startswith("texts")]
        assert len(offsets) == number + 1 and not any(offset % 8 for offset in offsets)
        like = VerifiedDuplicates(0.7, [], against).first_seen(keys, one, 0, np.ones(1, np.int64)).like
        assert [each.file for each in like] == [name]
