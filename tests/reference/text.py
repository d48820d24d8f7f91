"""Reference implementations of the tokenizer, the encoder and phrase finding, in plain Python. Made to be read, not to
be fast."""

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np

END_OF_LINE = -1
_SEPARATORS = re.compile(rb"[ \t\v\f\r\0]+")


def split_lines(text: bytes) -> list[list[bytes]]:
    """The words of each line, empty lines included; an unfinished last line is one."""
    rows = text.split(b"\n")
    if rows[-1] == b"":
        rows.pop()
    return [[word for word in _SEPARATORS.split(row) if word] for row in rows]


def count_words(lines: list[list[bytes]], min_count: int = 1, max_vocab: int = 0) -> dict[bytes, int]:
    """Counts by falling count, equal counts in order of first sight."""
    counts = Counter(word for line in lines for word in line)
    ranked = sorted(counts.items(), key=lambda item: -item[1])  # stable, and a Counter keeps the order of insertion
    kept = [(word, count) for word, count in ranked if count >= min_count]
    return dict(kept[:max_vocab] if max_vocab else kept)


def encode_lines(lines: list[list[bytes]], words: list[bytes]) -> list[int]:
    """The id stream: unknown words leave nothing, lines without a known word leave no END_OF_LINE."""
    ids = {word: i for i, word in enumerate(words)}
    stream: list[int] = []
    for line in lines:
        known = [ids[word] for word in line if word in ids]
        stream += [*known, END_OF_LINE] if known else []
    return stream


def word2phrase(lines: list[list[bytes]], threshold: float, min_count: int, across_lines: bool) -> list[list[bytes]]:
    """One run of the original program: bigrams counted as strings among the words, across line ends (`across_lines`),
    scores in float32, strings cut at 59 bytes. Unlike the original it gives words of any kind back whole."""
    counts: Counter[bytes] = Counter()
    last = None
    for line in lines:
        for word in line:
            counts[word[:59]] += 1
            if last is not None:
                counts[(last[:59] + b"_" + word[:59])[:59]] += 1
            last = word
        if not across_lines:
            last = None
    counts = Counter({string: count for string, count in counts.items() if count >= min_count})
    total = np.float32(sum(map(len, lines)))
    joined = []
    for line in lines:
        out: list[bytes] = []
        previous = None  # the word before, None when it is the right half of a phrase
        for word in line:
            pair = counts.get((previous[:59] + b"_" + word[:59])[:59]) if previous is not None else None
            one, two = counts.get(previous[:59] if previous is not None else b""), counts.get(word[:59])
            score = np.float32(0)
            if pair and one and two:
                score = np.float32(pair - min_count) / np.float32(one) / np.float32(two) * total
            if score > threshold:
                out[-1] += b"_" + word
                previous = None
            else:
                out.append(word)
                previous = word
        joined.append(out)
    return joined


def join_phrases(
    lines: list[list[bytes]], threshold: float, min_count: int, score: str = "word2vec", delimiter: bytes = b"_"
) -> tuple[list[list[bytes]], dict[tuple[bytes, bytes], float]]:
    """One pass of ours: (the joined lines, the score of each chosen pair)."""
    words = Counter(word for line in lines for word in line)
    pairs = Counter(pair for line in lines for pair in pairwise(line))
    total = float(sum(words.values()))
    chosen = {}
    for (a, b), count in pairs.items():
        if count < min_count:
            continue
        if score == "word2vec":
            value = (count - min_count) * (total / (words[a] * words[b]))
        else:
            value = math.log(count * total / (words[a] * words[b])) / -math.log(count / total)
        if value > threshold:
            chosen[a, b] = value
    joined = []
    for line in lines:
        out: list[bytes] = []
        i = 0
        while i < len(line):
            if i + 1 < len(line) and (line[i], line[i + 1]) in chosen:
                out.append(line[i] + delimiter + line[i + 1])
                i += 2
            else:
                out.append(line[i])
                i += 1
        joined.append(out)
    return joined, chosen
