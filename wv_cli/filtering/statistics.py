"""What a run tells of its rules: how many records each has seen and rejected, and the percentiles of its scores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BUCKETS = 1 << 16


@dataclass
class Histogram:
    """Counts of float32 numbers by their upper 16 bits: whole numbers up to 256 exactly, others to within 0.8 %
    of itself, in 512 kB."""

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_BUCKETS, np.int64))

    def add(self, scores: NDArray[np.float32]) -> None:
        np.add.at(self.counts, scores.view(np.uint32) >> 16, 1)

    def percentiles(self) -> list[float]:
        """101 numbers, the least to the greatest; none when nothing was counted."""
        total = int(self.counts.sum())
        if total == 0:
            return []
        buckets = np.flatnonzero(self.counts).astype(np.uint32)
        values = (buckets << np.uint32(16)).view(np.float32)
        order = np.argsort(values, kind="stable")
        ends = np.cumsum(self.counts[buckets[order]])
        ranks = -(-np.arange(101) * (total - 1) // 100)
        found = values[order[np.searchsorted(ends, ranks, side="right")]]
        return [float(f"{value:.4g}") for value in found.tolist()]

    def saved(self) -> dict[str, int]:
        buckets = np.flatnonzero(self.counts)
        return dict(zip(map(str, buckets.tolist()), self.counts[buckets].tolist(), strict=True))

    @classmethod
    def of(cls, saved: Mapping[str, int]) -> "Histogram":
        counts = np.zeros(_BUCKETS, np.int64)
        counts[[int(bucket) for bucket in saved]] = list(saved.values())
        return cls(counts)


@dataclass
class RuleCounts:
    """Of one rule: records `seen` and `rejected`, and their scores."""

    seen: int = 0
    rejected: int = 0
    scores: Histogram = field(default_factory=Histogram)

    def add(self, scores: NDArray[np.float32], kept: NDArray[np.bool_]) -> None:
        self.seen += len(kept)
        self.rejected += int((~kept).sum())
        self.scores.add(scores[np.isfinite(scores)].astype(np.float32))

    def saved(self) -> dict[str, Any]:
        return {"seen": self.seen, "rejected": self.rejected, "scores": self.scores.saved()}

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> "RuleCounts":
        return cls(saved["seen"], saved["rejected"], Histogram.of(saved["scores"]))


@dataclass
class Totals:
    """Of a run: records read and kept, kept ones that lost paragraphs, bytes of text read and kept, shards without a
    record that can be read, and what each rule did."""

    rules: dict[str, RuleCounts]
    records: int = 0
    kept: int = 0
    read_bytes: int = 0
    kept_bytes: int = 0
    shortened: int = 0
    unreadable: int = 0

    def saved(self) -> dict[str, Any]:
        return {**vars(self), "rules": {name: counts.saved() for name, counts in self.rules.items()}}

    @classmethod
    def of(cls, saved: Mapping[str, Any]) -> "Totals":
        return cls(**{**saved, "rules": {name: RuleCounts.of(each) for name, each in saved["rules"].items()}})

    def add(self, other: "Totals") -> None:
        """Counts what another process has counted by the same rules."""
        for name, counts in other.rules.items():
            own = self.rules[name]
            own.seen, own.rejected = own.seen + counts.seen, own.rejected + counts.rejected
            own.scores.counts += counts.scores.counts
        for name, value in vars(other).items():
            if name != "rules":
                setattr(self, name, getattr(self, name) + value)

    def shown(self) -> dict[str, Any]:
        """For people and programs: percentiles in the place of histograms."""
        rules = {
            name: {"seen": each.seen, "rejected": each.rejected, "percentiles": each.scores.percentiles()}
            for name, each in self.rules.items()
        }
        return {**vars(self), "rules": rules}
