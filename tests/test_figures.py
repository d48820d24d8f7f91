"""Every figure of the READMEs has its record in benchmarks/results, and their pages are short and plain."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

BENCHMARKS = ROOT / "benchmarks"
NOTES = BENCHMARKS / "notes.md"
PAGE = BENCHMARKS / "RESULTS.md"
RESULTS = sorted((BENCHMARKS / "results").glob("*.jsonl"))
PROSE = [BENCHMARKS / "README.md", NOTES, BENCHMARKS / "records.md"]


def test_figures_are_those_of_the_records():
    check = [sys.executable, str(BENCHMARKS / "tables.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_of_records_with_one_name_the_newest_counts(tmp_path):
    """A run appends its record, and branches are merged in any order."""
    script = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[2])
import record
record.RESULTS = pathlib.Path(sys.argv[1])
for name, date, seconds in [("b", "2026-11-23 08:00 UTC", 1), ("b", "2026-11-24 08:00 UTC", 2),
                            ("a", "2026-11-23 09:00 UTC", 3), ("b", "2026-11-22 08:00 UTC", 4),
                            ("a", "2026-11-23 09:00 UTC", 5)]:
    record.append({"name": name, "suite": "train", "date": date, "seconds": seconds})
print(json.dumps([[name, found["seconds"]] for name, found in record.newest().items()]))
"""
    python = [sys.executable, "-c", script, str(tmp_path), str(BENCHMARKS)]
    done = subprocess.run(python, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [["a", 5], ["b", 2]]
    assert len((tmp_path / "train.jsonl").read_text().splitlines()) == 5


def test_scripts_are_compared_call_by_call(tmp_path):
    """A script runs with another import to its end, whatever fails; numbers are equal to 4 digits."""
    (tmp_path / "math.txt").write_text(
        "import math\nprint(math.sqrt(4))\nprint(math.nothing())\nprint(math.floor(1))\n"
        "print(math.sqrt(5))  # random\nprint(math.sqrt('a'))\n"
    )
    script = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[2])
import imports, peer_script
ours, theirs = (peer_script.run(pathlib.Path(sys.argv[1], "math.txt"), "math", name) for name in ("cmath", "math"))
print(json.dumps([imports.verdict(*each) for each in zip(ours, theirs, strict=True)]))
print(imports.is_equal([1.00001, "a"], [1, "a"]), imports.is_equal([1.001], [1]), imports.is_equal([1], [1, 2]))
"""
    python = [sys.executable, "-c", script, str(tmp_path), str(BENCHMARKS)]
    done = subprocess.run(python, capture_output=True, text=True, check=True)
    verdicts, equal = done.stdout.splitlines()
    # A complex number is none of the floats that math gives, and cmath rounds nothing.
    assert json.loads(verdicts) == ["equal", "different", "equal", "missing", "different", "equal"]
    assert equal == "True False False"


def test_every_record_has_its_section_and_every_section_its_record():
    """That each is current, `tables.py --check` says above."""
    names = {json.loads(line)["name"] for path in RESULTS for line in path.read_text(encoding="utf-8").splitlines()}
    assert names
    assert sorted(names) == re.findall(r"^## ([\w-]+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_on_benchmarks_is_short():
    assert len((BENCHMARKS / "README.md").read_text(encoding="utf-8").splitlines()) <= 250


def plain(text: str) -> str:
    """Markdown without code, generated blocks and the targets of links; inline code is one word."""
    text = re.sub(r"<!-- figures: .*?<!-- end -->|```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"`[^`]*`", "code", "\n".join(line for line in text.split("\n") if not line.startswith("    ")))
    return re.sub(r"\]\([^)]*\)", "]", text)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def sentences(text: str) -> Iterator[str]:
    """Those of paragraphs, items of lists and cells of tables."""
    for part in re.split(r"\n\s*\n|\n(?=\* |\||#)", plain(text)):
        for piece in cells(part) if part.startswith("|") else [part]:
            yield from (re.sub(r"\s+", " ", sentence) for sentence in re.split(r"(?<=[.!?])\**\s+", piece))


def headers() -> list[tuple[str, str]]:
    """(record, what its section says above its command)."""
    sections = re.split(r"^## ([\w-]+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [(name, text.partition("\n`python ")[0]) for name, text in zip(sections[::2], sections[1::2], strict=True)]


@pytest.mark.parametrize("path", PROSE, ids=lambda path: path.name)
def test_sentences_are_short(path):
    long = [found for found in sentences(path.read_text(encoding="utf-8")) if len(found.split()) > 30]
    assert not long


def test_sentences_above_the_tables_are_short():
    long = [(name, found) for name, text in headers() for found in sentences(text) if len(found.split()) > 30]
    assert not long


def anchors(path: Path) -> set[str]:
    """The names that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_links_to_and_from_the_pages_on_benchmarks_lead_somewhere():
    pages = [*PROSE[:2], PAGE]
    others = [path for folder in (".", "csrc", "tests", "data") for path in (ROOT / folder).glob("*.md")]
    for page in [*pages, *others]:
        for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve() if target else page
            if page in pages or path.is_relative_to(BENCHMARKS):
                assert path.exists(), f"{page}: {target}"
                assert not anchor or anchor in anchors(path), f"{page}: {target}#{anchor}"


def test_trials_are_short():
    rows = [line for line in NOTES.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert rows
    assert not [row for row in rows if sum(len(plain(cell).split()) for cell in cells(row)) > 40]


def test_trials_say_what_was_tried_its_result_and_why():
    parts = re.findall(r"^(\|.*)\n\|[-:|]+\n((?:\|.*\n)+)", NOTES.read_text(encoding="utf-8"), re.MULTILINE)
    trials = [rows for head, rows in parts if cells(head) == ["tried", "result", "why"]]
    assert len(trials) >= 8
    for row in "".join(trials).splitlines():
        tried, result, _ = re.split(r"(?<!\\)\|", row)[1:-1]
        assert tried.strip() and result.strip(), row
