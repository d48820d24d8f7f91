"""Pruning by entropy: its formula against the models themselves, and what every pruned model owes."""

import numpy as np
import pytest

from tests.lm.golden import TINY, entries, text_of, trained
from tests.lm.test_every_smoothing import CONTEXTS, sums
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import count
from wv_cli.lm.entropy import losses, prune
from wv_cli.lm.files import load, save
from wv_cli.lm.smoothing import SMOOTHINGS


def conditional(model, context):
    """ln p of all words but <s> after the words of a context, in the order of the vocabulary."""
    ids = np.array([model.trie.words.find(word) for word in context], np.int32)
    state = model.scorer.score(ids, model.scorer.begin(False))[2]
    return np.delete(model.scorer.all(state).astype(np.float64), SENTENCE) * np.log(10)


def test_the_formula_is_the_relative_entropy():
    """Of the model and the one without a single n-gram, in the context that they differ in."""
    text, config = text_of("micro.o3"), LmConfig(order=3)
    model, counts = trained(text, config).model, count([str(text)], config)
    trie = model.trie
    frequency = counts.count[: trie.levels[2]] / (counts.tokens + counts.sentences)
    for length in (2, 3):
        found = losses(model, frequency, length)
        rows, first = trie.rows(length), trie.level(length).start
        for place, row in enumerate(rows.tolist()):
            if length == 2 and trie.first[first + place] < trie.first[first + place + 1]:
                continue  # others begin with it
            # Everything is dropped that loses less, and this one.
            context = [trie.words[word] for word in row[:-1]]
            if context[0] == "<s>":
                continue
            without = _without(model, frequency, first + place)
            before, after = conditional(model, context), conditional(without, context)
            weight = frequency[_node(trie, row[:-1])]
            entropy = weight * float(np.sum(np.exp(before) * (before - after)))
            assert found[place] == pytest.approx(entropy, abs=2e-7), context


def _node(trie, row):
    node = row[0]
    for word in row[1:]:
        children = trie.word[trie.first[node] : trie.first[node + 1]]
        node = int(trie.first[node]) + int(np.searchsorted(children, word))
    return node


def _without(model, frequency, node):
    """The model without one n-gram, by letting it alone be worth nothing."""
    from wv_cli.lm import entropy

    level = int(np.searchsorted(model.trie.levels, node, side="right"))

    def chosen(model, frequency, length):
        worth = np.ones(model.trie.sizes[length - 1])
        if length == level:
            worth[node - model.trie.levels[length - 1]] = 0
        return worth

    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr(entropy, "losses", chosen)
        return prune(model, frequency, 1e-3)


@pytest.mark.parametrize("smoothing", list(SMOOTHINGS))
def test_probabilities_add_up_to_one(smoothing):
    config = LmConfig(order=3, smoothing=smoothing, prune_entropy=1e-5)
    model = trained(TINY, config).model
    for context in CONTEXTS:
        assert list(sums(model, context)) == pytest.approx([1.0] * 2, abs=2e-6)


def test_higher_thresholds_drop_more(tmp_path):
    models = [trained(TINY, LmConfig(order=4, prune_entropy=each)).model for each in (0.0, 1e-9, 1e-6, 1e-4)]
    sizes = [model.trie.sizes for model in models]
    assert sizes[0] == sizes[1] or all(a >= b for a, b in zip(sizes[0], sizes[1], strict=True))
    assert sizes[1][1:] > sizes[2][1:] > sizes[3][1:]
    assert {size[0] for size in sizes} == {4392}
    for model in models[2:]:
        listed = entries(model)
        assert all(ngram.rpartition(" ")[0] in listed for ngram in listed if " " in ngram)
        save(str(tmp_path / "model.arpa"), model)
        assert entries(load(tmp_path / "model.arpa")) == listed


def test_numbers_of_what_stays_are_kept():
    whole = entries(trained(TINY, LmConfig(order=3)).model)
    for ngram, (prob, _) in entries(trained(TINY, LmConfig(order=3, prune_entropy=1e-6)).model).items():
        assert whole[ngram][0] == prob
