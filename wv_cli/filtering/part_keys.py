"""The keys of the texts of a part, in a file, by which one process finds the duplicates of all parts.

A part writes what each rule of duplicates would ask about the texts that pass all other rules: digests, keys, and for
verified near-duplicates the sets of shingles. With 12 keys a text takes 108 bytes, and four bytes a shingle.
wv_cli.filtering.decisions reads the files of all parts.
"""

import json
import mmap
import os
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError, cannot_read
from wv_cli.filtering.duplicates import Answer, Deduplicator, SavedKeys
from wv_cli.filtering.known_texts import Sets, Stored
from wv_cli.filtering.parts import Part
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.output import open_output
from wv_cli.io.spill import Spool

KIND = "part-keys"
_AGAIN = "write it again with wv filter --keys --part"
_NAME = re.compile(r"part-(\d+)-of-(\d+)\.keys")


class StoredShard(NamedTuple):
    """A shard of a run, which is the file `path` or a slice of it: its number among all shards, and what tells its
    contents from others. Of its `records`, `texts` passed all rules but those of duplicates."""

    number: int
    path: str
    name: str
    size: int
    digest: str
    records: int
    texts: int


def keys_path(folder: Path, part: Part) -> Path:
    return folder / f"part-{part.number}-of-{part.count}.keys"


class KeyWriter:
    """Takes the place of `rules` of duplicates, by which nothing is a duplicate, and keeps the keys of all texts in
    files without a name in `folder` until save()."""

    def __init__(self, folder: Path, rules: Sequence[Deduplicator]) -> None:
        self._beside = str(folder / "keys")
        self._columns: dict[str, Column] = {}
        self.rules = [_Noted(rule, self, number == 0) for number, rule in enumerate(rules)]
        self.texts = 0

    def note(self, rule: str, keys: Any, records: NDArray[np.int64] | None) -> None:
        """The keys of a block of texts; `records` are their numbers, which are noted once."""
        if records is not None:
            self._append("records", records.astype(np.uint32))
            self.texts += len(records)
        if isinstance(keys, Sets):
            before = self._columns["shingles"].length if "shingles" in self._columns else 0
            self._append("ends", keys.starts[1:] + before)
            self._append("shingles", keys.shingles)
            keys = keys.keys
        self._append(rule, keys.view(np.int64))

    def save(
        self, path: Path, identity: Mapping[str, Any], shards: Sequence[StoredShard], rules: Sequence[str]
    ) -> None:
        """Writes the file of the part, whole or not at all. Raises WvError."""
        about = json.dumps({"identity": identity, "shards": shards, "rules": [*rules]}).encode()
        arrays = {name: column.array() for name, column in self._columns.items()}
        order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))  # the larger numbers are aligned
        arrays = {name: arrays[name] for name in order} | {"about": np.frombuffer(about, np.uint8)}
        with open_output(path) as stream:
            container.write(stream, KIND, {}, arrays, aligned=True)

    def _append(self, name: str, array: NDArray[Any]) -> None:
        if name not in self._columns:
            self._columns[name] = Column(self._beside, array.dtype, array.shape[1:])
        self._columns[name].append(array)


class Column:
    """An array that grows in a file without a name."""

    def __init__(self, beside: str, dtype: "np.dtype[Any]", shape: tuple[int, ...] = ()) -> None:
        self._spool, self._dtype, self._shape = Spool(beside, "the keys"), dtype, shape
        self.length = 0
        weakref.finalize(self, self._spool.close)

    def append(self, array: NDArray[Any]) -> None:
        flat = np.ascontiguousarray(array).reshape(-1)
        self._spool.write(flat, self.length)
        self.length += len(flat)

    def array(self) -> NDArray[Any]:
        """What was appended, mapped."""
        whole = mmap.mmap(self._spool.descriptor, 0, access=mmap.ACCESS_READ) if self.length else b""
        return np.frombuffer(whole, self._dtype).reshape(-1, *self._shape)


@dataclass(frozen=True)
class _Noted:
    """A rule of duplicates of which only the keys are noted."""

    rule: Deduplicator
    writer: KeyWriter
    is_first: bool

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def has_evidence(self) -> bool:
        return self.rule.has_evidence

    def keys(self, texts: Sequence[bytes]) -> Any:
        return self.rule.keys(texts)

    def first_seen(self, keys: Any, asked: NDArray[np.int64], shard: int, records: NDArray[np.int64]) -> Answer:
        self.writer.note(self.name, keys, records if self.is_first else None)
        return Answer(np.ones(len(asked), np.bool_), b"")

    def restore(self, saved: SavedKeys) -> None:
        raise AssertionError("keys are not written in pieces")


