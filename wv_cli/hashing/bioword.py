"""BioWord: word codes learnt by competing Kenyon cells (Liang et al. 2021, arXiv 2101.06887), and their file.

The update is in csrc/kernels/bioword.c. A step is some batches of the text, in an order drawn for each epoch, so a
run can stop, be saved and go on; the threads of a run work on one batch together, so their number changes nothing. The
learning rate falls from epoch to epoch: lr (1 - epoch / epochs). The last batch of the text is smaller than the others.

A code is the `length` most active cells, the lowest of equal ones: of a word alone (static) or with the words around it
(dynamic). With `normalize_cells` a cell's weights are first divided by their norm.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _bioword
from wv_cli.errors import WvError
from wv_cli.hashing.base import LARGEST
from wv_cli.hashing.config import BiowordConfig
from wv_cli.io import container, memory
from wv_cli.io.input import open_input
from wv_cli.io.threads import all_started
from wv_cli.models.training.blocks import EpochOrder
from wv_cli.models.training.trainer import Immediate, StepResult
from wv_cli.text.corpus import Corpus
from wv_cli.text.vocab import MOST_COUNTED, Vocab
from wv_cli.vectors.codes import Codes
from wv_cli.words import WordList

_STEP_WINDOWS = 10_000  # some 10 ms of work
_STEPS_VERSION = 1  # raised when a step computes something else: no older checkpoint then goes on
_ROWS_AT_ONCE = 1 << 12
_START_DEVIATION = 0.02
_LEAST_NORM = 1e-30  # of a cell: 1 over less is beyond float32
METHOD = "bioword"

Worker = tuple[list[_bioword.Worker], ThreadPoolExecutor]


def start_weights(config: BiowordConfig, words: int) -> NDArray[np.float32]:
    """(2 words, cells padded) float32, N(0, 0.02) drawn by the seed; the padding is zero."""
    random = np.random.default_rng(config.seed)
    weights = memory.zeros(2 * words, memory.pad_width(config.cells))
    for first in range(0, 2 * words, _ROWS_AT_ONCE):
        part = weights[first : first + _ROWS_AT_ONCE, : config.cells]
        part[:] = random.standard_normal(part.shape, np.float32) * np.float32(_START_DEVIATION)
    return weights


class Bioword(Immediate[BiowordConfig]):
    """A model in training. Satisfies models.training.saved_run.Savable; the runner uses one thread, batches their own.

    Weights (2 words, cells) are raw * scale: rows of context words, then rows of words in the middle.
    """

    def __init__(self, config: BiowordConfig, corpus: Corpus) -> None:
        """Raises WvError when the weights do not fit in memory."""
        self.config, self.corpus = config, corpus
        words = len(corpus.vocab)
        memory.require(self.bytes_needed(config, words), "training", "lower --cells or --max-vocab")
        self.raw = start_weights(config, words)
        used = self.raw[:, : config.cells]
        self.scale = np.ones(config.cells)
        self.largest = np.maximum(used.max(0), -used.min(0))
        self.norm2 = np.einsum("ij,ij->j", used, used, dtype=np.float64)
        self.starts = _bioword.batch_starts(corpus.ids, config.batch)
        self._run = _bioword.Run(
            raw=self.raw,
            scale=self.scale,
            norm2=self.norm2,
            largest=self.largest,
            inverse=1 / corpus.vocab.counts,
            ids=corpus.ids,
            starts=self.starts,
            cells=config.cells,
            window=config.window,
            bag=config.context == "bag",
            threads=config.threads,
        )
        self._order = EpochOrder(config.seed, self.epoch_steps)

    @staticmethod
    def bytes_needed(config: BiowordConfig, words: int) -> int:
        inputs = 2 * config.window + 1
        return 8 * words * memory.pad_width(config.cells) + config.threads * (8 * words + 48 * inputs * config.batch)

    @property
    def _step_batches(self) -> int:
        return max(1, _STEP_WINDOWS // self.config.batch)

    @property
    def epoch_steps(self) -> int:
        return -(-(len(self.starts) - 1) // self._step_batches)

    def worker(self) -> Worker:
        threads = self.config.threads
        return [self._run.worker(thread) for thread in range(threads)], all_started(max(1, threads - 1))

    def train_step(self, step: int, worker: Worker) -> StepResult:
        """The loss is the energy of the paper with shares of the text for frequencies: it falls, below zero."""
        epoch, block = divmod(step, self.epoch_steps)
        first = int(self._order.for_epoch(epoch)[block]) * self._step_batches
        starts = self.starts[first : first + self._step_batches + 1]
        rate = self.config.lr * (1 - epoch / self.epochs)
        (first_worker, *others), pool = worker
        waiting = [pool.submit(other.train, starts, rate) for other in others]
        energy = first_worker.train(starts, rate)
        for other in waiting:
            other.result()
        windows = int(np.count_nonzero(self.corpus.ids[starts[0] : starts[-1]] >= 0))
        return energy * self.corpus.tokens, windows, windows, rate

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; threads and the codes' length may change."""
        return {**self.config.identity(), **self.corpus.identity}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": _STEPS_VERSION, "step_windows": _STEP_WINDOWS}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        return {"raw": self.raw, "scale": self.scale, "largest": self.largest, "norm2": self.norm2}

    def hasher(self) -> "BiowordHasher":
        """The result. The model is spent: its weights become the hasher's."""
        self.raw[:, : self.config.cells] *= self.scale.astype(np.float32)
        return BiowordHasher(self.config, self.corpus.vocab, self.raw)


