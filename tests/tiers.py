"""Finds the tests that `pytest -m "not slow"` leaves out, by measuring all: python -m tests.slow

Writes tests/slow.txt, a test function a line: the costliest ones, so many that the others take LEFT seconds of
processor time together. Of a function with many parameters only some are run. conftest.py marks what is listed.
"""

import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("slow.txt")
LEFT = 25.0
SAMPLES = 2


def function_of(node: str) -> str:
    """tests/room/test_file.py::test_function, whatever its parameters."""
    return node.partition("[")[0]


class Meter:
    """Processor time, that of child and forked processes included, so that a busy machine makes no test slow."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.least: dict[str, float] = {}  # of the samples: the first one may have paid for a fixture of all

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        of: dict[str, list[pytest.Item]] = {}
        for item in items:
            of.setdefault(function_of(item.nodeid), []).append(item)
        self.counts.update({name: len(found) for name, found in of.items()})
        sampled = [item for found in of.values() for item in found[:: -(-len(found) // SAMPLES)]]
        items[:] = sampled

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        before = self._spent()
        result = yield
        name, spent = function_of(item.nodeid), self._spent() - before
        self.least[name] = min(spent, self.least.get(name, spent))
        return result

    @staticmethod
    def _spent() -> float:
        from tests import forked  # now that conftest.py has settled where wv_cli is

        return sum(os.times()[:4]) + forked.spent

    def slow(self) -> list[str]:
        cost = {name: least * self.counts[name] for name, least in self.least.items()}
        left, kept = 0.0, set()
        for name in sorted(cost, key=cost.__getitem__):
            left += cost[name]
            if left <= LEFT:
                kept.add(name)
        return sorted(set(cost) - kept)


def main() -> None:
    meter = Meter()
    pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]], plugins=[meter])
    LIST.write_text("".join(f"{name}\n" for name in meter.slow()), encoding="utf-8")


if __name__ == "__main__":
    main()
