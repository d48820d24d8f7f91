"""Pairs of texts, and hard negatives, from fields of records (wv_cli/text/records).

TSV has a pair in each line, and a quote is a letter of its text. Of JSON lines, CSV and Parquet each field is read by a
reader of its own, one record at a time. A record that cannot be read is an error: its other fields would belong to
another pair.
"""

import csv
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from wv_cli.errors import BadFile
from wv_cli.system.compression import CHUNK, decompress
from wv_cli.system.events import OnProgress
from wv_cli.system.marks import without_mark
from wv_cli.text.binary import UTF16, binary
from wv_cli.text.input_files import expand_inputs, total_size
from wv_cli.text.raw_files import blocks, name_of_input, open_raw
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import RECORDS, record_kind
from wv_cli.text.records.reading import Rules, shown_fields

if TYPE_CHECKING:
    from wv_cli.text.records.reading import Block

FIELDS = ("anchor", "positive")
AT_ONCE = 4096  # pairs


@dataclass(frozen=True)
class PairFiles:
    """Files of pairs. `fields` are the names of the columns: the anchor, its positive, then hard negatives; none:
    FIELDS, or with `no_header` all columns, whose names are then their numbers."""

    inputs: Sequence[str]
    fields: Sequence[str] = ()
    no_header: bool = False

    def batches(
        self, progress: OnProgress | None = None, counts: list[int] | None = None
    ) -> Iterator[list[tuple[bytes, ...]]]:
        """The texts of some pairs at a time, all pairs with as many. `counts` gains the number of pairs of each
        file that has been read. Raises WvError, BadFile, UsageError."""
        paths = expand_inputs(self.inputs)
        total, done = total_size(paths), 0
        width = None
        for path in paths:
            name, fields = name_of_input(path), self.fields or self._all_fields(path)
            if width is not None and len(fields) != width:
                raise BadFile(name, f"expected {width} columns as in {paths[0]}, found {len(fields)}")
            width = len(fields)
            sizes: list[int] = []
            if _kind(path) == "tsv":
                pairs = self._lines(path, fields, sizes)
            else:
                columns = [_texts(self._blocks(path, field), sizes if field == fields[0] else None) for field in fields]
                pairs = zip(*columns, strict=True)
            count = 0
            while batch := list(islice(pairs, AT_ONCE)):
                count += len(batch)
                yield batch
                if progress is not None:
                    progress(done + sum(sizes), total)
            done += sum(sizes)
            if counts is not None:
                counts.append(count)
        if progress is not None:
            progress(done, done)

    def _blocks(self, path: str, field: str) -> "Iterator[Block]":
        name = name_of_input(path)
        kind = _kind(path)
        rules = Rules(ReadingConfig(field=field, no_header=self.no_header), False, _unheard, strict=True)
        with open_raw(path) as raw:
            yield from RECORDS[kind].load()(name, path, decompress(blocks(raw, name, CHUNK), name), rules)

    def _lines(self, path: str, fields: Sequence[str], sizes: list[int]) -> Iterator[tuple[bytes, ...]]:
        name = name_of_input(path)
        places: list[int] = []
        columns = 0
        with open_raw(path) as raw:
            lines = _split(without_mark(decompress(blocks(raw, name, CHUNK), name)), sizes)
            for number, line in enumerate(lines, 1):
                if number == 1:
                    _require_text(name, line)
                cells = line.removesuffix(b"\r").split(b"\t")
                if number == 1:
                    names = [cell.decode("utf-8", "replace") for cell in cells]
                    columns, places = len(cells), self._places(name, names, fields)
                    if not self.no_header:
                        continue
                if len(cells) != columns:
                    if not line.strip():
                        continue
                    problem = (
                        f"expected {columns} columns, which tabs part, found {len(cells)}; TSV has no quotes, CSV has"
                    )
                    raise BadFile(name, problem, line=number)
                yield tuple([cells[place] for place in places])

    def _places(self, name: str, names: list[str], fields: Sequence[str]) -> list[int]:
        """The columns of the fields. Raises BadFile."""
        found = [str(number) for number in range(1, len(names) + 1)] if self.no_header else names
        for field in fields:
            if field not in found:
                shown = f"columns 1 to {len(found)}" if self.no_header else shown_fields(found)
                way = "name them with --fields" + ("" if self.no_header else ", or give --no-header")
                raise BadFile(name, f"expected the field {field}, found {shown}; {way}", line=1)
        return [found.index(field) for field in fields]

    def _all_fields(self, path: str) -> Sequence[str]:
        if not self.no_header:
            return FIELDS
        name, kind = name_of_input(path), _kind(path)
        if kind not in ("csv", "tsv"):
            raise BadFile(name, f"--no-header is about CSV and TSV, and this is {kind}; leave it out")
        with open_raw(path) as raw:
            head = next(without_mark(decompress(blocks(raw, name, CHUNK), name)), b"")
        _require_text(name, head)
        first = head.partition(b"\n")[0].decode("utf-8", "replace")
        delimiter = "\t" if kind == "tsv" else ";" if ";" in first and "," not in first else ","
        columns = len(next(csv.reader(io.StringIO(first, newline=""), delimiter=delimiter), []))
        if columns < len(FIELDS):
            is_text = first.isprintable() and "\ufffd" not in first
            found = "one column" if is_text else "binary data or another code than UTF-8"
            raise BadFile(name, f"expected an anchor and a positive, found {found}", line=1)
        return [str(number) for number in range(1, columns + 1)]


def _kind(path: str) -> str:
    """The kind of records; of standard input JSON lines. Raises BadFile for other files."""
    kind = record_kind(path) or ("jsonl" if path == "-" else None)
    if kind is None:
        endings = ", ".join(kind.endings[0] for kind in RECORDS.values())
        raise BadFile(
            path, f"expected pairs of texts in a file named {endings} (or these and .gz), found another ending"
        )
    return kind


def _require_text(name: str, head: bytes) -> None:
    """Raises BadFile for a file that begins with what is no text."""
    if (what := binary(head)) is not None:
        raise BadFile(name, what if what == UTF16 else f"expected text, found {what}")


def _split(chunks: Iterator[bytes], sizes: list[int]) -> Iterator[bytes]:
    """The lines of chunks."""
    rest = b""
    for chunk in chunks:
        sizes.append(len(chunk))
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _texts(found: "Iterator[Block]", sizes: list[int] | None) -> Iterator[bytes]:
    def each(block: "Block") -> list[bytes]:
        if sizes is not None:
            sizes.append(block.size)
        return block.each

    return chain.from_iterable(map(each, found))


def _unheard(message: str) -> None:
    """Records that cannot be read are errors here, so there is nothing to tell."""


class Numbering:
    """A number for every different text, and a digest of all texts in their order."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._all = hashlib.blake2b(digest_size=16)

    def of(self, texts: Sequence[bytes]) -> list[int]:
        numbers = self._numbers
        digests = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
        self._all.update(b"".join(digests))
        return [numbers.setdefault(each, len(numbers)) for each in digests]

    @property
    def digest(self) -> str:
        return self._all.hexdigest()
