"""gensim's classes over this library: the same names, arguments and defaults, and what cannot be the same is refused.

    from wv_cli.gensim import Word2Vec

    model = Word2Vec(sentences, vector_size=100, sg=1, workers=4)
    model.wv.most_similar("king")

Models are in memory, and nothing is written before save(), whose files are those of `wv`. `wv help gensim` has the
differences.
"""

from wv_cli.gensim.doc2vec import Doc2Vec, TaggedDocument
from wv_cli.gensim.keyedvectors import KeyedVectors, load_facebook_vectors
from wv_cli.gensim.phrases import ENGLISH_CONNECTOR_WORDS, FrozenPhrases, Phraser, Phrases
from wv_cli.gensim.sentences import LineSentence, PathLineSentences
from wv_cli.gensim.training import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, CallbackAny2Vec
from wv_cli.gensim.word2vec import FastText, Word2Vec, load_facebook_model, save_facebook_model

__all__ = [
    "ENGLISH_CONNECTOR_WORDS",
    "RULE_DEFAULT",
    "RULE_DISCARD",
    "RULE_KEEP",
    "CallbackAny2Vec",
    "Doc2Vec",
    "FastText",
    "FrozenPhrases",
    "KeyedVectors",
    "LineSentence",
    "PathLineSentences",
    "Phraser",
    "Phrases",
    "TaggedDocument",
    "Word2Vec",
    "load_facebook_model",
    "load_facebook_vectors",
    "save_facebook_model",
]
