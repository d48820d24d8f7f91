"""The guides: listed and shown by `wv help`, their command lines run and print what the text shows, their sentences are
short. console.py says how a block of commands is read and compared, prose.py what a sentence is."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.cli.screen import OnTerminal
from tests.conftest import ROOT, Run
from tests.guides import console
from tests.guides.prose import help_texts, sentences, words
from tests.tiers import full
from tests.walk import for_each, require_rows
from wv_cli.cli import COMMANDS, COMPAT
from wv_cli.cli.document import Items, Paragraph, Table, Title, Verbatim, read_markdown
from wv_cli.cli.guide import render
from wv_cli.guides import FOLDER, GUIDES, KINDS, guide_text
from wv_cli.io.launcher import _BLAS_THREADS, _COUNTS
from wv_cli.text.records.kinds import RECORDS
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


def test_help_is_one_screen_with_all_names(wv: Run) -> None:
    shown = wv("help").stdout
    lines = shown.splitlines()
    assert len(lines) < 24 and max(map(len, lines)) <= 80
    assert set(shown.split()) >= {*GUIDES, *COMMANDS}
    tutorials = [name for name, guide in GUIDES.items() if guide.kind == "tutorial"]
    assert [line.split()[0] for line in lines[1 : 1 + len(tutorials)]] == tutorials


def test_help_describes_each_guide(wv: Run) -> None:
    listed = " ".join(wv("help", "--guides").stdout.split())
    for name, guide in GUIDES.items():
        assert f"{name} {guide.summary}" in listed


@for_each("name", GUIDES)
def test_help_shows_each(name: str, wv: Run) -> None:
    done = wv("help", name)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout == render(guide_text(name))
    assert "<!--" not in done.stdout and "```" not in done.stdout


@for_each("name", GUIDES)
def test_guides_fit_the_terminal(name: str) -> None:
    """All but code, and words that are longer than a line. Bold letters change no line."""
    blocks = [block for block in read_markdown(guide_text(name)) if isinstance(block, Verbatim)]
    code = {f"    {line}".rstrip() for block in blocks for line in block.lines}
    for width in (100, 80, 40):
        shown = render(guide_text(name), width)
        for line in shown.splitlines():
            assert len(line) <= width or line in code or " " not in line.strip(" *"), f"{width}: {line}"
        styled = render(guide_text(name), width, styled=True)
        assert click.unstyle(styled) == shown and "\x1b[1m" in styled


def paged(monkeypatch: pytest.MonkeyPatch, folder: Path, guide: str, **variables: str) -> list[str]:
    """What stands on a terminal of 80 x 24 after `wv help GUIDE`, with a pager that shows the orders."""
    pager = folder / "less"
    pager.write_text("#!/bin/sh\nhead -n 1 | cat -v | sed 's/^/paged: /'\n")
    pager.chmod(0o755)
    for name, value in {"PAGER": str(pager), "TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    terminal = OnTerminal([sys.executable, "-m", "wv_cli", "help", guide], 80)
    assert terminal.run() == 0
    return terminal.screen.lines


def test_a_guide_on_a_terminal_is_paged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    title = "^[[1m^[[4m#^[[0m ^[[1m^[[4mChanges^[[0m"
    assert f"paged: {title}" in paged(monkeypatch, tmp_path, "changes")
    assert "paged: # Changes" in paged(monkeypatch, tmp_path, "changes", NO_COLOR="1")


def test_a_guide_that_fits_is_not_paged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = render(guide_text("exit-codes"), 80)
    lines = paged(monkeypatch, tmp_path, "exit-codes", LINES=f"{text.count(chr(10)) + 1}")
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_blocks_of_markdown() -> None:
    text = (
        "<!-- left out -->\n# One `two`\n\nA line\nof *two*:\n* An item\n  of two lines.\n* Two.\n\n"
        "3. Three\n\n```sh\n# no title\n\n| x |\n```\n\n    indented\n\n      more\n\n"
        "| a | b |\n|---|--:|\n| `x\\|y` | 1 |\n"
    )
    assert [*read_markdown(text)] == [
        Title("One `two`", 1),
        Paragraph("A line of *two*:"),
        Items([("*", "An item of two lines."), ("*", "Two.")]),
        Items([("3.", "Three")]),
        Verbatim(["# no title", "", "| x |"]),
        Verbatim(["indented", "", "  more"]),
        Table(["a", "b"], [["`x|y`", "1"]], frozenset({1})),
    ]


def test_tables_are_columns_or_paragraphs() -> None:
    narrow = "| a | b |\n| --- | --: |\n| `x\\|y` | two words |\n| z | 北京 |\n"
    assert render(narrow) == "a              b\n-----  ---------\n`x|y`  two words\nz           北京\n"
    wrapped = render(f"| a | b |\n|---|---|\n| one | {'word ' * 30}|\n").splitlines()
    assert wrapped[2].startswith("one  word word") and wrapped[3].startswith("     word") and len(wrapped[2]) <= 80
    long = f"| a | b | c |\n| --- | --- | --- |\n| one | {'word ' * 30}| {'x' * 70} |\n"
    shown = render(long).splitlines()
    assert shown[0] == "one" and shown[1].startswith("    b: word word") and shown[-1] == f"    c: {'x' * 70}"
    assert max(map(len, shown)) <= 80


def test_links_become_commands() -> None:
    text = "see [the\nother](other.md), [*there*](../there.md), [a `page`](https://a.b/c) and ![x](x.svg)\n"
    shown = "see the other (`wv help other`), *there*, a `page` (https://a.b/c) and [picture: x]\n"
    assert render(text, 100) == shown
    assert render("**one `two` three**\n", styled=True).count("\x1b[0m") == 3, "orders of its own for every word"


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


@pytest.mark.parametrize("document", RUN)
def test_a_training_whose_result_is_shown_is_repeatable(document: str) -> None:
    for _, text in text_of(document):
        for block in console.blocks(text, "console"):
            for line in re.findall(r"^\$ wv (?:train|glove)\b(?:.*\\\n)*.*", block, re.MULTILINE):
                assert re.search("--threads|--deterministic|--model pairs", line), line


@pytest.mark.parametrize("document", [name if name not in LONG else full(name)[0] for name in RUN])
def test_commands_print_what_is_shown(document: str, tmp_path: Path) -> None:
    (folder := tmp_path / "work").mkdir()
    for _, text in text_of(document):
        wrong = console.check(BEFORE.get(document, "") + text, folder, console.make_path(tmp_path / "bin"))
        assert not wrong, "\n".join(wrong)
        assert not console.check_python(text, folder)


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
    sections = re.findall(r"^## ([a-z0-9-]+)$", guide_text("formats"), re.MULTILINE)
    require_rows("wv_cli/guides/formats.md", sections, FORMATS)
    assert sections == [*FORMATS], "the sections of guides/formats.md stand in the order of ROWS in vectors/heads.py"


def test_every_ending_of_records_is_explained() -> None:
    endings = {ending for kind in RECORDS.values() for ending in kind.endings}
    rows = [line.split("|")[1] for line in guide_text("records").splitlines() if line.startswith("| `.")]
    require_rows("The table of wv_cli/guides/records.md", re.findall(r"`(\.\w+)`", "".join(rows)), endings)


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
        (["1 word; 0.0 s (12 MB/s)"], ["1 word; 2.5 s (0 MB/s)"], True),
        (["1 word; 0.0 s"], ["2 words; 0.0 s"], False),
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
