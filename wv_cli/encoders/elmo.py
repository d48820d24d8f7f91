"""ELMo's folder: options.json, or NAME_options.json, and the weights beside it in HDF5.

A sentence is `<S>` words `</S>`, words as they stand between blanks. A word is its first 48 bytes of UTF-8 between the
marks of its begin and end, padded to 50; the table's row 0, which stands for no position at all, is new and zero, so
that every id in the file is one less than here. The two marks of a sentence are left out of what comes out.

Decisions: the original keeps the state of its LSTMs from sentence to sentence, so that a vector depends on all that was
read before; here every sentence begins with zeros, unless --stateful asks for the original's way, one sentence at a
time in their order.

ELMo's network (Peters et al. 2018, arXiv 1802.05365): characters -> words -> a language model in both directions.

    words     filters of some widths over a word's characters, the largest value of each over all positions + b, relu or
              tanh; highway layers g relu(x W_t + b_t) + (1 - g) x, g = sigmoid(x W_c + b_c); x W + b            e
    layer 0   [e; e]
    LSTM      [i j f o] = [x; h] W + B;  c <- sigmoid(f + 1) c + sigmoid(i) tanh(j), within +-cell_clip;
              h <- (sigmoid(o) tanh(c)) P, within +-proj_clip; each direction and layer has one of its own
    layer l   [forward; backward]; from layer 2 on, with skip connections, h + the layer's input, which the state does
              not see

The backward direction reads each sentence from its own end. All in float32. Not here: files.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.base import States, kept_dim
from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.hdf5 import Arrays, open_arrays
from wv_cli.errors import BadFile, UsageError, show_value
from wv_cli.io.folders import NO_USAGE, Settings
from wv_cli.words import encode

Floats = NDArray[np.float32]
_WORDS = 128  # whose characters are looked at together: windows of all widths stay small
_FORGET = np.float32(1)


@dataclass(frozen=True, eq=False)
class Characters:
    """`table` (ids, d); of each filter `weights` (width, d, count) and `biases` (count,); of each highway layer the
    (weight, bias) of its gate and of what it lets through; `project` (weight, bias), None where the sizes agree."""

    table: Floats
    filters: Sequence[tuple[Floats, Floats]]
    activation: str
    highways: Sequence[tuple[Floats, Floats, Floats, Floats]]
    project: tuple[Floats, Floats] | None

    def words(self, ids: NDArray[np.uint16]) -> Floats:
        """(words, characters) ids -> (words, e)."""
        return np.concatenate([self._some(ids[first : first + _WORDS]) for first in range(0, len(ids), _WORDS)])

    def _some(self, ids: NDArray[np.uint16]) -> Floats:
        embedded, parts = self.table[ids], []
        for weights, biases in self.filters:
            width, dim, count = weights.shape
            windows = np.lib.stride_tricks.sliding_window_view(embedded, width, axis=1).swapaxes(2, 3)
            flat = windows.reshape(-1, width * dim) @ weights.reshape(width * dim, count)
            parts.append(flat.reshape(len(ids), -1, count).max(axis=1) + biases)
        x: Floats = np.concatenate(parts, axis=1)
        x = np.tanh(x) if self.activation == "tanh" else np.maximum(x, 0)
        for carry, carry_bias, through, through_bias in self.highways:
            gate = _sigmoid(x @ carry + carry_bias)
            x = gate * np.maximum(x @ through + through_bias, 0) + (1 - gate) * x
        if self.project is not None:
            x = x @ self.project[0] + self.project[1]
        return x


@dataclass(frozen=True, eq=False)
class Cell:
    """One direction of one layer: `inputs` (in, 4 cells), `recurrent` (out, 4 cells), `bias` (4 cells,), `project`
    (cells, out), None where out is cells. A clip of infinity is none."""

    inputs: Floats
    recurrent: Floats
    bias: Floats
    project: Floats | None
    cell_clip: float
    project_clip: float

    def run(self, x: Floats, state: "State | None") -> tuple[Floats, "State"]:
        """(n, steps, in) -> ((n, steps, out), the state behind the last step), from `state`, None: zeros."""
        n, steps, _ = x.shape
        size, cells = self.recurrent.shape[0], self.recurrent.shape[1] // 4
        if state is None:
            state = State(np.zeros((n, cells), np.float32), np.zeros((n, size), np.float32))
        c, h = state.c, state.h
        given = x.reshape(n * steps, -1) @ self.inputs
        given += self.bias
        given = given.reshape(n, steps, 4 * cells)
        outputs = np.empty((n, steps, size), np.float32)
        for step in range(steps):
            gates = given[:, step] + h @ self.recurrent
            i, j, f, o = (gates[:, k * cells : (k + 1) * cells] for k in range(4))
            c = _sigmoid(f + _FORGET) * c + _sigmoid(i) * np.tanh(j)
            np.clip(c, -self.cell_clip, self.cell_clip, out=c)
            h = _sigmoid(o) * np.tanh(c)
            if self.project is not None:
                h = h @ self.project
                np.clip(h, -self.project_clip, self.project_clip, out=h)
            outputs[:, step] = h
        return outputs, State(c, h)


@dataclass(frozen=True, eq=False)
class State:
    """Of a cell after a step: c (n, cells), h (n, out)."""

    c: Floats
    h: Floats


@dataclass(eq=False)
class LanguageModel:
    """`cells` are (forward, backward) of each layer. With `stateful` every call begins with the states in which the
    last one ended."""

    cells: Sequence[tuple[Cell, Cell]]
    skip: bool
    stateful: bool = False
    _states: dict[tuple[int, int], State] = field(default_factory=dict)

    def run(self, e: Floats, lengths: NDArray[np.int64], layers: Sequence[int]) -> list[Floats]:
        """(n, steps, 2 out) of each of these layers, of the words e (n, steps, out) of sentences of these lengths."""
        back = reversal(lengths, e.shape[1])
        ways = [e, np.take_along_axis(e, back, axis=1)]
        kept = {0: np.concatenate([e, e], axis=2)}
        for number, cells in enumerate(self.cells[: max(layers)], 1):
            for way, cell in enumerate(cells):
                place = (number, way)
                made, state = cell.run(ways[way], self._states.get(place))
                if self.stateful:
                    self._states[place] = state
                ways[way] = made + ways[way] if self.skip and number > 1 else made
            kept[number] = np.concatenate([ways[0], np.take_along_axis(ways[1], back, axis=1)], axis=2)
        return [kept[layer] for layer in layers]


def reversal(lengths: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """(n, steps, 1) places that turn each sentence round within its length; padding stays. It is its own inverse."""
    at = np.arange(steps)[None, :]
    turned: NDArray[np.int64] = np.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)[:, :, None]
    return turned


def _sigmoid(x: Floats) -> Floats:
    result: Floats = np.tanh(x * np.float32(0.5))
    result += 1
    result *= np.float32(0.5)
    return result


OPTIONS, WEIGHTS = "*options.json", "*weights.hdf5"
_ROWS = 261  # of the table of characters in the file: bytes, the marks of sentences and words, padding
_BEGIN_SENTENCE, _END_SENTENCE, _BEGIN, _END, _PADDING = (id + 1 for id in range(256, 261))
_MARKS = {"<S>": _BEGIN_SENTENCE, "</S>": _END_SENTENCE}


def character_ids(words: Sequence[str], length: int) -> NDArray[np.uint16]:
    """(words, length) ids of characters; a word that is a sentence's mark is taken for one."""
    ids = np.full((len(words), length), _PADDING, np.uint16)
    ids[:, 0] = _BEGIN
    for row, word in zip(ids, words, strict=True):
        mark = _MARKS.get(word)
        data = encode(word)[: length - 2]
        inner = [mark] if mark is not None else [byte + 1 for byte in data]
        row[1 : 1 + len(inner)] = inner
        row[1 + len(inner)] = _END
    return ids


