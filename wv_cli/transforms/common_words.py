"""Two files of vectors as they are compared: the words that both have, and whether their rows fit together."""

from dataclasses import dataclass

import numpy as np

from wv_cli.errors import WvError
from wv_cli.transforms.align import LEAST_PAIRS, Pairs
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList


@dataclass(frozen=True, eq=False)
class Named:
    """Vectors and the file they are from, for messages."""

    vectors: Embeddings
    name: str


def common(a: WordList, b: WordList, first: int = 0) -> Pairs:
    """Rows of the words that both files list, (pairs, 2), in the order of `a`. `first` restricts them to the first
    words of each file. Of a word listed twice the first row counts."""
    rows = np.arange(min(first or len(a), len(a)))
    rows = rows[a.find_all(a)[: len(rows)] == rows]
    found = b.find_all(a.take(rows))
    kept = (found >= 0) & (found < (first or len(b)))
    return np.stack([rows[kept], found[kept]], axis=1).astype(np.int64)


def require_comparable(a: Named, b: Named) -> None:
    """Raises WvError for codes, and for vectors of different widths."""
    for each in (a, b):
        if isinstance(each.vectors, CodeVectors):
            message = f"{each.name}: expected vectors, found codes, which cannot be aligned"
            raise WvError(message)
    if a.vectors.dim != b.vectors.dim:
        message = f"{a.name}: expected vectors of {b.vectors.dim} numbers as in {b.name}, found {a.vectors.dim}"
        raise WvError(message)


def require_enough(pairs: Pairs, what: str) -> None:
    """Raises WvError for too few pairs. `what` is the message, with {} for their number, and says what to do."""
    if len(pairs) < LEAST_PAIRS:
        raise WvError(what.format(f"{len(pairs)} (at least {LEAST_PAIRS} are needed)"))
