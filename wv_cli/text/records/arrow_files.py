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
from wv_cli.text.records.tables import Batch, TableBlock, TableReader

_ROWS = 4096  # of a batch: some megabytes of text
_FILE = b"ARROW1"
_FIRST_MESSAGE = 8  # byte of a file where a stream begins
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
        with self._open_place("Arrow") as place, ExitStack() as stack:
            with foreign(self._name, "expected an Arrow IPC file or stream"):
                source = arrow.OSFile(place) if isinstance(place, str) else arrow.PythonFile(place, "r")
                stack.enter_context(source)
                is_file = source.read(len(_FILE)) == _FILE
                source.seek(_FIRST_MESSAGE if is_file else 0)
                codec = _first_codec(arrow.ipc.MessageReader.open_stream(source))
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


def _first_codec(messages: Any) -> str | None:
    """The codec of the first batch of rows, as its message has it (Arrow's Message.fbs): pyarrow does not tell it."""
    for message in messages:
        if message.type == "record batch":
            return _codec_of(message.metadata.to_pybytes())
    return None


def _codec_of(data: bytes) -> str | None:
    """RecordBatch.compression.codec of a message, a table inside a union inside a table of FlatBuffers."""

    def field(table: int, number: int) -> int:
        """The place of a field's value, 0 where it is left out."""
        fields = table - struct.unpack_from("<i", data, table)[0]
        entry = 4 + 2 * number
        size, *_ = struct.unpack_from("<H", data, fields)
        offset = struct.unpack_from("<H", data, fields + entry)[0] if entry < size else 0
        return table + offset if offset else 0

    def follow(place: int) -> int:
        return place + int(struct.unpack_from("<I", data, place)[0])

    batch = follow(field(follow(0), 2))
    compression = field(batch, 3)
    if not compression:
        return None
    codec = field(follow(compression), 0)
    return _CODECS[data[codec] if codec else 0]


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
