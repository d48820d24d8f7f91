"""`wv train` of models whose vectors are those of whole texts: sent2vec and doc2vec."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, ClassVar

from wv_cli import formats
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import Savable
from wv_cli.errors import UsageError
from wv_cli.formats.document_models import DOC2VEC, ENDINGS, SENT2VEC, save_model
from wv_cli.jobs.job import Job, Writer
from wv_cli.jobs.metadata import corpus_metadata, run_metadata, tell_corpus
from wv_cli.jobs.part import Part
from wv_cli.jobs.parts.outputs import Outputs
from wv_cli.jobs.parts.phrases import PhraseJoining, found_phrases
from wv_cli.jobs.parts.reading import Reading, SavedVocabulary
from wv_cli.jobs.parts.resume import Resume
from wv_cli.jobs.run import Metadata, Run
from wv_cli.models.doc2vec import Doc2vec
from wv_cli.models.sent2vec import Sent2vec
from wv_cli.models.sentence_config import Doc2vecConfig, Sent2vecConfig
from wv_cli.system.compression import inner_name
from wv_cli.system.matrices import MatrixAllocator
from wv_cli.text.corpus import Corpus, encode
from wv_cli.text.vocab import write_vocab
from wv_cli.vectors.embeddings import Embeddings

Model = Sent2vec | Doc2vec


@dataclass(frozen=True, kw_only=True)
class DocumentVectors(Part):
    """The output of document vectors: `doc_vectors` gets the vectors of the text's lines, named 0, 1, 2."""

    # The vectors of lines are called by the lines' numbers in the text.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(("dedup", "min_line"), "not doc_vectors")

    doc_vectors: str | None = None

    def results(self) -> list[str]:
        return [self.doc_vectors] if self.doc_vectors else []

    def writers(self, model: Model) -> list[Writer]:
        if not self.doc_vectors:
            return []
        assert isinstance(model, Doc2vec)
        return [(self.doc_vectors, partial(formats.save, embeddings=model.document_vectors()))]


@dataclass(frozen=True, kw_only=True)
class Sent2vecJob(Job):
    """Training of sent2vec. Outputs named NAME.s2v get the model; others get its word vectors in the format of their
    ending."""

    config: Sent2vecConfig
    reading: Reading
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    outputs: Outputs
    resume: Resume = field(default_factory=Resume)

    def check(self) -> None:
        _check_names(self.outputs.outputs, ENDINGS[SENT2VEC])

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, trains, saves."""

        def made(corpus: Corpus, allocator: MatrixAllocator) -> Model:
            return Sent2vec(self.config, corpus, lowercase=self.reading.words.lowercase, allocator=allocator)

        return _train(self, run, ENDINGS[SENT2VEC], made, _ngram_rows)


@dataclass(frozen=True, kw_only=True)
class Doc2vecJob(Job):
    """Training of doc2vec. Outputs named NAME.d2v get the model; others get its word vectors in the format of their
    ending."""

    config: Doc2vecConfig
    reading: Reading
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    outputs: Outputs
    documents: DocumentVectors = field(default_factory=DocumentVectors)
    resume: Resume = field(default_factory=Resume)

    def check(self) -> None:
        _check_names(self.outputs.outputs, ENDINGS[DOC2VEC])
        if self.documents.doc_vectors:
            formats.format_for_output(self.documents.doc_vectors, None)

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, trains, saves."""

        def made(corpus: Corpus, allocator: MatrixAllocator) -> Model:
            return Doc2vec(self.config, corpus, lowercase=self.reading.words.lowercase, allocator=allocator)

        return _train(self, run, ENDINGS[DOC2VEC], made, _documents, self.documents)


def _train(
    job: Sent2vecJob | Doc2vecJob,
    run: Run,
    ending: str,
    made: Callable[[Corpus, MatrixAllocator], Model],
    counts: Callable[[Model], dict[str, int]],
    documents: DocumentVectors | None = None,
) -> tuple[Outcome | None, Metadata]:
    """The work of a job whose model is called NAME with this `ending`. `counts` is what the user is told of a model
    before it is trained. With `documents` every line is one, those without a word, too."""
    begin, config, reading = time.monotonic(), job.config, job.reading
    joiner = job.phrases.joiner(run.log, reading.memory)
    corpus = encode(
        reading.texts(run.log, written=job.writes()),
        reading.words,
        vocab=reading.vocabulary(),
        phrases=joiner,
        memory=job.phrases.ids_memory(reading.memory),
        spool_beside=job.beside,
        progress=run.on_reading,
        every_line=documents is not None,
    )
    tell_corpus(corpus, run.log, time.monotonic() - begin)
    if job.vocabulary.save_vocab:
        write_vocab(job.vocabulary.save_vocab, corpus.vocab)
    model = made(corpus, reading.matrices(job.beside, run.log))
    about = counts(model)
    what = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in about.items())
    run.log(
        f"{what}; needs {model.nbytes / 1e6:,.0f} MB for the model and as much disk for a checkpoint",
        model_bytes=model.nbytes,
        **about,
    )
    job.require_disk_space(model.nbytes)
    trainable: Savable[Any] = model
    first_step = run.first_step(trainable)
    advice = f"lower --lr (now {config.lr:g})"
    outcome = run.train(trainable, first_step, threads=config.threads, advice=advice, on_progress=run.on_progress)
    metadata = run_metadata(
        asdict(config),
        reading.words,
        corpus_metadata(corpus),
        outcome,
        first_step=first_step,
        begin=begin,
        **about,
        **found_phrases(joiner),
    )
    if outcome.finished:
        outputs = _writers(model, job.outputs.outputs, ending)
        writers = [*job.phrases.writers(joiner), *outputs, *(documents.writers(model) if documents else [])]
        job.finish(run, job.results(), metadata, writers)
    return outcome, metadata


def _ngram_rows(model: Model) -> dict[str, int]:
    assert isinstance(model, Sent2vec)
    return {"ngram_rows": len(model.input) - len(model.corpus.vocab)}


def _documents(model: Model) -> dict[str, int]:
    return {"documents": model.corpus.lines}


def _writers(model: Model, outputs: tuple[str, ...], ending: str) -> list[Writer]:
    whole = model.model()
    words = Embeddings(whole.words, whole.word_vectors)
    save = partial(save_model, model=whole), partial(formats.save, embeddings=words)
    return [(path, save[0 if _is_model(path, ending) else 1]) for path in outputs]


def _check_names(outputs: tuple[str, ...], ending: str) -> None:
    """Raises UsageError for an output whose format its name does not say."""
    for path in outputs:
        if not _is_model(path, ending):
            formats.format_for_output(path, None)


def _is_model(path: str, ending: str) -> bool:
    """Raises UsageError for the name of another kind of model."""
    name = inner_name(path)
    if name.endswith(tuple(set(ENDINGS.values()) - {ending})):
        raise UsageError(f"{path}: the model is called NAME{ending}")
    return name.endswith(ending)
