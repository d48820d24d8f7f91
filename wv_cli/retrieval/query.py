"""Queries -> answers: chunks ranked by BM25, by vectors, or by the sum of both scores in standard deviations."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.config.wording import flag_of
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.remote import is_remote
from wv_cli.retrieval.config import FusionConfig, TextConfig
from wv_cli.retrieval.fusion import fuse, gains_of_scores
from wv_cli.retrieval.model import Model, nearest
from wv_cli.text.documents import DOCX
from wv_cli.text.search_tokens import TokenReader
from wv_cli.vectors.neighbors.topk import best_rows
from wv_cli.vectors.stored_index import SearchIndex, open_search_index

_DEPTH = 1000  # answers of each list that are fused, as `wv eval search` ranks them
_TOGETHER = 64  # queries for which the vectors are read once
_Ranked = tuple[NDArray[np.integer], NDArray[np.floating]]  # rows and scores, best first


class Answer(NamedTuple):
    """`text` is that of the whole chunk, which begins in line `first_line` of the file. `match` is its line with the
    most words of the query: line `text_line` of the text and `line` of the file. A record's text may have several
    lines, but `line` is that of the record. `record` has the record's other fields as JSON, "" of other text."""

    file: str
    line: int
    match: str
    first_line: int
    text_line: int
    text: str
    score: float
    record: str

    def to_dict(self, query: str, rank: int) -> dict[str, Any]:
        """What --json prints of it."""
        found: dict[str, Any] = {"query": query, "rank": rank, **self._asdict(), "score": round(self.score, 6)}
        if not self.record:
            del found["text_line"], found["record"]  # `line` says as much
            return found
        return {**found, "record": json.loads(self.record)}


@dataclass(frozen=True, eq=False)
class Searcher:
    """Answers queries. `model` made the vectors of the index; their scores weigh `vector_weight`, those of BM25 the
    rest to 1. Without a model BM25 answers alone. `is_stored`: the index was made before, with its own settings."""

    index: SearchIndex
    model: Model | None
    vector_weight: float
    reader: TokenReader
    is_stored: bool

    @classmethod
    def from_index(
        cls, index: SearchIndex, model: Model | None, vector_weight: float, name: str, *, is_stored: bool = True
    ) -> "Searcher":
        """Raises BadFile for settings that no index has, WvError for another model than that of the index."""
        config = settings_of(index, name)
        if model is not None:
            require_model(index, model, name)
        reader = TokenReader(config.stem, config.stop_words, config.identifiers)
        return cls(index, model, vector_weight, reader, is_stored)

    def answers(self, query: str, k: int) -> list[Answer]:
        """The k best chunks, best first."""
        return next(self.answers_to([query], k))

    def answers_to(self, queries: Sequence[str], k: int) -> Iterator[list[Answer]]:
        """The k best chunks for each query. The vectors are read once for some of them."""
        for first in range(0, len(queries), _TOGETHER):
            some = queries[first : first + _TOGETHER]
            for query, near in zip(some, self._near(some, max(k, _DEPTH)), strict=True):
                words = self.reader.query_tokens(query)
                rows, scores = self._rank(words, near, k)
                wanted = frozenset(words)
                both = zip(rows.tolist(), scores.tolist(), strict=True)
                yield [self._answer(row, score, wanted) for row, score in both]

    def highlight(self, line: str, query: str) -> list[tuple[int, int]]:
        """The places in a line of the words of the query, in order."""
        wanted = frozenset(self.reader.query_tokens(query))
        found: list[tuple[int, int]] = []
        for begin, end in sorted(self.reader.spans(line)):
            if wanted.intersection(self.reader.query_tokens(line[begin:end])):
                if found and begin < found[-1][1]:
                    begin, end = found[-1][0], max(found.pop()[1], end)
                found.append((begin, end))
        return found

    def explain_nothing(self, query: str) -> str | None:
        """Why no text answers this query: it has no word that is looked for. None for other queries."""
        if self.reader.query_tokens(query):
            return None
        if not TokenReader("none", "keep").query_tokens(query):
            return "the query has no word"
        step = "make the index with --stop-words keep" if self.is_stored else "--stop-words keep finds them"
        return f"all words of the query are stop words; {step}"

    def _near(self, queries: Sequence[str], k: int) -> list[_Ranked | None]:
        """The k nearest chunks of each query and their cosines; None of a query without a vector."""
        found: list[_Ranked | None] = [None] * len(queries)
        if self.model is None or not self.vector_weight:
            return found
        vectors = np.stack([self.model.encode([query])[0] for query in queries])  # one by one: the same in every batch
        if vectors.shape[1] != self.index.vectors.shape[1]:
            self.index.refuse(f"expected vectors of {vectors.shape[1]} numbers, found {self.index.vectors.shape[1]}")
        some = np.flatnonzero(vectors.any(axis=1))
        hits, scores = nearest(self.index.vectors, self.index.arrays["norms"], vectors[some], k)
        for i, rows, cosines in zip(some.tolist(), hits, scores, strict=True):
            found[i] = rows[rows >= 0], cosines[rows >= 0]
        return found

    def _rank(self, words: Sequence[str], near: _Ranked | None, k: int) -> _Ranked:
        tokens = [word.encode("utf-8", "surrogateescape") for word in words]
        if near is None:
            by_words = self.model is None or self.vector_weight < 1
            return self.index.best_by_words(tokens, k) if by_words else (np.zeros(0, np.int64), np.zeros(0))
        if self.vector_weight == 1:
            return near[0][:k], near[1][:k]
        return _fuse_answers(self.index.best_by_words(tokens, max(k, _DEPTH)), near, self.vector_weight, k)

    def _answer(self, row: int, score: float, wanted: frozenset[str]) -> Answer:
        text = self.index.text(row).decode("utf-8", "surrogateescape")
        first = int(self.index.arrays["lines"][row])
        lines = text.split("\n")
        common = [len(wanted.intersection(self.reader.tokens(line))) for line in lines] if len(lines) > 1 else [1]
        best = common.index(max(common))
        if not common[best]:
            best = next((i for i, line in enumerate(lines) if line.strip()), 0)
        name = self.index.name(self.index.file_of(row)).decode("utf-8", "surrogateescape")
        record = self.index.record(row).decode("utf-8", "replace")
        line = first if record else first + best
        return Answer(name, line, lines[best].strip(), first, best + 1, text, score, record)


