"""Texts kept at bounds of a probability, by `wv` and by fastText's own probabilities.

    python benchmarks/agreement/fasttext_bounds.py --peer PYTHON LABELED... \\
        > benchmarks/agreement/fasttext_bounds.jsonl

PYTHON has `pip install fasttext==0.9.3`. LABELED are files of fastText's format; wv trains a classifier on each, with
three losses: ag_news are the 7,600 texts of AG News's test set, cooking-3000 the first lines of fastText's tutorial
set. A line of the record is one classifier and one way to keep texts: how many are kept at every bound by wv,
and which ones differ (`differences`: bound, line, fastText's probability). `threshold` is `wv predict --threshold`
beside fastText's `predict(threshold=)`. The others are rules of `wv filter` beside min(probability, 1), since
fastText's probabilities come to 1.00001 (`largest`).

The texts that differ at threshold 1 have a probability that rounds to 1 in one program only: 1.00001 less 1.2e-7.
"""

import argparse
import json
import operator
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

BOUNDS = [0, 0.1, 0.5, 0.9, 0.99, 0.999, 1]
RULES: dict[str, tuple[str, Callable[[float, float], bool]]] = {
    "at least": ("={}..", operator.ge),
    "to 1": ("={}..1", operator.ge),
    "at most": ("=..{}", operator.le),
    "above": (">{}", operator.gt),
    "below": ("<{}", operator.lt),
}
LOSSES = {"softmax": [], "hs": ["--loss", "hs"], "ova": ["--loss", "ova"]}
PEER = """
import json, sys, fasttext
model, texts = fasttext.load_model(sys.argv[1]), open(sys.argv[2]).read().splitlines()
every = [dict(zip(*map(list, row))) for row in zip(*model.predict(texts, k=-1))]
best = {bound: [row[0] if row else None for row in model.predict(texts, k=1, threshold=bound)[0]]
        for bound in json.loads(sys.argv[3])}
print(json.dumps({"every": [{label: float(p) for label, p in row.items()} for row in every], "best": best}))
"""


def wv(*asked: object) -> str:
    command = [sys.executable, "-m", "wv_cli", *map(str, asked)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def read_texts(path: Path) -> list[str]:
    """The lines without their labels."""
    words = (line.split() for line in path.read_text().splitlines())
    return [" ".join(word for word in line if not word.startswith("__label__")) for line in words]


def compare(model: Path, texts: list[str], place: Path, peer: str) -> list[dict[str, Any]]:
    plain, records = place / "texts.txt", place / "texts.jsonl"
    plain.write_text("".join(f"{text}\n" for text in texts))
    records.write_text("".join(f"{json.dumps({'id': i, 'text': text})}\n" for i, text in enumerate(texts)))
    done = subprocess.run([peer, "-c", PEER, model, plain, json.dumps(BOUNDS)], check=True, stdout=subprocess.PIPE)
    theirs = json.loads(done.stdout)
    found: dict[str, tuple[dict[str, int], list[Any]]] = {name: ({}, []) for name in ("threshold", *RULES)}

    def note(name: str, bound: float, ours: set[int], expected: set[int], scores: list[float | None]) -> None:
        found[name][0][str(bound)] = len(ours)
        found[name][1].extend([bound, line, scores[line]] for line in sorted(ours ^ expected))

    best = [max(row.values(), default=None) for row in theirs["every"]]
    for bound in BOUNDS:
        asked = ["--threshold", bound] if bound else []
        lines = wv("predict", model, plain, *asked).split("\n")
        kept = {i for i in range(len(texts)) if lines[i]}
        note("threshold", bound, kept, {i for i, label in enumerate(theirs["best"][str(bound)]) if label}, best)
    label = Counter(max(row, key=row.get) for row in theirs["every"] if row).most_common(1)[0][0]
    scores = [
        row.get(label, 0.0) if row else None for row in theirs["every"]
    ]  # with hs, fastText leaves small ones out
    for name, (form, keeps) in RULES.items():
        for bound in BOUNDS:
            out, rule = place / "kept", f"rule={model}:{label.removeprefix('__label__')}{form.format(bound)}"
            wv("filter", records, "-o", out, "--overwrite", "-q", "--classifier", rule)
            kept = {json.loads(line)["id"] for line in (out / records.name).read_text().splitlines()}
            expected = {i for i, p in enumerate(scores) if p is not None and keeps(min(p, 1), as_float32(bound))}
            note(name, bound, kept, expected, scores)
    largest = max(p for p in best if p is not None)
    return [{"keeps": name, "largest": largest, "kept": kept, "differences": d} for name, (kept, d) in found.items()]


def as_float32(number: float) -> float:
    import numpy as np

    return float(np.float32(number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="Python with the package fasttext")
    parser.add_argument("data", nargs="+", type=Path, metavar="LABELED")
    given = parser.parse_args()
    for path in given.data:
        texts = read_texts(path)
        for loss, options in LOSSES.items():
            with tempfile.TemporaryDirectory() as name:
                model = Path(name, "model.bin")
                wv("train", "--model", "supervised", path, "-o", model, "--dim", 20, "--epochs", 25, "-q", *options)
                for row in compare(model, texts, Path(name), given.peer):
                    row = {"data": path.stem, "loss": loss, "texts": len(texts)} | row
                    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
