"""The table of guarantees: its words stand in the guide of guarantees, its tests exist, its faults can be made."""

import ast
import re

import pytest

from tests.conftest import ROOT
from tests.guarantees.guarantee import KINDS, Fault
from tests.guarantees.table import GUARANTEES
from tests.walk import for_each

GUIDE = " ".join((ROOT / "wv_cli" / "guides" / "guarantees.md").read_text(encoding="utf-8").split())
FAULTS = [fault for guarantee in GUARANTEES for fault in guarantee.faults]


@for_each("guarantee", GUARANTEES, lambda guarantee: guarantee.words)
def test_the_guide_makes_the_guarantee(guarantee):
    assert guarantee.words in GUIDE


@for_each("guarantee", GUARANTEES, lambda guarantee: guarantee.words)
def test_the_tests_are_there(guarantee):
    assert guarantee.tests and guarantee.faults
    for test in guarantee.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), test
        assert not name or re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), test


@for_each("fault", FAULTS, lambda fault: fault.name)
def test_the_fault_can_be_made(fault):
    broken = fault.applied((ROOT / fault.file).read_text(encoding="utf-8"))
    assert not fault.file.endswith(".py") or ast.parse(broken)


def test_names_are_unique():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


SOUND = """
class C:
    def f(self, a, b):
        g(a)
        with lock(b):
            found = h(a) or b
        flags = X.P | X.Q | X.R
        if a > b and found:
            return 1
"""


@pytest.mark.parametrize(
    ("kind", "what", "before", "after"),
    [
        ("skip", "g", "g(a)", "pass"),
        ("skip", "lock", "with lock(b)", "if True"),
        ("never", "found", "a > b and found", "False"),
        ("always", "found", "a > b and found", "True"),
        ("without", "h", "h(a) or b", "b"),
        ("without", "Q", "X.P | X.Q", "X.P"),
        ("forget", "found", "h(a) or b", "None"),
        ("answer", "b + 1", "return 1", "return b + 1"),
    ],
)
def test_a_kind_of_fault(kind, what, before, after):
    assert Fault("m", "C.f", kind, what).applied(SOUND) == ast.unparse(ast.parse(SOUND)).replace(before, after)
    assert {*KINDS} == {"skip", "never", "always", "without", "forget", "answer"}


@for_each(
    "function, kind, what", [("C.f", "never", "z"), ("C.g", "skip", "g"), ("f", "skip", "g"), ("C.f", "skip", "h")]
)
def test_a_fault_that_has_no_place(function, kind, what):
    with pytest.raises(ValueError, match=r"m\.py has 0 functions|stands there 0 times, not once"):
        Fault("m", function, kind, what).applied(SOUND)


def test_a_fault_that_has_two_places():
    with pytest.raises(ValueError, match="stands there 2 times, not once"):
        Fault("m", "C.f", "skip", "g").applied(f"{SOUND}        g(b)\n")
