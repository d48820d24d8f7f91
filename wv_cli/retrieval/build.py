"""Files -> an index. What an older index of the same settings knows of unchanged files is taken from there."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli.config import require
from wv_cli.errors import UsageError, WvError
from wv_cli.io.events import OnProgress
from wv_cli.retrieval.chunks import Chunk, cut
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.files import FileText, Found, Log, NoText, file_digest, text_digest
from wv_cli.retrieval.model import Model, to_int8
from wv_cli.retrieval.spilled import NoRoom, Spilled
from wv_cli.text.binary import InvalidBytes
from wv_cli.text.input_files import describe_left_out
from wv_cli.text.records.kinds import RECORDS, record_kind
from wv_cli.text.search_tokens import TokenReader
from wv_cli.vectors.stored_index import DIGEST_BYTES, SearchIndex, bm25_index

_AT_ONCE = 1 << 12  # texts that are encoded together
_BLOCK = 1 << 18  # entries of the inverted index that are put in order at once
_Postings = tuple[NDArray[np.int32], NDArray[np.integer], NDArray[np.uint16]]


class Builder:
    """Takes files one by one. `kept` counts those that were taken from the `old` index, `skipped` those that are no
    text or cannot be read. Texts and the tokens of chunks are kept in the folder of `beside`; None: in memory."""

    def __init__(
        self, config: TextConfig, model: Model | None, old: SearchIndex | None, log: Log, beside: str | None = None
    ) -> None:
        self._config, self._model, self._old, self._log = config, model, old, log
        self._known = {old.name(file): file for file in range(old.files)} if old is not None else {}
        self._names: list[bytes] = []
        self._digests: list[bytes] = []
        self._chunk_at = array("q", [0])
        self._texts, self._records = Spilled(beside, np.uint8), Spilled(beside, np.uint8)
        # Of each chunk: where its text and its record end, its line, its tokens, its number in the old index (-1 of a
        # new one), and how many entries of `_ids` and `_found` are its own: different tokens and how often each stands
        # there.
        self._text_at, self._record_at = array("q", [0]), array("q", [0])
        self._lines, self._lengths = array("i"), array("i")
        self._before, self._own = array("q"), array("i")
        self._tokens: dict[str, int] = {}
        self._count = TokenReader(config.stem, config.stop_words, config.identifiers).counter(self._tokens)
        self._ids, self._found = Spilled(beside, np.int32), Spilled(beside, np.uint16)
        self.kept = self.skipped = 0
        self._no_text: dict[str, str] = {}
        self._replaced = InvalidBytes(replaced=True)

    def add(self, found: Found) -> None:
        """Raises BadFile, WvError for a file that was named."""
        name = found.path.encode("utf-8", "surrogateescape")
        chunks, entries = len(self._lines), len(self._ids)
        try:
            digest = file_digest(found.path) if name in self._known and found.path != "-" else b""
            if not self._reuse_chunks(name, digest):
                text = FileText(found.path, self._config, self._log, self._replaced)
                for chunk in text:
                    self._add_chunk(chunk)
                digest = text.digest
        except NoRoom:
            raise
        except WvError as error:
            del self._lines[chunks:], self._lengths[chunks:], self._before[chunks:], self._own[chunks:]
            del self._text_at[chunks + 1 :], self._record_at[chunks + 1 :]
            self._texts.cut(self._text_at[chunks])
            self._records.cut(self._record_at[chunks])
            self._ids.cut(entries)
            self._found.cut(entries)
            if found.named:
                raise
            self.skipped += 1
            if isinstance(error, NoText):
                self._no_text[found.path] = str(error).partition("expected text, found ")[2]
            else:
                self._log(f"{error}; left out")
            return
        self._end_file(name, digest)

    def add_text(self, name: bytes, text: bytes) -> None:
        """A text in the place of a file."""
        digest = text_digest(text)
        if not self._reuse_chunks(name, digest):
            for chunk in cut([text], self._config):
                self._add_chunk(chunk)
        self._end_file(name, digest)

    def keep(self, name: bytes) -> None:
        """A file of the old index, as it is there."""
        assert self._old is not None
        digest = self._old.arrays["digests"][self._known[name]].tobytes()
        self._reuse_chunks(name, digest)
        self._end_file(name, digest)

    @property
    def files_gone(self) -> int:
        """How many files of the old index were not added."""
        return len(self._known.keys() - set(self._names))

    def _end_file(self, name: bytes, digest: bytes) -> None:
        self._names.append(name)
        self._digests.append(digest)
        self._chunk_at.append(len(self._lines))

    def _reuse_chunks(self, name: bytes, digest: bytes) -> bool:
        """Whether the old index has a file of this digest, whose chunks are then taken."""
        file = self._known.get(name)
        if self._old is None or file is None or self._old.arrays["digests"][file].tobytes() != digest:
            return False
        for chunk in self._old.chunks_of(file):
            self._keep(Chunk(int(self._old.arrays["lines"][chunk]), self._old.text(chunk), self._old.record(chunk)))
            self._lengths.append(int(self._old.arrays["tokens"][chunk]))
            self._before.append(chunk)
            self._own.append(0)
        self.kept += 1
        return True

    def _add_chunk(self, chunk: Chunk) -> None:
        length, tokens, found = self._count(chunk.text)
        self._keep(chunk)
        self._lengths.append(length)
        self._before.append(-1)
        self._own.append(len(found) // np.dtype(np.uint16).itemsize)
        self._ids.add(tokens)
        self._found.add(found)

    def _keep(self, chunk: Chunk) -> None:
        self._lines.append(chunk.line)
        self._texts.add(chunk.text)
        self._text_at.append(len(self._texts))
        self._records.add(chunk.record)
        self._record_at.append(len(self._records))

    def finish(self, progress: OnProgress | None = None) -> SearchIndex:
        """The index of all that was added. Raises WvError where that is nothing. `progress` is told of the chunks that
        are encoded."""
        if self._no_text:
            self._log(describe_left_out(self._no_text))
        if self._replaced.count:
            self._log(self._replaced.note)
        n = len(self._lines)
        before = np.frombuffer(self._before, np.int64)
        words, documents, found, posting_at = self._postings(before)
        rows, norms = self._vectors(n, before, progress)
        arrays: dict[str, NDArray[Any]] = {
            "name_at": _places(map(len, self._names)),
            "chunk_at": np.frombuffer(self._chunk_at, np.int64),
            "text_at": np.frombuffer(self._text_at, np.int64),
            "record_at": np.frombuffer(self._record_at, np.int64),
            "word_at": _places(map(len, words)),
            "posting_at": posting_at,
            "lines": np.frombuffer(self._lines, np.int32),
            "tokens": np.frombuffer(self._lengths, np.int32),
            "documents": documents,
            "norms": norms,
            "found": found,
            "digests": np.frombuffer(b"".join(self._digests), np.uint8).reshape(-1, DIGEST_BYTES),
            "names": _join_texts(self._names),
            "texts": self._texts.array(),
            "records": self._records.array(),
            "words": _join_texts(words),
            "vectors": rows.view(np.uint8),
        }
        total = sum(self._lengths)
        arrays["bounds"] = bm25_index(arrays, total).bounds()
        model = (self._model.name, self._model.digest) if self._model is not None else ("", "")
        return SearchIndex(arrays, asdict(self._config), *model, total, _refuse, self._let_go)

    def _let_go(self) -> None:
        for each in (self._texts, self._records, self._ids, self._found):
            each.let_go()

    def _postings(
        self, before: NDArray[np.int64]
    ) -> tuple[list[bytes], NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]:
        """(tokens in order, their chunks, how often each stands there, the places where a token's chunks begin). Memory
        beyond the result is that of a block, however many chunks there are."""
        blocks = [*self._old_blocks(before), *self._new_blocks(before)]
        held = np.zeros(len(self._tokens), np.int64)
        for block in blocks:
            held += np.bincount(block()[0], minlength=len(held))
        encoded = [word.encode("utf-8", "surrogateescape") for word in self._tokens]
        order = [token for token in sorted(range(len(encoded)), key=encoded.__getitem__) if held[token]]
        posting_at = _places(held[order])
        documents, found = np.empty(posting_at[-1], np.int32), np.empty(posting_at[-1], np.uint16)
        free = np.zeros(len(encoded), np.int64)
        free[order] = posting_at[:-1]
        for block in blocks:
            tokens, chunks, counts = block()
            by_token = np.argsort(tokens, kind="stable")
            tokens = tokens[by_token]
            sizes = np.bincount(tokens, minlength=len(free))
            places = (free - np.cumsum(sizes) + sizes)[tokens] + np.arange(len(tokens))
            documents[places], found[places] = chunks[by_token], counts[by_token]
            free += sizes
        if len(self._before) and self._old is not None:
            _sort_chunks(documents, found, posting_at)
        return [encoded[token] for token in order], documents, found, posting_at

    def _new_blocks(self, before: NDArray[np.int64]) -> Iterator[Callable[[], _Postings]]:
        """What makes (tokens, chunks, counts) of some new chunks."""
        ids, found = self._ids.array(), self._found.array()
        chunks, own = np.flatnonzero(before < 0), np.frombuffer(self._own, np.int32)
        ends = np.cumsum(own[chunks], dtype=np.int64)

        def make_postings(first: int, last: int) -> _Postings:
            self._ids.let_go()
            self._found.let_go()
            entries = slice(int(ends[first - 1]) if first else 0, int(ends[last - 1]))
            some = chunks[first:last]
            return ids[entries], np.repeat(some, own[some]), found[entries]

        return (partial(make_postings, first, last) for first, last in _spans(ends))

    def _old_blocks(self, before: NDArray[np.int64]) -> Iterator[Callable[[], _Postings]]:
        """The same of the chunks that were taken from the old index."""
        taken = np.flatnonzero(before >= 0)
        if self._old is None or not len(taken):
            return
        old, arrays = self._old, self._old.arrays
        places = arrays["posting_at"]
        number, ids = np.full(old.chunks, -1, np.int32), np.zeros(len(places), np.int32)
        number[before[taken]] = taken

        def taken_entries(first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            """(the entries of the tokens first .. last - 1 whose chunks are taken, the token of each)."""
            begin, end = places[[first, last]].tolist()
            stays = np.flatnonzero(number[arrays["documents"][begin:end]] >= 0) + begin
            return stays, np.searchsorted(places, stays, "right") - 1

        def make_postings(first: int, last: int) -> _Postings:
            stays, tokens = taken_entries(first, last)
            return ids[tokens], number[arrays["documents"][stays]], arrays["found"][stays]

        for first, last in _spans(places[1:]):
            for token in np.unique(taken_entries(first, last)[1]).tolist():
                word = old.word(token).decode("utf-8", "surrogateescape")
                ids[token] = self._tokens.setdefault(word, len(self._tokens))
            yield partial(make_postings, first, last)

    def _vectors(
        self, n: int, before: NDArray[np.int64], progress: OnProgress | None
    ) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        if self._model is None or not n:
            return np.zeros((0, 0), np.int8), np.zeros(0, np.float32)
        new, taken = np.flatnonzero(before < 0), np.flatnonzero(before >= 0)
        rows, norms = np.zeros((0, 0), np.int8), np.zeros(n, np.float32)
        if self._old is not None and len(taken):
            rows = np.zeros((n, self._old.vectors.shape[1]), np.int8)
            rows[taken], norms[taken] = self._old.vectors[before[taken]], self._old.arrays["norms"][before[taken]]
        for start in range(0, len(new), _AT_ONCE):
            part = new[start : start + _AT_ONCE]
            places = [self._text_at[i : i + 2] for i in part.tolist()]
            whole = self._texts.array().data
            texts = [whole[begin:end].tobytes().decode("utf-8", "surrogateescape") for begin, end in places]
            self._texts.let_go()
            made, lengths = to_int8(self._model.encode(texts))
            if not rows.size:
                rows = np.zeros((n, made.shape[1]), np.int8)
            rows[part], norms[part] = made, lengths
            if progress is not None:
                progress(start + len(part), len(new))
        return rows, norms


def build(
    files: Sequence[Found],
    config: TextConfig,
    *,
    log: Log,
    model: Model | None = None,
    old: SearchIndex | None = None,
    progress: OnProgress | None = None,
    beside: str | None = None,
) -> tuple[SearchIndex, dict[str, int]]:
    """(the index of these files, how many files were kept from the `old` one, are gone from it, and were skipped).
    `progress` is told of files, then of chunks that are encoded. What is collected is kept in the folder of `beside`;
    None: in memory. Raises BadFile, WvError."""
    if config.field is not None:
        are_records = {record_kind(file.path) is not None for file in files}
        if True not in are_records:
            kinds = ", ".join(ending for kind in RECORDS.values() for ending in kind.endings)
            raise UsageError(f"--field has no effect: no file's name has an ending of records ({kinds})")
        # Of a folder another run may find other files.
        for name in ("chunks", "words") if False not in are_records and all(file.named for file in files) else ():
            message = "all files have records, which are a chunk each; leave it out"
            default = getattr(TextConfig, name)
            require(getattr(config, name) == default, f"--{name} has no effect with --field: {message}")
    builder = Builder(config, model, old, log, beside)
    for number, file in enumerate(files, 1):
        builder.add(file)
        if progress is not None:
            progress(number, len(files))
    return builder.finish(progress), {"kept": builder.kept, "gone": builder.files_gone, "skipped": builder.skipped}


def _places(sizes: Iterable[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _spans(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """(first, last + 1) of the entries that end at these places, in blocks of some million places."""
    first = 0
    while first < len(ends):
        begin = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, begin + _BLOCK, "right")))
        yield first, last
        first = last


def _sort_chunks(documents: NDArray[np.int32], found: NDArray[np.uint16], posting_at: NDArray[np.int64]) -> None:
    """Puts the chunks of each token in ascending order."""
    for first, last in _spans(posting_at[1:]):
        place = slice(*posting_at[[first, last]].tolist())
        sizes = np.diff(posting_at[first : last + 1])
        order = np.lexsort((documents[place], np.repeat(np.arange(len(sizes)), sizes)))
        documents[place], found[place] = documents[place][order], found[place][order]


def _join_texts(texts: Sequence[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(texts), np.uint8)


def _refuse(problem: str) -> NoReturn:
    raise AssertionError(problem)
