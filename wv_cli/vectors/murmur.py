"""MurmurHash3 (Austin Appleby, public domain), by which floret finds the rows of n-grams."""

_MASK = (1 << 64) - 1
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F


def murmur3_x64_128(data: bytes, seed: int) -> tuple[int, int]:
    """MurmurHash3_x64_128 as its two 64-bit halves."""
    first = second = seed
    whole = len(data) & ~15
    for at in range(0, whole, 16):
        first ^= _scramble(int.from_bytes(data[at : at + 8], "little"), _C1, 31, _C2)
        first = (_rotate(first, 27) + second) * 5 + 0x52DCE729 & _MASK
        second ^= _scramble(int.from_bytes(data[at + 8 : at + 16], "little"), _C2, 33, _C1)
        second = (_rotate(second, 31) + first) * 5 + 0x38495AB5 & _MASK
    first ^= _scramble(int.from_bytes(data[whole : whole + 8], "little"), _C1, 31, _C2)
    second ^= _scramble(int.from_bytes(data[whole + 8 :], "little"), _C2, 33, _C1)
    first, second = first ^ len(data), second ^ len(data)
    first = first + second & _MASK
    second = second + first & _MASK
    first, second = _finish(first), _finish(second)
    first = first + second & _MASK
    return first, second + first & _MASK


def _rotate(value: int, by: int) -> int:
    return (value << by | value >> 64 - by) & _MASK


def _scramble(part: int, first: int, by: int, second: int) -> int:
    return _rotate(part * first & _MASK, by) * second & _MASK


def _finish(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33
