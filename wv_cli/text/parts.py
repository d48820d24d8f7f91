"""Which part of the inputs one of several processes reads.

The inputs, one after the other, are divided into parts of equal size; a cut inside a file goes to the next line end,
or, where a line is long and may be divided, to the next space. Every process computes the same cuts,
so that each byte is read once. A compressed file can only be read from its start: it belongs to the part in which its
middle lies.
"""

from dataclasses import dataclass
from typing import ClassVar

from wv_cli.errors import WvError
from wv_cli.text.cuts import find_cut, is_packed, size_of
from wv_cli.text.raw_files import whole_name
from wv_cli.text.records.kinds import RECORDS, record_kind

Piece = tuple[str, int, int]  # path, first byte, byte after the last


@dataclass(frozen=True)
class Part:
    """Number `index` of `count` parts of equal size; with `whole_lines` no line is divided, however long."""

    index: int
    count: int
    whole_lines: bool = False
    is_strict: ClassVar[bool] = False

    def pieces_of(self, paths: list[str]) -> list[Piece]:
        """What this part reads, in order. Raises WvError for what is no file of a known size, and when there is nothing
        to read."""
        sizes = [size_of(path) for path in paths]
        total = sum(sizes)
        first, last = (total * each // self.count for each in (self.index, self.index + 1))
        found = []
        start = 0
        for path, size in zip(paths, sizes, strict=True):
            begin, end = _piece(path, size, first - start, last - start, self.whole_lines)
            if begin < end:
                found.append((path, begin, end))
            start += size
        if not found:
            message = (
                f"no text for part {self.index + 1} of {self.count}: a compressed file is read as a whole, and a line "
                "is in one part; give more files, unpack them, or use fewer processes"
            )
            raise WvError(message)
        return found


@dataclass(frozen=True)
class Shard:
    """Pieces of files, and how many bytes each of those files has: what another process reads, wherever it is. It tells
    of a bad record by an error (`is_strict`)."""

    is_strict: ClassVar[bool] = True

    pieces: tuple[Piece, ...]
    sizes: tuple[int, ...]

    @property
    def paths(self) -> list[str]:
        return [path for path, _, _ in self.pieces]

    @property
    def bytes(self) -> int:
        return sum(end - begin for _, begin, end in self.pieces)

    def pieces_of(self, paths: list[str]) -> list[Piece]:
        """The pieces. Raises WvError for a file that is not here, or another one than where they were cut."""
        for path, size in zip(self.paths, self.sizes, strict=True):
            require_size(path, size)
        return list(self.pieces)


def shards(paths: list[str], most: int, *, whole_lines: bool = False) -> list[Shard]:
    """The inputs, one after the other, in shards of equal size and of at most about `most` bytes; a compressed file is
    in one. Shards without text are left out. Raises WvError for what is no file of a known size."""
    sizes = [size_of(path) for path in paths]
    total = sum(sizes)
    count = -(-total // most)
    found: list[list[tuple[Piece, int]]] = [[] for _ in range(count)]
    start = 0
    for path, size in zip(map(whole_name, paths), sizes, strict=True):
        # Shard i begins at byte total * i // count: the last one that begins at b or before has it.
        begins, ends = (((byte + 1) * count - 1) // total if size else 0 for byte in (start, start + size - 1))
        for index in range(begins, ends + 1) if size else ():
            first, last = (total * each // count - start for each in (index, index + 1))
            begin, end = _piece(path, size, first, last, whole_lines)
            if begin < end:
                found[index].append(((path, begin, end), size))
        start += size
    return [Shard(*map(tuple, zip(*each, strict=True))) for each in found if each]


def _piece(path: str, size: int, first: int, last: int, whole_lines: bool) -> tuple[int, int]:
    """The bytes of a file that a part has which begins at `first` and ends before `last`, counted from the file's
    begin; perhaps none."""
    kind = record_kind(path)
    if is_packed(path) or (kind is not None and not RECORDS[kind].divisible):
        return (0, size) if first <= size // 2 < last else (0, 0)
    whole_lines = whole_lines or kind is not None
    return find_cut(path, first, size, whole_lines), find_cut(path, last, size, whole_lines)


def require_size(path: str, size: int) -> None:
    """Raises WvError unless this process sees a file of `size` bytes there."""
    found = size_of(path)
    if found != size:
        message = f"{path}: {found:,} bytes here, {size:,} where the work was divided; all must see the same files"
        raise WvError(message)
