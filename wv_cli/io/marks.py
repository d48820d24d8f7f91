"""The byte order mark before a text and the carriage returns at its line ends: editors of Windows write both.

Every reader of text takes them off here. The mark is looked for once, at the head of a file.
"""

from collections.abc import Iterable, Iterator

MARK = b"\xef\xbb\xbf"


def has_mark(head: bytes) -> bool:
    """Whether a file begins with a mark. A NUL behind it makes these bytes a binary number."""
    return head.startswith(MARK) and head[3:4] != b"\0"


def without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks of a text, of any size, without its mark; a chunk waits only while it may be a part of the mark."""
    rest = iter(chunks)
    head = b""
    for chunk in rest:
        head += chunk
        if not MARK.startswith(head):
            break
    if head := head[len(MARK) :] if has_mark(head) else head:
        yield head
    yield from rest


def split_lines(text: bytes) -> list[bytes]:
    """The lines of a text without mark and line ends."""
    lines = text.removeprefix(MARK).split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [line.rstrip(b"\r") for line in lines]
