"""Every figure of the READMEs has its raw record in benchmarks/results, and says what the record says."""

import subprocess
import sys

from tests.conftest import ROOT


def test_figures_are_those_of_the_records():
    check = [sys.executable, str(ROOT / "benchmarks" / "tables.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
