"""What a run tells of its rules: how many records each has seen and rejected, and the percentiles of its scores."""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DROPPED = np.uint32(8)  # bits of a number
_WAITING = 1 << 16  # numbers that are counted together


@dataclass
class Histogram:
    """Counts of float32 numbers by their upper 24 bits: whole numbers up to 65,536 exactly, others to 4 digits. Only
    `buckets` that occur are kept, rising, with their `counts`."""

    buckets: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    _waiting: list[NDArray[np.uint32]] = field(default_factory=list, repr=False)

    def add(self, scores: NDArray[np.float32]) -> None:
        self._waiting.append(scores.view(np.uint32) >> _DROPPED)
        if sum(map(len, self._waiting)) >= _WAITING:
            self._count_waiting()

    def merge(self, other: "Histogram") -> None:
        other._count_waiting()
        self._add_counts(other.buckets, other.counts)

    def percentiles(self) -> list[float]:
        """101 numbers, the least to the greatest; none when nothing was counted."""
        self._count_waiting()
        total = int(self.counts.sum())
        if total == 0:
            return []
        values = (self.buckets << _DROPPED).view(np.float32)
        order = np.argsort(values, kind="stable")
        ends = np.cumsum(self.counts[order])
        ranks = -(-np.arange(101) * (total - 1) // 100)
        found = values[order[np.searchsorted(ends, ranks, side="right")]]
        return [value if value.is_integer() else float(f"{value:.4g}") for value in found.tolist()]

    def to_json(self) -> dict[str, int]:
        self._count_waiting()
        return dict(zip(map(str, self.buckets.tolist()), self.counts.tolist(), strict=True))

    @classmethod
    def from_json(cls, saved: Mapping[str, int]) -> "Histogram":
        buckets = np.array([int(bucket) for bucket in saved], np.uint32)
        return cls(buckets, np.array([*saved.values()], np.int64))

    def pack(self) -> str:
        """The same in a form that a journal is quick to write: its buckets and counts in base64."""
        self._count_waiting()
        octets = self.buckets.astype("<u4").tobytes() + self.counts.astype("<i8").tobytes()
        return base64.b64encode(octets).decode()

    @classmethod
    def unpack(cls, packed: str) -> "Histogram":
        octets = base64.b64decode(packed)
        count = len(octets) // (4 + 8)
        counts = np.frombuffer(octets, "<i8", count, 4 * count)
        return cls(np.frombuffer(octets, "<u4", count).astype(np.uint32), counts.astype(np.int64))

    def _count_waiting(self) -> None:
        if self._waiting:
            found = np.unique(np.concatenate(self._waiting), return_counts=True)
            self._waiting.clear()
            self._add_counts(*found)

    def _add_counts(self, buckets: NDArray[np.uint32], counts: NDArray[np.int64]) -> None:
        both = np.concatenate([self.buckets, buckets])
        self.buckets, place = np.unique(both, return_inverse=True)
        self.counts = np.bincount(place, np.concatenate([self.counts, counts]), len(self.buckets)).astype(np.int64)


@dataclass
class RuleCounts:
    """Of one rule: records `seen` and `rejected`, and their scores; the `statistic` that it is about, or the kind of a
    rule with a model, and the `range` that it keeps, as a reader takes it."""

    seen: int = 0
    rejected: int = 0
    scores: Histogram = field(default_factory=Histogram)
    statistic: str = ""
    range: str = ""

    def add(self, scores: NDArray[np.float32], kept: NDArray[np.bool_]) -> None:
        self.seen += len(kept)
        self.rejected += int((~kept).sum())
        self.scores.add(scores[np.isfinite(scores)].astype(np.float32))

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "scores": self.scores.pack()}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any], scores: Histogram) -> "RuleCounts":
        ranges = saved.get("statistic", ""), saved.get("range", "")  # which older reports lack
        return cls(saved["seen"], saved["rejected"], scores, *ranges)


@dataclass
class Totals:
    """Of a run: records read and kept, kept ones that lost paragraphs or got other addresses, bytes of text read and
    kept, records that cannot be read and were skipped, shards without a record that can be read, shards that are
    damaged, and what each rule did. `labels`: with --split how many of the kept records have each label."""

    rules: dict[str, RuleCounts]
    records: int = 0
    kept: int = 0
    read_bytes: int = 0
    kept_bytes: int = 0
    shortened: int = 0
    replaced: int = 0
    skipped: int = 0
    unreadable: int = 0
    damaged: int = 0
    labels: dict[str, int] = field(default_factory=dict)

    def count_labels(self, labels: Iterable[str]) -> None:
        """One more kept record of each."""
        for label, count in Counter(labels).items():
            self.labels[label] = self.labels.get(label, 0) + count

    @classmethod
    def of_rules(cls, ranges: Mapping[str, tuple[str, str]]) -> "Totals":
        """Of rules with these (statistic, range)."""
        return cls({name: RuleCounts(statistic=each[0], range=each[1]) for name, each in ranges.items()})

    def to_json(self) -> dict[str, Any]:
        """For a journal."""
        rules = {name: counts.to_json() for name, counts in self.rules.items()}
        return {**vars(self), "rules": rules, "labels": {**self.labels}}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "Totals":
        rules = saved["rules"].items()
        counts = {name: RuleCounts.from_json(each, Histogram.unpack(each["scores"])) for name, each in rules}
        return cls(**{**saved, "rules": counts})

    @classmethod
    def from_report(cls, saved: Mapping[str, Any]) -> "Totals":
        """Those of a report, which has the scores beside the counts."""
        rules, scores = saved["totals"]["rules"].items(), saved["scores"]
        counts = {name: RuleCounts.from_json(each, Histogram.from_json(scores[name])) for name, each in rules}
        return cls(**{**saved["totals"], "rules": counts})

    def scores_to_json(self) -> dict[str, Any]:
        """The histogram of each rule's scores, which those of other parts can be added to."""
        return {name: each.scores.to_json() for name, each in self.rules.items()}

    def add(self, other: "Totals") -> None:
        """Counts what was counted elsewhere by the same rules."""
        for name, counts in other.rules.items():
            own = self.rules[name]
            own.seen, own.rejected = own.seen + counts.seen, own.rejected + counts.rejected
            own.scores.merge(counts.scores)
        for label, count in other.labels.items():
            self.labels[label] = self.labels.get(label, 0) + count
        for name, value in vars(other).items():
            if name not in ("rules", "labels"):
                setattr(self, name, getattr(self, name) + value)

    def to_dict(self) -> dict[str, Any]:
        """For people and programs: percentiles in the place of histograms."""
        rules = {
            name: {
                "statistic": each.statistic,
                "range": each.range,
                "seen": each.seen,
                "rejected": each.rejected,
                "percentiles": each.scores.percentiles(),
            }
            for name, each in self.rules.items()
        }
        found = {**vars(self), "rules": rules, "labels": dict(sorted(self.labels.items()))}
        return found if self.labels else {name: value for name, value in found.items() if name != "labels"}
