"""Wrong command lines and what the program answers: tests/golden/wrong_calls.txt, a table for people to read in review.

    python -m tests.wrong_calls      rewrites the answers in the table

To add a call, write its line `$ wv ...` into the table and run this. tests/cli/test_wrong_calls.py checks that the
answers are the program's. All calls run in this process, in one folder, each with an empty standard input.
"""

import contextlib
import io
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from wv_cli import __main__

GOLDEN = Path(__file__).resolve().parent / "golden"
TABLE = GOLDEN / "wrong_calls.txt"
_FILES = {
    "classifier.bin": "ft-labels.bin",
    "subwords.bin": "ft-words.bin",
    "words.codes": "sign.codes",
    "itq.hasher": "own/itq.hasher",
    "model.arpa": "lm/micro.o3.arpa",
    "model.lm": "lm/version-0.3.0.lm",
    "short-row.vec": "broken/short-row.vec",
    "not-finite.vec": "broken/not-finite.vec",
    "header.bin": "broken/header-too-large.bin",
    "truncated.bin": "broken/truncated.bin",
}
_TEXTS = {
    "corpus.txt": "the quick brown fox jumps over the lazy dog\n" * 9,
    "labeled.txt": "__label__a the quick fox\n__label__b the lazy dog\n" * 9,
    "vectors.vec": "3 2\nthe 1 0\nfox 0 1\ndog 1 1\n",
    "other.vec": "3 2\nthe 0 1\nfox 1 0\ndog 1 -1\n",
    "wide.vec": "3 4\nthe 0 1 2 3\nfox 1 0 2 3\ndog 1 -1 2 3\n",
    "corpus.vocab": "the 18\nfox 9\ndog 9\n",
    "pairs.txt": "the fox 1\nfox dog 2\nthe dog 3\n",
    "questions.txt": ": all\nthe fox the dog\n",
    "pairs.tsv": "anchor\tpositive\nthe fox\tthe dog\n",
    "prose.txt": "Nobody would take this for data.\n",
    "rated.jsonl": '{"text": "the fox", "stars": 3, "by": {"name": "x"}}\n{"text": "the dog", "stars": 5}\n' * 9,
    "empty.txt": "",
}


_MADE = (
    "train corpus.txt -o words.bin --save-state words.state --dim 2 --min-count 1 --epochs 1 -q --no-meta",
    "phrases corpus.txt -o joined.txt --save-phrases fox.phrases --threshold 1 --min-count 1 -q",
)


def make_inputs(folder: Path) -> None:
    """Writes the files that the calls name, a few lines each, into `folder`, which is the present one."""
    for name, source in _FILES.items():
        shutil.copyfile(GOLDEN / source, folder / name)
    for name, text in _TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    (folder / "broken.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(255, 0, -1)))
    (folder / "folder").mkdir()
    for call in _MADE:
        assert __main__.run(call.split()) == 0


def answer(line: str) -> str:
    """The exit code of a call in the present folder, and what it says on standard error."""
    said = io.StringIO()
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")),
        contextlib.redirect_stderr(said),
    ):
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO())
        try:
            code = __main__.run(shlex.split(line.removeprefix("$ wv")))
        finally:
            sys.stdin = before
    return f"{code}: {said.getvalue().rstrip() or '(nothing)'}"


def rendered(table: str) -> str:
    """The table with every answer made anew."""
    lines = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_inputs(Path(folder))
        inputs = {*os.listdir()}
        for line in table.splitlines():
            if line.startswith("$ wv"):
                lines += [line, answer(line)]
                assert {*os.listdir()} == inputs, f"{line}: a wrong call must write nothing"
            elif not line or line.startswith("#"):
                lines.append(line)
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    TABLE.write_text(rendered(TABLE.read_text(encoding="utf-8")), encoding="utf-8")
