"""The perplexity of documents, by which CCNet and datatrove filter a corpus. It is 10 to the power of minus the mean
log10 p of a document's pieces and ends of sentences. The modes:

    ccnet       the document normalized as CCNet does, as one sentence: normalization drops the line ends
    lines       each of its lines normalized and scored as a sentence, as CCNet's class does when it is used alone
    raw         the document as it is, as one sentence
    datatrove   the document normalized as datatrove does, as one sentence
"""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder, _text
from wv_cli.errors import UsageError
from wv_cli.lm.asking import UNKNOWN, LanguageModel
from wv_cli.lm.kenlm import KenlmModel
from wv_cli.lm.pieces import Pieces, join_pieces
from wv_cli.registry import Registry
from wv_cli.text.normalize import normalize_ccnet, normalize_datatrove
from wv_cli.words import WordList, encode

_BLOCK = 1 << 20  # characters at a time
_ODD = -2  # a piece whose spelling in the text must be looked at
_PIECES = WordList.from_words(("▁", "▁a", "▁de", "▁the", "▁1"))  # some that a model of pieces knows
Floats = NDArray[np.float64]

# The sentences of a document.
MODES: Registry[Callable[[str], list[str]]] = Registry(
    "mode of perplexity",
    [
        ("ccnet", lambda text: [normalize_ccnet(text)] if text else []),
        ("lines", lambda text: [normalize_ccnet(line) for line in text.split("\n")] if text else []),
        ("raw", lambda text: [text]),
        ("datatrove", lambda text: [normalize_datatrove(text)]),
    ],
)


class WordScorer:
    """Scores documents by a language model of words, which blanks divide. Each line is a sentence, as in `wv lm score`.
    Threads may share it. Raises UsageError for a model of pieces of words, which messages call `name`."""

    def __init__(self, model: LanguageModel, name: str) -> None:
        self._model, self._asked = model, cast(Any, model.scorer)
        if (_find(model, _PIECES) != UNKNOWN).any():
            message = f"{name}: is a model of pieces of words; name its sentencepiece model with --tokenizer FILE"
            raise UsageError(message)

    def perplexities(self, lines: bytes, starts: NDArray[np.int64]) -> Floats:
        """(n,) those of documents, each of which begins with the line `starts` (n + 1,)."""
        ids = _read_lines(self._model, lines)
        scores = np.array(self._asked.score(ids, self._asked.begin(True), True)[0], np.float64)
        ends = np.append(0, np.flatnonzero(ids < 0) + 1)[starts]
        sums = np.array([math.fsum(scores[begin:end].tolist()) for begin, end in pairwise(ends.tolist())])
        return _perplexities(sums, np.diff(ends))


class DocumentScorer:
    """Scores documents by a language model of pieces. `mode` is one of MODES. Raises UsageError for another."""

    def __init__(self, model: LanguageModel, pieces: Pieces, mode: str = "ccnet") -> None:
        self._model, self._pieces, self._sentences = model, pieces, MODES.find(mode)
        self._asked: Any = model.scorer  # its states are its own affair
        listed = pieces.pieces()
        self._ids = _find(self._model, listed)
        odd = [
            i for i, piece in enumerate(listed) if not piece or any(mark in encode(piece) for mark in _text.SEPARATORS)
        ]
        self._ids[[*odd, pieces.unknown]] = _ODD

    def perplexities(self, texts: Iterable[str]) -> Floats:
        """That of each text (n,); NaN for one without a sentence."""
        return np.concatenate([np.empty(0), *map(self._block, _blocks(texts))])

    def scores(self, texts: Iterable[str]) -> tuple[Floats, NDArray[np.int64]]:
        """(log10 p (n,), events (n,): pieces and ends of sentences) of each text."""
        found = [self._scores(block) for block in _blocks(texts)]
        sums, events = zip(*found, strict=True) if found else ((), ())
        return np.concatenate([np.empty(0), *sums]), np.concatenate([np.empty(0, np.int64), *events])

    def _block(self, texts: list[str]) -> Floats:
        sums, events = self._scores(texts)
        return _perplexities(sums, events)

    def _scores(self, texts: list[str]) -> tuple[Floats, NDArray[np.int64]]:
        sentences = [self._sentences(text) for text in texts]
        ids = self._stream(list(chain.from_iterable(sentences)))
        scores = np.asarray(self._asked.score(ids, self._asked.begin(True), True)[0])
        ends = np.append(0, np.flatnonzero(ids < 0) + 1)
        # KenLM adds float32 numbers one after the other, and thresholds are chosen by its sums.
        sums = [float(np.add.accumulate(scores[begin:end])[-1]) for begin, end in pairwise(ends.tolist())]
        last = np.append(0, np.cumsum(list(map(len, sentences)), dtype=np.int64))
        totals = [math.fsum(sums[begin:end]) for begin, end in pairwise(last.tolist())]
        return np.array(totals, np.float64), np.diff(ends[last])

    def _stream(self, sentences: list[str]) -> NDArray[np.int32]:
        """The model's ids of the pieces of all sentences, -1 behind each."""
        stream, unknown = self._pieces.stream(sentences)
        ids = np.append(self._ids, np.int32(-1))[stream]
        if unknown is not None:
            found = _find(self._model, unknown)
            dividing = np.flatnonzero(np.isin(np.frombuffer(unknown.blob, np.uint8), list(_text.SEPARATORS)))
            found[np.searchsorted(unknown.starts, dividing, side="right") - 1] = _ODD
            ids[stream == self._pieces.unknown] = found
        ends = np.flatnonzero(stream < 0)
        odd = np.unique(np.searchsorted(ends, np.flatnonzero(ids == _ODD))).tolist()
        if odd:
            rows = np.split(ids, ends[:-1] + 1)
            for place, row in zip(odd, self._spelled_rows([sentences[place] for place in odd]), strict=True):
                rows[place] = row
            ids = np.concatenate(rows)
        return ids

    def _spelled_rows(self, sentences: list[str]) -> list[NDArray[np.int32]]:
        """The same, by the spelling of the pieces."""
        ids = _read_lines(self._model, join_pieces(self._pieces.cut(sentences)))
        return np.split(ids, (np.flatnonzero(ids < 0) + 1)[:-1]) if sentences else []


def _read_lines(model: LanguageModel, lines: bytes) -> NDArray[np.int32]:
    """The model's ids of the words of lines, -1 behind each line."""
    encoder = _encoder.Encoder(every_line=True)
    encoder.feed(lines)
    encoder.finish()
    stream = np.frombuffer(memoryview(encoder.take_stream()), np.int32)
    blob, starts, _ = encoder.vocabulary()
    ids: NDArray[np.int32] = np.append(_find(model, WordList(blob, starts)), np.int32(-1))[stream]
    return ids


def _find(model: LanguageModel, words: WordList) -> NDArray[np.int32]:
    if isinstance(model, KenlmModel):
        return model.find(words)
    found = model.words.find_all(words)
    return np.where(found < 0, UNKNOWN, found).astype(np.int32)


def _perplexities(sums: Floats, events: NDArray[np.int64]) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(10.0 ** (-sums / np.where(events, events, np.nan)))


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    block, size = [], 0
    for text in texts:
        block.append(text)
        size += len(text)
        if size >= _BLOCK:
            yield block
            block, size = [], 0
    if block:
        yield block
