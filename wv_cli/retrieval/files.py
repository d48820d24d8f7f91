"""The files that are searched: folders gone through, what is no text left out, their chunks and digests."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, NoReturn

from wv_cli.errors import UsageError, WvError, reason
from wv_cli.io import meta, remote
from wv_cli.io.compression import CHUNK, decompress
from wv_cli.io.kinds import HEAD_BYTES, ZIP, kind_of
from wv_cli.io.marks import without_mark
from wv_cli.retrieval.chunks import Chunk, cut, cut_records
from wv_cli.retrieval.config import TextConfig
from wv_cli.text.binary import InvalidBytes, binary, describe_foreign, is_foreign
from wv_cli.text.documents import document_of, read_documents
from wv_cli.text.folder_files import describe_table, files_below, is_data
from wv_cli.text.raw_files import blocks, name_of_input, open_raw
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import record_kind
from wv_cli.text.records.opening import read_records
from wv_cli.text.records.reading import Rules
from wv_cli.text.web_pages import BLANK, is_page, read_page, recode_page, unreadable_page
from wv_cli.vectors.stored_index import DIGEST_BYTES, is_search_index

Log = Callable[[str], None]


class Found(NamedTuple):
    """A file; one that was `named` must be text."""

    path: str
    named: bool


def find_files(inputs: Sequence[str], log: Log, written: Sequence[str] = ()) -> list[Found]:
    """The files that `inputs` name, each once, those of folders in the order of their names. Names that begin with a
    dot or an underscore, sidecars, links to folders and the index that is `written` are left out. Raises WvError,
    UsageError, also where another file would be written over."""
    if list(inputs).count("-") > 1:
        raise UsageError("- (standard input) is given twice; it can be read only once")
    found: dict[str, Found] = {}
    own = [Path(path).stat() for path in written if Path(path).is_file()]
    for name in inputs:
        for each in _files_of(name, log):
            here = not each.named and not remote.is_remote(name)
            if here and any(os.path.samestat(Path(each.path).stat(), other) for other in own):
                with Path(each.path).open("rb") as stream:
                    head = stream.read(HEAD_BYTES)
                if head and not is_search_index(head):
                    raise UsageError(f"{each.path}: is both read and written; choose another output")
                continue
            found.setdefault(each.path, each)
    return list(found.values())


def _files_of(folder: str, log: Log) -> list[Found]:
    """The file of that name, or those of a folder."""
    if remote.is_remote(folder):
        paths = remote.files_in(folder)
        if paths is None:
            return [Found(folder, True)]
        if problem := describe_table(folder, [remote.path_below(path, folder) for path in paths]):
            log(problem)
        inside = [path for path in paths if all(map(is_data, remote.path_below(path, folder).split("/")))]
        return [Found(path, False) for path in inside if not path.endswith(meta.ENDING)]
    if folder == "-" or not Path(folder).is_dir():
        return [Found(folder, True)]

    def tell(error: OSError) -> None:
        log(f"{error.filename}: left out: {reason(error)}")

    return [Found(path, False) for path in files_below(folder, tell, log, log) if not path.endswith(meta.ENDING)]


class FileText:
    """The chunks of a file, read once, and its digest when they have been read. Raises BadFile for what is no text,
    WvError for what cannot be read; records that cannot be read are told to `log`, bytes that are no UTF-8 are counted
    as `replaced`, but in records."""

    def __init__(self, path: str, config: TextConfig, log: Log, replaced: InvalidBytes) -> None:
        self.path, self._config, self._log, self._replaced = path, config, log, replaced
        self._hash = hashlib.blake2b(digest_size=DIGEST_BYTES)

    @property
    def digest(self) -> bytes:
        return self._hash.digest()

    def __iter__(self) -> Iterator[Chunk]:
        name = name_of_input(self.path)
        with open_raw(self.path) as raw:
            packed = read_documents(self.path, self._hash_chunks(blocks(raw, name, CHUNK)), self._refuse_blank)
            first = next(packed, b"")
            if (document := document_of(self.path, first)) and (problem := document.problem()):
                raise NoText(f"{name}: expected text, found {problem}")
            if re.match(ZIP, first):
                raise NoText(f"{name}: expected text, found {kind_of(first[:HEAD_BYTES], certain=True)}")
            text = decompress(chain([first], packed), name)
            kind = record_kind(self.path) if self._config.field is not None else None
            if kind is not None:
                rules = Rules(ReadingConfig(field=self._config.field), False, self._log, whole=True)
                yield from cut_records(read_records(kind, name, self.path, text, rules))
                for _ in text:  # what a reader of its own has not taken
                    pass
            else:
                yield from cut(_read_text(without_mark(text), name, self.path, self._replaced), self._config)

    def _refuse_blank(self, what: str) -> NoReturn:
        raise NoText(f"{name_of_input(self.path)}: expected text, found {what}")

    def _hash_chunks(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._hash.update(chunk)
            yield chunk


class NoText(WvError):
    """A file that is not text."""


def _read_text(chunks: Iterator[bytes], name: str, path: str, replaced: InvalidBytes) -> Iterator[bytes]:
    first = next(chunks, b"")
    if path == "-" or not is_page(path, first):
        try:
            for chunk in _require_text(chain([first], chunks), name):
                replaced.add(chunk, name)
                yield chunk
        finally:  # a damaged file is left out, and the next one begins at byte 0
            replaced.end(name)
    elif problem := unreadable_page():
        raise NoText(f"{name}: expected text, found {problem}")
    else:
        page = recode_page(b"".join([first, *chunks]))
        if is_foreign(page):
            raise WvError(f"{name}: expected UTF-8 text, found {describe_foreign(page)}")
        replaced.add(page, name)
        replaced.end(name)
        if not (text := read_page(page)):
            raise NoText(f"{name}: expected text, found {BLANK}")
        yield text


def _require_text(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    first = next(chunks, b"")
    problem = kind_of(first[:HEAD_BYTES], certain=True) or binary(first)
    if problem:
        from wv_cli.vectors.recognize import recognize  # heavy, and needed for no text

        found = recognize(first[:HEAD_BYTES])
        problem = f"{found}, which wv nn searches" if found and found.endswith(" vectors") else found or problem
        raise NoText(f"{name}: expected text, found {problem}")
    if is_foreign(first):
        raise WvError(f"{name}: expected UTF-8 text, found {describe_foreign(first)}")
    yield first
    yield from chunks


def text_digest(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest()


def file_digest(path: str) -> bytes:
    """Raises WvError."""
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    with open_raw(path) as raw:
        for block in blocks(raw, path, CHUNK):
            found.update(block)
    return found.digest()
