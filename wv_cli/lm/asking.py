"""What all language models answer, whatever they are made of: the words they list, and how probable events are.

`model.asked` has, for states that only the model understands (-1 is one of every model: nothing is known of what stands
before):

    begin()                    the state at the begin of a sentence
    step(state, word)          (log10 p, length of the n-gram, the state behind the word)
    score(ids, state, ends)    (scores, lengths, the state behind them) of a stream of ids
    all(state)                 log10 p of every word
"""

from wv_cli.lm.model import NgramModel
from wv_cli.lm.neural import NeuralModel
from wv_cli.words import WordList

LanguageModel = NgramModel | NeuralModel


def words_of(model: LanguageModel) -> WordList:
    """The words that a model lists, <unk>, <s> and </s> before all others."""
    return model.words if isinstance(model, NeuralModel) else model.trie.words
