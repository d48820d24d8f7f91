"""Reference implementation of fastText's subwords, vectors and file layout, in plain Python and float64, from its C++
sources."""

import struct
from dataclasses import dataclass, field

import numpy as np

HEADER = 8 + 56 + 28  # bytes of a model of version 12 up to its word table


def signed_hash(text: bytes) -> int:
    """Dictionary::hash: FNV-1a with bytes as int8_t."""
    h = 2166136261
    for byte in text:
        h = (h ^ ((byte - 256 if byte > 127 else byte) & 0xFFFFFFFF)) * 16777619 & 0xFFFFFFFF
    return h


def char_ngrams(word: bytes, minn: int, maxn: int) -> list[bytes]:
    """Dictionary::computeSubwords of `<word>`."""
    text, result = b"<" + word + b">", []
    for i in range(len(text)):
        if text[i] & 0xC0 == 0x80:
            continue
        j, n = i, 1
        while j < len(text) and n <= maxn:
            j += 1
            while j < len(text) and text[j] & 0xC0 == 0x80:
                j += 1
            if n >= minn and not (n == 1 and (i == 0 or j == len(text))):
                result.append(text[i:j])
            n += 1
    return result


def line_ngrams(hashes: list[int], n: int, buckets: int) -> list[int]:
    """Dictionary::addWordNgrams; hashes are uint32, kept as int32 there."""
    signed = [h - 2**32 if h >= 2**31 else h for h in hashes]
    result = []
    for i in range(len(signed)):
        h = signed[i] % 2**64
        for j in range(i + 1, min(len(signed), i + n)):
            h = (h * 116049371 + signed[j]) % 2**64
            result.append(h % buckets)
    return result


@dataclass
class Model:
    """A dense or quantized model file read field by field. `input` and `output` are float64."""

    args: dict = field(default_factory=dict)
    words: list[bytes] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    labels: list[bytes] = field(default_factory=list)
    pruned: dict[int, int] | None = None
    input: np.ndarray = field(default_factory=lambda: np.empty(0))
    output: np.ndarray = field(default_factory=lambda: np.empty(0))

    def rows(self, word: bytes) -> list[int]:
        rows = [self.words.index(word)] if word in self.words else []
        if word == b"</s>":
            return rows
        for gram in char_ngrams(word, self.args["minn"], self.args["maxn"]):
            bucket = signed_hash(gram) % self.args["bucket"]
            if self.pruned is None:
                rows.append(len(self.words) + bucket)
            elif bucket in self.pruned:
                rows.append(len(self.words) + self.pruned[bucket])
        return rows

    def vector(self, word: bytes) -> np.ndarray:
        rows = self.rows(word)
        return self.input[rows].mean(axis=0) if rows else np.zeros(self.args["dim"])


def read(data: bytes) -> Model:
    at = 8

    def take(layout: str) -> list:
        nonlocal at
        values = struct.unpack_from(layout, data, at)
        at += struct.calcsize(layout)
        return list(values)

    def floats(count: int) -> np.ndarray:
        return np.array(take(f"<{count}f"))

    def quantizer(codes: np.ndarray) -> np.ndarray:
        dim, nsub, dsub, last = take("<4i")
        centroids = floats(dim * 256)
        rows = []
        for row in codes.reshape(-1, nsub):
            parts = []
            for m, code in enumerate(row):
                width = last if m == nsub - 1 else dsub
                start = m * 256 * dsub + int(code) * width
                parts.append(centroids[start : start + width])
            rows.append(np.concatenate(parts))
        return np.array(rows).reshape(-1, dim)

    def matrix() -> np.ndarray:
        (quantized,) = take("<?")
        if not quantized:
            m, n = take("<2q")
            return floats(m * n).reshape(m, n)
        norms, m, _, size = take("<?2qi")
        codes = np.array(take(f"<{size}B"))
        values = quantizer(codes)
        if norms:
            norm_codes = np.array(take(f"<{m}B"))
            values = values * quantizer(norm_codes)
        return values

    names = ["dim", "ws", "epoch", "minCount", "neg", "wordNgrams", "loss", "model", "bucket", "minn", "maxn"]
    names += ["lrUpdateRate", "t"]
    model = Model(dict(zip(names, take("<12id"), strict=True)))
    size, nwords, _, _, pruned = take("<3i2q")
    for i in range(size):
        end = data.index(0, at)
        (model.words if i < nwords else model.labels).append(data[at:end])
        at = end + 1
        count, kind = take("<qb")
        assert kind == (i >= nwords)
        model.counts.append(count)
    if pruned >= 0:
        model.pruned = dict(take("<2i") for _ in range(pruned))
    model.input = matrix()
    model.output = matrix()
    assert at == len(data)
    return model


def oldest(data: bytes) -> bytes:
    """A dense model of version 12 in the layout before 11: no magic, no pruning, no flags."""
    model = read(data)
    table_end = HEADER + sum(len(word) + 10 for word in model.words + model.labels)
    input_end = table_end + 17 + 4 * model.input.size
    return data[8 : HEADER - 8] + data[HEADER:table_end] + data[table_end + 1 : input_end] + data[input_end + 1 :]
