"""Training of a pooled text classifier: rows, weights, tables and steps for csrc/kernels/pooled.c, which has the
formulas.

A step is a few lines. Every epoch takes the lines in an order of its own."""

import math
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _pooled
from wv_cli.io import memory
from wv_cli.models.pooled_model import Head, PooledModel, texts_of
from wv_cli.models.pooled_reader import Reading, ReadLines
from wv_cli.models.sentence_config import PooledConfig
from wv_cli.models.training.blocks import EpochOrder
from wv_cli.models.training.trainer import Immediate, StepResult

_LINES = 16  # lines of a step
# Steps between two exchanges of the output weights, of a thread and of all together. An exchange takes as long as some
# lines. By trial (32 workers in turn, SST-2): P@1 falls by .03 with 128 steps together, and stays with 32.
_INTERVAL, _TOGETHER = 4, 32
_DRAWN = 4096  # rows of n-grams that are drawn at once: float64 numbers on their way take little memory
_ADVICE = "lower --dim, --ngram-dim or --threads, or raise --min-count"


class Pooled(Immediate[PooledConfig]):
    """A classifier in training. Satisfies wv_cli.models.training.saved_run.Savable."""

    def __init__(
        self, config: PooledConfig, reading: Reading, lines: ReadLines, first: NDArray[np.float32] | None = None
    ) -> None:
        """Allocates and initializes. `first` (tokens, dim) are the tokens' rows at the start, zero rows of those that
        are not known; None: all begin at random. Raises WvError when there is no room."""
        assert reading.idf is not None, "read_features() was asked"
        self.config, self.reading, self.lines = config, reading, lines
        dim = config.dim if first is None else first.shape[1]
        labels, sizes = len(reading.labels), ((reading.tokens, dim), (len(reading.idf), config.ngram_dim))
        shapes = [((rows, memory.pad_width(width)), (width, memory.pad_width(labels))) for rows, width in sizes]
        replicas = 2 * config.threads if config.threads > 1 else 0  # and what they were at the last exchange
        needed = [4 * (math.prod(rows) + (1 + replicas) * math.prod(output)) for rows, output in shapes]
        memory.require(sum(needed), "training", _ADVICE)
        self.tokens, self.ngrams = (Head(memory.zeros(*rows), memory.zeros(*output), labels) for rows, output in shapes)
        self._token_sum = np.zeros(reading.tokens, np.float32)
        self._initialize(first)
        run = (self.model().engine(), texts_of(lines), lines.label_starts, lines.labels)
        self._run = _pooled.Run(config, *run, token_sum=self._token_sum)
        self._order = EpochOrder(config.seed, len(lines))

    def _initialize(self, first: NDArray[np.float32] | None) -> None:
        """Rows of tokens have the mean square 1 / dim, so that they are about 1 long. N-grams begin as in fastText,
        uniform in +-1 / rank, and all output weights at zero."""
        random, table = np.random.default_rng(self.config.seed), self.tokens.arrays()[0]
        dim, rank, known = self.tokens.dim, self.ngrams.dim, np.zeros(len(table), np.bool_)
        if first is not None:
            known = np.asarray(first.any(axis=1))
            square = float(np.mean(np.square(first[known], dtype=np.float64))) if known.any() else 1.0
            table[known] = first[known] / np.float32(np.sqrt(square * dim))
        rows = np.flatnonzero(~known)
        table[rows] = random.standard_normal((len(rows), dim), np.float32) / np.float32(np.sqrt(dim))
        ngrams = self.ngrams.arrays()[0]
        for first_row in range(0, len(ngrams), _DRAWN):
            part = ngrams[first_row : first_row + _DRAWN]
            part[...] = random.uniform(-1 / rank, 1 / rank, part.shape)

    @property
    def epoch_steps(self) -> int:
        return -(-len(self.lines) // _LINES)

    def worker(self) -> _pooled.Worker:
        """See models.training.trainer.Trainable. Each of several has replicas of the output weights."""
        threads = self.config.threads
        return self._run.worker(interval=min(_INTERVAL, max(1, _TOGETHER // threads)) if threads > 1 else 0)

    def flush(self, worker: _pooled.Worker) -> None:  # type: ignore[override]
        worker.flush()

    def train_step(self, step: int, worker: _pooled.Worker) -> StepResult:
        """See models.training.trainer.Trainable. Learning rates fall linearly to 0."""
        epoch, place = divmod(step, self.epoch_steps)
        config, left = self.config, 1 - step / self.steps
        lines = self._order.for_epoch(epoch)[place * _LINES : (place + 1) * _LINES]
        return worker.train(lines, step=step + 1, lr=left * config.lr, row_lr=left * config.row_lr)

    def model(self) -> PooledModel:
        """The model; its arrays are those in training, not copies."""
        return PooledModel(self.reading, self.tokens, self.ngrams)

    @property
    def nbytes(self) -> int:
        """Of everything that training changes."""
        return sum(each.nbytes for each in self.arrays().values())

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        digest = 0
        for part in vars(self.lines).values():
            digest = zlib.crc32(part.tobytes(), digest)
        questions = {"questions": [*self.reading.questions]} if self.reading.questions else {}
        corpus = {"corpus": digest, "tokens": self.reading.tokens, "dim": self.tokens.dim}
        return {**self.config.identity(), **corpus, **questions}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": 2}  # the output weights of version 1 lie by row

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        tokens, ngrams = self.tokens, self.ngrams
        arrays = {"tokens": tokens.rows, "token_output": tokens.output, "token_sum": self._token_sum}
        return {**arrays, "ngrams": ngrams.rows, "ngram_output": ngrams.output}
