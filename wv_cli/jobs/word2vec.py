"""`wv train` of word vectors: a text in, word2vec's or fastText's vectors out.

The parts are checked by themselves; Word2vecJob checks what two of them must know of each other. What is written in the
end is in word_outputs.py, the best epoch in validation.py.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from wv_cli import formats
from wv_cli.config import require
from wv_cli.engine.run import Outcome
from wv_cli.engine.state import State, read_state, save_state
from wv_cli.formats import fasttext_bin
from wv_cli.formats.fasttext_files import file_writers
from wv_cli.jobs.job import Job, Writer
from wv_cli.jobs.metadata import corpus_metadata, number_of, run_metadata, tell_corpus
from wv_cli.jobs.part import Part, SidecarOption
from wv_cli.jobs.parts.continuation import Continuation
from wv_cli.jobs.parts.phrases import PhraseJoining, found_phrases
from wv_cli.jobs.parts.reading import Reading, SavedVocabulary
from wv_cli.jobs.parts.resume import Resume
from wv_cli.jobs.parts.validation import Validation
from wv_cli.jobs.run import Metadata, Run
from wv_cli.jobs.word_outputs import WordOutputs
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.deterministic import DeterministicWord2vec, deterministic_metadata
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.presets import WORD_PRESETS, Member
from wv_cli.models.subwords import Subwords, counts_with_line_end
from wv_cli.models.word2vec import Word2vec
from wv_cli.system.matrices import MatrixAllocator
from wv_cli.system.output import check_writable
from wv_cli.text.continued_vocabulary import decay_vocab
from wv_cli.text.corpus import Corpus, empty_corpus, encode
from wv_cli.text.joining import Phrases
from wv_cli.text.vocab import write_vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import BadRowsName

if TYPE_CHECKING:
    from wv_cli.jobs.validation import Items, Validated

_LEAST_DIM = 100  # of a model among several
_BYTES_PER_TEXT_FLOAT = 10
_ONE_MODEL = "preset=" + "|".join(name for name, preset in WORD_PRESETS.items() if not preset.members)
# The options that the arrays of a state depend on.
_FIXED = ("loss", "dim", "minn", "maxn", "buckets")


@dataclass(frozen=True, kw_only=True)
class FirstVectors(Part):
    """Initial vectors: words that the file `init` lists start from its vectors; with `keep_words` its other words are
    in the model, too."""

    init: str | None = None
    bad_rows: BadRowsName = "error"
    keep_words: bool = False

    def reads(self) -> list[str]:
        return [self.init] if self.init else []

    def begins_with(self) -> list[str]:
        return self.reads()


@dataclass(frozen=True, kw_only=True)
class Word2vecJob(Job):
    """Training of word vectors. A `preset` of several models trains them one after the other and combines their
    vectors."""

    invocation: SidecarOption = field(default_factory=SidecarOption)
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        "continue_": _ONE_MODEL,
        "to": "not classes",
        "validation": f"epochs>0 and {_ONE_MODEL}",
        "vocab": "not continue_ and not keep_words",
        "bad_rows": "init",
        "keep_words": "init and not phrases and not learn_phrases",
        "init": f"not continue_ and {_ONE_MODEL}",
        # What tells the models of a preset apart, or belongs to one model.
        **dict.fromkeys(("loss", "minn", "maxn", "save_output_vectors", "save_state"), _ONE_MODEL),
    }
    config: Word2vecConfig
    reading: Reading
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    outputs: WordOutputs
    first: FirstVectors = field(default_factory=FirstVectors)
    continuation: Continuation = field(default_factory=Continuation)
    resume: Resume = field(default_factory=Resume)
    validation: Validation = field(default_factory=Validation)
    preset: str = "word2vec"

    def check(self) -> None:
        if (before := self.continuation.before) is not None:
            self.continuation.require_same(before, self.config, self.reading.word_options, _FIXED)
        for model in self.models:
            model.validate()
        if len(self.models) > 1:
            message = f"--preset {self.preset} trains skip-gram and CBOW; leave --model {self.config.model} out"
            require(self.config.model == "skipgram", message)
            to = self.outputs.to
            message = f"--to {to}: --preset {self.preset} gives vectors, not a model; choose a vector format"
            require(to != fasttext_bin.FORMAT.name, message)
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

    @property
    def kind(self) -> type[Word2vec]:
        return DeterministicWord2vec if self.config.deterministic else Word2vec

    @property
    def steps_at_once(self) -> int:
        """Number of concurrent steps; a deterministic run has one, which all threads train."""
        return 1 if self.config.deterministic else self.config.threads

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, trains, saves."""
        begin, config = time.monotonic(), self.config
        items = self._items()
        init = formats.load(self.first.init, bad_rows=self.first.bad_rows) if self.first.init else None
        path = self.continuation.continue_
        state = read_state(path, Word2vec.state_layout(config)) if path else None
        joiner = self.phrases.joiner(run.log, self.reading.memory)
        corpus = self._corpus(run, joiner, init, state)
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        self.outputs.check_words(corpus.vocab.words)
        known = not run.is_resuming and self.continuation.has_seen_text(corpus.text, run.log)
        if known and state is not None:
            corpus = empty_corpus(state.vocab)
        run.record_text_digest(corpus.text)
        if self.vocabulary.save_vocab:
            write_vocab(self.vocabulary.save_vocab, corpus.vocab)
        if self.outputs.fasttext_files:
            _tell_words_and_labels(corpus, run)
        if state is not None:
            self.continuation.require_same(state.options, self.config, self.reading.word_options, _FIXED)
            self.continuation.tell(len(state.vocab), len(corpus.vocab), run.log)
            config = self.continuation.with_rate(config, state.options, corpus.tokens, self.invocation.explicit)
        model = self._model(run, config, corpus, init, state)
        del state  # as large as the model
        advice = f"lower --lr (now {config.start_lr:g})" + ("" if config.cbow_mean else " or use --cbow-mean")
        validated = self._validation_of(model, items, run) if not known else None
        trained, after_epoch = (validated, validated.after_epoch) if validated else (model, None)
        first_step = run.first_step(trained)
        outcome = run.train(
            trained,
            first_step,
            threads=self.steps_at_once,
            advice=advice,
            on_progress=run.on_progress,
            after_epoch=after_epoch,
        )
        metadata = run_metadata(
            {**asdict(config), "lr": config.start_lr},
            self.reading.words,
            corpus_metadata(corpus),
            outcome,
            first_step=first_step,
            begin=begin,
            **({"models": [asdict(each) for each in self.models]} if len(self.models) > 1 else {}),
            **(deterministic_metadata() if config.deterministic else {}),
            **self.metadata(),
            **found_phrases(joiner),
        )
        if outcome.is_finished:
            if validated:
                metadata["validation"] = validated.keep_best()
            self.finish(
                run,
                self.results(),
                metadata,
                self._writers(model, joiner, known=known),
                last=self.continuation.save_state,
            )
        return outcome, metadata

    def _corpus(self, run: Run, joiner: Phrases | None, init: Embeddings | None, state: State | None) -> Corpus:
        reading = self.reading
        return encode(
            reading.texts(run.log, written=self.writes()),
            reading.words,
            vocab=reading.vocabulary(),
            marked=reading.marked,
            also=init.words if init is not None and self.first.keep_words else None,
            older=decay_vocab(state.vocab, self.continuation.kept_fraction) if state is not None else None,
            phrases=joiner,
            memory=self.phrases.ids_memory(reading.memory),
            spool_beside=self.beside,
            progress=run.on_reading,
            compute_digest=self.continuation.knows_texts,
        )

    def _items(self) -> "Items | None":
        """What epochs are scored on. Evaluation is imported for it alone: most trainings score nothing."""
        path = self.validation.validation
        if path is None:
            return None
        from wv_cli.jobs.validation import Items

        return Items.read(path)

    def _validation_of(self, model: Word2vec | Ensemble, items: "Items | None", run: Run) -> "Validated | None":
        if not (self.validation.validation and items and isinstance(model, Word2vec)):
            return None
        from wv_cli.jobs.validation import Validated

        return Validated(model, items, self.validation.patience or 0, run.log)

    def _model(
        self, run: Run, config: Word2vecConfig, corpus: Corpus, init: Embeddings | None, state: State | None
    ) -> Word2vec | Ensemble:
        """The model, of this config, or the models of the preset, ready to be trained."""
        models = [config] if len(self.models) == 1 else self.models
        subwords = [Subwords.from_words(corpus.vocab.words, each) for each in models]
        allocator = self._predict(run, corpus, models, subwords)
        made = [
            self.kind(each, corpus, init, its, state, allocator) for each, its in zip(models, subwords, strict=True)
        ]
        if init is not None:
            ngrams = made[0].ngrams_initialized
            also = f" and {number_of(ngrams, 'n-gram')}" if ngrams else ""
            words = f"{made[0].words_initialized:,} of {len(corpus.vocab):,} words"
            run.log(f"{words}{also} start from {self.first.init}")
        return Ensemble(made) if self.members else made[0]

    def _predict(
        self, run: Run, corpus: Corpus, models: list[Word2vecConfig], subwords: list[Subwords | None]
    ) -> MatrixAllocator:
        """Where the matrices will be. Says what the run will need and refuses what cannot work, before they are
        allocated."""
        words, dim = len(corpus.vocab), self.config.dim
        each = list(zip(models, subwords, strict=True))
        matrices = sum(self.kind.bytes_needed(config, words, its, corpus.tokens) for config, its in each)
        saved = sum(Word2vec.checkpoint_bytes(config, words, its) for config, its in each)
        allocator = self.reading.matrices(self.beside, run.log)
        lower = "--dim or --threads" if self.config.threads > 1 else "--dim"  # each thread copies rows
        allocator.require(matrices, saved, f"lower {lower} or raise --min-count")
        saved *= 2 if self.validation.validation else 1
        run.log(
            f"needs {matrices / 1e6:,.0f} MB for the model{'s' * (len(each) > 1)} and {corpus.nbytes / 1e6:,.0f} MB "
            f"for the text and its words, {saved / 1e6:,.0f} MB of disk for a checkpoint",
            model_bytes=matrices,
            text_bytes=corpus.nbytes,
            checkpoint_bytes=saved,
        )
        for path in self.outputs.outputs:
            check_writable(path, words * (dim * _BYTES_PER_TEXT_FLOAT + 8), read_only="")
        if self.checkpoint_path:
            check_writable(self.checkpoint_path, saved, read_only="")
        return allocator

    def _writers(self, model: Word2vec | Ensemble, joiner: Phrases | None, *, known: bool) -> list[Writer]:
        phrases, min_count = self.phrases.writers(joiner), self.reading.words.min_count
        if isinstance(model, Ensemble):
            return [*phrases, *self.outputs.ensemble_writers(model, self.members, self.config)]
        if self.outputs.fasttext_files:
            return file_writers(self.outputs.outputs, model.fasttext_model(min_count))
        writers = [*phrases, *self.outputs.writers(model, min_count)]
        if self.continuation.save_state and self.continuation.leaves_state(known=known):
            config, words = model.config, self.reading.word_options
            learnt = config.epochs * model.corpus.tokens
            left = self.continuation.left_behind(
                config.model, config, words, lr=config.start_lr, learnt=learnt, text=model.corpus.text
            )
            writers.append((self.continuation.save_state, partial(save_state, state=model.state(left))))
        return writers


def _tell_words_and_labels(corpus: Corpus, run: Run) -> None:
    """As fastText counts them."""
    words, labels = len(counts_with_line_end(corpus.vocab)[0]) - corpus.added, len(corpus.labels)
    tokens = corpus.vocab.tokens_read + corpus.vocab.lines
    run.log(
        f"{words:,} words in the model, `</s>` among them, and {labels:,} labels",
        tokens=tokens,
        vocabulary=words,
        labels=labels,
    )
