"""NeuralModel: a neural language model in memory, and what it says of sentences.

Training is wv_cli.models.neural and csrc/kernels/neural.c, which has the formulas. Here a model only answers: many
events at a time, by products of matrices. Numbers are logarithms to base 10, as those of n-grams.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wv_cli.lm.asking import SENTENCE, SENTENCE_END, UNKNOWN
from wv_cli.lm.model import LOG_ZERO
from wv_cli.words import WordList

Floats = NDArray[np.float32]
Ids = NDArray[np.int32]
Context = tuple[int, ...]
_LOG_10 = float(np.log(10))
_MOST_MIXED = 1 << 26  # numbers
_EVENTS = 256  # at a time: their scores of 10,000 words are 10 MB


@dataclass(frozen=True, eq=False)
class Words:
    """Every word is a row of `output`: one softmax over all."""


@dataclass(frozen=True, eq=False)
class Paths:
    """Code c is what the nodes node[start[c]:start[c + 1]] (rows of `output`, root first) answer with `answer`, 0 or
    1: its probability is the product of theirs. Word w has the code w or, with `codes`, codes[w] .. codes[w + 1] - 1,
    and the sum of their probabilities."""

    start: NDArray[np.int64]
    node: Ids
    answer: NDArray[np.uint8]
    codes: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Classes:
    """The words start[c] .. start[c + 1] - 1 are class c; the rows of the words come first, those of classes follow."""

    start: NDArray[np.int32]

    @cached_property
    def of_word(self) -> Ids:
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))


@dataclass
class Normalizers:
    """ln of the sums over all words of exp(score), of the events asked so far: what training by noise contrast takes
    for 0."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, logs: NDArray[np.floating]) -> None:
        self.count += len(logs)
        self.total += float(logs.sum(dtype=np.float64))
        self.squares += float(np.square(logs, dtype=np.float64).sum())

    @property
    def mean(self) -> float:
        return self.total / max(1, self.count)

    @property
    def spread(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(max(0.0, self.squares / max(1, self.count) - self.mean**2)))


