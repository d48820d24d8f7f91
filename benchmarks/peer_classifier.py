"""The child process that works with fastText's classifier: `peer_classifier.py train|test|predict|quantize JSON`.

Predictions go through the library's own loop over lines, not line by line from Python.
"""

import json
import sys
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


if __name__ == "__main__":
    {"train": train, "test": test, "predict": predict, "quantize": quantize}[sys.argv[1]](json.loads(sys.argv[2]))
