"""Vectors as lines for other programs: `word number ...`, numbers alone, or one JSON object a line."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli import _floattext
from wv_cli.errors import WvError
from wv_cli.io.json_text import to_printable_json
from wv_cli.vectors.file_options import Precision
from wv_cli.words import WordList, decode

_NUMBERS = 1 << 17  # printed at once


def require_finite(matrix: NDArray[np.float32], names: Sequence[str | bytes], file: str) -> None:
    """Raises WvError for a vector that holds nan or infinity, of `names`, from `file`."""
    bad = _floattext.first_not_finite(matrix)
    if bad is not None:
        name = names[bad[0]]
        text = name if isinstance(name, str) else decode(name)
        message = (
            f"{file}: expected finite numbers, found {matrix[bad]} in the vector of {text!r}; `wv check` tells more"
        )
        raise WvError(message)


def text_lines(
    names: Sequence[str | bytes] | None,
    matrix: NDArray[np.float32],
    precision: Precision,
    *,
    trailing_space: bool = False,
) -> bytes:
    """A line per row of `matrix` (n, dim), with its name in front unless `names` is None."""
    decimals = 0 if precision == "exact" else precision
    words = WordList.from_words(names if names is not None else [b""] * len(matrix))
    step = max(1, _NUMBERS // matrix.shape[1])
    pieces = []
    for first in range(0, len(words), step):
        last = min(first + step, len(words))
        word_bytes = int(words.starts[last] - words.starts[first])
        out = bytearray(word_bytes + (last - first) * _floattext.row_capacity(matrix.shape[1]))
        size = _floattext.format_rows(matrix, words.blob, words.starts, first, last, decimals, trailing_space, out)
        pieces.append(bytes(out[:size]))
    text = b"".join(pieces)
    # Without a name a line begins with the blank behind it.
    return text if names is not None or not text else text[1:].replace(b"\n ", b"\n")


def json_lines(key: str, names: Sequence[str | bytes], matrix: NDArray[np.float32], precision: Precision) -> bytes:
    """`{"KEY": name, "vector": [...]}` for every row."""
    rows = text_lines(None, matrix, precision).splitlines()
    result = []
    for name, row in zip(names, rows, strict=True):
        word = name if isinstance(name, str) else decode(name)
        text = to_printable_json(word)
        result.append(f'{{"{key}": {text}, "vector": [{row.replace(b" ", b", ").decode()}]}}\n')
    return "".join(result).encode()


def without_vector(word: str) -> bytes:
    """What json_lines would say of a word that has no vector."""
    return f'{{"word": {to_printable_json(word)}, "vector": null}}\n'.encode()
