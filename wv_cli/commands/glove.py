"""`wv glove`: from a text or co-occurrence counts to GloVe vectors (count, order, train, save)."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from wv_cli.commands.distribution import dask_option, refuse_with_dask
from wv_cli.commands.job import TrainingJob, build
from wv_cli.commands.part import Part
from wv_cli.commands.parts.continuation import Continuation, inherit_options, state_of
from wv_cli.commands.parts.outputs import outputs_option, to_option
from wv_cli.commands.parts.phrases import PhraseJoining
from wv_cli.commands.parts.reading import Reading, SavedVocabulary
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.places import is_stream
from wv_cli.models.glove.config import MODEL, GloveConfig
from wv_cli.models.training.run import Outcome


@frozen
class GloveOutputs(Part):
    """`to` is the format of the `outputs`, whatever their names."""

    outputs: tuple[str, ...] = outputs_option(
        "Output file, whose ending chooses the format (.vec, .bin, .glove); - is standard output."
    )
    to: str | None = to_option()


@frozen
class Counts(Part):
    """The options about co-occurrence files. `counts` are read instead of a text, `save_counts` gets the counts of the
    run, and `counts_only` trains nothing."""

    counts: tuple[str, ...] = option(
        (),
        "Train on these co-occurrence counts (or their sum), mapped to --vocab.",
        metavar="FILE[:VOCAB]",
        role="read",
        group="Input",
    )
    save_counts: str | None = option(
        None, "Also write the counts as GloVe's 16-byte records, sorted.", role="result", group="Output"
    )
    counts_only: bool = option(False, "Stop after counting; needs --save-counts.", off=None, group="Output")

    def reads(self) -> list[str]:
        from wv_cli.models.glove.record_files import files_of_spec

        return [path for spec in self.counts for path in files_of_spec(spec)]


@frozen
class FirstRows(Part):
    """Initial values: raw numbers of GloVe's program in `init`, and its squared gradients."""

    group: ClassVar[str] = "Input"

    init: str | None = option(None, "Initialize from GloVe's vectors.bin (same vocabulary and --dim).", role="read")
    init_gradsq: str | None = option(None, "Initialize AdaGrad's sums from GloVe's gradsq.bin.", role="read")

    def check(self) -> None:
        if self.init_gradsq and not self.init:
            message = "--init-gradsq needs --init, the vectors it belongs to"
            raise UsageError(message)
        for path in self.reads():
            if is_stream(path):
                raise UsageError(f"{path}: expected a file of raw numbers, found a pipe or device; write it to a file")

    def begins_with(self) -> list[str]:
        return self.reads()


@frozen
class GloveReading(Reading):
    """The text to count, if any."""

    inputs: tuple[str, ...] = argument("[INPUT]...", (), role="read")
    memory: int | None = option(
        None,
        "Memory of the whole process; counts and matrices that exceed it go to disk.",
        low=1,
        metavar="SIZE",
        shown="1G",
        group="Run",
    )


@frozen
class GloveVocabulary(SavedVocabulary):
    """`save_vocab` gets the words in GloVe's format."""

    save_vocab: str | None = option(
        None, "Also save the vocabulary as `word count` lines in GloVe's format.", role="write", group="Output"
    )


@frozen
class GloveJob(TrainingJob):
    """Train GloVe vectors on INPUT (texts as for `wv train`) or on co-occurrence --counts.

    The command does the work of GloVe's vocab_count, cooccur, shuffle and glove. Ctrl-C, SIGTERM and --max-time save
    a checkpoint. --resume continues it exactly; the exit code is 130, 143 or 124.

    Python and the vocabulary need at least 60 MB of --memory. Training needs 16 bytes x --dim x words, which are
    kept in a file if they exceed --memory.

    With --dask, workers count parts of INPUT and this process trains. Every worker needs this version of wv and the
    same files at the same paths.
    """

    READS_AS_IS: ClassVar[bool] = True
    # The options that the arrays of a state depend on.
    FIXED: ClassVar[tuple[str, ...]] = ("dim", "window", "symmetric", "weighting")
    # What --counts have settle, and what needs a training. A state says how its counts were made, which a file of
    # counts does not.
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(
            (
                *("window", "symmetric", "weighting", "lowercase", "dedup", "min_line", "phrases", "learn_phrases"),
                *("field", "no_header", "tsv_quotes", "tokenize"),
            ),
            "not counts",
        ),
        **dict.fromkeys(
            GloveConfig.options().keys() - {"window", "symmetric", "weighting", "threads"}, "not counts_only"
        ),
        **dict.fromkeys(("init", "init_gradsq"), "not counts_only and not continue_"),
        **dict.fromkeys(("continue_", "save_state"), "not counts and not counts_only"),
        "to": "not counts_only",
        "vocab": "not continue_",
        "threads": "not dask or not counts_only",
    }

    SHOWS_TRAINING: ClassVar[bool] = False

    config: GloveConfig
    reading: GloveReading = field(default_factory=GloveReading)
    outputs: GloveOutputs = field(default_factory=GloveOutputs)
    vocabulary: GloveVocabulary = field(default_factory=GloveVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    counts: Counts = field(default_factory=Counts)
    first: FirstRows = field(default_factory=FirstRows)
    continuation: Continuation = field(default_factory=Continuation)
    resume: Resume = field(default_factory=Resume)
    dask: str | None = dask_option()

    def check(self) -> None:
        from wv_cli.vectors import formats

        if (before := self.continuation.before) is not None:
            self.continuation.require_same(before, self.config, self.reading.word_options, self.FIXED)
        counts, outputs = self.counts, self.outputs.outputs
        for wrong, message in [
            (not (self.reading.inputs or counts.counts), "INPUT is missing (or --counts FILE)"),
            (
                bool(self.reading.inputs and counts.counts),
                "INPUT and --counts cannot be used together: --counts trains on earlier counts; leave one out",
            ),
            (counts.counts_only and not counts.save_counts, "--counts-only needs --save-counts FILE"),
            (counts.counts_only and bool(outputs), "--counts-only trains nothing; leave -o out"),
            (
                counts.counts_only and bool(self.resume.given_options),
                f"--counts-only trains nothing; leave {' and '.join(self.resume.given_options)} out",
            ),
            (not counts.counts_only and not outputs, "-o FILE is missing (or --counts-only --save-counts FILE)"),
        ]:
            if wrong:
                raise UsageError(message)
        for path in outputs:
            formats.format_for_output(path, self.outputs.to)
        refuse_with_dask(
            self.dask,
            counts=counts.counts,
            continue_=self.continuation.continue_,
            dedup=self.reading.words.dedup,
            learn_phrases=self.phrases.learning.learn_phrases,
        )

    def figures(self, metadata: Mapping[str, Any]) -> str:
        return ""

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "GloveJob":
        """Options that are not explicit are those of the state that is continued."""
        path, explicit = options.get("continue_"), options.get("explicit", ())
        inherited = inherit_options(path, state_of(path, (MODEL,)), GloveConfig, explicit) if path else {}
        return build(cls, {**options, **inherited})

    @property
    def output_format(self) -> str | None:
        return self.outputs.to

    @property
    def trains(self) -> bool:
        return not self.counts.counts_only

    def work(self, run: Run) -> "tuple[Outcome | None, Metadata]":
        from wv_cli.commands.glove_run import GloveRun

        return GloveRun(self, run).train()
