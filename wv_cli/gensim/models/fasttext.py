"""gensim's FastText, which is Word2Vec with subwords, and fastText's own files."""

from dataclasses import dataclass
from os import fspath
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.gensim.models.keyedvectors import KeyedVectors, Path, load_facebook_vectors, require_utf8
from wv_cli.gensim.models.word2vec import FAST_VERSION, Word2Vec
from wv_cli.gensim.refusals import name_old_arguments, warn_deprecated
from wv_cli.io.input import open_input
from wv_cli.io.kinds import HEAD_BYTES
from wv_cli.models.training.state import State, StateOptions
from wv_cli.text.sentences import Sentences
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import DenseMatrix, FastTextModel
from wv_cli.vectors.formats import fasttext_bin

__all__ = [
    "FAST_VERSION",
    "FastText",
    "FastTextKeyedVectors",
    "load_facebook_model",
    "load_facebook_vectors",
    "save_facebook_model",
]

FastTextKeyedVectors = KeyedVectors


@name_old_arguments
@dataclass(kw_only=True, eq=False, repr=False)
class FastText(Word2Vec):
    """Word2Vec with vectors for character n-grams: every word has a vector (Bojanowski et al. 2017)."""

    HAS_SUBWORDS: ClassVar[bool] = True

    word_ngrams: int = 1
    min_n: int = 3
    max_n: int = 6
    bucket: int = 2000000

    def __post_init__(self, sentences: Sentences | None, corpus_file: Path | None) -> None:
        if self.max_n < max(1, self.min_n) or self.bucket <= 0:
            self.min_n = self.max_n = self.bucket = 0
        self._facebook: FastTextModel | None = None
        super().__post_init__(sentences, corpus_file)

    def _learnt(self) -> State | None:
        if self._facebook is None:
            return super()._learnt()
        config = self._config(self.alpha, self.min_alpha, self.epochs)
        return _facebook_state(self._facebook, self._state_options(config, 0))

    def _restore_state(self) -> None:
        super()._restore_state()
        self._facebook = None

    def _forget(self) -> None:
        super()._forget()
        self._facebook = None

    def _vectors(self) -> KeyedVectors:
        if self._facebook is not None:
            return KeyedVectors.from_embeddings(_embeddings(self._facebook), self._facebook.counts)
        if not self.max_n:
            return super()._vectors()
        model = self._live()
        vectors = model.embeddings()
        whole = Embeddings(vectors.words, vectors.matrix, model.fasttext_model(self.min_count))
        return KeyedVectors.from_embeddings(whole, self._require_vocab().counts)

    def save(self, fname: Path, separately: Any = None, sep_limit: int = 0, pickle_protocol: int = 4) -> None:
        """Writes a state, as `wv train --save-state`, or the fastText model that it is. Raises WvError."""
        if self._facebook is not None:
            fasttext_bin.save_model(fspath(fname), self._facebook)
        else:
            super().save(fname)

    @classmethod
    def load(cls, fname: Path, mmap: str | None = None) -> Self:
        """Reads what save() has written, the state of `wv train` or a fastText model. Raises WvError."""
        with open_input(fname, "a state or a fastText model") as source:
            is_facebook = fasttext_bin.sniff(source.peek(HEAD_BYTES))
        return cls._of_facebook(fasttext_bin.load_model(fname)) if is_facebook else super().load(fname)

    @classmethod
    def load_fasttext_format(cls, model_file: Path, encoding: str = "utf8") -> "FastText":
        """load_facebook_model."""
        warn_deprecated("load_fasttext_format", "use load_facebook_vectors or load_facebook_model instead")
        return load_facebook_model(model_file, encoding)

    @classmethod
    def _of_facebook(cls, model: FastTextModel) -> Self:
        args = model.args
        made = cls(
            sg=args.model == "skipgram",
            hs=args.loss == "hs",
            negative=0 if args.loss == "hs" else args.negative,
            vector_size=args.dim,
            window=args.window,
            min_count=args.min_count,
            sample=args.sample,
            epochs=args.epochs,
            min_n=args.minn,
            max_n=args.maxn,
            bucket=args.buckets,
        )
        made._facebook = model
        made._vocab = Vocab(model.words, model.counts, tokens_read=model.tokens)
        return made


def load_facebook_model(path: Path, encoding: str = "utf-8") -> FastText:
    """A fastText model, which can be trained on unless it is a classifier. Raises WvError."""
    require_utf8(encoding)
    return FastText._of_facebook(fasttext_bin.load_model(fspath(path)))


def save_facebook_model(model: FastText, path: Path) -> None:
    """Writes a model of subwords as fastText's .bin. Raises WvError."""
    fasttext_bin.save_model(fspath(path), model._facebook or model._live().fasttext_model(model.min_count))


def _embeddings(model: FastTextModel) -> Embeddings:
    return Embeddings(model.words, model.all_word_vectors(), model if model.has_subwords else None)


def _facebook_state(model: FastTextModel, options: StateOptions) -> State:
    """A fastText model as the state of a training with all its n-grams. Raises UsageError for a classifier."""
    if model.is_classifier:
        message = "a classifier is not trained on as word vectors; start from them with wv_cli.train(..., init=FILE)"
        raise UsageError(message)
    words = len(model.words)
    buckets = np.arange(model.args.buckets if model.has_subwords else 0, dtype=np.int32)
    rows = model.rows_of_buckets(buckets)
    held = rows >= 0
    if isinstance(model.input, DenseMatrix) and held.all():
        inputs = model.input.values
    else:
        inputs = model.input.take(np.concatenate([np.arange(words), rows[held]]))
    outputs = np.arange(words - (options.config["loss"] == "hs"))
    arrays: dict[str, NDArray[Any]] = {
        "input": inputs,
        "output": model.output.take(outputs),
        "buckets": buckets[held],
    }
    return State(options, Vocab(model.words, model.counts, tokens_read=model.tokens), arrays)
