"""Texts of records in one block of bytes, as the scanners find them: C reads them where they lie."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TextSpans(Sequence[bytes]):
    """Text i is blob[begins[i]:ends[i]]; each becomes an object of Python's only where it is asked for."""

    blob: bytes
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.begins)

    def __iter__(self) -> Iterator[bytes]:
        blob = self.blob
        return (blob[begin:end] for begin, end in zip(self.begins.tolist(), self.ends.tolist(), strict=True))

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> "TextSpans": ...
    def __getitem__(self, index: int | slice) -> "bytes | TextSpans":
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        return self.blob[self.begins[index] : self.ends[index]]

    def take(self, numbers: NDArray[np.int64]) -> "TextSpans":
        """The texts with these numbers, in their order."""
        return TextSpans(
            self.blob, np.ascontiguousarray(self.begins[numbers]), np.ascontiguousarray(self.ends[numbers])
        )


def text_sizes(texts: Iterable[bytes]) -> NDArray[np.int64]:
    """(n,) the bytes of each text."""
    if isinstance(texts, TextSpans):
        return texts.ends - texts.begins
    return np.array([len(text) for text in texts], np.int64)


def take_texts(texts: Sequence[bytes], numbers: NDArray[np.int64]) -> list[bytes]:
    """The texts with these numbers, in their order."""
    return [*texts.take(numbers)] if isinstance(texts, TextSpans) else [texts[i] for i in numbers.tolist()]
