"""`wv train --model doc2vec`: a text in, a model that gives whole texts a vector out."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import TrainingJob, Writer
from wv_cli.commands.part import Part
from wv_cli.commands.parts.outputs import Outputs
from wv_cli.commands.parts.phrases import PhraseJoining, found_phrases
from wv_cli.commands.parts.reading import Reading, SavedVocabulary
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option
from wv_cli.io.compression import inner_name
from wv_cli.models.sentence_config import Doc2vecConfig
from wv_cli.models.training.run import Outcome

if TYPE_CHECKING:
    from wv_cli.models.doc2vec import Doc2vec


@frozen
class DocumentVectors(Part):
    """The output of document vectors: `doc_vectors` gets the vectors of the text's lines, named 0, 1, 2."""

    # The vectors of lines are called by the lines' numbers in the text.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(("dedup", "min_line"), "not doc_vectors")

    doc_vectors: str | None = option(
        None,
        "doc2vec: also save the vectors of INPUT's lines, named 0, 1, 2.",
        role="result",
        group="Output",
    )

    def writers(self, model: "Doc2vec") -> list[Writer]:
        from wv_cli.vectors import formats

        if not self.doc_vectors:
            return []
        return [(self.doc_vectors, partial(formats.save, embeddings=model.document_vectors()))]


@frozen
class Doc2vecJob(TrainingJob):
    """Training of doc2vec. Outputs named NAME.d2v get the model; others get its word vectors in the format of their
    ending."""

    config: Doc2vecConfig
    reading: Reading
    outputs: Outputs
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    documents: DocumentVectors = field(default_factory=DocumentVectors)
    resume: Resume = field(default_factory=Resume)

    def check(self) -> None:
        from wv_cli.vectors import formats

        for path in (*self.outputs.outputs, *self.documents.results()):
            if path in self.documents.results() or not _is_model(path):
                formats.format_for_output(path, None)

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, of which every line is a document, trains, saves."""
        from wv_cli.commands.metadata import corpus_metadata, run_metadata, tell_corpus
        from wv_cli.models.doc2vec import Doc2vec
        from wv_cli.text.corpus import encode
        from wv_cli.text.vocab import write_vocab

        begin, config, reading = time.monotonic(), self.config, self.reading
        joiner = self.phrases.joiner(run.log, reading.memory)
        corpus = encode(
            reading.texts(run.log, written=self.writes(), advise=not run.is_resuming),
            reading.words,
            vocab=reading.vocabulary(),
            phrases=joiner,
            memory=self.phrases.ids_memory(reading.memory),
            spool_beside=self.beside,
            progress=run.on_reading,
            every_line=True,
        )
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        if self.vocabulary.save_vocab:
            write_vocab(self.vocabulary.save_vocab, corpus.vocab)
        allocator = reading.matrices(self.beside, run.log)
        model = Doc2vec(config, corpus, lowercase=reading.words.lowercase, allocator=allocator)
        run.log(
            f"{corpus.lines:,} documents; needs {model.nbytes / 1e6:,.0f} MB for the model and as much disk for a "
            "checkpoint",
            model_bytes=model.nbytes,
            documents=corpus.lines,
        )
        self.require_disk_space(model.nbytes)
        outcome = run.train(model, threads=config.threads, advice=f"lower --lr (now {config.lr:g})")
        metadata = run_metadata(
            asdict(config),
            reading.words,
            corpus_metadata(corpus),
            outcome,
            begin=begin,
            documents=corpus.lines,
            **found_phrases(joiner),
        )
        if outcome.is_finished:
            outputs = [*_writers(model, self.outputs.outputs), *self.documents.writers(model)]
            self.finish(run, self.results(), metadata, [*self.phrases.writers(joiner), *outputs])
        return outcome, metadata


def _writers(model: "Doc2vec", outputs: tuple[str, ...]) -> list[Writer]:
    from wv_cli.vectors import formats
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats.document_models import save_model

    whole = model.model()
    words = Embeddings(whole.words, whole.word_vectors)
    save = partial(save_model, model=whole), partial(formats.save, embeddings=words)
    return [(path, save[0 if _is_model(path) else 1]) for path in outputs]


def _is_model(path: str) -> bool:
    from wv_cli.vectors.formats.document_models import ENDING

    return inner_name(path).endswith(ENDING)
