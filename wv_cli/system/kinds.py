"""What a file is, told by its first bytes, so that a reader that expected something else can name what it found.

The table begins with what no room here reads and with our own containers; wv_cli.formats adds its rows.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from wv_cli.errors import BadFile

HEAD_BYTES = 1 << 16  # at most, looked at
_CONTAINER = re.compile(rb"wv ([a-z-]{1,40}) \d+\n\{")


@dataclass(frozen=True)
class Kind:
    """`what` is what messages call such a file, for the bytes it begins with; None for others. A `certain` kind is
    binary, or marked: no running text, no list of words or numbers can look like it by chance."""

    what: Callable[[bytes], str | None]
    certain: bool = True


def match_beginning(first: bytes, what: str) -> Kind:
    """Files of other programs whose first bytes match this expression."""
    return Kind(lambda head: what if re.match(first, head) else None)


def _container(head: bytes) -> str | None:
    found = _CONTAINER.match(head)
    return f"a {found[1].decode()} file of wv" if found else None


_PICKLE = "a Python pickle (gensim's own format?); in gensim: model.wv.save_word2vec_format('vectors.bin', binary=True)"
# In the order in which they are tried.
KINDS: list[Kind] = [
    match_beginning(b"\x80[\2-\5]", _PICKLE),
    match_beginning(rb"(?:[ \t\r]*\n|#[^\n]*\n)*\\data\\\s", "an ARPA file of n-grams"),
    match_beginning(b"PK\x03\x04", "a zip archive; unpack it first"),
    Kind(_container),
    Kind(
        match_beginning(rb"IHNf|IwPQ|IxFI|IxF2|IwFl", "an index of faiss; wv nn takes it as --index").what,
        certain=False,
    ),
]


def kind_of(head: bytes, *, certain: bool = False) -> str | None:
    """What a file is that begins with `head`, None when that is not known; `certain`: or might be chance."""
    names = (kind.what(head[:HEAD_BYTES]) for kind in KINDS if kind.certain or not certain)
    return next((name for name in names if name is not None), None)


def require_lines(head: bytes, path: str, expected: str) -> None:
    """Raises BadFile when a file that begins with `head` is certainly not the `expected` lines of text."""
    found = kind_of(head, certain=True)
    if found is not None:
        raise BadFile(path, f"expected {expected}, found {found}", byte=0)
