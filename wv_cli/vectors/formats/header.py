"""word2vec's header line `rows dim`, shared by its text and binary formats: found, parsed, held against the file's
size."""

import re
from typing import NamedTuple

from wv_cli._floattext import BINARY_WORD_LIMIT, parse_float
from wv_cli.errors import BadFile, show_bytes
from wv_cli.io.input import Input
from wv_cli.vectors.heads import HEADER

_BLANKS = re.compile(rb"[ \t]+")  # between fields (core/separators.h)
_IN_NUMBERS = b"0123456789.,+-eE \t\r\n"
_DIM_LOOKED_AT = 1000  # numbers of a row that are looked at, at most
# A row longer than this would not be a word vector, and its size must fit the kernels' 32-bit dimension.
MAX_DIM = 10_000_000


class Header(NamedTuple):
    """`size` is the length of the line with its newline."""

    rows: int
    dim: int
    size: int

    def require_size(self, source: Input, limit: int | None, row_bytes: int, spare_bytes: int = 0) -> None:
        """Raises BadFile before anything is allocated when the file is smaller than the header promises at least, or
        than its first `limit` rows."""
        rows = self.rows if limit is None else min(self.rows, limit)
        least = self.size + rows * row_bytes - spare_bytes
        if source.size is not None and source.size < least:
            problem = (
                f"the header promises {rows} rows of {self.dim} numbers, at least {least} bytes; found "
                f"{source.size} bytes: the file was cut short or the header is wrong; `wv check` tells more"
            )
            raise BadFile(source.name, problem, line=1)


def parse_header(head: bytes) -> Header | None:
    """The header at the start of `head`, None when there is none."""
    found = HEADER.match(head)
    return Header(int(found[1]), int(found[2]), found.end()) if found else None


def header_line(rows: int, dim: int) -> bytes:
    return b"%d %d\n" % (rows, dim)


def read_header(source: Input) -> Header:
    """Takes the header. Raises BadFile when there is none or it promises the impossible."""
    head = source.peek(256)
    header = parse_header(head)
    if header is None:
        found = show_bytes(head.partition(b"\n")[0])
        problem = (
            f"expected a header `rows dim`, found {found}; a text file without a header is read as glove-text "
            "(--from glove-text)"
        )
        raise BadFile(source.name, problem, line=1)
    if not 1 <= header.dim <= MAX_DIM:
        raise BadFile(source.name, f"expected a dimension of 1 to {MAX_DIM}, found {header.dim}", line=1)
    source.read(header.size)
    return header


def bytes_to_tell(head: bytes) -> int:
    """How many bytes of a file that begins with `head` tell text rows from binary ones: more than there are where a
    long word leaves no number among them."""
    header = parse_header(head)
    if header is None or b" " in head[header.size : len(head) - 4 * min(header.dim, _DIM_LOOKED_AT)]:
        return len(head)
    return len(head) + BINARY_WORD_LIMIT


def looks_like_text(rows: bytes, header: Header) -> bool:
    """Tells text rows from binary ones by the bytes after the header (the start of them)."""
    dim = header.dim
    line, newline, _ = rows.partition(b"\n")
    fields = _BLANKS.split(line.strip(b" \t\r"))
    if newline and len(fields) > dim and all(parse_float(field) is not None for field in fields[-dim:]):
        # A few floats may hold a number and a line end; then more follows than the header promises of lines.
        behind = rows.split(b"\n", header.rows)[header.rows :]
        return not (b"".join(behind).strip() and _is_binary_whole(rows, header))
    # Raw floats nearly always hold control characters, text never does. A long row shows in its first part.
    numbers = rows.lstrip(b"\n").partition(b" ")[2][: 4 * dim]
    if any(byte < 32 and byte not in b"\t\n\r\v\f" for byte in rows[: 4 * dim + 100] + numbers):
        return False
    # A few floats may hold none: it takes numbers, right or wrong, to make text of them.
    if not numbers.strip(_IN_NUMBERS) or any(parse_float(field) is not None for field in fields[1:][-dim:]):
        return True
    return numbers.isascii() and not _is_binary_whole(rows, header)


def _is_binary_whole(rows: bytes, header: Header) -> bool:
    """Whether binary rows, as many as the header promises, end where `rows` end."""
    at = 0
    for _ in range(header.rows):
        while rows[at : at + 1] == b"\n":
            at += 1
        space = rows.find(b" ", at)
        at = space + 1 + 4 * header.dim
        if space < 0 or at > len(rows):
            return False
    return not rows[at:].strip(b"\n")
