"""Suite `questions`: one pooled classifier that answers several questions, beside one classifier for each.

    python benchmarks/run.py --suite questions --data FOLDER --rounds 5 --queries 20000

FOLDER has `NAME.train.jsonl` and `NAME.test.jsonl` of every set: records of a `text` and fields of labels, the
questions. P@1 is on the test records, by question: of the model that learned all (`together`), and of a model that
learned this one (`alone`). Costs are those of a model with the first question, with all, and with 18: the set's own
again and again under other names. A prediction reads the texts of the test records until they are `--queries` lines.
Times include the start.
"""

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import judging
import record
from measure import WV, median
from record import Run

MANY = 18
TOKENS: list[object] = ["--tokenize", "unicode,lowercase"]


def questions(options: Any, result: Run, say: Any) -> bool:
    folder = options.data[0] if len(options.data) == 1 else None
    if folder is None or not folder.is_dir():
        sys.exit("--suite questions needs one --data FOLDER")
    files = sorted(folder.glob("*.train.jsonl"))
    result["data"] = record.inputs(*files, *(judging.test_of(file) for file in files))
    runs: list[Run] = result["runs"]
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        for file in files:
            for number, seed in record.rounds(options):
                for run in [*scores(file, options, seed, Path(name)), *costs(file, options, seed, Path(name))]:
                    runs.append({"set": file.name.split(".")[0], "round": number, "seed": seed, **run})
                    say(f"{runs[-1]}")
    result["summary"] = summary(runs)
    return True


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def fields(file: Path) -> list[str]:
    """The questions of a set: what its first record has beside the text."""
    return [name for name in records(file)[0] if name != "text"]


def learn(train: Path, asked: Sequence[str], options: Any, seed: int, model: Path) -> Run:
    named = [word for field in asked for word in ("--label-field", field)]
    common: list[object] = ["--threads", options.threads, "--seed", seed, "--overwrite", "-q", "--no-meta"]
    used, _ = record.used([*WV, "train", train, "-o", model, *judging.OURS["wv-pooled"], *TOKENS, *named, *common])
    return used


def scores(train: Path, options: Any, seed: int, folder: Path) -> Iterator[Run]:
    """P@1 of every question, learned together and alone."""
    model, everything = folder / "model", fields(train)
    for asked in (everything, *([field] for field in everything)):
        learn(train, asked, options, seed, model)
        for field in asked:
            scored: list[object] = ["-d", judging.test_of(train), "--label-field", field, *TOKENS]
            _, table = record.used([*WV, "eval", "labels", model, *scored, "--confusions", 0, "-q"])
            [row] = [row for row in csv.DictReader(table.splitlines(), delimiter="\t") if row["label"] == "micro"]
            kind = "together" if asked is everything else "alone"
            yield {"question": field, "learned": kind, "p_at_1": float(row["precision"])}


def costs(train: Path, options: Any, seed: int, folder: Path) -> Iterator[Run]:
    """What models of one question, of all and of many take."""
    own, model = fields(train), folder / "model"
    many = {f"q{number}": own[number % len(own)] for number in range(MANY)}
    wide = folder / "many.jsonl"
    rows = ({"text": row["text"], **{name: row[field] for name, field in many.items()}} for row in records(train))
    judging.write(wide, [json.dumps(row) + "\n" for row in rows])
    texts = [" ".join(row["text"].split()) + "\n" for row in records(judging.test_of(train))]
    lines = judging.write(folder / "texts.txt", (texts * (options.queries // len(texts) + 1))[: options.queries])
    for file, asked in ((train, own[:1]), (train, own), (wide, list(many))):
        learned = learn(file, asked, options, seed, model)
        used, _ = record.used([*WV, "predict", model, lines, *TOKENS, "-q", "--threads", options.threads])
        speed = lines.stat().st_size / 1e6 / used["cpu_seconds"]
        yield {
            "questions": len(asked),
            "train_cpu_s": learned["cpu_seconds"],
            "train_mb": learned["peak_mb"],
            "predict_mb_per_cpu_s": speed,
            "predict_mb": used["peak_mb"],
        }


def summary(runs: Sequence[Run]) -> list[Run]:
    """A row for each question, with means over the rounds, and for each number of questions, with medians."""
    rows: list[Run] = []
    for name, field in dict.fromkeys((run["set"], run["question"]) for run in runs if "question" in run):
        row: Run = {"set": name, "question": field}
        for kind in ("together", "alone"):
            found = [
                run["p_at_1"]
                for run in runs
                if (run["set"], run.get("question")) == (name, field) and run["learned"] == kind
            ]
            row[f"p_at_1_{kind}"] = sum(found) / len(found)
        rows.append(row)
    for name, count in dict.fromkeys((run["set"], run["questions"]) for run in runs if "questions" in run):
        own = [run for run in runs if (run["set"], run.get("questions")) == (name, count)]
        figures = ("train_cpu_s", "train_mb", "predict_mb_per_cpu_s", "predict_mb")
        rows.append({"set": name, "questions": count, **{each: median([run[each] for run in own]) for each in figures}})
    return rows
