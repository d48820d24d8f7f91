"""Tokens of pairs, and the folder that a trained table becomes: pieces of a tokenizer, or whole words of the pairs."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder
from wv_cli.encoders.sentencepiece import is_sentencepiece, sentencepiece_settings
from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation.ranking import Judged, Ranked, score_all
from wv_cli.io.events import OnProgress
from wv_cli.io.folders import find_folder, static_root
from wv_cli.io.spill import Spool
from wv_cli.models.pairs import FirstRows, PairCorpus
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import remap_ids, require_known, require_words
from wv_cli.text.lowercase import lowercase_chunks
from wv_cli.text.pairs import Numbering, PairFiles
from wv_cli.text.vocab import Vocab, order_words
from wv_cli.vectors import formats
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import BadRowsName
from wv_cli.vectors.formats.static import StaticModel, Table
from wv_cli.vectors.formats.static_folder import save_folder, save_model, without_unknown
from wv_cli.vectors.formats.tokenizer_file import TOKENIZER, tokenizer_settings
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.words import WordList

_DEPTH = 10  # answers that validation looks at


@dataclass(frozen=True)
class GivenPairs(PairFiles):
    """Pairs that have been read."""

    texts: Sequence[tuple[bytes, bytes]] = ()

    def batches(
        self, progress: OnProgress | None = None, counts: list[int] | None = None
    ) -> Iterator[list[tuple[bytes, ...]]]:
        yield list(self.texts)


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Pairs with people's scores `gold`, which cosines should order alike, as `wv eval sts` measures it. Satisfies what
    PairItems does."""

    path: str
    corpus: PairCorpus
    gold: NDArray[np.float64]

    task = "sts"

    @property
    def digest(self) -> str:
        scores = hashlib.blake2b(self.gold.astype("<f8").tobytes(), digest_size=8).hexdigest()
        return self.corpus.digest + scores

    def score(self, vectors: Embeddings, threads: int) -> float:
        """Spearman's correlation in percent; 0 where all cosines are equal, as they are before the first step."""
        rows = self.corpus.means(np.asarray(vectors.matrix), np.arange(len(self.corpus.same))).astype(np.float64)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
        found = spearman(np.einsum("ij,ij->i", rows[::2], rows[1::2]).round(12), self.gold)
        return 0.0 if np.isnan(found) else 100 * found

    def score_text(self, score: float) -> str:
        return f"Spearman {score:.2f}"


@dataclass(frozen=True, eq=False)
class PairItems:
    """Pairs that choose the epoch: each anchor asks for its positive among all of them. Satisfies the part of
    wv_cli.commands.validation.Items that Validated uses."""

    path: str
    corpus: PairCorpus

    task = "pairs"

    @property
    def digest(self) -> str:
        return self.corpus.digest

    def score(self, vectors: Embeddings, threads: int) -> float:
        """The mean NDCG of the first ten answers. Positives of the same text are all right."""
        pairs, columns = len(self.corpus), self.corpus.columns
        first = np.arange(pairs, dtype=np.int64) * columns
        same, rows = np.unique(self.corpus.same[first + 1], return_inverse=True)
        texts = np.zeros(len(same), np.int64)
        texts[rows] = first + 1
        table = np.asarray(vectors.matrix)
        index = Neighbors(self.corpus.means(table, texts), threads=threads)
        hits, scores = index.top_k(self.corpus.means(table, first), _DEPTH)
        one = np.ones(1, np.int64)
        judged = [Judged(row[None].astype(np.int32), one, one) for row in rows]
        ranked = [Ranked(hits[i][hits[i] >= 0], scores[i][hits[i] >= 0]) for i in range(pairs)]
        return float(score_all(ranked, judged, _DEPTH, _DEPTH)[0].mean())

    def score_text(self, score: float) -> str:
        return f"NDCG@10 {score:.4f}"


class Vocabulary(Protocol):
    """The tokens of texts, which are the rows of the table."""

    def corpus(self, files: PairFiles, max_length: int, progress: OnProgress | None) -> PairCorpus:
        """The pairs as tokens, at most `max_length` of a text; 0: all. Raises WvError, BadFile."""
        ...

    def first_rows(self, dim: int, bad_rows: BadRowsName = "error") -> FirstRows | None:
        """What the table begins with, None where all is random. Raises WvError for rows of another dimension."""
        ...

    def save(self, path: str, matrix: NDArray[np.float32], max_length: int) -> None:
        """Writes the folder. Raises WvError."""
        ...

    def words(self) -> WordList:
        """What the tokens are called."""
        ...


