"""A training of word vectors: reads the text, trains, writes the outputs (word_outputs.py). validation.py has the best
epoch."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from wv_cli.commands.job import Writer
from wv_cli.commands.metadata import corpus_metadata, number_of, run_metadata, tell_corpus
from wv_cli.commands.parts.phrases import found_phrases
from wv_cli.commands.run import Metadata, Run
from wv_cli.commands.word_outputs import WordOutputs
from wv_cli.io.matrices import MatrixAllocator
from wv_cli.io.output import check_writable, open_output
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.deterministic import DeterministicWord2vec, deterministic_metadata
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.presets import Member
from wv_cli.models.subwords import Subwords, counts_with_line_end
from wv_cli.models.training.run import Outcome
from wv_cli.models.training.state import State, read_state, save_state
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.continued_vocabulary import decay_vocab
from wv_cli.text.corpus import Corpus, empty_corpus, encode
from wv_cli.text.joining import Phrases
from wv_cli.text.vocab import SENTENCE_END, write_vocab
from wv_cli.transforms.clusters import word_classes
from wv_cli.transforms.ensemble import as_long_as, concatenate, plus_contexts
from wv_cli.vectors import formats
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import fasttext_bin
from wv_cli.vectors.formats.fasttext_write import file_writers
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word

if TYPE_CHECKING:
    from wv_cli.commands.validation import Items, Validated
    from wv_cli.commands.word2vec import Word2vecJob


def model_writers(outputs: WordOutputs, model: Word2vec, min_count: int) -> list[Writer]:
    """The output files, each with the function that writes it; fastText's models record `min_count`."""
    found: list[Writer] = [(path, partial(_save_words, outputs, model, min_count)) for path in outputs.outputs]
    if outputs.save_output_vectors:
        save = partial(formats.save, embeddings=model.output_embeddings(), format=outputs.format)
        found.append((outputs.save_output_vectors, save))
    return found


def ensemble_writers(
    outputs: WordOutputs, ensemble: Ensemble, members: Sequence[Member], config: Word2vecConfig
) -> list[Writer]:
    """The output files of several models, whose vectors are combined to `config.dim` numbers a word."""
    vectors = _concatenate_members(ensemble, members, config.dim)
    return [(path, partial(_save_vectors, outputs, vectors, config.seed)) for path in outputs.outputs]


def _save_words(outputs: WordOutputs, model: Word2vec, min_count: int, path: str) -> None:
    if outputs.writes_model(path, model.config):
        fasttext_bin.save_model(path, model.fasttext_model(min_count))
    else:
        _save_vectors(outputs, model.embeddings(), model.config.seed, path)


def _save_vectors(outputs: WordOutputs, vectors: Embeddings, seed: int, path: str) -> None:
    if outputs.line_ends:
        vectors = with_line_end(vectors, seed)
    if outputs.classes:
        _save_classes(path, vectors, outputs.classes)
    else:
        formats.save(path, vectors, format=outputs.to)


def _concatenate_members(ensemble: Ensemble, members: Sequence[Member], dim: int) -> Embeddings:
    """The vectors of several models as one of `dim` numbers a word."""
    rows = [model.embeddings().matrix for model in ensemble.models]
    parts = [
        plus_contexts(words, model.output_embeddings().matrix) if member.with_contexts else words
        for words, model, member in zip(rows, ensemble.models, members, strict=True)
    ]
    (lengths,) = (words for words, member in zip(rows, members, strict=True) if member.gives_length)
    return Embeddings(ensemble.models[0].corpus.vocab.words, as_long_as(concatenate(parts, dim), lengths))


def with_line_end(vectors: Embeddings, seed: int) -> Embeddings:
    """The vectors with a first row `</s>`, which is as random as all rows were at the start: word2vec trains none for
    it."""
    row = np.random.default_rng(seed + 1).random((1, vectors.dim), np.float32) - np.float32(0.5)
    blob, starts = SENTENCE_END + vectors.words.blob, vectors.words.starts - vectors.words.starts[0]
    words = WordList(blob, np.concatenate([[0], starts + len(SENTENCE_END)]))
    return Embeddings(words, np.concatenate([row / np.float32(vectors.dim), vectors.matrix]))


