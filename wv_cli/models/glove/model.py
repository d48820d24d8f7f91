"""GloVe: matrices and steps for the kernel csrc/kernels/glove.c (Pennington, Socher, Manning 2014).

A step is a chunk of records (tiles.py) in one iteration; see wv_cli.models.training.run. Semantics are those of GloVe's
program (AdaGrad with squared gradients from 1, clipping, biases with their own learning rate), in float32, with two
departures: the order of the records, and that the clip concerns the biases too unless it is told not to.
"""

import copy
import threading
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli import _glove
from wv_cli.errors import BadFile, WvError, cannot_read
from wv_cli.io import memory
from wv_cli.io.matrices import IN_MEMORY, MatrixAllocator
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.state import LARGEST, OF_A_SIDE, SIDES, Arrays
from wv_cli.models.glove.tiles import CHUNK_RECORDS, TileStore, chunk_rules
from wv_cli.models.training.blocks import EpochOrder
from wv_cli.models.training.trainer import Immediate, StepResult
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

UNKNOWN = b"<unk>"
_UNKNOWN_MEAN_OF = 100  # the rarest words, as in GloVe's program
_STEPS_VERSION = 1  # raised when a step computes something else: no older checkpoint then goes on
_RAW_ROWS = 1 << 12  # read or written at a time
_FROZEN = 1e30  # squared gradient of a coordinate that must not move


