"""gensim's questions to vectors: the methods of its KeyedVectors (gensim 4), with its arguments, order and answers.

They are functions whose first argument is Embeddings, which has them as methods. A key is a word; a row number is
refused. Where gensim leaves a word without a vector out, so is it here. Cosines are made in float64, and the cosine
with a zero vector is 0, where gensim has NaN.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli.io.arguments import list_words, real_number, require_type, whole_number
from wv_cli.vectors.comparisons import Rows, cosine, movers_distance, unit
from wv_cli.vectors.queries import Key, Named, WordIndex
from wv_cli.vectors.spelling import describe_missing

_BLOCK_VALUES = 1 << 18  # numbers of rows that are made float64 together
_KEYS = "a word as str, or a vector"

Keys = str | NDArray[Any] | Iterable[Any]  # a word, a vector (dim,), or several; perhaps with weights
Float64 = NDArray[np.float64]


class Keyed(Rows, Protocol):
    """Words, their vectors and a search: vectors.embeddings.Embeddings is one."""

    @property
    def _index(self) -> WordIndex: ...
    def __len__(self) -> int: ...
    def __contains__(self, word: object, /) -> bool: ...
    def __getitem__(self, word: str, /) -> NDArray[np.float32]: ...
    def similarity(self, w1: str, w2: str) -> float: ...
    def take(self, rows: NDArray[np.int64], /) -> NDArray[np.float32]: ...


def get_index(vectors: Keyed, key: str, default: int | None = None) -> int:
    """The row of a listed word. `default` is the answer for others; without it they raise KeyError."""
    require_type(key, str, "key", "a word as str")
    row = vectors.words.find(key)
    if row < 0 and default is None:
        raise KeyError(describe_missing(vectors.words, key, "the vectors"))
    return default if row < 0 and default is not None else row


def has_index_for(vectors: Keyed, key: str) -> bool:
    """Whether the word is listed; a word that is composed of subwords is not."""
    return get_index(vectors, key, -1) >= 0


def get_vector(vectors: Keyed, key: str, norm: bool = False) -> NDArray[np.float32]:
    """The vector (dim,) of a word, a copy; with `norm` its unit vector. Raises KeyError as e[key]."""
    require_type(key, str, "key", "a word as str")
    vector = vectors[key]
    return unit(vector[None].astype(np.float64))[0].astype(np.float32) if norm else vector


def get_normed_vectors(vectors: Keyed) -> NDArray[np.float32]:
    """The unit vectors of all rows, (words, dim), a new array; zero vectors stay zero."""
    result = np.empty((len(vectors), vectors.dim), np.float32)
    for start, block in _blocks(vectors):
        result[start : start + len(block)] = unit(block)
    return result


def get_mean_vector(
    vectors: Keyed,
    keys: Keys,
    weights: ArrayLike | None = None,
    pre_normalize: bool = True,
    post_normalize: bool = False,
    ignore_missing: bool = True,
) -> NDArray[np.float32]:
    """The weighted mean (dim,) of the vectors of some words, divided by the sum of the weights' absolute values.

    keys: words, and vectors (dim,), which count as they are. weights: a number for each key, 1 without.
    pre_normalize: take the words' unit vectors. post_normalize: return the mean as a unit vector. Raises ValueError
    for no key and for other numbers of weights, KeyError for a missing word unless `ignore_missing` leaves it out.
    """
    listed = _list_keys(vectors, keys, "keys")
    each = np.ones(len(listed)) if weights is None else np.asarray(weights, np.float64)
    if not listed:
        message = "name at least one word"
        raise ValueError(message)
    if each.shape != (len(listed),):
        message = f"weights: expected {len(listed)} numbers, found shape {each.shape}"
        raise ValueError(message)
    used = np.array([not ignore_missing or not isinstance(key, str) or key in vectors for key in listed])
    rows = np.zeros((len(listed), vectors.dim))
    for i in np.flatnonzero(used).tolist():
        key = listed[i]
        rows[i] = get_vector(vectors, key, norm=pre_normalize) if isinstance(key, str) else key
    total = np.abs(each[used]).sum()
    mean = each[used] @ rows[used] / (total or 1)
    mean = unit(mean[None])[0] if post_normalize else mean
    result: NDArray[np.float32] = mean.astype(np.float32)
    return result


def most_similar(
    vectors: Keyed,
    positive: Keys | None = None,
    negative: Keys | None = None,
    topn: int | None = 10,
    clip_start: int = 0,
    clip_end: int | None = None,
    restrict_vocab: int | None = None,
) -> Any:
    """The `topn` words nearest to the mean of the positive keys' unit vectors less the negative ones', as a list of
    (word, cosine), best first; the words asked are left out. Ties go to the lowest row.

    positive, negative: a word, a vector (dim,), or several; a pair (key, weight) gives a key another weight than 1 or
    -1. topn: None gives the cosines of all words as an array instead. clip_start, clip_end: answer only with these
    rows. restrict_vocab: answer only with the first so many. Raises KeyError as e[key], ValueError for no key.
    """
    if topn is not None and whole_number(topn, "topn") < 1:
        return []
    keys, weights = _split_weights(vectors, positive, 1.0, "positive")
    others, less = _split_weights(vectors, negative, -1.0, "negative")
    keys, weights = keys + others, weights + less
    if not keys:
        message = "name at least one word"
        raise ValueError(message)
    start, end = whole_number(clip_start, "clip_start"), whole_number(restrict_vocab or clip_end or 0, "restrict_vocab")
    if restrict_vocab:
        start = 0
    if topn is None or start:
        mean = get_mean_vector(vectors, keys, weights, ignore_missing=False)
        cosines = _cosines(vectors, mean)[start : end or None]
        return cosines.astype(np.float32) if topn is None else _best(vectors, cosines, start, keys, topn)
    # The search makes unit vectors of all keys, but gensim takes vectors as they are.
    lengths = [1.0 if isinstance(key, str) else float(np.linalg.norm(key)) for key in keys]
    scaled = [weight * length for weight, length in zip(weights, lengths, strict=True)]
    plain = all(weight == 1 for weight in weights) and all(length == 1 for length in lengths)
    return vectors._index.similar_to_mean(keys, None if plain else scaled, int(topn), rows=end or None)


def similar_by_key(vectors: Keyed, key: str, topn: int | None = 10, restrict_vocab: int | None = None) -> Any:
    """most_similar to one word."""
    return most_similar(vectors, [key], topn=topn, restrict_vocab=restrict_vocab)


def similar_by_vector(
    vectors: Keyed, vector: ArrayLike, topn: int | None = 10, restrict_vocab: int | None = None
) -> Any:
    """most_similar to a vector (dim,)."""
    return most_similar(vectors, [np.asarray(vector)], topn=topn, restrict_vocab=restrict_vocab)


def most_similar_to_given(vectors: Keyed, key1: str, keys_list: Sequence[str]) -> str:
    """The word of a list whose vector has the highest cosine with that of `key1`, the first of equals."""
    listed = list_words(keys_list, "keys_list")
    return listed[int(np.argmax([vectors.similarity(key1, key) for key in listed]))]


def closer_than(vectors: Keyed, key1: str, key2: str) -> list[str]:
    """The words that are nearer to `key1` than `key2` is, in the order of the rows."""
    own, other = get_index(vectors, key1), get_index(vectors, key2)
    cosines = _cosines(vectors, vectors.row(own))
    return [vectors.words[row] for row in np.flatnonzero(cosines > cosines[other]).tolist() if row != own]


def rank(vectors: Keyed, key1: str, key2: str) -> int:
    """The place of `key2` among the neighbors of `key1`, from 1."""
    return len(closer_than(vectors, key1, key2)) + 1


def distance(vectors: Keyed, w1: str, w2: str) -> float:
    """1 - the cosine of two words' vectors."""
    return 1 - vectors.similarity(w1, w2)


