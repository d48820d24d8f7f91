"""Phrases against the reference implementations: the original program's exact output, and ours with its named
departures."""

import json
import lzma
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.reference.text import join_phrases, split_lines, word2phrase
from wv_cli import _phrases
from wv_cli.errors import UsageError, WvError
from wv_cli.text import id_stream as spool_module
from wv_cli.text import joining, phrase_finding
from wv_cli.text.config import PhrasesConfig, falling_thresholds
from wv_cli.text.phrases import JoinedText
from wv_cli.text.saved_phrases import read_phrases

CONNECTORS = json.loads((GOLDEN / "gensim-connectors.json").read_text())
GOLDEN = GOLDEN / "slice5m.phrases.txt.xz"
words = st.sampled_from([b"a", b"b", b"c", b"d", b"a_b", b"e", b"f"])
texts = st.lists(st.one_of(words, words, words, st.just(b"\n")), min_size=1, max_size=120).map(b" ".join)
SMALLEST = 1  # bytes of memory: everything spooled, the smallest pair table


def unlines(lines):
    return b"".join(b" ".join(line) + b"\n" for line in lines)


def ours(path, **options):
    with JoinedText([str(path)], PhrasesConfig(**options)) as text:
        return b"".join(text.chunks()), text


@pytest.fixture(scope="module")
def slice5m(slice_xz, tmp_path_factory):
    """The text the golden file was made from: the first 13,703 lines of the shipped corpus."""
    path = tmp_path_factory.mktemp("phrases") / "slice5m.txt"
    with lzma.open(slice_xz) as packed:
        path.write_bytes(b"".join(islice(packed, 13703)))
    return path


# ---------------------------------------------------------------- the original


@pytest.mark.full
def test_the_original_but_for_pairs_across_lines(slice5m):
    """word2phrase -threshold 200 is the reference that counts across lines; ours is the one that does not, to the
    byte."""
    lines = split_lines(slice5m.read_bytes())
    golden = [line.split() for line in lzma.decompress(GOLDEN.read_bytes()).splitlines()]
    assert word2phrase(lines, 200, 5, across_lines=True) == golden
    joined, text = ours(slice5m, thresholds=(200.0,))
    assert joined == unlines(word2phrase(lines, 200, 5, across_lines=False))
    # So the whole difference is 17 pairs of 841,127 words, in 15 lines.
    different = sum(a.split() != b for a, b in zip(joined.splitlines(), golden, strict=True))
    assert different == 15
    assert text.tokens - sum(map(len, golden)) == 17


# ---------------------------------------------------------------- the reference implementation of ours


@pytest.mark.parametrize("memory", [2 * 10**9, SMALLEST])
@pytest.mark.parametrize(("score", "thresholds"), [("word2vec", (200.0, 50.0)), ("npmi", (0.6, 0.4))])
def test_real_text(score, thresholds, memory, slice_text):
    """Joined text, phrases and scores of two passes; also with everything on disk and pairs counted in many parts."""
    joined, text = ours(slice_text, thresholds=thresholds, score=score, memory=memory)
    lines = split_lines(slice_text.read_bytes())
    for threshold, done in zip(thresholds, text.passes, strict=True):
        before = sum(map(len, lines))
        lines, chosen = join_phrases(lines, threshold, 5, score)
        found = dict(zip((done.phrases.bytes_at(i) for i in range(len(done.phrases))), done.scores, strict=True))
        assert found.keys() == {b"_".join(pair) for pair in chosen}
        for pair, value in chosen.items():
            assert found[b"_".join(pair)] == pytest.approx(value, rel=1e-12)
        assert done.joined == before - sum(map(len, lines))
        assert (np.diff(done.scores) <= 0).all()
    assert joined == unlines(lines)
    assert text.tokens == sum(map(len, lines))


