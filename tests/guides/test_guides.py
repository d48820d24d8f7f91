"""The guides: listed and shown by `wv help`, their command lines run and print what the text shows, their sentences are
short. console.py says how a block of commands is read and compared, prose.py what a sentence is."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.screen import OnTerminal
from tests.conftest import ROOT, Run
from tests.guides import console
from tests.guides.prose import help_texts, sentences, words
from tests.tiers import full
from tests.walk import for_each
from wv_cli.cli import COMMANDS, COMPAT
from wv_cli.cli.guide import WIDTH, plain_text
from wv_cli.guides import FOLDER, GUIDES, KINDS, guide_text
from wv_cli.io.launcher import _BLAS_THREADS, _COUNTS
from wv_cli.vectors.formats import FORMATS

README = "README.md"
FILES = (README, ".github/CONTRIBUTING.md", ".github/SECURITY.md")
# What runs in the full tier only, since its commands take more than a few seconds.
LONG = {
    README, "word-vectors", "classifier", "sentences", "codes-and-search", "compress", "train-on-pairs", "json",
    "evaluating", "determinism", "compare-corpora",
}  # fmt: skip
RUN = [README, *GUIDES]
# Whose sentences are short. What `changes` says of old versions stays as it was.
DOCUMENTS = [*FILES, "help", *(name for name in GUIDES if name != "changes")]
MOST_WORDS = 30
# The README's first line runs the demo, which its later ones ask.
BEFORE = {README: "```console\n$ wv demo --threads 1 -q > demo.txt\n```\n"}


def text_of(document: str) -> Iterator[tuple[str, str]]:
    """The parts of a document with their names."""
    if document == "help":
        yield from help_texts()
    else:
        yield document, (ROOT / document).read_text(encoding="utf-8") if document in FILES else guide_text(document)


def test_every_file_has_its_row() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(GUIDES)
    assert list(dict.fromkeys(guide.kind for guide in GUIDES.values())) == [
        kind for kind in KINDS if any(guide.kind == kind for guide in GUIDES.values())
    ], "guides of one kind stand together"


def test_no_guide_is_called_as_a_command() -> None:
    assert not set(GUIDES) & {*COMMANDS, *COMPAT}


@for_each("name", GUIDES)
def test_a_guide_begins_with_its_title(name: str) -> None:
    first, second = guide_text(name).splitlines()[:2]
    assert re.match(r"# \S", first) and second == ""


def test_help_lists_all_of_them(wv: Run) -> None:
    shown = wv("help").stdout
    assert shown.startswith(wv("--help").stdout)
    listed = " ".join(shown.removeprefix(wv("--help").stdout).split())
    for name, guide in GUIDES.items():
        assert f"{name} {guide.summary}" in listed


@for_each("name", GUIDES)
def test_help_shows_each(name: str, wv: Run) -> None:
    done = wv("help", name)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == plain_text(guide_text(name))
    assert "<!--" not in done.stdout and "```" not in done.stdout


def test_a_guide_on_a_terminal_is_paged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\nhead -n 1 | sed 's/^/paged: /'\n")
    pager.chmod(0o755)
    monkeypatch.setenv("PAGER", str(pager))
    terminal = OnTerminal([sys.executable, "-m", "wv_cli", "help", "changes"], 80)
    assert terminal.run() == 0
    assert "paged: # Changes" in terminal.screen.lines


def test_tables_are_columns_or_paragraphs() -> None:
    narrow = "| a | b |\n| --- | --- |\n| `x\\|y` | two words |\n"
    assert plain_text(narrow) == "a      b\n-----  ---------\n`x|y`  two words\n"
    wide = f"| a | b | c |\n| --- | --- | --- |\n| one | {'word ' * 30}| three |\n"
    shown = plain_text(wide).splitlines()
    assert shown[0] == "one" and shown[1].startswith("    b: word word") and shown[-1] == "    c: three"
    assert max(map(len, shown)) <= WIDTH
    assert (
        plain_text("see [the\nother](other.md) and [there](../there.md)\n")
        == "see the\nother (`wv help other`) and there\n"
    )


@for_each(
    "document, arguments",
    [
        (document, line)
        for document in [*GUIDES, README]
        for _, text in text_of(document)
        for line in console.wv_lines(text, "sh", "bash", "make")
    ],
)
def test_every_command_line_is_understood(document: str, arguments: list[str]) -> None:
    console.understand(arguments)


@pytest.mark.parametrize("document", [name if name not in LONG else full(name)[0] for name in RUN])
def test_commands_print_what_is_shown(document: str, tmp_path: Path) -> None:
    (folder := tmp_path / "work").mkdir()
    for _, text in text_of(document):
        wrong = console.check(BEFORE.get(document, "") + text, folder, console.make_path(tmp_path / "bin"))
        assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_sentence_is_long(document: str) -> None:
    long = [(name, each) for name, text in text_of(document) for each in sentences(text) if words(each) > MOST_WORDS]
    assert not long, "\n".join(f"{name}: {words(each)} words: {each}" for name, each in long)


@pytest.mark.parametrize("document", [*GUIDES, *FILES, "help"])
def test_nobody_is_told_to_install_another_program(document: str) -> None:
    """PyPI's wv-cli is not ours."""
    for name, text in text_of(document):
        assert not re.search(r"(pip3?|pipx|uv|conda)\b[^\n]*\b(install|run|add)\b[^\n]*\bwv[-_]cli\b", text), name


