"""`wv train --model supervised`: labeled lines in, a fastText classifier out."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import TrainingJob, Writer
from wv_cli.commands.part import internal
from wv_cli.commands.parts.continuation import Continuation
from wv_cli.commands.parts.first_vectors import PretrainedVectors
from wv_cli.commands.parts.outputs import Outputs
from wv_cli.commands.parts.phrases import PhraseJoining, found_phrases
from wv_cli.commands.parts.reading import LabeledReading
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.parts.search import SearchOptions, run_search
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen
from wv_cli.errors import UsageError
from wv_cli.io.compression import inner_name
from wv_cli.io.places import is_stream
from wv_cli.models.config import BALANCED, SupervisedConfig, require_uncut_labels

if TYPE_CHECKING:
    from wv_cli.commands.autotune import Plan
    from wv_cli.models.supervised import Supervised
    from wv_cli.models.training.run import Outcome
    from wv_cli.models.training.state import State
    from wv_cli.text.inputs import Texts
    from wv_cli.text.joining import Phrases
    from wv_cli.text.labeled import LabeledCorpus
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.fasttext import FastTextModel


@frozen
class SupervisedJob(TrainingJob):
    """Training of a classifier. With `fasttext_files` the outputs are those of a fastText run
    (wv_cli.vectors.formats.fasttext_write). `on_model` is given the FastTextModel."""

    READS_AS_IS: ClassVar[bool] = True
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
    reading: LabeledReading
    outputs: Outputs
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    first: PretrainedVectors = field(default_factory=PretrainedVectors)
    continuation: Continuation = field(default_factory=Continuation)
    resume: Resume = field(default_factory=Resume)
    search: SearchOptions = field(default_factory=SearchOptions)
    fasttext_files: bool = internal(False)
    on_model: Callable[[Any], None] | None = internal()

    def check(self) -> None:
        if (before := self.continuation.before) is not None:
            self.continuation.require_same(before, self.config, self.reading.word_options, self.FIXED)
        if self.config.class_weights not in ("", BALANCED):
            from wv_cli.models.class_weights import read_class_weights

            read_class_weights(self.config.class_weights)
        if len(self.reading.label_field) > 1:
            message = "--label-field: --model supervised answers one question; give one field, or --model pooled"
            raise UsageError(message)
        size = self.search.autotune_size
        ending = ".ftz" if size else ".bin"
        for path in self.outputs.outputs:
            if not (is_stream(path) or inner_name(path).endswith(ending) or self.fasttext_files):
                what = "quantized to --autotune-size " if size else ""
                message = f"{path}: a classifier {what}is written as a fastText model: name the output NAME{ending}"
                raise UsageError(message)
        tokenizing = self.reading.reading.tokenize_config
        require_uncut_labels(self.config.label_prefix, tokenizing is not None)
        if tokenizing is not None and (tokenizing.sentences or self.plan is not None):
            what = "sentences" if tokenizing.sentences else "--autotune-validation"
            raise UsageError(f"--tokenize and {what} cannot be used together for a classifier; run wv tokenize first")
        if self.plan is not None:
            if self.reading.words.lowercase:
                step = "make the texts lower case first: wv tokenize --words blanks --form none --lowercase"
                message = "--lowercase and --autotune-validation cannot be used together for a classifier"
                raise UsageError(f"{message}; {step}")
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
        return SupervisedRun(self, run).train()


@dataclass(frozen=True)
class SupervisedRun:
    """One run of the job."""

    job: SupervisedJob
    run: Run

    def train(self) -> "tuple[Outcome | None, Metadata]":
        """See Job.work: reads the text, searches for options if asked, trains, saves."""
        from wv_cli.commands.metadata import number_of, run_metadata
        from wv_cli.models.supervised import Supervised
        from wv_cli.models.training.state import read_state
        from wv_cli.text.input_files import expand_inputs, shared_file
        from wv_cli.text.labeled import empty_labeled
        from wv_cli.vectors import formats

        job, run = self.job, self.run
        begin, config, words_config = time.monotonic(), job.config, job.reading.words
        plan, path = job.plan, job.continuation.continue_
        if plan is not None:
            expand_inputs(self._texts(plan.validation))
            if (same := shared_file(job.reading.inputs, [plan.validation])) is not None:
                problem = "is among INPUT, so the search chooses options that learn it by heart"
                run.log(f"--autotune-validation: {same} {problem}; give other lines")
        first = job.first
        vectors = formats.load(first.pretrained, bad_rows=first.bad_rows) if first.pretrained else None
        state = read_state(path, Supervised.state_layout(config), labeled=True) if path else None
        joiner = job.phrases.joiner(run.log, job.reading.memory, no_phrase_begins=config.label_prefix)
        corpus = self.corpus(joiner, vectors, state)
        words, labels, lines = corpus.kept - corpus.added, len(corpus.labels), corpus.lines
        run.log(
            f"{corpus.tokens_read:,} tokens in {number_of(lines, 'line')}, {number_of(words, 'different word')} and "
            f"{number_of(labels, 'label')} ({time.monotonic() - begin:.1f} s to read)",
            tokens=corpus.tokens_read,
            lines=lines,
            vocabulary=words,
            labels=labels,
        )
        known = not run.is_resuming and job.continuation.has_seen_text(corpus.text, run.log)
        if known and state is not None and state.labels is not None:
            corpus = empty_labeled(state.vocab, state.labels)
        run.record_text_digest(corpus.text)
        if corpus.is_sorted_by_label():
            run.log(
                "the lines are sorted by label, which trains badly; shuffle them, for example with shuf", sorted=True
            )
        if rare := corpus.describe_rare_labels():
            run.log(rare)
        search, dsub = None, 2
        if plan is not None:
            from wv_cli.commands.autotune import LabelSearch

            texts, fits = self._texts(), job.require_disk_space
            search = LabelSearch(plan, config, words_config.min_count, corpus, vectors, texts, fits)
            stopped = run_search(search, run, resume=job.resume.resume)
            if stopped is not None:
                return stopped, {}
            config, dsub = search.best_config()
            vectors = vectors if vectors is None or vectors.dim == config.dim else None
        if state is not None:
            job.continuation.require_same(state.options, job.config, job.reading.word_options, job.FIXED)
            job.continuation.tell(len(state.vocab), corpus.kept, run.log)
            config = job.continuation.with_rate(config, state.options, len(corpus.ids), job.invocation.explicit)
        allocator = job.reading.matrices(job.beside, run.log)
        model = Supervised(config, words_config.min_count, corpus, vectors, state, allocator)
        del state  # as large as the model
        self._tell_model(model)
        outcome = run.train(model, threads=config.threads, advice=f"lower --lr (now {config.lr:g})")
        text: Metadata = {
            "digest": corpus.digest,
            "tokens_read": corpus.tokens_read,
            "lines": lines,
            "words": words,
            "labels": labels,
        }
        metadata = run_metadata(
            asdict(config),
            words_config,
            text,
            outcome,
            begin=begin,
            rows=len(model.input),
            **job.continuation.metadata(),
            **found_phrases(joiner),
        )
        if outcome.is_finished:
            trained = model.fasttext_model()
            if search is not None:
                trained = search.finish_model(trained, config, dsub)
                metadata["autotune"] = search.metadata()
            if job.on_model is not None:
                job.on_model(trained)
            writers = self._writers(model, trained, joiner, known=known)
            job.finish(run, job.results(), metadata, writers, last=job.continuation.save_state)
        return outcome, metadata

    def _texts(self, *others: str) -> "Texts":
        reading, prefix = self.job.reading, self.job.config.label_prefix
        return reading.texts(self.run.log, *others, written=self.job.writes(), labels=reading.labels(prefix))

    def _writers(
        self, model: "Supervised", trained: "FastTextModel", joiner: "Phrases | None", *, known: bool
    ) -> list[Writer]:
        from wv_cli.models.training.state import save_state
        from wv_cli.vectors.formats.fasttext_write import file_writers

        job = self.job
        continuation = job.continuation
        writers = [*job.phrases.writers(joiner), *file_writers(job.outputs.outputs, trained)]
        if continuation.save_state and continuation.leaves_state(known=known):
            config, words = model.config, job.reading.word_options
            learnt = 0 if known else config.epochs * len(model.corpus.ids)
            left = continuation.left_behind(
                "supervised", config, words, lr=job.config.lr, learnt=learnt, text=model.corpus.text
            )
            writers.append((continuation.save_state, partial(save_state, state=model.state(left))))
        return writers

    def corpus(
        self, joiner: "Phrases | None" = None, vectors: "Embeddings | None" = None, state: "State | None" = None
    ) -> "LabeledCorpus":
        from wv_cli.text.config import VocabConfig
        from wv_cli.text.continued_labels import extend_labeled
        from wv_cli.text.continued_vocabulary import decay_vocab
        from wv_cli.text.labeled import encode_labeled

        job = self.job
        also = vectors.words if vectors is not None and job.first.keep_words else None
        least, keep_dropped = job.config.min_count_label, job.config.uses_buckets or job.plan is not None
        grows, words_config = state is not None, job.reading.words
        corpus = encode_labeled(
            replace(self._texts(), advise=not self.run.is_resuming and state is None),
            VocabConfig(min_count=1, lowercase=words_config.lowercase) if grows else words_config,
            label_prefix=job.config.label_prefix,
            min_count_label=0 if grows else least,
            fewest_labels=1 if grows else 2,
            keep_dropped=keep_dropped,
            line_weights=job.config.line_weights,
            also=also,
            phrases=joiner,
            memory=job.phrases.ids_memory(job.reading.memory),
            spool_beside=job.beside,
            progress=self.run.on_reading,
            compute_digest=job.continuation.knows_texts,
        )
        if state is None or state.labels is None:
            return corpus
        words, labels = (decay_vocab(each, job.continuation.kept_fraction) for each in (state.vocab, state.labels))
        return extend_labeled(corpus, words, labels, words_config, min_count_label=least, keep_dropped=keep_dropped)

    def _tell_model(self, model: "Supervised") -> None:
        """Says what the model takes and refuses a disk that cannot hold it."""
        from wv_cli.commands.metadata import number_of

        job = self.job
        corpus, examples = model.corpus, model.survey["examples"]
        size = model.input.nbytes + model.output.nbytes
        left_out, text = corpus.lines - examples, corpus.nbytes + model.ngram_rows.nbytes
        self.run.log(
            f"{number_of(examples, 'line')} to learn from"
            + (f" ({left_out:,} have no label)" if left_out else "")
            + f"; needs {size / 1e6:,.0f} MB for the model, {text / 1e6:,.0f} MB for the text and its words",
            examples=examples,
            rows=len(model.input),
            model_bytes=size,
            text_bytes=text,
        )
        if job.first.pretrained and model.words_initialized:
            start = job.first.pretrained
            self.run.log(f"{model.words_initialized:,} of {corpus.kept:,} words start from {start}")
        job.require_disk_space(size)
