"""The vocabulary of a model that goes on with more text: the words it has, none of which it loses, and those that the
text brings."""

import numpy as np
from numpy.typing import NDArray

from wv_cli.text.config import VocabConfig
from wv_cli.text.vocab import Vocab, merge_vocabs


def decay_vocab(vocab: Vocab, fraction: float) -> Vocab:
    """The vocabulary as if only this `fraction` (0 to 1) of its text had been read; no word is seen less than once."""
    if fraction == 1:
        return vocab

    def part(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        kept: NDArray[np.int64] = np.rint(counts * fraction).astype(np.int64)
        return kept

    lines, tokens = part(np.array([vocab.lines, vocab.tokens_read]))
    return Vocab(vocab.words, np.maximum(part(vocab.counts), 1), int(lines), int(tokens))


def extend_vocab(older: Vocab, text: Vocab, config: VocabConfig) -> Vocab:
    """All words of `older`, and those of `text` (all of its words, not cut) that pass `config`: min_count is of the
    text alone, max_vocab of both together, though no older word goes. Counts are summed. Raises WvError for sums of
    2^63 or more."""
    known = older.words.find_all(text.words) >= 0
    fresh = np.flatnonzero(~known & (text.counts >= config.min_count))
    if config.max_vocab:
        fresh = fresh[: max(0, config.max_vocab - len(older))]
    known[fresh] = True
    kept = np.flatnonzero(known)
    return merge_vocabs([older, Vocab(text.words.take(kept), text.counts[kept], text.lines, text.tokens_read)])
