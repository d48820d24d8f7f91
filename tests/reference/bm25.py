"""BM25 as its formulas read, a token of the query at a time."""

import math


def plain_score(variant, query, documents, row, k1, b, delta):
    """The score of documents[row], a list of tokens."""
    n = len(documents)
    length = 1 - b + b * len(documents[row]) / (sum(map(len, documents)) / n or 1)
    total = 0.0
    for token in query:
        holding = sum(token in text for text in documents)
        if holding:
            f = documents[row].count(token)
            total += _idf(variant, n, holding) * _tf(variant, f, length, k1, delta)
    return total


def _idf(variant, n, holding):
    odds = (n - holding + 0.5) / (holding + 0.5)
    if variant == "lucene":
        return math.log(1 + odds)
    if variant == "robertson":
        return max(0.0, math.log(odds))
    if variant == "atire":
        return math.log(n / holding)
    return math.log((n + 1) / (holding + (0.5 if variant == "bm25l" else 0)))


def _tf(variant, f, length, k1, delta):
    if variant == "bm25l":
        return (k1 + 1) * (f / length + delta) / (k1 + f / length + delta)
    plain = f / (f + k1 * length)
    return {"atire": (k1 + 1) * plain, "bm25+": delta + (k1 + 1) * plain}.get(variant, plain)
