"""gensim's models, at gensim's paths: `from wv_cli.gensim.models.word2vec import LineSentence`."""

from typing import Any

from wv_cli.gensim.models import callbacks, doc2vec, fasttext, keyedvectors, phrases, word2vec
from wv_cli.gensim.models.doc2vec import Doc2Vec
from wv_cli.gensim.models.fasttext import FastText
from wv_cli.gensim.models.keyedvectors import KeyedVectors
from wv_cli.gensim.models.phrases import Phrases
from wv_cli.gensim.models.word2vec import FAST_VERSION, Word2Vec
from wv_cli.gensim.refusals import missing_name

__all__ = [
    "FAST_VERSION",
    "Doc2Vec",
    "FastText",
    "KeyedVectors",
    "Phrases",
    "Word2Vec",
    "callbacks",
    "doc2vec",
    "fasttext",
    "keyedvectors",
    "phrases",
    "word2vec",
]


def __getattr__(name: str) -> Any:
    raise missing_name("gensim.models", name)
