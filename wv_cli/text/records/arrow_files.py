"""Arrow's own files, IPC as files (Feather 2) and as streams, which Hugging Face datasets write, through pyarrow.

What is written again is of the same kind, with schema, batches and codec.
"""

import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from wv_cli.io.extra import foreign, require
from wv_cli.text.raw_files import size_of_file
from wv_cli.text.records.parquet_writing import ParquetSink
from wv_cli.text.records.tables import Batch, TableBlock, TableReader, open_table

_ROWS = 4096  # of a batch: some megabytes of text
_FILE = b"ARROW1"
_CODECS = ("lz4", "zstd")


class ArrowForm(NamedTuple):
    """Whether a file is one or a stream, and the codec of its batches, None for none."""

    is_file: bool
    codec: str | None

    def require_types(self) -> None:
        """Every type can be written again."""


class ArrowReader(TableReader):
    """Arrow IPC; see records.reading.Reader."""

    def __iter__(self) -> Iterator[TableBlock]:
        arrow = require("pyarrow", "reading Arrow")
        with open_table(self._path, self._name, "Arrow") as place, ExitStack() as stack:
            with foreign(self._name, "expected an Arrow IPC file or stream"):
                source = place if isinstance(place, arrow.NativeFile) else arrow.PythonFile(place, "r")
                stack.enter_context(source)
                is_file = source.read(len(_FILE)) == _FILE
                codec = _first_codec(source, is_file=is_file)
                source.seek(0)
                reader = arrow.ipc.open_file(source) if is_file else arrow.ipc.open_stream(source)
            batches = self._file_batches(reader) if is_file else self._stream_batches(reader, source)
            yield from self._blocks(reader.schema, ArrowForm(is_file, codec), batches)

    def _file_batches(self, reader: Any) -> Iterator[Batch]:
        size = (size_of_file(self._path) or 0) / max(1, reader.num_record_batches)
        for number in range(reader.num_record_batches):
            with foreign(self._name, f"expected the rows of batch {number}"):
                yield from _slices(number, reader.get_batch(number), size)

    def _stream_batches(self, reader: Any, source: Any) -> Iterator[Batch]:
        number, place = 0, source.tell()
        while True:
            with foreign(self._name, f"expected the rows of batch {number}"):
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    return
                place, before = source.tell(), place
                yield from _slices(number, batch, place - before)
            number += 1


def _slices(number: int, batch: Any, size: float) -> Iterator[Batch]:
    for start in range(0, batch.num_rows, _ROWS):
        yield number, batch.slice(start, _ROWS), size / batch.num_rows


def _first_codec(source: Any, *, is_file: bool) -> str | None:
    """The codec of the first batch of rows, which pyarrow does not tell. A file has the places of batches at its end,
    and polars begins one with bytes that are no message."""
    ipc = require("pyarrow", "Arrow").ipc
    if is_file:
        source.seek(source.size() - len(_FILE) - 4)
        length = int(struct.unpack("<i", source.read(4))[0])
        source.seek(source.size() - len(_FILE) - 4 - length)
        footer = _FlatBuffer(source.read(length))
        batches = footer.follow(footer.field(footer.follow(0), 3))
        if not footer.number("<I", batches):
            return None
        source.seek(footer.number("<q", batches + 4))
        return _codec_of(ipc.read_message(source))
    source.seek(0)
    messages = iter(ipc.MessageReader.open_stream(source))
    first = next((message for message in messages if message.type == "record batch"), None)
    return None if first is None else _codec_of(first)


def _codec_of(message: Any) -> str | None:
    """RecordBatch.compression.codec of a message: a field of a table in a table in a union (Arrow's Message.fbs)."""
    data = _FlatBuffer(message.metadata.to_pybytes())
    compression = data.field(data.follow(data.field(data.follow(0), 2)), 3)
    if not compression:
        return None
    codec = data.field(data.follow(compression), 0)
    return _CODECS[data.number("<b", codec) if codec else 0]


class _FlatBuffer:
    """Bytes of FlatBuffers, by places in them."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def number(self, form: str, place: int) -> int:
        return int(struct.unpack_from(form, self._data, place)[0])

    def follow(self, place: int) -> int:
        """The place of the table or vector that stands there."""
        return place + self.number("<I", place)

    def field(self, table: int, number: int) -> int:
        """The place of the value of a field, 0 where it is left out."""
        fields, entry = table - self.number("<i", table), 4 + 2 * number
        offset = self.number("<H", fields + entry) if entry < self.number("<H", fields) else 0
        return table + offset if offset else 0


class ArrowSink(ParquetSink):
    """Writes rows to a file; those of a batch together."""

    def _open_writer(self, schema: Any, form: Any) -> Any:
        arrow = require("pyarrow", "Arrow")
        new = arrow.ipc.new_file if form.is_file else arrow.ipc.new_stream
        return new(self._output, schema, options=arrow.ipc.IpcWriteOptions(compression=form.codec))

    def _write_group(self, table: Any) -> None:
        with suppress(require("pyarrow", "Arrow").ArrowNotImplementedError):  # then the batch becomes several
            table = table.combine_chunks()
        self._writer.write_table(table, max_chunksize=table.num_rows)
