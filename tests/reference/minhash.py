"""MinHash of the shingles of a text, texts that are unlike those that stayed, and clusters, in plain Python."""

MASK = (1 << 64) - 1
PRIME_61 = (1 << 61) - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def _rotate(x: int, bits: int) -> int:
    return (x << bits | x >> (64 - bits)) & MASK


def _mixed(total: int, lane: int) -> int:
    return _rotate((total + lane * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxhash64(data: bytes, seed: int = 0) -> int:
    """https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md"""
    p1, p2, p3, p4, p5 = PRIMES
    blocks, rest = data[: len(data) // 32 * 32], data[len(data) // 32 * 32 :]
    h = (seed + p5) & MASK
    if blocks:
        sums = [(seed + p1 + p2) & MASK, (seed + p2) & MASK, seed, (seed - p1) & MASK]
        for at in range(0, len(blocks), 8):
            sums[at // 8 % 4] = _mixed(sums[at // 8 % 4], int.from_bytes(blocks[at : at + 8], "little"))
        h = sum(_rotate(each, bits) for each, bits in zip(sums, (1, 7, 12, 18), strict=True)) & MASK
        for each in sums:
            h = ((h ^ _mixed(0, each)) * p1 + p4) & MASK
    h = (h + len(data)) & MASK
    while len(rest) >= 8:
        h = (_rotate(h ^ _mixed(0, int.from_bytes(rest[:8], "little")), 27) * p1 + p4) & MASK
        rest = rest[8:]
    if len(rest) >= 4:
        h = (_rotate(h ^ int.from_bytes(rest[:4], "little") * p1 & MASK, 23) * p2 + p3) & MASK
        rest = rest[4:]
    for octet in rest:
        h = _rotate(h ^ octet * p5 & MASK, 11) * p1 & MASK
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


def shingles(words: list[str], size: int) -> set[str]:
    return {" ".join(words[at : at + size]) for at in range(len(words) - size + 1)}


def jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b)


def numbers(words: list[str], size: int, a: list[int], b: list[int]) -> list[int]:
    hashes = [xxhash64(shingle.encode()) for shingle in shingles(words, size)]
    least = [min(((x * h + y) & MASK) % PRIME_61 for h in hashes) for x, y in zip(a, b, strict=True)] if hashes else []
    return least or [MASK] * len(a)


def keys(numbers: list[int], bands: int) -> list[int]:
    if numbers[0] == MASK:
        return [0] * bands
    rows = len(numbers) // bands
    cut = [numbers[band * rows : (band + 1) * rows] for band in range(bands)]
    return [xxhash64(b"".join(number.to_bytes(8, "little") for number in band)) or 1 for band in cut]


def first(keys: list[list[int]]) -> list[bool]:
    """Whether each row is unlike the ones before it that were, too."""
    stayed: list[list[int]] = []
    new = []
    for row in keys:
        new.append(row[0] == 0 or not any(x == y != 0 for other in stayed for x, y in zip(row, other, strict=True)))
        if new[-1] and row[0]:
            stayed.append(row)
    return new


def clusters(keys: list[list[int]]) -> list[int]:
    """The row that stands for each row's cluster. Each row is joined with the last one before it with the same key; the
    larger cluster's row stays, of two of one size that of the earlier row."""
    members = {i: [i] for i in range(len(keys))}
    stays = list(range(len(keys)))
    for band in range(len(keys[0]) if keys else 0):
        last: dict[int, int] = {}
        for i, row in enumerate(keys):
            if row[band] in last:
                a, b = stays[last[row[band]]], stays[i]
                if len(members[a]) < len(members[b]):
                    a, b = b, a
                if a != b:
                    for each in members.pop(b):
                        members[a].append(each)
                        stays[each] = a
            if row[band]:
                last[row[band]] = i
    return stays