class Glove(Immediate[Any]):
    """A model in training. Satisfies wv_cli.models.training.trainer.Trainable.

    `words` and `contexts` are (words, 2, half) float32: [:, 0] holds the vectors with their biases, [:, 1] the squared
    gradients. Word rows are [w, bias, 1, 0 ...], context rows [c, 1, bias, 0 ...].
    """

    config: GloveConfig

    def __init__(
        self,
        config: GloveConfig,
        vocab: Vocab,
        store: TileStore,
        digest: str,
        *,
        clip_biases: bool = True,
        allocator: MatrixAllocator = IN_MEMORY,
    ) -> None:
        """Allocates, in `allocator`, and initializes; `digest` tells these counts from others. Raises WvError when
        there is no room for the matrices."""
        count, dim = len(vocab.words), config.dim
        needed = self.bytes_needed(config, count)
        allocator.require(needed, needed, "lower --dim or raise --min-count")
        self.config, self.vocab, self.store, self._digest = config, vocab, store, digest
        half = memory.pad_width(dim + 2)
        self._flat = [allocator.zeros(count, 2 * half) for _ in range(2)]
        self.words, self.contexts = (flat.reshape(count, 2, half) for flat in self._flat)
        # Where each matrix keeps its bias, and its constant 1.
        self._bias = {id(self.words): dim, id(self.contexts): dim + 1}
        self._initialize()
        self._run = _glove.Run(
            words=self._flat[0],
            contexts=self._flat[1],
            eta=config.eta,
            clip=config.grad_clip,
            x_max=config.x_max,
            alpha=config.alpha,
            seed=config.seed,
            clipped=None if clip_biases else dim,
        )
        self._lock = threading.Lock()
        self.costs = np.zeros(config.iterations)
        self._iterations = config.iterations
        self.order = EpochOrder(config.seed, len(store.chunks))

    @staticmethod
    def bytes_needed(config: GloveConfig, words: int) -> int:
        return words * 4 * 4 * memory.pad_width(config.dim + 2)

    def _initialize(self) -> None:
        """Vectors and biases uniform in +-0.5 / dim, squared gradients 1 (a bias: see kernels/glove.c)."""
        random = np.random.default_rng(self.config.seed)
        dim, rows_at_once = self.config.dim, 1 << 16
        for matrix in (self.words, self.contexts):
            bias = self._bias[id(matrix)]
            one = 2 * dim + 1 - bias
            for first in range(0, len(matrix), rows_at_once):
                part = matrix[first : first + rows_at_once]
                drawn = (random.random((len(part), dim + 1), np.float32) - np.float32(0.5)) / np.float32(dim)
                part[:, 0, :dim], part[:, 0, bias] = drawn[:, :dim], drawn[:, dim]
            matrix[:, 0, one] = 1
            matrix[:, 1] = 1
            matrix[:, 1, bias] = self._bias_scale
            matrix[:, 1, one] = _FROZEN

    @property
    def _bias_scale(self) -> float:
        """What a bias's squared gradient of 1 is in our units."""
        return (self.config.eta / (self.config.bias_lr or self.config.eta)) ** 2

    def load_raw(self, parameters: str | None, gradients: str | None) -> None:
        """Starts from GloVe's own vectors.bin and gradsq.bin: 2 x words x (dim + 1) doubles, without words, so they
        must belong to this vocabulary. Raises BadFile."""
        if parameters is not None:
            self._load_raw(parameters, 0)
        if gradients is not None:
            self._load_raw(gradients, 1)

    def _load_raw(self, path: str, layer: int) -> None:
        count, dim = len(self.vocab.words), self.config.dim
        expected = 2 * count * (dim + 1) * 8
        found = _size(path)
        if found != expected:
            problem = (
                f"expected {expected:,} bytes (2 x {count:,} words x {dim + 1} doubles: GloVe's own binary file for "
                f"this vocabulary and --dim), found {found:,}"
            )
            raise BadFile(path, problem)
        with Path(path).open("rb") as stream:
            for matrix in (self.words, self.contexts):
                bias = self._bias[id(matrix)]
                for first in range(0, count, _RAW_ROWS):
                    part = matrix[first : first + _RAW_ROWS, layer]
                    values = _read_doubles(stream, path, len(part) * (dim + 1)).reshape(len(part), dim + 1)
                    if not (np.abs(values) <= LARGEST[layer]).all() or (layer == 1 and (values <= 0).any()):
                        what = ("finite numbers", "squared gradients above 0")[layer]
                        problem = f"expected {what} up to {LARGEST[layer]:g} in row {first + 1:,} and following"
                        raise BadFile(path, f"{problem}, found others")
                    part[:, :dim] = values[:, :dim]
                    part[:, bias] = values[:, dim] * (self._bias_scale if layer == 1 else 1)

    def load_state(self, rows: Arrays, ids: NDArray[np.int64], fraction: float) -> None:
        """Starts the words `ids` from the `rows` of a state (state.row_layout), in which row k is of the word ids[k].
        Of the squared gradients only this `fraction` (0 to 1) still counts; the one that every sum begins with is none
        of them."""
        dim = self.config.dim
        for side, matrix in zip(SIDES, (self.words, self.contexts), strict=True):
            bias = self._bias[id(matrix)]
            for first in range(0, len(ids), _RAW_ROWS):
                part = slice(first, first + _RAW_ROWS)
                vectors, biases, squares, bias_squares = (rows[f"{side}_{name}"][part] for name in OF_A_SIDE)
                matrix[ids[part], 0, :dim], matrix[ids[part], 0, bias] = vectors, biases
                matrix[ids[part], 1, :dim] = _shrunk(squares, fraction)
                matrix[ids[part], 1, bias] = _shrunk(bias_squares, fraction) * np.float32(self._bias_scale)

    def state_rows(self) -> dict[str, NDArray[np.float32]]:
        """The rows as a state has them (state.row_layout), most of them views."""
        dim = self.config.dim
        found: dict[str, NDArray[np.float32]] = {}
        for side, matrix in zip(SIDES, (self.words, self.contexts), strict=True):
            bias = self._bias[id(matrix)]
            bias_squares = matrix[:, 1, bias] / np.float32(self._bias_scale)
            arrays = (matrix[:, 0, :dim], matrix[:, 0, bias], matrix[:, 1, :dim], bias_squares)
            found |= {f"{side}_{name}": array for name, array in zip(OF_A_SIDE, arrays, strict=True)}
        return found

    def write_raw(self, stream: BinaryIO, layer: int) -> None:
        """Writes the vectors and biases (layer 0), or their squared gradients (1), as load_raw() reads them."""
        for matrix in (self.words, self.contexts):
            for first in range(0, len(matrix), _RAW_ROWS):
                stream.write(self._raw_rows(matrix[first : first + _RAW_ROWS, layer], matrix, layer).astype("<f8").data)

    def side_by_side(self, layer: int) -> NDArray[np.float32]:
        """[w, bias, c, bias] of every word (layer 0), or their squared gradients (1): (words, 2 * dim + 2)."""
        matrices = (self.words, self.contexts)
        return np.concatenate([self._raw_rows(matrix[:, layer], matrix, layer) for matrix in matrices], axis=1)

    def _raw_rows(self, part: NDArray[np.float32], matrix: NDArray[np.float32], layer: int) -> NDArray[np.float32]:
        """Rows of a layer of `matrix` with the bias behind the vector, squared gradients in GloVe's units."""
        dim = self.config.dim
        rows = np.empty((len(part), dim + 1), np.float32)
        rows[:, :dim] = part[:, :dim]
        rows[:, dim] = part[:, self._bias[id(matrix)]] / np.float32(self._bias_scale if layer == 1 else 1)
        return rows

    def until(self, iterations: int) -> "Glove":
        """This model, in the same memory, whose training ends after so many iterations."""
        part = copy.copy(self)
        part._iterations = iterations
        return part

    @property
    def epochs(self) -> int:
        return self._iterations

    @property
    def epoch_steps(self) -> int:
        return len(self.store.chunks)

    def worker(self) -> tuple[NDArray[Any], NDArray[np.float32]]:
        """A buffer for a chunk and the kernel's working memory."""
        floats = -(-self._run.scratch_bytes(CHUNK_RECORDS) // 4)
        return np.empty(CHUNK_RECORDS, _glove.TILE_RECORD), memory.zeros(1, floats)[0]

    def train_step(self, step: int, worker: tuple[NDArray[Any], NDArray[np.float32]]) -> StepResult:
        iteration, block = divmod(step, self.epoch_steps)
        chunk = int(self.order.for_epoch(iteration)[block])
        records = self.store.read(chunk, worker[0])
        row, column = (int(x) for x in self.store.chunks[chunk, :2])
        cost = self._run.chunk(records, row, column, iteration, chunk, worker[1])
        with self._lock:
            self.costs[iteration] += cost
        return cost, len(records), len(records), self.config.eta

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads and the output may change."""
        return {**self.config.identity(), "counts": self._digest, "vocabulary": self.vocab.digest}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": _STEPS_VERSION, **chunk_rules()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        return {"words": self.words, "contexts": self.contexts, "costs": self.costs}

    def embeddings(self) -> Embeddings:
        """The result as --vectors asks: w + c, w, or [w, bias, c, bias] as GloVe's -model 0."""
        dim = self.config.dim
        w, c = self.words[:, 0], self.contexts[:, 0]
        if self.config.vectors == "sum":
            matrix = w[:, :dim] + c[:, :dim]
        elif self.config.vectors == "word":
            matrix = w[:, :dim]
        else:
            matrix = self.side_by_side(0)
        words = self.vocab.words
        if self.config.unk:
            if words.find(UNKNOWN.decode()) >= 0:
                message = "--unk: the text holds the word <unk> itself, which has its own vector; leave --unk out"
                raise WvError(message)
            unknown = matrix[-_UNKNOWN_MEAN_OF:].mean(axis=0, dtype=np.float64, keepdims=True)
            matrix = np.concatenate([matrix, unknown.astype(np.float32)])
            words = WordList(words.blob + UNKNOWN, np.append(words.starts, words.starts[-1] + len(UNKNOWN)))
        return Embeddings(words, matrix)


def _shrunk(squares: NDArray[np.float32], fraction: float) -> NDArray[np.float32]:
    return squares if fraction == 1 else 1 + np.float32(fraction) * (squares - 1)


def _read_doubles(stream: BinaryIO, path: str, count: int) -> NDArray[np.float64]:
    try:
        data = stream.read(8 * count)
    except OSError as error:
        raise cannot_read(path, error) from error
    if len(data) != 8 * count:
        raise BadFile(path, "was cut short by another process while it was read; run it again on a whole file")
    return np.frombuffer(data, "<f8")


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError as error:
        raise cannot_read(path, error) from error
