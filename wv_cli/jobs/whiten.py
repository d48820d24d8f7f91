"""A run of `wv whiten`: which rows are fitted, which files are read and written, in which order.

Everything that can be refused is refused before the first row is read. Files of vectors pass through block by block.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.config import flag_of, option, require
from wv_cli.errors import UsageError, WvError
from wv_cli.formats.base import BadRowsName
from wv_cli.formats.streams import RowSource, WordsRepeated, save_blocks
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.parts.vectors import VectorOutput
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.output import write_together
from wv_cli.text.vocab import Vocab, read_vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import FEWEST_ROWS, Transform, fit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList


@dataclass(frozen=True, kw_only=True)
class WhitenInput(Part):
    """`inputs`: one file of vectors; under `merge` saved moments. An output appears when they have been read, so it may
    take the place of one."""

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(("from_format", "bad_rows"), "not merge")

    inputs: tuple[str, ...]
    merge: bool = False
    from_format: str | None = None
    bad_rows: BadRowsName = "error"

    def check(self) -> None:
        require(bool(self.inputs), "give a file of vectors")
        message = "give one file of vectors; several moments go with --merge"
        require(len(self.inputs) == 1 or self.merge, message)

    def reads(self) -> list[str]:
        return list(self.inputs)

    def open(self) -> RowSource:
        """The rows of the one input. Raises what RowSource raises."""
        return RowSource(self.inputs[0], format=self.from_format, bad_rows=self.bad_rows)


@dataclass(frozen=True, kw_only=True)
class Fitting(Part):
    """The data that the transform is fitted on, in this order of preference: the saved `moments`, the rows of `fit`,
    those of the input. Of rows the first `top` (None: all) are fitted, each once or as often as `counts`, a
    vocabulary file, says. `transform` is applied instead of a new one."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("fit", "top", "counts", "moments"), "method=whiten|zca|pca|soft|abtt")
    }

    fit: str | None = None
    top: int | None = option(None, low=1)
    counts: str | None = None
    moments: tuple[str, ...] = ()
    transform: str | None = None

    def reads(self) -> list[str]:
        return [*self.moments, *filter(None, [self.fit, self.counts, self.transform])]

    @property
    def given_options(self) -> list[str]:
        """The options that say what is fitted."""
        values = {"--fit": self.fit, "--top": self.top, "--counts": self.counts, "--moments": self.moments}
        return [name for name, value in values.items() if value]

    def check(self) -> None:
        others = [name for name in self.given_options if name != "--moments"]
        message = f"{_first_flag(others)} has no effect with --moments, which are fitted already; leave it out"
        require(not (self.moments and others), message)


@dataclass(frozen=True, kw_only=True)
class FittedOutputs(Part):
    """The files that get what was fitted."""

    save_moments: str | None = None
    save_transform: str | None = None

    def results(self) -> list[str]:
        return [path for path in (self.save_moments, self.save_transform) if path is not None]


@dataclass(frozen=True, kw_only=True)
class WhitenJob(Job):
    """The job of `wv whiten`. It writes no sidecars."""

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(WhitenConfig.options(), "output or save_transform")

    config: WhitenConfig
    source: WhitenInput
    fitting: Fitting = field(default_factory=Fitting)
    output: VectorOutput = field(default_factory=VectorOutput)
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
            message = "--merge joins moments; apply them with --moments FILE IN -o OUT"
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
        return [*self.source.inputs, *self.fitting.moments]

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Fits, saves, applies. Says nothing; the metadata are the figures of the run."""
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

    def _moments(self, source: RowSource, metadata: Metadata) -> tuple[Moments, str]:
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

    def _write(self, output: str, source: RowSource, transform: Transform) -> Metadata:
        """Applies the transform to the whole file; how many vectors are written, and how many of them became zero,
        which have no direction."""

        zero = 0

        def blocks() -> Iterator[Embeddings]:
            nonlocal zero
            for block in source.distinct():
                result = transform.apply(block.matrix)
                zero += int(np.count_nonzero(~result.any(axis=1)))
                yield Embeddings(block.words, result)

        source.look_for_repeated()  # the header says how many rows there are
        written = source.rows - source.repeated_rows
        save_blocks(
            output,
            written,
            transform.new_dim,
            blocks(),
            format=self.output.to_format,
            precision=self.output.precision,
            escape=self.output.escape,
        )
        return {"zero_vectors": zero, "written": written}


def _first_flag(names: list[str]) -> str:
    return names[0] if names else ""


def moments_of(source: RowSource, vocab: Vocab | None = None, top: int | None = None) -> tuple[Moments, int]:
    """The moments of the distinct rows, and how many of them `vocab` does not list. Only the first `top` count (None:
    all). With `vocab` each row has the weight of its word's count, 0 for an unlisted word."""
    moments, unknown = Moments.none(source.dim), 0
    for block in source.distinct(top):
        weights = None
        if vocab is not None:
            weights = _counts(block.words, vocab)
            unknown += int(np.count_nonzero(weights == 0))
        moments = moments.with_rows(block.matrix, weights)
    return moments, unknown


def _counts(words: WordList, vocab: Vocab) -> NDArray[np.float64]:
    ids = vocab.words.find_all(words)
    return np.where(ids >= 0, vocab.counts[np.maximum(ids, 0)], 0).astype(np.float64)


def joined_moments(paths: tuple[str, ...]) -> Moments:
    """The sum of the moments of several files. Raises WvError when their dimensions differ."""
    first, *others = paths
    moments = Moments.load(first)
    for path in others:
        more = Moments.load(path)
        if more.dim != moments.dim:
            message = f"{path}: expected moments of {moments.dim} dimensions as in {first}, found {more.dim}"
            raise WvError(message)
        moments = moments.merge(more)
    return moments
