"""Completion of what is typed, and the script that a shell reads for it."""

import shutil
import subprocess

import pytest

from tests.conftest import Run


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("wv tr", "plain,train"),
        ("wv train x --preset f", "plain,fasttext"),
        ("wv train cor", "file,cor"),
        ("wv train x --vocab cor", "file,cor"),
        ("wv links a", "dir,a"),
        ("wv filter x --against ind", "file,ind"),
        ("wv search ind", "file,ind"),
        ("wv nn vectors.bin par", ""),
    ],
)
def test_completions(typed: str, expected: str, wv: Run) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_WV_COMPLETE": "bash_complete"}
    assert wv(env=words).stdout.strip() == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_for_bash_is_understood(wv: Run) -> None:
    script = wv(env={"_WV_COMPLETE": "bash_source"}).stdout
    done = subprocess.run(["bash", "-c", f"{script}\ncomplete -p wv"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and "_wv_completion" in done.stdout