class Elmo:
    """An encoders.base.Encoder. Layer 0 is that of the characters, twice."""

    pooling, normalize, parallel = "mean", False, True

    def __init__(self, path: Path, config: EncoderConfig, poolings: Sequence[str]) -> None:
        """Raises BadFile for options that cannot be and weights that do not fit them."""
        if config.runtime == "onnx":
            message = f"--runtime onnx: {path} is an ELMo, which this program computes with NumPy"
            raise UsageError(message)
        settings = Settings(_find_only(path, OPTIONS))
        characters, network = (settings.part(name) for name in ("char_cnn", "lstm"))
        self.name, self._most = str(path), config.max_length
        self._length = characters.number("max_characters_per_token", 3, 1 << 12)
        self.layers = network.number("n_layers", 1, 99)
        size = network.number("projection_dim", 1, 1 << 14)
        self._size, self.in_order = size, config.stateful
        self.dim, self.scales_whole = kept_dim(config, 2 * size, self.name, NO_USAGE)
        with open_arrays(_find_only(path, WEIGHTS), "ELMo's weights in HDF5") as arrays:
            self._characters = _characters(characters, arrays, size, self._length)
            cells = [
                (_cell(network, arrays, 0, layer, size), _cell(network, arrays, 1, layer, size))
                for layer in range(self.layers)
            ]
        self._model = LanguageModel(cells, network.yes("use_skip_connections"), config.stateful)
        self._ends = character_ids(["<S>", "</S>"], self._length)

    def tokens(self, texts: Sequence[str], *, prompt: str | None = None) -> tuple[list[NDArray[Any]], int]:
        """Ids of the characters of every word."""
        found, cut = [], 0
        for text in texts:
            words = ((prompt or "") + text).split()
            cut += 0 < self._most < len(words)
            found.append(character_ids(words[: self._most or None], self._length))
        return list(found), cut

    def names(self, text: str, tokens: NDArray[Any]) -> list[str]:
        return text.split()[: len(tokens)]

    def states(self, tokens: Sequence[NDArray[Any]], layers: Sequence[int]) -> States:
        lengths = np.array([len(each) for each in tokens], np.int64)
        steps = int(lengths.max()) + 2
        every = np.concatenate([part for each in tokens for part in (self._ends[:1], each, self._ends[1:])])
        types, which = np.unique(every, axis=0, return_inverse=True)
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = self._characters.words(types)
            e = np.zeros((len(tokens), steps, self._size), np.float32)
            e[np.arange(steps)[None, :] < lengths[:, None] + 2] = vectors[which.reshape(-1)]
            found = self._model.run(e, lengths + 2, layers)
        mask: NDArray[np.bool_] = np.arange(steps - 2)[None, :] < lengths[:, None]
        return [each[:, 1:-1] for each in found], mask


