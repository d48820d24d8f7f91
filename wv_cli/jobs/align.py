"""`wv align` and `wv drift`: two files of vectors in one space, and the words that are not the same in both.

Pairs are words with one spelling or the lines of a dictionary, all that both files know; a pair with a vector that has
no direction (zero, NaN) is left out.

Drift is told by two scores of the words that both files have. The share of a word's nearest neighbours, among these
words, that are the same in both (Gonen et al. 2020) needs no alignment; the cosine of its two vectors after all have
been aligned by these words (Hamilton et al. 2016) does.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError
from wv_cli.evaluation.dictionary import Dictionary, read_dictionary
from wv_cli.search.neighbours import Neighbours
from wv_cli.transforms.align import LEAST_PAIRS, Pairs, cosines, mapped, procrustes, refined, with_directions
from wv_cli.transforms.config import AlignConfig, DriftConfig
from wv_cli.transforms.rcsls import Criterion, descend
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

_BATCH = 8192  # words whose neighbours are compared at a time


@dataclass(frozen=True, eq=False)
class Named:
    """Vectors and the file they are from, for messages."""

    vectors: Embeddings
    name: str


@dataclass(frozen=True, eq=False)
class Aligned:
    """`map` (dim, dim) is what the rows were multiplied with, `pairs` those given, `found` the numbers of pairs that
    each round of refinement found; the mean cosines are over the pairs given, `before` in the space that A had.
    `losses`: the criterion of rcsls before its first step and after each. `notes`: what the user should know."""

    vectors: Embeddings
    map: NDArray[np.float64]
    pairs: int
    before: float
    after: float
    found: list[int]
    losses: list[float]
    notes: list[str] = field(default_factory=list)


def align(a: Named, b: Named, config: AlignConfig) -> Aligned:
    """The vectors of `a`, turned to those of `b`. Raises UsageError for a config that makes no sense, BadFile for a
    dictionary that is none, WvError for vectors that do not fit or with too few pairs."""
    config.validate()
    require_comparable(a, b)
    x, y = a.vectors.matrix, b.vectors.matrix
    notes: list[str] = []
    if config.dictionary is not None:
        dictionary = read_dictionary(config.dictionary)
        notes += dictionary.malformed.notes()
        given = _translated(a.vectors.words, b.vectors.words, dictionary)
        unknown = int((given < 0).any(axis=1).sum())
        notes += [f"{dictionary.path}: {unknown:,} of {len(given):,} pairs are not in both files"] if unknown else []
        pairs = with_directions(x, y, given[(given >= 0).all(axis=1)])
        what = f"{dictionary.path}: pairs with vectors in {a.name} and {b.name}: {{}}; a line is `word-of-A word-of-B`"
    else:
        pairs = with_directions(x, y, common(a.vectors.words, b.vectors.words, config.anchors))
        what = f"{a.name} and {b.name}: words with vectors in both: {{}}; give --dictionary FILE"
    _require_enough(pairs, what)
    if len(pairs) < a.vectors.dim:
        notes.append(f"{len(pairs):,} pairs for {a.vectors.dim} dimensions: they determine only a part of the rotation")
    rotation = procrustes(x, y, pairs)
    found = []
    for _ in range(config.refine):
        better = refined(x, y, rotation, rows=config.refine_words, threads=config.threads)
        rotation = procrustes(x, y, better)
        found.append(len(better))
    made = rotation
    losses: list[float] = []
    if config.method == "rcsls":
        criterion = Criterion(x, y, pairs, rows=config.rcsls_words, threads=config.threads)
        made, losses = descend(criterion, rotation, config.steps)
    before, after = (float(cosines(x, y, pairs, each).mean()) for each in (np.eye(len(made)), made))
    return Aligned(Embeddings(a.vectors.words, mapped(x, made)), made, len(pairs), before, after, found, losses, notes)


@dataclass(frozen=True, eq=False)
class Drift:
    """Words that both files have, what changed most first; `shared` (words,) is the share of neighbours in common,
    `cosine` (words,) that of the vectors after aligning. `compared`: how many words there were."""

    words: WordList
    shared: NDArray[np.float64]
    cosine: NDArray[np.float64]
    compared: int


def drift(a: Named, b: Named, config: DriftConfig) -> Drift:
    """Raises as align."""
    config.validate()
    require_comparable(a, b)
    x, y = a.vectors.matrix, b.vectors.matrix
    pairs = with_directions(x, y, common(a.vectors.words, b.vectors.words, config.restrict_vocab))
    _require_enough(pairs, f"{a.name} and {b.name}: words with vectors in both: {{}}")
    cosine = cosines(x, y, pairs, procrustes(x, y, pairs))
    shared = shared_neighbours(x[pairs[:, 0]], y[pairs[:, 1]], config.neighbours, config.threads)
    keys = (cosine, shared) if config.by == "neighbours" else (shared, cosine)
    order = np.lexsort((np.arange(len(pairs)), *keys))[: config.top or None]
    return Drift(a.vectors.words.take(pairs[order, 0]), shared[order], cosine[order], len(pairs))


def shared_neighbours(x: NDArray[np.float32], y: NDArray[np.float32], k: int, threads: int = 0) -> NDArray[np.float64]:
    """(n,) of x and y (n, dim), row i of both the same word: the share of its k nearest rows, all others when there are
    fewer, that it has in both."""
    n = len(x)
    k = min(k, n - 1)
    indexes = [Neighbours(matrix, threads=threads) for matrix in (x, y)]
    shared = np.empty(n)
    for start in range(0, n, _BATCH):
        rows = np.arange(start, min(start + _BATCH, n))
        near = [index.nearest(rows[:, None].tolist(), k)[0] for index in indexes]
        # A row stands once in each list: what stands twice in both together is shared.
        both = np.sort(np.concatenate(near, axis=1), axis=1)
        shared[rows] = (both[:, 1:] == both[:, :-1]).sum(axis=1) / k
    return shared


def common(a: WordList, b: WordList, first: int = 0) -> Pairs:
    """(pairs, 2) rows of the words in both, in the order of `a`; with `first` only of those among the first so many of
    each. Of a word listed twice the first row counts."""
    rows = np.arange(min(first or len(a), len(a)))
    rows = rows[a.find_all(a)[: len(rows)] == rows]
    found = b.find_all(a.take(rows))
    kept = (found >= 0) & (found < (first or len(b)))
    return np.stack([rows[kept], found[kept]], axis=1).astype(np.int64)


def require_comparable(a: Named, b: Named) -> None:
    """Raises WvError for codes, and for vectors of different widths."""
    for each in (a, b):
        if isinstance(each.vectors, CodeVectors):
            message = f"{each.name}: expected vectors, found codes, which cannot be turned"
            raise WvError(message)
    if a.vectors.dim != b.vectors.dim:
        message = f"{a.name}: expected vectors of {b.vectors.dim} numbers as in {b.name}, found {a.vectors.dim}"
        raise WvError(message)


def _translated(a: WordList, b: WordList, dictionary: Dictionary) -> Pairs:
    """(pairs, 2) rows, -1 where a word is not known."""
    words = zip(*dictionary.pairs, strict=True)
    return np.stack([each.find_all(WordList.of(side)) for each, side in zip((a, b), words, strict=True)], axis=1)


def _require_enough(pairs: Pairs, what: str) -> None:
    """`what` says of how many pairs, {}, there are and what to do about it."""
    if len(pairs) < LEAST_PAIRS:
        raise WvError(what.format(f"{len(pairs)} (at least {LEAST_PAIRS} are needed)"))
