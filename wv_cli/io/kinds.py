"""What a file is, told by its first bytes, so that a reader that expected something else can name what it found.

The table begins with what no room here reads and with our own containers; wv_cli.vectors.heads adds those of vectors.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from wv_cli.errors import BadFile

HEAD_BYTES = 1 << 16  # at most, looked at
_CSV_BYTES, _CSV_ROWS = 1 << 14, 20  # the rows that must be alike
# A line with one comma, which stands between letters of scripts without blanks.
_LETTER = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u30ff\u3400-\u9fff\uff00-\uffef]"
_UNSPACED = f"^[^,]*{_LETTER},{_LETTER}[^,]*$"  # compiled when it is asked for: it takes milliseconds
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
_FINALFUSION = "a finalfusion file, which wv 0.4.0 was the last to read; write word2vec's binary with finalfusion-utils"
# How text in other units than bytes begins, and what iconv calls it. A mark tells it the order of the bytes.
_ENCODINGS = [
    (rb"\xff\xfe\0\0|\0\0\xfe\xff", "UTF-32"),
    (rb"\xff\xfe|\xfe\xff", "UTF-16"),
    (rb"(?:[\t\n\r -~]\0\0\0){4}", "UTF-32LE"),
    (rb"(?:\0\0\0[\t\n\r -~]){4}", "UTF-32BE"),
    (rb"(?:[\t\n\r -~]\0){8}", "UTF-16LE"),
    (rb"(?:\0[\t\n\r -~]){8}", "UTF-16BE"),
]
_LFS = re.compile(rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/(?:.*\n)+?size (\d+)\s")
ZIP = rb"PK\x03\x04"
_ZIPPED = rb"PK\x03\x04(?s:.{26})(?:%s)"  # by the name of its first file
_PANDOC = "take its text out first: pandoc FILE -t plain -o FILE.txt"
_OFFICE = f"{_PANDOC} (of tables: save them as CSV)"
# What only another program unpacks: how it begins, what it is, what to do.
PACKED = [
    (rb"PK\x03\x04(?s:.{26,64})\.npy", "NumPy arrays (.npz)", "save one with numpy.save, its words in NAME.words.txt"),
    (_ZIPPED % rb"\[Content_Types\]\.xml|_rels/|docProps/|word/|xl/|ppt/", "an Office document", _OFFICE),
    (_ZIPPED % rb"mimetypeapplication/epub", "an e-book (EPUB)", _PANDOC),
    (_ZIPPED % rb"mimetypeapplication/vnd\.oasis", "an OpenDocument file", _PANDOC),
    (ZIP, "a zip archive", "unzip it first"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (rb"\x04\x22\x4d\x18", "lz4-compressed", "run `lz4 -d` first"),
    (rb"\x1f\x9d", "compressed with `compress`", "run `uncompress` first"),
]
PACKED_HEAD = 96  # bytes that tell them
_RECORD_NAMES = {"jsonl": "JSON", "csv": "comma-separated values (CSV)"}
# The same where texts are read, and what to do.
RECORDS = {
    "jsonl": "JSON, whose text is in a field of each object; name it with --field, or end the file's name in .jsonl",
    "csv": "comma-separated values (CSV); end the file's name in .csv, which is read by columns (--field)",
}


def records_of(head: bytes) -> str | None:
    """The name in RECORDS of a text that is made of records with fields, told by the `head` it begins with. Running
    text has blanks behind its commas, and not the same number of them in every line. Chinese, Japanese and Thai have no
    blanks: one comma between their letters in each line may part two clauses."""
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
    if not alike or len(rows) < 2 or all(re.search(_UNSPACED, line) for line in text):
        return None
    return "csv"


_PUNCTUATION = ".,;:!?()[]'\"“”"


_READERS = {
    b"search-index": "; wv search export INDEX -o NAME.npy writes its vectors",
    b"pooled-classifier": "; wv predict and wv eval labels ask it",
    b"packed-ngrams": "; wv lm and wv eval perplexity ask it",
    b"state": "; --continue takes it",
}


def advise_vectors(head: bytes) -> str:
    """What to do with records, texts and files of wv where word vectors are read, "" for other files."""
    if found := _CONTAINER.match(head):
        return _READERS.get(found[1], "")
    kind = records_of(head)
    if kind == "jsonl":
        return "; write its vectors as lines `word number ...`"
    if kind is None and is_prose(head):
        return "; if it is a text, train vectors first: wv train FILE -o vectors.bin"
    if kind != "csv":
        return ""
    first, second, *_ = (line.strip(b"\r").split(b",") for line in head[:_CSV_BYTES].split(b"\n", 2))
    if not all(map(_is_number, second[1:])):
        return ", which are no vectors: expected a word and numbers"
    is_header = (
        not first[0].strip(b'"') or not all(map(_is_number, first[1:])) or first[1:] in _numbered_names(len(first) - 1)
    )
    unquoted = "tr -d '\"' | " if b'"' in head[:_CSV_BYTES] else ""
    read = "tail -n +2 FILE |" if is_header else "cat FILE |"
    return f"; make word vectors of it: {read} {unquoted}tr , ' ' > vectors.txt"


def is_prose(head: bytes) -> bool:
    """Whether a file begins with several words, nearly all of letters."""
    words = [each.strip(_PUNCTUATION) for each in head[:_CSV_BYTES].decode("utf-8", "replace").split()[:-1]]
    return len(words) > 2 and sum(each.isalpha() for each in words) >= 0.8 * len(words)


def _is_number(cell: bytes) -> bool:
    try:
        float(cell.strip(b'"'))
    except ValueError:
        return False
    return True


def _numbered_names(cells: int) -> list[list[bytes]]:
    """Names of columns that count them, from 0 and from 1."""
    return [[b"%d" % (first + cell) for cell in range(cells)] for first in (0, 1)]


def encoding_of(head: bytes) -> str | None:
    """What iconv calls the encoding of a text in UTF-16 or UTF-32, told by the `head` it begins with."""
    return next((name for first, name in _ENCODINGS if re.match(first, head)), None)


def name_encoding(encoding: str) -> str:
    """A text in that encoding, for messages."""
    return f"{encoding}; convert it: iconv -f {encoding} -t UTF-8 FILE"


def _utf(head: bytes) -> str | None:
    encoding = encoding_of(head)
    return name_encoding(encoding) if encoding else None


def _lfs_pointer(head: bytes) -> str | None:
    found = _LFS.match(head[:1024])
    if found is None:
        return None
    size = int(found[1])
    unit, name = (10**9, "GB") if size >= 10**9 else (10**6, "MB") if size >= 10**6 else (10**3, "kB")
    return f"a pointer of Git LFS, not the file itself ({size / unit:.1f} {name}); fetch it: git lfs pull"


_ARROW_FILE = rb"ARROW1\0\0"
# Arrow's own writers, then polars.
_ARROW_STREAM = rb"(?:(?:\xff{4})?(?s:...)\0\x10\0\0\0\0\0[\n\x0c\x0e\x10]\0|\xff{4}(?s:...)\0\x04\0\0\0(?s:.)\xff{3})"
_TABLE = "; write its rows as Parquet, JSON lines or CSV"
# How files begin that no room here reads, and what they are.
_FOREIGN = [
    (_ARROW_FILE, "an Arrow IPC file (Feather); end its name in .arrow"),
    (rb"WARC/\d\.\d\r?\n", "a web archive (WARC); end its name in .warc or .wet"),
    (rb"FEA1", f"a Feather file{_TABLE}"),
    (_ARROW_STREAM, "an Arrow IPC stream; end its name in .arrow"),
    (rb"ORC(?s:.{0,5})[\0-\x08\x0e-\x1f\x80-\xff]", f"an ORC file{_TABLE}"),
    (rb"Obj\x01", f"an Avro file{_TABLE}"),
    (rb"SEQ[\x04-\x06]", f"a Hadoop sequence file{_TABLE}"),
    (rb"(?s:.{8})DUCK[^ -~]", f"a DuckDB database{_TABLE}"),
    (rb"(?:RD[AX][23]\n|[XAB]\n\0\0\0[\2\3])", f"data of R{_TABLE}"),
    (rb"MATLAB 5\.0 MAT-file", "a MATLAB file"),
    (rb"GGUF[\1-\x09]\0\0\0", "a GGUF file of llama.cpp"),
    (rb"(?:\xef\xbb\xbf)?\s*%PDF-\d", "a PDF file; take its text out first: pdftotext FILE"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a file of an older Microsoft Office; save it as text or CSV"),
    (rb"\{\\rtf\d", "a rich text file (RTF); save it as plain text"),
    (rb"\x89PNG\r\n", "a PNG picture"),
    (rb"\xff\xd8\xff", "a JPEG picture"),
    (rb"GIF8[79]a", "a GIF picture"),
    (rb"\x7fELF", "a program (ELF)"),
    (rb"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (rb"\xff\x06\0\0sNaPpY", "compressed with Snappy; unpack it first"),
]
# In the order in which they are tried.
KINDS: list[Kind] = [
    Kind(_lfs_pointer),
    *(match_beginning(first, what) for first, what in _FOREIGN),
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
    Kind(_utf, certain=False),
    Kind(match_beginning(rb"(?i)\s*<(?:!doctype html|html)\b", "a web page (HTML)").what, certain=False),
    Kind(lambda head: _RECORD_NAMES.get(records_of(head) or ""), certain=False),
    Kind(_container),
    Kind(
        match_beginning(rb"IHNf|IwPQ|IxFI|IxF2|IwFl", "an index of faiss").what,
        certain=False,
    ),
]


def kind_of(head: bytes, *, certain: bool = False) -> str | None:
    """What a file is that begins with `head`, None when that is not known; `certain`: or might be chance."""
    names = (kind.what(head[:HEAD_BYTES]) for kind in KINDS if kind.certain or not certain)
    return next((name for name in names if name is not None), None)


def is_arrow(head: bytes) -> bool:
    """Whether a file that begins with `head` is one of Arrow's own, a file or a stream."""
    return re.match(rb"%s|\xff{4}|%s" % (_ARROW_FILE, _ARROW_STREAM), head) is not None


def refuse_other_kinds(head: bytes, path: object, expected: str) -> None:
    """Raises BadFile when a file that begins with `head` is certainly not what is `expected`."""
    found = kind_of(head, certain=True)
    if found is not None and found not in expected:
        raise BadFile(path, f"expected {expected}, found {found}", byte=0)


def refuse_other_file(path: Path, expected: str) -> None:
    """The same of a file that another package will read. One that cannot be read is left to it."""
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD_BYTES)
    except OSError:
        return
    refuse_other_kinds(head, path, expected)
