"""Slow twins of the tokenizer, the encoder and phrase finding, in plain Python. Made to be read, not to be fast."""

import re
from collections import Counter

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
