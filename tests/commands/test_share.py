"""Manual pages and completion scripts: those in the checkout are what the commands say, and they work."""

import shutil
import subprocess

import pytest

from tests.conftest import Run
from tests.share import SCRIPTS, SHARE, files
from wv_cli.commands import COMMANDS

MADE = files()
PAGES = [place for place in MADE if place not in SCRIPTS.values()]


def test_every_command_has_a_page_and_nothing_else_is_there() -> None:
    assert {f"man/man1/wv-{name}.1" for name in COMMANDS} < set(MADE)
    assert {path.relative_to(SHARE).as_posix() for path in SHARE.rglob("*") if path.is_file()} == set(MADE)


@pytest.mark.parametrize("place", PAGES)
def test_pages_are_current(place: str) -> None:
    assert (SHARE / place).read_text(encoding="utf-8") == MADE[place], "run: python -m tests.share"


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
@pytest.mark.parametrize("place", ["man/man1/wv.1", "man/man1/wv-train.1", "man/man1/wv-eval.1"])
def test_pages_are_good_roff(place: str) -> None:
    command = ["groff", "-man", "-ww", "-Tutf8", "-P-cbou", SHARE / place]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "" and "\nSYNOPSIS\n" in done.stdout


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("wv tr", "plain,train"),
        ("wv train x --preset f", "plain,fasttext"),
        ("wv train cor", "file,cor"),
        ("wv train x --vocab cor", "file,cor"),
        ("wv links a", "dir,a"),
        ("wv nn vectors.bin par", ""),
    ],
)
def test_completions(typed: str, expected: str, wv: Run) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_WV_COMPLETE": "bash_complete"}
    assert wv(env=words).stdout.strip() == expected


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_script_for_bash_is_understood() -> None:
    script = f"source {SHARE / SCRIPTS['bash']} && complete -p wv"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and "_wv_completion" in done.stdout
