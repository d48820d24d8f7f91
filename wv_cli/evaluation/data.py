"""What the tasks share in reading: the lines of a data file, those that are malformed, the part of the vectors used."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import encoder_folder
from wv_cli.errors import BadFile
from wv_cli.evaluation.base import Vectors
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.text.source import Source
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList, decode


def composed_note(name: str, count: int) -> list[str]:
    """What a report should say about `count` words that were composed for the vectors called `name`."""
    words = "1 word that is" if count == 1 else f"{count:,} words that are"
    return [f"{name}: {words} not listed were composed of subwords; --no-subwords leaves them out"] if count else []


def encoders_among(vectors: Sequence[Vectors]) -> tuple[tuple[str, ...], list[Vectors]]:
    """(those that are encoders' folders, for tasks that score sentences, the others)."""
    folders, others = [], []
    for source in vectors:
        folder = encoder_folder(source.name) if source.name != "-" else None
        if folder is None:
            others.append(source)
        else:
            folders.append(str(folder) if Path(source.name).is_file() else source.name)
    return tuple(folders), others


def restrict_words(embeddings: Embeddings, count: int) -> Embeddings:
    """The first `count` words; all when it is 0 or there are no more."""
    if not 0 < count < len(embeddings):
        return embeddings
    words = embeddings.words
    starts = words.starts[: count + 1]
    restricted_words = WordList(words.blob[: starts[-1]], starts)
    return Embeddings(restricted_words, embeddings.matrix[:count], embeddings.subwords)


def items_used(covered: Sequence[NDArray[np.bool_]], oov: str) -> NDArray[np.bool_]:
    """(items,) which items count: those that every file has `covered`; all of them where `oov` is zero."""
    return np.ones_like(covered[0]) if oov == "zero" else np.logical_and.reduce(covered)


def data_lines(path: str) -> list[str]:
    """The lines of a data file, plain or compressed, without line ends and byte order mark; `-` is standard input.
    Raises WvError when it cannot be read, BadFile when it is vectors, a model or another file of wv."""
    text = b"".join(Source([path]))
    refuse_other_kinds(text[:HEAD_BYTES], path, "lines of text to score vectors on")
    return decode(text).split("\n")


class Malformed:
    """The lines of one data file that hold no item: the first is remembered, under `strict` it is an error."""

    def __init__(self, path: str, strict: bool, expected: str) -> None:
        self._path, self._strict, self._expected = path, strict, expected
        self.count = 0
        self.first: BadFile | None = None

    def add(self, line_number: int, line: str) -> None:
        """Raises BadFile under `strict`."""
        found = line if len(line) <= 60 else f"{line[:60]}..."
        problem = f"expected {self._expected}, found {found!r}"
        error = BadFile(self._path, problem, line=line_number)
        if self._strict:
            raise error
        self.first = self.first or error
        self.count += 1

    def notes(self) -> list[str]:
        if self.first is None:
            return []
        lines = "1 malformed line was" if self.count == 1 else f"{self.count:,} malformed lines were"
        return [f"{self._path}: {lines} left out; the first, line {self.first.line}: {self.first.problem}"]
