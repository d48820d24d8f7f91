"""Copies of a classifier's output rows, one for each thread, and how often they are exchanged
(csrc/kernels/supervised.c)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.io import memory
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.replicas import added_fraction

_EXAMPLES_BETWEEN = 128  # two exchanges of the output rows, of all threads together
_LEAST_BETWEEN = 4
_MOST_REPLICA_BYTES = 1 << 24  # of a thread's copies
_CURVATURE = 0.003


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
