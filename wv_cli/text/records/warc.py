"""Texts of web archives: WET files of Common Crawl, through the package warcio.

Each conversion record becomes a line of JSON, with the fields text, id, url, date and language as its headers say them,
and is read as one. So it is written again as JSON lines, too: NAME.warc.wet.gz becomes NAME.warc.wet.jsonl.gz. Bytes
that are no UTF-8 become U+FFFD. A record of HTML (response) has no text yet, and is refused.
"""

import io
import logging
from collections.abc import Iterator
from typing import Any

from wv_cli.errors import BadFile
from wv_cli.io.compression import join_pieces
from wv_cli.io.extra import foreign, require
from wv_cli.io.json_text import to_json
from wv_cli.text.records.reading import Rules
from wv_cli.text.records.scanned import JsonReader

_FIELDS = {
    "id": "WARC-Record-ID",
    "url": "WARC-Target-URI",
    "date": "WARC-Date",
    "language": "WARC-Identified-Content-Language",
}
_PAGES = ("response", "resource", "revisit")
_EXTRACT = "extract the texts first, such as with trafilatura, or take the crawl's .warc.wet.gz files"
_CUT = "the file is damaged or incomplete: get it again"
_PROBLEM = "expected WARC records"


class WarcReader(JsonReader):
    """WET; see records.reading.Reader."""

    def __init__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> None:
        super().__init__(name, path, join_pieces(_lines(name, chunks)), rules)


def _lines(name: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """A line of JSON for each conversion record. Raises BadFile."""
    open_archive = require("warcio", "reading WARC").ArchiveIterator
    with foreign(name, _PROBLEM):
        archive = open_archive(io.BufferedReader(_Raw(chunks)), no_record_parse=True)
        archive.INC_RECORD = ""  # which it prints before it raises
        logging.getLogger("warcio").setLevel(logging.CRITICAL)  # it tells which addresses it repairs
        records = iter(archive)
    number = 0
    while True:
        with foreign(name, _PROBLEM):
            if (record := next(records, None)) is None:
                return
            data, number = record.raw_stream.read(), number + 1
        if len(data) != record.length:
            expected = f"{record.length:,} bytes" if record.length is not None else "a Content-Length"
            raise BadFile(name, f"record {number:,}: expected {expected}, found {len(data):,} bytes; {_CUT}")
        if record.rec_type in _PAGES:
            raise BadFile(name, f"record {number:,}: expected text (WET), found a {record.rec_type} (WARC); {_EXTRACT}")
        if record.rec_type == "conversion":
            yield _line(record.rec_headers, data)


def _line(headers: Any, text: bytes) -> bytes:
    values = {name: headers.get_header(header) for name, header in _FIELDS.items()}
    fields = {name: value for name, value in values.items() if value is not None}
    return f"{to_json({'text': text.decode('utf-8', 'replace'), **fields}, escape=False)}\n".encode("utf-8", "replace")


class _Raw(io.RawIOBase):
    """Chunks as a file that is read once."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks, self._left = chunks, b""

    def readable(self) -> bool:
        return True

    def readinto(self, view: Any) -> int:
        self._left = self._left or next(self._chunks, b"")
        count = min(len(view), len(self._left))
        view[:count], self._left = self._left[:count], self._left[count:]
        return count