def distances(
    vectors: Keyed, word_or_vector: str | NDArray[Any], other_words: Iterable[str] = ()
) -> NDArray[np.float32]:
    """1 - the cosine of a word or a vector (dim,) with each of the other words, (words,) float32; without other words
    with every row. Raises KeyError for a word that is not listed."""
    (key,) = _list_keys(vectors, [word_or_vector], "word_or_vector")
    vector = get_vector(vectors, key) if isinstance(key, str) else key
    others = list_words(other_words, "other_words")
    rows = np.array([get_index(vectors, word) for word in others], np.int64) if others else None
    return (1 - _cosines(vectors, vector, rows)).astype(np.float32)


def n_similarity(vectors: Keyed, ws1: Iterable[str], ws2: Iterable[str]) -> float:
    """The cosine of the means of two lists of words, whose vectors are taken as they are; words without a vector are
    left out. Raises ValueError for an empty list."""
    lists = list_words(ws1, "ws1"), list_words(ws2, "ws2")
    means = [get_mean_vector(vectors, words, pre_normalize=False).astype(np.float64) for words in lists]
    return cosine(*means)


def rank_by_centrality(vectors: Keyed, words: Iterable[str], use_norm: bool = True) -> list[tuple[float, str]]:
    """(score, word) of each word, highest first: the product of its vector with the unit vector of all words' mean.
    `use_norm` takes unit vectors. Words without a vector are left out. Raises ValueError when none is left."""
    used = [word for word in list_words(words, "words") if word in vectors]
    if not used:
        message = "words: expected at least one word with a vector"
        raise ValueError(message)
    rows = np.array([vectors[word] for word in used], np.float64)
    rows = unit(rows) if use_norm else rows
    return sorted(zip((rows @ unit(rows.mean(axis=0)[None])[0]).tolist(), used, strict=True), reverse=True)


