"""Static embeddings trained on pairs of texts: the table, its optimizer and steps for the kernel csrc/kernels/pairs.c,
which has the formulas.

A step is a batch of pairs, of one file where possible; every epoch takes the pairs in an order of its own. The threads
of a step share its work and add up in a fixed order, so that their number changes no byte.
"""

import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _pairs
from wv_cli.io import memory
from wv_cli.io.threads import all_started
from wv_cli.models.sentence_config import PairsConfig
from wv_cli.models.training.blocks import EpochOrder
from wv_cli.models.training.trainer import Immediate, StepResult
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

_DECAYS = 0.9, 0.999  # of Adam's moments
_EPSILON = 1e-8


@dataclass(frozen=True, eq=False)
class PairCorpus:
    """Pairs of texts as tokens. Text t is ids[starts[t]:starts[t + 1]] and has the number same[t], which equal texts
    share; a pair is `columns` texts: its anchor, its positive, hard negatives. `rows` are how many tokens there are.
    `files` are the numbers of pairs of the files they came from."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    same: NDArray[np.int32]
    columns: int
    rows: int
    digest: str
    files: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.same) // self.columns

    def means(self, table: NDArray[np.float32], texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """The means of the rows of some texts' tokens; zero for a text without any."""
        out = np.zeros((len(texts), table.shape[1]), np.float32)
        for place, text in enumerate(texts.tolist()):
            ids = self.ids[self.starts[text] : self.starts[text + 1]]
            if len(ids):
                out[place] = table[ids].mean(axis=0)
        return out


@dataclass(frozen=True, eq=False)
class FirstRows:
    """What a table begins with: rows (known tokens, dim) of the tokens that are `known` (tokens,), others at random."""

    matrix: NDArray[np.float32]
    known: NDArray[np.bool_]


