"""Vector files of all formats: sniff, load, save. vectors/heads.py has the table, checking.py has check."""

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from wv_cli._floattext import first_not_finite
from wv_cli.errors import BadFile, FormatWarning, UsageError, WvError, show_bytes, show_head
from wv_cli.io import kinds
from wv_cli.io.arguments import path_text, require_type, whole_number
from wv_cli.io.compression import inner_name
from wv_cli.io.extra import require
from wv_cli.io.host import processors
from wv_cli.io.input import Input, open_input
from wv_cli.io.output import commit_together, open_output
from wv_cli.io.places import is_stdout, is_stream
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import WORD2VEC_PRECISION, BadRowsName, Precision
from wv_cli.vectors.formats.base import Format, ReadOptions, WriteOptions, count_lost_rows, warn_of_lost_rows
from wv_cli.vectors.formats.beside import find_vectors, mark_of, open_beside, read_words
from wv_cli.vectors.formats.escape import escape_words, require_utf8, require_writable, unescape_words
from wv_cli.vectors.formats.header import bytes_to_tell
from wv_cli.vectors.formats.skipping import BadRows, collect, finite_rows
from wv_cli.vectors.heads import FORMATS, SUFFIXES, candidates
from wv_cli.words import WordList

if TYPE_CHECKING:
    from wv_cli.vectors.fasttext import FastTextModel

__all__ = [
    "FORMATS",
    "Format",
    "FormatWarning",
    "format_for_output",
    "load",
    "open_vectors",
    "save",
    "sniff",
    "words_file",
]

SNIFF_BYTES = kinds.HEAD_BYTES


def default_threads() -> int:
    """Default number of threads for reading and writing text."""
    return min(4, processors())


def sniff_input(source: Input) -> Format:
    """The format of an open file, by its content. Raises BadFile when it is none of FORMATS."""
    head = source.peek(SNIFF_BYTES)
    if len(head) == SNIFF_BYTES:
        head = source.peek(bytes_to_tell(head))
    for row in candidates(head):
        if row.sniff(head):
            return row
    kind = kinds.kind_of(head)
    found = kind or show_head(head)
    readable = ", ".join(row.name for row in FORMATS.values() if row.read)
    problem = f"expected word vectors ({readable}), found {found}{kinds.advise_vectors(head)}"
    raise BadFile(source.name, problem, byte=0)


def sniff(path: str | os.PathLike[str]) -> Format:
    """The format of a file, by its content. Raises BadFile when it is none of FORMATS."""
    with open_input(find_vectors(path)) as source:
        return sniff_input(source)


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    limit: int | None = None,
    unescape: bool = False,
    threads: int | None = None,
    mapped: bool = False,
    bad_rows: BadRowsName = "error",
    keep_repeated: bool = False,
) -> Embeddings:
    """Reads vectors from a file, the folder of a static embedding or `-`, plain or compressed.

    `format` is a name in FORMATS, None: by content. `limit` reads only the first rows. `unescape` undoes save()'s
    escape. `bad_rows="skip"` leaves out rows that cannot be read, and names them. `mapped` lets numbers stay in the
    mapped file where its format can, for a few queries: see ReadOptions. Of rows with one word the first is kept;
    `keep_repeated` keeps all, for rows that are known by their places. Raises BadFile with the line or byte of the
    first fault, WvError when the file cannot be read; warns with FormatWarning about what was odd but read whole.
    """
    limit = None if limit is None else whole_number(limit, "limit")
    threads = None if threads is None else whole_number(threads, "threads")
    if limit is not None and limit < 1:
        message = f"the limit must be at least 1 row, not {limit}"
        raise UsageError(message)
    path, chosen = find_vectors(path_text(path, "path")), find_readable(format)
    with open_input(path) as source:
        row = chosen or sniff_input(source)
        result = _read(row, source, path, ReadOptions(limit, threads or default_threads(), mapped, bad_rows))
        if unescape:
            result = Embeddings(unescape_words(result.words, source.name), result.matrix, result.subwords)
    return result if keep_repeated else _take_first_rows(result, source.name)