@dataclass(frozen=True, eq=False)
class NeuralModel:
    """Matrices of csrc/kernels/wv_neural.h without padding, float32: `input` (words, dim); `mixing` (hidden,
    (order - 1) dim), or diagonal (order - 1, dim), the nearest context word first; `output` (rows, hidden), with direct
    connections (rows, hidden + (order - 1) dim); `bias` (rows,). `hidden_bias` (hidden,): there is a tanh; None: the
    predicted vector is linear. With `unnormalized` scores are taken for logarithms of probabilities as they are."""

    words: WordList
    order: int
    loss: str
    input: Floats
    mixing: Floats
    hidden_bias: Floats | None
    output: Floats
    bias: Floats
    outputs: Words | Paths | Classes
    unnormalized: bool = False
    normalizers: Normalizers = field(default_factory=Normalizers)

    @property
    def scorer(self) -> "NeuralModel":
        """See wv_cli.lm.asking."""
        return self

    @property
    def may_be_unnormalized(self) -> bool:
        """Whether training made the sum over all words about 1."""
        return self.loss == "nce"

    def log_sums(self, contexts: Ids) -> Floats:
        """ln of the sum over all words of exp(score), (n,), after contexts (n, order - 1), the nearest word first; of
        models whose outputs are words."""
        parts = [contexts[begin : begin + _EVENTS] for begin in range(0, len(contexts), _EVENTS)]
        return np.concatenate([_log_sums(self._hidden(part) @ self.output.T + self.bias) for part in parts])

    def begin(self, ends: bool = True) -> Context:
        """The context at the begin of a sentence; `ends` false: words that are not known."""
        return (SENTENCE if ends else UNKNOWN,) * (self.order - 1)

    def score(
        self, stream: ArrayLike, state: Context, ends: bool = True
    ) -> tuple["memoryview[Any]", "memoryview[Any]", Context]:
        """(scores (n,) float32, lengths (n,) uint8, the context behind them) of a stream of ids; -1 scores </s>, or
        nothing where lines have no `ends`."""
        ids = np.asarray(stream, np.int32)
        width, n = self.order - 1, len(ids)
        begin = np.array(self.begin(ends), np.int32)
        before = np.array(state, np.int32)[::-1]
        whole = np.concatenate([before, ids])
        last_end = np.maximum.accumulate(np.where(whole < 0, np.arange(n + width), -1))
        place = np.arange(width, n + width)
        contexts = np.empty((n, width), np.int32)
        for j in range(width):
            there = place - 1 - j > last_end[place - 1]
            contexts[:, j] = np.where(there, whole[place - 1 - j], begin[j])
        targets = np.where(ids < 0, SENTENCE_END, ids).astype(np.int32)
        scores = np.zeros(n, np.float32)
        asked = np.flatnonzero((ids >= 0) | ends)
        scores[asked] = self._scores(contexts[asked], targets[asked])
        behind = begin if n and ids[-1] < 0 else np.concatenate([ids[-1:], contexts[-1]])[:width] if n else before[::-1]
        lengths = np.full(n, min(self.order, 255), np.uint8)
        return scores.data, lengths.data, tuple(behind.tolist())

    def all(self, state: Context) -> Floats:
        """log10 p(word | state) of all words, (words,); <s> among them, which is never predicted."""
        hidden = self._hidden(np.array([state], np.int32))
        scores = (hidden @ self.output.T + self.bias)[0]
        match self.outputs:
            case Words():
                logs = scores if self.unnormalized else scores - _log_sums(scores[None])
            case Paths(start, node, answer, codes):
                logs = _sums_of(np.add, _log_answers(scores[node], answer), start)
                logs = logs if codes is None else _sums_of(np.logaddexp, logs, codes)
            case Classes(start) as classes:
                count = len(classes.of_word)
                within = np.concatenate([scores[a:b] - _log_sums(scores[None, a:b]) for a, b in _pairs(start)])
                logs = within + (scores[count:] - _log_sums(scores[None, count:]))[classes.of_word]
        logs = _log10(logs)
        logs[SENTENCE] = LOG_ZERO
        return logs

    def predict_vectors(self, contexts: Ids) -> Floats:
        """The vectors that the model predicts after contexts (n, order - 1): what rows of `output` are multiplied with,
        without the part of direct connections."""
        hidden = self._hidden(contexts)
        return hidden if self.hidden_bias is None else hidden[:, : len(self.hidden_bias)]

    @cached_property
    def _context_products(self) -> Floats:
        """What each word adds to the hidden layer at each place of the context, (order - 1, words, hidden)."""
        places = self.mixing.reshape(len(self.mixing), self.order - 1, -1)
        return np.stack([self.input @ places[:, j].T for j in range(self.order - 1)])

    def _context_products_for(self, events: int) -> Floats | None:
        """The products where they are there, or pay for so many events: a matrix then is looked up, not multiplied."""
        size = (self.order - 1) * len(self.words) * len(self.mixing)
        if self._is_diagonal or size > _MOST_MIXED:
            return None
        return self._context_products if "_mixed" in self.__dict__ or 2 * events > len(self.words) else None

    @property
    def _is_diagonal(self) -> bool:
        return self.hidden_bias is None and self.mixing.shape == (self.order - 1, self.input.shape[1])

    def _hidden(self, contexts: Ids, mixed: Floats | None = None) -> Floats:
        """What the rows of `output` are multiplied with, (n, columns of output)."""
        direct = self.hidden_bias is not None and self.output.shape[1] > len(self.hidden_bias)
        if mixed is not None and not direct:
            hidden = _sum_of_rows(mixed, contexts)
            return hidden if self.hidden_bias is None else np.tanh(hidden + self.hidden_bias)
        rows = self.input[contexts]
        if self._is_diagonal:
            return np.asarray(np.einsum("njd,jd->nd", rows, self.mixing))
        flat = rows.reshape(len(rows), -1)
        hidden = np.asarray(flat @ self.mixing.T)
        if self.hidden_bias is None:
            return hidden
        hidden = np.tanh(hidden + self.hidden_bias)
        return np.concatenate([hidden, flat], axis=1) if direct else hidden

    def _scores(self, contexts: Ids, targets: Ids) -> Floats:
        """log10 p of each target after its context."""
        scores = np.empty(len(targets), np.float32)
        ask, mixed = self._ask, self._context_products_for(len(targets))
        for begin in range(0, len(targets), _EVENTS):
            part = slice(begin, begin + _EVENTS)
            scores[part] = _log10(ask(self._hidden(contexts[part], mixed), targets[part]))
        return scores

    @cached_property
    def _ask(self) -> Callable[[Floats, Ids], Floats]:
        """ln p of targets, given what _hidden says of their contexts."""
        match self.outputs:
            case Words():
                return self._ask_words
            case Paths() as paths:
                return lambda hidden, targets: self._ask_paths(paths, hidden, targets)
            case Classes() as classes:
                return lambda hidden, targets: self._ask_classes(classes, hidden, targets)

    def _ask_words(self, hidden: Floats, targets: Ids) -> Floats:
        if self.unnormalized:
            return np.asarray(np.einsum("nd,nd->n", hidden, self.output[targets]) + self.bias[targets])
        scores = hidden @ self.output.T
        scores += self.bias
        sums = _log_sums(scores)
        self.normalizers.add(sums)
        return np.asarray(scores[np.arange(len(targets)), targets] - sums)

    def _ask_paths(self, paths: Paths, hidden: Floats, targets: Ids) -> Floats:
        if paths.codes is None:
            return self._ask_codes(paths, hidden, targets)
        event, code, starts = _members(paths.codes, targets)
        return _sums_of(np.logaddexp, self._ask_codes(paths, hidden[event], code), starts)

    def _ask_codes(self, paths: Paths, hidden: Floats, codes: NDArray[np.integer]) -> Floats:
        event, step, starts = _members(paths.start, codes)
        node = paths.node[step]
        scores = np.einsum("nd,nd->n", hidden[event], self.output[node]) + self.bias[node]
        return _sums_of(np.add, _log_answers(scores, paths.answer[step]), starts)

    def _ask_classes(self, classes: Classes, hidden: Floats, targets: Ids) -> Floats:
        count, own = len(classes.of_word), classes.of_word[targets]
        scores = hidden @ self.output[count:].T + self.bias[count:]
        logs = scores[np.arange(len(targets)), own] - _log_sums(scores)
        for each in np.unique(own).tolist():
            a, b = int(classes.start[each]), int(classes.start[each + 1])
            events = np.flatnonzero(own == each)
            within = hidden[events] @ self.output[a:b].T + self.bias[a:b]
            logs[events] += within[np.arange(len(events)), targets[events] - a] - _log_sums(within)
        return np.asarray(logs)


