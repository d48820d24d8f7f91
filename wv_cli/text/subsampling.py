"""Subsampling of frequent words (Mikolov et al. 2013): the chance of each word to be used."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Subsampling(Protocol):
    """Options, as wv_cli.models.config.Word2vecConfig has them."""

    @property
    def sample(self) -> float: ...
    @property
    def sample_formula(self) -> str: ...


def keep_probability(
    counts: NDArray[np.int64], options: Subsampling, tokens_read: int = 0
) -> NDArray[np.float64] | None:
    """Chance of each word to survive subsampling; None when it is off. f is the word's share of the kept tokens.

    word2vec's program: (sqrt(f / t) + 1) t / f.  Mikolov et al. 2013 (eq. 5): sqrt(t / f).  fastText: as word2vec's,
    but f is the share of all `tokens_read`: words that are not in the vocabulary and line ends count, too.
    """
    if options.sample == 0:
        return None
    total = counts.sum() if options.sample_formula != "fasttext" else max(tokens_read, int(counts.sum()))
    ratio = min(options.sample, 1.0) / (counts / total)  # 1 keeps all; a huge number would overflow
    keep = np.sqrt(ratio) if options.sample_formula == "paper" else np.sqrt(ratio) + ratio
    chances: NDArray[np.float64] = np.minimum(keep, 1.0)
    return chances


def highest_draws(chances: NDArray[np.float64] | None) -> NDArray[np.uint32] | None:
    """What kernels compare a draw of 32 bits with, word by word."""
    return None if chances is None else np.floor(chances * (2**32 - 1)).astype(np.uint32)
