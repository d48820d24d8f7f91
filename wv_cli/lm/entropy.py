"""Leaving n-grams out of a model: those of a mask, or those without which it says nearly the same (Stolcke 1998).

Without (h, w) the word is foreseen by shorter n-grams, p'(w | h) = alpha' p(w | h'), and what is left to unseen words
changes with alpha'. The relative entropy of the two models, of which all other contexts are the same, is

    D = -p(h) (p(w | h) (ln p(w | h') + ln alpha' - ln p(w | h)) + (ln alpha' - ln alpha) (sum of p(v | h), v unseen))

and e^D - 1 is the share by which the perplexity rises. p(h) are relative frequencies of the text, not products of
the model's own probabilities, which for Kneser-Ney's are no marginals (Chelba et al. 2010).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.io.shelf import Shelf
from wv_cli.lm.model import LOG_ZERO, NgramModel
from wv_cli.lm.smoothing import Floats, sums
from wv_cli.lm.trie import Trie, link

# What is left to the unseen words of a context that has hardly any: too little to divide by.
NOTHING = 1e-10
_BLOCK = 1 << 20  # n-grams at a time
Mask = NDArray[np.bool_]


def prune(model: NgramModel, frequency: Floats, threshold: float) -> NgramModel:
    """The model without the n-grams that raise the perplexity by less than `threshold`, the longest first; those that
    others begin with stay. `frequency` (nodes shorter than the order,) is p(h)."""
    trie = model.trie
    keep = [np.ones(size, bool) for size in trie.sizes]
    for length in range(trie.order, 1, -1):
        with np.errstate(over="ignore"):
            keep[length - 1] = np.expm1(losses(model, frequency, length)) >= threshold
        if length < trie.order:
            above, level = trie.level(length), trie.level(length + 1)
            for nodes in trie.blocks(length + 1):
                contexts, starts = trie.contexts(length + 1, nodes)
                kept = keep[length][nodes.start - level.start : nodes.stop - level.start]
                begun = sums(kept.astype(np.float64), starts) > 0
                keep[length - 1][contexts.start - above.start : contexts.stop - above.start] |= begun
    small, chosen = cut_trie(trie, keep)
    backoff = trie.shelf.new(int(small.levels[-2]), np.float32)
    backoff[:] = 0
    result = NgramModel(small, take_nodes(model.prob, chosen, trie.shelf), backoff)
    normalize(result)
    return result


def normalize(model: NgramModel) -> None:
    """Sets the back-offs of all contexts so that probabilities sum to 1 after each, the shortest contexts first."""
    trie, backoff = model.trie, model.backoff
    for length in range(2, trie.order + 1):
        for nodes in trie.blocks(length):
            contexts, starts = trie.contexts(length, nodes)
            left = 1 - sums(_powers(model.prob[nodes]), starts)
            lower = 1 - sums(_powers(model.backoff_scores(length, contexts)), starts)
            backoff[contexts] = np.where(
                lower < NOTHING, LOG_ZERO, logarithms(left / np.where(lower < NOTHING, 1.0, lower))
            )
            trie.shelf.let_go()


def losses(model: NgramModel, frequency: Floats, length: int) -> Floats:
    """D of each n-gram of a length."""
    trie = model.trie
    found, begin = trie.shelf.new(trie.sizes[length - 1], np.float64), int(trie.levels[length - 1])
    for nodes in trie.blocks(length):
        contexts, starts = trie.contexts(length, nodes)
        sizes = np.diff(np.append(starts, nodes.stop - nodes.start))
        own, below = _powers(model.prob[nodes]), _powers(model.backoff_scores(length, contexts))
        alpha = np.repeat(_powers(model.backoff[contexts]), sizes)
        lower = np.repeat(np.maximum(1 - sums(below, starts), NOTHING), sizes)
        unseen = alpha * lower
        alpha_after = (unseen + own) / (lower + below)
        gain = own * np.log(below * alpha_after / own) + unseen * np.log(alpha_after / alpha)
        found[nodes.start - begin : nodes.stop - begin] = -np.repeat(frequency[contexts], sizes) * gain
        trie.shelf.let_go()
    return found


def _powers(logs: NDArray[np.float32]) -> Floats:
    return np.asarray(10.0 ** logs.astype(np.float64))


def cut_trie(trie: Trie, keep: list[Mask]) -> tuple[Trie, NDArray[np.int32]]:
    """The trie of the n-grams kept, and which nodes those were. One is never kept without those it begins with."""
    if all(mask.all() for mask in keep):
        return trie, np.arange(len(trie.word), dtype=np.int32)
    shelf = trie.shelf
    levels = np.cumsum([0, *(int(np.count_nonzero(mask)) for mask in keep)])
    nodes, end = shelf.new(int(levels[-1]), np.int32), 0
    for length, mask in enumerate(keep, 1):
        for begin in range(0, len(mask), _BLOCK):
            found = np.flatnonzero(mask[begin : begin + _BLOCK]) + (trie.levels[length - 1] + begin)
            nodes[end : end + len(found)] = found
            end += len(found)
    new_id = np.cumsum(keep[0], dtype=np.int32) - np.int32(1)
    inner, begins = int(levels[-2]), shelf.new(int(levels[-2]) + 1, np.int32)
    begins[-1] = levels[-1]
    for begin in range(0, inner, _BLOCK):
        part = slice(begin, min(begin + _BLOCK, inner))
        begins[part] = np.searchsorted(nodes, trie.first[nodes[part]])
        shelf.let_go()
    word = take_nodes(trie.word, nodes, shelf, lambda words: new_id[words])
    suffix, _ = link(levels, word, begins, shelf)
    words = trie.words.take(nodes[: levels[1]])
    return Trie(words, levels, word, begins, suffix, shelf), nodes


def take_nodes(
    array: NDArray[Any],
    nodes: NDArray[np.int32],
    shelf: Shelf,
    change: Callable[[NDArray[Any]], NDArray[Any]] = np.copy,
) -> NDArray[Any]:
    """change(array[nodes]), made block by block."""
    out = shelf.new(len(nodes), array.dtype.type)
    for begin in range(0, len(nodes), _BLOCK):
        part = slice(begin, begin + _BLOCK)
        out[part] = change(array[nodes[part]])
        shelf.let_go()
    return out


def logarithms(numbers: Floats) -> NDArray[np.float32]:
    logs = np.full(len(numbers), LOG_ZERO)
    np.log10(numbers, out=logs, where=numbers > 0)
    return np.asarray(np.maximum(logs, LOG_ZERO), np.float32)
