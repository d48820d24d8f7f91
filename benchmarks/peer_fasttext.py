"""The child process that works with fastText's models: `peer_fasttext.py train|quantize|vector JSON`."""

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


def vector(job: dict[str, Any]) -> None:
    print(json.dumps(library.load_model(job["model"]).get_word_vector(job["word"]).tolist()))


if __name__ == "__main__":
    {"train": train, "quantize": quantize, "vector": vector}[sys.argv[1]](json.loads(sys.argv[2]))
