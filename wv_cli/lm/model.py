"""NgramModel: a back-off model of n-grams in memory, as it is estimated and written to text.

Numbers are logarithms to base 10, float32; LOG_ZERO stands for the logarithm of 0. Models are asked packed
(lm.packed), as which those of binary files are read; Ngrams is either.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wv_cli import _packedlm
from wv_cli.errors import BadFile
from wv_cli.lm.packed import pack
from wv_cli.lm.packed_model import LOG_ZERO as LOG_ZERO
from wv_cli.lm.packed_model import PackedModel
from wv_cli.lm.trie import Trie, link
from wv_cli.words import WordList


@dataclass(frozen=True, eq=False)
class NgramModel:
    """`prob` (nodes,) is log10 p of the last word of each n-gram after the others, `backoff` (nodes shorter than the
    order,) what p of shorter n-grams is multiplied with after one. Both float32. `threads` is how many pack the
    model."""

    trie: Trie
    prob: NDArray[np.float32]
    backoff: NDArray[np.float32]
    threads: int = 1

    @property
    def order(self) -> int:
        return self.trie.order

    @property
    def words(self) -> WordList:
        return self.trie.words

    @cached_property
    def packed_model(self) -> PackedModel:
        return pack(self.trie, self.prob, self.backoff, threads=self.threads)

    @property
    def scorer(self) -> _packedlm.Packed:
        return self.packed_model.scorer

    def backoff_scores(self, length: int, contexts: slice) -> NDArray[np.float32]:
        """What shorter n-grams say of those of `length` words after some of their contexts: log10 p of their last word
        after all others but the first, (n,)."""
        return self.trie.links.below(self.prob, self.backoff, length - 1, contexts.start, contexts.stop)


Ngrams = NgramModel | PackedModel


def unpack_model(model: Ngrams) -> NgramModel:
    """A model to be written to text, or to be changed. Raises BadFile for one from a file that is damaged."""
    if isinstance(model, NgramModel):
        return model
    asked, inner = model.scorer, range(1, model.order)
    levels = np.concatenate([[0], np.cumsum(model.sizes)])
    word = np.concatenate([asked.words(length) for length in range(1, model.order + 1)])
    parts = [asked.children(length)[:-1] + np.int32(levels[length]) for length in inner]
    first = np.concatenate([*parts, levels[-1:]]).astype(np.int32)
    try:
        suffix, _ = link(levels, word, first)
    except ValueError as error:
        raise BadFile(model.name, f"{error}: the file is damaged; make it again") from None
    prob = np.concatenate([asked.probs(length) for length in range(1, model.order + 1)])
    backoff = np.concatenate([np.empty(0, np.float32), *(asked.backoffs(length) for length in inner)])
    return NgramModel(Trie(model.words, levels, word, first, suffix), prob, backoff)