def _save_classes(path: str, embeddings: Embeddings, classes: int) -> None:
    assigned = word_classes(embeddings, classes)
    with open_output(path) as stream:
        for word, number in zip(embeddings.words, assigned, strict=True):
            stream.write(encode_word(word) + b" %d\n" % number)


_BYTES_PER_TEXT_FLOAT = 10


@dataclass(frozen=True)
class Word2vecRun:
    """One run of the job."""

    job: "Word2vecJob"
    run: Run

    @property
    def kind(self) -> type[Word2vec]:
        return DeterministicWord2vec if self.job.config.deterministic else Word2vec

    @property
    def steps_at_once(self) -> int:
        """Number of concurrent steps; a deterministic run has one, which all threads train."""
        return 1 if self.job.config.deterministic else self.job.config.threads

    def train(self) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, trains, saves."""
        job, run = self.job, self.run
        begin, config = time.monotonic(), job.config
        items = self._items()
        init = formats.load(job.first.init, bad_rows=job.first.bad_rows) if job.first.init else None
        path = job.continuation.continue_
        state = read_state(path, Word2vec.state_layout(config)) if path else None
        joiner = job.phrases.joiner(run.log, job.reading.memory)
        corpus = self._corpus(joiner, init, state)
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        job.outputs.check_words(corpus.vocab.words)
        known = not run.is_resuming and job.continuation.has_seen_text(corpus.text, run.log)
        if known and state is not None:
            corpus = empty_corpus(state.vocab)
        run.record_text_digest(corpus.text)
        if job.vocabulary.save_vocab:
            write_vocab(job.vocabulary.save_vocab, corpus.vocab)
        if job.outputs.fasttext_files:
            _tell_words_and_labels(corpus, run)
        if state is not None:
            job.continuation.require_same(state.options, job.config, job.reading.word_options, job.FIXED)
            job.continuation.tell(len(state.vocab), len(corpus.vocab), run.log)
            config = job.continuation.with_rate(config, state.options, corpus.tokens, job.invocation.explicit)
        model = self._model(config, corpus, init, state)
        del state  # as large as the model
        advice = f"lower --lr (now {config.start_lr:g})" + ("" if config.cbow_mean else " or use --cbow-mean")
        validated = self._validation_of(model, items, run) if not known else None
        trained, after_epoch = (validated, validated.after_epoch) if validated else (model, None)
        outcome = run.train(trained, threads=self.steps_at_once, advice=advice, after_epoch=after_epoch)
        metadata = run_metadata(
            {**asdict(config), "lr": config.start_lr},
            job.reading.words,
            corpus_metadata(corpus),
            outcome,
            begin=begin,
            **({"models": [asdict(each) for each in job.models]} if len(job.models) > 1 else {}),
            **(deterministic_metadata() if config.deterministic else {}),
            **job.continuation.metadata(),
            **found_phrases(joiner),
        )
        if outcome.is_finished:
            if validated:
                metadata["validation"] = validated.keep_best()
            job.finish(
                run,
                job.results(),
                metadata,
                self._writers(model, joiner, known=known),
                last=job.continuation.save_state,
            )
        return outcome, metadata

    def _corpus(self, joiner: Phrases | None, init: Embeddings | None, state: State | None) -> Corpus:
        job = self.job
        reading = job.reading
        return encode(
            reading.texts(self.run.log, written=job.writes(), advise=not self.run.is_resuming and state is None),
            reading.words,
            vocab=reading.vocabulary(),
            marked=reading.marked,
            also=init.words if init is not None and job.first.keep_words else None,
            older=decay_vocab(state.vocab, job.continuation.kept_fraction) if state is not None else None,
            phrases=joiner,
            memory=job.phrases.ids_memory(reading.memory),
            spool_beside=job.beside,
            progress=self.run.on_reading,
            compute_digest=job.continuation.knows_texts,
        )

    def _items(self) -> "Items | None":
        """What epochs are scored on. Evaluation is imported for it alone: most trainings score nothing."""
        path = self.job.validation.validation
        if path is None:
            return None
        from wv_cli.commands.validation import Items

        return Items.read(path)

    def _validation_of(self, model: Word2vec | Ensemble, items: "Items | None", run: Run) -> "Validated | None":
        if not (self.job.validation.validation and items and isinstance(model, Word2vec)):
            return None
        from wv_cli.commands.validation import Validated

        return Validated(model, items, self.job.validation.patience or 0, self.run.log)

    def _model(
        self, config: Word2vecConfig, corpus: Corpus, init: Embeddings | None, state: State | None
    ) -> Word2vec | Ensemble:
        """The model, of this config, or the models of the preset, ready to be trained."""
        job = self.job
        models = [config] if len(job.models) == 1 else job.models
        subwords = [Subwords.from_words(corpus.vocab.words, each) for each in models]
        allocator = self._predict(corpus, models, subwords)
        made = [
            self.kind(each, corpus, init, its, state, allocator) for each, its in zip(models, subwords, strict=True)
        ]
        if init is not None:
            ngrams = made[0].ngrams_initialized
            also = f" and {number_of(ngrams, 'n-gram')}" if ngrams else ""
            words = f"{made[0].words_initialized:,} of {len(corpus.vocab):,} words"
            self.run.log(f"{words}{also} start from {job.first.init}")
        return Ensemble(made) if job.members else made[0]

    def _predict(
        self, corpus: Corpus, models: list[Word2vecConfig], subwords: list[Subwords | None]
    ) -> MatrixAllocator:
        """Where the matrices will be. Says what the run will need and refuses what cannot work, before they are
        allocated."""
        job = self.job
        words, dim = len(corpus.vocab), job.config.dim
        each = list(zip(models, subwords, strict=True))
        matrices = sum(self.kind.bytes_needed(config, words, its, corpus.tokens) for config, its in each)
        saved = sum(Word2vec.checkpoint_bytes(config, words, its) for config, its in each)
        allocator = job.reading.matrices(job.beside, self.run.log)
        lower = "--dim or --threads" if job.config.threads > 1 else "--dim"  # each thread copies rows
        allocator.require(matrices, saved, f"lower {lower} or raise --min-count")
        saved *= 2 if job.validation.validation else 1
        self.run.log(
            f"needs {matrices / 1e6:,.0f} MB for the model{'s' * (len(each) > 1)} and {corpus.nbytes / 1e6:,.0f} MB "
            f"for the text and its words, {saved / 1e6:,.0f} MB of disk for a checkpoint",
            model_bytes=matrices,
            text_bytes=corpus.nbytes,
            checkpoint_bytes=saved,
        )
        for path in job.outputs.outputs:
            check_writable(path, words * (dim * _BYTES_PER_TEXT_FLOAT + 8), read_only="")
        if job.checkpoint_path:
            check_writable(job.checkpoint_path, saved, read_only="")
        return allocator

    def _writers(self, model: Word2vec | Ensemble, joiner: Phrases | None, *, known: bool) -> list[Writer]:
        job = self.job
        phrases, min_count = job.phrases.writers(joiner), job.reading.words.min_count
        if isinstance(model, Ensemble):
            return [*phrases, *ensemble_writers(job.outputs, model, job.members, job.config)]
        if job.outputs.fasttext_files:
            trained = model.fasttext_model(min_count)
            if job.on_model is not None:
                job.on_model(trained)
            return file_writers(job.outputs.outputs, trained)
        writers = [*phrases, *model_writers(job.outputs, model, min_count)]
        if job.continuation.save_state and job.continuation.leaves_state(known=known):
            config, words = model.config, job.reading.word_options
            learnt = config.epochs * model.corpus.tokens
            left = job.continuation.left_behind(
                config.model, config, words, lr=config.start_lr, learnt=learnt, text=model.corpus.text
            )
            writers.append((job.continuation.save_state, partial(save_state, state=model.state(left))))
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
