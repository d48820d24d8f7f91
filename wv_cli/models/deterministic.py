"""word2vec whose bytes do not depend on the number of threads: rounds of virtual workers
(csrc/kernels/word2vec/deterministic.h), what share of their changes is added, and the steps that a run counts."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from wv_cli import _rounds, _word2vec
from wv_cli.io import memory
from wv_cli.io.threads import all_started
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.replicas import added_fraction
from wv_cli.models.subwords import Subwords
from wv_cli.models.training.trainer import StepResult
from wv_cli.models.word2vec import Word2vec

WORKERS = 8
# Of each worker. By trial (6 million words): with twice as many, analogies fall.
_ROUND_IDS = 500
_STEP_ROUNDS = 16
# Raised when a round computes something else than before: no older checkpoint then goes on.
_ROUND_VERSION = 2
# The k of replicas._fraction, but for all models: that of eight threads there was no better for trees (by trial).
_CURVATURE = WORKERS / 80

Threads = tuple[list[_rounds.RoundThread], ThreadPoolExecutor]


class DeterministicWord2vec(Word2vec):
    """A Word2vec whose steps are rounds: a step takes _STEP_ROUNDS of them, and all its threads."""

    @staticmethod
    def bytes_needed(config: Word2vecConfig, words: int, subwords: Subwords | None = None, tokens: int = 0) -> int:
        """With the copies that the workers make in a round."""
        layer = LAYERS[config.loss]
        inputs = len(subwords.rows) / words if subwords else 1
        outputs = (1 + config.negative if layer.draws else 0) + (np.log2(words) if layer.tree else 0)
        copies = min(words, _ROUND_IDS * inputs) + min(words, _ROUND_IDS * outputs)
        row = 4 * memory.pad_width(config.dim) + 8
        return Word2vec.bytes_needed(config, words, subwords, tokens) + WORKERS * int(copies * row)

    @property
    def threads(self) -> int:
        """More than there are workers would have nothing to do."""
        return min(self.config.threads, WORKERS)

    @property
    def _step_ids(self) -> int:
        return _ROUND_IDS

    def _make_run(self) -> tuple[_word2vec.Run, None]:
        run, _ = super()._make_run()
        inputs, outputs = (
            added_fraction(WORKERS, _CURVATURE * self.config.start_lr, _ROUND_IDS * updates)
            for updates in self._updates()
        )
        self._rounds = _rounds.Rounds(run, self.starts, inputs, outputs, workers=WORKERS, threads=self.threads)
        return run, None

    @property
    def epoch_steps(self) -> int:
        return -(-self._rounds.count // _STEP_ROUNDS)

    def worker(self) -> Threads:  # type: ignore[override]
        return [self._rounds.thread(number) for number in range(self.threads)], all_started(max(1, self.threads - 1))

    def flush(self, worker: Threads) -> None:  # type: ignore[override]
        """What the threads have learnt is in the model after every round."""

    def train_step(self, step: int, worker: Threads) -> StepResult:  # type: ignore[override]
        """See models.training.trainer.Trainable; of the worker all threads are taken."""
        epoch, first = divmod(step, self.epoch_steps)
        rounds = first * _STEP_ROUNDS, min((first + 1) * _STEP_ROUNDS, self._rounds.count)
        (own, *others), pool = worker
        waiting = [pool.submit(other.train, *rounds, epoch) for other in others]
        own.train(*rounds, epoch)
        for other in waiting:
            other.result()
        return self._rounds.totals()

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {**super().schedule(), "workers": WORKERS, "step_rounds": _STEP_ROUNDS, "round_version": _ROUND_VERSION}


def deterministic_metadata() -> dict[str, Any]:
    """What the sidecar says of a deterministic run."""
    return {"rounds": {"workers": WORKERS, "ids": _ROUND_IDS}}
