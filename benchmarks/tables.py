"""Makes the figures of README.md and benchmarks/README.md from the raw results, so that none can stand without one.

    python benchmarks/tables.py             rewrites the blocks between <!-- figures: NAME --> and <!-- end --> in both
    python benchmarks/tables.py --check     says what is not as the records say, and which records are not whole

A block is either the table of one record (NAME is the record's file in results/) or a text of WORDS, which picks
figures from several.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import paired
from run import SUITES

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
DOCUMENTS = [HERE.parent / "README.md", HERE / "README.md"]
TABLES = {**{name: suite.table for name, suite in SUITES.items()}, "paired": paired.table}
# What every record says of itself beside its runs.
FACTS = ("suite", "date", "command", "machine", "versions", "runs")
BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def record(name: str) -> dict[str, Any]:
    """The raw result results/NAME.json."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def described(name: str) -> str:
    """What made a record, and its table."""
    result = record(name)
    machine = result["machine"]
    versions = "; ".join(value if key == "wv" else f"{key} {value}" for key, value in result["versions"].items())
    rounds = max((run.get("round", 1) for run in result["runs"]), default=1)
    lines = [
        f"`{result['command']}`",
        "",
        f"{result['date']}, {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{rounds} rounds; {versions}.",
        "",
        *TABLES[result["suite"]](result),
    ]
    return "\n".join(lines) + "\n"


def times(name: str, program: str, **key: str) -> float | None:
    """CPU seconds of `program` over ours in the rows of a summary that have `key`; None where it did not run."""
    rows = [row for row in record(name)["summary"] if all(row[field] == value for field, value in key.items())]
    seconds = {row["program"]: row["cpu_seconds"] for row in rows}
    return seconds[program] / seconds["wv"] if program in seconds else None


def ratios() -> str:
    """README's table: other programs' CPU time as a multiple of ours."""
    programs = ("word2vec", "fasttext", "gensim", "GloVe")
    jobs: list[tuple[str, Callable[[str], float | None]]] = [
        ("skip-gram, negative sampling, dim 100", lambda p: times("train-dim100", p, model="skipgram-ns")),
        ("skip-gram, negative sampling, dim 300", lambda p: times("train-dim300", p, model="skipgram-ns")),
        ("CBOW, negative sampling", lambda p: times("train-dim100", p, model="cbow-ns")),
        ("skip-gram, hierarchical softmax", lambda p: times("train-dim100", p, model="skipgram-hs")),
        ("skip-gram with subwords, model file included", lambda p: times("subwords", p, model="skipgram-subwords")),
        ("CBOW with subwords, model file included", lambda p: times("subwords", p, model="cbow-subwords")),
        ("classifier, training", lambda p: _labels(p, "softmax", "train_cpu_s")),
        ("classifier with bigrams, training", lambda p: _labels(p, "softmax-bigrams", "train_cpu_s")),
        ("classifier, predicting", lambda p: _labels(p, "softmax", "predict_cpu_s")),
        ("classifier, quantising", lambda p: _labels(p, "softmax", "quantize_cpu_s")),
        ("GloVe, counting and ordering", lambda p: times("glove", p, stage="count and order")),
        ("GloVe, one iteration", lambda p: times("glove", p, stage="one iteration")),
        ("loading `.vec` (in process)", lambda p: times("vectors", p, task="load .vec")),
        ("saving `.vec` (in process)", lambda p: times("vectors", p, task="save .vec")),
    ]
    lines = ["| job | word2vec | fastText | gensim | GloVe |", "|---|--:|--:|--:|--:|"]
    for job, ratio in jobs:
        found = [ratio(program) for program in programs]
        lines.append(f"| {job} | " + " | ".join("" if x is None else f"{x:.2g}" for x in found) + " |")
    return "\n".join(lines) + "\n"


def _labels(program: str, setting: str, figure: str) -> float | None:
    rows = {row["program"]: row[figure] for row in record("classifier")["summary"] if row["setting"] == setting}
    return rows[program] / rows["wv"] if program in rows else None


def quality() -> str:
    """README's table: scores after five epochs, and how far apart they are."""
    names = {"analogy": "analogies, %", "WS353": "WordSim-353", "SimLex": "SimLex-999"}
    lines = ["| model | score | wv | word2vec | gensim | |", "|---|---|--:|--:|--:|---|"]
    for model in ("skipgram-ns", "cbow-ns", "skipgram-hs"):
        rows = {row["program"]: row for row in record(f"quality-{model}")["summary"]}
        for name, title in names.items():
            digits = 1 if name == "analogy" else 3
            cells = [
                f"{rows[program]['scores'][name]:.{digits}f}"
                + (f" ± {rows[program]['spread'][name] / 2:.{digits}f}" if rows[program]["rounds"] > 1 else "")
                for program in ("wv", "word2vec", "gensim")
            ]
            gap = rows["wv"]["lower"].get(name)
            lines.append(f"| {model} | {title} | {' | '.join(cells)} | {f'lower: {gap}' if gap else 'not lower'} |")
    return "\n".join(lines) + "\n"


WORDS: dict[str, Callable[[], str]] = {"ratios": ratios, "quality": quality}


def rendered(text: str) -> str:
    """The document with every block made anew. Raises FileNotFoundError for a block whose record is not there."""
    return BLOCK.sub(lambda match: match[1] + WORDS.get(match[2], lambda: described(match[2]))() + match[3], text)


def loose(text: str) -> list[str]:
    """Figures of speed, size or quality that stand outside of the blocks."""
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", BLOCK.sub("", text), flags=re.DOTALL)
    return re.findall(r"\b\d[\d.,]*\s?(?:x|times|%|[KMG]B|GB/s|s|seconds?|ms|words/s|points?)\b", prose)


def problems() -> list[str]:
    """What is wrong with records and documents, one line each."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        result = record(path.stem)
        missing = [name for name in FACTS if not result.get(name)]
        missing += [] if result.get("corpus") or result.get("data") else ["corpus or data"]
        found += [f"results/{path.name}: lacks {', '.join(missing)}"] if missing else []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        if rendered(text) != text:
            found.append(
                f"{document.relative_to(HERE.parent)}: not as the records say; run: python benchmarks/tables.py"
            )
        found += [f"{document.relative_to(HERE.parent)}: no record for {figure!r}" for figure in loose(text)]
    return found


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        found = problems()
        print("\n".join(found))
        return 1 if found else 0
    for document in DOCUMENTS:
        document.write_text(rendered(document.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
