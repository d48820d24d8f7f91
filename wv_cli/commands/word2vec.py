"""`wv train` of word vectors: a text in, word2vec's or fastText's vectors out.

The parts are checked by themselves; Word2vecJob checks what two of them must know of each other. The training is in
word2vec_run.py.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import TrainingJob
from wv_cli.commands.part import internal
from wv_cli.commands.parts.continuation import Continuation
from wv_cli.commands.parts.first_vectors import ONE_MODEL, InitialVectors
from wv_cli.commands.parts.phrases import PhraseJoining
from wv_cli.commands.parts.reading import Reading, SavedVocabulary
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.parts.validation import Validation
from wv_cli.commands.run import Metadata, Run
from wv_cli.commands.word_outputs import WordOutputs
from wv_cli.config import frozen, require
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.presets import WORD_PRESETS, Member

if TYPE_CHECKING:
    from wv_cli.models.training.run import Outcome

_LEAST_DIM = 100  # of a model among several


@frozen
class Word2vecJob(TrainingJob):
    """Training of word vectors. A `preset` of several models trains them one after the other and combines their
    vectors. With `fasttext_files` `on_model` is given the FastTextModel."""

    READS_AS_IS: ClassVar[bool] = True
    # The options that the arrays of a state depend on.
    FIXED: ClassVar[tuple[str, ...]] = ("loss", "dim", "minn", "maxn", "buckets")
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        "continue_": ONE_MODEL,
        "to": "not classes",
        "validation": f"epochs>0 and {ONE_MODEL}",
        "vocab": "not continue_ and not keep_words",
        # What tells the models of a preset apart, or belongs to one model.
        **dict.fromkeys(("loss", "minn", "maxn", "save_output_vectors", "save_state"), ONE_MODEL),
    }
    config: Word2vecConfig
    reading: Reading
    outputs: WordOutputs
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    first: InitialVectors = field(default_factory=InitialVectors)
    continuation: Continuation = field(default_factory=Continuation)
    resume: Resume = field(default_factory=Resume)
    validation: Validation = field(default_factory=Validation)
    preset: str = internal("word2vec")
    on_model: Callable[[Any], None] | None = internal()

    def check(self) -> None:
        if (before := self.continuation.before) is not None:
            self.continuation.require_same(before, self.config, self.reading.word_options, self.FIXED)
        for model in self.models:
            model.validate()
        if len(self.models) > 1:
            message = f"--preset {self.preset} trains skip-gram and CBOW; leave --model {self.config.model} out"
            require(self.config.model == "skipgram", message)
            to = self.outputs.to
            message = f"--to {to}: --preset {self.preset} gives vectors, not a model; choose a vector format"
            require(to != "fasttext-bin", message)
        self.outputs.check_formats(self.config)

    @property
    def output_format(self) -> str | None:
        return self.outputs.format

    @property
    def members(self) -> tuple[Member, ...]:
        """The models of the preset; none: there is one, of `config`."""
        return WORD_PRESETS.find(self.preset).members

    @cached_property
    def models(self) -> list[Word2vecConfig]:
        """What is trained: `config`, or every model of the preset, explicit options in the place of its own. Each has
        as many numbers as make `dim` together, but not so few that it learns little."""
        if not self.members:
            return [self.config]
        dim = max(_LEAST_DIM, -(-self.config.dim // len(self.members)))
        explicit = self.invocation.explicit
        own = [{name: value for name, value in each.changes.items() if name not in explicit} for each in self.members]
        return [replace(self.config, **{**model, "dim": dim}) for model in own]

    def work(self, run: Run) -> "tuple[Outcome | None, Metadata]":
        from wv_cli.commands.word2vec_run import Word2vecRun

        return Word2vecRun(self, run).train()