def _fuse_answers(words: _Ranked, near: _Ranked, vector_weight: float, k: int) -> _Ranked:
    """The k best of both lists, which are longer than _DEPTH where k is. The first _DEPTH of each are fused, whatever k
    is, so that a larger k changes nothing. All others follow, by their vectors; those without one come last."""
    (matches, scores), (neighbors, cosines) = words, near
    gains = [gains_of_scores(scores[:_DEPTH]), gains_of_scores(cosines[:_DEPTH])]
    rows, sums = fuse([matches[:_DEPTH], neighbors[:_DEPTH]], gains, [1 - vector_weight, vector_weight])
    best = best_rows(sums, np.arange(len(rows)), k)
    rows, sums = rows[best], sums[best]
    if k <= len(rows):
        return rows, sums
    without = matches[~np.isin(matches, neighbors)]
    others = np.concatenate([neighbors, without])
    similarities = np.concatenate([cosines, np.full(len(without), -1)])
    gains_of_others = vector_weight * gains_of_scores(similarities, min(_DEPTH, len(neighbors)))
    left = ~np.isin(others, rows)
    return np.concatenate([rows, others[left]])[:k], np.concatenate([sums, gains_of_others[left]])[:k]


def require_model(index: SearchIndex, model: Model, name: str) -> None:
    """Raises WvError for another model than that of the index."""
    if not index.model:
        raise WvError(f"{name}: has no vectors; leave out --model, or index with it: wv search index --model")
    if model.digest != index.model_digest:
        message = f"{name}: was made with another model than {model.name} ({index.model}); name that, or index anew"
        raise WvError(message)


def open_model_of_index(name: str, threads: int) -> Model:
    """The model that an index names. Raises WvError with the way out where it lies elsewhere now."""
    try:
        return Model(name, threads)
    except WvError as error:
        message = f"{error}; name its new place with --model, or search without it: --vector-weight 0"
        raise WvError(message) from error


def settings_of(index: SearchIndex, name: str) -> TextConfig:
    """Raises BadFile for what no index of ours says of itself."""
    try:
        config = TextConfig(**index.settings)  # type: ignore[arg-type]
        config.validate()
    except (TypeError, WvError):
        raise BadFile(name, "its settings are none of a search index: the file is damaged; index anew") from None
    return config


def open_searcher(
    path: str,
    model: str | None,
    fusion: FusionConfig,
    text: TextConfig,
    given: Collection[str],
    *,
    threads: int,
    log: Callable[[str], None],
) -> Searcher:
    """`given` are the options that the user gave: those that an index keeps as its settings cannot be. Raises
    UsageError, BadFile, WvError."""
    is_text = path == "-" or is_remote(path) or path.lower().endswith(DOCX) or Path(path).is_dir()
    index = None if is_text else open_search_index(path)
    if index is not None:
        for name in ("threads", *TextConfig.options()):
            if name in given:
                raise UsageError(f"{flag_of(name)} has no effect: {path} is an index; give it to `wv search index`")
        name = model if model is not None else index.model
    else:
        name = model if model is not None else ""
    if "vector_weight" in given and not name:
        raise UsageError("--vector-weight needs --model, or an INDEX that was made with one")
    opens = Model if model is not None else open_model_of_index
    opened = opens(name, threads) if name and fusion.vector_weight else None
    found = index or _build_index(path, text, opened, log)
    return Searcher.from_index(found, opened, fusion.vector_weight, path, is_stored=index is not None)


def _build_index(path: str, text: TextConfig, model: Model | None, log: Callable[[str], None]) -> SearchIndex:
    from wv_cli.retrieval.build import build
    from wv_cli.retrieval.files import find_files

    index, _ = build(find_files([path], log), text, log=log, model=model)
    if not index.chunks:
        raise WvError(f"{path}: no text to search: it is empty, or has no files of text")
    return index
