"""How Parquet is written: with the schema, codecs, row groups and other habits of the file that its rows are from."""

import base64
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from wv_cli.errors import BadFile
from wv_cli.io.extra import require
from wv_cli.io.interrupts import defer_signals

_UNPACKED = {"UNCOMPRESSED": "NONE"}  # as a writer calls it
_CHUNKING = b"content_defined_chunking"  # the key by which Hugging Face's files tell it
_SPARK = b"org.apache.spark"
_SPARK_COLUMNS = b"org.apache.spark.sql.parquet.row.metadata"  # that Spark sees: no others
_SPARK_TYPES = {"string": "string", "double": "double", "float": "float", "int64": "long"}
_ARROW = b"ARROW:schema"  # the key of the types that Arrow's writers had


class Form(NamedTuple):
    """Of the file `name`: the codec of each column, whether it has times in INT96 and a page index, the types of its
    columns that pyarrow would write as other ones, and the Arrow schema that its writer saved, serialized."""

    name: str
    codecs: Mapping[str, str]
    int96: bool = False
    page_index: bool = False
    lost: Sequence[str] = ()
    saved_schema: bytes = b""

    def require_types(self) -> None:
        """Raises BadFile when rows of the file cannot be written again as they are."""
        if self.lost:
            types = " and ".join(self.lost)
            problem = f"has columns of type {types}, which would be written as bytes; cast them to text first"
            raise BadFile(self.name, problem)


class Rows(NamedTuple):
    """What ParquetSink.write takes: a pyarrow table, the number of its row group, and how the file is written."""

    table: Any
    group: int
    form: Any  # a Form, or what another format has instead


def spark_times(metadata: Any) -> bool:
    """Whether a file has times in INT96 by Spark, in microseconds: as nanoseconds, 64 bits would end in 2262."""
    return _int96(metadata) and any(key.startswith(_SPARK) for key in metadata.metadata or {})


def _int96(metadata: Any) -> bool:
    return any(metadata.schema.column(i).physical_type == "INT96" for i in range(metadata.num_columns))


def form_of(name: str, file: Any) -> Form:
    """The form of a pyarrow ParquetFile."""
    metadata, schema = file.metadata, str(file.schema)
    lost = [kind.upper() for kind in ("Interval", "Variant") if re.search(rf" \({kind}(?:\(\d+\))?\)[ ;]", schema)]
    group = metadata.row_group(0) if metadata.num_row_groups else None
    columns = [group.column(i) for i in range(group.num_columns)] if group is not None else []
    codecs = {column.path_in_schema: column.compression for column in columns}
    saved = (metadata.metadata or {}).get(_ARROW, b"")
    return Form(name, codecs, _int96(metadata), any(column.has_offset_index for column in columns), lost, saved)


