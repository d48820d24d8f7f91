"""Nearest words and analogies: queries and answers in words, over an index of rows.

How rows are searched is wv_cli.vectors.neighbors, which knows no words.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import show_bytes, show_word
from wv_cli.vectors.oov import OovRows, Subwords
from wv_cli.vectors.spelling import Rest, describe_missing, find_queries, find_words
from wv_cli.vectors.sums import Sum
from wv_cli.words import WordList, encode

if TYPE_CHECKING:
    from wv_cli.vectors.neighbors.topk import Hits, Index

_ROUNDING = 1e-5  # of the lengths of summed vectors; files write numbers with six digits and more
Key = str | NDArray[np.float32]  # a word, or a vector (dim,)
Named = list[tuple[str, float]]  # words and scores, best first


@dataclass
class Answer:
    """The answer to one query. `problem` says why there are no hits, `note` what a reader of the hits should know."""

    query: str
    hits: Named = field(default_factory=list)
    problem: str = ""
    note: str = ""


def read_vector(text: str, dim: int) -> NDArray[np.float32] | str:
    """The vector (dim,) of numbers between blanks or commas; or what is wrong with the text."""
    fields = text.replace(",", " ").split()
    if len(fields) != dim:
        return f"expected {dim} numbers, found {len(fields)}: {show_bytes(encode(text))}"
    try:
        vector = np.array(fields, np.float64).astype(np.float32)
    except ValueError:
        vector = np.array([np.nan], np.float32)
    return vector if np.isfinite(vector).all() else f"expected {dim} finite numbers, found {show_bytes(encode(text))}"


class Listed(Protocol):
    """Words with an index, and the composition of vectors (dim,) for others; for example
    vectors.embeddings.Embeddings."""

    @property
    def words(self) -> WordList: ...
    @property
    def dim(self) -> int: ...
    @property
    def subwords(self) -> Subwords | None: ...


class WordIndex:
    """Search by words: `index` has a row for each word of `listed`. Messages call the file `name`; `rest` knows the
    words that were not read (spelling.describe_missing)."""

    def __init__(self, listed: Listed, index: "Index", name: str = "the vectors", rest: Rest | None = None) -> None:
        # Not `listed` itself, which may hold this index.
        self.words, self.dim, self._subwords = listed.words, listed.dim, listed.subwords
        self.name, self._index, self._rest = name, index, rest

    def __len__(self) -> int:
        return len(self.words)

    def nearest(self, queries: Sequence[str], k: int, *, rows: int | None = None) -> list[Answer]:
        """The k words nearest to the word of each query, or to the sum that it is (sums.Sum.read), its words left out.
        A query that is itself a word is that word. rows: answer only with the first so many words."""
        own = self.words.find_all(WordList.from_words(queries)).tolist()
        asked = [
            Sum.from_words([query]) if row >= 0 else Sum.read(query) for row, query in zip(own, queries, strict=True)
        ]
        return self.nearest_to_sums(asked, k, rows=rows)

    def nearest_to_sums(self, sums: Sequence[Sum], k: int, *, rows: int | None = None) -> list[Answer]:
        """The k words nearest to the mean of the unit vectors of each sum's words, subtracted ones taken off; of codes
        to the bits that most of them have."""
        oov = self._oov()
        found = find_words(self.words, [each.words for each in sums], self.name, oov=oov, rest=self._rest)
        found = [([], each.problem) if each.problem else answer for each, answer in zip(sums, found, strict=True)]
        plain = all(each.is_plain for each in sums)

        def search(known: list[int]) -> "Hits":
            asked = [found[i][0] for i in known]
            weights = None if plain else [sums[i].weights for i in known]
            return self._index.nearest(asked, k, weights=weights, beyond=oov.vectors(), rows=rows)

        answers = self._answers([each.text for each in sums], found, search)
        return self._note_zeros(answers, [rows for rows, _ in found], [each.weights for each in sums], oov)

    def nearest_to_vectors(
        self, queries: Sequence[str], vectors: Sequence[NDArray[np.float32] | str], k: int, *, rows: int | None = None
    ) -> list[Answer]:
        """The k words nearest to each vector (dim,), the answer to the query in its place; a str says why there is
        none. No word is left out. Not for dense and sparse codes."""
        oov = self._oov()
        found = [([], each) if isinstance(each, str) else ([oov.add(each)], "") for each in vectors]

        def search(known: list[int]) -> "Hits":
            return self._index.nearest([found[i][0] for i in known], k, beyond=oov.vectors(), rows=rows)

        answers = self._answers(queries, found, search)
        return self._note_zeros(answers, [rows for rows, _ in found], [(1.0,)] * len(answers), oov)

    def analogies(
        self, questions: Sequence[str], k: int, *, method: str = "3cosadd", rows: int | None = None
    ) -> list[Answer]:
        """The k best answers to each question of three words `a b c`; see Neighbors.analogies. Raises TypeError for an
        index of something else than vectors."""
        from wv_cli.vectors.neighbors.exact import Neighbors

        index, oov = self._index, self._oov()
        if not isinstance(index, Neighbors):
            message = f"analogies need vectors, not {type(index).__name__}"
            raise TypeError(message)
        found = find_queries(self.words, questions, self.name, oov=oov, whole=False, rest=self._rest)
        for i, (asked, problem) in enumerate(found):
            if not problem and len(asked) != 3:
                found[i] = asked, f"expected three words a b c, found {len(asked)}: {show_word(questions[i])}"

        def search(known: list[int]) -> "Hits":
            a, b, c = zip(*(found[i][0] for i in known), strict=True)
            return index.analogies(a, b, c, k, method=method, rows=rows, beyond=oov.vectors())

        answers = self._answers(questions, found, search)
        return self._note_zeros(answers, [rows for rows, _ in found], [(-1.0, 1.0, 1.0)] * len(answers), oov)

    def similar(self, positive: Sequence[str], negative: Sequence[str] = (), k: int = 10) -> Named:
        """The k words nearest to the positive words minus the negative ones, all of which are left out. Raises
        KeyError for a word without a vector, ValueError for no word at all."""
        if not positive and not negative:
            message = "name at least one word"
            raise ValueError(message)
        return self.similar_to_mean(
            (*positive, *negative), Sum.from_words(positive, negative).weights if negative else None, k
        )

    def similar_to_mean(
        self, keys: Sequence[Key], weights: Sequence[float] | None, k: int, *, rows: int | None = None
    ) -> Named:
        """The k words nearest to the weighted mean of `keys`, words and vectors (dim,); the words among them are left
        out. Every vector counts as a unit vector. rows: answer only with the first so many words. Raises KeyError for a
        word without a vector, TypeError for a vector where codes are searched."""
        oov = self._oov()
        asked = [self._number(key, oov) for key in keys]
        each = None if weights is None else [weights]
        k = min(k, len(self))
        hits, scores = self._index.nearest([asked], k, weights=each, beyond=oov.vectors(), rows=rows)
        return next(self._name_hits(hits, scores))

    def _number(self, key: Key, oov: OovRows) -> int:
        if not isinstance(key, str):
            from wv_cli.vectors.neighbors.cosines import Cosines

            if not isinstance(self._index, Cosines):
                message = f"codes are searched by words, not by vectors of {self.dim} numbers"
                raise TypeError(message)
            return oov.add(key)
        row = self.words.find(key)
        row = row if row >= 0 else oov.row(key)
        if row < 0:
            raise KeyError(describe_missing(self.words, key, self.name))
        return row

    def _oov(self) -> OovRows:
        return OovRows(len(self), self.dim, self._subwords)

    def _answers(
        self,
        queries: Sequence[str],
        found: Sequence[tuple[list[int], str]],
        search: "Callable[[list[int]], Hits]",
    ) -> list[Answer]:
        """found: find_words of the queries; search(known) is asked for those without a problem, together."""
        answers = [Answer(query, problem=problem) for query, (_, problem) in zip(queries, found, strict=True)]
        known = [i for i, (_, problem) in enumerate(found) if not problem]
        if known:
            for i, hits in zip(known, self._name_hits(*search(known)), strict=True):
                answers[i].hits = hits
        return answers

    def _note_zeros(
        self, answers: list[Answer], asked: Sequence[Sequence[int]], weights: Sequence[Sequence[float]], oov: OovRows
    ) -> list[Answer]:
        """The answers, with a note where the rows asked sum up to a zero vector: all scores are 0 then. Of words that
        are subtracted, rounding errors may be left, which have neighbors like any vector."""
        doubtful = [
            i
            for i, (answer, each) in enumerate(zip(answers, weights, strict=True))
            if answer.hits and (answer.hits[0][1] == 0 or min(each) < 0)
        ]
        if not doubtful:
            return answers
        from wv_cli.vectors.neighbors.cosines import Cosines
        from wv_cli.vectors.neighbors.some_rows import SomeRows

        index = self._index.whole if isinstance(self._index, SomeRows) else self._index
        if isinstance(index, Cosines):
            vectors = index.stand_for([asked[i] for i in doubtful], [weights[i] for i in doubtful], oov.vectors())
            for i, vector in zip(doubtful, vectors, strict=True):
                where = f"{show_word(answers[i].query)} has a zero vector in {self.name}"
                if not vector.any():
                    answers[i].note = f"{where}; every score is 0, and the answers are the first words"
                elif np.linalg.norm(vector) < _ROUNDING * np.abs(weights[i]).mean():
                    answers[i].note = f"{where}, but for rounding errors, whose neighbors the answers are"
        return answers

    def _name_hits(self, rows: NDArray[np.int32], scores: NDArray[np.float32]) -> Iterator[Named]:
        """Of each query, best first."""
        found = rows >= 0
        words = iter(self.words.take(rows[found]))
        for values, count in zip(scores.tolist(), found.sum(axis=1).tolist(), strict=True):
            yield list(zip(islice(words, count), values, strict=False))  # what is not filled comes last
