"""What every smoothing owes: probabilities that add up to 1 in contexts that are listed, half listed and not, whatever
is pruned, and files that give the same model back."""

import gzip
import itertools
import mmap

import numpy as np
import pytest

from tests.lm.golden import TINY, entries, text_of, trained
from tests.tiers import full
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import count
from wv_cli.lm.files import load, save
from wv_cli.lm.model import LOG_ZERO
from wv_cli.lm.smoothing import SMOOTHINGS
from wv_cli.words import WordList

EVERY = pytest.mark.parametrize("smoothing", list(SMOOTHINGS))
CUTS = {"whole": {}, "pruned": {"prune": "0,1,2"}, "words too": {"prune": "1"}}
# Listed; the last word alone is; none of it is.
CONTEXTS = ["in the", "of the", "the of", "anarchism zero", "xyzzy the", "the xyzzy", "xyzzy", ""]


def sums(model, context):
    """The probabilities of all words after a context, added up, and one by one as they are scored."""
    found = model.words.find_all(WordList.from_words(context.split()))
    ids = np.where(found < 0, 0, found).astype(np.int32)
    for ends in [True, False][: model.order]:
        state = model.scorer.score(ids, model.scorer.begin(ends))[2]
        scores = model.scorer.all(state)
        stepped = [model.scorer.score(np.array([word], np.int32), state)[0][0] for word in range(0, len(scores), 37)]
        assert scores[::37].tolist() == pytest.approx(stepped, abs=1e-5)
        yield float(np.delete(10.0 ** scores.astype(np.float64), SENTENCE).sum())


def test_the_table_is_the_options():
    assert tuple(SMOOTHINGS) == LmConfig.options()["smoothing"].choices


@EVERY
@pytest.mark.parametrize("cut", list(CUTS))
@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_probabilities_add_up_to_one(smoothing, cut, order):
    if order < len(CUTS[cut].get("prune", "0").split(",")):
        pytest.skip("fewer orders than thresholds")
    model = trained(TINY, LmConfig(smoothing=smoothing, order=order, discount_fallback=True, **CUTS[cut])).model
    for context in CONTEXTS:
        assert list(sums(model, context)) == pytest.approx([1.0] * len(list(sums(model, context))), abs=1e-6)
    assert (model.prob <= 0).all()


@EVERY
def test_a_limited_vocabulary(smoothing):
    config = LmConfig(smoothing=smoothing, order=3, limit_vocab="words")
    words = WordList.from_words(["the", "of", "anarchism", "and", "nowhere"])
    model = trained(TINY, config, words).model
    assert set(model.trie.words) == {"<unk>", "<s>", "</s>", "anarchism", "and", "of", "the"}
    for context in CONTEXTS:
        assert list(sums(model, context)) == pytest.approx([1.0] * 2, abs=1e-6)
    with pytest.raises(WvError, match="none of the words"):
        trained(TINY, config, WordList.from_words(["nowhere"]))


@EVERY
@pytest.mark.parametrize("ending", [*full("arpa", "arpa.gz"), "lm"])
def test_files_keep_every_bit(smoothing, ending, tmp_path):
    model = trained(TINY, LmConfig(smoothing=smoothing, order=3)).model
    path = tmp_path / f"model.{ending}"
    save(str(path), model)
    again = load(path)
    assert entries(again) == entries(model)


def probability(model, text):
    ids = np.array([model.words.find(word) for word in text.split()], np.int32)
    return 10 ** float(model.scorer.score(ids, model.scorer.begin(False))[0][-1])


def test_relative_frequencies():
    """Of the six times that `a b` is written, three go on with c, d or the end as the text says."""
    model = trained(text_of("micro.o3"), LmConfig(smoothing="mle", order=3)).model
    assert probability(model, "a b c") == pytest.approx(2 / 6)
    assert probability(model, "b c d") == pytest.approx(1 / 3)
    assert probability(model, "a b e") < 1e-90
    assert model.prob[0] == LOG_ZERO


def test_witten_bell_by_hand():
    """(c(hw) + N(h) p(w)) / (c(h) + N(h)); 37 events, 7 words and ends, |V| = 8 with <unk>."""
    model = trained(text_of("micro.o3"), LmConfig(smoothing="witten-bell", order=2)).model
    alone = (4 + 7 / 8) / (37 + 7)
    assert probability(model, "c") == pytest.approx(alone)
    assert probability(model, "b c") == pytest.approx((3 + 4 * alone) / (8 + 4))


