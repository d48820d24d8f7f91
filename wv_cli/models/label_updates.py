"""How often a text changes the rows of a classifier: what peers that train one together go by (engine.peers), and
threads, each of which has a copy of the output rows (csrc/kernels/supervised.c)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.models.config import SupervisedConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.replicas import Path, added_fraction
from wv_cli.system import memory
from wv_cli.text.labelled import LabelledCorpus

Often = NDArray[np.float64]

_EXAMPLES_BETWEEN = 128  # two exchanges of the output rows, of all threads together
_LEAST_BETWEEN = 4
_MOST_REPLICA_BYTES = 1 << 24  # of a thread's copies
_CURVATURE = 0.003


def occurrences(
    corpus: LabelledCorpus, rows: int, rows_of_words: tuple[NDArray[np.int64], NDArray[np.int32]] | None
) -> Often:
    """How often each of the input `rows` stands in a line because of a word there. `rows_of_words`, (starts, rows), are
    those of every word; None: a word has the row of its number, if there is one."""
    ids = corpus.ids
    counts = np.bincount(ids[ids >= 0], minlength=len(corpus.words)).astype(np.float64)
    if corpus.end_of_line >= 0:
        counts[corpus.end_of_line] += np.count_nonzero(ids == -1)
    if rows_of_words is None:
        return np.concatenate([counts[: corpus.kept], np.zeros(rows - corpus.kept)])
    starts, own = rows_of_words
    return np.bincount(own, np.repeat(counts, np.diff(starts)), rows).astype(np.float64)


def output_updates(corpus: LabelledCorpus, rows: int, noise: Often | None, negative: int, tree: Path | None) -> Often:
    """How often an example changes each of the output `rows`: those of the labels it is of and of `negative` drawn in
    proportion to `noise` (labels,), or the inner nodes of the Huffman `tree` above its label; with neither all."""
    if tree is None and noise is None:
        return np.ones(rows)
    counts = np.bincount(corpus.labels_of(corpus.ids), minlength=len(corpus.labels))
    share = counts / max(1, counts.sum())
    if tree is None:
        assert noise is not None, "there is one of the two"
        drawn: Often = share + negative * noise / noise.sum()
        return drawn
    starts, node, _ = tree
    return np.bincount(node, np.repeat(share, np.diff(starts)), rows).astype(np.float64)


@dataclass(frozen=True)
class OutputReplicas:
    """Each of several threads works on a copy of all output rows; after every `interval` examples it adds `share`,
    (rows,) float32, of what it has changed to the shared ones."""

    share: NDArray[np.float32]
    interval: int

    @staticmethod
    def of(config: SupervisedConfig, rows: int) -> "OutputReplicas | None":
        """None for one thread, and where threads seldom meet in a row: layers that take a few labels of an example, and
        so many rows that copies do not fit.

        Where an example changes every row, each line of it would go from core to core all the time, and two threads be
        slower than one. What a thread adds is less than its change, as in replicas.added_fraction: by trial (12,404
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
