"""Queries -> answers: chunks ranked by BM25, by vectors, or by the sum of both scores in standard deviations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile, WvError
from wv_cli.retrieval.config import TextConfig
from wv_cli.retrieval.model import Model, cosines
from wv_cli.retrieval.tokens import TokenReader
from wv_cli.search.bm25 import Bm25Options, InvertedIndex, Postings, inverse_frequency, length_penalty, term_frequency
from wv_cli.search.fusion import fuse, gains_of_scores
from wv_cli.search.stored_index import SearchIndex
from wv_cli.search.topk import best_rows

_DEPTH = 1000  # answers of each list that are fused, as `wv eval search` ranks them
_WORD = re.compile(r"\w+")


class Answer(NamedTuple):
    """`line` is the line of the chunk with the most words of the query, `match` its text. `text` is that of the whole
    chunk, which begins in line `first_line`."""

    file: str
    line: int
    match: str
    first_line: int
    text: str
    score: float


class StoredBm25(InvertedIndex):
    """BM25 of an index in a file; only the lists of the tokens that are asked for are read."""

    def __init__(self, index: SearchIndex, options: Bm25Options) -> None:
        self._index, self._options, self.n = index, options, index.chunks
        self._mean = index.total / max(1, index.chunks)

    def postings(self, token: str) -> Postings | None:
        documents, found = self._index.postings(token.encode("utf-8", "surrogateescape"))
        if not len(documents):
            return None
        penalty = length_penalty(self._options, self._index.arrays["tokens"][documents], self._mean)
        tf, absent = term_frequency(self._options, found, penalty)
        idf = inverse_frequency(self._options.variant, self.n, np.array([float(len(documents))]))
        return Postings(documents, (tf - absent) * idf, float(idf[0]) * absent)


@dataclass(frozen=True, eq=False)
class Searcher:
    """Answers queries. `model` made the vectors of the index; their scores weigh `vector_weight`, those of BM25 the
    rest to 1. Without a model BM25 answers alone."""

    index: SearchIndex
    model: Model | None
    vector_weight: float
    reader: TokenReader
    bm25: StoredBm25

    @classmethod
    def of(cls, index: SearchIndex, model: Model | None, vector_weight: float, name: str) -> "Searcher":
        """Raises BadFile for settings that no index has, WvError for another model than that of the index."""
        config = settings_of(index, name)
        if model is not None and not index.model:
            raise WvError(f"{name}: has no vectors; leave out --model, or index with it: wv search index --model")
        if model is not None and model.digest != index.model_digest:
            message = f"{name}: was made with another model than {model.name} ({index.model}); name that, or index anew"
            raise WvError(message)
        return cls(index, model, vector_weight, TokenReader(config), StoredBm25(index, Bm25Options()))

    def answers(self, query: str, k: int) -> list[Answer]:
        """The k best chunks, best first."""
        tokens = self.reader.tokens(query)
        rows, scores = self._ranked(query, tokens, k)
        wanted = frozenset(tokens)
        return [self._answer(row, score, wanted) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    def highlight(self, line: str, query: str) -> list[tuple[int, int]]:
        """The places in a line of the words of the query."""
        wanted = frozenset(self.reader.tokens(query))
        return [word.span() for word in _WORD.finditer(line) if wanted.intersection(self.reader.tokens(word[0]))]

    def _ranked(self, query: str, tokens: Sequence[str], k: int) -> tuple[NDArray[np.integer], NDArray[np.floating]]:
        vector = self.model.encode([query])[0] if self.model is not None and self.vector_weight else None
        if vector is None or not vector.any():
            return self.bm25.top(tokens, k) if self.model is None or self.vector_weight < 1 else _nothing()
        if len(vector) != self.index.vectors.shape[1]:
            self.index.refuse(f"expected vectors of {len(vector)} numbers, found {self.index.vectors.shape[1]}")
        found = cosines(self.index.vectors, self.index.arrays["norms"], vector)
        depth = max(k, _DEPTH)
        nearest = best_rows(found, np.flatnonzero(np.isfinite(found)), depth)
        if self.vector_weight == 1:
            return nearest[:k], found[nearest[:k]]
        matches, scores = self.bm25.top(tokens, depth)
        gains = [gains_of_scores(scores), gains_of_scores(found[nearest])]
        rows, sums = fuse([matches, nearest], gains, [1 - self.vector_weight, self.vector_weight])
        best = best_rows(sums, np.arange(len(rows)), k)
        return rows[best], sums[best]

    def _answer(self, row: int, score: float, wanted: frozenset[str]) -> Answer:
        text = self.index.text(row).decode("utf-8", "surrogateescape")
        first = int(self.index.arrays["lines"][row])
        lines = text.split("\n")
        common = [len(wanted.intersection(self.reader.tokens(line))) for line in lines]
        best = common.index(max(common))
        if not common[best]:
            best = next((i for i, line in enumerate(lines) if line.strip()), 0)
        name = self.index.name(self.index.file_of(row)).decode("utf-8", "surrogateescape")
        return Answer(name, first + best, lines[best].strip(), first, text, score)


def _nothing() -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return np.zeros(0, np.int64), np.zeros(0)


def settings_of(index: SearchIndex, name: str) -> TextConfig:
    """Raises BadFile for what no index of ours says of itself."""
    try:
        config = TextConfig(**index.settings)  # type: ignore[arg-type]
        config.validate()
    except (TypeError, WvError):
        raise BadFile(name, "its settings are none of a search index: the file is damaged; index anew") from None
    return config
