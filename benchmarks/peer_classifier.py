"""The child process that works with fastText's classifier: `peer_classifier.py train|test|predict|quantize JSON`.

Predictions go through the library's own loop over lines, not line by line from Python.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import fasttext as library


def train(job: dict[str, Any]) -> None:
    library.train_supervised(**job["job"]).save_model(job["model"])


def test(job: dict[str, Any]) -> None:
    print(json.dumps(library.load_model(job["model"]).test(job["valid"])[1]))


def predict(job: dict[str, Any]) -> None:
    lines = Path(job["lines"]).read_text().splitlines(keepends=True)
    labels, probabilities = library.load_model(job["model"]).f.multilinePredict(lines, 1, 0.0, "strict")
    with Path(job["out"]).open("w") as stream:
        for words, shares in zip(labels, probabilities, strict=True):
            stream.write(f"{words[0]} {shares[0]:g}\n")


def quantize(job: dict[str, Any]) -> None:
    model = library.load_model(job["model"])
    model.quantize(qnorm=True)
    model.save_model(job["out"])


def quantize_as(job: dict[str, Any]) -> None:
    """With the options of a command line; prints what it took, loading left out."""
    words = job["options"].split()
    options: dict[str, Any] = {word[2:]: True for word in words if word in ("--qnorm", "--qout")}
    if "--cutoff" in words:
        options["cutoff"] = int(words[words.index("--cutoff") + 1])
    model = library.load_model(job["model"])
    begin, wall = time.process_time(), time.perf_counter()
    model.quantize(**options)
    model.save_model(job["out"])
    print(json.dumps({"cpu_seconds": time.process_time() - begin, "wall_seconds": time.perf_counter() - wall}))


if __name__ == "__main__":
    {"train": train, "test": test, "predict": predict, "quantize": quantize, "quantize_as": quantize_as}[sys.argv[1]](
        json.loads(sys.argv[2])
    )
