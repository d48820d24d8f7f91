"""One word2vec or fastText run from text to word vectors, for `wv train`: encode, train, checkpoint, save."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from wv_cli import formats
from wv_cli.cluster.ranks import agreeing
from wv_cli.cluster.training import of_all
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import Say
from wv_cli.errors import UsageError
from wv_cli.formats import fasttext_bin
from wv_cli.formats.fasttext_files import save_files
from wv_cli.jobs.facts import Facts, corpus_facts, tell_corpus, training_facts
from wv_cli.jobs.session import Observe, Reading, VocabularySession
from wv_cli.jobs.shared import SharedSession
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.subwords import Subwords, counts_with_line_end
from wv_cli.models.word2vec import Word2vec
from wv_cli.system.compression import inner_name
from wv_cli.system.output import check_writable, open_output, write_together
from wv_cli.text.corpus import Corpus, Marked, encode
from wv_cli.text.vocab import SENTENCE_END, read_vocab, write_vocab
from wv_cli.transforms.clusters import word_classes
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word

_BYTES_PER_TEXT_FLOAT = 10


@dataclass(frozen=True, kw_only=True)
class Word2vecSession(SharedSession, VocabularySession):
    """`classes` > 0 writes that many word classes instead of vectors. `to` is the format of the outputs, whatever their
    names; fasttext-bin writes the model itself, and context vectors as their name says. With `line_ends` the vectors
    begin with `</s>`, which is not trained, as word2vec's do.

    With `fasttext_files` the outputs are those of a fastText run (formats.fasttext_files). What is `marked` is no word;
    with `add_words` the words of `init` are in the model, whether the text has them or not."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {"to": "not classes"}

    config: Word2vecConfig
    init: str | None = None
    output_vectors: str | None = None
    classes: int = 0
    to: str | None = None
    line_ends: bool = False
    fasttext_files: bool = False
    marked: Marked | None = None
    add_words: bool = False

    def check_options(self) -> None:
        if self.output_vectors and LAYERS[self.config.loss].tree:
            loss = f"--loss {self.config.loss}"
            message = f"--save-output-vectors: with {loss} the output rows are tree nodes, not words; use --loss ns"
            raise UsageError(message)
        if self.classes < 0 or (self.classes and len(self.outputs) != 1):
            message = "--classes takes a positive number and exactly one -o, which gets the classes"
            raise UsageError(message)
        for path in self.outputs if not (self.classes or self.fasttext_files) else ():
            if self._writes_model(path):
                self._require_model(path)
            else:
                formats.format_for_output(path, self.to)
        if self.output_vectors and not self.fasttext_files:
            formats.format_for_output(self.output_vectors, self.format_asked)

    @property
    def format_asked(self) -> str | None:
        return self.to if self.to != fasttext_bin.FORMAT.name else None

    def read(self) -> list[str]:
        return super().read() + ([self.init] if self.init else [])

    def results(self) -> list[str]:
        return super().results() + ([self.output_vectors] if self.output_vectors else [])

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, trains, saves."""
        begin, config = time.monotonic(), self.config
        init = formats.load(self.init) if self.init else None
        corpus = encode(
            self.texts(say),
            self.vocab_config,
            vocab=read_vocab(self.vocab) if self.vocab else None,
            marked=self.marked,
            also=init.words if init is not None and self.add_words else None,
            phrases=self.saved_phrases(),
            memory=self.memory,
            spool_beside=self.beside,
            progress=reading,
            pooled=self.pooled,
        )
        corpus = of_all(corpus, self.ranks)
        tell_corpus(corpus, say, time.monotonic() - begin)
        if self.save_vocab:
            write_vocab(self.save_vocab, corpus.vocab)
        if self.fasttext_files:
            words, labels = len(counts_with_line_end(corpus.vocab)[0]) - corpus.added, len(corpus.labels)
            tokens = corpus.vocab.tokens_read + corpus.vocab.lines
            say(
                f"{words:,} words in the model, `</s>` among them, and {labels:,} labels",
                tokens=tokens,
                vocabulary=words,
                labels=labels,
            )
        subwords = Subwords.of(corpus.vocab.words, config)
        self._predict(corpus, subwords, say)
        with agreeing(self.ranks):
            model = Word2vec(config, corpus, init, subwords, rank=self.rank)
        if init is not None:
            say(f"{model.words_initialised:,} of {len(corpus.vocab):,} words start from {self.init}")
        advice = f"lower --lr (now {config.start_lr:g})" + ("" if config.cbow_mean else " or use --cbow-mean")
        first_step = self.first_step(model, say)
        outcome = self.train(model, first_step, observe, advice)
        facts: Facts = {
            "config": {**asdict(config), "lr": config.start_lr},
            "vocabulary_config": asdict(self.vocab_config),
            "corpus": corpus_facts(corpus),
            "resumed_at_step": first_step or None,
            **training_facts(outcome),
            **self.ranks_facts(),
            "seconds": round(time.monotonic() - begin, 3),
        }
        if outcome.finished:
            self._save(model)
            self.finish(self.results(), facts)
        return outcome, facts

    def _writes_model(self, path: str) -> bool:
        """Vectors with subwords go to .bin as a whole fastText model, unless `to` says otherwise: word2vec's format
        would lose the subwords."""
        if self.classes:
            return False
        if self.to is not None:
            return self.to == fasttext_bin.FORMAT.name
        return self.config.maxn > 0 and inner_name(path).endswith(".bin")

    def _require_model(self, path: str) -> None:
        """Raises UsageError when there is no model to write, or no place for one."""
        formats.refuse_terminal(path)
        if LAYERS[self.config.loss].fasttext is None:
            message = f"{path}: fastText's models know no --loss {self.config.loss}; leave --to out or use --loss ns"
            raise UsageError(message)

    def _predict(self, corpus: Corpus, subwords: Subwords | None, say: Say) -> None:
        """Says what the run will need and refuses what cannot work, before the matrices are allocated."""
        words, dim = len(corpus.vocab), self.config.dim
        matrices = Word2vec.bytes_needed(self.config, words, subwords)
        if self.ranks is not None:  # and what the ranks agree upon (cluster.exchange)
            matrices += Word2vec.checkpoint_bytes(self.config, words, subwords)
        saved = Word2vec.checkpoint_bytes(self.config, words, subwords)
        say(
            f"needs {matrices / 1e6:,.0f} MB for the model and {4 * len(corpus.ids) / 1e6:,.0f} MB for the text, "
            f"{saved / 1e6:,.0f} MB of disk for a checkpoint",
            model_bytes=matrices,
            text_bytes=4 * len(corpus.ids),
            checkpoint_bytes=saved,
        )
        for path in self.outputs:
            check_writable(path, words * (dim * _BYTES_PER_TEXT_FLOAT + 8))
        if self.checkpoint_path:
            check_writable(self.checkpoint_path, saved)

    def _save(self, model: Word2vec) -> None:
        if self.fasttext_files:
            save_files(self.outputs, model.fasttext_model(self.vocab_config.min_count))
            return
        writers: list[tuple[str, Callable[[str], None]]]
        writers = [(path, partial(self._save_words, model)) for path in self.outputs]
        if self.output_vectors:
            save = partial(formats.save, embeddings=model.output_embeddings(), format=self.format_asked)
            writers.append((self.output_vectors, save))
        write_together(writers)

    def _save_words(self, model: Word2vec, path: str) -> None:
        if self._writes_model(path):
            fasttext_bin.save_model(path, model.fasttext_model(self.vocab_config.min_count))
            return
        vectors = with_line_end(model.embeddings(), self.config.seed) if self.line_ends else model.embeddings()
        if self.classes:
            _save_classes(path, vectors, self.classes)
        else:
            formats.save(path, vectors, format=self.to)


def with_line_end(vectors: Embeddings, seed: int) -> Embeddings:
    """The vectors after a row `</s>`, which is as random as all rows were at the start: word2vec trains none for it."""
    row = np.random.default_rng(seed + 1).random((1, vectors.dim), np.float32) - np.float32(0.5)
    blob, starts = SENTENCE_END + vectors.words.blob, vectors.words.starts - vectors.words.starts[0]
    words = WordList(blob, np.concatenate([[0], starts + len(SENTENCE_END)]))
    return Embeddings(words, np.concatenate([row / np.float32(vectors.dim), vectors.matrix]))


def _save_classes(path: str, embeddings: Embeddings, classes: int) -> None:
    assigned = word_classes(embeddings, classes)
    with open_output(path) as stream:
        for word, number in zip(embeddings.words, assigned, strict=True):
            stream.write(encode_word(word) + b" %d\n" % number)