def _find_only(path: Path, pattern: str) -> Path:
    """Raises BadFile unless one file in the folder has such a name."""
    found = sorted(path.glob(pattern))
    if len(found) != 1:
        names = ", ".join(each.name for each in found) or "none"
        raise BadFile(path, f"expected one file {pattern} in the folder of an ELMo, found {names}")
    return found[0]


def _characters(settings: Settings, arrays: Arrays, size: int, length: int) -> Characters:
    dim = settings.part("embedding").number("dim", 1, 1 << 12)
    table = np.concatenate([np.zeros((1, dim), np.float32), arrays.floats("char_embed", _ROWS, dim)])
    filters = []
    for number, (width, count) in enumerate(_filters(settings, length)):
        weights = arrays.floats(f"CNN/W_cnn_{number}", 1, width, dim, count)[0]
        filters.append((weights, arrays.floats(f"CNN/b_cnn_{number}", count)))
    activation = settings.facts.get("activation", "relu")
    if activation not in ("relu", "tanh"):
        raise BadFile(settings.path, f"activation: expected relu or tanh, found {show_value(activation)}")
    total = sum(len(biases) for _, biases in filters)
    highways = []
    for number in range(settings.number("n_highway", 0, 99, 0)):
        parts = [
            arrays.floats(f"CNN_high_{number}/{kind}_{way}", *((total, total) if kind == "W" else (total,)))
            for way in ("carry", "transform")
            for kind in ("W", "b")
        ]
        highways.append((parts[0], parts[1], parts[2], parts[3]))
    project = None
    if total != size or "CNN_proj/W_proj" in arrays:
        project = arrays.floats("CNN_proj/W_proj", total, size), arrays.floats("CNN_proj/b_proj", size)
    return Characters(table, filters, activation, highways, project)


def _filters(settings: Settings, length: int) -> list[tuple[int, int]]:
    """(width, count) of each. Raises BadFile."""
    listed = settings.facts.get("filters")
    rows = listed if isinstance(listed, list) else []
    for row in rows:
        numbers = row if isinstance(row, list) and len(row) == 2 else [0, 0]
        if not all(type(each) is int for each in numbers) or not (
            1 <= numbers[0] <= length and 1 <= numbers[1] <= 1 << 14
        ):
            rows = []
    if not rows:
        problem = f"filters: expected a list of [width up to {length}, count], found {show_value(listed)}"
        raise BadFile(settings.path, problem)
    return [(width, count) for width, count in rows]


def _cell(settings: Settings, arrays: Arrays, way: int, layer: int, size: int) -> Cell:
    """Of one direction, 0 forward and 1 backward, and layer."""
    cells = settings.number("dim", 1, 1 << 16)
    place = f"RNN_{way}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
    both = arrays.floats(f"{place}/W_0", 2 * size, 4 * cells)
    project = arrays.floats(f"{place}/W_P_0", cells, size) if cells != size or f"{place}/W_P_0" in arrays else None
    clips = [settings.real(name, 0) or np.inf for name in ("cell_clip", "proj_clip")]
    return Cell(both[:size], both[size:], arrays.floats(f"{place}/B", 4 * cells), project, clips[0], clips[1])
