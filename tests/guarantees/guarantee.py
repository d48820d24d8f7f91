"""What a guarantee is made of, and a fault that breaks it."""

from dataclasses import dataclass

GUARDS = "tests/guarantees/test_guards.py"


@dataclass(frozen=True)
class Fault:
    """`file` is relative to the checkout: wv_cli/... or csrc/..."""

    name: str
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Guarantee:
    words: str
    tests: tuple[str, ...]
    faults: tuple[Fault, ...] = ()