@dataclass(frozen=True, eq=False)
class BiowordHasher:
    """`weights` is (2 words, cells padded) float32, aligned to 64 bytes."""

    config: BiowordConfig
    vocab: Vocab
    weights: NDArray[np.float32]

    @property
    def _factors(self) -> NDArray[np.float64]:
        """What each cell's weights are multiplied with."""
        used = self.weights[:, : self.config.cells]
        if not self.config.normalize_cells:
            return np.ones(self.config.cells)
        norms = np.sqrt(np.einsum("ij,ij->j", used, used, dtype=np.float64))
        factors: NDArray[np.float64] = np.divide(1, norms, out=np.ones_like(norms), where=norms > _LEAST_NORM)
        return factors

    @property
    def parameters(self) -> dict[str, Any]:
        options = _record_options(self.config)
        del options["threads"]
        return {**options, "words": len(self.vocab)}

    def static(self) -> Codes:
        """The code of every word of the vocabulary, from its row for words in the middle."""
        config, words = self.config, len(self.vocab)
        data = np.empty((words, config.length), np.int32)
        factors = self._factors.astype(np.float32)
        for first in range(0, words, _ROWS_AT_ONCE):
            rows = self.weights[words + first : words + min(first + _ROWS_AT_ONCE, words), : config.cells]
            data[first : first + len(rows)] = most_active(rows * factors, config.length)
        return Codes(self.vocab.words, METHOD, config.cells, config.length, data, self.parameters)

    def dynamic(self, corpus: Corpus) -> Codes:
        """The code of every word of a text in its order, with the words around it; `corpus` is encoded with this
        vocabulary (words outside it are left out)."""
        config, cells = self.config, self.config.cells
        run = _bioword.Run(
            raw=self.weights,
            scale=self._factors,
            norm2=np.ones(cells),
            largest=np.ones(cells, np.float32),
            inverse=np.ones(len(self.vocab)),
            ids=corpus.ids,
            starts=np.array([0, len(corpus.ids)]),
            cells=cells,
            window=config.window,
            bag=config.context == "bag",
        )
        worker = run.worker()
        parts = [
            most_active(worker.activations(at, min(at + _ROWS_AT_ONCE, len(corpus.ids)), False), config.length)
            for at in range(0, len(corpus.ids), _ROWS_AT_ONCE)
        ]
        words = self.vocab.words.take(corpus.ids[corpus.ids >= 0])
        return Codes(words, METHOD, cells, config.length, np.concatenate(parts), {**self.parameters, "dynamic": True})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Raises WvError when the file cannot be written."""
        words = self.vocab.words
        arrays: dict[str, NDArray[Any]] = {
            "lengths": np.diff(words.starts).astype("<u4"),
            "words": np.frombuffer(words.blob, np.uint8),
            "counts": self.vocab.counts,
            "weights": self.weights[:, : self.config.cells],
        }
        header = {"config": {**_record_options(self.config), "threads": 1}, "lines": self.vocab.lines}
        container.save(path, METHOD, header, arrays)


def _record_options(config: BiowordConfig) -> dict[str, Any]:
    """The options as files hold them: all, but `context` only where it is not the default."""
    options = asdict(config)
    if config.context == BiowordConfig.context:
        del options["context"]
    return options


def load_hasher(path: str) -> BiowordHasher:
    """Raises BadFile for a file that is none of ours, is damaged or lies; WvError when it cannot be read."""
    with open_input(path, "a bioword hasher") as source:
        reader = container.Reader(source, METHOD, advice="train it again")
        config, lines = _config(reader), reader.fact("lines", int, 0, MOST_COUNTED)
        layout = {
            "lengths": ("<u4", ("words",)),
            "words": ("|u1", ("letters",)),
            "counts": ("<i8", ("words",)),
            "weights": ("<f4", ("rows", config.cells)),
        }
        sizes = reader.expect(layout, f"a bioword hasher of {config.cells} cells")
        words = sizes["words"]
        if not words or sizes["rows"] != 2 * words:
            reader.refuse(f"expected weights of {2 * words:,} rows for {words:,} words, found {sizes['rows']:,}")
        padded = memory.zeros(2 * words, memory.pad_width(config.cells))
        arrays = reader.read({"weights": padded[:, : config.cells]})
        reader.require_finite({"weights": padded}, LARGEST)
        starts = np.concatenate([[0], np.cumsum(arrays["lengths"], dtype=np.int64)])
        listed, counts = WordList(arrays["words"].tobytes(), starts), arrays["counts"]
        if starts[-1] != sizes["letters"] or not listed.is_a_vocabulary():
            problem = "expected words that differ, none of them empty or with a NUL, found others"
            reader.refuse(problem, reader.offset("lengths"))
        if counts.min() < 1 or counts.sum(dtype=np.float64) >= MOST_COUNTED:
            reader.refuse("expected counts of 1 and more, found others", reader.offset("counts"))
    return BiowordHasher(config, Vocab(listed, counts, lines), padded)


def _config(reader: container.Reader) -> BiowordConfig:
    try:
        config = BiowordConfig(**reader.fact("config", dict))
        config.validate()
    except (TypeError, WvError) as error:
        reader.refuse(f"expected the options of a bioword hasher, found others ({error})")
    return config


def most_active(activations: NDArray[np.float32], length: int) -> NDArray[np.int32]:
    """(n, length) int32, ascending: the positions of the highest numbers of each row, the lowest of equal ones."""
    order = np.argsort(-activations, axis=1, kind="stable")[:, :length]
    order.sort(axis=1)
    return order.astype(np.int32)
