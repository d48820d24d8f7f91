"""The table of record formats, and which of them a file has by its name."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wv_cli.errors import UsageError
from wv_cli.io.compression import inner_name
from wv_cli.registry import Registry, load

if TYPE_CHECKING:
    from wv_cli.text.records.spans import Span


class RecordKind(NamedTuple):
    """Files whose names have one of the `endings`, in front of a compression's; messages call them `what`. `reader` is
    what reads them, as "module:attribute" of a records.reading.Reader, and `sink` of the Sink that writes them, ""
    where it writes their bytes as they are. A `divisible` file can be read from any line on. A `table` is whole when
    its end is written, and one output holds one of them. `cutter` cuts a large file into the spans of records.spans.
    Records of some kinds are `written` again as another one."""

    what: str
    endings: tuple[str, ...]
    reader: str
    sink: str = ""
    divisible: bool = False
    table: bool = False
    cutter: str = ""
    written: str = ""

    def load(self) -> Any:
        """The reader."""
        return load(self.reader)

    def cut(self, path: str, count: int) -> "list[Span]":
        """Up to `count` spans of the file at `path`, in order; none where it is read as a whole."""
        return load(self.cutter)(path, count) if self.cutter else []


RECORDS: Registry[RecordKind] = Registry(
    "record format",
    [
        (
            "jsonl",
            RecordKind(
                "JSON lines",
                (".jsonl", ".ndjson", ".json"),
                "wv_cli.text.records.scanned:JsonReader",
                divisible=True,
                cutter="wv_cli.text.records.spans:cut_lines",
            ),
        ),
        ("csv", RecordKind("CSV", (".csv",), "wv_cli.text.records.delimited:CsvReader")),
        ("tsv", RecordKind("TSV", (".tsv",), "wv_cli.text.records.delimited:TsvReader")),
        (
            "parquet",
            RecordKind(
                "Parquet",
                (".parquet",),
                "wv_cli.text.records.parquet:ParquetReader",
                "wv_cli.text.records.parquet_writing:ParquetSink",
                table=True,
                cutter="wv_cli.text.records.parquet:cut_row_groups",
            ),
        ),
        (
            "arrow",
            RecordKind(
                "Arrow",
                (".arrow", ".arrows", ".feather"),
                "wv_cli.text.records.arrow_files:ArrowReader",
                "wv_cli.text.records.arrow_files:ArrowSink",
                table=True,
            ),
        ),
        ("warc", RecordKind("WARC", (".warc", ".wet"), "wv_cli.text.records.warc:WarcReader", written="jsonl")),
    ],
)


def record_kind(path: str) -> str | None:
    """The key in RECORDS of a file with this name, None for other files."""
    ending = Path(inner_name(path)).suffix.lower()
    return next((name for name, kind in RECORDS.items() if ending in kind.endings), None)


def written_kind(kind: str) -> str:
    """The key in RECORDS of what records of this kind are written as."""
    return RECORDS[kind].written or kind


def written_name(name: str) -> str:
    """The name of a file that gets records of the file of this name: with another ending where they are written as
    another kind."""
    kind, inner = record_kind(name), inner_name(name)
    written = RECORDS[kind].written if kind is not None else ""
    return f"{inner}.{written}{name[len(inner) :]}" if written else name


def require_tsv(paths: Iterable[str]) -> None:
    """Raises UsageError for --tsv-quotes where no file is TSV."""
    if not any(record_kind(path) == "tsv" for path in paths):
        raise UsageError("--tsv-quotes has no effect, since no input is called .tsv; leave it out")
