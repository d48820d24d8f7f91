"""Packed models: what they say against the list of their n-grams, what they keep, what damage to them is found."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.lm import reference
from tests.lm.golden import FOLDER, TINY, entries, text_of, trained
from tests.tiers import full
from wv_cli import _packedlm
from wv_cli.errors import BadFile, UsageError
from wv_cli.lm.config import LmConfig
from wv_cli.lm.files import load, save
from wv_cli.lm.model import LOG_ZERO, NgramModel, unpack_model
from wv_cli.lm.packed import pack
from wv_cli.lm.scoring import Scored, Scorer
from wv_cli.text.source import Source

GAPS = {"closed": lambda model: model, "gaps": lambda model: without_suffixes(model)}


@pytest.fixture(scope="module")
def tiny():
    return trained(TINY, LmConfig(order=5)).model


def without_suffixes(model):
    """The model without every third bigram that none begins with, though trigrams may end in it."""
    from wv_cli.lm.entropy import cut_trie

    trie = model.trie
    keep = [np.ones(size, bool) for size in trie.sizes]
    alone = np.flatnonzero(np.diff(trie.children(2)) == 0)
    keep[1][alone[::3]] = False
    small, nodes = cut_trie(trie, keep)
    return NgramModel(small, model.prob[nodes], model.backoff[nodes[: small.levels[-2]]])


def ids_of(model):
    text = Source([str(FOLDER / "wiki.test200.txt.xz")])
    return np.concatenate([part.ids for part in Scorer(model).read(text)])


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("gaps", list(GAPS))
@pytest.mark.parametrize("order", [1, *full(2), 3, *full(5)])
def test_scores_are_those_of_the_listed_ngrams(order, gaps, ends):
    if order < 3 and gaps == "gaps":
        pytest.skip("suffixes of trigrams")
    model = GAPS[gaps](trained(TINY, LmConfig(order=order)).model)
    assert model.packed_model.closed == (gaps == "closed")
    ids = ids_of(model)
    found = model.scorer.score(ids, model.scorer.begin(ends), ends)
    expected = reference.scores(model, ids, ends=ends)
    assert found[1].tolist() == [length for _, length in expected]
    assert found[0] == pytest.approx([score for score, _ in expected], abs=2e-6)


@pytest.mark.parametrize("cuts", [[1], [255, 256, 257], [512, 3000], list(range(1, 700, 7))])
def test_a_stream_may_be_cut_anywhere(tiny, cuts):
    ids = ids_of(tiny)[:4000]
    whole = tiny.scorer.score(ids, tiny.scorer.begin())
    state, parts = tiny.scorer.begin(), []
    for part in np.split(ids, cuts):
        scores, _, state = tiny.scorer.score(part, state)
        parts.append(scores)
    assert np.array_equal(np.concatenate(parts), whole[0]) and np.array_equal(state, whole[2])


def test_more_words_than_are_looked_up_together(tiny):
    ids = np.tile(ids_of(tiny), 30)
    assert len(ids) > _packedlm.AT_ONCE
    whole, parts, state = tiny.scorer.score(ids, tiny.scorer.begin()), [], tiny.scorer.begin()
    for part in np.array_split(ids, 7):
        *answer, state = tiny.scorer.score(part, state)
        parts.append(answer)
    for each, cut in zip(whole[:2], zip(*parts, strict=True), strict=True):
        assert np.array_equal(each, np.concatenate(cut))
    assert np.array_equal(state, whole[2])


@pytest.mark.parametrize("smallest", [-30, -7, -3])
def test_totals_are_rounded_once(smallest):
    ends = np.arange(1, 2001) % 20 == 0
    exponents = np.random.default_rng(1).uniform(smallest, 2, len(ends))
    scores = -(10**exponents).astype(np.float32)
    scores[:20] = -0.0
    scores[20], scores[41] = -np.inf, 0
    ids = np.where(ends, -1, np.arange(len(ends)) % 3).astype(np.int32)
    scored = Scored(ids, ids, scores, np.ones(len(ids), np.uint8))
    sums, oov = scored.totals()
    assert list(map(repr, sums)) == [repr(math.fsum(scores[part].tolist())) for part in scored.sentences()]
    assert oov == [int(np.count_nonzero(ids[part] == 0)) for part in scored.sentences()]


@pytest.mark.parametrize("width", [1, 7, 8, 13, 31, 32])
@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_columns(width, n):
    """Against the bits of NumPy."""
    numbers = np.random.default_rng(n).integers(0, 1 << width, n, dtype=np.uint32)
    bits = np.unpackbits(_packedlm.write(numbers, width), bitorder="little")
    assert len(bits) % 64 == 0 and len(bits) - n * width < 64 and not bits[n * width :].any()
    rows = bits[: n * width].reshape(n, width).astype(np.uint64)
    assert (rows << np.arange(width, dtype=np.uint64)).sum(axis=1).tolist() == numbers.tolist()


def test_packing_keeps_every_number_and_child(tiny):
    again = unpack_model(tiny.packed_model)
    assert np.array_equal(again.prob, tiny.prob) and np.array_equal(again.backoff, tiny.backoff)
    for name in ("levels", "word", "first", "suffix"):
        assert np.array_equal(getattr(again.trie, name), getattr(tiny.trie, name)), name


def test_bytes_of_an_ngram(tiny, tmp_path):
    """KenLM's trie takes for this model 13 bits a word, 31 and 32 a number, 15 a pointer, and more for words."""
    sizes = tiny.trie.sizes
    kenlm = sum(sizes[1:-1]) * (13 + 31 + 32 + 15) // 8 + sizes[-1] * (13 + 31) // 8 + sizes[0] * (4 + 4 + 8)
    save(str(tmp_path / "model.lm"), tiny)
    assert (tmp_path / "model.lm").stat().st_size < 0.85 * kenlm


