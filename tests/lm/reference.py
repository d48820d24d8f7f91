"""What a back-off model says, word by word from its list of n-grams: the reference implementation of
csrc/core/packedlm.c."""

from tests.lm.golden import entries
from wv_cli.lm.asking import SENTENCE, SENTENCE_END


def scores(model, stream, *, ends=True):
    """[(log10 p, words of the n-gram that was found)] of a stream of ids (-1 at the end of each sentence)."""
    listed = entries(model)
    ids = dict(zip(model.words, range(len(model.words)), strict=True))
    numbers = {tuple(ids[word] for word in ngram.split(" ")): listed[ngram] for ngram in listed}
    begin = (SENTENCE,) if ends else ()
    history, found = begin, []
    for word in stream.tolist():
        if word < 0 and not ends:
            found.append((0.0, 0))
        else:
            found.append(
                _score(numbers, history[max(0, len(history) + 1 - model.order) :], word if word >= 0 else SENTENCE_END)
            )
        history = begin if word < 0 else (*history, word)
    return found


def _score(numbers, history, word):
    weight = 0.0
    while (*history, word) not in numbers:
        weight += numbers.get(history, (0.0, 0.0))[1]
        history = history[1:]
    return weight + numbers[(*history, word)][0], len(history) + 1
