"""Makes the figures of README.md and of the documents here from the raw results, so that none can stand without one.

    python benchmarks/tables.py             rewrites the blocks in all between <!-- figures: NAME --> and <!-- end -->
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
import train
from run import SUITES

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
DOCUMENTS = [HERE.parent / "README.md", HERE / "README.md", HERE / "scale.md"]
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


def summary(name: str) -> list[dict[str, Any]]:
    """The medians of a record; a training's are made anew, whatever was judged when it was made.
    Empty where there is no such record."""
    if not (RESULTS / f"{name}.json").exists():
        return []
    result = record(name)
    rows: list[dict[str, Any]] = result["summary"]
    return train.summary(result["runs"]) if result["suite"] == "train" else rows


def times(name: str, program: str, **key: str) -> float | None:
    """CPU seconds of `program` over ours in the rows of a summary that have `key`; None where it did not run."""
    rows = [row for row in summary(name) if all(row[field] == value for field, value in key.items())]
    seconds = {row["program"]: row["cpu_seconds"] for row in rows}
    return seconds[program] / seconds["wv"] if program in seconds else None


def ratios() -> str:
    """README's table: other programs' CPU time as a multiple of ours."""
    programs = ("word2vec", "fasttext", "gensim", "GloVe")

    def worse(model: str, name: str = "train-dim100") -> Callable[[str], float | None]:
        """Of two corpora and machines."""
        return lambda program: min(
            filter(None, (times(each, program, model=model) for each in (name, f"{name}-wiki8"))), default=None
        )

    jobs: list[tuple[str, Callable[[str], float | None]]] = [
        ("skip-gram, negative sampling, dim 100", worse("skipgram-ns")),
        ("skip-gram, negative sampling, dim 300", worse("skipgram-ns", "train-dim300")),
        ("CBOW, negative sampling", worse("cbow-ns")),
        ("skip-gram, hierarchical softmax", worse("skipgram-hs")),
        ("skip-gram with subwords, model file included", lambda p: times("subwords", p, model="skipgram-subwords")),
        ("CBOW with subwords, model file included", lambda p: times("subwords", p, model="cbow-subwords")),
        ("classifier, training", lambda p: _labels(p, "softmax", "train_cpu_s")),
        ("classifier with bigrams, training", lambda p: _labels(p, "softmax-bigrams", "train_cpu_s")),
        ("classifier, predicting 1,000 lines, start included", lambda p: _labels(p, "softmax", "predict_cpu_s")),
        ("classifier, predicting a million lines", lambda p: times("predicting", p, task="1,000,000 lines")),
        ("classifier, quantising", lambda p: _labels(p, "softmax", "quantize_cpu_s")),
        ("GloVe, counting and ordering", lambda p: times("glove", p, stage="count and order")),
        ("GloVe, one iteration", lambda p: times("glove", p, stage="one iteration")),
        ("neighbours of one word, 70,000 x 100, start included", lambda p: times("cold", p, task="nn, 70,000 x 100")),
        ("loading `.vec` (in process)", lambda p: times("vectors", p, task="load .vec")),
        ("saving `.vec` (in process)", lambda p: times("vectors", p, task="save .vec")),
    ]
    lines = ["| job | word2vec | fastText | gensim | GloVe |", "|---|--:|--:|--:|--:|"]
    for job, ratio in jobs:
        found = [ratio(program) for program in programs]
        if any(found):
            lines.append(f"| {job} | " + " | ".join(_shown(x) for x in found) + " |")
    return "\n".join(lines) + "\n"


def _shown(ratio: float | None) -> str:
    """Two digits that count."""
    return "" if ratio is None else f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _labels(program: str, setting: str, figure: str) -> float | None:
    rows = {row["program"]: row[figure] for row in summary("classifier") if row["setting"] == setting}
    return rows[program] / rows["wv"] if program in rows else None


def quality() -> str:
    """README's table: scores after five epochs, means of three seeds of ours; the tolerance is what these differ by."""
    names = {"analogy": "analogies, %", "WS353": "WordSim-353", "SimLex": "SimLex-999"}
    lines = ["| model | score | wv | word2vec | tolerance | |", "|---|---|--:|--:|--:|---|"]
    for model in ("skipgram-ns", "cbow-ns", "skipgram-hs", "cbow-hs"):
        rows = {row["program"]: row for row in summary("quality") if row["model"] == model}
        for name, title in names.items():
            ours, theirs = (rows[program]["scores"][name] for program in ("wv", "word2vec"))
            tolerance = rows["wv"]["spread"][name]
            gap = theirs - ours
            verdict = "lower" if gap > tolerance else "higher" if -gap > tolerance else "equal"
            cells = [f"{value:.{train.DIGITS[name]}f}" for value in (ours, theirs, tolerance)]
            lines.append(f"| {model} | {title} | {' | '.join(cells)} | {verdict} |")
    return "\n".join(lines) + "\n"


WORDS: dict[str, Callable[[], str]] = {"ratios": ratios, "scores": quality}


def rendered(text: str) -> str:
    """The document with every block made anew. Raises FileNotFoundError for a block whose record is not there."""
    return BLOCK.sub(lambda match: match[1] + WORDS.get(match[2], lambda: described(match[2]))() + match[3], text)


def loose(text: str) -> list[str]:
    """Figures of speed, size or quality that stand outside of the blocks."""
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", BLOCK.sub("", text), flags=re.DOTALL)
    return re.findall(r"\b\d[\d.,]*\s?(?:x(?! \d)|times|%|[KMG]B|GB/s|s|seconds?|ms|words/s|points?)\b", prose)


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