def _read(row: Format, source: Input, path: str | os.PathLike[str], options: ReadOptions) -> Embeddings:
    """The vectors of an open file."""
    if options.bad_rows == "skip":
        return _read_good(row, source, path, options)
    return _read_rows(row, source, path, options, whole=options.limit is None)


def _read_rows(
    row: Format, source: Input, path: str | os.PathLike[str], options: ReadOptions, *, whole: bool
) -> Embeddings:
    """All rows, with their words, wherever these are. `whole`: there may be no more words than rows."""
    assert row.read is not None
    mark = mark_of(row, source)
    result = row.read(source, options)
    words = read_words(row, path, len(result), whole=whole, mark=mark)
    return result if words is None else Embeddings(words, result.matrix)


def _take_first_rows(vectors: Embeddings, name: str) -> Embeddings:
    """The vectors without the rows whose word an earlier row has. Warns with FormatWarning of how many there were."""
    kept = vectors.words.first_rows()
    left_out = len(vectors) - len(kept)
    if not left_out:
        return vectors
    rows = "1 row has the word of an earlier row and is"
    if left_out > 1:
        rows = f"{left_out:,} rows have the words of earlier rows and are"
    warnings.warn(f"{name}: {rows} left out; the first row counts. `wv check` names them", FormatWarning, stacklevel=3)
    return vectors.keep_rows(kept)


def _read_good(row: Format, source: Input, path: str | os.PathLike[str], options: ReadOptions) -> Embeddings:
    """The same without the rows that cannot be read. Raises UsageError for a format that has no such rows."""
    require_skips(row, source.name)
    if row.stream is not None and not row.words_ending:
        return collect(row.stream(source, options))
    result = _read_rows(row, source, path, replace(options, limit=None), whole=False)
    result, limit = finite_rows(result, BadRows(source.name)), options.limit
    if limit is not None and limit < len(result):
        result = Embeddings(result.words[:limit], result.matrix[:limit], result.subwords)
    return result


def require_skips(row: Format, name: str) -> None:
    """Raises UsageError for a format whose rows are whole or none."""
    if not row.skips:
        choices = ", ".join(other.name for other in FORMATS.values() if other.skips)
        message = f"{name}: --bad-rows skip has no effect on {row.name}, only on {choices}; leave it out"
        raise UsageError(message)


def find_readable(format: str | None) -> Format | None:
    """The row of the table with this name, None for None. Raises UsageError for a format that is only written."""
    row = FORMATS.find(format) if format is not None else None
    if row is not None and row.read is None:
        choices = ", ".join(other.name for other in FORMATS.values() if other.read)
        message = f"{row.name} is written but not read; choose one of: {choices}"
        raise UsageError(message)
    return row


def open_vectors(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    limit: int | None = None,
    mapped: bool = False,
    bad_rows: BadRowsName = "error",
) -> "Embeddings | FastTextModel":
    """Opens vectors for looking up some of them. A fastText model stays a model and is memory-mapped where possible,
    so that vectors are composed on demand. Other files are read as by load(), which `limit` is for. Raises what load()
    raises."""
    path, chosen = find_vectors(path), find_readable(format)
    with open_input(path) as source:
        row = chosen or sniff_input(source)
        if row.name != "fasttext-bin":
            found = _read(row, source, path, ReadOptions(limit, default_threads(), mapped, bad_rows))
            return _take_first_rows(found, source.name)
        if bad_rows == "skip":
            require_skips(row, source.name)
        from wv_cli.vectors.formats.fasttext_bin import read_model

        return read_model(source)


def format_for_output(path: str | os.PathLike[str], format: str | None = None) -> Format:
    """The format to write `path` in: the one called `format`, else by the name's ending, without that of a compression,
    else (`-`, a pipe or device) word2vec-text. Raises UsageError."""
    name, inner = os.fspath(path), inner_name(path)
    row: Format | None
    if format is not None:
        row = _find_format(format)
    else:
        row = _by_ending(inner) or (FORMATS["word2vec-text"] if is_stream(path) else None)
    if row is None:
        suffix = Path(inner).suffix
        why = f"the ending {suffix!r} names no format to write; choose one by --to or the ending"
        if suffix == ".ftz":
            why = "`wv quantize` makes quantized models; convert writes vectors"
        elif suffix == ".floret":
            why = "a table of floret is written from another one: wv convert --to floret; other vectors"
        raise UsageError(f"{name}: {why}: {_writable()}")
    if row.write is None:
        message = f"{name}: {row.name} is read but not written; choose one of: {_writable()}"
        raise UsageError(message)
    if not row.text:
        refuse_terminal(path)
    if row.package:
        require(row.package, f"writing {row.name}")
    return row


