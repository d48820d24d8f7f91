"""Codes the slow way: files read by the letter of their description, hashing and search in float64 or plain Python."""

import itertools
import json
import zlib

import numpy as np


def container(data, kind):
    """(facts, arrays) of a container, by the description in wv_cli/io/container.py."""
    magic, line, rest = data.split(b"\n", 2)
    assert magic == f"wv {kind} 1".encode()
    assert rest[-4:] == b"DONE"
    assert int.from_bytes(rest[-8:-4], "little") == zlib.crc32(data[:-8])
    facts = json.loads(line)
    arrays, at = {}, 0
    for name, dtype, shape in facts["arrays"]:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(rest, dtype, count, at).reshape(shape)
        at += arrays[name].nbytes
    assert at == len(rest) - 8
    return facts, arrays


def read_binary(data):
    """(words, matrix of +1/-1 or 1/0) of a binary codes file."""
    facts, arrays = container(data, "codes")
    words, start = [], 0
    for length in arrays["lengths"].tolist():
        words.append(arrays["words"].tobytes()[start : start + length])
        start += length
    return words, _matrix(facts, arrays["codes"].tolist())


def _matrix(facts, codes):
    if facts["active"]:
        return np.array([[float(bit in code) for bit in range(facts["bits"])] for code in codes], np.float32)
    bits = [[code[bit // 8] >> (bit % 8) & 1 for bit in range(facts["bits"])] for code in codes]
    return np.array(bits, np.float32) * 2 - 1


def read_text(data):
    first, *lines = data.decode().rstrip("\n").split("\n")
    facts = json.loads(first.removeprefix("# wv codes "))
    fields = [line.split("\t") for line in lines]
    if facts["active"]:
        codes = [[int(at) for at in code.split()] for _, code in fields]
        matrix = _matrix(facts, codes)
    else:
        matrix = np.array([[2 * int(bit) - 1 for bit in code] for _, code in fields], np.float32)
    return [word.encode() for word, _ in fields], matrix


def active(x, weights, count):
    """Positions of the `count` highest activations, ascending; of equal ones the lowest first."""
    scores = np.asarray(x, np.float64) @ np.asarray(weights, np.float64).T
    order = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    return np.sort(order, axis=1)


def bits(x, weights, thresholds):
    return np.asarray(x, np.float64) @ np.asarray(weights, np.float64).T > np.asarray(thresholds, np.float64)


def biohash_batch(weights, x, rank, delta, p, lr, normalize=False):
    """One minibatch of Ryali et al.'s rule; returns (new weights, energy)."""
    w, x = np.array(weights, np.float64), np.asarray(x, np.float64)
    effective = np.sign(w) * np.abs(w) ** (p - 1)
    scores = x @ effective.T
    order = np.argsort(-scores, axis=1, kind="stable")
    g = np.zeros_like(scores)
    g[np.arange(len(x)), order[:, 0]] = 1
    if delta:
        g[np.arange(len(x)), order[:, rank - 1]] -= delta
    norms = (w * effective).sum(axis=1) ** ((p - 1) / p)
    energy = -(g * scores / norms).sum()
    change = g.T @ x - (g * scores).sum(axis=0)[:, None] * w
    w += lr * change / max(np.abs(change).max(), 1e-30)
    if normalize:
        touched = g.any(axis=0)
        w[touched] /= (np.abs(w[touched]) ** p).sum(axis=1, keepdims=True) ** (1 / p)
    return w, energy


def nearest(codes, query, k, exclude=()):
    """[(distance, row)] of the k nearest of `codes`, sets or tuples of bits compared by their symmetric difference."""
    found = sorted((len(set(code) ^ set(query)), row) for row, code in enumerate(codes) if row not in exclude)
    return found[:k]


def mean_over_orders(level, relevant, at):
    """(average precision, recall at `at`) averaged over every order that keeps levels apart."""
    rows = range(len(level))
    scores = []
    for order in itertools.permutations(rows):
        if any(level[a] > level[b] for a, b in itertools.pairwise(order)):
            continue
        hits, precision = 0, 0.0
        for place, row in enumerate(order, 1):
            if relevant[row]:
                hits += 1
                precision += hits / place
        scores.append((precision / hits, sum(relevant[row] for row in order[:at]) / hits))
    return tuple(np.mean(scores, axis=0))
