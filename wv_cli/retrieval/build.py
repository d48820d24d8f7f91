"""Files -> an index. What an older index of the same settings knows of unchanged files is taken from there."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.files import FileText, Found, Log, NoText, file_digest
from wv_cli.retrieval.model import Model, to_int8
from wv_cli.retrieval.tokens import TokenReader
from wv_cli.search.stored_index import DIGEST_BYTES, SearchIndex
from wv_cli.system.events import OnProgress
from wv_cli.text.records.kinds import RECORDS, record_kind

_AT_ONCE = 1 << 12  # texts that are encoded together
_MOST_FOUND = (1 << 16) - 1


class Builder:
    """Takes files one by one. `kept` counts those that were taken from the `old` index, `skipped` those that are no
    text or cannot be read."""

    def __init__(self, config: TextConfig, model: Model | None, old: SearchIndex | None, log: Log) -> None:
        self._config, self._model, self._old, self._log = config, model, old, log
        self._reader = TokenReader(config)
        self._known = {old.name(file): file for file in range(old.files)} if old is not None else {}
        self._names: list[bytes] = []
        self._digests: list[bytes] = []
        self._chunk_at = [0]
        self._lines: list[int] = []
        self._texts: list[bytes] = []
        self._lengths: list[int] = []
        self._tokens: dict[str, int] = {}
        self._stream: list[NDArray[np.int32]] = []  # the tokens of new chunks
        self._before: list[int] = []  # the number in the old index of each chunk, -1 of a new one
        self.kept = self.skipped = 0

    def add(self, found: Found) -> None:
        """Raises BadFile, WvError for a file that was named."""
        name = found.path.encode("utf-8", "surrogateescape")
        chunks, streams = len(self._lines), len(self._stream)
        try:
            digest = self._reused(found.path, name) if name in self._known else b""
            if not digest:
                text = FileText(found.path, self._config, self._log)
                for chunk in text:
                    self._add_chunk(chunk.line, chunk.text)
                digest = text.digest
        except WvError as error:
            del self._lines[chunks:], self._texts[chunks:], self._lengths[chunks:], self._before[chunks:]
            del self._stream[streams:]
            if found.named:
                raise
            self.skipped += 1
            if not isinstance(error, NoText):
                self._log(f"{error}; left out")
            return
        self._names.append(name)
        self._digests.append(digest)
        self._chunk_at.append(len(self._lines))

    def _reused(self, path: str, name: bytes) -> bytes:
        """The digest of a file that has not changed, whose chunks are taken; b"" for another one."""
        assert self._old is not None
        file, digest = self._known[name], file_digest(path) if path != "-" else b""
        if self._old.arrays["digests"][file].tobytes() != digest:
            return b""
        for chunk in self._old.chunks_of(file):
            self._lines.append(int(self._old.arrays["lines"][chunk]))
            self._texts.append(self._old.text(chunk))
            self._lengths.append(int(self._old.arrays["tokens"][chunk]))
            self._before.append(chunk)
        self.kept += 1
        return digest

    def _add_chunk(self, line: int, text: bytes) -> None:
        number = self._tokens.setdefault
        words = self._reader.tokens(text.decode("utf-8", "surrogateescape"))
        ids = np.array([number(word, len(self._tokens)) for word in words], np.int32)
        self._lines.append(line)
        self._texts.append(text)
        self._lengths.append(len(ids))
        self._before.append(-1)
        self._stream.append(ids)

    def finish(self, progress: OnProgress | None = None) -> SearchIndex:
        """The index of all that was added. Raises WvError where that is nothing. `progress` is told of the chunks that
        are encoded."""
        n = len(self._lines)
        before = np.array(self._before, np.int64)
        words, documents, found, posting_at = self._postings(n, before)
        rows, norms = self._vectors(n, before, progress)
        arrays: dict[str, NDArray[Any]] = {
            "name_at": _places(map(len, self._names)),
            "chunk_at": np.array(self._chunk_at, np.int64),
            "text_at": _places(map(len, self._texts)),
            "word_at": _places(map(len, words)),
            "posting_at": posting_at,
            "lines": np.array(self._lines, np.int32),
            "tokens": np.array(self._lengths, np.int32),
            "documents": documents,
            "norms": norms,
            "found": found,
            "digests": np.frombuffer(b"".join(self._digests), np.uint8).reshape(-1, DIGEST_BYTES),
            "names": _joined(self._names),
            "texts": _joined(self._texts),
            "words": _joined(words),
            "vectors": rows.view(np.uint8),
        }
        model = (self._model.name, self._model.digest) if self._model is not None else ("", "")
        return SearchIndex(arrays, asdict(self._config), *model, sum(self._lengths), _refuse)

    def _postings(
        self, n: int, before: NDArray[np.int64]
    ) -> tuple[list[bytes], NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]:
        """(tokens in order, their chunks, how often each stands there, the places where a token's chunks begin)."""
        ids, chunks, found = self._old_postings(before)
        new = np.flatnonzero(before < 0)
        stream = np.concatenate([np.zeros(0, np.int32), *self._stream])
        self._stream.clear()
        encoded = [word.encode("utf-8", "surrogateescape") for word in self._tokens]
        order = sorted(range(len(encoded)), key=encoded.__getitem__)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        of_stream = np.repeat(new, np.array(self._lengths, np.int64)[new])
        keys, counts = np.unique(rank[stream] * n + of_stream, return_counts=True)
        keys, counts = np.concatenate([keys, rank[ids] * n + chunks]), np.concatenate([counts, found])
        if len(ids):
            sorted_keys = np.argsort(keys, kind="stable")
            keys, counts = keys[sorted_keys], counts[sorted_keys]
        posting_at = np.searchsorted(keys, np.arange(len(order) + 1) * n)
        documents = (keys % max(1, n)).astype(np.int32)
        return [encoded[i] for i in order], documents, counts.clip(0, _MOST_FOUND).astype(np.uint16), posting_at

    def _old_postings(
        self, before: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """(tokens, chunks, counts) of the chunks that were taken from the old index."""
        nothing = np.zeros(0, np.int64)
        taken = np.flatnonzero(before >= 0)
        if self._old is None or not len(taken):
            return nothing, nothing, nothing
        arrays = self._old.arrays
        number = np.full(self._old.chunks, -1, np.int64)
        number[before[taken]] = taken
        chunks = number[arrays["documents"]]
        stays = chunks >= 0
        tokens = np.repeat(np.arange(len(arrays["posting_at"]) - 1), np.diff(arrays["posting_at"]))[stays]
        used = np.unique(tokens)
        ids = np.zeros(len(arrays["posting_at"]), np.int64)
        ids[used] = [
            self._tokens.setdefault(self._old.word(t).decode("utf-8", "surrogateescape"), len(self._tokens))
            for t in used.tolist()
        ]
        return ids[tokens], chunks[stays], arrays["found"][stays].astype(np.int64)

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
            texts = [self._texts[i].decode("utf-8", "surrogateescape") for i in part.tolist()]
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
) -> tuple[SearchIndex, dict[str, int]]:
    """(the index of these files, how many files were kept from the `old` one and skipped). `progress` is told of files,
    then of chunks that are encoded. Raises BadFile, WvError."""
    if config.field is not None and not any(record_kind(file.path) for file in files):
        kinds = ", ".join(ending for kind in RECORDS.values() for ending in kind.endings)
        raise UsageError(f"--field has no effect: no file's name has an ending of records ({kinds})")
    builder = Builder(config, model, old, log)
    for number, file in enumerate(files, 1):
        builder.add(file)
        if progress is not None:
            progress(number, len(files))
    return builder.finish(progress), {"kept": builder.kept, "skipped": builder.skipped}


def _places(sizes: Iterable[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *sizes], dtype=np.int64)


def _joined(texts: Sequence[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(texts), np.uint8)


def _refuse(problem: str) -> NoReturn:
    raise AssertionError(problem)
