"""Spans of large files of records, which several processes read."""

from itertools import pairwise
from typing import NamedTuple

from wv_cli.text.cuts import find_cut, is_packed, size_of


class Span(NamedTuple):
    """The records from `begin` up to `end`, counted in bytes of the file, or in row groups of a table. `size` is in
    bytes."""

    begin: int
    end: int
    size: int


def cut_lines(path: str, count: int) -> list[Span]:
    """Up to `count` spans of whole lines, of about as many bytes; none of a compressed file. Raises WvError."""
    if is_packed(path):
        return []
    size = size_of(path)
    cuts = sorted({find_cut(path, size * number // count, size, whole_lines=True) for number in range(count + 1)})
    return [Span(begin, end, end - begin) for begin, end in pairwise(cuts)]
