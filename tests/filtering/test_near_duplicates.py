"""Near-duplicates: the numbers are datatrove's, the first of several stays, and an index keeps what is known."""

import itertools
import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import minhash
from wv_cli import _cpu, _keysets
from wv_cli._minhash import Signer, xxhash64
from wv_cli.errors import BadFile, UsageError
from wv_cli.filtering import near_duplicates
from wv_cli.filtering.near_duplicates import (
    SHINGLE,
    Banding,
    NearDuplicates,
    character_page,
    clusters,
    simplify,
    simplify_bytes,
)

BANDING = Banding()
ISAS = pytest.mark.parametrize("isa", _cpu.usable())
A, B = (list(map(int, numbers)) for numbers in BANDING.permutations())
# A folder with documents.jsonl, expected.json and jaccard.tsv, made with datatrove 0.10.1; no such texts are here.
GOLDEN = os.environ.get("WV_NEAR_DUPLICATES")


@pytest.fixture(scope="module")
def signer():
    return BANDING.signer(separate=False)


def words_of(number, count=80):
    chosen = random.Random(number)
    return [f"{chosen.choice('bcdfgklmnprst')}{chosen.choice('aeiou')}{chosen.randrange(999):b}o" for _ in range(count)]


def text_of(words):
    return " ".join(words).encode()


@pytest.mark.parametrize(
    ("data", "seed", "expected"),
    [
        (b"", 0, 0xEF46DB3751D8E999),
        (b"abc", 0, 0x44BC2CF5AD770999),
        (b"xxhash", 0, 0x32DD38952C4BC720),
        (b"xxhash", 20141025, 0xB559B98D844E0635),
    ],
)
def test_xxhash_of_known_texts(data, seed, expected):
    assert xxhash64(data, seed) == minhash.xxhash64(data, seed) == expected


@given(st.binary(max_size=150), st.integers(0, (1 << 64) - 1))
def test_xxhash_is_that_of_the_reference(data, seed):
    assert xxhash64(data, seed) == minhash.xxhash64(data, seed)


def test_a_and_b_are_datatroves():
    """The first and last of each, and their sums, as datatrove 0.10.1 has them."""
    assert A[:3] == [775169054918279404, 1758426461858698313, 2109959069025162]
    assert B[:3] == [1062448801025099917, 1324811268927594100, 1217488311597731462]
    assert (len(A), A[-1], sum(A)) == (112, 223865076026037746, 113623778178654590895)
    assert (len(B), B[-1], sum(B)) == (112, 1097409548522419201, 127475402550320243946)


@ISAS
@pytest.mark.parametrize("banding", [BANDING, Banding(1, 1), Banding(3, 7), Banding(112, 1), Banding(1, 112)])
def test_numbers_and_keys_are_those_of_the_reference(banding, isa):
    a, b = (list(map(int, numbers)) for numbers in banding.permutations())
    texts = [words_of(number, count) for number, count in enumerate([0, 1, 4, 5, 6, 40, 200])]
    octets = [text_of(words) for words in texts]
    shape = (SHINGLE, banding.bands, banding.rows)
    signer = Signer(partial(character_page, separate=True), simplify_bytes, *shape, *banding.permutations(), isa)
    words = [simplify(text.decode()).split() for text in octets]
    expected = [minhash.numbers(each, SHINGLE, a, b) for each in words]
    assert signer.numbers(octets).tolist() == expected
    assert signer.keys(octets).tolist() == [minhash.keys(each, banding.bands) for each in expected]


@ISAS
def test_numbers_near_the_modulus_are_found_among_many(isa):
    """Low and high parts whose sum is next to 2^61 - 1, before and behind the shingles that are not looked at first."""
    words = [f"word{letters}" for letters in map("".join, itertools.product("abcdefgh", repeat=2))]
    hashes = [minhash.xxhash64(word.encode()) for word in words]
    prime = (1 << 61) - 1
    wanted = [high << 61 | low for high in (0, 3, 7) for low in (0, 1, 9, prime - 8, prime - 7, prime - 1, prime)]
    for place in (3, 31, 32, 60):
        for first in range(0, len(wanted), 7):
            sums = wanted[first : first + 7]
            a, b = [1] * 7, [(each - hashes[place]) % 2**64 for each in sums]
            arrays = (np.array(each, np.uint64) for each in (a, b))
            found = Signer(character_page, simplify_bytes, 1, 7, 1, *arrays, isa).numbers([text_of(words)])
            assert found.tolist() == [minhash.numbers(words, 1, a, b)]