@given(
    texts,
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 3.0, 10.0]), min_size=1, max_size=3),
    st.integers(1, 3),
    st.sampled_from(["word2vec", "npmi"]),
    st.sampled_from([SMALLEST, 10**9]),
)
def test_any_text(tmp_path_factory, text, thresholds, min_count, score, memory):
    path = tmp_path_factory.getbasetemp() / "any-phrases.txt"
    path.write_bytes(text)
    lines = split_lines(text)
    if not any(lines):
        with pytest.raises(WvError, match="no text"):
            ours(path)
        return
    if score == "npmi":
        # Rounding differs between logarithms: no threshold that a score may hit exactly.
        thresholds = [value / 10 - 0.30103 for value in thresholds]
        if sum(map(len, lines)) == 1:
            return
    joined, _ = ours(path, thresholds=tuple(thresholds), min_count=min_count, score=score, memory=memory)
    for threshold in thresholds:
        lines, _ = join_phrases(lines, threshold, min_count, score)
    assert joined == unlines(lines)


def test_lines_stay_lines(tmp_path):
    """Every line in its place, empty ones too; pairs are joined in a line only; spaces become single."""
    (tmp_path / "x").write_bytes(b"\n\nnew york\n \nnew\nyork  new\tyork\r\nnew york" + b"\nx y z" * 30)
    joined, _ = ours(tmp_path / "x", thresholds=(1.0,), min_count=1)
    assert joined == b"\n\nnew_york\n\nnew\nyork new_york\nnew_york" + b"\nx_y z" * 30 + b"\n"


def test_the_right_word_of_a_pair_begins_no_other(tmp_path):
    (tmp_path / "x").write_bytes(b"a a a a a\n" * 9 + b"q w e r t z u i o p\n")
    joined, text = ours(tmp_path / "x", thresholds=(0.5,), min_count=1)
    assert joined.startswith(b"a_a a_a a\n")
    assert text.passes[0].joined == 18


def test_a_phrase_that_is_already_a_word(tmp_path):
    """new_york of the text and new_york made of new york are one word afterwards."""
    (tmp_path / "x").write_bytes(b"new york city\n" * 6 + b"new_york city\n" * 6 + b"x y\n" * 50)
    joined, text = ours(tmp_path / "x", thresholds=(12.0, 5.0), min_count=1)
    assert [list(done.phrases) for done in text.passes] == [["new_york"], ["new_york_city"]]
    assert text.passes[1].counts.tolist() == [12]
    assert joined.startswith(b"new_york_city\n" * 12 + b"x y\n")


@pytest.mark.parametrize("size", [70, 100_000])
def test_long_words(size, tmp_path):
    """word2phrase cuts words at 59 bytes."""
    a, b = b"a" * size, b"b" * size
    (tmp_path / "x").write_bytes((a + b" " + b + b"\n") * 8 + b"x y\n" * 40)
    joined, _ = ours(tmp_path / "x", thresholds=(1.0,))
    assert joined.startswith(a + b"_" + b + b"\n")


def test_delimiter_and_lowercase(tmp_path):
    (tmp_path / "x").write_text("ÖL Kanne\nöl kanne\n" * 4 + "x y\n" * 20)
    joined, _ = ours(tmp_path / "x", thresholds=(1.0,), delimiter="·", lowercase=True)
    assert joined.decode().startswith("öl·kanne\nöl·kanne\n")


def test_blocks_and_spool(slice_text, tmp_path, monkeypatch):
    """Pairs across the borders of blocks, in a file and in memory."""
    whole, _ = ours(slice_text, thresholds=(100.0, 50.0))
    monkeypatch.setattr(spool_module, "_BLOCK", 1000)
    monkeypatch.setattr(spool_module, "_HELD", 1000)
    for memory in (2 * 10**9, SMALLEST):
        options = {"thresholds": (100.0, 50.0), "memory": memory}
        with JoinedText([str(slice_text)], PhrasesConfig(**options), spool_beside=str(tmp_path / "x")) as text:
            assert b"".join(text.chunks()) == whole
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"score": "npmi", "across_lines": True}, {"connectors": "of,the"}, {"memory": SMALLEST}]
)
def test_threads_change_no_byte(slice_text, tmp_path, monkeypatch, threads, options):
    """Of the text and the phrases: with tables that are split, too, and pieces that end inside lines."""
    monkeypatch.setattr(joining, "_LEAST_TABLE", 1)
    monkeypatch.setattr(joining, "_RENDERED", 77)
    monkeypatch.setattr(spool_module, "_BLOCK", 1000)
    found = []
    for number in (1, threads):
        config = PhrasesConfig(thresholds=(100.0, 50.0) if "score" not in options else (0.6, 0.4), **options)
        with JoinedText([str(slice_text)], config, spool_beside=str(tmp_path / "x"), threads=number) as text:
            found.append((b"".join(text.chunks()), b"".join(text.rows())))
    assert found[0] == found[1] and len(found[0][1]) > 100


