"""Shingles, keys and near-duplicates in plain Python: csrc/core/shingles.h and knowntexts.h by their definitions."""

from tests.reference.minhash import xxhash64

MASK = (1 << 64) - 1
ODD, FACTOR = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def mixed(x: int) -> int:
    x = ((x ^ x >> 33) * 0xFF51AFD7ED558CCD) & MASK
    x = ((x ^ x >> 33) * 0xC4CEB9FE1A85EC53) & MASK
    return x ^ x >> 33


def word_hash(word: bytes) -> int:
    h = ODD
    for at in range(0, len(word) + 1, 8):
        h = ((h ^ int.from_bytes(word[at : at + 8], "little")) * FACTOR) & MASK
        h ^= h >> 32
    return h


def hashes(words: list[bytes], text: bytes, width: int) -> list[int]:
    """The shingles of a text with these words."""
    if len(words) < width:
        return [xxhash64(text)]
    each = list(map(word_hash, words))
    found = []
    for at in range(len(words) - width + 1):
        total = 0
        for h in each[at : at + width]:
            total = (total * ODD + h) & MASK
        found.append(mixed(total))
    return found


def distinct(found: list[int]) -> list[int]:
    return list(dict.fromkeys((h & 0xFFFFFFFF) or 1 for h in found))


def numbers(found: list[int], bins: int) -> list[int]:
    """Fast Similarity Sketching: what is in each bin, the round in front."""
    number: dict[int, int] = {}
    for turn in range(2 * bins):
        if len(number) == bins:
            break
        here: dict[int, int] = {}
        for h in found:
            x = mixed((h + turn * ODD) & MASK) if turn else h
            place = ((x >> 32) * bins) >> 32 if turn < bins else turn - bins
            here[place] = min(here.get(place, MASK), turn << 54 | x >> 10)
        number = here | number
    return [number[place] for place in range(bins)]


def keys(found: list[int], bands: int, rows: int) -> list[int]:
    number = numbers(found, bands * rows)
    octets = [b"".join(x.to_bytes(8, "little") for x in number[at : at + rows]) for at in range(0, bands * rows, rows)]
    return [xxhash64(each) for each in octets]


def similarity(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b)


def first_like(sets: list[set[int]], keys: list[list[int]], threshold: float) -> list[int]:
    """For each text the first text that stayed, shares a key and is similar enough, those that share the most keys
    first; -1 for one that stays."""
    found: list[int] = []
    for i, own in enumerate(sets):
        shared = {
            j: sum(a == b for a, b in zip(keys[i], keys[j], strict=True)) for j in range(i) if found[j] < 0
        }  # fmt: skip
        order = sorted((j for j in shared if shared[j]), key=lambda j: (-shared[j], j))
        found.append(next((j for j in order if similarity(own, sets[j]) >= threshold), -1))
    return found
