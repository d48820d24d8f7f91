"""Whether the bytes at a file's start are text."""

from wv_cli.system.kinds import HEAD_BYTES

UTF16 = "expected UTF-8 text, found UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE"
_MORE_NULS = 8  # than these, and than one in _NUL_SHARE bytes, are binary data
_NUL_SHARE = 1000


def binary(head: bytes) -> str | None:
    """What the bytes at a file's start are when they are no text in UTF-8, or in any code that is ASCII or more."""
    head = head[:HEAD_BYTES]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return UTF16
    nuls = head.count(0)
    if nuls <= max(_MORE_NULS, len(head) // _NUL_SHARE):
        return None
    even = head[::2].count(0)
    # Every second byte of Latin letters in UTF-16 is NUL, and never the other one.
    if max(even, nuls - even) > 0.3 * len(head) / 2 and min(even, nuls - even) <= nuls // 100:
        return UTF16
    return "binary data (NUL bytes)"
