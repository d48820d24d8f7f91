"""Embeddings: words with their vectors, and the composition of vectors for words that are not listed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.io.arguments import list_words, whole_number
from wv_cli.vectors import gensim_scores, keyed
from wv_cli.vectors.comparisons import cosine, from_the_mean, movers_distance, unit
from wv_cli.vectors.oov import Subwords
from wv_cli.vectors.queries import WordIndex
from wv_cli.vectors.spelling import describe_missing
from wv_cli.words import WordList

if TYPE_CHECKING:
    from wv_cli.vectors.document_models import TextModel
    from wv_cli.vectors.neighbors.exact import Neighbors
    from wv_cli.vectors.neighbors.topk import Exact


@dataclass(frozen=True, init=False)
class Embeddings:
    """Words and their vectors; iteration gives the words. `matrix` is (len(words), dim) float32, row i the vector of
    word i; it may be memory-mapped and read-only, and its rows may be padded (a view with a larger row stride).
    `subwords` gives words that are not listed a vector, `texts` is the model of whole texts that the words' vectors
    are part of. Objects can be pickled and copied; a mapped model is pickled as the path and a digest of its file.

    >>> e = wv_cli.load("vectors.bin")
    >>> own = wv_cli.Embeddings(["king", "queen"], [[0.1, 0.2], [0.3, 0.4]])
    >>> "king" in e, e["king"].shape, e.similarity("king", "queen")
    >>> e.neighbors(["king", "woman"], ["man"], k=5)
    """

    words: WordList
    matrix: NDArray[np.float32]
    subwords: Subwords | None = None
    texts: "TextModel | None" = None

    def __init__(
        self,
        words: Iterable[str],
        matrix: ArrayLike,
        subwords: Subwords | None = None,
        texts: "TextModel | None" = None,
    ) -> None:
        """`words` are str in any iterable, `matrix` is what NumPy makes a matrix of numbers of; a float32 array is not
        copied. Raises TypeError for other types, ValueError for sizes that do not fit each other."""
        if isinstance(words, str):
            message = f"words: expected several words, found the str {words[:40]!r}"
            raise TypeError(message)
        listed = words if isinstance(words, WordList) else WordList.from_words(list_words(words, "words"))
        rows = _numbers(matrix)
        if rows.ndim != 2 or len(listed) != rows.shape[0]:
            message = f"{len(listed)} words do not fit a matrix of shape {rows.shape}"
            raise ValueError(message)
        for name, value in {"words": listed, "matrix": rows, "subwords": subwords, "texts": texts}.items():
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made when it is first asked for."""
        lazy = {name for kind in type(self).__mro__ for name, each in vars(kind).items() if _is_lazy(each)}
        return {name: value for name, value in vars(self).items() if name not in lazy}

    @property
    def dim(self) -> int:
        return int(self.matrix.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def keep_rows(self, rows: NDArray[np.int64]) -> "Embeddings":
        """The vectors of these rows alone."""
        return Embeddings(self.words.take(rows), self.matrix[rows], self.subwords, self.texts)

    @property
    def composes_only(self) -> bool:
        """Whether no word is listed and any word is composed, as of floret's tables."""
        return self.subwords is not None and not len(self)

    def require_listed(self, name: str) -> "Embeddings":
        """The vectors themselves. Raises WvError where they list no words; `name` is what the message calls them."""
        if self.composes_only:
            message = (
                f"{name}: lists no words; write vectors of yours first: wv vectors {name} < words.txt > words.glove"
            )
            raise WvError(message)
        return self

    def compose(self, words: Iterable[str]) -> "Embeddings":
        """These words with their vectors, without those that have none."""
        found = {word: vector for word in words if (vector := self._compose(word)) is not None}
        return Embeddings(list(found), np.array(list(found.values()), np.float32).reshape(-1, self.dim), self.subwords)

    def __contains__(self, word: object) -> bool:
        """Whether e[word] gives a vector: the word is listed, or composed of its subwords."""
        return isinstance(word, str) and (word in self.words or self._compose(word) is not None)

    def __getitem__(self, word: str | Iterable[str]) -> NDArray[np.float32]:
        """The vector (dim,) of a word as it is spelled, a copy; of several words (words, dim). A word that is not
        listed is composed of its subwords. Raises KeyError, with a near spelling if there is one, for a word
        without a vector."""
        if not isinstance(word, str):
            rows = [self[each] for each in list_words(word, "word")]
            return np.array(rows, np.float32).reshape(len(rows), self.dim)
        row = self.words.find(word)
        vector = self.row(row) if row >= 0 else self._compose(word)
        if vector is None:
            raise KeyError(describe_missing(self.words, word, "the vectors"))
        return vector

    def __iter__(self) -> Iterator[str]:
        """The words, in the order of the rows."""
        return iter(self.words)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The matrix, for NumPy."""
        return np.array(self.matrix, dtype, copy=copy)

    def similarity(self, w1: str | Iterable[str], w2: str | Iterable[str]) -> float:
        """The cosine of two words' vectors, -1 to 1; 0 when one is a zero vector. A list of words stands for the mean
        of its vectors as they are. Raises KeyError as e[word], ValueError for an empty list."""
        return cosine(self._of_all(w1, "w1").mean(axis=0), self._of_all(w2, "w2").mean(axis=0))

    def odd_one_out(self, words: Iterable[str]) -> str:
        """The word whose vector has the lowest cosine with the mean of the unit vectors of all, the first of equals.
        Raises KeyError as e[word], ValueError for an empty list."""
        listed = list_words(words, "words")
        return listed[int(np.argmin(from_the_mean(self._of_all(listed, "words"))))]

    def movers_distance(self, a: Iterable[str], b: Iterable[str]) -> float:
        """The word mover's distance of two texts, each a list of words in any order. It is the least cost of turning
        one text into the other by moving words; a move costs the Euclidean distance of the unit vectors. It lies
        between 0 and 2. Raises KeyError as e[word], ValueError for an empty text."""
        return movers_distance(unit(self._of_all(a, "a")), unit(self._of_all(b, "b")))

    def neighbors(
        self,
        positive: str | Iterable[str],
        negative: str | Iterable[str] = (),
        k: int = 10,
        *,
        among: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
    ) -> list[tuple[str, float]]:
        """The k words nearest to the mean of the unit vectors of the `positive` words, less those of the `negative`
        ones, with their cosines, best first; the words asked are left out, and the search is exact. Of codes: nearest
        to the bits that most of the words have, with the share of equal bits (sparse codes: of common active ones).

        among: answer only with these words. exclude: never answer with these. Words of either that are not listed do
        not count. Raises KeyError as e[word], ValueError when no word is given, UsageError for a k below 1.
        """
        plus, minus = list_words(positive, "positive"), list_words(negative, "negative")
        if (k := whole_number(k, "k")) < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        without = list_words(exclude, "exclude")
        if among is None and not without:
            return self._index.similar(plus, minus, k)
        from wv_cli.vectors.neighbors.some_rows import SomeRows
        from wv_cli.vectors.word_lists import narrow

        rows = narrow(self.words, None if among is None else list_words(among, "among"), without)
        return WordIndex(self, SomeRows(self.search(), rows)).similar(plus, minus, k)

    def zero_rows(self) -> NDArray[np.int64]:
        """The indices of all-zero rows, which have no direction. Looks only at the first number of other rows."""
        rows = np.flatnonzero(self.matrix[:, 0] == 0) if self.dim else np.arange(len(self))
        parts = np.array_split(rows, len(rows) // 65536 + 1)
        return np.concatenate([part[~self.matrix[part].any(axis=1)] for part in parts])

    def row(self, row: int) -> NDArray[np.float32]:
        """The vector of row number `row`, (dim,), as a copy."""
        return np.array(self.matrix[row], np.float32)

    def take(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of some rows, (len(rows), dim), as a copy."""
        return self.matrix[rows]

    def search(self, *, threads: int = 0) -> "Exact":
        """An exact search over the rows; `threads` 0 uses all processors."""
        return self.exact(threads=threads)

    def exact(self, *, threads: int = 0) -> "Neighbors":
        """An exact search over the rows, which must not change while it is used."""
        from wv_cli.vectors.neighbors.exact import Neighbors

        return Neighbors(self.matrix, threads=threads)

    # What follows has the names, arguments and answers of gensim's KeyedVectors.

    @property
    def vectors(self) -> NDArray[np.float32]:
        """`matrix`."""
        return self.matrix

    @property
    def vector_size(self) -> int:
        """`dim`."""
        return self.dim

    @cached_property
    def index_to_key(self) -> list[str]:
        """The words in the order of the rows, as a list."""
        return list(self.words)

    @cached_property
    def key_to_index(self) -> dict[str, int]:
        """The row of every word; of a word that is listed twice the first."""
        rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            rows.setdefault(word, row)
        return rows

    get_index = keyed.get_index
    has_index_for = keyed.has_index_for
    get_vector = keyed.get_vector
    get_normed_vectors = keyed.get_normed_vectors
    get_mean_vector = keyed.get_mean_vector
    most_similar = keyed.most_similar
    similar_by_word = keyed.similar_by_key
    similar_by_key = keyed.similar_by_key
    similar_by_vector = keyed.similar_by_vector
    most_similar_to_given = keyed.most_similar_to_given
    closer_than = keyed.closer_than
    rank = keyed.rank
    distance = keyed.distance
    distances = keyed.distances
    n_similarity = keyed.n_similarity
    rank_by_centrality = keyed.rank_by_centrality
    doesnt_match = keyed.doesnt_match
    wmdistance = keyed.wmdistance
    evaluate_word_pairs = gensim_scores.evaluate_word_pairs
    evaluate_word_analogies = gensim_scores.evaluate_word_analogies

    @cached_property
    def _index(self) -> WordIndex:
        return WordIndex(self, self.search())

    def _of_all(self, words: str | Iterable[str], name: str) -> NDArray[np.float64]:
        """(words, dim). Raises KeyError, and ValueError when there is none; messages call the argument `name`."""
        found = [self[word] for word in list_words(words, name)]
        if not found:
            message = "name at least one word"
            raise ValueError(message)
        return np.array(found, np.float64)

    def _compose(self, word: str) -> NDArray[np.float32] | None:
        return self.subwords.oov_vector(word) if self.subwords is not None else None


def _is_lazy(attribute: object) -> bool:
    return isinstance(attribute, cached_property)


def _numbers(matrix: ArrayLike) -> NDArray[np.float32]:
    """Raises TypeError for what is no array of real numbers."""
    if isinstance(matrix, np.ndarray) and matrix.dtype == np.float32:
        return matrix
    try:
        rows = np.asarray(matrix)
    except ValueError as error:  # rows of several lengths
        message = f"matrix: expected rows of one length ({error})"
        raise ValueError(message) from None
    if rows.dtype.kind not in "fiub":
        message = f"matrix: expected an array of numbers (words, dim), found {type(matrix).__name__} of {rows.dtype}"
        raise TypeError(message)
    return rows.astype(np.float32)
