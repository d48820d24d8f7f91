"""The README: its tables are the program's tables, its command lines work, `wv demo` does what it says."""

import gzip
import lzma
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Run
from tests.guides import console
from tests.readme import DOCUMENTS as TABLES
from tests.readme import README, rendered
from tests.walk import for_each
from wv_cli.cli.custom.demo import last_words
from wv_cli.cli.sample import DATA, link_data
from wv_cli.guides import guide_text

TEXT = README.read_text(encoding="utf-8")
PYTHON = console.blocks(TEXT, "python")
INDENTED = [line.strip() for line in TEXT.splitlines() if line.startswith("    ")]
NEXT = ["train", "nn", "eval", "help"]  # what the demo tells to type with one's own text
DOCUMENTS = [
    "README.md",
    "benchmarks/README.md",
    "tests/README.md",
    "csrc/README.md",
    "data/README.md",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
]


@pytest.mark.parametrize("document", TABLES, ids=lambda path: path.name)
def test_tables_are_current(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert rendered(text) == text, "run: python tests/readme.py"


@for_each("arguments", [found for line in INDENTED for found in console.commands_of(line)], " ".join)
def test_indented_command_lines_are_understood(arguments: list[str]) -> None:
    console.understand(arguments)


@pytest.mark.full
def test_the_guide_of_one_liners_works(tmp_path: Path, slice_text: Path) -> None:
    """Run as it stands, by a shell, on every sixth line of the shipped text and the lines with words it asks for."""
    (block,) = console.blocks(guide_text("one-liners"), "sh")
    every = slice_text.read_bytes().splitlines(keepends=True)
    asked = {b"paris", b"france", b"germany", b"music"}
    corpus = b"".join(line for number, line in enumerate(every) if number % 6 == 0 or asked & {*line.split()})
    (tmp_path / "corpus.txt").write_bytes(corpus)
    (tmp_path / "new.txt").write_bytes(slice_text.read_bytes()[:100_000])
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(corpus, 1))
    # Labels that can be learnt: the first word of a line.
    lines = [line for line in slice_text.read_bytes().splitlines()[:3000] if line.strip()]
    labeled = [b"__label__%s %s\n" % (line.split()[0], line) for line in lines]
    (tmp_path / "labeled.txt").write_bytes(b"".join(labeled[:-200]))
    (tmp_path / "held-out.txt").write_bytes(b"".join(labeled[-200:]))
    (tmp_path / "lines.txt").write_bytes(b"\n".join(lines[:50]) + b"\n")
    (tmp_path / "data").symlink_to(ROOT / "data")
    path = console.make_path(tmp_path / "bin")
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", block],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = set(re.findall(r"(?:-o |> |convert \S+ )(\S+\.\w+)", block))
    assert {"vectors.bin", "vectors.glove", "topics.ftz", "scores.json"} <= made
    assert made <= {path.name for path in tmp_path.iterdir()}


