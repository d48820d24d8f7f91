"""What a file is, told by its first bytes, so that a reader that expected something else can name what it found.

The table begins with what no room here reads and with our own containers; wv_cli.formats adds its rows.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from wv_cli.errors import BadFile

HEAD_BYTES = 1 << 16  # at most, looked at
_CSV_BYTES, _CSV_ROWS = 1 << 14, 20  # the rows that must be alike
_CONTAINER = re.compile(rb"wv ([a-z-]{1,40}) \d+\n\{")


class Kind(NamedTuple):
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
_MAGNITUDE = "a Magnitude file (SQLite); write its vectors as lines `word number ...` with pymagnitude"
_FLORET = "floret's table of hashed n-grams; let floret write words: floret print-word-vectors MODEL.bin"
_FINALFUSION = "a finalfusion file, which wv 0.4.0 was the last to read; write word2vec's binary with finalfusion-utils"
_UTF16 = "UTF-16; convert it: iconv -f UTF-16 -t UTF-8 FILE"
# What only another program unpacks: how it begins, what it is, what to do.
PACKED = [
    (rb"PK\x03\x04(?s:.{26,64})\.npy", "NumPy arrays (.npz)", "save one with numpy.save, its words in NAME.words.txt"),
    (rb"PK\x03\x04", "a zip archive", "unzip it first"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (rb"\x04\x22\x4d\x18", "lz4-compressed", "run `lz4 -d` first"),
    (rb"\x1f\x9d", "compressed with `compress`", "run `uncompress` first"),
]
PACKED_HEAD = 96  # bytes that tell them
RECORDS = {
    "jsonl": "JSON, whose text is in a field of each object; name it with --field, or end the file's name in .jsonl",
    "csv": "comma-separated values (CSV); end the file's name in .csv, which is read by columns (--field)",
}


def records_of(head: bytes) -> str | None:
    """The name in RECORDS of a text that is made of records with fields, told by the `head` it begins with. Running
    text has blanks behind its commas, and not the same number of them in every line."""
    if re.match(rb'\s*(?:\[\s*)?\{\s*"(?:[^"\\\n]|\\.)*"\s*:', head):
        return "jsonl"
    lines = head[:_CSV_BYTES].split(b"\n", _CSV_ROWS)
    text = [f"{line.decode('utf-8', 'surrogateescape')}\n" for line in lines[:-1]]
    if len(text) < 2 or any(b"," not in line for line in lines[:-1]) or re.search(rb"\d,\d+ -?\d+,\d", lines[0]):
        return None
    import csv

    try:
        rows = list(csv.reader(text))
    except csv.Error:
        return None
    alike = all(len(row) == len(rows[0]) and not any(cell != cell.strip(" ") for cell in row) for row in rows)
    return "csv" if alike and len(rows) > 1 else None


# In the order in which they are tried.
KINDS: list[Kind] = [
    match_beginning(b"\x80[\2-\5]", _PICKLE),
    match_beginning(rb"(?:[ \t\r]*\n|#[^\n]*\n)*\\data\\\s", "an ARPA file of n-grams"),
    *(match_beginning(first, f"{what}; {step}") for first, what, step in PACKED),
    match_beginning(rb"(?s:.{257})ustar", "a tar archive; unpack it first: tar -xf FILE"),
    match_beginning(rb"Q?blmtI? \d", "a binary of IRSTLM; make an ARPA of it: compile-lm --text=yes FILE OUT.arpa"),
    match_beginning(rb"mmap lm http://kheafield", "a KenLM binary, which wv lm reads"),
    match_beginning(rb"SQLite format 3\0(?s:.{0,65000}?)[Mm]agnitude", _MAGNITUDE),
    match_beginning(rb"SQLite format 3\0", "an SQLite database"),
    match_beginning(rb"\x89HDF\r\n", "an HDF5 file"),
    match_beginning(rb"PAR1", "a Parquet file"),
    match_beginning(rb"FiFu", _FINALFUSION),
    match_beginning(rb"(?:\d+ ){6}\S+ \S+\r?\n", _FLORET),
    Kind(match_beginning(rb"\xff\xfe|\xfe\xff|(?:[\t\n\r -~]\0){8}|(?:\0[\t\n\r -~]){8}", _UTF16).what, certain=False),
    Kind(lambda head: RECORDS.get(records_of(head) or ""), certain=False),
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
