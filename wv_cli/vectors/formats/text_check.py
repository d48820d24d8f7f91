"""Checks text rows: goes on after a bad row, with the next line."""

import numpy as np

from wv_cli import _floattext
from wv_cli.io.input import Input
from wv_cli.vectors.formats.audit import RowAudit
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.text_rows import CUT_NUMBER, explain, first_field, last_row_fault, peek_row


class TextCheck:
    """One pass over the rows after the header, which begin at `first_line`; `dim_is_known` as for RowReader."""

    def __init__(self, source: Input, report: Report, dim: int, first_line: int, *, dim_is_known: bool = False) -> None:
        self.source, self.report, self.dim, self._dim_is_known = source, report, dim, dim_is_known
        self.line = first_line
        self.last_word = b""
        self._audit = RowAudit(report, "line")
        self._blank_line = 0
        self._last_is_good = True
        report.dim = dim

    def run(self) -> None:
        first_row = peek_row(self.source)
        for block, size in self.source.line_blocks():
            self._block(block, size)
        fault = last_row_fault(self.source, first_row) if self._last_is_good else None
        if fault == CUT_NUMBER:
            self.report.add("truncated", fault, line=self.line - 1)
        elif fault:
            self.report.add("no line end", fault, line=self.line - 1, note=True)
        if self._blank_line:
            self.report.add("blank line", "blank lines at the end of the file", line=self._blank_line, note=True)

    def _block(self, block: bytearray, size: int) -> None:
        lines = _floattext.count_lines(block, 0, size)
        scratch = np.empty((min(lines, size // (2 * self.dim + 2) + 1), self.dim), np.float32)
        lengths = np.empty(len(scratch), np.int64)
        start = 0
        while start < size:
            rows, consumed, word_bytes, stop = _floattext.read_rows(
                block, start, size, scratch, lengths, False, self._dim_is_known
            )
            if rows:
                self._last_is_good = True
                self._close_blank_lines()
                words = bytes(block[start : start + word_bytes])
                first = self.line
                self._audit.add(words, lengths[:rows], scratch[:rows], lambda i, first=first: first + i)  # type: ignore[misc]
                self.last_word = words[len(words) - int(lengths[rows - 1]) :]
            self.report.rows += rows
            self.line += rows
            start += consumed
            if stop != _floattext.STOP_NONE:
                end = block.index(b"\n", start)
                self._bad_line(bytes(block[start:end]))
                self.line += 1
                start = end + 1

    def _bad_line(self, line: bytes) -> None:
        if not line.strip(b" \t\r"):
            self._blank_line = self._blank_line or self.line
            return
        self._close_blank_lines()
        kind, text = explain(line, self.dim)
        self.report.add(kind, text, line=self.line)
        self.report.rows += 1
        self._last_is_good = False
        self.last_word = first_field(line)

    def _close_blank_lines(self) -> None:
        if self._blank_line:
            self.report.add("blank line", explain(b"", self.dim)[1], line=self._blank_line)
            self._blank_line = 0
