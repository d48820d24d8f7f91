"""`wv filter - -o -`: records of standard input, and to standard output."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

from tests.cli.test_filter import MODEL, contents, corpus

RULES = ["--words", "3..9", "--language", f"{MODEL}:bread,baking=0.01..", "--add-scores"]
TEXT = "utf-8", "surrogateescape"


def test_standard_input_and_output(wv, tmp_path):
    """The bytes are those of the file in a folder; the table and messages go to standard error."""
    inputs = corpus(tmp_path / "in")
    assert wv("filter", *inputs, "-o", "kept", *RULES).returncode == 0
    kept, data = (tmp_path / "kept" / "a.jsonl").read_text(), Path(inputs[0]).read_bytes()
    before = contents(tmp_path)
    for given in (data, gzip.compress(data)):
        done = wv("filter", "-", "-o", "-", *RULES, input=given.decode(*TEXT))
        assert done.returncode == 0 and done.stdout == kept != ""
        assert "standard input:8: byte" in done.stderr and "; skipped 1 that cannot be read" in done.stderr
    done = wv("filter", *inputs[:2], "-o", "-", *RULES, "--json", "-q")
    assert done.returncode == 0 and done.stdout == 2 * kept
    assert json.loads(done.stderr)["kept"] == 2 * kept.count("\n")
    assert contents(tmp_path) == before


def test_standard_input_is_counted_and_explained(wv):
    data = '{"text": "bake the bread"}\n{"text": "oven"}\n'
    done = wv("filter", "-", "--words", "2..", "--dry-run", input=data)
    assert "kept 1 of 2 records (50.0%)" in done.stdout
    done = wv("filter", "-", "--words", "2..", "--explain", "2", input=data)
    assert done.stdout.endswith("words\t1\trejects\t(>= 2)\n")
    done = wv("filter", "-", "--words", "2..", "--dry-run", "--field", "title", input='{"title": "a b"}\n')
    assert "kept 1 of 1 records" in done.stdout
    done = wv("filter", "-", "--near-duplicates", "0.8", "-o", "-", input=data + data)
    assert done.stdout == data and done.returncode == 0
    done = wv("filter", "-", "--words", "2..", "-o", "-", input="bad\n")
    assert done.returncode == 1 and "none of its 1 records can be read" in done.stderr


def test_an_input_is_no_standard_output(tmp_path):
    (path,) = corpus(tmp_path / "in")[:1]
    before = Path(path).read_bytes()
    with Path(path).open("ab") as file:
        command = [sys.executable, "-m", "wv_cli", "filter", path, "-o", "-", "--words", "1.."]
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b"standard output is also an input" in done.stderr
    assert Path(path).read_bytes() == before
