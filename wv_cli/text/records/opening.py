"""Files of records, opened: what they begin with is looked at before their reader gets them."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.errors import BadFile, UsageError
from wv_cli.io.compression import decompress, inner_name
from wv_cli.io.kinds import is_arrow, kind_of, records_of
from wv_cli.text.binary import binary, foreign_encoding
from wv_cli.text.raw_files import blocks, open_raw
from wv_cli.text.records.kinds import RECORDS

if TYPE_CHECKING:
    from wv_cli.text.inputs import Texts
    from wv_cli.text.records.reading import Block, Rules

_HEAD = 1 << 12  # bytes that tell what a file is, unless its first line is shorter
_FIRST_LINE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:(\[)|\{(?:.*[{\[,:])?\s*\n)")


def read_records(
    kind: str, name: str, path: str, chunks: Iterator[bytes], rules: "Rules", *, begins: bool = True
) -> "Iterator[Block]":
    """The records of the file at `path`, whose bytes are `chunks`; `begins` tells whether these are its first ones.
    Raises BadFile."""
    if begins:
        head = next(chunks, b"")
        while len(head) < _HEAD and b"\n" not in head.lstrip() and (more := next(chunks, b"")):
            head += more
        require_records(kind, name, head)
        chunks = chain([head] if head else [], chunks)
    yield from RECORDS[kind].load()(name, path, chunks, rules)


def require_records(kind: str, name: str, head: bytes) -> None:
    """Raises BadFile when a file that begins with `head` is something else than records of this kind."""
    if (kind == "parquet" and head.startswith((b"PAR1", b"PARE"))) or (kind == "arrow" and is_arrow(head)):
        return
    if kind == "warc" and head.startswith(b"WARC/"):
        return
    if found := kind_of(head, certain=True) or foreign_encoding(head) or binary(head.partition(b"\n")[0]):
        raise BadFile(name, f"expected {RECORDS[kind].what}, found {found}")
    if kind == "warc" and head:
        raise BadFile(name, "expected WARC, found something else; end its name as that of its format")
    if kind == "jsonl":
        refuse_json_over_lines(name, head)


def refuse_other_files(texts: "Texts", paths: Sequence[str]) -> None:
    """Raises UsageError for one of the `paths`, which `texts` names or has in its folders, whose name has no ending of
    records."""
    for path in paths:
        if texts.records(path) is None:
            raise _no_records(path, "" if path in texts.inputs else _pattern_beside(texts, path, paths))


def _pattern_beside(texts: "Texts", path: str, paths: Sequence[str]) -> str:
    """A shell pattern of the records in the folder of `path`, "" where there are none."""
    for other in paths:
        if Path(other).parent == Path(path).parent and texts.records(other) is not None:
            inner = inner_name(other)
            return str(Path(path).parent / f"*{Path(inner).suffix}{other[len(inner) :]}")
    return ""


def _no_records(path: str, beside: str) -> UsageError:
    """`beside` is a pattern of other files that may stand for this one."""
    with open_raw(path) as raw, closing(decompress(blocks(raw, path, _HEAD), path)) as text:
        head = next(text, b"")
    if kind := records_of(head):
        found, step = f"{RECORDS[kind].what} without such an ending", f"end its name in .{kind}, or give --field"
    elif what := kind_of(head, certain=True):
        found, step = what, "give records"
    else:
        found, step = "text", "to filter its lines, end its name in .tsv and give --no-header --field 1"
    if beside:
        step = f"to leave it out, name the files beside it, such as {beside}; {step}"
    return UsageError(
        f"{path}: expected a file of records ({', '.join(f'.{kind}' for kind in RECORDS)}), found {found}; {step}"
    )


def refuse_json_over_lines(name: str, head: bytes) -> None:
    """Raises BadFile for a JSON array, and for JSON that goes on in the next line: few of its lines are records, and
    these are parts of others."""
    if found := _FIRST_LINE.match(head):
        what, step = ("an array", "'.[]'") if found[1] else ("JSON that goes on in the next line", ".")
        way = f"{'unpack it and ' if inner_name(name) != name else ''}write lines: jq -c {step} FILE > FILE.jsonl"
        raise BadFile(name, f"expected an object in each line, found {what}; {way}")
