"""Which rows each of several threads has replicas of, and what share of its changes it adds to the rows that all share:
of a word2vec model (csrc/kernels/word2vec/replica.h), and of a classifier, whose output is copied whole
(csrc/kernels/supervised.c)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import memory
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.subwords import Subwords

Path = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]  # of huffman()

_HOTTEST = 25  # rows that are exchanged most often
_MOST_ROWS = 12_800
_LEAST_INTERVAL, _MOST_INTERVAL = 250, 2_000
# Where words have subwords: private input rows for one of the output, how many at most, and for how many threads there
# are any.
_INPUTS, _MOST_INPUTS, _INPUTS_UP_TO = 2, 1_600, 4


_SLICE_ROWS = 64  # WV_SLICE_ROWS of csrc/kernels/wv_word2vec.h
# A thread changes its slice of the noise so often in a run. The words of a group, one of each slice, are about
# equally frequent: it holds 1/16 as many as are more frequent.
_TURNS = 64
_GROUPS_BEFORE = 16
# Of a classifier.
_EXAMPLES_BETWEEN = 128  # two exchanges of the output rows, of all threads together
_LEAST_BETWEEN = 4
_MOST_REPLICA_BYTES = 1 << 24  # of a thread's copies
_CURVATURE = 0.003


@dataclass(frozen=True)
class NoiseSlices:
    """Each thread draws noise words from word `first` on of one of `count` slices, until it has exchanged replicas
    `exchanges` times; then of the next."""

    count: int
    first: int
    exchanges: int


@dataclass(frozen=True)
class Replicas:
    """Rows first_output .. first_output+count-1 of `output`, around copy hottest_output of which those lie that are
    used most, and the first `count` rows of `input`; with subwords those in `input_row`, used most first, which are
    marked in `subword` (Subwords.rows, but -1 - copy in the place of a row that has one), or none. `hottest` of the
    output are exchanged every `interval` words, and as large a part of the input, twice as many every second time and
    so on. The shares are (inputs,) and (count,) float32. `noise_slices`: noise words without a replica are divided."""

    count: int
    first_output: int
    hottest_output: int
    hottest: int
    interval: int
    input_share: NDArray[np.float32]
    output_share: NDArray[np.float32]
    input_row: NDArray[np.int32] | None = None
    subword: NDArray[np.int32] | None = None
    noise_slices: NoiseSlices | None = None


def replica_rows(config: Word2vecConfig, tokens: int) -> tuple[int, int]:
    """How many rows of each matrix are private to each of several threads that train on a text of so many words all
    together, 25 to 12,800, and after how many words of its own each exchanges the hottest 25: 250 to 2,000, from three
    threads on 500 at least.

    As many as can be exchanged often enough: the coldest forty times in the run for two threads, four hundred times
    for four, eight hundred for more, with subwords twice as often. With fewer exchanges each thread trains the rows
    that follow on its part of the text alone, and analogies fall (by trial, 8.5 million words, three epochs, 4 to 32
    threads that take turns of 500 words; two threads at once, 5.6 and 17 million words). The more rows, the less the
    threads wait for each other's cache lines.
    """
    threads = config.threads
    times = (40 if threads == 2 else min(800, 25 * threads**2)) * (2 if config.maxn else 1)
    longest = tokens * config.epochs / threads / times
    least = _LEAST_INTERVAL if threads == 2 else 2 * _LEAST_INTERVAL
    rows = int(min(max(1, longest / least) * _HOTTEST, _MOST_ROWS))
    return rows, int(min(max(least, longest * _HOTTEST / rows), _MOST_INTERVAL))


def choose_slices(config: Word2vecConfig, replicas: Replicas, nodes: int, tokens: int) -> NoiseSlices:
    """Slices for the words behind those with output replicas, whose rows follow `nodes` others, in a text of so many
    tokens."""
    count = 1 << (config.threads - 1).bit_length()
    group = count * _SLICE_ROWS
    with_replicas = replicas.first_output + replicas.count - nodes
    first = -(-max(with_replicas, _GROUPS_BEFORE * group) // group) * group
    exchanges = tokens * config.epochs // (config.threads * replicas.interval)
    return NoiseSlices(count, first, max(1, exchanges // _TURNS))


def most_replica_rows(config: Word2vecConfig, words: int, tokens: int, subwords: Subwords | None) -> tuple[int, int]:
    """How many rows of the input and of the output each of several threads copies, at most, that train on a text of so
    many tokens, of so many different `words`."""
    rows = min(words, replica_rows(config, tokens)[0])
    if subwords is None:
        return rows, rows
    most = 0 if config.threads > _INPUTS_UP_TO else min(_INPUTS * rows, _MOST_INPUTS)
    return min(most, words + len(subwords.buckets)), rows


def updates_per_word(
    config: Word2vecConfig, words: NDArray[np.float64], path: Path | None, noise: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """How often one word of the text changes the input row of each word and each output row, and how many of the
    output rows are nodes of `path`: they come first, then the words where `noise` is given, or there is one of the two.

    `words` (in the order of the vocabulary) says how often a word of the text is this one and survives subsampling;
    words are drawn in proportion to `noise`.
    """
    contexts = words * (config.window + 1 if config.shrink_window else 2 * config.window)
    centers = contexts if config.model == "skipgram" else words
    updates: list[NDArray[np.float64]] = []
    nodes = 0
    if path is not None:
        starts, node, _ = path
        nodes = int(node.max()) + 1
        updates.append(np.bincount(node, np.repeat(centers, np.diff(starts)), nodes).astype(np.float64))
    if noise is not None:
        updates.append(centers + config.negative * centers.sum() * noise / noise.sum())
    return contexts, np.concatenate(updates), nodes


def choose_replicas(
    config: Word2vecConfig,
    words: NDArray[np.float64],
    path: Path | None,
    noise: NDArray[np.float64] | None,
    rows: tuple[int, int],
    subwords: Subwords | None = None,
) -> Replicas:
    """`rows` is replica_rows(), of all rows if there are fewer. The model's rows and the other arguments are those
    of updates_per_word(); with subwords its input has theirs."""
    contexts, outputs, nodes = updates_per_word(config, words, path, noise)
    # In a Huffman tree the nodes near the root have the highest numbers; the most frequent words come next.
    count, interval = min(rows[0], nodes or len(words)), rows[1]
    hottest = count if noise is None else count // 2 if nodes else 0
    first = nodes - hottest
    copies = np.arange(count)
    distance = np.where(copies < hottest, hottest - 1 - copies, copies - hottest)
    output_share = _fraction(config, _words_between(interval, distance) * outputs[first : first + count])
    if subwords is None:
        input_share = _fraction(config, _words_between(interval, copies) * contexts[:count])
        return Replicas(count, first, hottest, _HOTTEST, interval, input_share, output_share)
    if config.threads > _INPUTS_UP_TO:
        return Replicas(count, first, hottest, _HOTTEST, interval, np.empty(0, np.float32), output_share)
    each = subwords.updates(contexts)
    row = np.argsort(-each, kind="stable")[: min(_INPUTS * count, _MOST_INPUTS)].astype(np.int32)
    marks = np.arange(len(each), dtype=np.int32)
    marks[row] = -1 - np.arange(len(row), dtype=np.int32)
    distance = np.arange(len(row)) * count // len(row)
    input_share = _fraction(config, _words_between(interval, distance) * each[row])
    marked = marks[subwords.rows]
    return Replicas(count, first, hottest, _HOTTEST, interval, input_share, output_share, row, marked)


def _words_between(interval: int, distance: NDArray[np.int64]) -> NDArray[np.float64]:
    """Two exchanges of the rows so far from the hottest one."""
    words: NDArray[np.float64] = interval * 2.0 ** np.ceil(np.log2(np.maximum(1, (distance + 1) / _HOTTEST)))
    return words


def _fraction(config: Word2vecConfig, updates: NDArray[np.float64]) -> NDArray[np.float32]:
    """The share of its change that each thread adds to a row that all change at the same time: 1 where that is little
    between two exchanges, 1 / threads where each arrives at its optimum.

    The n `updates` between two exchanges with a learning rate of lr are taken to leave exp(-n lr k) of the way to the
    optimum of what they are computed from. Threads that start from one row go the same way, and their sum would go
    beyond; with this share they come together as far as one thread that makes all their updates.

    k grows with the square of the threads, up to 1.6, but is far smaller for CBOW, whose context rows each change the
    mean that they are a part of by as much less. By trial (as replica_rows): with less, the losses of many threads rise
    until they diverge or analogies fall; with more, the threads together learn less than one.
    """
    k = config.threads / 320 if config.model == "cbow" else min(config.threads**2 / 80, 1.6)
    return added_fraction(config.threads, config.start_lr * k, updates)


def added_fraction(threads: int, lr: float, updates: NDArray[np.float64]) -> NDArray[np.float32]:
    """_fraction() of rows that each thread changes so often between two exchanges, where k is 1."""
    way = np.maximum(lr * updates, 1e-6)
    fraction: NDArray[np.float64] = np.expm1(-threads * way) / (threads * np.expm1(-way))
    return fraction.astype(np.float32)


@dataclass(frozen=True)
class OutputReplicas:
    """Each of several threads works on a copy of all output rows; after every `interval` examples it adds `share`,
    (rows,) float32, of what it has changed to the shared ones."""

    share: NDArray[np.float32]
    interval: int

    @staticmethod
    def for_threads(config: SupervisedConfig, rows: int) -> "OutputReplicas | None":
        """None for one thread, and where threads seldom meet in a row: layers that take a few labels of an example, and
        so many rows that copies do not fit.

        Where an example changes every row, each line of it would go from core to core all the time, and two threads be
        slower than one. What a thread adds is less than its change, as in added_fraction: by trial (12,404
        questions with 735 labels, 2 to 32 threads that take turns), with more, or exchanged more rarely, the loss of
        many threads rises until it diverges; with less they learn less than one.
        """
        if replica_bytes(config, rows) == 0:
            return None
        interval = max(_LEAST_BETWEEN, _EXAMPLES_BETWEEN // config.threads)
        updates = np.full(rows, float(interval))
        return OutputReplicas(added_fraction(config.threads, config.lr * _CURVATURE, updates), interval)


def replica_bytes(config: SupervisedConfig, rows: int) -> int:
    """What copies of so many output rows, and what these were before, take of all threads; 0: there are none."""
    each = 4 * memory.pad_width(config.dim) * rows
    replicas = config.threads > 1 and LAYERS[config.loss].takes_all and each <= _MOST_REPLICA_BYTES
    return 2 * config.threads * each if replicas else 0
