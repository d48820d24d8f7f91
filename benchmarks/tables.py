"""Makes every table of figures from the records in results/, so that no figure stands without a record.

    python benchmarks/tables.py             writes RESULTS.md, a section a record, and the blocks of the documents
    python benchmarks/tables.py --check     lists what is not current and which records are incomplete

A section of RESULTS.md holds the docstring of the suite, the section `## NAME` of records.md, the command, date,
machine and versions of the record, and its table. A block stands between `<!-- figures: NAME -->` and `<!-- end -->` in
one of the documents or guides; excerpts.py makes it, and this module the table of suites.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import excerpts
import paired
from record import cell, markdown, newest
from run import SUITES

HERE = Path(__file__).resolve().parent
PAGE = HERE / "RESULTS.md"
# Documents whose sentences may state no figure outside of a block. A block is optional.
DOCUMENTS = [HERE.parent / "README.md", HERE.parent / "csrc" / "README.md"]
DOCUMENTS += [HERE / name for name in ("README.md", "notes.md", "records.md")]
GUIDES = sorted((HERE.parent / "wv_cli" / "guides").glob("*.md"))  # their figures: tests/guides/test_guide_figures.py
# What every record says of itself beside its runs.
FACTS = ("suite", "date", "command", "machine", "versions", "runs")
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
DATED = re.compile(r"^\|.*\b20\d\d-\d\d-\d\d\b.*$", re.MULTILINE)
RECORDS = "A record is a line of a file in [results](results/). Here is the newest record of each name."
MADE = "<!-- Made by `python benchmarks/tables.py`. Do not edit. -->"


def documentation(suite: str) -> tuple[str, str, str]:
    """The first sentence, the command and the rest of what a suite's docstring says, as Markdown.

    A module with several suites documents each at its function. All three are empty for a suite that is not ours.
    """
    runs = {**{name: row.run for name, row in SUITES.items()}, "paired": paired.main}
    if suite not in runs:
        return "", "", ""
    own = inspect.getdoc(runs[suite]) or ""
    text = own if own.startswith("Suite `") else inspect.getdoc(inspect.getmodule(runs[suite])) or ""
    first, *others = re.sub(r"^Suite `[\w-]+`: ", "", text).split("\n\n")
    command = [part for part in others if part.startswith("    python benchmarks/")]
    rest = [part for part in others if part not in command]
    return first[0].upper() + first[1:], command[0] if command else "", "\n\n".join(rest)


def notes() -> dict[str, str]:
    """The sections of records.md by the name of their record."""
    parts = re.split(r"^## ([\w-]+)\n", (HERE / "records.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def section(name: str) -> str:
    """The section of a record in RESULTS.md."""
    result = newest()[name]
    machine = result["machine"]
    if isinstance(machine, dict):
        machine = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB"
    versions = "; ".join(
        value if key == "wv" and value.startswith("wv ") else f"{key} {value}"
        for key, value in result["versions"].items()
    )
    count = max((run.get("round", 1) for run in result["runs"]), default=1)
    rounds = "1 round" if count == 1 else f"{count} rounds"
    first, _, rest = documentation(result["suite"])
    parts = [
        f"## {name}",
        *filter(None, (first, rest, notes().get(name, ""))),
        f"`{result['command']}`",
        f"{result['date']}, {machine}, {rounds}; {versions}.",
        "\n".join(table(result)),
    ]
    return "\n\n".join(parts) + "\n"


def page() -> str:
    """The text of RESULTS.md."""
    return f"{MADE}\n\n# Results\n\n{RECORDS}\n\n" + "\n".join(map(section, newest()))


def table(result: dict[str, Any]) -> list[str]:
    """The table of a record: that of its suite, or the single runs where the record is not of a suite here."""
    if result["suite"] in SUITES:
        return SUITES[result["suite"]].table(result)
    if result["suite"] == "paired":
        return paired.table(result)
    columns = list(dict.fromkeys(name for run in result["runs"] for name in run))
    labels = sum(isinstance(result["runs"][0].get(name), str | bool) for name in columns)
    return markdown(columns, [[_plain(run.get(name)) for name in columns] for run in result["runs"]], labels)


def _plain(value: object) -> str:
    """A cell of the single runs."""
    return ("no", "yes")[value] if isinstance(value, bool) else cell(value).replace("|", r"\|")


def suites() -> str:
    """README's table: every suite with its command and its records."""
    records: dict[str, list[str]] = {}
    for name, result in newest().items():
        records.setdefault(result["suite"], []).append(f"[{name}](RESULTS.md#{name})")
    cells = []
    for suite in SUITES:
        first, command, _ = documentation(suite)
        words = re.sub(r"[\\\s]+", " ", re.split(r"(?<!\\)\n", command.strip())[0]).removeprefix(
            "python benchmarks/run.py "
        )
        cells.append([f"`{suite}`", first.replace("\n", " "), f"`{words.strip()}`", ", ".join(records.get(suite, []))])
    return "\n".join(markdown(["suite", "measures", "arguments of run.py", "results"], cells, labels=4)) + "\n"


BLOCKS: dict[str, Callable[[], str]] = {**excerpts.BLOCKS, "suites": suites}


def rendered(text: str) -> str:
    """The document with every block made anew. Raises KeyError for a block that nothing makes."""
    return BLOCK.sub(lambda match: match[1] + BLOCKS[match[2]]() + match[3], text)


def files() -> Iterator[tuple[Path, str]]:
    """Every file that is made here, wholly or in its blocks, with the text it should have."""
    for document in [*DOCUMENTS, *GUIDES]:
        yield document, rendered(document.read_text(encoding="utf-8"))
    yield PAGE, page()


def loose(text: str) -> list[str]:
    """Figures of speed, size or quality that stand outside of the blocks and of rows with the date of their record."""
    undated = DATED.sub("", BLOCK.sub("", text))
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", undated, flags=re.DOTALL)
    return re.findall(r"\b\d[\d.,]*\s?(?:x(?! \d)|times|%|[KMG]B|GB/s|s|seconds?|ms|words/s|points?)\b", prose)


def problems() -> list[str]:
    """What is wrong with records and documents, one line each."""
    found = []
    for name, result in newest().items():
        missing = [fact for fact in FACTS if not result.get(fact)]
        missing += [] if result.get("corpus") or result.get("data") else ["corpus or data"]
        found += [f"record {name}: lacks {', '.join(missing)}"] if missing else []
    for path, text in files():
        place = path.relative_to(HERE.parent)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{place}: not as the records say; run: python benchmarks/tables.py")
        found += [f"{place}: no record for {figure!r}" for figure in loose(text) if path in DOCUMENTS]
    for suite in SUITES:
        found += [f"suite {suite}: no record for {figure!r}" for figure in loose("\n".join(documentation(suite)))]
    found += [f"records.md: there is no record {name}" for name in notes().keys() - newest().keys()]
    return found


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        found = problems()
        print("\n".join(found))
        return 1 if found else 0
    for path, text in files():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
