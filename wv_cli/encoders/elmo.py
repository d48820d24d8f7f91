"""ELMo's folder: options.json, or NAME_options.json, and the weights beside it in HDF5.

A sentence is `<S>` words `</S>`, words as they stand between blanks. A word is its first 48 bytes of UTF-8 between the
marks of its begin and end, padded to 50; the table's row 0, which stands for no position at all, is new and zero, so
that every id in the file is one less than here. The two marks of a sentence are left out of what comes out.

Decisions: the original keeps the state of its LSTMs from sentence to sentence, so that a vector depends on all that was
read before; here every sentence begins with zeros, unless --stateful asks for the original's way, one sentence at a
time in their order.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.base import States, kept_dim
from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.elmo_network import Cell, Characters, LanguageModel
from wv_cli.encoders.hdf5 import Arrays, open_arrays
from wv_cli.errors import BadFile, UsageError, show_value
from wv_cli.io.folders import NO_USAGE, Settings

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
        data = word.encode("utf-8", "surrogateescape")[: length - 2]
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

    def tokens(self, texts: Sequence[str]) -> tuple[list[NDArray[Any]], int]:
        """Ids of the characters of every word."""
        found, cut = [], 0
        for text in texts:
            words = text.split()
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
