"""The child process that works with fastText's models: `peer_fasttext.py train|quantize JSON`."""

import json
import sys
from typing import Any

import fasttext as library


def train(job: dict[str, Any]) -> None:
    library.train_unsupervised(**job["job"]).save_model(job["model"])


def quantize(job: dict[str, Any]) -> None:
    model = library.load_model(job["model"])
    model.quantize(**job["job"])
    model.save_model(job["out"])


if __name__ == "__main__":
    {"train": train, "quantize": quantize}[sys.argv[1]](json.loads(sys.argv[2]))
