"""Which texts of all parts are duplicates, decided once for all of them, and read by each part.

Texts are asked about in one order, that of the shards of the run and of the records in them, so that the decisions are
those of one run without parts. Only keys that two texts share are kept in memory: a key that comes once leads to no
candidate. That takes two bytes a text, and 150 to 200 bytes for each text that stays and shares all its keys. Sets of
shingles are read where the parts wrote them.

Where an index of older texts is asked, or a new one is saved, all keys are kept, as in a run without parts.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError
from wv_cli.filtering.duplicates import Answer, Deduplicator, Like, SavedKeys, ranges_of
from wv_cli.filtering.part_keys import Column, StoredKeys, StoredShard, read_shard, require_same
from wv_cli.filtering.statistics import Totals
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.output import open_output

KIND = "decisions"
NAME = "decisions"
_AGAIN = "decide again with wv filter --keys"
_BLOCK = 1 << 16  # texts
_MOST_SORTED = 1 << 28  # keys at a time


def decide(parts: Sequence[StoredKeys], rules: Sequence[Deduplicator], folder: Path, *, sparse: bool) -> Totals:
    """Asks the `rules` about all texts of the `parts`, in their order, and writes the file of decisions to `folder`.
    `sparse`: only shared keys are kept. Returns how many texts each rule has seen and rejected. Raises WvError."""
    totals = Totals.of_rules(ranges_of(rules))
    columns = {part.path: part.bands("near-duplicates") for part in parts if part.texts and sparse}
    if other := [path for path, keys in columns.items() if keys.shape[1] != len(next(iter(columns.values()))[0])]:
        raise BadFile(other[0], "expected the keys of a part, found damage (other bands); write it again")
    shared = shared_keys([*columns.values()]) if sparse else None
    first_row = [*accumulate((part.texts for part in parts), initial=0)]
    written, before = _Writer(folder), Counter[str]()  # records of earlier slices of a file
    for number, at, shard, begin in _in_order(parts):
        part = parts[at]
        for start in range(begin, begin + shard.texts, _BLOCK):
            rows = slice(start, min(start + _BLOCK, begin + shard.texts))
            records = part.records(rows)
            stays = np.ones(len(records), np.bool_)
            bits = shared[first_row[at] + rows.start : first_row[at] + rows.stop] if shared is not None else None
            for which, rule in enumerate(rules):
                asked = np.flatnonzero(stays)
                try:
                    keys, places = part.keys(rule.name, rows, bits), records[asked] + before[shard.path]
                    answer = rule.first_seen(keys, asked, number, places)
                except ValueError as error:
                    raise BadFile(
                        part.path, f"expected the keys of a part, found damage ({error}); write it again"
                    ) from error
                gone = asked[~answer.first]
                written.add(which, records[gone], answer.like)
                stays[gone] = False
                totals.rules[rule.name].add(np.empty(0, np.float32), answer.first)
            totals.records += len(records)
            totals.kept += int(stays.sum())
        written.end_shard()
        before[shard.path] += shard.records
    written.save(parts, rules)
    return totals


def _in_order(parts: Sequence[StoredKeys]) -> Iterator[tuple[int, int, StoredShard, int]]:
    """(number, part, shard, its first row in the part) of all shards in the order of the run. Raises WvError."""
    found = []
    for at, part in enumerate(parts):
        begins = accumulate((shard.texts for shard in part.shards), initial=0)
        found += [(shard.number, at, shard, begin) for shard, begin in zip(part.shards, begins, strict=False)]
    found.sort()
    for expected, (number, at, shard, _) in enumerate(found):
        if number != expected:
            problem = f"expected shard {expected:,} of the run, found {shard.name}"
            raise BadFile(parts[at].path, f"{problem}; write the keys of all parts again")
    yield from found


def shared_keys(columns: Sequence[NDArray[np.uint64]]) -> NDArray[np.uint8]:
    """(texts, bands / 8) a bit for each band of each text of all `columns`, (n, bands): whether another text has its
    key. Keys are compared by their lower half, as KnownTexts does."""
    bands, texts = columns[0].shape[1] if columns else 0, sum(map(len, columns))
    bits = np.zeros((texts, (bands + 7) // 8), np.uint8)
    for band in range(bands):
        keys = np.concatenate([column[:, band].astype(np.uint32) for column in columns])
        bits[come_twice(keys), band >> 3] |= np.uint8(1 << (band & 7))
    return bits


def come_twice(keys: NDArray[np.uint32], most: int = _MOST_SORTED) -> NDArray[np.int64]:
    """Where in `keys` are those that come more than once. The keys of a range are sorted at a time, about `most`."""
    ranges = 1 << (len(keys) // most).bit_length()
    found = []
    for number in range(ranges):
        own = np.flatnonzero(keys // np.uint32((1 << 32) // ranges) == number) if ranges > 1 else None
        some = keys if own is None else keys[own]
        order = np.argsort(some)
        ordered = some[order]
        same = ordered[1:] == ordered[:-1]
        twice = order[np.append(same, False) | np.insert(same, 0, False)] if len(some) else order
        found.append(twice if own is None else own[twice])
    return np.concatenate(found)


class _Writer:
    """Collects decisions in files without a name until they are saved."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        beside = str(self._path)
        self._similarity, self._record = Column(beside, np.dtype("<f8")), Column(beside, np.dtype("<u4"))
        self._of_file, self._of_record = Column(beside, np.dtype("<u4")), Column(beside, np.dtype("<u4"))
        self._rule = Column(beside, np.dtype("|u1"))
        self._starts, self._files = [0], dict[str, int]()

    def add(self, rule: int, records: NDArray[np.int64], like: Sequence[Like]) -> None:
        """Records of a shard that a rule rejects, in their order, and what they are like, where the rule knows it."""
        files = [self._files.setdefault(each.file, len(self._files)) for each in like] or [0] * len(records)
        self._similarity.append(np.array([each.similarity for each in like] or [np.nan] * len(records), "<f8"))
        self._record.append(records.astype("<u4"))
        self._of_file.append(np.array(files, "<u4"))
        self._of_record.append(np.array([each.record for each in like] or [0] * len(records), "<u4"))
        self._rule.append(np.full(len(records), rule, "|u1"))

    def end_shard(self) -> None:
        self._starts.append(self._record.length)

    def save(self, parts: Sequence[StoredKeys], rules: Sequence[Deduplicator]) -> None:
        shards = sorted(shard for part in parts for shard in part.shards)
        about = {"identity": parts[0].identity, "shards": shards, "files": [*self._files]}
        about |= {
            "rules": [rule.name for rule in rules],
            "verified": [rule.name for rule in rules if rule.has_evidence],
        }
        arrays = {
            "similarities": self._similarity.array(),
            "starts": np.array(self._starts, "<i8"),
            "records": self._record.array(),
            "of_files": self._of_file.array(),
            "of_records": self._of_record.array(),
            "rules": self._rule.array(),
            "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
        }
        with open_output(self._path) as stream:
            container.write(stream, KIND, {}, arrays, aligned=True)


