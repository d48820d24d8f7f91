"""Reference implementations of csrc/core/floattext: correctly rounded numbers by exact fractions, rows by plain
Python."""

import io
from fractions import Fraction

import numpy as np

LARGEST = Fraction(float(np.finfo(np.float32).max))


def nearest_float32(text: str) -> np.float32:
    """The float32 nearest to a decimal, ties to the even one; beyond the largest by half a step or more: infinity."""
    exact = Fraction(text)
    sign = -1 if text.strip().startswith("-") else 1
    exact = abs(exact)
    if exact >= LARGEST + Fraction(2) ** 103:
        return np.float32(sign * np.inf)
    guess = np.float32(min(float(exact), float(LARGEST)))
    with np.errstate(over="ignore"):
        around = {guess, np.nextafter(guess, np.float32(0)), np.nextafter(guess, np.float32(np.inf))}
    finite = [value for value in around if np.isfinite(value)]
    best = min(finite, key=lambda value: (abs(Fraction(float(value)) - exact), int(value.view(np.uint32)) % 2))
    return np.copysign(best, np.float32(sign))


def read_text(data: bytes, header: bool) -> tuple[list[bytes], np.ndarray]:
    """Words and (rows, dim) float32 of a text file whose words hold no separators."""
    lines = data.split(b"\n")[1 if header else 0 :]
    rows = [line.split() for line in lines if line]
    # float() and the cast round twice; vectors of six decimals are too coarse for that to show.
    return [row[0] for row in rows], np.array([[float(x) for x in row[1:]] for row in rows]).astype(np.float32)


def read_binary(data: bytes) -> tuple[list[bytes], np.ndarray]:
    """Words and (rows, dim) float32 of a word2vec binary file."""
    head, _, rest = data.partition(b"\n")
    rows, dim = map(int, head.split())
    words, vectors = [], []
    for _ in range(rows):
        word, _, rest = rest.lstrip(b"\n").partition(b" ")
        words.append(word)
        vectors.append(np.frombuffer(rest[: 4 * dim], "<f4"))
        rest = rest[4 * dim :]
    return words, np.array(vectors)


def read_npy(data: bytes) -> tuple[list[bytes], np.ndarray]:
    """Row numbers as words and the matrix of a NumPy file, read by NumPy."""
    matrix = np.load(io.BytesIO(data), allow_pickle=False).astype(np.float32)
    return [str(row).encode() for row in range(len(matrix))], matrix


def write_word2vec_text(words: list[bytes], matrix: np.ndarray) -> bytes:
    """As word2vec.c writes: `fprintf("%lf ")`."""
    rows = [b"%s " % word + b"".join(b"%f " % value for value in row) for word, row in zip(words, matrix, strict=True)]
    return b"\n".join([b"%d %d" % matrix.shape, *rows, b""])
