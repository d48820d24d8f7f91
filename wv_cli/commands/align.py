"""`wv align`: the vectors of one file, turned into the space of another's.

Pairs are words with one spelling or the lines of a dictionary, all that both files know; a pair with a vector that has
no direction (zero, NaN) is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.parts.vectors import VectorOutput
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.io.places import require_one_use
from wv_cli.transforms.config import AlignConfig
from wv_cli.vectors.file_options import BadRowsName, bad_rows_option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.evaluation.dictionary import Dictionary
    from wv_cli.transforms.align import Named, Pairs
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.words import WordList


@frozen
class TwoInputs(Part):
    """The files of vectors `a` and `b`; their content tells the format where `from_format` does not."""

    group: ClassVar[str] = "Input"

    a: str = argument("A", role="read")
    b: str = argument("B", role="read")
    from_format: str | None = option(None, "Format of A and B; by default their content tells.", metavar="FORMAT")
    bad_rows: BadRowsName = bad_rows_option()

    def check(self) -> None:
        require_one_use(self.a, self.a == self.b)

    def load(self) -> "tuple[Named, Named]":
        from wv_cli.transforms.align import Named
        from wv_cli.vectors import formats

        first, second = (
            Named(formats.load(path, format=self.from_format, bad_rows=self.bad_rows), path)
            for path in (self.a, self.b)
        )
        return first, second


@frozen
class AlignedOutput(VectorOutput):
    """The file that gets the vectors of `a` in the space of `b`."""

    output: str = option(help="File for A's vectors in the space of B.", short="o", role="result")


@frozen
class AlignJob(Job):
    """Map the vectors of A into the space of B, so that equal or translated words lie close together.

    A and B are vectors of two languages (--dictionary), or of one language at two times or from two runs. The
    default is the rotation that brings the pairs' unit vectors closest (orthogonal Procrustes), computed in float64.
    A rotation keeps all cosines within A; --method rcsls does not. `wv eval translation` measures the result.
    """

    output: AlignedOutput
    config: AlignConfig = field(default_factory=AlignConfig)
    source: TwoInputs

    @property
    def output_format(self) -> str | None:
        return self.output.to_format

    def check(self) -> None:
        self.output.chosen_format(self.invocation.explicit)
        require_one_use("-", self.reads().count("-") > 1)

    def replaceable(self) -> list[str]:
        return self.output.replaceable(self.source.reads())

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

    def report(self, metadata: Mapping[str, Any]) -> str:
        rounds = metadata["refined_pairs"]
        refined = f"; refined by {', '.join(f'{count:,}' for count in rounds)} pairs" if rounds else ""
        cosines = f"mean cosine {metadata['cosine_before']:.3f} -> {metadata['cosine']:.3f}"
        pairs = f"{metadata['words']:,} words; {metadata['pairs']:,} pairs"
        return f"{metadata['output']}: {pairs}, {cosines}{refined}"


@dataclass(frozen=True, eq=False)
class Aligned:
    """The result of an alignment. `map` (dim, dim) is what the rows were multiplied with, `pairs` those given, `found`
    the numbers of pairs that each round of refinement found; the mean cosines are over the pairs given, `before` in
    the space that A had. `losses`: the criterion of rcsls before its first step and after each. `notes`: what the
    user should know."""

    vectors: "Embeddings"
    map: "NDArray[np.float64]"
    pairs: int
    before: float
    after: float
    found: list[int]
    losses: list[float]
    notes: list[str] = field(default_factory=list)


def align(a: "Named", b: "Named", config: AlignConfig) -> Aligned:
    """The vectors of `a` mapped into the space of `b`. Raises UsageError for a config that makes no sense, BadFile for
    a dictionary that is none, WvError for vectors that do not fit or with too few pairs."""
    import numpy as np

    from wv_cli.evaluation.dictionary import read_dictionary
    from wv_cli.transforms.align import (
        Criterion,
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
    from wv_cli.vectors.embeddings import Embeddings

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


def _translate(a: "WordList", b: "WordList", dictionary: "Dictionary") -> "Pairs":
    """(pairs, 2) rows, -1 where a word is not known."""
    import numpy as np

    from wv_cli.words import WordList

    words = zip(*dictionary.pairs, strict=True)
    return np.stack(
        [each.find_all(WordList.from_words(side)) for each, side in zip((a, b), words, strict=True)], axis=1
    )
