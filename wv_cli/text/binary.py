"""Whether the bytes at a file's start are text."""

from wv_cli.system.kinds import HEAD_BYTES, encoding_of, name_encoding

_MORE_NULS = 8  # than these, and than one in _NUL_SHARE bytes, are binary data
_NUL_SHARE = 1000


def foreign_encoding(head: bytes) -> str | None:
    """What a text that begins with `head` is when it is UTF-16 or UTF-32, None otherwise."""
    head = head[:HEAD_BYTES]
    encoding = encoding_of(head) or _encoding_by_nuls(head)
    return name_encoding(encoding) if encoding else None


def binary(head: bytes) -> str | None:
    """What the bytes at a file's start are when they are no text in UTF-8, or in any code that is ASCII or more."""
    head = head[:HEAD_BYTES]
    return foreign_encoding(head) or ("binary data (NUL bytes)" if _too_many_nuls(head) else None)


def _too_many_nuls(head: bytes) -> bool:
    return head.count(0) > max(_MORE_NULS, len(head) // _NUL_SHARE)


def _encoding_by_nuls(head: bytes) -> str | None:
    """Every second byte of Latin letters in UTF-16 is NUL, and never the other one; of UTF-32 every fourth of any text,
    and mostly its neighbor."""
    if not _too_many_nuls(head):
        return None
    first, second, third, fourth = (head[place::4].count(0) / (len(head) / 4) for place in range(4))
    if fourth > 0.99 and third > 0.5 and first < 0.1:
        return "UTF-32LE"
    if first > 0.99 and second > 0.5 and fourth < 0.1:
        return "UTF-32BE"
    even, odd = (first + third) / 2, (second + fourth) / 2
    if max(even, odd) > 0.3 and min(even, odd) <= max(even, odd) / 100:
        return "UTF-16LE" if odd > even else "UTF-16BE"
    return None
