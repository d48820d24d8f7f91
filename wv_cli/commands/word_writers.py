"""What writes the output files of word-vector training (word_outputs.py)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from wv_cli.commands.job import Writer
from wv_cli.commands.word_outputs import WordOutputs
from wv_cli.io.output import open_output
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.ensemble import Ensemble
from wv_cli.models.presets import Member
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.vocab import SENTENCE_END
from wv_cli.transforms.clusters import word_classes
from wv_cli.transforms.ensemble import as_long_as, concatenate, plus_contexts
from wv_cli.vectors import formats
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import fasttext_bin
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word


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