class Decisions:
    """The file of decisions in a folder. Raises WvError, BadFile."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / NAME)
        if not Path(self.path).is_file():
            raise WvError(f"{self.path}: no such file; give the same command without --part and -o, to decide")
        with open_input(self.path) as source:
            reader = container.Reader(source, KIND, _AGAIN)
            each = ("rejected",)
            layout = {"similarities": ("<f8", each), "starts": ("<i8", ("shards",)), "records": ("<u4", each)}
            layout |= {"of_files": ("<u4", each), "of_records": ("<u4", each), "rules": ("|u1", each)}
            reader.expect({**layout, "about": ("|u1", ("letters",))}, "the decisions")
            found = reader.views(checked=True)
        self._similarities, self._starts, self._records = found["similarities"], found["starts"], found["records"]
        self._of_files, self._of_records, self._rules = found["of_files"], found["of_records"], found["rules"]
        try:
            about = json.loads(found["about"].tobytes())
            self.identity: dict[str, Any] = about["identity"]
            self._names = [str(name) for name in about["rules"]]
            self._verified = [str(name) for name in about["verified"]]
            self._files = [str(name) for name in about["files"]]
            self.shards = {shard.name: shard for shard in map(read_shard, about["shards"])}
            starts, count = self._starts, len(self._records)
            if len(starts) != len(self.shards) + 1 or starts[0] or starts[-1] != count or (np.diff(starts) < 0).any():
                raise ValueError
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadFile(self.path, f"expected decisions, found damage; {_AGAIN}") from error

    def require_same_run(self, identity: Mapping[str, Any], inputs: Sequence[tuple[str, int, str]]) -> None:
        """Raises WvError where these rules, or the files with these names, are not those of the decisions."""
        require_same(self.path, self.identity, identity, "this run")
        for name, size, digest in inputs:
            shard = self.shards.get(name)
            if shard is None:
                problem = f"has no decisions about {name}; filter in as many parts as have written keys (--part I/N)"
                raise WvError(f"{self.path}: {problem}")
            if (shard.size, shard.digest) != (size, digest):
                raise WvError(f"{self.path}: {name} has changed since its keys were written; write all keys again")

    def rules(self, names: Sequence[str]) -> "list[DecidedDuplicates]":
        """The rules of duplicates for shards with these `names` in the order of the run."""
        numbers = [self.shards[name].number for name in names]
        return [DecidedDuplicates(self, each, numbers) for each in self._names]

    def has_evidence(self, rule: str) -> bool:
        """Whether it is known what the texts are like that a rule has rejected."""
        return rule in self._verified

    def of_shard(self, number: int, rule: str) -> tuple[NDArray[np.uint32], list[Like]]:
        """The records of a shard that a rule has rejected, in their order, and what they are like."""
        rows = slice(int(self._starts[number]), int(self._starts[number + 1]))
        own = rows.start + np.flatnonzero(self._rules[rows] == self._names.index(rule))
        facts = zip(
            *(array[own].tolist() for array in (self._of_files, self._of_records, self._similarities)), strict=True
        )
        try:
            like = [Like(self._files[file], record, score) for file, record, score in facts if self.has_evidence(rule)]
        except IndexError as error:
            raise BadFile(self.path, f"expected decisions, found damage; {_AGAIN}") from error
        return self._records[own], like


class DecidedDuplicates:
    """A rule of duplicates whose decisions are made. `shards` are the numbers in the run of those that it is asked
    about."""

    def __init__(self, decisions: Decisions, name: str, shards: Sequence[int]) -> None:
        self.name, self._decisions, self._shards = name, decisions, shards
        self.has_evidence = decisions.has_evidence(name)
        self._at, self._gone, self._like = -1, np.empty(0, np.uint32), list[Like]()

    def keys(self, texts: Sequence[bytes]) -> None:
        return None

    def first_seen(self, keys: None, asked: NDArray[np.int64], shard: int, records: NDArray[np.int64]) -> Answer:
        """See Deduplicator."""
        if shard != self._at:
            self._at = shard
            self._gone, self._like = self._decisions.of_shard(self._shards[shard], self.name)
        begin, end = np.searchsorted(self._gone, records[[0, -1]], side="left") if len(records) else (0, 0)
        end += len(records) > 0 and end < len(self._gone) and self._gone[end] == records[-1]
        first = ~np.isin(records, self._gone[begin:end])
        if int((~first).sum()) != end - begin:
            problem = f"expected the records of shard {self._shards[shard] + 1:,} whose keys were written, found others"
            raise WvError(f"{self._decisions.path}: {problem}; write the keys of all parts again")
        return Answer(first, b"", self._like[begin:end])

    def restore(self, saved: SavedKeys) -> None:
        pass