def doesnt_match(vectors: Keyed, words: Iterable[str]) -> str:
    """The word that is farthest from the mean of all: the last of rank_by_centrality."""
    return rank_by_centrality(vectors, words)[-1][1]


def wmdistance(vectors: Keyed, document1: Iterable[str], document2: Iterable[str], norm: bool = True) -> float:
    """The word mover's distance of two lists of words: movers_distance, with words without a vector left out.
    Infinite when no word of one list is left. `norm` takes unit vectors."""
    listed = [list_words(document1, "document1"), list_words(document2, "document2")]
    used = [[vectors[word] for word in words if word in vectors] for words in listed]
    if not all(used):
        return float("inf")
    x, y = (np.array(each, np.float64) for each in used)
    return movers_distance(unit(x), unit(y)) if norm else movers_distance(x, y)


def _list_keys(vectors: Keyed, keys: Keys, name: str) -> list[Key]:
    """Words as str and vectors as (dim,) float32. Raises TypeError, and ValueError for a vector of another size."""
    return [_key(vectors, item, name) for item in _items(keys, name)]


def _items(keys: Any, name: str) -> list[Any]:
    if isinstance(keys, np.ndarray) and keys.dtype.kind in "fiu":
        return list(np.atleast_2d(keys))
    if isinstance(keys, np.ndarray):
        return keys.ravel().tolist()
    several = isinstance(keys, Iterable) and not isinstance(keys, str | bytes)
    return list(keys) if several else [*list_words(keys, name)]


def _key(vectors: Keyed, item: Any, name: str) -> Key:
    if not isinstance(item, np.ndarray):
        require_type(item, str, name, _KEYS)
        return str(item)
    if item.dtype.kind not in "fiu" or item.shape != (vectors.dim,):
        message = f"{name}: expected a vector of {vectors.dim} numbers, found shape {item.shape} of {item.dtype}"
        raise ValueError(message)
    return item.astype(np.float32)


def _split_weights(vectors: Keyed, keys: Keys | None, weight: float, name: str) -> tuple[list[Key], list[float]]:
    """Keys, each with its own weight if it is a pair, else with `weight`."""
    pairs = []
    for item in () if keys is None else _items(keys, name):
        key, own = item if isinstance(item, tuple | list) and len(item) == 2 else (item, weight)
        pairs.append((_key(vectors, key, name), float(real_number(own, name))))
    return [key for key, _ in pairs], [own for _, own in pairs]


def _blocks(vectors: Keyed, rows: NDArray[np.int64] | None = None) -> Iterator[tuple[int, Float64]]:
    """(place, vectors (n, dim)) of `rows`, of all without."""
    count, step = len(vectors) if rows is None else len(rows), max(1, _BLOCK_VALUES // max(1, vectors.dim))
    for start in range(0, count, step):
        end = min(start + step, count)
        yield start, vectors.take(np.arange(start, end) if rows is None else rows[start:end]).astype(np.float64)


def _cosines(vectors: Keyed, vector: NDArray[Any], rows: NDArray[np.int64] | None = None) -> Float64:
    """The cosine of a vector (dim,) with each row; 0 with a zero vector."""
    query = unit(vector[None].astype(np.float64))[0]
    result = np.zeros(len(vectors) if rows is None else len(rows))
    for start, block in _blocks(vectors, rows):
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        np.divide(block @ query, lengths, out=result[start : start + len(block)], where=lengths > 0)
    return result


def _best(vectors: Keyed, cosines: Float64, start: int, keys: Sequence[Key], topn: int) -> Named:
    """The `topn` best of the rows from `start` on, without the words among `keys`."""
    asked = {vectors.words.find(key) for key in keys if isinstance(key, str)}
    order = (row for row in (np.argsort(-cosines, kind="stable") + start).tolist() if row not in asked)
    return [(vectors.words[row], float(cosines[row - start])) for row, _ in zip(order, range(topn), strict=False)]