# ---------------------------------------------------------------- counting


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_every_pair_is_in_one_part(bits):
    """Whatever parts a part is split into: 100,000 pairs, of which a table takes 2,700."""
    ids = np.random.default_rng(1).integers(0, 400, 100_000).astype(np.int32)
    keys = []
    for part in range(1 << bits):
        table = _phrases.PairCounts(np.tile(np.float32([0, 1]), (400, 1)), 0, part=part, bits=bits)
        while True:
            table.add(ids)
            keys += [first * 400 + second for first, second, _ in table.selected(1)]
            if not table.next_part():
                break
    assert np.array_equal(np.sort(np.concatenate(keys)), np.unique(ids[:-1].astype(np.int64) * 400 + ids[1:]))


@pytest.mark.parametrize(("part", "bits"), [(-1, 0), (1, 0), (2, 1), (0, -1), (0, 31)])
def test_parts_that_are_none(part, bits):
    with pytest.raises(ValueError, match="no such part"):
        _phrases.PairCounts(np.zeros((1, 2), np.float32), 0, part=part, bits=bits)


@given(st.lists(st.integers(-1, 300), max_size=400), st.integers(0, 3))
def test_pair_counts(stream, seed):
    ids = np.array(stream, np.int32)
    limits = np.random.default_rng(seed).random((301, 2)).astype(np.float32) + np.float32([0, 0.5])
    table = _phrases.PairCounts(limits, 0)
    for piece in np.array_split(ids, 3):
        table.add(np.ascontiguousarray(piece))
    found = {}
    for first, second, counts in table.selected(1):
        found |= dict(zip(zip(first.tolist(), second.tolist(), strict=True), counts.tolist(), strict=True))
    expected = {}
    for a, b in pairwise(stream):
        if a >= 0 and b >= 0 and max(limits[a, 0], limits[b, 0]) < min(limits[a, 1], limits[b, 1]):
            expected[a, b] = expected.get((a, b), 0) + 1
    assert found == expected
    assert not table.next_part()


def test_counts_in_parts_are_exact():
    """100,000 different pairs through a table of 2,700: about 64 walks, every pair in exactly one of them."""
    ids = np.random.default_rng(1).integers(0, 400, 200_000).astype(np.int32)
    table = _phrases.PairCounts(np.tile(np.float32([0, 1]), (400, 1)), 0)
    keys, counts, walks = [], [], 0
    while True:
        table.add(ids[:77_777])
        table.add(ids[77_777:])
        for first, second, count in table.selected(1):
            keys.append(first * 400 + second)
            counts.append(count)
        walks += 1
        if not table.next_part():
            break
    assert walks > 10
    expected, times = np.unique(ids[:-1].astype(np.int64) * 400 + ids[1:], return_counts=True)
    found = np.concatenate(keys)
    order = np.argsort(found)
    assert np.array_equal(found[order], expected)
    assert np.array_equal(np.concatenate(counts)[order], times)


def test_selected_leaves_out_rare_pairs():
    table = _phrases.PairCounts(np.tile(np.float32([0, 1]), (3, 1)), 0)
    table.add(np.array([0, 1, 0, 1, 2], np.int32))
    ((first, second, counts),) = table.selected(2)
    assert (first.tolist(), second.tolist(), counts.tolist()) == ([0], [1], [2])


@example(counts=[2, 2], min_count=2, threshold=2.3e-305, score="word2vec", rest=0)
@given(
    st.lists(st.integers(1, 10**6), min_size=2, max_size=2),
    st.integers(1, 6),
    st.floats(-1, 1000, allow_nan=False),
    st.sampled_from(["word2vec", "npmi"]),
    st.integers(0, 10**7),
)
def test_bounds_never_drop_a_phrase(counts, min_count, threshold, score, rest):
    """A pair as frequent as its rarer word is the best there can be: when it scores, the bounds must let it pass."""
    threshold = max(0.0, threshold) if score == "word2vec" else max(-1.0, min(1.0, threshold / 100))
    scoring = phrase_finding._SCORES[score](np.array([*counts, rest], np.int64), threshold, min_count)
    pair = min(counts)
    if pair < min_count:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        value = scoring.score(np.array([0]), np.array([1]), np.array([pair]))[0]
    limits = scoring.bounds()
    if value > threshold:
        assert max(limits[:2, 0]) < min(limits[:2, 1])


