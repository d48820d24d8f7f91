"""Training of a pooled text classifier: rows, weights, tables and steps for csrc/kernels/pooled.c, which has the
formulas.

A step is a batch of lines. Every epoch takes the lines in an order of its own."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _pooled
from wv_cli.io import memory
from wv_cli.models.pooled_model import PooledModel, Sizes, texts_of
from wv_cli.models.pooled_reader import Reading, ReadLines
from wv_cli.models.sentence_config import PooledConfig
from wv_cli.models.training.blocks import EpochOrder
from wv_cli.models.training.trainer import Immediate, StepResult

_ADVICE = "lower --dim or --hidden, or raise --min-count"


class Pooled(Immediate):
    """A classifier in training. Satisfies wv_cli.models.training.saved_run.Savable."""

    def __init__(
        self, config: PooledConfig, reading: Reading, lines: ReadLines, first: NDArray[np.float32] | None = None
    ) -> None:
        """Allocates and initializes. `first` (tokens, dim) are the tokens' rows at the start, zero rows of those that
        are not known; None: all begin at random. Raises WvError when there is no room."""
        assert reading.idf is not None, "read_features() was asked"
        self.config, self.reading, self.lines = config, reading, lines
        dim = config.dim if first is None else first.shape[1]
        self.sizes = Sizes(dim, config.ngram_dim, config.hidden, len(reading.labels))
        tokens, features, rank = reading.tokens, len(reading.idf), memory.pad_width(config.ngram_dim)
        needed = tokens * memory.pad_width(dim) + features * rank + 3 * self.sizes.weights
        memory.require(4 * needed, "training", _ADVICE)
        self.table, self._table_sum = memory.zeros(tokens, memory.pad_width(dim)), np.zeros(tokens, np.float32)
        self.features = memory.zeros(features, rank)
        self.dense, self._mean, self._square = (memory.zeros(1, self.sizes.weights)[0] for _ in range(3))
        self._initialize(first)
        self._run = _pooled.Run(
            config,
            self.model().engine(),
            texts_of(lines),
            lines.label_starts,
            lines.labels,
            table_sum=self._table_sum,
            mean=self._mean,
            square=self._square,
            batch=config.batch,
        )
        memory.require(config.threads * self._run.scratch_bytes, "a batch", "lower --batch or --threads")
        self._order = EpochOrder(config.seed, len(lines))

    def _initialize(self, first: NDArray[np.float32] | None) -> None:
        """Rows of tokens have the root mean square 1, and the pooled part's layers begin as He et al. 2015 draw them.
        N-grams begin as in fastText: rows uniform in +-1 / rank, output weights at zero."""
        random, dim = np.random.default_rng(self.config.seed), self.sizes.dim
        known = np.zeros(len(self.table), np.bool_)
        if first is not None:
            known = np.asarray(first.any(axis=1))
            size = float(np.sqrt(np.mean(np.square(first[known], dtype=np.float64)))) if known.any() else 1.0
            self.table[known, :dim] = first[known] / np.float32(size)
        rows = np.flatnonzero(~known)
        self.table[rows, :dim] = random.standard_normal((len(rows), dim), np.float32)
        rank = self.sizes.rank
        self.features[:, :rank] = random.uniform(-1 / rank, 1 / rank, (len(self.features), rank)).astype(np.float32)
        layers = self.sizes.layers(self.dense)
        for name, inputs in (("pooled", 3 * dim), ("output", self.sizes.hidden)):
            drawn = random.standard_normal(layers[name].shape, np.float32)
            layers[name][...] = drawn * np.float32(np.sqrt(2 / inputs))

    @property
    def epochs(self) -> int:
        return self.config.epochs

    @property
    def epoch_steps(self) -> int:
        return -(-len(self.lines) // self.config.batch)

    @property
    def steps(self) -> int:
        return self.epochs * self.epoch_steps

    def worker(self) -> _pooled.Worker:
        return self._run.worker()

    def train_step(self, step: int, worker: _pooled.Worker) -> StepResult:
        """See models.training.trainer.Trainable. Learning rates fall linearly to 0."""
        epoch, place = divmod(step, self.epoch_steps)
        batch, left = self.config.batch, 1 - step / self.steps
        lines = self._order.for_epoch(epoch)[place * batch : (place + 1) * batch]
        config = self.config
        rates = {"lr": left * config.lr, "row_lr": left * config.row_lr, "ngram_lr": left * config.ngram_lr}
        return worker.train(lines, step=step + 1, **rates)

    def model(self, temperature: float = 1.0) -> PooledModel:
        """The model; its arrays are those in training, not copies."""
        return PooledModel(self.reading, self.sizes, self.table, self.features, self.dense, temperature)

    @property
    def nbytes(self) -> int:
        """Of everything that training changes."""
        return sum(each.nbytes for each in self.arrays().values())

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        digest = 0
        for part in vars(self.lines).values():
            digest = zlib.crc32(part.tobytes(), digest)
        return {**self.config.identity(), "corpus": digest, "tokens": self.reading.tokens, "dim": self.sizes.dim}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": 1}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        rows = {"table": self.table, "table_sum": self._table_sum}
        dense = {"dense": self.dense, "mean": self._mean, "square": self._square}
        return {**rows, "features": self.features, **dense}
