"""Pairs of texts, and hard negatives, from fields of records (wv_cli/text/records).

Each field is read by a reader of its own, one record at a time. A record that cannot be read is an error: its other
fields would belong to another pair.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from wv_cli.errors import BadFile
from wv_cli.io.compression import CHUNK, decompress
from wv_cli.io.events import OnProgress, unheard
from wv_cli.text.input_files import expand_inputs, total_size
from wv_cli.text.raw_files import blocks, name_of_input, open_raw
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import RECORDS, record_kind, require_tsv
from wv_cli.text.records.opening import read_records, require_records
from wv_cli.text.records.reading import Rules

if TYPE_CHECKING:
    from wv_cli.text.records.reading import Block

FIELDS = ("anchor", "positive")
AT_ONCE = 4096  # pairs


@dataclass(frozen=True)
class PairFiles:
    """Files of pairs. `fields` are the names of the columns: the anchor, its positive, then hard negatives; none:
    FIELDS, or with `no_header` all columns, whose names are then their numbers. `tsv_quotes` is that of records."""

    inputs: Sequence[str]
    fields: Sequence[str] = ()
    no_header: bool = False
    tsv_quotes: bool = False

    def batches(
        self, progress: OnProgress | None = None, counts: list[int] | None = None
    ) -> Iterator[list[tuple[bytes, ...]]]:
        """The texts of some pairs at a time, all pairs with as many. `counts` gains the number of pairs of each
        file that has been read. Raises WvError, BadFile, UsageError."""
        paths = expand_inputs(self.inputs)
        if self.tsv_quotes:
            require_tsv(paths)
        total, done = total_size(paths), 0
        width = None
        for path in paths:
            name, fields = name_of_input(path), self.fields or self._all_fields(path)
            if width is not None and len(fields) != width:
                raise BadFile(name, f"expected {width} columns as in {paths[0]}, found {len(fields)}")
            width = len(fields)
            sizes: list[int] = []
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
        with open_raw(path) as raw:
            chunks = decompress(blocks(raw, name, CHUNK), name)
            yield from read_records(_kind(path), name, path, chunks, self._rules(field))

    def _rules(self, field: str) -> Rules:
        reading = ReadingConfig(field=field, no_header=self.no_header, tsv_quotes=self.tsv_quotes)
        # Records that cannot be read are errors here, so there is nothing to tell.
        return Rules(reading, False, unheard, strict=True, step="name them with --fields, or give --no-header")

    def _all_fields(self, path: str) -> Sequence[str]:
        if not self.no_header:
            return FIELDS
        name, kind = name_of_input(path), _kind(path)
        if kind not in ("csv", "tsv"):
            raise BadFile(name, f"--no-header is about CSV and TSV, and this is {kind}; leave it out")
        with open_raw(path) as raw:
            chunks = decompress(blocks(raw, name, CHUNK), name)
            head = next(chunks, b"")
            require_records(kind, name, head)
            reader: Any = RECORDS[kind].load()
            found = reader(name, path, chain([head], chunks), self._rules("1")).columns()
        if len(found) < len(FIELDS):
            raise BadFile(name, "expected an anchor and a positive, found one column", line=1)
        return [str(number) for number in range(1, len(found) + 1)]


def _kind(path: str) -> str:
    """The kind of records; of standard input JSON lines. Raises BadFile for other files."""
    kind = record_kind(path) or ("jsonl" if path == "-" else None)
    if kind is None:
        endings = ", ".join(kind.endings[0] for kind in RECORDS.values())
        raise BadFile(
            path, f"expected pairs of texts in a file named {endings} (or these and .gz), found another ending"
        )
    return kind


def _texts(found: "Iterator[Block]", sizes: list[int] | None) -> Iterator[bytes]:
    def each(block: "Block") -> Sequence[bytes]:
        if sizes is not None:
            sizes.append(block.size)
        return block.each

    return chain.from_iterable(map(each, found))


class Numbering:
    """A number for every different text, and a digest of all texts in their order."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._all = hashlib.blake2b(digest_size=16)

    def number_texts(self, texts: Sequence[bytes]) -> list[int]:
        numbers = self._numbers
        digests = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
        self._all.update(b"".join(digests))
        return [numbers.setdefault(each, len(numbers)) for each in digests]

    @property
    def digest(self) -> str:
        return self._all.hexdigest()
