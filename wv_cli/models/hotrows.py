"""Which rows of a word2vec model each of several threads works on in a private copy (csrc/kernels/hotrows.h), and what
share of its changes it adds to the rows that all share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.models.config import Word2vecConfig
from wv_cli.models.subwords import Subwords

Path = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]  # of huffman()

_HOTTEST, _INTERVAL = 25, 500  # rows that are exchanged most often, and after how many words
_ROWS_OF_TWO = 800
# Where words have subwords: private input rows for one of the output, and for how many threads there are any.
_INPUTS, _INPUTS_UP_TO = 2, 4


@dataclass(frozen=True)
class HotRows:
    """Rows first_output .. first_output+count-1 of `output`, around copy hottest_output of which those lie that are
    used most, and the first `count` rows of `input`; with subwords those in `input_row`, used most first, which are
    marked in `subword` (Subwords.rows, but -1 - copy in the place of a row that has one), or none. `hottest` of the
    output are exchanged every `interval` words, and as large a part of the input, twice as many every second time and
    so on. The shares are (inputs,) and (count,) float32."""

    count: int
    first_output: int
    hottest_output: int
    hottest: int
    interval: int
    input_share: NDArray[np.float32]
    output_share: NDArray[np.float32]
    input_row: NDArray[np.int32] | None = None
    subword: NDArray[np.int32] | None = None


def private_rows(threads: int) -> int:
    """How many rows of each matrix are private to each thread, at most: 800 for two threads, 100 for three, 50
    for four, 25 for more.

    The more rows, the less the threads wait for each other's cache lines, but the longer each learns from old values of
    the coldest of them, and the more threads there are, the more has changed until then. Sixteen threads that take
    turns diverge with 100 rows whose changes are all added in full (tests/models/test_hotrows.py). With subwords, of
    which a word has some twenty, twice as many input rows are private, but none for more than four threads: with 50,
    analogies fall from sixteen threads on (tried by hand).
    """
    count = _ROWS_OF_TWO
    while count > _HOTTEST and count * threads**4 > _ROWS_OF_TWO * 2**4:
        count //= 2
    return count


def updates_per_word(
    config: Word2vecConfig, words: NDArray[np.float64], path: Path | None, noise: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """How often one word of the text changes the input row of each word and each output row, and how many of the
    output rows are nodes of `path`: they come first, then the words where `noise` is given, or there is one of the two.

    `words` (in the order of the vocabulary) says how often a word of the text is this one and survives subsampling;
    words are drawn in proportion to `noise`.
    """
    contexts = words * (config.window + 1 if config.shrink_window else 2 * config.window)
    centres = contexts if config.model == "skipgram" else words
    updates: list[NDArray[np.float64]] = []
    nodes = 0
    if path is not None:
        starts, node, _ = path
        nodes = int(node.max()) + 1
        updates.append(np.bincount(node, np.repeat(centres, np.diff(starts)), nodes).astype(np.float64))
    if noise is not None:
        updates.append(centres + config.negative * centres.sum() * noise / noise.sum())
    return contexts, np.concatenate(updates), nodes


def hot_rows(
    config: Word2vecConfig,
    words: NDArray[np.float64],
    path: Path | None,
    noise: NDArray[np.float64] | None,
    subwords: Subwords | None = None,
) -> HotRows:
    """Of a model whose rows and arguments are those of updates_per_word(); with subwords its input has theirs."""
    contexts, outputs, nodes = updates_per_word(config, words, path, noise)
    # In a Huffman tree the nodes near the root have the highest numbers; the most frequent words come next.
    count = min(private_rows(config.threads), nodes or len(words))
    hottest = count if noise is None else count // 2 if nodes else 0
    first = nodes - hottest
    copies = np.arange(count)
    distance = np.where(copies < hottest, hottest - 1 - copies, copies - hottest)
    output_share = _share(config, distance, outputs[first : first + count])
    if subwords is None:
        input_share = _share(config, copies, contexts[:count])
        return HotRows(count, first, hottest, _HOTTEST, _INTERVAL, input_share, output_share)
    if config.threads > _INPUTS_UP_TO:
        return HotRows(count, first, hottest, _HOTTEST, _INTERVAL, np.empty(0, np.float32), output_share)
    each = subwords.updates(contexts)
    row = np.argsort(-each, kind="stable")[: _INPUTS * count].astype(np.int32)
    marks = np.arange(len(each), dtype=np.int32)
    marks[row] = -1 - np.arange(len(row), dtype=np.int32)
    input_share = _share(config, np.arange(len(row)) * count // len(row), each[row])
    marked = marks[subwords.rows]
    return HotRows(count, first, hottest, _HOTTEST, _INTERVAL, input_share, output_share, row, marked)


def _share(config: Word2vecConfig, distance: NDArray[np.int64], updates: NDArray[np.float64]) -> NDArray[np.float32]:
    """The share of its change that each thread adds to a row that all change at the same time: 1 where that is little
    between two exchanges, 1 / threads where each arrives at its optimum.

    `distance` from the hottest row says how often a row is exchanged, `updates` how often one word of the text changes
    it. n updates with a learning rate of lr are taken to leave exp(-n lr threads / 80) of the way to the optimum of
    what they are computed from. Threads that start from one row go the same way, and their sum would go beyond; with
    this share they come together as far as one thread that makes all their updates.

    1/80 is chosen by trial (5.8 million words, 2 to 32 threads that take turns): with less, or the same for any number
    of threads, the losses of many threads rise until they diverge; with more, analogies get worse.
    """
    interval = _INTERVAL * 2.0 ** np.ceil(np.log2(np.maximum(1, (distance + 1) / _HOTTEST)))
    return added_share(config.threads, config.start_lr, interval * updates)


def added_share(threads: int, lr: float, updates: NDArray[np.float64]) -> NDArray[np.float32]:
    """_share() of rows that each thread changes so often between two exchanges."""
    way = np.maximum(threads / 80 * lr * updates, 1e-6)
    share: NDArray[np.float64] = np.expm1(-threads * way) / (threads * np.expm1(-way))
    return share.astype(np.float32)
