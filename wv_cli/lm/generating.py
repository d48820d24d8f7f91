"""What a model would write: the most probable next words, and sentences drawn word by word."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.lm.asking import SENTENCE, SENTENCE_END, UNKNOWN, LanguageModel
from wv_cli.lm.model import LOG_ZERO
from wv_cli.words import WordList, split_words


class Generator:
    """`ends`: what it is asked to go on begins a sentence. Words that the model does not list are <unk>."""

    def __init__(self, model: LanguageModel, *, ends: bool = True) -> None:
        self._model: Any = model  # its states are its own affair
        self._begin = model.scorer.begin(ends)

    def next_words(self, start: str, k: int) -> list[tuple[str, float]]:
        """The k most probable words after `start` with their probabilities, none that is 0; <unk> is no word. Raises
        UsageError for a start that holds <s> or </s>."""
        probabilities = self._probabilities(self._state(start))
        best = np.argsort(-probabilities, kind="stable")[:k]
        return [(self._model.words[word], float(probabilities[word])) for word in best.tolist() if probabilities[word]]

    def sample(self, count: int, seed: int, *, start: str = "", max_words: int = 100) -> Iterator[str]:
        """Sentences that begin with `start`, none longer than max_words words. Raises what following raises."""
        begin, opening, words = self._state(start), split_words(start), self._model.words
        random = np.random.default_rng(seed)
        for _ in range(count):
            state, sentence = begin, list(opening)
            while len(sentence) < max_words:
                sums = np.cumsum(self._probabilities(state))
                if sums[-1] == 0:  # nothing that is known can follow
                    break
                word = int(np.searchsorted(sums, random.random() * sums[-1], side="right"))
                if word == SENTENCE_END:
                    break
                sentence.append(words[word])
                state = self._model.scorer.score(np.array([word], np.int32), state)[2]
            yield " ".join(sentence)

    def _state(self, start: str) -> Any:
        found = self._model.words.find_all(WordList.from_words(split_words(start)))
        if np.isin(found, [SENTENCE, SENTENCE_END]).any():
            message = f"{start!r}: <s> and </s> mark sentences and are no words; leave them out"
            raise UsageError(message)
        ids = np.where(found < 0, UNKNOWN, found).astype(np.int32)
        return self._model.scorer.score(ids, self._begin)[2]

    def _probabilities(self, state: Any) -> NDArray[np.float64]:
        scores = self._model.scorer.all(state).astype(np.float64)
        scores[[UNKNOWN, SENTENCE]] = -np.inf
        scores[scores <= LOG_ZERO] = -np.inf
        return np.asarray(10.0 ** np.minimum(scores, 0.0))
