"""NgramModel: a back-off model of n-grams in memory, and what it says of sentences.

Numbers are logarithms to base 10, float32; LOG_ZERO stands for the logarithm of 0.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wv_cli import _lm
from wv_cli.lm.counts import Trie

LOG_ZERO = -99.0


@dataclass(frozen=True, eq=False)
class NgramModel:
    """`prob` (nodes,) is log10 p of the last word of each n-gram after the others, `backoff` (nodes shorter than the
    order,) what p of shorter n-grams is multiplied with after one. Both float32."""

    trie: Trie
    prob: NDArray[np.float32]
    backoff: NDArray[np.float32]

    @property
    def order(self) -> int:
        return self.trie.order

    @cached_property
    def asked(self) -> _lm.Model:
        """The same for C."""
        trie = self.trie
        return _lm.Model(trie.levels, trie.word, trie.first, trie.suffix, self.prob, self.backoff)
