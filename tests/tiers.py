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
        self.counts: Counter[str] = Counter()  # tests of a function that are not in the full tier only
        self.least: dict[str, float] = {}  # of the samples: the first one may have paid for a fixture of all
        self.full: Counter[str] = Counter()
        self.smoke: Counter[str] = Counter()  # quick, whatever they cost

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        of: dict[str, list[pytest.Item]] = {}
        for item in items:
            of.setdefault(function_of(item), []).append(item)
        for name, found in of.items():
            self.full[name] = sum(tier_of(item) == "full" for item in found)
            self.counts[name] = len(found) - self.full[name]
            self.smoke[name] = sum(tier_of(item) != "full" and bool(item.get_closest_marker("quick")) for item in found)
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
        """Of the function's tests that a place in slow.txt takes out of the quick tier."""
        return self.least[name] * (self.counts[name] - self.smoke[name])

    def slow(self) -> list[str]:
        """The functions that the quick tier leaves out: all but the cheapest."""
        left, kept = sum(self.least[name] * count for name, count in self.smoke.items() if count), set[str]()
        for name in sorted(self.least, key=self.cost):
            left += self.cost(name)
            if left <= LEFT:
                kept.add(name)
        return sorted(name for name in set(self.least) - kept if self.cost(name))

    def report(self) -> str:
        """Tests and seconds of each tier, those of the smaller ones included; after slow() was written they are its."""
        slow = {*self.slow()}
        of = {
            "quick": {name: self.smoke[name] if name in slow else self.counts[name] for name in self.least},
            "default": self.counts,
            "full": self.counts + self.full,
        }
        lines = []
        for tier in TIERS:
            seconds = sum(self.least[name] * count for name, count in of[tier].items())
            lines.append(f"{tier:8} {sum(of[tier].values()):6} tests {seconds:8.0f} s\n")
        lines.append("the costliest of the default tier:\n")
        for name in sorted(slow, key=self.cost, reverse=True)[:SHOWN]:
            lines.append(f"{self.cost(name):6.1f} s {self.counts[name]:4} {name}\n")
        return "".join(lines)


def main() -> None:
    meter = Meter()
    pytest.main(["-p", "no:cacheprovider", "--tier", "full", *sys.argv[1:]], plugins=[meter])
    LIST.write_text("".join(f"{name}\n" for name in meter.slow()), encoding="utf-8")
    sys.stdout.write(meter.report())


if __name__ == "__main__":
    main()
