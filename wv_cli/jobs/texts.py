"""One run of a model whose vectors are those of whole texts, for `wv train`: encode, train, checkpoint, save."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar

from wv_cli import formats
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import Savable
from wv_cli.errors import UsageError
from wv_cli.formats.texts import DOC2VEC, ENDINGS, SENT2VEC, save_model
from wv_cli.jobs.facts import Facts, corpus_facts, run_facts, tell_corpus
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.session import Observe, Reading
from wv_cli.jobs.training_session import VocabularySession
from wv_cli.models.doc2vec import Doc2vec
from wv_cli.models.sent2vec import Sent2vec
from wv_cli.models.sentence_config import Doc2vecConfig, Sent2vecConfig
from wv_cli.system.compression import inner_name
from wv_cli.system.events import Log as Say
from wv_cli.system.matrices import Room
from wv_cli.system.output import write_together
from wv_cli.text.corpus import Corpus, encode
from wv_cli.text.vocab import read_vocab, write_vocab
from wv_cli.vectors.embeddings import Embeddings

Model = Sent2vec | Doc2vec
Writer = tuple[str, Callable[[str], None]]


@dataclass(frozen=True, kw_only=True)
class TextModelSession(VocabularySession, PhrasesSession):
    """Outputs whose names end with `model_ending` are the model, others the vectors of its words in the format that
    their name says."""

    model_ending: ClassVar[str]
    every_line: ClassVar[bool] = False  # whether lines without a word count

    config: Sent2vecConfig | Doc2vecConfig

    def new_model(self, corpus: Corpus, room: Room) -> Model:
        raise NotImplementedError

    def facts_of(self, model: Model) -> dict[str, int]:
        """What the user is told of a model before it is trained."""
        raise NotImplementedError

    def check_options(self) -> None:
        for path in self.outputs:
            if not self._is_model(path):
                formats.format_for_output(path, None)

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, trains, saves."""
        begin, config = time.monotonic(), self.config
        corpus = encode(
            self.texts(say),
            self.vocab_config,
            vocab=read_vocab(self.vocab) if self.vocab else None,
            phrases=self.phrases_to_join(say),
            memory=self.ids_memory,
            spool_beside=self.beside,
            progress=reading,
            every_line=self.every_line,
        )
        tell_corpus(corpus, say, time.monotonic() - begin)
        if self.save_vocab:
            write_vocab(self.save_vocab, corpus.vocab)
        model = self.new_model(corpus, self.room(say))
        about = self.facts_of(model)
        what = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in about.items())
        say(
            f"{what}; needs {model.nbytes / 1e6:,.0f} MB for the model and as much disk for a checkpoint",
            model_bytes=model.nbytes,
            **about,
        )
        self.require_room(model.nbytes)
        trainable: Savable[Any] = model
        first_step = self.first_step(trainable, say)
        outcome = self.train(trainable, first_step, observe, f"lower --lr (now {config.lr:g})")
        text = corpus_facts(corpus)
        facts = run_facts(self, asdict(config), text, outcome, first_step=first_step, begin=begin, **about)
        if outcome.finished:
            write_together([*self.phrases_writers(), *self.writers(model)])
            self.finish(self.results(), facts)
        return outcome, facts

    def writers(self, model: Model) -> list[Writer]:
        """Of every output: its name and what writes it."""
        made = model.model()
        words = Embeddings(made.words, made.word_vectors)
        save = partial(save_model, model=made), partial(formats.save, embeddings=words)
        return [(path, save[0 if self._is_model(path) else 1]) for path in self.outputs]

    def _is_model(self, path: str) -> bool:
        """Raises UsageError for the name of another kind of model."""
        name = inner_name(path)
        if name.endswith(tuple(set(ENDINGS.values()) - {self.model_ending})):
            raise UsageError(f"{path}: the model is called NAME{self.model_ending}")
        return name.endswith(self.model_ending)


@dataclass(frozen=True, kw_only=True)
class Sent2vecSession(TextModelSession):
    model_ending: ClassVar[str] = ENDINGS[SENT2VEC]

    config: Sent2vecConfig

    def new_model(self, corpus: Corpus, room: Room) -> Model:
        return Sent2vec(self.config, corpus, lowercase=self.vocab_config.lowercase, room=room)

    def facts_of(self, model: Model) -> dict[str, int]:
        return {"ngram_rows": len(model.input) - len(model.corpus.vocab)}


@dataclass(frozen=True, kw_only=True)
class Doc2vecSession(TextModelSession):
    """`doc_vectors` gets the vectors of the lines of the text, called 0, 1, 2, in the format that its name says."""

    # The vectors of lines are called by the lines' numbers in the text.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(("dedup", "min_line"), "not doc_vectors")

    model_ending: ClassVar[str] = ENDINGS[DOC2VEC]
    every_line: ClassVar[bool] = True

    config: Doc2vecConfig
    doc_vectors: str | None = None

    def check_options(self) -> None:
        super().check_options()
        if self.doc_vectors:
            formats.format_for_output(self.doc_vectors, None)

    def results(self) -> list[str]:
        return super().results() + ([self.doc_vectors] if self.doc_vectors else [])

    def new_model(self, corpus: Corpus, room: Room) -> Model:
        return Doc2vec(self.config, corpus, lowercase=self.vocab_config.lowercase, room=room)

    def facts_of(self, model: Model) -> dict[str, int]:
        return {"documents": model.corpus.lines}

    def writers(self, model: Model) -> list[Writer]:
        found = super().writers(model)
        if self.doc_vectors:
            assert isinstance(model, Doc2vec)
            found.append((self.doc_vectors, partial(formats.save, embeddings=model.document_vectors())))
        return found
