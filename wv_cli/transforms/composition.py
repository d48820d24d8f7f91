"""Vectors of words and of lines, from a fastText model or from plain vectors, a batch at a time.

A model composes words it does not list of their n-grams. A line becomes one vector by the model's own rule, and a
folder with a tokenizer encodes it. With plain vectors it is the mean of its words, as `--pooling mean` has it.
Not here: reading files (wv_cli.vectors.formats.open_vectors).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import encoder_folder, open_encoder
from wv_cli.encoders.base import encode as encode_texts
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import UsageError, show_bytes
from wv_cli.transforms.sentences import Sentences, pool_rows
from wv_cli.vectors.document_models import line_vectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel
from wv_cli.vectors.lookup import Lookup
from wv_cli.words import WordList, each_word, encode

_WORDS_AT_ONCE = 10_000


class Composer(Protocol):
    """What `wv vectors` asks. `words` gives (vectors (n, dim), known (n,) bool), zero where unknown; `lines` (n, dim),
    zero for a line without a known word; `ngrams` pairs of a part of a word and its vector."""

    @property
    def dim(self) -> int: ...
    def is_listed(self, word: str, /) -> bool: ...
    def words(self, words: Sequence[str], /) -> tuple[NDArray[np.float32], NDArray[np.bool_]]: ...
    def lines(self, lines: Sequence[str], /) -> NDArray[np.float32]: ...
    def ngrams(self, word: str, /) -> tuple[list[bytes], NDArray[np.float32]]: ...


_LONG = 1 << 16  # characters of a line whose words are looked up together


class OfModel:
    """Of a fastText model; only the rows that are asked for are looked at."""

    def __init__(self, model: FastTextModel) -> None:
        self._model = model

    @property
    def dim(self) -> int:
        return self._model.dim

    def is_listed(self, word: str) -> bool:
        return self._model.words.find(word) >= 0

    def words(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        vectors = self._model.word_vectors(words)
        listed = self._model.words.find_all(WordList.from_words(words)) >= 0
        return vectors, listed | vectors.any(axis=1)

    def lines(self, lines: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self._model.sentence_vector(line) for line in lines], np.float32).reshape(-1, self.dim)

    def ngrams(self, word: str) -> tuple[list[bytes], NDArray[np.float32]]:
        """The word itself, if it is listed, and its n-grams, as fastText's print-ngrams has them."""
        own = self._model.words.find(word)
        parts = [(self._model.words.bytes_at(own), own)] if own >= 0 else []
        parts += self._model.ngrams(word)
        return [part for part, _ in parts], self._model.input.take(np.array([row for _, row in parts], np.int64))


class OfEmbeddings:
    """Of plain vectors; words that are not listed are composed where there is something to compose them of."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._lookup: Lookup | None = None  # of lines alone: it reads every word of the file

    @property
    def dim(self) -> int:
        return self._embeddings.dim

    def is_listed(self, word: str) -> bool:
        return self._embeddings.words.find(word) >= 0

    def words(self, words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        rows = self._embeddings.words.find_all(WordList.from_words(words))
        vectors = np.zeros((len(rows), self.dim), np.float32)
        vectors[rows >= 0] = self._embeddings.take(rows[rows >= 0])
        known = rows >= 0
        if self._embeddings.subwords is not None:
            for row in np.flatnonzero(~known).tolist():
                composed = self._embeddings.subwords.oov_vector(words[row])
                if composed is not None:
                    vectors[row], known[row] = composed, True
        return vectors, known

    def lines(self, lines: Sequence[str]) -> NDArray[np.float32]:
        if self._embeddings.texts is not None:
            return line_vectors(self._embeddings.texts, lines)
        if all(len(line) <= _LONG for line in lines):
            return self._means(lines)[0].astype(np.float32)
        return np.array([self._long_mean(line) for line in lines], np.float32).reshape(-1, self.dim)

    def _means(self, lines: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The means of the words of each line, and how many words they are of."""
        if self._lookup is None:
            self._lookup = Lookup(self._embeddings)
        found = Sentences.from_texts(lines, self._lookup)
        used, rows = np.unique(found.rows, return_inverse=True)  # a mapped matrix is read no further
        listed, matrix = used < len(self._embeddings), np.zeros((len(used), self.dim), np.float32)
        matrix[listed] = self._embeddings.take(used[listed])
        if not listed.all():
            matrix[~listed] = self._lookup.oov.vectors()[used[~listed] - len(self._embeddings)]
        return pool_rows(Sentences(rows, found.starts), matrix, np.ones(len(used))), found.lengths

    def _long_mean(self, line: str) -> NDArray[np.float64]:
        """The mean of the words of a line that is taken piece by piece."""
        total, words, begin = np.zeros(self.dim), 0, 0
        while begin < len(line):
            most = begin + _LONG
            end = max(line.rfind(" ", begin, most), line.rfind("\t", begin, most)) + 1 or most
            means, counts = self._means([line[begin:end]])
            total += means[0] * counts[0]
            words += int(counts[0])
            begin = end
        return total / max(1, words)

    def ngrams(self, word: str) -> tuple[list[bytes], NDArray[np.float32]]:
        """Raises UsageError."""
        message = "--ngrams needs a fastText model; vector files hold whole words only"
        raise UsageError(message)


class OfFolder(OfEmbeddings):
    """Of a static embedding or another encoder's `folder`, which cuts lines by its own tokenizer; of its tokens as
    words where there are `embeddings`."""

    def __init__(self, folder: Path, embeddings: Embeddings) -> None:
        super().__init__(embeddings)
        self._encoder = open_encoder(folder)

    def lines(self, lines: Sequence[str]) -> NDArray[np.float32]:
        """By the folder's own pooling and settings."""
        encoder = self._encoder
        pooling = Pooling.parse(encoder.pooling, encoder.layers, encoder.name)
        return encode_texts(encoder, lines, [pooling], normalize=encoder.normalize)[0].vectors


def composer(source: FastTextModel | Embeddings, path: str) -> Composer:
    """Of what the file or folder `path` holds."""
    if isinstance(source, FastTextModel):
        return OfModel(source)
    folder = encoder_folder(path) if path != "-" else None
    return OfFolder(folder, source) if folder is not None else OfEmbeddings(source)


def sentence_vectors(source: Composer, lines: Sequence[str], name: str) -> list[NDArray[np.float32] | str]:
    """The vector (dim,) of each line, or what is wrong: no word of it has one in what messages call `name`."""
    return [
        vector if vector.any() else f"no word of the sentence {show_bytes(encode(line))} has a vector in {name}"
        for line, vector in zip(lines, source.lines(lines), strict=True)
    ]


def word_vectors(
    source: Composer, lines: Iterable[str]
) -> Iterator[tuple[list[str], list[int], NDArray[np.float32], NDArray[np.bool_]]]:
    """(words, the index of each one's line, vectors, which have one: see Composer.words) of lines of words, some at a
    time; a line that is itself a word of `source` is one word."""
    asked = (
        (word, index)
        for index, line in enumerate(lines)
        for word in ([line] if source.is_listed(line) else each_word(line))
    )
    while part := list(islice(asked, _WORDS_AT_ONCE)):
        words = [word for word, _ in part]
        yield words, [index for _, index in part], *source.words(words)


def runs(flags: NDArray[np.bool_]) -> Iterator[tuple[int, int, bool]]:
    """(first, end, flag) of the longest stretches of equal flags."""
    bounds = [0, *(np.flatnonzero(np.diff(flags)) + 1).tolist(), len(flags)] if len(flags) else []
    for first, end in pairwise(bounds):
        yield first, end, bool(flags[first])
