"""What a check looks for in every row, whatever the format: words met twice, bad UTF-8, zero vectors."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import show_bytes
from wv_cli.vectors.formats.escape import unwritable_part
from wv_cli.vectors.formats.report import Report


class RowAudit:
    """Fed with the good rows in order. `unit` is the keyword of Report.add that positions are given in: "line" or
    "byte"."""

    def __init__(self, report: Report, unit: str) -> None:
        self._report = report
        self._unit = unit
        self._first_position: dict[bytes, int] = {}

    def add(
        self,
        packed: bytes,
        lengths: NDArray[np.int64],
        vectors: NDArray[np.float32],
        position: Callable[[int], int],
    ) -> None:
        """Rows with their words end to end in `packed`; `position(i)` is where row i begins in the file."""
        first_position, ascii_only = self._first_position, packed.isascii()
        plain = not unwritable_part(packed)
        end = 0
        for i, length in enumerate(lengths.tolist()):
            word = packed[end : end + length]
            end += length
            earlier = first_position.setdefault(word, here := position(i))
            if earlier != here:
                self._add(
                    "duplicate word", f"the word {show_bytes(word)} stands at {self._unit} {earlier} already", here
                )
            if not ascii_only:
                self._check_utf8(word, here)
            if not plain:
                self._check_writable(word, here)
        for i in np.flatnonzero(~vectors.any(axis=1)).tolist():
            self._add("zero vector", "all numbers of this row are 0", position(i), note=True)

    def _check_utf8(self, word: bytes, here: int) -> None:
        try:
            word.decode()
        except UnicodeDecodeError as error:
            text = f"the word {show_bytes(word)} is not UTF-8: byte {error.start + 1} is 0x{word[error.start]:02x}"
            self._add("bad UTF-8", text, here)

    def _check_writable(self, word: bytes, here: int) -> None:
        what = unwritable_part(word)
        if what:
            self._add(
                "unusual word", f"the word {show_bytes(word)} holds {what}: few programs can read it", here, note=True
            )

    def _add(self, kind: str, text: str, here: int, note: bool = False) -> None:
        if self._unit == "line":
            self._report.add(kind, text, line=here, note=note)
        else:
            self._report.add(kind, text, byte=here, note=note)
