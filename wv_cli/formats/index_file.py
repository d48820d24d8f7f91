"""Files of indexes for approximate search: NAME as `faiss.write_index` writes it, and NAME.words.txt.

    NAME             faiss's own bytes, which say how thoroughly to search (efSearch, nprobe), then a seal of 32 bytes:
                     "wvindex1", candidates of each row asked for (4 bytes, little-endian), the digest of the words
                     (16), and CRC-32 of all before it (4)
    NAME.words.txt   the word of each row, one a line

Faiss reads NAME as it is: what stands behind an index it does not look at. The seal is for us. Faiss follows what a
file says of itself, and a damaged one can end the process; so the bytes are summed before faiss sees them, and words of
another index are refused. A file without the seal is not opened: what it compares by, and that its rows are of unit
length, nobody has promised.
"""

import os
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from wv_cli.errors import BadFile, WvError, reason
from wv_cli.formats.beside import digest
from wv_cli.search.approximate import Approximate
from wv_cli.search.indexes import kind_of, library
from wv_cli.system import kinds
from wv_cli.system.extra import foreign
from wv_cli.system.input import open_input
from wv_cli.system.output import commit_together, open_output
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

_TITLE = b"wvindex1"
_SEAL = struct.Struct("<8sI16sI")


def words_path(path: str | os.PathLike[str]) -> str:
    return f"{os.fspath(path)}.words.txt"


def save_index(path: str, index: Any, words: WordList, factor: int) -> int:
    """Writes both files, or none; the bytes of the first. `factor` is that of search.approximate. Raises WvError, also
    for a word that no line can hold."""
    lines = [words.bytes_at(row) for row in range(len(words))]
    for row, word in enumerate(lines):
        if b"\n" in word or not word:
            message = f"{words_path(path)}: row {row + 1}: the word {word!r} cannot stand on a line of its own"
            raise WvError(message)
    text = b"".join(word + b"\n" for word in lines)
    with commit_together():
        with open_output(path) as stream:
            summed = _Summed(stream)
            _write(index, summed)
            seal = _SEAL.pack(_TITLE, factor, digest(text).encode(), 0)[:-4]
            stream.write(seal + zlib.crc32(seal, summed.crc).to_bytes(4, "little"))
        with open_output(words_path(path)) as stream:
            stream.write(text)
    return summed.size + _SEAL.size


def open_search(
    vectors: Embeddings, name: str, path: str, threads: int = 0, candidates: int | None = None
) -> Approximate:
    """The search of `vectors` by their index in the file `path`. Messages call the vectors `name`. For `candidates` see
    Approximate. Raises WvError for an index of other vectors, BadFile for a file that is no index."""
    require_vectors(vectors, name)
    index, words, factor = open_index(path)
    if words != vectors.words or index.d != vectors.dim:
        found = f"{len(words):,} words of {index.d} numbers, and there {len(vectors):,} of {vectors.dim}"
        message = f"{path}: was made of other vectors than those of {name} ({found}); make it again with wv index"
        raise WvError(message)
    exact = vectors.exact(threads=threads)
    search = Approximate(index, exact, threads=threads, factor=factor, candidates=candidates)
    search.require_of(path, name)
    return search


def require_vectors(vectors: Embeddings, name: str) -> None:
    """Raises WvError for codes, which need no index."""
    if isinstance(vectors, CodeVectors):
        message = f"{name}: expected vectors, found codes, which are searched as they are"
        raise WvError(message)


class _Summed:
    """What faiss's writer calls. An exception cannot pass through faiss, so that it is kept for who called it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.crc, self.size = stream, 0, 0
        self.error: BaseException | None = None

    def write(self, block: bytes) -> int:
        if self.error is None:
            try:
                self._stream.write(block)
            except BaseException as error:
                self.error = error
        self.crc, self.size = zlib.crc32(block, self.crc), self.size + len(block)
        return len(block)


def _write(index: Any, summed: _Summed) -> None:
    faiss = library()
    writer = faiss.PyCallbackIOWriter(summed.write)
    faiss.write_index(index, writer)
    del writer  # writes what it still holds
    if summed.error is not None:
        raise summed.error


def open_index(path: str) -> tuple[Any, WordList, int]:
    """(the index of faiss, the words of its rows, the factor). Raises BadFile for anything that save_index did not
    write, or that was damaged since; WvError."""
    faiss = library("--index")
    with open_input(path, "an index") as source:
        contents = source.contents()
        body = contents[: -_SEAL.size]
        seal = bytes(contents[-_SEAL.size :])
        if len(seal) < _SEAL.size or not seal.startswith(_TITLE):
            found = kinds.kind_of(bytes(contents[: kinds.HEAD_BYTES])) or "something else"
            raise BadFile(path, f"expected a whole index written by wv index, found {found}")
        _, factor, mark, crc = _SEAL.unpack(seal)
        if zlib.crc32(contents[:-4]) != crc:
            raise BadFile(path, "the index is damaged (its check sum differs); make it again with wv index")
        at = 0

        def read(size: int) -> bytes:
            nonlocal at
            block = bytes(body[at : at + size])
            at += len(block)
            return block

        with foreign(path, "expected an index of faiss"):
            index = faiss.read_index(faiss.PyCallbackIOReader(read))
    if kind_of(index) is None:
        raise BadFile(path, f"expected an index of cosines, found a {type(index).__name__}; make it with wv index")
    return index, _words(path, int(index.ntotal), mark.decode("latin-1")), max(1, factor)


def _words(path: str, rows: int, mark: str) -> WordList:
    """Those beside an index, whose digest is `mark`. Raises BadFile, WvError."""
    name = words_path(path)
    try:
        text = Path(name).read_bytes()
    except OSError as error:
        message = f"{name}: cannot read the words of {path}: {reason(error)}"
        raise WvError(message) from error
    words = WordList.of(text.split(b"\n")[:-1])
    if digest(text) != mark or len(words) != rows:
        raise BadFile(name, f"the words are not those {path} was written with; make both again with wv index")
    return words