@ISAS
def test_a_remainder_that_is_the_modulus_is_zero(isa):
    """a h + b = k (2^61 - 1) leaves 0, which is the least of all."""
    a, b = np.array([0, 0, 0], np.uint64), np.array([(1 << 61) - 1, 7 * ((1 << 61) - 1), 1 << 61], np.uint64)
    signer = Signer(character_page, simplify_bytes, 1, 3, 1, a, b, isa)
    assert signer.numbers([b"word"]).tolist() == [[0, 0, 1]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        (" \t\n", ""),
        ("Hello, World!", "hello world"),
        ("a  b\n\nc", "a b c"),
        ("1,234.56 and 3.14.15", "0 0 and 0 0"),
        ("v1.2b ١٢٣ １２", "v0b 0 0"),
        ("1. 2", "0 0"),
        ("Ünïcödé e\u0301", "unicode e"),
        ("İstanbul", "istanbul"),
        ("ΟΔΥΣΣΕΥΣ ΣΑΣ. Σ Σ'Α", "οδυσσευς σας σ σ α"),
        ("ΑΣ\u00ad ΑΣ'Α ΑΣ\u0301Β", "ας\u00ad ασ α ασβ"),
        ("한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"),
        ("がぎ", "かき"),
        ("a \u0301 b", "a b"),
        ("«a»…“b”\u00a0c\u3000d", "a b c d"),
        ("x\u0007y\u0085z", "x y z"),
        ("⁇\u037e", "⁇;"),
    ],
)
def test_words_by_example(signer, text, words):
    assert simplify(text) == words
    assert signer.words(text.encode()) == words.encode()


_CHARACTERS = st.sampled_from([*"中ガー豈aBcΣσςΑάİß.,'12٣٫ \n\u0301\u00ad가Éé—。\u1b44\u302e\U0001d15eZ٬", "Σ", "1"])


@given(st.text(_CHARACTERS) | st.text(st.characters(max_codepoint=0x1FFF, categories=("L", "M", "N")), max_size=8))
def test_words_are_those_of_a_whole_text(text):
    text = text.encode("utf-8", "replace").decode()
    assert _signer().words(text.encode()) == simplify(text).encode()
    assert _separating().words(text.encode()) == simplify(text, separate=True).encode()


@given(st.binary(max_size=40) | st.lists(st.sampled_from([b"a ", b"\xc3", b"\xa9", b"\xf0\x9f", b"\xed\xa0\x80"])))
def test_bytes_that_are_no_utf8_become_a_character(data):
    text = data if isinstance(data, bytes) else b"".join(data)
    assert _signer().words(text) == simplify(text.decode("utf-8", "replace")).encode()
    assert _signer().keys([text * 5]).tolist() == _signer().keys([simplify_bytes(text * 5)]).tolist()


def _signer(made=[]):  # noqa: B006
    made.extend([] if made else [BANDING.signer(separate=False)])
    return made[0]


def _separating(made=[]):  # noqa: B006
    made.extend([] if made else [BANDING.signer()])
    return made[0]


def around(character):
    """The character where a number, a capital sigma, a word's beginning and end could notice it."""
    return f"aΣ{character} 1{character}2 A{character}ΣB {character}{character} Q{character}"


