"""Statistics and decisions of `wv filter --heuristic` beside datatrove, whose words are spaCy's.

    python benchmarks/agreement/datatrove.py --peer PYTHON KIND=PATH[:N]... \\
        > benchmarks/agreement/datatrove.jsonl

PYTHON has `pip install datatrove==0.10.1 spacy==3.8.18`. A PATH is a file of JSON lines with the field text, CSV whose
last column is the text, or a folder: of its .py files the docstrings, each one a document, and .md, .rst and .txt files
as they are. Every so many of its documents are taken that N (1,000) come together.

The record's kinds are AG News's test set, pages of Rust's and Debian's documentation without markup, docstrings of 12
packages, Debian's descriptions of packages in 139 languages, and manuals (CMake's, README files, PyPI's pages).

A line of the record is one kind of text: how many `documents` have datatrove's words, decision and reason (`recipes`)
and statistics, as a fraction; below 1 with `examples` of the words around the first difference, ours and theirs.
"""

import argparse
import ast
import csv
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wv_cli import _textstatistics
from wv_cli.filtering.heuristics import HEURISTICS, RECIPES, statistics

PEER = """
import json, sys
import numpy as np
from datatrove.data import Document
from datatrove.pipeline.filters import c4_filters, gopher_repetition_filter as repetition
from datatrove.pipeline.filters import FineWebQualityFilter, GopherQualityFilter, GopherRepetitionFilter
from datatrove.utils.text import PUNCTUATION_SET, split_into_words
sentences, split = [0], c4_filters.split_into_sentences
def counted(line, language):
    found = split(line, language)
    sentences[0] += len(found)
    return found
c4_filters.split_into_sentences = counted
FILTERS = {"gopher-quality": GopherQualityFilter(), "gopher-repetition": GopherRepetitionFilter(),
           "c4": c4_filters.C4QualityFilter(),
           "c4-without-terminal": c4_filters.C4QualityFilter(filter_no_terminal_punct=False),
           "mc4": c4_filters.C4ParagraphFilter(), "fineweb": FineWebQualityFilter()}
STOP_WORDS = {"the", "be", "to", "of", "and", "that", "have", "with"}
for text in map(json.loads, sys.stdin):
    reasons, counts = {}, {}
    for name, each in FILTERS.items():
        sentences[0] = 0
        try:
            kept = each.filter(Document(text=text, id="0"))
            reasons[name] = "" if kept is True else kept[1] if isinstance(kept, tuple) else "dropped"
        except ZeroDivisionError:
            reasons[name] = "ZeroDivisionError"
        if reasons[name] in ("", "too_few_sentences"):
            counts[name] = sentences[0]
    words = split_into_words(text)
    plain = [word for word in words if any(c not in PUNCTUATION_SET for c in word)]
    n, found = len(words) or 1, {"words": len(plain), "mean-word-length": sum(map(len, plain)) / (len(plain) or 1)}
    found |= {"hashes-per-word": text.count("#") / n, "newlines-per-word": text.count("\\n") / n,
              "ellipses-per-word": (text.count("...") + text.count("…")) / n,
              "words-with-letter": sum(any(c.isalpha() for c in word) for word in words) / n,
              "stop-words": len(STOP_WORDS.intersection(words))}
    for size in (2, 3, 4):
        grams = repetition.get_n_grams(words, size)
        found[f"top-{size}-gram"] = repetition.find_top_duplicate(grams) / len(text) if grams else 0
    for size in range(5, 11):
        found[f"repeated-{size}-grams"] = repetition.find_all_duplicate(words, size) / len(text)
    for name, statistic in (("c4", "terminal-sentences"), ("c4-without-terminal", "sentences")):
        if name in counts:
            found[statistic] = counts[name]
    print(json.dumps({"words": words, "reasons": reasons, "statistics": found}))
"""


def documents(path: Path) -> Iterator[str]:
    if path.suffix == ".jsonl":
        yield from (json.loads(line)["text"] for line in path.open())
    elif path.suffix == ".csv":
        with path.open(newline="") as stream:
            yield from (row[-1] for row in csv.reader(stream))
    else:
        for each in sorted(path.rglob("*")):
            if each.suffix == ".py":
                yield from docstrings(each)
            elif each.suffix in (".md", ".rst", ".txt"):
                yield each.read_text(errors="replace")


def docstrings(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(path.read_text())
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def some(path: Path, most: int) -> list[str]:
    found = [text for text in documents(path) if text.strip()]
    return found[:: max(1, len(found) // most)][:most]


def reason(recipe: str, values: dict[str, float]) -> str:
    return next(
        (each.reason for each in RECIPES[recipe] if not (values[each.heuristic] >= each.bound
         if each.comparison == ">=" else values[each.heuristic] <= each.bound)), "")  # fmt: skip


def around(ours: list[str], theirs: list[str]) -> list[str]:
    """The words at the first difference, up to where both have had as many characters."""
    at = next((i for i, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), 0)
    parts = []
    for words, others in ((ours, theirs), (theirs, ours)):
        ends = {sum(map(len, others[at : at + n])) for n in range(1, 9)}
        size = next((n for n in range(1, 9) if sum(map(len, words[at : at + n])) in ends), 1)
        parts.append(" ".join(words[at : at + size]))
    return parts


def compare(texts: list[str], theirs: list[Any]) -> dict[str, Any]:
    found = statistics([text.encode() for text in texts], list(HEURISTICS))
    agreeing: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    examples: Counter[tuple[str, ...]] = Counter()
    for i, (text, their) in enumerate(zip(texts, theirs, strict=True)):
        values = {name: float(column[i]) for name, column in found.items()}
        words = [word.decode() for word in _textstatistics.tokens(text.encode())]
        rows = {"words": words == their["words"]}
        if not rows["words"]:
            examples[tuple(around(words, their["words"]))] += 1
        for recipe, expected in their["reasons"].items():
            if expected != "ZeroDivisionError":
                rows[f"recipe {recipe}"] = reason(recipe, values) == expected
        for name, expected in their["statistics"].items():
            rows[f"statistic {name}"] = abs(values[name] - expected) < 1e-12
        agreeing.update(name for name, same in rows.items() if same)
        asked.update([*rows])
    row: dict[str, Any] = {"documents": len(texts), "words": round(agreeing["words"] / len(texts), 4)}
    for part in ("recipe", "statistic"):
        names = [name for name in asked if name.startswith(part)]
        row[f"{part}s"] = {name.partition(" ")[2]: round(agreeing[name] / asked[name], 4) for name in names}
    return row | {"examples": [[*pair, count] for pair, count in examples.most_common(12)]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="Python with datatrove and spaCy")
    parser.add_argument("sources", nargs="+", metavar="KIND=PATH[:N]")
    given = parser.parse_args()
    for source in given.sources:
        kind, _, rest = source.partition("=")
        path, _, most = rest.partition(":")
        texts = some(Path(path), int(most or 1000))
        with tempfile.TemporaryFile("w+") as stream:
            stream.writelines(f"{json.dumps(text)}\n" for text in texts)
            stream.seek(0)
            done = subprocess.run([given.peer, "-c", PEER], stdin=stream, stdout=subprocess.PIPE, check=True, text=True)
        row = {"kind": kind} | compare(texts, [json.loads(line) for line in done.stdout.splitlines()])
        print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