@for_each("name", GUIDES)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", guide_text(name)):
        assert (FOLDER / target).is_file() and target.endswith((".md", ".svg")), f"{name}: {target}"


def test_every_format_has_its_section() -> None:
    assert re.findall(r"^## ([a-z0-9-]+)$", guide_text("formats"), re.MULTILINE) == [*FORMATS]


def test_every_variable_is_explained() -> None:
    """Those of ours that the program reads, and what the launchers say."""
    sources = [*(ROOT / "wv_cli").rglob("*.py"), *(ROOT / "csrc" / "wv_cli").rglob("*.pyx")]
    read = {name for path in sources for name in re.findall(r'"(WV_[A-Z_]+)"', path.read_text(encoding="utf-8"))}
    explained = guide_text("environment")
    assert {"WV_ISA", "WV_HISTORY", "WV_PORTABLE"} <= read
    for name in (*read, *_COUNTS, *_BLAS_THREADS):
        assert f"`{name}`" in explained


@for_each(
    "shown, found, same",
    [
        (["a 1.00 b"], ["a  1.08 b"], True),
        (["a 1.00 b"], ["a 1.2 b"], False),
        (["0.01"], ["0.05"], True),
        (["0.01"], ["0.07"], False),
        (["1,000 rows"], ["1,099 rows"], True),
        (["word2vec"], ["word3vec"], False),
        (["paris  0.81"], ["london  0.81"], False),
        (["..."], [], True),
        (["a", "...", "c"], ["a", "x", "y", "c"], True),
        (["a", "...", "c"], ["a", "x", "y"], False),
        (["a", "..."], ["a"], True),
        ([], ["a"], False),
        (["a"], [], False),
    ],
)
def test_how_output_is_compared(shown: list[str], found: list[str], same: bool) -> None:
    assert console.same_lines(shown, found) is same


DOCUMENT = """\
# Title

```console
$ echo one \\
    two
one two
$ cat > a.txt <<'EOF'
$HOME
EOF
$ cat a.txt; wv --zzz || true
$HOME
wv: no such option --zzz; `wv --help` shows the options
```

```console words
$ echo the quick brown fox
a quick brown dog
```
"""


def test_a_document_is_run(tmp_path: Path) -> None:
    (folder := tmp_path / "work").mkdir()
    path = console.make_path(tmp_path / "bin")
    assert [step.typed[0] for step in console.steps(DOCUMENT)] == [
        "$ echo one \\", "$ cat > a.txt <<'EOF'", "$ cat a.txt; wv --zzz || true", "$ echo the quick brown fox",
    ]  # fmt: skip
    assert console.check(DOCUMENT, folder, path) == []
    (wrong,) = console.check(DOCUMENT.replace("one two\n", "one three\n"), folder, path)
    assert "one three" in wrong and "one two" in wrong
    (wrong,) = console.check("```console\n$ false\n$ echo no\n```\n", folder, path)
    assert "exit code 1" in wrong


@for_each(
    "line, commands",
    [
        ("xz -dc a | wv train - -o b 2>&1 | tee log", [["train", "-", "-o", "b"]]),
        ("wv nn a b > c && wv check c # both", [["nn", "a", "b"], ["check", "c"]]),
        ("PATH=x:$PATH mpirun -n 4 wv train 'a b' < c", [["train", "a b"]]),
        ("cat <(wv dump a args)", [["dump", "a", "args"]]),
        ("echo wv-demo", []),
    ],
)
def test_commands_of_a_line(line: str, commands: list[list[str]]) -> None:
    assert [*console.commands_of(line)] == commands


def test_what_a_sentence_is() -> None:
    text = (
        "# Head line\n\nOne two. Three `a b. C` four?\n* An item\n  goes on.\n\n| a cell | b. Two |\n\n```sh\nno\n```\n"
    )
    found = ["Head line", "One two.", "Three `X` four?", "An item goes on.", "a cell", "b.", "Two"]
    assert sentences(text) == found and words("a, b - c") == 3
