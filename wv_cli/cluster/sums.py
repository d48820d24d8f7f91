"""What ranks have counted in their parts of a text, added up: words, and records that are sorted by row and column.
counted.py does it for the workers of a Dask cluster.

All sums are of integers, so they are those of one process, to the bit; words stand in the order of one pass over the
whole text, since parts are added up in its order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, merge, sort
from wv_cli.cluster.ranks import Ranks
from wv_cli.system.events import OnProgress
from wv_cli.system.pair_runs import Records, pair_runs
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import require_words, tally
from wv_cli.text.counting import Counts, counting
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Given, Pairs
from wv_cli.text.vocab import Tally, add_up

Numbers = NDArray[np.int64]
_COPIES = 4  # of a piece, while two are added up
_LEAST_PIECE = 1024
_NONE = 2**63 - 1  # above every key


def tally_of_all(ranks: Ranks, own: Tally) -> Tally | None:
    """The words of all ranks, on rank 0; None elsewhere. Raises there what add_up raises."""
    return ranks.reduce(own, lambda one, other: add_up([one, other]))


@contextmanager
def counting_by(
    ranks: Ranks | None, texts: Texts, config: VocabConfig, *, progress: OnProgress | None = None, **alone: Any
) -> Iterator[Counts | None]:
    """What text.counting.counting gives one process, which has the options `alone`, on rank 0; None elsewhere."""
    if ranks is None:
        with counting(texts, config, progress=progress, **alone) as counts:
            yield counts
        return
    whole = tally_of_all(ranks, tally(texts, config, progress))
    if whole is not None:
        require_words(whole.tokens_read, texts.inputs)
    yield Counts.of(whole.vocab(), config) if whole is not None else None


def counts_of_all(ranks: Ranks, own: Numbers) -> Numbers:
    """The sums of as many counts of every rank."""
    return ranks.share(ranks.reduce(own, lambda one, other: one + other))


def records_of_all(ranks: Ranks, own: Iterator[Records], memory: int) -> Iterator[Records]:
    """The records of every rank as one stream on rank 0; elsewhere it is empty, but to be gone through all the same.

    `own` is RECORD arrays, int64 units standing where the values stand, sorted by row and column across the whole
    stream, every pair once; so is what comes. Each time round those up to the least of what the ranks have in hand are
    added up, two ranks at a time; pieces are so small that they take about `memory` bytes."""
    most = max(memory // (_COPIES * RECORD.itemsize * ranks.size), _LEAST_PIECE)
    hand, keys = np.empty(0, RECORD), np.empty(0, np.int64)
    pieces = _pieces(own, most)
    while True:
        if not len(hand):
            hand = next(pieces, hand)
            keys = hand["row"].astype(np.int64) << 32 | hand["column"]
        bound = min(ranks.gather(int(keys[-1]) if len(keys) else _NONE))
        if bound == _NONE:
            return
        end = int(np.searchsorted(keys, bound, side="right"))
        together = ranks.reduce(hand[:end], added)
        hand, keys = hand[end:], keys[end:]
        if together is not None:
            yield together


def _pieces(stream: Iterator[Records], most: int) -> Iterator[Records]:
    for block in stream:
        for first in range(0, len(block), most):
            yield block[first : first + most]


def added(one: Records, other: Records) -> Records:
    """Two sorted lists of records as one, the units of equal pairs added up."""
    if not len(one) or not len(other):
        return one if len(one) else other
    # As bytes: NumPy copies records field by field.
    both = np.concatenate([one.view(np.uint8), other.view(np.uint8)]).view(RECORD)
    first, last = np.array([0, len(one)]), np.array([len(one), len(both)])
    pending, out = np.zeros(1, RECORD), np.empty(len(both), RECORD)
    written = merge(both, first, last, np.zeros(2, np.uint8), False, pending, out)
    out[written] = pending[0]
    return out[: written + 1]


class OtherRanks:
    """Satisfies text.joining.Others. What does not fit in memory waits in a file beside `beside`."""

    def __init__(self, ranks: Ranks, beside: str | None) -> None:
        self._ranks, self._beside = ranks, beside

    def tally(self, own: Tally) -> Tally:
        whole = tally_of_all(self._ranks, own)
        return self._ranks.share(whole)

    def counts(self, own: Numbers) -> Numbers:
        return counts_of_all(self._ranks, own)

    def pairs(self, own: Iterator[Pairs], memory: int) -> Iterator[Pairs]:
        with pair_runs(self._beside, "counts of pairs", memory, as_values=False) as runs:
            for each in own:
                runs.add([records_of_pairs(*each)])
            for records in records_of_all(self._ranks, runs.merged(), memory):
                yield pairs_of(records)

    def shared(self, given: Given) -> Given:
        return self._ranks.share(given)


def pairs_of(records: Records) -> Pairs:
    """(first words, second words, counts) of records, which count words from 1."""
    first, second = (records[name].astype(np.int64) - 1 for name in ("row", "column"))
    return first, second, records["value"].copy().view(np.int64)


def records_of_pairs(first: Numbers, second: Numbers, counts: Numbers) -> Records:
    """Sorted records of pairs."""
    records = np.empty(len(counts), RECORD)
    records["row"], records["column"], records["value"] = first + 1, second + 1, counts.view(np.float64)
    sort(records)
    return records
