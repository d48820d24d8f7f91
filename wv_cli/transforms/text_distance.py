"""Word mover's distance of texts: which of several is nearest to another one. vectors.neighbors.transport has
the distances of bags.

A text is the bag of its words that have a vector, found as sentences.word_rows does. Of many texts the relaxed bound is
made first, for all at once; the exact distance only of those whose bound does not rule them out.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import WvError, show_bytes
from wv_cli.io.events import unheard
from wv_cli.io.marks import split_lines
from wv_cli.text.source import Source
from wv_cli.transforms.sentences import word_rows
from wv_cli.vectors.comparisons import unit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Case, Lookup
from wv_cli.vectors.neighbors.topk import take_rows
from wv_cli.vectors.neighbors.transport import Costs, Counts, bound_costs, distances, least_cost
from wv_cli.vectors.queries import Answer
from wv_cli.vectors.recognize import input_texts
from wv_cli.words import decode, encode

_ROUNDING = 1e-9  # by which a bound may exceed the exact distance


@dataclass(frozen=True, eq=False)
class Bag:
    """Rows of different words and how often each occurs."""

    rows: NDArray[np.int64]
    counts: Counts

    @property
    def is_empty(self) -> bool:
        return len(self.rows) == 0


class TextSpace:
    """Texts as bags of the words of `vectors`; with `normalize` words are moved between unit vectors. Words whose
    lower-case spelling is in `stop_words` are left out."""

    def __init__(
        self,
        vectors: Embeddings,
        case: Case = "fold-first",
        *,
        stop_words: frozenset[str] = frozenset(),
        normalize: bool = True,
    ) -> None:
        self._vectors, self._stop_words, self._normalize = vectors, stop_words, normalize
        self._lookup = Lookup(vectors, case)

    def bag(self, text: str) -> Bag:
        return Bag(*np.unique(np.array(word_rows(text, self._lookup, self._stop_words), np.int64), return_counts=True))

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """(len(rows), dim): where the words of these rows are."""
        found = take_rows(self._vectors.matrix, rows, self._lookup.oov.vectors()).astype(np.float64)
        return unit(found) if self._normalize else found

    def distance(self, a: Bag, b: Bag) -> float:
        """The exact distance of two bags, neither of them empty."""
        return least_cost(distances(self.places(a.rows), self.places(b.rows)), a.counts, b.counts)


class TextIndex:
    """`texts` to be searched for the nearest to others; those without a word are never found. `solved` counts the exact
    distances that were made."""

    def __init__(self, space: TextSpace, texts: Sequence[str]) -> None:
        self._space, self.solved = space, 0
        bags = [space.bag(text) for text in texts]
        self._numbers = [number for number, bag in enumerate(bags) if not bag.is_empty]
        kept = [bags[number] for number in self._numbers]
        self._starts = np.cumsum([0, *(len(bag.rows) for bag in kept)])
        self._counts = np.concatenate([np.zeros(0, np.int64), *(bag.counts for bag in kept)])
        every = np.concatenate([np.zeros(0, np.int64), *(bag.rows for bag in kept)])
        rows, self._columns = np.unique(every, return_inverse=True)
        self._places = space.places(rows)

    def nearest(self, query: Bag, k: int) -> list[tuple[int, float]]:
        """The numbers of the k texts nearest to a bag that is not empty, and their distances, the nearest first; equal
        ones in their order."""
        if not self._numbers:
            return []
        cost = distances(self._space.places(query.rows), self._places)
        bounds = bound_costs(cost, query.counts, self._columns, self._counts, self._starts)
        best: list[tuple[float, int]] = []
        for candidate in np.argsort(bounds, kind="stable").tolist():
            if len(best) == k and bounds[candidate] > best[-1][0] + _ROUNDING:
                break
            insort(best, (self._exact(cost, query, candidate), self._numbers[candidate]))
            del best[k:]
        return [(number, distance) for distance, number in best]

    def _exact(self, cost: Costs, query: Bag, candidate: int) -> float:
        part = slice(self._starts[candidate], self._starts[candidate + 1])
        self.solved += 1
        return least_cost(cost[:, self._columns[part]], query.counts, self._counts[part])


class TextAnswers:
    """What is asked of texts in `space`: the distance of two or, with `lines`, which of these are nearest to one.
    `name` is what messages call the vectors."""

    def __init__(self, space: TextSpace, name: str, lines: Sequence[str] | None = None) -> None:
        self._space, self.name, self._lines = space, name, lines
        self._index = TextIndex(space, lines) if lines is not None else None

    def answers(self, queries: Sequence[str], k: int) -> list[Answer]:
        """The k lines nearest to each query, blanks for their tabs; or the distance of the texts on both sides of its
        tab."""
        return [self._nearest(query, k) if self._lines is not None else self._distance(query) for query in queries]

    def _distance(self, query: str) -> Answer:
        sides = query.split("\t")
        if len(sides) != 2:
            return Answer(query, problem=f"expected two texts with a tab between, found {len(sides)}: {query!r}")
        bags = [self._space.bag(side) for side in sides]
        if problem := self._problem(sides, bags):
            return Answer(query, problem=problem)
        return Answer(query, [("", self._space.distance(*bags))])

    def _nearest(self, query: str, k: int) -> Answer:
        bag = self._space.bag(query)
        if problem := self._problem([query], [bag]):
            return Answer(query, problem=problem)
        assert self._index is not None and self._lines is not None
        found = self._index.nearest(bag, k)
        return Answer(query, [(self._lines[number].replace("\t", " "), distance) for number, distance in found])

    def _problem(self, sides: Sequence[str], bags: Sequence[Bag]) -> str:
        text = next((side for side, bag in zip(sides, bags, strict=True) if bag.is_empty), None)
        return "" if text is None else f"no word of the text {show_bytes(encode(text))} has a vector in {self.name}"


def read_lines(path: str) -> list[str]:
    """The lines of a text, perhaps compressed or standard input. Raises WvError for one that is none or empty."""
    text = b"".join(Source(input_texts([path], log=unheard, written=())))
    lines = [decode(line) for line in split_lines(text)]
    if not any(line.strip() for line in lines):
        message = f"{'standard input' if path == '-' else path}: expected lines of text, found none"
        raise WvError(message)
    return lines
