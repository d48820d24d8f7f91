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
from wv_cli.config import argument, option
from wv_cli.io.places import require_one_use
from wv_cli.transforms.config import AlignConfig
from wv_cli.vectors.file_options import BadRowsName, bad_rows_option

if TYPE_CHECKING:
    from wv_cli.transforms.align import Named


@dataclass(frozen=True, kw_only=True)
class TwoInputs(Part):
    """The files of vectors `a` and `b`; their content tells the format where `from_format` does not."""

    group: ClassVar[str] = "Input"

    a: str = argument("A")
    b: str = argument("B")
    from_format: str | None = option(None, "Format of A and B; by default their content tells.", metavar="FORMAT")
    bad_rows: BadRowsName = bad_rows_option()

    def check(self) -> None:
        require_one_use(self.a, self.a == self.b)

    def reads(self) -> list[str]:
        return [self.a, self.b]

    def load(self) -> "tuple[Named, Named]":
        from wv_cli.transforms.align import Named
        from wv_cli.vectors import formats

        first, second = (
            Named(formats.load(path, format=self.from_format, bad_rows=self.bad_rows), path)
            for path in (self.a, self.b)
        )
        return first, second


@dataclass(frozen=True, kw_only=True)
class AlignedOutput(VectorOutput):
    """The file that gets the vectors of `a` in the space of `b`."""

    output: str = option(help="File for A's vectors in the space of B.", short="o", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
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

    def reads(self) -> list[str]:
        return [*super().reads(), *filter(None, [self.config.dictionary])]

    def replaceable(self) -> list[str]:
        return self.source.reads()

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Aligns and writes the vectors."""
        from wv_cli.commands.align_run import align

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
