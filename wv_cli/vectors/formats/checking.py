"""What `wv check` does: a whole file is read, and its damage reported."""

import os

import numpy as np

from wv_cli.errors import BadFile
from wv_cli.io import kinds, meta
from wv_cli.io.input import Input, open_input
from wv_cli.registry import LazyRegistry
from wv_cli.vectors.formats import find_readable, sniff_input
from wv_cli.vectors.formats.audit import RowAudit
from wv_cli.vectors.formats.base import Format
from wv_cli.vectors.formats.beside import find_vectors, mark_of, read_words
from wv_cli.vectors.formats.report import Report

# What check() knows beside vectors, by its first bytes.
_CHECKED: LazyRegistry[Format] = LazyRegistry("file", {"wv search-index ": f"{__package__}.search_index:FORMAT"})


def _checked_only(source: Input) -> Format | None:
    """The format of a file that check alone reads."""
    head = source.peek(kinds.HEAD_BYTES)
    return next((row for first, row in _CHECKED.items() if head.startswith(first.encode())), None)


def check(path: str | os.PathLike[str], *, format: str | None = None, max_problems: int = 100) -> Report:
    """Reads a whole file and reports its damage, at most `max_problems` problems in detail. Raises BadFile when it is
    neither a vector file nor a search index, WvError when it cannot be read."""
    path, chosen = find_vectors(path), find_readable(format)
    with open_input(path) as source:
        row = chosen or _checked_only(source) or sniff_input(source)
        assert row.check is not None
        report = Report(source.name, row.name, max_problems)
        mark = mark_of(row, source)
        try:
            row.check(source, report)
            if not report.is_damaged:
                words = read_words(row, path, report.rows, whole=True, mark=mark)
                if words is not None:
                    nothing_zero = np.ones((len(words), 1), np.float32)
                    audit = RowAudit(report, "line")
                    audit.add(words.blob, np.diff(words.starts), nothing_zero, lambda number: number + 1)
        except BadFile as error:
            report.add_error("unreadable", error)
    if meta.read(path):
        report.note_kind("bad UTF-8")  # wv wrote the file: these are the words of its text
    return report