class BatchOrder:
    """The order in which every epoch takes the pairs: full batches of one file each, then those of the pairs left over.

    Pairs of one source are harder negatives of each other than pairs of all. One file has EpochOrder's order.
    """

    def __init__(self, seed: int, corpus: PairCorpus, batch: int) -> None:
        self._seed, self._batch = seed, batch
        self._files = corpus.files or (len(corpus),)
        self._order = EpochOrder(seed, len(corpus))
        self._last: tuple[int, NDArray[np.int64]] = (-1, np.empty(0, np.int64))

    def for_epoch(self, epoch: int) -> NDArray[np.int64]:
        """The numbers of all pairs as this epoch takes them, a batch after the other."""
        if len(self._files) == 1:
            return self._order.for_epoch(epoch)
        if self._last[0] != epoch:
            self._last = epoch, self._draw_batches(epoch)
        return self._last[1]

    def _draw_batches(self, epoch: int) -> NDArray[np.int64]:
        order, batch, sizes = self._order.for_epoch(epoch), self._batch, np.array(self._files)
        ends = np.cumsum(sizes)
        by_file = np.argsort(np.searchsorted(ends, order, side="right"), kind="stable")
        within = np.arange(len(order)) - np.repeat(ends - sizes, sizes)
        full = within < np.repeat(sizes // batch * batch, sizes)
        left = order[np.sort(by_file[~full])]
        mixed = len(left) // batch * batch
        batches = np.concatenate([order[by_file[full]], left[:mixed]]).reshape(-1, batch)
        shuffled = np.random.default_rng((self._seed, epoch, 1)).permutation(batches)
        return np.concatenate([shuffled.ravel(), left[mixed:]])


class PairModel(Immediate[PairsConfig]):
    """A table in training. Satisfies wv_cli.models.training.saved_run.Savable: the engine runs one step at a time."""

    def __init__(self, config: PairsConfig, corpus: PairCorpus, first: FirstRows | None = None) -> None:
        """Allocates and initializes. Raises WvError when the table does not fit in memory."""
        self.config, self.corpus, self._first = config, corpus, first
        memory.require(self.bytes_needed(config, corpus.rows), "training", "lower --dim, or take a smaller vocabulary")
        stride = memory.pad_width(config.dim)
        self.table = memory.zeros(corpus.rows, stride)
        self._last = np.zeros(corpus.rows, np.int32)
        self._done = np.zeros(1, np.int64)
        self.lr = config.lr * self._initialize()
        adam = config.optimizer == "adam"
        self._moments = {name: memory.zeros(corpus.rows, stride) for name in (("mean", "square") if adam else ())}
        self._sum = None if adam else np.zeros(corpus.rows, np.float32)
        self._order = BatchOrder(config.seed, corpus, config.batch)
        self._ahead = self._missed_ahead() if adam else None
        levels = config.levels
        self._run = _pairs.Run(
            ids=corpus.ids,
            starts=corpus.starts,
            same=corpus.same,
            columns=corpus.columns,
            table=self.table,
            last=self._last,
            dim=config.dim,
            levels=levels,
            weights=[1.0] * len(levels),
            scale=config.scale,
            symmetric=config.symmetric,
            batch=config.batch,
            threads=config.threads,
            sum=self._sum,
            ahead=self._ahead,
            decay_mean=_DECAYS[0],
            decay_square=_DECAYS[1],
            epsilon=_EPSILON,
            mean=self._moments.get("mean"),
            square=self._moments.get("square"),
        )

        memory.require(self._run.nbytes, "a batch", "lower --batch")

    @staticmethod
    def bytes_needed(config: PairsConfig, rows: int) -> int:
        """Memory of the table and of what the optimizer keeps."""
        matrices = 3 if config.optimizer == "adam" else 1
        return 4 * rows * memory.pad_width(config.dim) * matrices

    def _initialize(self) -> float:
        """Fills the table; returns the root mean square of its numbers. Random rows are as large as those given."""
        config, random = self.config, np.random.default_rng(self.config.seed)
        size, known = 1.0, np.zeros(self.corpus.rows, np.bool_)
        if self._first is not None and self._first.known.any():
            known = self._first.known
            size = float(np.sqrt(np.mean(np.square(self._first.matrix, dtype=np.float64)))) or 1.0
            self.table[known, : config.dim] = self._first.matrix
        rows = np.flatnonzero(~known)
        self.table[rows, : config.dim] = random.standard_normal((len(rows), config.dim), np.float32) * np.float32(size)
        return size

    # ------------------------------------------------------------ steps

    @property
    def epoch_steps(self) -> int:
        return -(-len(self.corpus) // self.config.batch)

    def rate(self, step: int) -> float:
        """The learning rate of a step, from 0: it rises linearly from 0, then falls linearly to 0."""
        warm = int(np.ceil(self.config.warmup * self.steps))
        return self.lr * (step / warm if step < warm else (self.steps - step) / (self.steps - warm))

    def worker(self) -> "Worker":
        return Worker(self._run, self.config.threads)

    def train_step(self, step: int, worker: "Worker") -> StepResult:
        """See models.training.trainer.Trainable."""
        epoch, place = divmod(step, self.epoch_steps)
        pairs = self._order.for_epoch(epoch)[place * self.config.batch : (place + 1) * self.config.batch]
        lr = self.rate(step)
        tokens = self._run.take(pairs, step + 1, lr)
        worker.work()
        self._done[0] = step + 1
        return self._run.loss(), len(pairs), tokens, lr

    def flush(self, worker: "Worker", /) -> None:  # type: ignore[override]
        """The threads end; every step has changed the table itself."""
        worker.close()

    # ------------------------------------------------------------ results

    def _missed_ahead(self) -> NDArray[np.float64]:
        """`ahead` of csrc/kernels/pairrows.c."""
        steps = np.arange(1, self.steps + 1)
        of_step = np.array([self.rate(step) for step in range(self.steps)])
        of_step *= np.sqrt(1 - _DECAYS[1] ** steps) / (1 - _DECAYS[0] ** steps)
        ratio = _DECAYS[0] / np.sqrt(_DECAYS[1])
        ahead = np.zeros(self.steps + 1)
        for step in range(self.steps, 0, -1):
            ahead[step - 1] = ratio * (of_step[step - 1] + ahead[step])
        return ahead

    def matrix(self) -> NDArray[np.float32]:
        """The table as it is after the steps done, without padding: every row has made the moves that Adam owes it.
        Rows that began at random and were never touched are zero."""
        done, last = int(self._done[0]), self._last
        matrix = self.table[:, : self.config.dim].copy()
        if self._ahead is not None:
            mean, square = (self._moments[name][:, : self.config.dim] for name in ("mean", "square"))
            behind = np.flatnonzero((last > 0) & (last < done))
            ratio = _DECAYS[0] / np.sqrt(_DECAYS[1])
            factor = self._ahead[last[behind]] - ratio ** (done - last[behind]) * self._ahead[done]
            epsilon = _EPSILON * np.sqrt(1 - _DECAYS[1] ** (last[behind] + 1.0))
            moves = mean[behind] / (np.sqrt(square[behind]) + epsilon[:, None].astype(np.float32))
            matrix[behind] -= factor[:, None].astype(np.float32) * moves
        untouched = last == 0
        if self._first is not None:
            untouched &= ~self._first.known
        matrix[untouched] = 0
        return matrix

    def embeddings(self) -> Embeddings:
        """The rows, called by their numbers."""
        return Embeddings(WordList.from_words(map(str, range(self.corpus.rows))), self.matrix())

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        tokens = zlib.crc32(self.corpus.ids.astype("<i4").tobytes())
        corpus = {"corpus": self.corpus.digest, "tokens": tokens, "rows": self.corpus.rows}
        files = {"files": list(self.corpus.files)} if len(self.corpus.files) > 1 else {}
        return {**self.config.identity(), **corpus, **files}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": 1}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        kept = self._moments if self._sum is None else {"sum": self._sum}
        return {"table": self.table, **kept, "last": self._last, "done": self._done}


class Worker:
    """The threads that share a step."""

    def __init__(self, run: _pairs.Run, threads: int) -> None:
        self._run, self._threads = run, threads
        self._pool: ThreadPoolExecutor | None = all_started(threads - 1) if threads > 1 else None

    def work(self) -> None:
        others = [self._pool.submit(self._run.work, thread) for thread in range(1, self._threads)] if self._pool else []
        self._run.work(0)
        for other in others:
            other.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
