"""`wv train --model supervised`: labeled lines in, a fastText classifier out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import TrainingJob
from wv_cli.commands.part import internal
from wv_cli.commands.parts.continuation import Continuation
from wv_cli.commands.parts.first_vectors import PretrainedVectors
from wv_cli.commands.parts.outputs import Outputs
from wv_cli.commands.parts.phrases import PhraseJoining
from wv_cli.commands.parts.reading import Reading
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.parts.search import SearchOptions
from wv_cli.commands.run import Metadata, Run
from wv_cli.errors import UsageError
from wv_cli.io.compression import inner_name
from wv_cli.io.places import is_stream
from wv_cli.models.config import BALANCED, SupervisedConfig

if TYPE_CHECKING:
    from wv_cli.commands.autotune import Plan
    from wv_cli.models.training.run import Outcome


@dataclass(frozen=True, kw_only=True)
class SupervisedJob(TrainingJob):
    """Training of a classifier. With `fasttext_files` the outputs are those of a fastText run
    (wv_cli.vectors.formats.fasttext_files)."""

    # The options that the arrays of a state depend on.
    FIXED: ClassVar[tuple[str, ...]] = ("loss", "dim", "minn", "maxn", "word_ngrams", "buckets", "label_prefix")
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        # A search compares models that begin alike.
        "continue_": "not autotune_validation",
        # The validation file would need its phrases joined, too.
        **dict.fromkeys(("phrases", "learn_phrases"), "not autotune_validation"),
        # Pruned models are retrained on the text as it is.
        **dict.fromkeys(("dedup", "min_line"), "not autotune_size"),
        # Neither knows a weight from a word.
        "line_weights": "not autotune_size and not learn_phrases",
        # A search may end with a model that is pruned.
        "save_state": "not autotune_validation",
    }
    config: SupervisedConfig
    reading: Reading
    outputs: Outputs
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    first: PretrainedVectors = field(default_factory=PretrainedVectors)
    continuation: Continuation = field(default_factory=Continuation)
    resume: Resume = field(default_factory=Resume)
    search: SearchOptions = field(default_factory=SearchOptions)
    fasttext_files: bool = internal(False)

    def check(self) -> None:
        if (before := self.continuation.before) is not None:
            self.continuation.require_same(before, self.config, self.reading.word_options, self.FIXED)
        if self.config.class_weights not in ("", BALANCED):
            from wv_cli.models.class_weights import read_class_weights

            read_class_weights(self.config.class_weights)
        size = self.search.autotune_size
        ending = ".ftz" if size else ".bin"
        for path in self.outputs.outputs:
            if not (is_stream(path) or inner_name(path).endswith(ending) or self.fasttext_files):
                what = "quantized to --autotune-size " if size else ""
                message = f"{path}: a classifier {what}is written as a fastText model: name the output NAME{ending}"
                raise UsageError(message)
        tokenizing = self.reading.reading.tokenize_config
        if tokenizing is not None and (tokenizing.sentences or self.plan is not None):
            what = "sentences" if tokenizing.sentences else "--autotune-validation"
            raise UsageError(f"--tokenize and {what} cannot be used together for a classifier; run wv tokenize first")
        if self.plan is not None:
            self.plan.validate()
            if size and "-" in self.reading.inputs:
                message = "--autotune-size reads INPUT more than once, which standard input cannot do; give a file"
                raise UsageError(message)
        if self.reading.vocab:
            message = (
                "--vocab has no effect with --model supervised, which counts words and labels itself; leave it out"
            )
            raise UsageError(message)

    def reads(self) -> list[str]:
        weights = self.config.class_weights
        return [*super().reads(), *([weights] if weights not in ("", BALANCED) else [])]

    def reads_again(self) -> list[str]:
        """What trials are scored on, and the text that a pruned model is retrained on."""
        return [*self.search.reads(), *(self.reading.inputs if self.search.autotune_size else ())]

    @property
    def must_have_effect(self) -> Collection[str]:
        """A search may find word n-grams, whose buckets these are."""
        explicit = self.invocation.explicit
        return explicit if self.plan is None else tuple(name for name in explicit if name != "buckets")

    @property
    def plan(self) -> "Plan | None":
        return self.search.plan(self.beside)

    def work(self, run: Run) -> "tuple[Outcome | None, Metadata]":
        from wv_cli.commands.supervised_run import SupervisedRun

        return SupervisedRun(self, run).train()