def _find_format(name: str) -> Format:
    """The format of an output. Raises UsageError, with those that are written."""
    if name in FORMATS:
        return FORMATS[name]
    import difflib

    near = difflib.get_close_matches(name, [*FORMATS, "static", "spacy"], n=1)
    ways = f"choose one of: {_writable()}; wv convert also writes static, spacy, floret and fasttext-bin"
    way = f"did you mean {near[0]!r}?" if near else ways
    raise UsageError(f"unknown format {name!r}; {way}")


def _writable() -> str:
    """The formats that are written, with their endings."""
    return ", ".join(f"{row.name} ({', '.join(row.suffixes)})" for row in FORMATS.values() if row.write is not None)


def _by_ending(name: str) -> Format | None:
    chosen = (FORMATS[format] for format in FORMATS if name.endswith(SUFFIXES.get(format, ())))
    return next((row for row in chosen if row.write), None)


def words_file(path: str, format: str | None = None) -> str | None:
    """The second file of an output whose format stores only numbers, None for other formats. `format` or the ending
    chooses the format."""
    if format is None and is_stream(path):
        return None  # without loading every format for an ending that is none
    row = _find_format(format) if format is not None else _by_ending(inner_name(path))
    return row.words_path(path) if row else None


def refuse_terminal(path: str | os.PathLike[str]) -> None:
    """Raises UsageError when `path` is a terminal, for formats that are not text."""
    if is_stdout(path) and sys.stdout.isatty():
        message = "binary vectors are not for a terminal; redirect standard output or choose word2vec-text"
        raise UsageError(message)


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
    is touched, for a word that cannot be kept (with its row) and for nan or infinity; WvError when writing fails. Warns
    with FormatWarning of rows that became zeros.
    """
    require_type(embeddings, Embeddings, "embeddings", "Embeddings")
    path = path_text(path, "path")
    row = format_for_output(path, format)
    assert row.write is not None
    if precision != "exact":
        precision = whole_number(precision, "precision")
    if precision != "exact" and not 1 <= precision <= 9:
        message = f"the precision must be 1 to 9 decimals or exact, not {precision}"
        raise UsageError(message)
    words = escape_words(embeddings.words) if escape else embeddings.words
    name = name_of_output(path)
    _require_words(words, row, name)
    matrix = embeddings.matrix
    if embeddings.dim > 1 and matrix.strides[1] != 4:
        matrix = np.ascontiguousarray(matrix)
    require_finite(Embeddings(words, matrix), name)
    with commit_together(), open_output(path) as stream, open_beside(row, path, stream) as beside:
        row.write(stream, Embeddings(words, matrix), WriteOptions(precision, threads or default_threads()))
        beside.add(words)
    warn_of_lost_rows(name, count_lost_rows(matrix, row, precision))


def require_words(path: str | os.PathLike[str], words: WordList, format: str | None = None) -> None:
    """Raises, before any work, what save() would raise for the words of vectors."""
    _require_words(words, format_for_output(path, format), name_of_output(path))


def _require_words(words: WordList, row: Format, name: str) -> None:
    require_writable(words, row.name, name)
    if row.utf8:
        require_utf8(words, row.name, name)


def name_of_output(path: str | os.PathLike[str]) -> str:
    return "standard output" if os.fspath(path) == "-" else os.fspath(path)


def require_finite(embeddings: Embeddings, name: str) -> None:
    """Raises WvError for nan or infinity in the numbers to be written to `name`. Columns must be contiguous."""
    bad = first_not_finite(embeddings.matrix)
    if bad is not None:
        at, value = bad[1] + 1, embeddings.matrix[bad]
        message = (
            f"{name}: row {bad[0] + 1}: expected finite numbers, found {value} as number {at} of the word "
            f"{show_bytes(embeddings.words.bytes_at(bad[0]))}; nothing was written"
        )
        raise WvError(message)
