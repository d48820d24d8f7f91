"""The Python module of fastText 0.9.3 over this library: the same names, arguments, defaults and answers.

    import wv_cli.fasttext as fasttext

    model = fasttext.train_supervised(input="cooking.train", wordNgrams=2)
    model.predict("Which baking dish is best to bake a banana bread ?")

`wv help fasttext-module` has the differences.
"""

from wv_cli.io import built  # noqa: F401  isort: skip  # before what would fail without saying why
from wv_cli.fasttext import FastText, util
from wv_cli.fasttext.FastText import (
    BOW,
    EOS,
    EOW,
    cbow,
    load_model,
    skipgram,
    supervised,
    tokenize,
    train_supervised,
    train_unsupervised,
)

__all__ = [
    "BOW",
    "EOS",
    "EOW",
    "FastText",
    "cbow",
    "load_model",
    "skipgram",
    "supervised",
    "tokenize",
    "train_supervised",
    "train_unsupervised",
    "util",
]