@pytest.mark.parametrize("bits", [*full(2, 5), 8, *full(16)])
def test_quantized(tiny, tmp_path, bits):
    save(str(tmp_path / "model.lm"), tiny, quantize=bits)
    small = unpack_model(load(tmp_path / "model.lm"))
    words = tiny.trie.level(1)
    assert np.array_equal(small.prob[words], tiny.prob[words])
    assert np.array_equal(small.backoff[words], tiny.backoff[words])
    for length in range(2, 6):
        nodes = tiny.trie.level(length)
        for numbers, exact in ((small.prob, tiny.prob), (small.backoff, tiny.backoff)):
            if len(numbers[nodes]):
                assert len(np.unique(numbers[nodes])) <= 1 << bits
                assert np.mean(numbers[nodes]) == pytest.approx(np.mean(exact[nodes]), abs=2e-3)
                assert np.std(numbers[nodes] - exact[nodes]) < 2.0 ** -(bits - 1)
    inner = slice(tiny.trie.levels[1], len(tiny.backoff))
    assert (small.backoff[inner][tiny.backoff[inner] == 0] == 0).all()
    save(str(tmp_path / "model.arpa"), small)
    save(str(tmp_path / "again.lm"), load(tmp_path / "model.arpa"))
    assert entries(load(tmp_path / "again.lm")) == entries(small)
    assert (tmp_path / "again.lm").stat().st_size == (tmp_path / "model.lm").stat().st_size


def test_quantizing_keeps_what_cannot_follow():
    model = trained(text_of("micro.o3"), LmConfig(order=3, smoothing="mle")).model
    again = unpack_model(pack(model.trie, model.prob, model.backoff, 2))
    inner = slice(model.trie.levels[1], None)
    assert np.array_equal(again.prob[inner] == LOG_ZERO, model.prob[inner] == LOG_ZERO)
    assert (again.prob[inner][model.prob[inner] == 0] == 0).all()


def test_only_binary_files_are_quantized(tiny):
    with pytest.raises(UsageError, match="--quantize makes binary files smaller"):
        save("model.arpa", tiny, quantize=8)