class _Output:
    """`file` as pyarrow sees it, open inside of `with`. A writer of pyarrow that is freed writes the end of its file,
    which would make a whole file of one that was given up, or print a traceback."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._is_open = file, False

    def __enter__(self) -> None:
        self._is_open = True

    def __exit__(self, *_: object) -> None:
        self._is_open = False

    def write(self, data: bytes) -> int:
        return self._file.write(data) if self._is_open else len(data)


class ParquetSink:
    """Writes rows to `file`; those of a row group together."""

    def __init__(self, file: BinaryIO) -> None:
        self._output = _Output(file)
        self._held: list[Rows] = []
        self._writer: Any = None

    def write(self, rows: Rows) -> None:
        if self._held and self._held[0].group != rows.group:
            self._flush()
        self._held.append(rows)

    def close(self) -> None:
        self._flush()
        if self._writer is not None:
            with self._output:
                self._writer.close()
        self.discard()

    def discard(self) -> None:
        """Frees the writer. What a signal raises while pyarrow's finalizer runs would be lost with the signal."""
        with defer_signals():
            self._writer = None

    def _flush(self) -> None:
        if not self._held:
            return
        arrow = require("pyarrow", "Parquet")
        table = arrow.concat_tables([rows.table for rows in self._held])
        with self._output:
            if self._writer is None:
                self._writer = self._open_writer(table.schema, self._held[0].form)
            if table.num_rows:  # Spark 3.3 refuses row groups without rows
                self._write_group(table)
        self._held = []

    def _write_group(self, table: Any) -> None:
        self._writer.write_table(table, row_group_size=table.num_rows)

    def _open_writer(self, schema: Any, form: Any) -> Any:
        usual = next(iter(form.codecs.values()), "SNAPPY")
        codecs = dict.fromkeys(schema.names, usual) | dict(form.codecs)
        parquet = require("pyarrow.parquet", "Parquet")
        saves = hasattr(parquet.ParquetWriter, "add_key_value_metadata")  # not before pyarrow 17
        writer = parquet.ParquetWriter(
            self._output,
            schema,
            compression={name: _UNPACKED.get(codec, codec) for name, codec in codecs.items()},
            use_deprecated_int96_timestamps=form.int96,
            write_page_index=form.page_index,
            use_compliant_nested_type=False,  # elements of lists keep their name
            store_schema=not saves,
            **_chunking_options(schema.metadata or {}),
        )
        if saves:
            writer.add_key_value_metadata((schema.metadata or {}) | _saved_schema(schema, form))
        return writer


def _saved_schema(schema: Any, form: Form) -> dict[bytes, bytes]:
    """The Arrow schema that the file's writer saved, with the columns that are added. pyarrow reads some types as other
    ones, such as times of INT96 without their zone; with a schema of these, readers would find other types."""
    arrow = require("pyarrow", "Parquet")
    if not form.saved_schema:
        is_fixed = any(map(arrow.types.is_fixed_size_list, schema.types))  # which Parquet alone cannot say
        return {_ARROW: base64.b64encode(schema.serialize())} if is_fixed else {}
    try:
        before = arrow.ipc.read_schema(arrow.py_buffer(base64.b64decode(form.saved_schema)))
    except (ValueError, OSError):  # which pyarrow has read over
        return {}
    if before.names != schema.names[: len(before)]:
        return {}
    fields = [*before, *list(schema)[len(before) :]]
    return {_ARROW: base64.b64encode(arrow.schema(fields, schema.metadata).serialize())}


def with_spark_columns(schema: Any, added: Sequence[str]) -> dict[bytes, bytes]:
    """The metadata of a schema where Spark's list of columns, if there is one, has the added ones, too."""
    metadata = dict(schema.metadata or {})
    try:
        columns = json.loads(metadata.get(_SPARK_COLUMNS, b"{}"))
        columns["fields"] += [
            {"name": name, "type": _spark_type(schema.field(name).type), "nullable": True, "metadata": {}}
            for name in added
        ]
    except (ValueError, LookupError, TypeError):
        metadata.pop(_SPARK_COLUMNS, None)
        return metadata
    return metadata | {_SPARK_COLUMNS: json.dumps(columns, separators=(",", ":")).encode()}


def _spark_type(kind: Any) -> Any:
    if (name := str(kind)) in _SPARK_TYPES:
        return _SPARK_TYPES[name]
    return {"type": "array", "elementType": _SPARK_TYPES[str(kind.value_type)], "containsNull": True}


def _chunking_options(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Cuts pages by their content, so that a store of blocks has equal rows once, where the file says that it did, in
    words that pyarrow takes."""
    if _CHUNKING not in metadata:
        return {}
    arrow, parquet = require("pyarrow", "Parquet"), require("pyarrow.parquet", "Parquet")
    try:
        options = {"use_content_defined_chunking": dict(json.loads(metadata[_CHUNKING]))}
        parquet.write_table(arrow.table({"trial": [0]}), io.BytesIO(), **options)
    except (ValueError, TypeError, OverflowError, OSError, RecursionError):
        return {}
    return options