_USUAL_PAGES = [*range(0x34), 0xA6, 0xA9, 0xAB, 0xD7, *range(0xF9, 0x100), 0x104, 0x110, 0x1D1, 0x1D7, 0x1E9]


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize(
    "pages",
    [
        pytest.param(_USUAL_PAGES, id="usual"),
        pytest.param(range(0x1100), id="all", marks=pytest.mark.full),
    ],
)
def test_every_character_is_what_python_makes_of_it(monkeypatch, pages, separate):
    page_of = cache(partial(character_page, separate=separate))  # which the signer asks for, too
    monkeypatch.setattr(near_duplicates, "character_page", lambda number, **_: page_of(number))
    signer = BANDING.signer(separate=separate)
    for page in pages:
        rows = page_of(page)
        characters = [chr(page * 256 + i) for i in range(256)]
        usual = [c for i, c in enumerate(characters) if rows[16 * i] & 7 != 4 and not "\ud800" <= c <= "\udfff"]
        hard = [c for c in characters if c not in usual and not "\ud800" <= c <= "\udfff"]
        assert len(hard) < 32
        for text in [" ".join(map(around, usual)), *map(around, hard)]:
            assert signer.words(text.encode()) == simplify(text, separate=separate).encode(), hex(page)


def test_texts_without_a_shingle_are_duplicates_where_they_are_equal():
    """Byte for byte: not where only their simplified words are."""
    known = NearDuplicates()
    texts = [
        b"",
        b"one two three four",
        b"One two; three four!",
        b"bus 7",
        b"bus 8",
        "零壹贰叁，肆伍陆柒。".encode(),
        b"\xff",
    ]
    keys = known.keys(texts)
    assert keys.all() and known.first_seen(keys).all() and not known.first_seen(keys).any()
    assert known.first_seen(known.keys([b"bus 7 is late today", b"bus 8 is late today"])).tolist() == [True, False]
    assert clusters(np.concatenate([keys, keys[::-1]]))[0].tolist() == [*range(7), *range(6, -1, -1)]


@given(st.text(_CHARACTERS))
def test_numbers_that_are_kept_are_words_as_others(text):
    text = text.encode("utf-8", "replace").decode()
    signer = _keeping()
    assert signer.words(text.encode()) == simplify(text, keep_numbers=True, separate=True).encode()


def _keeping(made=[]):  # noqa: B006
    made.extend([] if made else [BANDING.signer(keep_numbers=True)])
    return made[0]


def test_numbers_can_be_kept(tmp_path):
    lines = [f"the bus {number} leaves at {number}.{number} from platform {number}".encode() for number in (7, 88, 7)]
    for kept, expected in ((False, [True, False, False]), (True, [True, True, False])):
        known = NearDuplicates(keep_numbers=kept)
        assert known.first_seen(known.keys(lines)).tolist() == expected
        known.save(tmp_path / "index")
        assert NearDuplicates.load(tmp_path / "index").keep_numbers == kept
    assert simplify("3.14 und ١٢", keep_numbers=True) == "3 14 und ١٢"


def test_threads_share_a_signer():
    texts = [f"{chr(0x4E00 + 97 * i)}{chr(0x0400 + i)} b{i} c d e f g{chr(0x3000 + i)}".encode() for i in range(200)]
    alone = BANDING.signer().keys(texts)
    signer = BANDING.signer()
    with ThreadPoolExecutor(4) as pool:
        for keys in pool.map(lambda _: signer.keys(texts), range(8)):
            assert (keys == alone).all()


_ROWS = st.lists(st.lists(st.integers(1, 6), min_size=3, max_size=3) | st.just([0, 0, 0]), max_size=40)


def spread(rows):
    """Small numbers as keys: the upper bits say where a key stands, and many stand in one place."""
    table = np.array([0, 1, 2, 1 << 63, (1 << 64) - 1, 3, (1 << 63) + 1], np.uint64)
    return table[np.array(rows, np.int64).reshape(-1, 3)]


@given(_ROWS, st.integers(1, 7))
def test_the_first_of_several_stays(rows, block):
    keys, seen = spread(rows), _keysets.KeySets(3)
    found = [seen.first(keys[at : at + block]) for at in range(0, len(keys), block)]
    expected = minhash.first(rows)
    assert np.concatenate([*found, np.empty(0, np.bool_)]).tolist() == expected
    again = _keysets.KeySets(3)
    for column in range(3):
        again.insert(column, keys[np.array(expected, np.bool_)][:, column])
    assert [sorted(again.keys(column)) for column in range(3)] == [sorted(seen.keys(column)) for column in range(3)]
    assert not again.first(keys[keys[:, 0] != 0]).any()


