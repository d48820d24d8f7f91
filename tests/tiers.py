"""The three tiers of the suite, and the command that finds what the quick one leaves out: python -m tests.tiers

    quick      every test that costs little, and those marked `quick`: at least one of every command and every format
    default    the tests listed in slow.txt, too
    full       the tests marked `full`, too: exhaustive walks, long runs, limits of the machine

The command measures processor time, of some parameters only where a function has many. It writes tests/slow.txt, a test
function a line: the costliest ones, so many that the quick tier takes LEFT seconds. It prints the seconds of each tier
and the costliest tests of the default one, which are the first to be made cheaper or to move to the full tier.
"""

import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LIST = Path(__file__).with_name("slow.txt")
TIERS = ("quick", "default", "full")
# Fixtures whose tests are slow by rule: a Dask cluster works in processes that the measurement does not see.
SLOW_FIXTURES = {"address"}
LEFT = 50.0
SAMPLES = 2
SHOWN = 40


def function_of(item: pytest.Item) -> str:
    """tests/room/test_file.py::test_function, whatever its parameters."""
    return item.nodeid.partition("[")[0]


def full(*values: object) -> list[Any]:
    """Parameters of tests that are in the full tier only."""
    return [pytest.param(value, marks=pytest.mark.full) for value in values]


def mark_slow(items: list[pytest.Item]) -> None:
    """Marks the tests that slow.txt lists, and those that use a slow fixture."""
    listed = set(LIST.read_text(encoding="utf-8").splitlines())
    for item in items:
        if function_of(item) in listed or SLOW_FIXTURES & {*getattr(item, "fixturenames", ())}:
            item.add_marker("slow")


def tier_of(item: pytest.Item) -> str:
    """The smallest tier that has the test."""
    if item.get_closest_marker("full"):
        return "full"
    return "default" if item.get_closest_marker("slow") and not item.get_closest_marker("quick") else "quick"


class Meter:
    """Processor time, that of child and forked processes included, so that a busy machine makes no test slow."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.least: dict[str, float] = {}  # of the samples: the first one may have paid for a fixture of all
        self.tiers: dict[str, Counter[str]] = {}  # how many tests of a function are in the tier that is their smallest
        self.smoke: set[str] = set()  # quick, whatever they cost

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        of: dict[str, list[pytest.Item]] = {}
        for item in items:
            of.setdefault(function_of(item), []).append(item)
        self.counts.update({name: len(found) for name, found in of.items()})
        self.tiers.update({name: Counter(map(tier_of, found)) for name, found in of.items()})
        self.smoke.update(name for name, found in of.items() if found[0].get_closest_marker("quick"))
        sampled = [item for found in of.values() for item in found[:: -(-len(found) // SAMPLES)]]
        items[:] = sampled

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = self._spent()
        result = yield
        name, spent = function_of(item), self._spent() - before
        self.least[name] = min(spent, self.least.get(name, spent))
        return result

    @staticmethod
    def _spent() -> float:
        from tests import forked  # now that conftest.py has settled where wv_cli is

        return sum(os.times()[:4]) + forked.spent

    def cost(self, name: str) -> float:
        """Of the function's tests that are not in the full tier only."""
        return self.least[name] * (self.counts[name] - self.tiers[name]["full"])

    def slow(self) -> list[str]:
        """The functions that the quick tier leaves out: all but the cheapest."""
        left, kept = 0.0, set(self.smoke)
        for name in sorted(self.least, key=lambda name: (name not in self.smoke, self.cost(name))):
            left += self.cost(name)
            if left <= LEFT:
                kept.add(name)
        return sorted(name for name in set(self.least) - kept if self.cost(name))

    def report(self) -> str:
        """Tests and seconds of each tier, those of the smaller ones included; after slow() was written they are its."""
        slow = self.slow()
        lines, count, seconds = [], 0, 0.0
        for tier in TIERS:
            for name in self.least:
                full = self.tiers[name]["full"]
                own = {"full": full, "default" if name in slow else "quick": self.counts[name] - full}.get(tier, 0)
                count, seconds = count + own, seconds + own * self.least[name]
            lines.append(f"{tier:8} {count:6} tests {seconds:8.0f} s\n")
        default = [name for name in slow if self.cost(name)]
        lines.append("the costliest of the default tier:\n")
        for name in sorted(default, key=self.cost, reverse=True)[:SHOWN]:
            lines.append(f"{self.cost(name):6.1f} s {self.counts[name] - self.tiers[name]['full']:4} {name}\n")
        return "".join(lines)


def main() -> None:
    meter = Meter()
    pytest.main(["-p", "no:cacheprovider", "--tier", "full", *sys.argv[1:]], plugins=[meter])
    LIST.write_text("".join(f"{name}\n" for name in meter.slow()), encoding="utf-8")
    sys.stdout.write(meter.report())


if __name__ == "__main__":
    main()