class StoredKeys:
    """The file of a part. Raises BadFile."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        with open_input(self.path) as source:
            reader = container.Reader(source, KIND, _AGAIN)
            self._arrays = reader.views(checked=True)
            self.offset = reader.offset("shingles") if "shingles" in reader.layout else 0
        try:
            self._file = path.open("rb")  # open as long as the keys are used
        except OSError as error:
            raise cannot_read(path, error) from error
        weakref.finalize(self, self._file.close)
        try:
            about = json.loads(self._arrays["about"].tobytes())
            self.identity: dict[str, Any] = about["identity"]
            self.rules = [str(name) for name in about["rules"]]
            self.shards = [read_shard(each) for each in about["shards"]]
            self._check()
        except (ValueError, KeyError, TypeError, RecursionError, IndexError) as error:
            raise BadFile(path, f"expected the keys of a part, found damage; {_AGAIN}") from error

    def _check(self) -> None:
        """Raises ValueError, KeyError where arrays do not go together."""
        texts = sum(shard.texts for shard in self.shards)
        if not texts and [*self._arrays] == ["about"]:
            return
        arrays = {name: array for name, array in self._arrays.items() if name not in ("about", "shingles")}
        expected = {"records": "<u4", **dict.fromkeys(self.rules, "<i8")}
        if "shingles" in self._arrays:
            expected["ends"] = "<i8"
            ends, count = self._arrays["ends"], len(self._arrays["shingles"])
            rises = len(ends) == 0 or bool(ends[0] > 0 and (np.diff(ends) > 0).all())
            if not rises or int(ends[-1] if len(ends) else 0) != count or self._arrays["shingles"].dtype.str != "<u4":
                raise ValueError("sets of shingles")
        if {name: array.dtype.str for name, array in arrays.items()} != expected:
            raise ValueError("arrays")
        if any(array.ndim != 1 + (name == "near-duplicates") or len(array) != texts for name, array in arrays.items()):
            raise ValueError("texts")

    @property
    def texts(self) -> int:
        return sum(shard.texts for shard in self.shards)

    def bands(self, rule: str) -> NDArray[np.uint64]:
        """(texts, bands) or (texts,) the keys of a rule."""
        keys: NDArray[np.uint64] = self._arrays[rule].view(np.uint64)
        return keys

    def records(self, rows: slice) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._arrays["records"][rows].astype(np.int64)
        return found

    def keys(self, rule: str, rows: slice, shared: NDArray[np.uint8] | None) -> Any:
        """What the rule has made of the texts in these rows. With the bits that say which keys are `shared` by texts
        the sets of shingles stay in this file."""
        keys = self.bands(rule)[rows]
        if rule != "near-duplicates" or "shingles" not in self._arrays:
            return keys
        ends = self._arrays["ends"]
        begin = int(ends[rows.start - 1]) if rows.start else 0
        starts = np.concatenate([[begin], ends[rows]]) - begin
        shingles = self._arrays["shingles"][begin : begin + int(starts[-1])]
        stored = Stored(self._file.fileno(), self.offset + 4 * begin, shared) if shared is not None else None
        return Sets(keys, starts, shingles, stored)


def read_shard(found: Any) -> StoredShard:
    shard = StoredShard(*found)
    numbers = (shard.number, shard.size, shard.records, shard.texts)
    if any(type(each) is not int or each < 0 for each in numbers) or not isinstance(shard.path, str):
        raise ValueError("a shard")
    return shard


def open_parts(folder: Path) -> list[StoredKeys]:
    """The files of all parts in `folder`. Raises WvError where one is missing, or has others' rules or files."""
    found = {path: Part(*map(int, name.groups())) for path, name in _find_files(folder)}
    counts = {part.count for part in found.values()}
    if not counts:
        step = f"write them with wv filter --keys {folder} --part I/N, for every part"
        raise WvError(f"{folder}: no keys of parts in this folder; {step}")
    if len(counts) > 1:
        numbers = " and ".join(map(str, sorted(counts)))
        raise WvError(f"{folder}: expected the keys of one run, found those of runs in {numbers} parts; remove one's")
    (count,) = counts
    there = {part.number for part in found.values()}
    if missing := next((number for number in range(1, count + 1) if number not in there), None):
        problem = f"expected the keys of {count:,} parts, found {len(there):,}"
        raise WvError(f"{folder}: {problem}; give the command with --part {missing}/{count}, too")
    parts = [StoredKeys(path) for path in sorted(found, key=lambda path: found[path].number)]
    for part in parts[1:]:
        require_same(part.path, part.identity, parts[0].identity, "the other parts")
    return parts


def require_same(path: str, found: Mapping[str, Any], expected: Mapping[str, Any], whose: str) -> None:
    """Raises WvError where a run had other settings than `expected`."""
    if other := [name for name in {**expected, **found} if found.get(name) != expected.get(name)]:
        problem = f"expected the {', '.join(other)} of {whose}, found others"
        raise WvError(f"{path}: {problem}; write the keys of all parts again")


def _find_files(folder: Path) -> Iterator[tuple[Path, re.Match[str]]]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (name := _NAME.fullmatch(os.fsdecode(path.name))) is not None:
            yield path, name