@given(_ROWS)
def test_clusters_are_those_of_the_reference(rows):
    stays, sizes = clusters(spread(rows))
    assert stays.tolist() == minhash.clusters(rows)
    assert sizes.tolist() == [stays.tolist().count(each) for each in stays]


def test_sets_grow():
    keys = np.random.default_rng(1).integers(1, 1 << 63, (20_000, 2), np.uint64) * np.uint64(2)
    seen = _keysets.KeySets(2)
    for at in range(0, len(keys), 777):
        assert seen.first(keys[at : at + 777]).all()
    assert 20_000 * 2 * 8 * 4 / 3 <= seen.memory <= 20_000 * 2 * 8 * 2.1
    assert not seen.first(keys).any() and [seen.count(0), seen.count(1)] == [20_000, 20_000]
    assert (np.sort(seen.keys(1)) == np.sort(keys[:, 1])).all()


def test_a_chain_keeps_what_is_unlike_all_that_stayed():
    """a and b are alike, b and c are, a and c are not: the stream keeps a and c. By datatrove's rule b stays."""
    keys = np.array([[1, 2], [3, 2], [3, 4]], np.uint64)
    assert _keysets.KeySets(2).first(keys).tolist() == [True, False, True]
    stays, sizes = clusters(keys)
    assert (stays.tolist(), sizes.tolist()) == ([1, 1, 1], [3, 3, 3])


def edited(words, fraction, number):
    """The words with a stretch of new ones at the end and one near the beginning."""
    new = round(len(words) * fraction)
    return [*words[:10], *words_of(10_000 + number, max(new, 1)), *words[10 + new :]]


def test_pairs_by_their_similarity():
    """All pairs of Jaccard .9 and more share a key, none below .5 does; 160 texts of 300 words."""
    base = [words_of(number, 300) for number in range(40)]
    fractions = (0, 0.005, 0.02, 0.5)
    words = [*base, *(edited(each, fractions[i % 4], i) for i, each in enumerate(base * 3))]
    keys = NearDuplicates().keys([text_of(each) for each in words])
    sets = [minhash.shingles(simplify(" ".join(each)).split(), SHINGLE) for each in words]
    counts = [0, 0]
    for i, j in itertools.combinations(range(len(words)), 2):
        similarity, found = minhash.jaccard(sets[i], sets[j]), (keys[i] == keys[j]).any()
        counts[0] += similarity >= 0.9
        counts[1] += 0.2 < similarity < 0.5
        assert found if similarity >= 0.9 else not found or similarity >= 0.5
    assert min(counts) >= 30


@pytest.mark.parametrize(
    ("threshold", "bands", "rows"),
    [(0.72, 14, 8), (0.7, 14, 7), (0.8, 10, 10), (0.9, 6, 17), (0.5, 22, 5), (0.99, 2, 56)],
)
def test_a_threshold_chooses_bands_and_rows(threshold, bands, rows):
    banding = Banding.nearest(threshold)
    assert (banding.bands, banding.rows) == (bands, rows)
    assert banding.threshold == pytest.approx(threshold, abs=0.04)


@pytest.mark.parametrize("threshold", [0, 1, -1, 1.5, float("nan"), float("inf")])
def test_a_threshold_that_is_none(threshold):
    with pytest.raises(UsageError, match="expected a similarity between 0 and 1"):
        Banding.nearest(threshold)


def test_an_index_knows_what_was_seen(tmp_path):
    texts = [text_of(words_of(number)) for number in range(50)]
    known = NearDuplicates(Banding(9, 12))
    keys = known.keys(texts)
    known.first_seen(keys[:30])
    known.save(tmp_path / "a.index")
    loaded = NearDuplicates.load(tmp_path / "a.index")
    assert loaded.banding == Banding(9, 12)
    assert loaded.first_seen(keys).tolist() == [False] * 30 + [True] * 20
    again = NearDuplicates(Banding(9, 12))
    for at in (20, 10, 0):
        again.insert(keys[at : at + 10])
    again.save(tmp_path / "b.index")
    assert (tmp_path / "a.index").read_bytes() == (tmp_path / "b.index").read_bytes()