class Pieces:
    """Tokens of a tokenizer.json, or of a unigram model of sentencepiece. Unknown ones are left out."""

    def __init__(self, tokenizer: str, init: str | None, model: StaticModel | None = None) -> None:
        """`tokenizer` is the file, or a folder that has it; `init` are vectors of words, or the folder of `model`."""
        path = find_folder(tokenizer)
        self.path = path / TOKENIZER if path.is_dir() else path
        if self.path.exists() and not self.path.is_file():
            raise UsageError(f"{path}: expected a tokenizer.json, found a pipe or device; write it to a file")
        made = sentencepiece_settings(self.path) if is_sentencepiece(self.path) else None
        self._settings, self._init, self._model = made or tokenizer_settings(self.path), init, model
        rows = len(model.table) if model is not None else 1 << 30
        self._inner = Tokenizer(self.path, max_length=None, rows=rows, special=False, made=made)
        self.rows = len(model.table) if model is not None else self._inner.size

    def corpus(self, files: PairFiles, max_length: int, progress: OnProgress | None) -> PairCorpus:
        numbering, found = Numbering(), _Found()
        parts = [_Tokens(np.empty(0, np.int32), np.zeros(1, np.int64))]
        for texts in found.texts_of(files, numbering, progress):
            ids, starts, _ = self._inner.read([text.decode("utf-8", "surrogateescape") for text in texts])
            parts.append(_Tokens(ids, starts).cut(max_length))
        return found.corpus(_join_tokens(parts), self.rows, numbering, files)

    def first_rows(self, dim: int, bad_rows: BadRowsName = "error") -> FirstRows | None:
        if self._model is not None:
            matrix = self._model.table.whole()
            _require_dim(str(self._init), matrix.shape[1], dim)
            known = np.asarray(matrix.any(axis=1))
            return FirstRows(np.ascontiguousarray(matrix[known]), known)
        return _rows_of(self._init, self.words(), dim, bad_rows)

    def save(self, path: str, matrix: NDArray[np.float32], max_length: int) -> None:
        model = StaticModel(Table(path, matrix), self._settings, max_length=max_length or None)
        save_model(path, without_unknown(model))

    def words(self) -> WordList:
        return WordList.from_words(self._inner.names(range(self.rows)))


class Words:
    """Whole words, which white space parts: those of `known`, or of the pairs as `config` cuts them."""

    def __init__(self, config: VocabConfig, known: Vocab | None, init: str | None) -> None:
        self._config, self._init = config, init
        self._vocab = known.cut(config) if known is not None else None

    def corpus(self, files: PairFiles, max_length: int, progress: OnProgress | None) -> PairCorpus:
        numbering, found, known = Numbering(), _Found(), self._vocab
        words = (known.words.blob, known.words.starts) if known is not None else None
        encoder = _encoder.Encoder(words, every_line=True)
        for chunk in self._chunks(found.texts_of(files, numbering, progress)):
            encoder.feed(chunk)
        encoder.finish()
        require_words(encoder.tokens, files.inputs)
        if known is None:
            blob, starts, counts = encoder.vocabulary()
            every, order = order_words(blob, starts, counts, lines=0, tokens_read=encoder.tokens)
            known = self._vocab = every.cut(self._config)
            lookup = np.full(len(counts), -1, np.int32)
            lookup[order[: len(known)]] = np.arange(len(known), dtype=np.int32)
        else:
            lookup = np.arange(len(known), dtype=np.int32)
        read = encoder.tokens
        ids, tokens, _, _ = remap_ids(encoder, Spool(None), lookup, every_line=True)
        require_known(tokens, read)
        return found.corpus(_lines(ids).cut(max_length), len(known), numbering, files)

    def _chunks(self, batches: Iterable[Sequence[bytes]]) -> Iterator[bytes]:
        chunks = (b"".join(text.replace(b"\n", b" ") + b"\n" for text in texts) for texts in batches)
        return lowercase_chunks(chunks) if self._config.lowercase else iter(chunks)

    def first_rows(self, dim: int, bad_rows: BadRowsName = "error") -> FirstRows | None:
        return _rows_of(self._init, self.words(), dim, bad_rows)

    def save(self, path: str, matrix: NDArray[np.float32], max_length: int) -> None:
        vectors = Embeddings(self.words(), matrix)
        save_folder(path, vectors, lowercase=self._config.lowercase, max_length=max_length or None)

    def words(self) -> WordList:
        assert self._vocab is not None
        return self._vocab.words


