"""ELMo's network (Peters et al. 2018, arXiv 1802.05365): characters -> words -> a language model in both directions.

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

import numpy as np
from numpy.typing import NDArray

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
