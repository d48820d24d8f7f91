"""The work of `wv align`: pairs of words, the map that brings them together, and the vectors it makes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wv_cli.evaluation.dictionary import Dictionary, read_dictionary
from wv_cli.transforms.align import (
    Criterion,
    Named,
    Pairs,
    common,
    cosines,
    descend,
    map_rows,
    procrustes,
    refine_pairs,
    require_comparable,
    require_enough,
    with_directions,
)
from wv_cli.transforms.config import AlignConfig
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList


@dataclass(frozen=True, eq=False)
class Aligned:
    """The result of an alignment. `map` (dim, dim) is what the rows were multiplied with, `pairs` those given, `found`
    the numbers of pairs that each round of refinement found; the mean cosines are over the pairs given, `before` in
    the space that A had. `losses`: the criterion of rcsls before its first step and after each. `notes`: what the
    user should know."""

    vectors: Embeddings
    map: NDArray[np.float64]
    pairs: int
    before: float
    after: float
    found: list[int]
    losses: list[float]
    notes: list[str] = field(default_factory=list)


def align(a: Named, b: Named, config: AlignConfig) -> Aligned:
    """The vectors of `a` mapped into the space of `b`. Raises UsageError for a config that makes no sense, BadFile for
    a dictionary that is none, WvError for vectors that do not fit or with too few pairs."""
    config.validate()
    require_comparable(a, b)
    x, y = a.vectors.matrix, b.vectors.matrix
    notes: list[str] = []
    if config.dictionary is not None:
        dictionary = read_dictionary(config.dictionary)
        notes += dictionary.malformed.notes()
        given = _translate(a.vectors.words, b.vectors.words, dictionary)
        unknown = int((given < 0).any(axis=1).sum())
        notes += [f"{dictionary.path}: {unknown:,} of {len(given):,} pairs are not in both files"] if unknown else []
        pairs = with_directions(x, y, given[(given >= 0).all(axis=1)])
        what = f"{dictionary.path}: pairs with vectors in {a.name} and {b.name}: {{}}; a line is `word-of-A word-of-B`"
    else:
        pairs = with_directions(x, y, common(a.vectors.words, b.vectors.words, config.anchors))
        what = f"{a.name} and {b.name}: words with vectors in both: {{}}; give --dictionary FILE"
    require_enough(pairs, what)
    if len(pairs) < a.vectors.dim:
        notes.append(f"{len(pairs):,} pairs for {a.vectors.dim} dimensions: they determine only a part of the rotation")
    rotation = procrustes(x, y, pairs)
    found = []
    for _ in range(config.refine):
        better = refine_pairs(x, y, rotation, rows=config.refine_words, threads=config.threads)
        rotation = procrustes(x, y, better)
        found.append(len(better))
    made = rotation
    losses: list[float] = []
    if config.method == "rcsls":
        criterion = Criterion(x, y, pairs, rows=config.rcsls_words, threads=config.threads)
        made, losses = descend(criterion, rotation, config.steps)
    before, after = (float(cosines(x, y, pairs, each).mean()) for each in (np.eye(len(made)), made))
    return Aligned(
        Embeddings(a.vectors.words, map_rows(x, made)), made, len(pairs), before, after, found, losses, notes
    )


def _translate(a: WordList, b: WordList, dictionary: Dictionary) -> Pairs:
    """(pairs, 2) rows, -1 where a word is not known."""
    words = zip(*dictionary.pairs, strict=True)
    return np.stack(
        [each.find_all(WordList.from_words(side)) for each, side in zip((a, b), words, strict=True)], axis=1
    )
