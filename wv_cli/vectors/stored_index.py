"""The file of `wv search index`: chunks of text, the inverted index of their tokens and, if a model made them, vectors.

A container (io.container) whose arrays are used where they lie in the file, so that a query reads what it needs.
Array `X_at` has the places in X where each entry begins, and last where X ends.

    file f   names[name_at[f]:...], its digest, and the chunks chunk_at[f] .. chunk_at[f + 1] - 1
    chunk c  texts[text_at[c]:...], the number of its first line, its number of tokens, its row of vectors; of a record
             its other fields as JSON, records[record_at[c]:...]
    token t  words[word_at[t]:...], in ascending order of bytes; it stands found[i] times in chunk documents[i], for i
             from posting_at[t] on, chunks ascending
    block    bounds[i] is what f / (f + k1 (1 - b + b |D| / mean |D|)) of postings i * 64 .. i * 64 + 63 does not pass
             (core/bm25.h); with it a query leaves out what cannot be among the best

A vector is int8; its length stands in `norms`, 0 for a chunk without a vector. There are no rows without a model.
"""

import functools
import itertools
import os
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli import _bm25
from wv_cli.errors import show_value
from wv_cli.io import container
from wv_cli.io.input import Input, open_input
from wv_cli.io.output import open_output

KIND = "search-index"
VERSION = 3  # of the tokens, which a query must have as the texts have them (text.search_tokens), and of the layout
DIGEST_BYTES = 16
K1, B = 1.5, 0.75  # of BM25
LONGEST_CHUNK = 1 << 16  # bytes of a text
_HEAD_BYTES = 64
_ADVICE = "remove it, and make it again with wv search index"
# Larger numbers first, so that all of them are aligned.
_LAYOUT: container.Layout = {
    "name_at": ("<i8", ("file places",)),
    "chunk_at": ("<i8", ("file places",)),
    "text_at": ("<i8", ("chunk places",)),
    "record_at": ("<i8", ("chunk places",)),
    "word_at": ("<i8", ("token places",)),
    "posting_at": ("<i8", ("token places",)),
    "lines": ("<i4", ("chunks",)),
    "tokens": ("<i4", ("chunks",)),
    "documents": ("<i4", ("postings",)),
    "norms": ("<f4", ("rows",)),
    "bounds": ("<f4", ("blocks",)),
    "found": ("<u2", ("postings",)),
    "digests": ("|u1", ("files", DIGEST_BYTES)),
    "names": ("|u1", ("name bytes",)),
    "texts": ("|u1", ("text bytes",)),
    "records": ("|u1", ("record bytes",)),
    "words": ("|u1", ("word bytes",)),
    "vectors": ("|u1", ("rows", "dim")),
}
_PLACES = {
    "name_at": "names", "chunk_at": "lines", "text_at": "texts", "record_at": "records", "word_at": "words",
    "posting_at": "documents",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SearchIndex:
    """`settings` say how the texts were cut and read. `model` is the name of what made the vectors, and `model_digest`
    its digest; both are "" without vectors. `total` counts the tokens of all chunks. `refuse` raises BadFile about the
    file in which the arrays lie, and `let_go` gives the memory of mapped ones back."""

    arrays: Mapping[str, NDArray[Any]]
    settings: Mapping[str, object]
    model: str
    model_digest: str
    total: int
    refuse: Callable[[str], NoReturn]
    let_go: Callable[[], object] | None = None

    @property
    def files(self) -> int:
        return len(self.arrays["digests"])

    @property
    def chunks(self) -> int:
        return len(self.arrays["lines"])

    @property
    def vectors(self) -> NDArray[np.int8]:
        """(rows, dim): a row for each chunk, or none."""
        return self.arrays["vectors"].view(np.int8)

    def name(self, file: int) -> bytes:
        return self._piece("name_at", file)

    def text(self, chunk: int) -> bytes:
        return self._piece("text_at", chunk)

    def record(self, chunk: int) -> bytes:
        """The other fields of a record as JSON, nothing of a chunk of other text."""
        return self._piece("record_at", chunk)

    def word(self, token: int) -> bytes:
        return self._piece("word_at", token)

    def file_of(self, chunk: int) -> int:
        """The file of a chunk."""
        found = bisect_right(self._views["chunk_at"], chunk) - 1
        if not 0 <= found < self.files:
            self.refuse("the chunks are not divided among the files")
        return found

    def chunks_of(self, file: int) -> range:
        return range(*self._bounds("chunk_at", file))

    def best_by_words(self, tokens: Sequence[bytes], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """(rows, scores) of the k chunks of highest BM25 for the tokens of a query, best first, ties to the lowest row.
        A chunk without a token of the query is no answer. Raises BadFile."""
        try:
            return self._bm25.top(tokens, k)
        except ValueError as error:
            self.refuse(str(error))

    @functools.cached_property
    def _bm25(self) -> _bm25.Bm25Index:
        return bm25_index(self.arrays, self.total, self.arrays["bounds"])

    @functools.cached_property
    def _views(self) -> dict[str, memoryview]:
        """The arrays as memory: a number of one is a number of Python at once."""
        return {name: self.arrays[name].data for names in _PLACES.items() for name in names}

    def _piece(self, places: str, i: int) -> bytes:
        begin, end = self._bounds(places, i)
        return self._views[_PLACES[places]][begin:end].tobytes()

    def _bounds(self, places: str, i: int) -> tuple[int, int]:
        at, what = self._views[places], self._views[_PLACES[places]]
        begin, end = at[i], at[i + 1]
        if not 0 <= begin <= end <= len(what):
            self.refuse(f"the entry {i} of {places} lies outside of {_PLACES[places]}")
        return begin, end

    def save(self, path: str | os.PathLike[str]) -> None:
        """Raises WvError."""
        header = {
            "version": VERSION, "settings": self.settings, "model": self.model, "model_digest": self.model_digest,
            "total": self.total,
        }  # fmt: skip
        with open_output(path) as stream:
            arrays = {name: self.arrays[name] for name in _LAYOUT}
            container.write(stream, KIND, header, arrays, aligned=True, between=self.let_go)

    @classmethod
    def read(cls, source: Input, *, checked: bool = False) -> Self:
        """An index whose arrays stay in a mapped file. Its check sum, for which all of it is read, is compared if it is
        to be `checked`. Raises BadFile."""
        reader = container.Reader(source, KIND, _ADVICE)
        if (version := reader.header.get("version", 1)) != VERSION:
            reader.refuse(f"expected a search index of version {VERSION}, found version {show_value(version)}")
        sizes = reader.expect(_LAYOUT, "a search index")
        settings = reader.fact("settings", dict)
        model, digest = reader.fact("model", str), reader.fact("model_digest", str)
        total = reader.fact("total", int, 0, 1 << 53)
        fits = sizes["rows"] in (0, sizes["chunks"]) and bool(sizes["rows"]) == bool(model and sizes["chunks"])
        places = {"files": "file places", "chunks": "chunk places"}
        if not fits or any(sizes[entries] + 1 != sizes[each] for entries, each in places.items()):
            reader.refuse(f"the sizes of the arrays contradict each other ({sizes})")
        if not sizes["token places"]:
            reader.refuse("the places of the tokens are missing")
        if sizes["blocks"] != -(-sizes["postings"] // _bm25.BLOCK):
            reader.refuse(
                f"expected a bound for each {_bm25.BLOCK} of {sizes['postings']:,} postings, found {sizes['blocks']:,}"
            )

        def refuse(problem: str) -> NoReturn:
            reader.refuse(f"{problem}: the file is damaged", reader.offset(next(iter(_LAYOUT))))

        return cls(reader.views(checked=checked), settings, model, digest, total, refuse)

    def require_whole(self) -> None:
        """Looks at every number. Raises BadFile."""
        for places, what in _PLACES.items():
            at = self.arrays[places]
            if at[0] != 0 or at[-1] != len(self.arrays[what]) or (np.diff(at) < 0).any():
                self.refuse(f"{places} does not divide {what} in ascending places")
        lengths = np.diff(self.arrays["text_at"])
        if len(lengths) and lengths.max() > LONGEST_CHUNK:
            self.refuse(f"a chunk is longer than {LONGEST_CHUNK:,} bytes")
        if int(self.arrays["tokens"].sum(dtype=np.int64)) != self.total or (self.arrays["tokens"] < 0).any():
            self.refuse("the numbers of tokens do not add up to their total")
        documents, steps = self.arrays["documents"], self.arrays["posting_at"]
        if len(documents) and not (documents.min() >= 0 and documents.max() < self.chunks):
            self.refuse("a token stands in a chunk that is not there")
        falls = np.flatnonzero(np.diff(documents) <= 0) + 1
        if not np.isin(falls, steps).all():
            self.refuse("the chunks of a token are out of order")
        words = [self.word(i) for i in range(len(steps) - 1)]
        if any(one >= other for one, other in itertools.pairwise(words)):
            self.refuse("the tokens are out of order")
        least = bm25_index(self.arrays, self.total).bounds() * np.float32(1 - 1e-6)  # other machines round otherwise
        if not (self.arrays["bounds"] >= least).all():
            self.refuse("a bound of a block of postings is too low")
        norms = self.arrays["norms"]
        if not np.isfinite(norms).all() or (norms < 0).any():
            self.refuse("a length of a vector is negative or no number")


def open_search_index(path: str | os.PathLike[str], *, checked: bool = False) -> SearchIndex | None:
    """None for another file. Raises BadFile for one that is damaged or empty, WvError."""
    with open_input(path, "a search index, or text") as source:
        return SearchIndex.read(source, checked=checked) if is_search_index(source.peek(_HEAD_BYTES)) else None


def is_search_index(head: bytes) -> bool:
    """Whether a file begins so."""
    return head.startswith(container.magic(KIND)[:-2])


def bm25_index(
    arrays: Mapping[str, NDArray[Any]], total: int, bounds: NDArray[np.float32] | None = None
) -> _bm25.Bm25Index:
    """BM25 over these arrays, for whose chunks of `total` tokens it makes bounds or, with those, answers."""
    mean = total / max(1, len(arrays["tokens"])) or 1.0
    names = ("words", "word_at", "posting_at", "documents", "found", "tokens")
    return _bm25.Bm25Index(*(arrays[name] for name in names), mean=mean, k1=K1, b=B, bounds=bounds)
