"""`wv whiten`: which rows are fitted, which files are read and written, in which order.

Everything that can be refused is refused before the first row is read. Files of vectors pass through block by block.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.parts.vectors import VectorOutput
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.io.output import write_together
from wv_cli.transforms.config import WhitenConfig
from wv_cli.vectors.file_options import BadRowsName, bad_rows_option

if TYPE_CHECKING:
    from wv_cli.transforms.moments import Moments
    from wv_cli.transforms.whiten import Transform
    from wv_cli.vectors.formats.streams import RowSource

_FITTED = "method=whiten|zca|pca|soft|abtt"


@frozen
class WhitenInput(Part):
    """`inputs`: one file of vectors; under `merge` saved moments. An output appears when they have been read, so it may
    take the place of one."""

    group: ClassVar[str] = "Input"

    inputs: tuple[str, ...] = argument("IN", role="read")
    merge: bool = option(False, "Merge INs, which are saved moments of shards.", off=None)
    from_format: str | None = option(
        None, "Format of the vectors read; by default their content tells.", metavar="FORMAT", only="not merge"
    )
    bad_rows: BadRowsName = bad_rows_option(only="not merge")

    def check(self) -> None:
        require(bool(self.inputs), "give a file of vectors")
        message = "give one file of vectors; several moments go with --merge"
        require(len(self.inputs) == 1 or self.merge, message)

    def open(self) -> "RowSource":
        """The rows of the one input. Raises what RowSource raises."""
        from wv_cli.vectors.formats.streams import RowSource

        return RowSource(self.inputs[0], format=self.from_format, bad_rows=self.bad_rows)


@frozen
class Fitting(Part):
    """The data that the transform is fitted on, in this order of preference: the saved `moments`, the rows of `fit`,
    those of the input. Of rows the first `top` (None: all) are fitted, each once or as often as `counts`, a
    vocabulary file, says. `transform` is applied instead of a new one."""

    group: ClassVar[str] = "Input"

    fit: str | None = option(None, "Fit on the vectors of FILE instead of IN.", role="read", only=_FITTED)
    top: int | None = option(None, "Fit on the first N rows only.", low=1, only=_FITTED)
    counts: str | None = option(
        None, "Weight words in the fit by their counts in VOCAB.", metavar="VOCAB", role="read", only=_FITTED
    )
    moments: tuple[str, ...] = option((), "Fit on saved moments; repeat to merge several.", role="read", only=_FITTED)
    transform: str | None = option(None, "Apply this saved transform and fit nothing.", role="read", group="Method")

    @property
    def given_options(self) -> list[str]:
        """The options that say what is fitted."""
        values = {"--fit": self.fit, "--top": self.top, "--counts": self.counts, "--moments": self.moments}
        return [name for name, value in values.items() if value]

    def check(self) -> None:
        others = [name for name in self.given_options if name != "--moments"]
        message = f"{_first_flag(others)} has no effect with --moments, which are fitted already; leave it out"
        require(not (self.moments and others), message)


@frozen
class FittedOutputs(Part):
    """The files that get what was fitted."""

    group: ClassVar[str] = "Output"

    save_transform: str | None = option(None, "Save the fitted transform, for --transform.", role="result")
    save_moments: str | None = option(
        None, "Save row count, mean and scatter, for --moments and --merge.", role="result"
    )


@frozen
class WhitenJob(Job):
    """Whiten the vectors of IN: make their mean 0 and their covariance the identity, or apply a related transform.

    Whitening is meant for sentence vectors and often makes word vectors worse; `wv eval` measures it. Mean and
    covariance are computed in float64 in one pass, and IN is read again and written in blocks. IN may exceed memory,
    except as standard input, codes or a fastText model.

    \b
    Transforms:
      whiten   covariance becomes the identity
      zca      the same, in the original axes
      pca      rotation only
      soft     between pca and whiten, by --beta
      abtt     all but the top directions
      project  random directions; nothing is fitted
    """

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(WhitenConfig.options(), "output or save_transform")

    source: WhitenInput
    output: VectorOutput = field(default_factory=VectorOutput)
    config: WhitenConfig = field(default_factory=WhitenConfig)
    fitting: Fitting = field(default_factory=Fitting)
    fitted: FittedOutputs = field(default_factory=FittedOutputs)

    @property
    def output_format(self) -> str | None:
        return self.output.to_format

    def check(self) -> None:
        fitting, output = self.fitting, self.output.output
        require(bool(self.results()), "nothing would be written; give -o, --save-transform or --save-moments")
        given = fitting.given_options
        if self.source.merge:
            require(
                not given, f"{_first_flag(given)} has no effect with --merge, which only adds up moments; leave it out"
            )
            message = "--merge only adds up moments; a second run applies the sum, as --moments beside IN and -o"
            require(not (output or fitting.transform), message)
        if fitting.transform is not None:
            given += ["--save-moments"] * (self.fitted.save_moments is not None)
            require(
                not given, f"{_first_flag(given)} has no effect with --transform, which is fitted already; leave it out"
            )
            explicit = self.invocation.explicit
            chosen = [
                n for n, default in vars(WhitenConfig()).items() if vars(self.config)[n] != default or n in explicit
            ]
            flags = [flag_of(name) for name in chosen]
            require(
                not flags, f"{_first_flag(flags)} has no effect with --transform, which is fitted already; leave it out"
            )
            require(output is not None, "--transform FILE is applied to IN; give -o for the result")
        require(self.reads().count("-") <= 1, "- (standard input) can be read only once")
        if output is not None:
            row = self.output.chosen_format(self.invocation.explicit)
            if row.header is None:
                message = f"{row.name} cannot be written in blocks; choose another format for -o"
                raise UsageError(message)

    def replaceable(self) -> list[str]:
        return [*self.output.replaceable(self.source.inputs), *self.fitting.moments]

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Fits, saves, applies. Says nothing; the metadata are the figures of the run."""
        from wv_cli.transforms.moments import joined_moments
        from wv_cli.transforms.whiten import FEWEST_ROWS, Transform, fit

        metadata: Metadata = {"output": self.output.output}
        writers: list[tuple[str, Callable[[str], None]]] = []
        merge, fitting, saved = self.source.merge, self.fitting, self.fitted
        paths = self.source.inputs if merge else fitting.moments
        source = None if merge else self.source.open()
        if fitting.transform is not None:
            transform = Transform.load(fitting.transform)
        else:
            if paths:
                moments, name = joined_moments(paths), ", ".join(paths)
            else:
                assert source is not None
                moments, name = self._moments(source, metadata)
            metadata |= {"rows": moments.rows, "dim": moments.dim, "fitted": name}
            if saved.save_moments is not None:
                writers.append((saved.save_moments, moments.save))
            if self.output.output is None and saved.save_transform is None:
                write_together(writers)
                return None, metadata
            transform = fit(moments, self.config, name)
            if transform.overfits(moments.rows):
                metadata["expected_rows"] = FEWEST_ROWS * transform.new_dim
        kept = {"dim": transform.dim, "new_dim": transform.new_dim, "rank": transform.rank}
        metadata |= {**{key: transform.facts.get(key) for key in ("method", "removed", "beta")}, **kept}
        if saved.save_transform is not None:
            writers.append((saved.save_transform, transform.save))
        if self.output.output is not None:
            assert source is not None
            transform.require_dim(source.dim, source.name)
            writers.append((self.output.output, lambda path: metadata.update(self._write(path, source, transform))))
        write_together(writers)
        if source is not None and source.repeated_rows:
            run.log(f"{source.repeated_rows:,} rows were left out: earlier ones have their words")
        return None, metadata

    def _moments(self, source: "RowSource", metadata: Metadata) -> "tuple[Moments, str]":
        from wv_cli.text.vocab import read_vocab
        from wv_cli.transforms.whiten import moments_of
        from wv_cli.vectors.formats.streams import RowSource, WordsRepeated

        fitting = self.fitting
        if fitting.fit is not None:
            source = RowSource(fitting.fit, bad_rows=self.source.bad_rows)
        vocab = read_vocab(fitting.counts) if fitting.counts is not None else None
        try:
            moments, unknown = moments_of(source, vocab, fitting.top)
        except WordsRepeated:  # now it is known where
            moments, unknown = moments_of(source, vocab, fitting.top)
        if vocab is not None:
            metadata["without_count"] = unknown
        return moments, source.name

    def _write(self, output: str, source: "RowSource", transform: "Transform") -> Metadata:
        """Applies the transform to the whole file; how many vectors are written, and how many of them became zero,
        which have no direction."""
        from wv_cli.transforms.whiten import TransformedRows
        from wv_cli.vectors.formats.streams import save_blocks

        rows, how = TransformedRows(source, transform), self.output
        save_blocks(
            output,
            rows.count,
            transform.new_dim,
            iter(rows),
            format=how.to_format,
            precision=how.precision,
            escape=how.escape,
        )
        return {"zero_vectors": rows.zero, "written": rows.count}

    def report(self, metadata: Mapping[str, Any]) -> str:
        """The figures as one line."""
        parts = []
        if "rows" in metadata:
            parts.append(f"fitted on {metadata['rows']:,} rows of {metadata['dim']} numbers")
        if metadata.get("without_count"):
            parts.append(f"{metadata['without_count']:,} words have no count and were left out")
        if "method" in metadata:
            parts.append(f"{metadata['method']}: {metadata['dim']} -> {metadata['new_dim']} dimensions")
            if metadata["rank"] < metadata["dim"]:
                parts.append(f"only {metadata['rank']} directions vary")
            if "expected_rows" in metadata:
                parts.append(
                    f"{metadata['rows']:,} rows are few, and similarities may suffer; give "
                    f"{metadata['expected_rows']:,}, a smaller --dim or --method soft"
                )
        if "written" in metadata:
            from wv_cli.commands.metadata import number_of

            parts.append(f"{metadata['output']}: {number_of(metadata['written'], 'row')}")
        if metadata.get("zero_vectors"):
            parts.append(f"{metadata['zero_vectors']:,} of them are zero")
        return "; ".join(parts)


def _first_flag(names: list[str]) -> str:
    return names[0] if names else ""
