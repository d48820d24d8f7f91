"""Type checkers know the keyword arguments, the answers and what is wrong: a program of every face under mypy."""

import subprocess
import sys
from pathlib import Path

import pytest

import wv_cli

PROGRAM = Path(__file__).resolve().parent / "typed_program.py"
WRONG = """
import wv_cli
wv_cli.train("text.txt", "v.bin", dims=50)
wv_cli.train("text.txt", "v.bin", dim="50")
wv_cli.train("text.txt", "v.bin", loss="softmin")
wv_cli.train("text.txt", "v.bin", model="skip-gram")
wv_cli.glove("text.txt", "v.bin", epochs=5)
from wv_cli.gensim import Word2Vec
Word2Vec(size=100)
Word2Vec().wv.most_similar_to(1)
wv_cli.whiten("v.bin", "w.bin", method="zcb")
wv_cli.whiten("v.bin", "w.bin", methods="zca")
wv_cli.tokenize("raw.txt", "text.txt", sentences=["a text"])
wv_cli.no_such_command("text.txt")
wv_cli.Filter(word="50..")
"""


def test_the_program_names_every_public_name():
    text = PROGRAM.read_text()
    assert [name for name in wv_cli.__all__ if not name.endswith("Error") and f"wv_cli.{name}" not in text] == [
        name for name in wv_cli.__all__ if name == "Classifier"
    ]


@pytest.mark.full
def test_mypy_checks_a_program_of_every_face(tmp_path):
    def checked(path):
        command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--no-error-summary", str(path)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout

    pytest.importorskip("mypy")
    program, wrong = tmp_path / "program.py", tmp_path / "wrong.py"
    program.write_text(PROGRAM.read_text())
    wrong.write_text(WRONG)
    assert checked(program) == ""
    found = [int(line.split(":")[1]) for line in checked(wrong).splitlines() if " error: " in line]
    assert sorted(set(found)) == [*range(3, 8), *range(9, 16)]
