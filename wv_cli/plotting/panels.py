"""Panels of a plot: the words that are asked for, in one file of vectors or in several, projected each by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wv_cli.errors import WvError
from wv_cli.plotting.picture import Panel
from wv_cli.plotting.plane import points
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.spelling import find_queries
from wv_cli.words import WordList


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is drawn: `words`, the first `top` words, and the `neighbors` nearest ones of each of `words`; how they are
    projected (wv_cli/plotting/plane.py)."""

    words: Sequence[str]
    top: int | None
    neighbors: int | None
    method: str
    perplexity: float
    seed: int

    def first_panel(self, read: Embeddings, file: str, title: str | None) -> tuple[Panel, WordList]:
        """The panel, and the words that panels beside it show. Raises WvError for a word that is not there."""
        rows = list(range(min(self.top or 0, len(read))))
        for found, problem in find_queries(read.words, self.words, file):
            if problem:
                raise WvError(problem)
            rows += found
        return self._panel(read, file, rows, title), WordList.from_words(read.words[row] for row in dict.fromkeys(rows))

    def beside(self, read: Embeddings, file: str, words: WordList) -> tuple[Panel, int]:
        """The panel of those of `words` that another file has, and how many these are."""
        rows = [row for row in read.words.find_all(words).tolist() if row >= 0]
        return self._panel(read, file, rows, None), len(rows)

    def _panel(self, read: Embeddings, file: str, rows: list[int], title: str | None) -> Panel:
        if self.neighbors is not None:
            asked = [read.words[row] for found, _ in find_queries(read.words, self.words, file) for row in found]
            near = [read.neighbors(word, k=self.neighbors) for word in asked]
            rows = [*rows, *(read.words.find(word) for each in near for word, _ in each)]
        chosen = list(dict.fromkeys(rows))
        matrix = read.matrix[np.array(chosen, np.int64)]
        placed, axes = points(matrix, self.method, perplexity=self.perplexity, seed=self.seed)
        return Panel(file if title is None else title, placed, [read.words[row] for row in chosen], axes)