# ---------------------------------------------------------------- options


def test_falling_thresholds():
    assert falling_thresholds(100, 3, "word2vec") == (400, 200, 100)
    assert falling_thresholds(0.5, 3, "npmi") == (0.875, 0.75, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 0}, "--min-count must be at least 1, not 0"),
        ({"thresholds": (float("nan"),)}, "--threshold must be a finite number"),
        ({"thresholds": (-1.0,)}, "--threshold must be 0 or more for the score word2vec, not -1"),
        ({"thresholds": (2.0,), "score": "npmi"}, "--threshold must be between -1 and 1 for the score npmi, not 2"),
        ({"delimiter": ""}, "--delimiter must be text without spaces, not ''"),
        ({"delimiter": "a b"}, "--delimiter must be text without spaces, not 'a b'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(UsageError) as caught:
        PhrasesConfig(**options).validate()
    assert str(caught.value) == message


def test_a_failure_closes_the_spool(slice_text, tmp_path):
    def fail(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        JoinedText([str(slice_text)], PhrasesConfig(memory=1), spool_beside=str(tmp_path / "x"), after_pass=fail)
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- connectors


@pytest.mark.parametrize("memory", [2 * 10**9, SMALLEST])
@pytest.mark.parametrize("case", CONNECTORS["cases"], ids=lambda case: f"{case['scoring']}-{case['threshold']}")
def test_connectors_join_as_in_gensim(case, memory, tmp_path):
    """gensim's default score multiplies by the entries of its table where word2vec has the words of the text."""
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in CONNECTORS["lines"]))
    npmi = case["scoring"] == "npmi"
    scale = 1 if npmi else case["words"] / case["entries"]
    options = {"score": "npmi" if npmi else "word2vec", "min_count": case["min_count"], "connectors": "english"}
    joined, text = ours(tmp_path / "text", thresholds=(case["threshold"] * scale,), memory=memory, **options)
    assert joined.decode().splitlines() == case["joined"]
    done = text.passes[0]
    found = dict(zip(done.phrases, (done.scores / scale).tolist(), strict=True))
    assert found == pytest.approx(case["phrases"], abs=1e-5)
    assert any("_of_the_" in phrase for phrase in found)


def test_saved_connectors_join_alike(tmp_path):
    """From a file, whose middle words are the connectors; two passes."""
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in CONNECTORS["lines"]))
    joined, text = ours(tmp_path / "text", thresholds=(0.5, 0.3), score="npmi", min_count=2, connectors="english")
    (tmp_path / "phrases").write_bytes(b"".join(text.rows()))
    saved = read_phrases(str(tmp_path / "phrases"))
    assert saved.digest == text._finder.digest
    with JoinedText([str(tmp_path / "text")], PhrasesConfig(), saved=saved) as again:
        assert b"".join(again.chunks()) == joined
    for one in text.passes:
        assert not {"of", "the"} & {*one.found.first, *one.found.second}


def test_long_chains_and_pieces(tmp_path, monkeypatch):
    """Seventeen connectors are too many, in one piece or in several."""
    lines = ["a of b", f"a {'of ' * 16}b", f"a {'of ' * 17}b", "of a of", "a of of b c"]
    (tmp_path / "text").write_text("".join(f"{line}\n" for line in lines * 3))
    options = {"thresholds": (0.0,), "min_count": 1, "connectors": "of", "memory": SMALLEST}
    expected, _ = ours(tmp_path / "text", **options)
    first = expected.decode().splitlines()[:5]
    assert first == ["a_of_b", "a_" + "of_" * 16 + "b", lines[2], "of a of", "a_of_of_b c"]
    monkeypatch.setattr(spool_module, "_BLOCK", 3)
    assert ours(tmp_path / "text", **options)[0] == expected


@pytest.mark.parametrize("value", ["of the", "missing.txt", "no/such"])
def test_what_names_no_connectors(value, tmp_path):
    with pytest.raises(UsageError, match="expected words with commas between, a file, or english"):
        phrase_finding.PhraseFinder(PhrasesConfig(connectors=value))
