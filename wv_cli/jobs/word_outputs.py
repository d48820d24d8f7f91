"""The outputs of word-vector training: vectors, context vectors, word classes, fastText's files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from wv_cli import formats
from wv_cli.errors import UsageError
from wv_cli.formats import fasttext_bin
from wv_cli.jobs.part import Part, internal
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.layers import LAYERS
from wv_cli.models.presets import Member
from wv_cli.models.word2vec import Word2vec
from wv_cli.system.output import open_output
from wv_cli.text.vocab import SENTENCE_END
from wv_cli.transforms.clusters import require_classes, word_classes
from wv_cli.transforms.ensemble import as_long_as, concatenate, plus_contexts
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word

Writer = tuple[str, Callable[[str], None]]


@dataclass(frozen=True, kw_only=True)
class WordOutputs(Part):
    """The output files of word-vector training. `to` is the format of the `outputs`, whatever their names;
    fasttext-bin writes the model itself. `classes` > 0 writes that many word classes instead of vectors.
    `save_output_vectors` gets the context vectors, in the format that its name says. With `line_ends` the vectors
    begin with `</s>`, which is not trained, as word2vec's do. With `fasttext_files` the outputs are those of a
    fastText run (wv_cli.formats.fasttext_files)."""

    outputs: tuple[str, ...] = ()
    to: str | None = None
    classes: int = 0
    save_output_vectors: str | None = None
    line_ends: bool = internal(False)
    fasttext_files: bool = internal(False)

    def results(self) -> list[str]:
        return [*self.outputs, *([self.save_output_vectors] if self.save_output_vectors else [])]

    @property
    def format(self) -> str | None:
        """The format of all vector files; None: their endings choose it."""
        return self.to if self.to != fasttext_bin.FORMAT.name else None

    def check(self) -> None:
        if self.classes < 0 or (self.classes and len(self.outputs) != 1):
            message = "--classes takes a positive number and exactly one -o, which gets the classes"
            raise UsageError(message)

    def check_formats(self, config: Word2vecConfig) -> None:
        """Raises UsageError for a file that cannot hold what is trained."""
        loss = config.loss
        if self.save_output_vectors and LAYERS[loss].tree:
            message = (
                f"--save-output-vectors: with --loss {loss} the output rows are tree nodes, not words; use --loss ns"
            )
            raise UsageError(message)
        for path in self.outputs if not (self.classes or self.fasttext_files) else ():
            if not self.writes_model(path, config):
                formats.format_for_output(path, self.to)
                continue
            formats.refuse_terminal(path)
            if LAYERS[loss].fasttext is None:
                raise UsageError(f"{path}: fastText's models know no --loss {loss}; leave --to out or use --loss ns")
        if self.save_output_vectors and not self.fasttext_files:
            formats.format_for_output(self.save_output_vectors, self.format)

    def check_words(self, words: WordList) -> None:
        """Raises UsageError for more classes than words."""
        if self.classes:
            require_classes(self.classes, len(words) + self.line_ends)

    def writes_model(self, path: str, config: Word2vecConfig) -> bool:
        """Whether a fastText model goes there."""
        return not self.classes and fasttext_bin.is_model(path, self.to, subwords=config.maxn > 0)

    def writers(self, model: Word2vec, min_count: int) -> list[Writer]:
        """The output files, each with the function that writes it; fastText's models record `min_count`."""
        found: list[Writer] = [(path, partial(self._save_words, model, min_count)) for path in self.outputs]
        if self.save_output_vectors:
            save = partial(formats.save, embeddings=model.output_embeddings(), format=self.format)
            found.append((self.save_output_vectors, save))
        return found

    def _save_words(self, model: Word2vec, min_count: int, path: str) -> None:
        if self.writes_model(path, model.config):
            fasttext_bin.save_model(path, model.fasttext_model(min_count))
        else:
            self._save_vectors(model.embeddings(), model.config.seed, path)

    def ensemble_writers(self, ensemble: Ensemble, members: Sequence[Member], config: Word2vecConfig) -> list[Writer]:
        """The output files of several models, whose vectors are combined to `config.dim` numbers a word."""
        vectors = _concatenate_members(ensemble, members, config.dim)
        return [(path, partial(self._save_vectors, vectors, config.seed)) for path in self.outputs]

    def _save_vectors(self, vectors: Embeddings, seed: int, path: str) -> None:
        if self.line_ends:
            vectors = with_line_end(vectors, seed)
        if self.classes:
            _save_classes(path, vectors, self.classes)
        else:
            formats.save(path, vectors, format=self.to)


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
