"""The table of vector file formats, and reading and writing by it: sniff, load, save, check.

Adding a format: a module with one FORMAT row, its name here, a golden file in tests/golden.
"""

import os
import sys
from pathlib import Path

import numpy as np

from wv_cli._floattext import first_not_finite
from wv_cli.embeddings import Embeddings
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.formats import codes, glove_text, word2vec_binary, word2vec_text
from wv_cli.formats.base import WORD2VEC_PRECISION, Format, FormatWarning, Precision, ReadOptions, WriteOptions
from wv_cli.formats.escape import escape_words, require_writable, unescape_words
from wv_cli.formats.input import Input, open_input
from wv_cli.formats.report import Problem, Report, shown
from wv_cli.registry import Registry
from wv_cli.text.output import open_output

__all__ = [
    "FORMATS",
    "Format",
    "FormatWarning",
    "Problem",
    "Report",
    "check",
    "format_for_output",
    "load",
    "save",
    "sniff",
]

# The order in which files are tried, and in which a suffix is looked up.
FORMATS: Registry[Format] = Registry(
    "format",
    [
        (row.name, row)
        for row in (
            word2vec_text.FORMAT,
            word2vec_binary.FORMAT,
            glove_text.FORMAT,
            codes.FORMAT,
            codes.TEXT_FORMAT,
        )
    ],
)
SNIFF_BYTES = 1 << 16

# What people try to read that is something else, told by its first bytes.
_FOREIGN = [
    (b"\xba\x16\x4f\x2f", "a fastText model, which holds more than vectors; read the .vec file beside it"),
    (
        b"\x80",
        "a Python pickle (gensim's own format?); in gensim: model.wv.save_word2vec_format('vectors.bin', binary=True)",
    ),
    (b"\x93NUMPY", "a NumPy array, which holds no words"),
    (b"FiFu", "a finalfusion file; convert it with `finalfusion convert -t word2vec`"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
]


def _default_threads() -> int:
    return min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _sniff_input(source: Input) -> Format:
    head = source.peek(SNIFF_BYTES)
    for row in FORMATS.values():
        if row.sniff(head):
            return row
    foreign = next((what for magic, what in _FOREIGN if head.startswith(magic)), None)
    found = f"this is {foreign}" if foreign else f"found {shown(head, 20)}"
    problem = f"expected word vectors ({', '.join(FORMATS)}), {found}"
    raise BadFile(source.name, problem, byte=0)


def sniff(path: str | os.PathLike[str]) -> Format:
    """The format of a file, by its content. Raises BadFile when it is none of FORMATS."""
    with open_input(path) as source:
        return _sniff_input(source)


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    limit: int | None = None,
    unescape: bool = False,
    threads: int | None = None,
) -> Embeddings:
    """Reads vectors from a file or `-`, plain or compressed.

    `format` is a name in FORMATS, None: by content. `limit` reads only the first rows. `unescape` undoes save()'s
    escape. All words are kept, duplicates too. Raises BadFile with the place of the first fault, WvError when the
    file cannot be read; warns with FormatWarning about what was odd but read whole.
    """
    if limit is not None and limit < 1:
        message = f"the limit must be at least 1 row, not {limit}"
        raise UsageError(message)
    chosen = FORMATS.find(format) if format is not None else None
    with open_input(path) as source:
        row = chosen or _sniff_input(source)
        result = row.read(source, ReadOptions(limit, threads or _default_threads()))
        if unescape:
            result = Embeddings(unescape_words(result.words, source.name), result.matrix)
    return result


def format_for_output(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format to write `path` in: the one called `format`, else by the name's ending, else (`-`) word2vec-text.
    Raises UsageError."""
    name = os.fspath(path)
    row: Format | None
    if format is not None:
        row = FORMATS.find(format)
    elif name == "-":
        row = word2vec_text.FORMAT
    else:
        row = next((row for row in FORMATS.values() if row.write and name.endswith(row.suffixes)), None)
    choices = ", ".join(f"{row.name} ({', '.join(row.suffixes)})" for row in FORMATS.values() if row.write is not None)
    if row is None:
        suffix = Path(name).suffix
        message = f"{name}: the ending {suffix!r} names no format to write; choose one by --to or the ending: {choices}"
        if suffix in (".gz", ".bz2", ".xz", ".zst"):
            message = (
                f"{name}: files are written uncompressed; write to - and pipe it: ... - --to FORMAT | gzip > {name}"
            )
        raise UsageError(message)
    if row.write is None:
        message = f"{name}: {row.name} is read but not written; choose one of: {choices}"
        raise UsageError(message)
    if not row.text and name == "-" and sys.stdout.isatty():
        message = (
            f"binary vectors are not for a terminal; redirect standard output or choose {word2vec_text.FORMAT.name}"
        )
        raise UsageError(message)
    return row


def save(
    path: str | os.PathLike[str],
    embeddings: Embeddings,
    *,
    format: str | None = None,
    precision: Precision = WORD2VEC_PRECISION,
    escape: bool = False,
    threads: int | None = None,
) -> None:
    """Writes vectors to a file, whole or not at all, or to `-`.

    `format` is a name in FORMATS, None: by the name's ending (.bin, .vec, .txt, .glove). `precision` concerns text:
    decimals 1 .. 9, or "exact" for the shortest text that reads back to the same float32. `escape` writes words that
    the format cannot hold as new%20york. Raises UsageError for a format it cannot choose; WvError, before the file
    is touched, for a word that cannot be kept (with its row) and for nan or infinity; WvError when writing fails.
    """
    row = format_for_output(path, format)
    assert row.write is not None
    if precision != "exact" and not 1 <= precision <= 9:
        message = f"the precision must be 1 to 9 decimals or exact, not {precision}"
        raise UsageError(message)
    words = embeddings.words
    name = "standard output" if os.fspath(path) == "-" else os.fspath(path)
    if escape:
        words = escape_words(words)
    else:
        require_writable(words, row.name, name)
    matrix = embeddings.matrix
    if embeddings.dim > 1 and matrix.strides[1] != 4:
        matrix = np.ascontiguousarray(matrix)
    bad = first_not_finite(matrix)
    if bad is not None:
        at, value = bad[1] + 1, matrix[bad]
        message = (
            f"{name}: row {bad[0] + 1}: expected finite numbers, found {value} as number {at} of the word "
            f"{shown(words.bytes_at(bad[0]))}; nothing was written"
        )
        raise WvError(message)
    with open_output(path) as stream:
        row.write(stream, Embeddings(words, matrix), WriteOptions(precision, threads or _default_threads()))


def check(path: str | os.PathLike[str], *, format: str | None = None, max_problems: int = 100) -> Report:
    """Reads a whole file and reports all that is wrong with it, at most `max_problems` of it in detail.
    Raises BadFile when it is no vector file at all, WvError when it cannot be read."""
    chosen = FORMATS.find(format) if format is not None else None
    with open_input(path) as source:
        row = chosen or _sniff_input(source)
        report = Report(source.name, row.name, max_problems)
        try:
            row.check(source, report)
        except BadFile as error:
            report.add_error("unreadable", error)
    return report
