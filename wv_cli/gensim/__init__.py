"""gensim's classes over this library: the same names, arguments and defaults, and what cannot be the same is refused.

    from wv_cli.gensim.models import Word2Vec

    model = Word2Vec(sentences, vector_size=100, sg=1, workers=4)
    model.wv.most_similar("king")

Models are in memory, and nothing is written before save(), whose files are those of `wv`. `wv help gensim` has the
differences.
"""

from typing import Any

from wv_cli.io import built  # noqa: F401  isort: skip  # before what would fail without saying why
from wv_cli.gensim import downloader, models, utils
from wv_cli.gensim.models.callbacks import CallbackAny2Vec
from wv_cli.gensim.models.doc2vec import Doc2Vec, TaggedDocument
from wv_cli.gensim.models.fasttext import FastText, load_facebook_model, load_facebook_vectors, save_facebook_model
from wv_cli.gensim.models.keyedvectors import KeyedVectors
from wv_cli.gensim.models.phrases import ENGLISH_CONNECTOR_WORDS, FrozenPhrases, Phraser, Phrases
from wv_cli.gensim.models.word2vec import LineSentence, PathLineSentences, Word2Vec
from wv_cli.gensim.refusals import missing_name
from wv_cli.gensim.utils import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP

__version__ = "4.4.0"  # the gensim whose names, arguments and defaults these are

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
    "downloader",
    "load_facebook_model",
    "load_facebook_vectors",
    "models",
    "save_facebook_model",
    "utils",
]


def __getattr__(name: str) -> Any:
    raise missing_name("gensim", name)
