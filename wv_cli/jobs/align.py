"""`wv align`: the vectors of one file, turned into the space of another's.

Pairs are words with one spelling or the lines of a dictionary, all that both files know; a pair with a vector that has
no direction (zero, NaN) is left out.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wv_cli import formats
from wv_cli.errors import WvError
from wv_cli.evaluation.dictionary import Dictionary, read_dictionary
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.parts.vectors import VectorOutput
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.places import require_one_use
from wv_cli.transforms.align import LEAST_PAIRS, Pairs, cosines, map_rows, procrustes, refine_pairs, with_directions
from wv_cli.transforms.config import AlignConfig
from wv_cli.transforms.rcsls import Criterion, descend
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import BadRowsName
from wv_cli.words import WordList


@dataclass(frozen=True, eq=False)
class Named:
    """Vectors and the file they are from, for messages."""

    vectors: Embeddings
    name: str


@dataclass(frozen=True, kw_only=True)
class TwoInputs(Part):
    """The files of vectors `a` and `b`; their content tells the format where `from_format` does not."""

    a: str
    b: str
    from_format: str | None = None
    bad_rows: BadRowsName = "error"

    def check(self) -> None:
        require_one_use(self.a, self.a == self.b)

    def reads(self) -> list[str]:
        return [self.a, self.b]

    def load(self) -> tuple[Named, Named]:
        first, second = (
            Named(formats.load(path, format=self.from_format, bad_rows=self.bad_rows), path)
            for path in (self.a, self.b)
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class AlignJob(Job):
    """The job of `wv align`. It writes no sidecars."""

    config: AlignConfig = field(default_factory=AlignConfig)
    source: TwoInputs
    output: VectorOutput

    @property
    def output_format(self) -> str | None:
        return self.output.to_format

    def check(self) -> None:
        self.output.chosen_format(self.invocation.explicit)
        require_one_use("-", self.reads().count("-") > 1)

    def reads(self) -> list[str]:
        return [*super().reads(), *filter(None, [self.config.dictionary])]

    def replaceable(self) -> list[str]:
        return self.source.reads()

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Aligns and writes the vectors."""
        made = align(*self.source.load(), self.config)
        self.output.save(made.vectors)
        for note in made.notes:
            run.log(f"note: {note}")
        return None, {
            "output": self.output.output,
            "words": len(made.vectors),
            "dim": made.vectors.dim,
            "pairs": made.pairs,
            "cosine_before": made.before,
            "cosine": made.after,
            "refined_pairs": made.found,
            "losses": made.losses,
        }


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


def _translate(a: WordList, b: WordList, dictionary: Dictionary) -> Pairs:
    """(pairs, 2) rows, -1 where a word is not known."""
    words = zip(*dictionary.pairs, strict=True)
    return np.stack(
        [each.find_all(WordList.from_words(side)) for each, side in zip((a, b), words, strict=True)], axis=1
    )


def require_enough(pairs: Pairs, what: str) -> None:
    """Raises WvError for too few pairs. `what` is the message, with {} for their number, and says what to do."""
    if len(pairs) < LEAST_PAIRS:
        raise WvError(what.format(f"{len(pairs)} (at least {LEAST_PAIRS} are needed)"))
