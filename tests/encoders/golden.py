"""What the tests of golden/static.tar.xz share."""

from pathlib import Path

import numpy as np

EXPECTED = "expected.model2vec.npy"


def sentences_of(folder: Path) -> list[str]:
    return (folder / "sentences.txt").read_text(encoding="utf-8").split("\n")[:-1]


def normalized(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-32)