def test_the_python_examples_work(tmp_path: Path, slice_xz: Path, slice_text: Path) -> None:
    """As they stand, on the whole shipped text: king and queen must be known."""
    (tmp_path / "corpus.txt").write_bytes(lzma.decompress(slice_xz.read_bytes()))
    lines = [line for line in slice_text.read_bytes().splitlines() if line.strip()]
    (tmp_path / "labeled.txt").write_bytes(b"".join(b"__label__%s %s\n" % (line.split()[0], line) for line in lines))
    assert len(PYTHON) == 1
    command = [sys.executable, "-P", "-W", "error", "-c", PYTHON[0]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "the library prints nothing"
    assert {"vectors.bin", "topics.bin"} <= {path.name for path in tmp_path.iterdir()}


def test_demo_shows_scores_and_leaves_the_files_it_names(wv: Run, tmp_path: Path) -> None:
    """One epoch instead of twenty; then a line it printed is run again and answers the same."""
    done = wv("demo", "-o", "made", "--epochs", 1, "--threads", 2, timeout=600)
    assert done.returncode == 0, done.stderr
    for expected in ("spearman", "accuracy", "the files are in made: "):
        assert expected in done.stdout.lower()
    assert {"vectors.bin", "vectors.vec"} <= {path.name for path in (tmp_path / "made").iterdir()}
    lines = done.stdout.splitlines()
    steps = [index for index, line in enumerate(lines) if line.startswith("$ wv ")]
    names = [shlex.split(lines[index])[2] for index in steps]
    assert names == ["train", "nn", *["analogy"] * 3, "eval", "eval", *NEXT]
    assert not any(str(ROOT) in line or "site-packages" in line for line in lines)
    again = wv(*shlex.split(lines[steps[1]])[2:])
    assert again.stdout.splitlines() == lines[steps[1] + 1 : steps[2] - 2]


def test_demo_says_what_to_type_next(wv: Run, tmp_path: Path, slice_text: Path, slice_vectors: Path) -> None:
    """Those lines work with another text, as they stand but for its name and for a quick run."""
    (tmp_path / "made").mkdir()
    link_data(tmp_path / "made")
    (tmp_path / "made" / "vectors.bin").write_bytes(slice_vectors.read_bytes())
    (tmp_path / "my.txt").write_bytes(slice_text.read_bytes())
    lines = [shlex.split(line)[2:] for line in last_words(Path("made")).splitlines() if line.startswith("$ wv ")]
    assert [line[0] for line in lines] == NEXT
    for line in lines:
        quick = ["--epochs", "1", "--dim", "8"] if line[0] == "train" else []
        done = wv(*line, *quick)
        assert done.returncode == 0, done.stderr


def test_demo_leaves_a_file_alone(wv: Run, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    own = tmp_path / "made" / "questions-words.txt"
    own.write_text("mine\n")
    done = wv("demo", "-o", "made")
    assert done.returncode == 1 and own.read_text() == "mine\n"
    assert done.stderr.startswith("wv demo: made/questions-words.txt: exists and is no link to ")


def test_demo_leaves_only_its_files(wv: Run, tmp_path: Path) -> None:
    done = wv("demo", "--files-only", "-o", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert {path.name for path in tmp_path.iterdir()} == {*DATA}
    assert all((tmp_path / name).stat().st_size for name in DATA)
    refused = wv("demo", "--files-only", "--epochs", 20)
    assert refused.returncode == 2
    assert "--epochs" in refused.stderr and "--files-only" in refused.stderr


def test_demo_cannot_write(wv: Run) -> None:
    done = wv("demo", "-o", "no-such-folder/made")
    assert done.returncode == 1
    assert done.stderr.startswith("wv demo: no-such-folder/made: cannot make the folder: ")
    assert done.stdout == ""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), f"{name}: {target}"


@pytest.mark.parametrize("name", ["wv_cli/README.md", "csrc/README.md", "tests/README.md"])
def test_documents_for_contributors_name_what_is_there(name: str) -> None:
    """Files, and the tables in them: `TABLE` of `file.py`. NAME and X stand for a name to choose."""
    text = (ROOT / name).read_text(encoding="utf-8")
    folders = (ROOT / each for each in ("wv_cli", "csrc", "tests", "benchmarks", "data", ".github"))
    paths = [path for folder in folders for path in folder.rglob("*.*")]

    def find(file: str) -> list[Path]:
        return [path for path in paths if f"/{path.relative_to(ROOT).as_posix()}".endswith(f"/{file}")]

    files = set(re.findall(r"`((?:[\w.-]+/)*[a-z][\w-]*\.(?:py|pyx|c|h|def|txt))`", text))
    missing = [file for file in sorted(files) if not re.search(r"NAME|X", file) and not find(file)]
    assert not missing, f"{name} names files that are not there: {', '.join(missing)}"
    for table, file in re.findall(r"`([A-Z][A-Z_]+)`(?: or `[A-Z]+`)? of `((?:[\w.-]+/)*\w+\.\w+)`", text):
        there = any(re.search(rf"\b{table}\b", path.read_text(encoding="utf-8")) for path in find(file))
        assert there, f"{name}: there is no {table} in {file}"
