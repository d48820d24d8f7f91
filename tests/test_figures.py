"""Every figure of the READMEs has its raw record in benchmarks/results, and says what the record says."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize("script", ["tables.py", "pictures.py"])
def test_figures_are_those_of_the_records(script):
    check = [sys.executable, str(ROOT / "benchmarks" / script), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
