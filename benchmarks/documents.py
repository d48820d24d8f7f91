"""Suite `documents`: document vectors of doc2vec, ours and gensim's, by a linear classifier.

    python benchmarks/run.py ag_news_test.csv --suite documents --epochs 40 --min-count 2 --sample 1e-3

The text has rows `"class","title","text"`, or lines that begin with labels in fastText's form. All document vectors
are learnt without their classes. A linear classifier is fitted by least squares to every other document and names the
class of the rest. `accuracy` is in percent.
"""

import csv
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run

from wv_cli.vectors import formats

ALGORITHMS = ("dbow", "dm_mean", "dm_concat")
LABEL = "__label__"


def _documents(path: Path) -> tuple[list[str], list[set[str]]]:
    """(lower-case words, classes) of every document."""
    with path.open(newline="", encoding="utf-8") as stream:
        if stream.read(len(LABEL)) == LABEL:
            stream.seek(0)
            rows = [line.split() for line in stream]
            classes = [{word for word in row if word.startswith(LABEL)} for row in rows]
            texts = [" ".join(word for word in row if not word.startswith(LABEL)) for row in rows]
        else:
            stream.seek(0)
            table = [row for row in csv.reader(stream) if len(row) >= 2 and row[0].isdigit()]
            classes, texts = [{row[0]} for row in table], [" ".join(row[1:]) for row in table]
    return [" ".join(re.findall(r"\w+", text.lower())) for text in texts], classes


def _accuracy(vectors: np.ndarray, classes: list[set[str]]) -> float:
    """Share of the odd documents, in %, of which a linear classifier fitted to the even ones names a class rightly."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    x = np.column_stack([unit.astype(np.float64), np.ones(len(unit))])
    named = sorted(set().union(*classes))
    targets = np.array([[name in each for name in named] for each in classes], np.float64)
    fitted = x[::2].T @ x[::2] + 1e-3 * np.eye(x.shape[1])
    weights = np.linalg.solve(fitted, x[::2].T @ targets[::2])
    found = (x[1::2] @ weights).argmax(axis=1)
    return float(100 * targets[1::2][np.arange(len(found)), found].mean())


def _train(text: Path, output: Path, model: str, given: dict[str, Any]) -> list[object]:
    flags = [word for key, value in given.items() for word in (f"--{key.replace('_', '-')}", value)]
    return [*WV, "train", text, "-o", output, "--model", model, *flags, "--no-meta", "-q", "--overwrite"]


def documents(options: Any, result: Run, say: Any) -> bool:
    corpus = Path(options.corpus)
    result["data"] = record.inputs(corpus)
    lines, classes = _documents(corpus)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        text = folder / "documents.txt"
        text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        for number, seed in record.rounds(options):
            same = {
                "dim": options.dim, "window": options.window, "negative": options.negative, "sample": options.sample,
                "min_count": options.min_count, "epochs": options.epochs, "threads": options.threads, "seed": seed,
            }  # fmt: skip
            for algorithm in ALGORITHMS:
                mine, theirs = folder / "mine.npy", folder / "theirs.npy"
                ours = {**same, "algorithm": algorithm, "context": "around", "doc_vectors": mine}
                if algorithm == "dbow":  # there is no context
                    ours = {key: value for key, value in ours.items() if key not in ("window", "context")}
                job = {**same, "algorithm": algorithm, "corpus": str(text), "output": str(theirs)}
                used = {
                    "wv": record.used(_train(text, folder / "model.d2v", "doc2vec", ours))[0],
                    "gensim": record.used([options.peers, HERE / "peer_doc2vec.py", json.dumps(job)])[0],
                }
                found = {"wv": formats.load(mine).matrix, "gensim": np.load(theirs)}
                for program, vectors in found.items():
                    score = _accuracy(vectors, classes)
                    run = {"task": algorithm, "program": program, "round": number, "seed": seed, "accuracy": score}
                    runs.append({**run, **used[program]})
                say(f"{algorithm}: {[round(run['accuracy'], 1) for run in runs[-2:]]}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True
