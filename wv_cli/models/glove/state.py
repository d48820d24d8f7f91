"""States of GloVe: what a finished run leaves so that `wv glove --continue` goes on, in a file as training.state's.

Its arrays are, for word rows and context rows, the vectors, the biases and their sums of squared gradients (AdaGrad;
in GloVe's units), each by the word's rank; the words with their counts; and `records`, the co-occurrences as in GloVe's
files: 16 bytes each, sorted by row and column, every pair once.

The records are in the state, not in a file of counts beside it: rows, words and counts of different days do not belong
together, and two files cannot be replaced in one step. They can be larger than the memory, and so a state is mapped and
read a block at a time; only one that is compressed is read whole.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._glove import RECORD, check
from wv_cli.io import container, host
from wv_cli.io.input import open_input
from wv_cli.io.memory import file_of
from wv_cli.io.output import open_output
from wv_cli.models.training.state import KIND, StateOptions, header_of, list_arrays, list_layout, options_of, words_of
from wv_cli.text.vocab import Vocab

Arrays = Mapping[str, NDArray[Any]]

SIDES = ("word", "context")
OF_A_SIDE = ("vectors", "biases", "squares", "bias_squares")
LARGEST = (1e15, 1e30)  # of vectors and of squared gradients that a run begins with
_LARGEST_COUNT = 1e15
_ROWS = 1 << 12  # looked at at a time
_RECORDS = 1 << 18


@dataclass(frozen=True, eq=False)
class GloveState:
    """`rows` are the arrays of row_layout() and `records` (pairs, 16) uint8, both perhaps a mapped file; `largest` is
    the largest of their counts, `digest` tells them from others."""

    options: StateOptions
    vocab: Vocab
    rows: Arrays
    records: NDArray[np.uint8]
    largest: float
    digest: str


def row_layout(dim: int) -> dict[str, tuple[str, tuple[int | str, ...]]]:
    """The arrays of the rows: floats for every word, in its vectors `dim` of them."""
    vectors, numbers = ("<f4", ("words", dim)), ("<f4", ("words",))
    return {
        f"{side}_{name}": layout
        for side in SIDES
        for name, layout in zip(OF_A_SIDE, (vectors, numbers, vectors, numbers), strict=True)
    }


def save_state(path: str, options: StateOptions, vocab: Vocab, rows: Arrays, records: NDArray[np.uint8]) -> None:
    """Writes a state whole or not at all; arrays as in GloveState. Raises WvError."""
    arrays = {**rows, **list_arrays("word", vocab), "records": records}
    mapped = file_of(records)
    with open_output(path) as stream:
        between = (lambda: host.let_go(mapped)) if mapped is not None else None
        container.write(stream, KIND, header_of(options, vocab), arrays, aligned=True, between=between)


def open_state(path: str) -> GloveState:
    """Opens a state and looks at all of it once. Raises BadFile for another file, or one that is damaged, WvError when
    it cannot be read."""
    with open_input(path, "a state") as source:
        reader = container.Reader(source, KIND)
        options = options_of(reader)
        dim = options.config.get("dim")
        rows = row_layout(dim if type(dim) is int else -1)
        layout = {**rows, **list_layout("word"), "records": ("|u1", ("records", RECORD.itemsize))}
        reader.expect(layout, "a state of GloVe")
        arrays = reader.views(checked=True)
        vocab = words_of(reader, arrays)
        for name in rows:
            _check_rows(reader, name, arrays[name])
        largest, digest = _check_records(reader, arrays["records"], len(vocab))
        return GloveState(options, vocab, {name: arrays[name] for name in rows}, arrays["records"], largest, digest)


def blocks(records: NDArray[np.uint8], size: int) -> Iterator[NDArray[Any]]:
    """Copies of so many records at a time; pages of a mapped file that were read are let go."""
    mapped = file_of(records)
    for first in range(0, len(records), size):
        yield records[first : first + size].copy().view(RECORD)[:, 0]
        if mapped is not None:
            host.let_go(mapped)


def _check_rows(reader: container.Reader, name: str, array: NDArray[Any]) -> None:
    squares = name.endswith("squares")
    for first in range(0, len(array), _ROWS):
        part = array[first : first + _ROWS]
        # A comparison with NaN is false.
        if not (np.abs(part) <= LARGEST[squares]).all() or (squares and (part <= 0).any()):
            what = ("finite numbers", "squared gradients above 0")[squares]
            problem = f"expected {what} up to {LARGEST[squares]:g} in the array {name}, found others: it is damaged"
            reader.refuse(problem, reader.offset(name) + part[:1].nbytes * first)
    mapped = file_of(array)
    if mapped is not None:
        host.let_go(mapped)


def _check_records(reader: container.Reader, records: NDArray[np.uint8], words: int) -> tuple[float, str]:
    """The largest count and what tells the records from others."""
    digest, largest, last, before = hashlib.blake2b(digest_size=16), 0.0, 0, 0
    for block in blocks(records, _RECORDS):
        bad, last, ascending = check(block, words, last)
        largest = max(largest, float(block["value"].max()))
        if bad >= 0 or not ascending or largest > _LARGEST_COUNT:
            problem = (
                f"expected pairs of words 1 to {words:,}, sorted, each once with a count above 0 and up to "
                f"{_LARGEST_COUNT:g}, found others from record {before + 1:,} on: it is damaged"
            )
            reader.refuse(problem, reader.offset("records") + before * RECORD.itemsize)
        before += len(block)
        digest.update(block.view(np.uint8).data)
    return largest, digest.hexdigest()
