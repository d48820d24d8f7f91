"""The table of guarantees: its words stand in the guide of guarantees, its tests exist, its faults still fit the
code."""

import re

from tests.conftest import ROOT
from tests.guarantees.table import GUARANTEES
from tests.walk import for_each

GUIDE = " ".join((ROOT / "wv_cli" / "guides" / "guarantees.md").read_text(encoding="utf-8").split())
FAULTS = [fault for guarantee in GUARANTEES for fault in guarantee.faults]


@for_each("guarantee", GUARANTEES, lambda guarantee: guarantee.words)
def test_the_guide_makes_the_guarantee(guarantee):
    assert guarantee.words in GUIDE


@for_each("guarantee", GUARANTEES, lambda guarantee: guarantee.words)
def test_the_tests_are_there(guarantee):
    assert guarantee.tests
    for test in guarantee.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), test
        assert not name or re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), test


@for_each("fault", FAULTS, lambda fault: fault.name)
def test_the_fault_can_be_made(fault):
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1


def test_names_are_unique():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