def _sum_of_rows(table: Floats, contexts: Ids) -> Floats:
    """The sum of the rows table[place, word] of each context."""
    found = table[0][contexts[:, 0]]
    for j in range(1, contexts.shape[1]):
        found += table[j][contexts[:, j]]
    return np.asarray(found)


def _members(starts: NDArray[np.int64], groups: NDArray[np.integer]) -> tuple[NDArray[np.int64], ...]:
    """Of the members starts[g] .. starts[g + 1] - 1 of some groups, one after the other: the place in `groups` of each,
    the members, and where those of each group begin."""
    lengths = starts[groups + 1] - starts[groups]
    begin = np.concatenate([[0], np.cumsum(lengths)])
    place = np.repeat(np.arange(len(groups)), lengths)
    return place, np.arange(len(place)) + (starts[groups] - begin[:-1])[place], begin


def _sums_of(add: np.ufunc, values: Floats, starts: NDArray[np.int64]) -> Floats:
    """Sums of values[starts[i]:starts[i + 1]]; ln 0 for those of nothing."""
    nothing = np.float32(add.identity)  # a last one, so that every start is a place
    sums = add.reduceat(np.append(values, nothing), starts[:-1])
    return np.where(np.diff(starts) == 0, np.float32(-np.inf), sums).astype(np.float32)


def _pairs(starts: Ids) -> Iterator[tuple[int, int]]:
    yield from zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)


def _log_sums(scores: Floats) -> Floats:
    """ln of the sum of exp of each row."""
    top = scores.max(axis=1, keepdims=True)
    return np.asarray(np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0])


def _log_answers(scores: Floats, answer: NDArray[np.uint8]) -> Floats:
    """ln of the probability of answers 1 or 0 to questions with these scores."""
    signed = np.where(answer > 0, scores, -scores)
    return np.asarray(np.minimum(signed, 0) - np.log1p(np.exp(-np.abs(signed))))  # four times as fast as logaddexp


def _log10(logs: NDArray[np.floating]) -> Floats:
    return np.asarray(np.maximum(np.asarray(logs, np.float32) / np.float32(_LOG_10), np.float32(LOG_ZERO)))
