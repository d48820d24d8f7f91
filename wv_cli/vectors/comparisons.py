"""Words compared with each other: the cosine of two words or of two lists of words, and the odd one out of several.

A list of words stands for the mean of its vectors as they are, of any length; the odd one out is the word farthest from
the mean of the unit vectors of all. Both as gensim has them (n_similarity, doesnt_match). All of it in float64.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import show_word
from wv_cli.vectors.oov import OovRows
from wv_cli.vectors.queries import Answer, Listed, Named
from wv_cli.vectors.spelling import Rest, find_words
from wv_cli.words import split_words

Vectors = NDArray[np.float64]


class Rows(Listed, Protocol):
    """Words and their vectors: vectors.embeddings.Embeddings is one."""

    def row(self, row: int, /) -> NDArray[np.float32]: ...


def cosine(a: Vectors, b: Vectors) -> float:
    """-1 to 1; 0 when one of the vectors (dim,) is zero."""
    length = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / length, -1, 1)) if length else 0.0


def unit(vectors: Vectors) -> Vectors:
    """The vectors (n, dim) divided by their lengths; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    divided: Vectors = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return divided


def from_the_mean(vectors: Vectors) -> list[float]:
    """The cosine of each of the vectors (n, dim) with the mean of their unit vectors."""
    mean = unit(vectors).mean(axis=0)
    return [cosine(vector, mean) for vector in vectors]


def movers_distance(x: Vectors, y: Vectors) -> float:
    """The word mover's distance of two texts, each the vectors (n, dim) of its words: the least cost of turning one
    into the other."""
    from wv_cli.vectors.neighbors.transport import distances, least_cost

    (a, a_counts), (b, b_counts) = (np.unique(each, axis=0, return_counts=True) for each in (x, y))
    return least_cost(distances(a, b), a_counts, b_counts)


class Comparer:
    """Compares words of `listed`, whose messages call it `name`; `rest` as in spelling.describe_missing."""

    def __init__(self, listed: Rows, name: str = "the vectors", rest: Rest | None = None) -> None:
        self.name, self._listed, self._rest = name, listed, rest
        self._oov = OovRows(len(listed.words), listed.dim, listed.subwords)

    def similarities(self, queries: Sequence[str]) -> list[Answer]:
        """The cosine of the two words of each query, or of the lists of words on both sides of its tab."""
        return [self._similarity(query) for query in queries]

    def odd_ones(self, words: Sequence[str], k: int) -> Answer:
        """The k words that belong least to the others, with the cosine of each with the mean of all, lowest first;
        equal ones in the order of the words."""
        query = " ".join(words)
        if len(words) < 2:
            return Answer(query, problem=f"expected two words or more, found {len(words)}: {show_word(query)}")
        vectors, problem = self._vectors(words)
        if problem:
            return Answer(query, problem=problem)
        zeros = [word for word, vector in zip(words, vectors, strict=True) if not vector.any()]
        ranked: Named = sorted(zip(words, from_the_mean(vectors), strict=True), key=lambda hit: hit[1])
        return Answer(query, ranked[:k], note=self._note_zeros(zeros))

    def _similarity(self, query: str) -> Answer:
        parts = query.split("\t") if "\t" in query else split_words(query)
        a, b = map(self._side, parts) if len(parts) == 2 else ([], [])
        if not a or not b:
            problem = f"expected two words, or two lists of words with a tab between, found: {show_word(query)}"
            return Answer(query, problem=problem)
        both, problem = self._vectors([*a, *b])
        if problem:
            return Answer(query, problem=problem)
        means = both[: len(a)].mean(axis=0), both[len(a) :].mean(axis=0)
        zeros = [part for part, mean in zip(parts, means, strict=True) if not mean.any()]
        return Answer(query, [("", cosine(*means))], note=self._note_zeros(zeros))

    def _note_zeros(self, texts: Sequence[str]) -> str:
        names = " and ".join(dict.fromkeys(map(show_word, texts)))
        return f"{names}: a zero vector in {self.name}, whose cosine with any other is given as 0" if names else ""

    def _side(self, text: str) -> list[str]:
        """The words of a list; a text that is itself a word is that word."""
        return [text] if text in self._listed.words else split_words(text)

    def _vectors(self, words: Sequence[str]) -> tuple[Vectors, str]:
        """The vectors (len(words), dim) of words, or what is missing."""
        ((rows, problem),) = find_words(self._listed.words, [words], self.name, oov=self._oov, rest=self._rest)
        if problem:
            return np.empty((0, 0)), problem
        composed, first = self._oov.vectors(), len(self._listed.words)
        found = [self._listed.row(row) if row < first else composed[row - first] for row in rows]
        return np.array(found, np.float64), ""
