"""How far a filter run is: a bar on a terminal, and in a log a line every minute."""

import time
from collections.abc import Callable

from wv_cli.io.events import Log, OnProgress
from wv_cli.text.record_files import RecordFiles

SECONDS = 60.0  # between two lines


class Progress:
    """Is told of records that are judged, and tells `on_reading` and `log` of them and of the bytes that `source` has
    read. Those that an earlier run has judged are in source.consumed."""

    def __init__(self, source: RecordFiles, log: Log, on_reading: OnProgress | None = None) -> None:
        self._source, self._log, self._on_reading = source, log, on_reading
        self._records = self._kept = 0
        self._told = time.monotonic()

    def add(self, records: int, kept: int) -> None:
        """So many more are judged, and so many of them stay."""
        self._records += records
        self._kept += kept
        done, total = self._source.consumed, self._source.total
        if self._on_reading is not None:
            self._on_reading(done, total)
        if time.monotonic() - self._told < SECONDS:
            return
        self._told = time.monotonic()
        share = f" of {total / 1e6:,.0f} MB ({done / total:.0%})" if total else ""
        message = f"judged {self._records:,} records, kept {self._kept:,}; read {done / 1e6:,.0f} MB{share}"
        self._log(message, records=self._records, kept=self._kept, read_bytes=done, total_bytes=total)


OnJudged = Callable[[int, int], None]  # Progress.add