def test_files_of_version_0_3_0():
    old, new = load(FOLDER / "version-0.3.0.lm"), trained(text_of("micro.o3"), LmConfig(order=3)).model
    assert entries(old) == entries(new)


def ask_all(model):
    asked = model.scorer
    asked.score(ids_of(model), asked.begin())
    for word in range(0, len(model.words), 50):
        asked.all(asked.score(np.array([word], np.int32), asked.begin())[2])


DAMAGES = {
    "a base behind the level": ("index", lambda index: index.__setitem__(slice(0, None, 2), 1 << 31)),
    "wide blocks": (
        "index",
        lambda index: np.add(index[21:220:2], 40 * np.arange(100, dtype=np.uint32), out=index[21:220:2]),
    ),
    "a falling sum of widths": (
        "index",
        lambda index: index.__setitem__(slice(21, 220, 2), index[21:220:2][::-1].copy()),
    ),
    "a sum of widths that wraps around": ("index", lambda index: index.__setitem__(slice(21, 220, 4), 2**32 - 1)),
    "a positive probability": ("tables", lambda tables: np.negative(tables, out=tables)),
    "no number": ("tables", lambda tables: tables.fill(np.nan)),
    "bits": ("bits", lambda bits: bits[: len(bits) - _packedlm.PADDING].fill(255)),
}


@pytest.mark.parametrize("damage", list(DAMAGES))
@pytest.mark.parametrize("quantize", [None, 4])
def test_damage_is_found_when_it_is_met(tiny, damage, quantize):
    whole = pack(tiny.trie, tiny.prob, tiny.backoff, quantize)
    name, spoil = DAMAGES[damage]
    array = getattr(whole, name).copy()
    spoil(array)
    spoiled = replace(whole, **{name: array}, name="model.lm")
    with pytest.raises(BadFile, match=r"model.lm: .*the file is damaged"):
        ask_all(spoiled)
    with pytest.raises(BadFile, match=r"model.lm: .*the file is damaged"):
        unpack_model(spoiled)


@pytest.mark.parametrize("name", ["sizes", "widths", "index", "tables", "bits"])
def test_parts_of_other_sizes_are_refused(tiny, name):
    whole = tiny.packed_model
    for change in (1, -1):
        part = getattr(whole, name)
        other = np.concatenate([part, part[-1:]]) if change > 0 else part[:-1]
        with pytest.raises(ValueError, match=r"fit|order"):
            _ = replace(whole, **{name: other}).scorer
    if name in ("sizes", "widths"):
        for value in (-1, 33, 1 << 31, 1 << 62):
            other = getattr(whole, name).copy()
            other[1:2] = value
            with pytest.raises(ValueError, match=r"fit|too many|such"):
                _ = replace(whole, **{name: other}).scorer


def test_states_of_other_models_are_refused(tiny):
    for state in (np.zeros(3, np.int32), np.full(4, 1 << 20, np.int32), np.full(4, -2, np.int32)):
        with pytest.raises(ValueError, match="state"):
            tiny.scorer.score(np.zeros(1, np.int32), state)
        with pytest.raises(ValueError, match="state"):
            tiny.scorer.all(state)


@pytest.mark.parametrize(
    "letters, words",
    [
        (b"", 0),
        (b"", 1),
        (b"a", 1),
        (b"a\n\n", 2),
        (b"\na\n", 2),
        (b"a\nb", 2),
        (b"a\nb\n", 1),
        (b"a\nb\n", 3),
        (b"a\n", -1),
    ],
)
def test_words_that_do_not_follow_each_other(letters, words):
    with pytest.raises(ValueError, match="do not follow each other"):
        _packedlm.find_words(letters, words)


def test_words_with_a_newline_behind_each():
    assert _packedlm.find_words(b"a\nbcd\n", 2).tolist() == [0, 1, 4]


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 100.5, -100.5])
def test_numbers_that_are_no_logarithms(odd):
    assert _packedlm.are_logarithms(np.array([-100, 0, 100], np.float32))
    assert not _packedlm.are_logarithms(np.array([0, odd, 0], np.float32))