def test_an_empty_index(tmp_path):
    NearDuplicates().save(tmp_path / "a.index")
    loaded = NearDuplicates.load(tmp_path / "a.index")
    assert loaded.first_seen(loaded.keys([text_of(words_of(1))])).tolist() == [True] and loaded.memory < 1 << 18


def test_damaged_indexes(tmp_path):
    known, path = NearDuplicates(Banding(2, 3)), tmp_path / "a.index"
    known.first_seen(known.keys([text_of(words_of(number)) for number in range(3)]))
    known.save(path)
    good = path.read_bytes()
    for bad in [good[:-1], good[: len(good) // 2], b"", b"wv hasher 1\n{}\n", good[:-40] + b"\1" + good[-39:]]:
        path.write_bytes(bad)
        with pytest.raises(BadFile):
            NearDuplicates.load(path)
    for change in [(b'"bands": 2', b'"bands": 3'), (b'"rows": 3', b'"rows": 0'), (b'"shingle": 5', b'"shingle": 4')]:
        path.write_bytes(good.replace(*change))
        with pytest.raises(BadFile):
            NearDuplicates.load(path)


def test_arguments_are_checked():
    a = np.ones(6, np.uint64)
    for shape in [(0, 2, 3), (5, 0, 3), (5, 2, 4), (5, 113, 1)]:
        with pytest.raises(ValueError):
            Signer(character_page, simplify_bytes, *shape, a, a)
    with pytest.raises(ValueError, match="expected a page"):
        Signer(lambda _: b"", simplify_bytes, 5, 2, 3, a, a).keys([b"a"])
    with pytest.raises(ValueError, match="too long"):
        Signer(lambda _: bytes([0, 9]) + bytes(4094), simplify_bytes, 5, 2, 3, a, a).keys([b"a"])
    with pytest.raises(TypeError):
        Signer(character_page, simplify_bytes, 5, 2, 3, a, a).keys(["a"])
    with pytest.raises(ZeroDivisionError):
        Signer(lambda _: 1 // 0, simplify_bytes, 5, 2, 3, a, a).keys([b"a"])
    with pytest.raises(ValueError, match="other columns"):
        _keysets.KeySets(3).first(np.ones((1, 2), np.uint64))
    for column in (-1, 3):
        with pytest.raises(ValueError):
            _keysets.KeySets(3).insert(column, np.ones(1, np.uint64))


@pytest.mark.skipif(not GOLDEN, reason="no folder in WV_NEAR_DUPLICATES")
def test_datatroves_own_answers():
    folder = Path(GOLDEN)
    documents = [json.loads(line) for line in (folder / "documents.jsonl").read_text("utf-8").splitlines()]
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    names, texts = [each["id"] for each in documents], [each["text"].encode() for each in documents]
    assert (expected["datatrove"]["a"], expected["datatrove"]["b"]) == (A, B)
    numbers = BANDING.signer(separate=False).numbers(texts)
    for name, signature in expected["white-space"]["signatures"].items():
        assert numbers[names.index(name)].tolist() == signature
    keys = NearDuplicates().keys(texts)
    stays, sizes = clusters(keys)
    found: dict[int, list[str]] = {}
    for name, stay, size in zip(names, stays, sizes, strict=True):
        if size > 1:
            found.setdefault(stay, []).append(name)
    assert sorted(found.values()) == sorted(map(sorted, expected["datatrove"]["clusters"]))
    assert [name for i, name in enumerate(names) if stays[i] != i] == expected["datatrove"]["removed"]
    for line in (folder / "jaccard.tsv").read_text().splitlines()[1:]:
        a, b, similarity, _ = line.split("\t")
        if not 0.5 <= float(similarity) < 0.9:
            shared = (keys[names.index(a)] == keys[names.index(b)]).any()
            assert shared == (float(similarity) >= 0.9), line