def test_absolute_by_hand():
    """D = n1 / (n1 + 2 n2) = 10 / 20 of the bigrams, 2 / 2 of the words: 2 of them occur once, none twice."""
    config = LmConfig(smoothing="absolute", order=2, discount_fallback=True)
    made = trained(text_of("micro.o3"), config)
    counts = count([str(text_of("micro.o3"))], config)
    of_bigrams = counts.count[counts.trie.level(2)].tolist()
    n1, n2 = of_bigrams.count(1), of_bigrams.count(2)
    assert made.discounts == [(0.5, 1.0, 1.5), (n1 / (n1 + 2 * n2),)]
    d = made.discounts[1][0]
    assert probability(made.model, "b c") == pytest.approx((3 - d) / 8 + 4 * d / 8 * probability(made.model, "c"))


def test_add_k_by_hand():
    model = trained(text_of("micro.o3"), LmConfig(smoothing="add-k", order=2, add_k=0.5)).model
    assert probability(model, "c") == pytest.approx((4 + 0.5) / (37 + 0.5 * 8))
    assert probability(model, "b c") == pytest.approx((3 + 0.5) / (8 + 0.5 * 8))


def test_katz_by_hand():
    """d_1 = ((2 n2 / n1) - A) / (1 - A), A = (K + 1) n_(K+1) / n1."""
    made = trained(TINY, LmConfig(smoothing="katz", order=2))
    counts = count([str(TINY)], LmConfig(order=2))
    of_bigrams = counts.count[counts.trie.level(2)].tolist()
    n = [of_bigrams.count(r) for r in range(7)]
    a = 6 * n[6] / n[1]
    for r in range(1, 6):
        kept = ((r + 1) * n[r + 1] / n[r] / r - a) / (1 - a)
        assert made.discounts[1][r - 1] == pytest.approx(r * (1 - kept))


def test_good_turing_without_counts_to_judge_by():
    with pytest.raises(WvError, match=r"order 1 give no discounts: .* of them occur 1 to 6 times"):
        trained(text_of("micro.o3"), LmConfig(smoothing="katz", order=2))
    model = trained(text_of("micro.o3"), LmConfig(smoothing="katz", order=2, discount_fallback=True)).model
    for context in ("a", "b", "c d", ""):
        assert list(sums(model, context)) == pytest.approx([1.0, 1.0], abs=1e-6)


@pytest.mark.parametrize(
    ("smoothing", "option"),
    list(itertools.product(["mle", "add-k"], ["discount_fallback", "vocab_pad", "katz_max", "interpolate_unigrams"])),
)
def test_options_of_other_methods_are_refused(smoothing, option):
    with pytest.raises(UsageError, match="has no effect with --smoothing"):
        LmConfig(smoothing=smoothing).reject_ineffective([option])


def test_binary_files_are_used_where_they_lie(tmp_path):
    """A plain file is mapped, its arrays on their boundaries; a packed one is read, its check sum compared."""
    model = trained(TINY, LmConfig(order=3)).model
    path, packed = tmp_path / "model.lm", tmp_path / "model.lm.packed"
    save(str(path), model)
    mapped = load(path)
    assert isinstance(mapped.bits.obj, mmap.mmap)
    assert all(np.asarray(array).flags.aligned for array in (mapped.sizes, mapped.widths, mapped.index, mapped.tables))
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert entries(load(packed)) == entries(mapped)
    damaged = bytearray(path.read_bytes())
    damaged[-10] ^= 1
    packed.write_bytes(gzip.compress(damaged))
    with pytest.raises(BadFile, match="check sum differs"):
        load(packed)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BadFile, match="cut short"):
        load(path)


@EVERY
def test_one_word(smoothing, tmp_path):
    """No n-gram is longer than `<s> a </s>`."""
    text = tmp_path / "text.txt"
    text.write_text("a\n")
    config = LmConfig(smoothing=smoothing, order=5, discount_fallback=True, lmplz_last=True)
    model = trained(text, config).model
    assert model.trie.sizes == [4, 2, 1, 0, 0]
    for context in ("", "a", "b"):
        assert list(sums(model, context)) == pytest.approx([1.0] * 2, abs=1e-6)
    for ending in ("arpa", "lm"):
        save(str(tmp_path / f"model.{ending}"), model)
        assert entries(load(tmp_path / f"model.{ending}")) == entries(model)
