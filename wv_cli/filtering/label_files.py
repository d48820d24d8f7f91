"""What stays of one shard, in a file for each label: OUT/LABEL/NAME (--split).

However many labels there are, two of these files are open at most. Records wait in memory until a point is saved, which
is after 64 MB of a shard, and are then added to the part file of their label. A Parquet or Arrow file cannot be
added to: its rows wait in one file in Arrow's format until the shard ends, and are then written label by label.

All part files stand in OUT itself. The folder of a label is made when its first file is whole.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wv_cli.errors import WvError
from wv_cli.filtering.part_files import PartFile, Saved
from wv_cli.io.extra import require
from wv_cli.io.json_text import to_unicode
from wv_cli.text.records.kinds import RECORDS
from wv_cli.text.records.labels import label_text
from wv_cli.text.records.parquet_writing import Rows
from wv_cli.text.records.scanned import Written
from wv_cli.text.records.writing import open_sink

NONE = "null"  # the folder of records without a label
MOST = 10_000  # labels of a run
_LONGEST = 120  # bytes of a folder's name
_UNSAFE = re.compile(r'^[._]|[\x00-\x1f\x7f/\\%:*?"<>|]')


def label_folder(label: Any) -> str:
    """The name of a label's folder: the text that training makes of it, but for characters that a folder's name cannot
    have, or that make programs leave it out. These are written as %2F. Other values are no labels."""
    try:
        text = to_unicode(label_text(label) or "")
    except TypeError:
        text = ""
    if not text:
        return NONE
    name = f"%{ord(text[0]):02X}{text[1:]}" if text == NONE else _UNSAFE.sub(lambda it: f"%{ord(it[0]):02X}", text)
    if len(data := name.encode()) > _LONGEST:
        name = f"{data[:_LONGEST].decode(errors='ignore')}-{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
    return name


def require_few(labels: Mapping[str, int], split: str | None) -> None:
    """Raises WvError for a field that has about as many values as there are records."""
    if len(labels) > MOST:
        such = ", ".join([*labels][:3])
        raise WvError(
            f"--split {split}: found more than {MOST:,} labels, such as {such}; name a field with fewer values"
        )


class LabelFiles:
    """The files `folder`/LABEL/`name` of one shard, with part files `beside`; those that were `saved` go on."""

    def __init__(self, name: str, beside: Path, saved: Mapping[str, Saved]) -> None:
        self._folder, self._name, self._beside = beside.parent, name, beside
        self._saved, self._kept = {**saved}, {each.part for each in saved.values()}
        self._held: dict[str, list[Any]] = {}

    def write(self, label: str, written: Any) -> None:
        """Records of a label; "": no records, but what stands before those of all labels."""
        raise NotImplementedError

    def flush(self) -> None:
        """Writes what is held."""
        raise NotImplementedError

    def save(self) -> dict[str, Saved]:
        """Brings all that was written to the disk. Returns the part file of each output."""
        self.flush()
        self._kept = {each.part for each in self._saved.values()}
        return dict(sorted(self._saved.items()))

    def finish(self) -> dict[str, Saved]:
        """The shard is whole."""
        return self.save()

    def discard(self) -> None:
        """Removes what no point names."""
        for each in self._saved.values():
            if each.part not in self._kept:
                Path(each.part).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _open_part(self, label: str) -> Iterator[PartFile]:
        """The part file of a label, which goes on where there is one. It is closed, and what was written is saved."""
        output = os.path.realpath(self._folder / label / self._name)
        file = PartFile(Path(output), self._saved.get(output), self._beside)
        try:
            yield file
            self._saved[output] = file.save()
        finally:
            file.close()


class LabeledLines(LabelFiles):
    """JSON lines, CSV and TSV."""

    _header = b""

    def write(self, label: str, written: Written) -> None:
        self._header = self._header or written.header
        if label:
            self._held.setdefault(label, []).append(written.records)

    def flush(self) -> None:
        for label in sorted(self._held):
            with self._open_part(label) as file:
                header = self._header if not file.resumed else b""
                file.write(b"".join([header, *self._held.pop(label)]))


class LabeledTables(LabelFiles):
    """Parquet and Arrow, of the kind `kind`. What is flushed at once is a row group or batch of its label."""

    def __init__(self, kind: str, name: str, beside: Path) -> None:
        super().__init__(name, beside, {})
        self._kind, self._form = kind, None
        self._spool: PartFile | None = None
        self._groups: list[tuple[str, int]] = []  # label and rows

    def write(self, label: str, written: Rows) -> None:
        self._form = written.form
        if label:
            self._held.setdefault(label, []).append(written.table)

    def flush(self) -> None:
        from wv_cli.text.records.arrow_files import ArrowForm, ArrowSink

        if self._held and self._spool is None:
            self._spool = PartFile(self._beside)
            self._sink = ArrowSink(self._spool)  # type: ignore[arg-type]
        for label in sorted(self._held):
            table = require("pyarrow", "Arrow").concat_tables(self._held.pop(label))
            self._sink.write(Rows(table, len(self._groups), ArrowForm(is_file=False, codec=None)))
            self._groups.append((label, table.num_rows))

    def finish(self) -> dict[str, Saved]:
        self.flush()
        if self._spool is not None:
            self._sink.close()
            self._spool.flush()
            with require("pyarrow", "Arrow").memory_map(str(self._spool.part)) as spool:
                self._write_labels(spool)
            self._remove_spool()
        return self.save()

    def _write_labels(self, spool: Any) -> None:
        """Writes the rows of one label after the other."""
        arrow = require("pyarrow", "Arrow")
        batches, groups = iter(arrow.ipc.open_stream(spool)), dict[str, list[Any]]()
        for label, rows in self._groups:
            found: list[Any] = []
            while sum(batch.num_rows for batch in found) < rows:
                found.append(next(batches))
            groups.setdefault(label, []).append(arrow.Table.from_batches(found))
        for label in sorted(groups):
            with self._open_part(label) as file:
                sink = open_sink(self._kind, file)  # type: ignore[arg-type]
                try:
                    for number, table in enumerate(groups[label]):
                        sink.write(Rows(table, number, self._form))
                    sink.close()
                finally:
                    sink.discard()
                file.finish()

    def discard(self) -> None:
        super().discard()
        self._remove_spool()

    def _remove_spool(self) -> None:
        if self._spool is not None:
            self._sink.discard()
            self._spool.close()
            self._spool.part.unlink(missing_ok=True)
            self._spool = None


def open_label_files(kind: str, name: str, beside: Path, saved: Mapping[str, Saved]) -> LabelFiles:
    """The files of a shard that has records of this kind."""
    return LabeledTables(kind, name, beside) if RECORDS[kind].table else LabeledLines(name, beside, saved)