def open_vocabulary(
    tokenizer: str | None, init: str | None, words: VocabConfig, known: Vocab | None
) -> tuple[Vocabulary, int | None]:
    """(the tokens, the dimension of the static embedding `init` that they are of)."""
    if init is not None and (folder := find_folder(init)).is_dir():
        model = StaticModel.open(folder)
        root = static_root(folder) or folder
        return Pieces(str(root), init, model), model.table.matrix.shape[1]
    if tokenizer is not None:
        return Pieces(tokenizer, init), None
    return Words(words, known, init), None


@dataclass(frozen=True, eq=False)
class _Tokens:
    """Text t is ids[starts[t]:starts[t + 1]]."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]

    def cut(self, most: int) -> "_Tokens":
        """At most so many tokens of each text; 0: all."""
        counts = np.diff(self.starts)
        if not most or not (counts > most).any():
            return self
        kept = np.arange(len(self.ids)) - np.repeat(self.starts[:-1], counts) < most
        return _Tokens(self.ids[kept], np.append(0, np.cumsum(np.minimum(counts, most))))


def _join_tokens(parts: Sequence[_Tokens]) -> _Tokens:
    ends = np.cumsum([0, *(len(part.ids) for part in parts[:-1])])
    starts = [part.starts[1:] + end for part, end in zip(parts, ends, strict=True)]
    return _Tokens(np.concatenate([part.ids for part in parts]), np.concatenate([[0], *starts]))


class _Found:
    """What is known of pairs when they have been read."""

    def __init__(self) -> None:
        self.same: list[int] = []
        self.counts: list[int] = []
        self.columns = 0

    def texts_of(self, files: PairFiles, numbering: Numbering, progress: OnProgress | None) -> Iterator[list[bytes]]:
        for batch in files.batches(progress, self.counts):
            texts = [text for pair in batch for text in pair]
            self.columns = len(batch[0])
            self.same += numbering.number_texts(texts)
            yield texts
        if not self.same:
            names = ", ".join(files.inputs)
            message = f"{names}: no pairs: expected records with an anchor and a positive, found none"
            raise WvError(message)

    def corpus(self, tokens: _Tokens, rows: int, numbering: Numbering, files: PairFiles) -> PairCorpus:
        if not len(tokens.ids):
            message = f"{', '.join(files.inputs)}: no text has a token of the vocabulary; do they belong together?"
            raise WvError(message)
        same = np.array(self.same, np.int32)
        counts = tuple(count for count in self.counts if count)
        return PairCorpus(tokens.ids, tokens.starts, same, self.columns, rows, numbering.digest, counts)


def _lines(ids: NDArray[np.int32]) -> _Tokens:
    """The tokens of every line, which ends with a negative number."""
    ends = np.flatnonzero(ids < 0)
    return _Tokens(np.delete(ids, ends), np.append(0, ends - np.arange(len(ends))))


def _rows_of(init: str | None, words: WordList, dim: int, bad_rows: BadRowsName) -> FirstRows | None:
    """The rows of words that are in the file `init`."""
    if init is None:
        return None
    vectors = formats.load(init, bad_rows=bad_rows)
    _require_dim(init, vectors.dim, dim)
    places = vectors.words.find_all(words)
    known = places >= 0
    if not known.any():
        raise BadFile(init, "expected vectors of words of the table, found none; do they belong together?")
    return FirstRows(np.ascontiguousarray(vectors.matrix[places[known]], np.float32), known)


def _require_dim(path: str, found: int, dim: int) -> None:
    if found != dim:
        message = f"{path}: its vectors have {found} numbers, and --dim says {dim}; give --dim {found}"
        raise WvError(message)
