"""gensim's Word2Vec and FastText, which differ in subwords alone, over wv_cli.models.word2vec.

Files are the states of `wv train --save-state`: either side goes on with what the other has learnt.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, replace
from os import fspath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.gensim.keyedvectors import KeyedVectors, Path, require_utf8
from wv_cli.gensim.training import Trained
from wv_cli.io.input import open_input
from wv_cli.io.kinds import HEAD_BYTES
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.training.state import State, StateOptions, read_options, read_state, save_state
from wv_cli.models.word2vec import Word2vec as Model
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, empty_corpus
from wv_cli.text.sentences import Sentences
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import DenseMatrix, FastTextModel
from wv_cli.vectors.formats import fasttext_bin

_LONGEST = 10_000  # words of a sentence


@dataclass(eq=False, repr=False)
class Word2Vec(Trained[Word2vecConfig]):
    """Word vectors by CBOW, or with sg=1 by skip-gram. Arguments are gensim's, with its defaults.

    >>> model = Word2Vec([["hello", "world"], ["hello", "there"]], vector_size=50, min_count=1)
    >>> model.wv.most_similar("hello")

    Raises UsageError for a value that has no effect or cannot be (wv_cli.gensim.refusals).
    """

    min_n = max_n = bucket = 0  # FastText has subwords

    sentences: InitVar[Sentences | None] = None
    corpus_file: InitVar[Path | None] = None
    _: KW_ONLY
    sg: int = 0
    cbow_mean: int = 1
    null_word: int = 0
    comment: str | None = None

    def __post_init__(self, sentences: Sentences | None, corpus_file: Path | None) -> None:
        self._model: Model | None = None
        self._before: State | None = None
        self._facebook: FastTextModel | None = None
        self._begin(sentences, corpus_file)

    def _options(self, same: dict[str, Any]) -> Word2vecConfig:
        return Word2vecConfig(
            model="skipgram" if self.sg else "cbow",
            loss="ns" if not self.hs else "hs_ns" if self.negative else "hs",
            shrink_window=bool(self.shrink_windows),
            minn=self.min_n,
            maxn=self.max_n,
            buckets=self.bucket or Word2vecConfig.buckets,
            max_sentence=_LONGEST,
            cbow_mean=bool(self.cbow_mean),
            **same,
        )

    def _make(self, config: Word2vecConfig, corpus: Corpus) -> Model:
        self._restore_state()
        self._model = Model(config, corpus, before=self._before)
        self._before = None
        return self._model

    def _live(self) -> Model:
        """The model, before it is trained with its starting vectors."""
        if self._model is None:
            config = self._config(self.alpha, self.min_alpha, self.epochs)
            self._model = Model(config, empty_corpus(self._require_vocab()), before=self._learnt())
        return self._model

    def _learnt(self) -> State | None:
        """What the next model goes on from."""
        if self._model is not None:
            return self._state(self._model)
        if self._facebook is not None:
            config = self._config(self.alpha, self.min_alpha, self.epochs)
            return _facebook_state(self._facebook, self._state_options(config, 0))
        return self._before

    def _restore_state(self) -> None:
        self._before, self._model, self._facebook = self._learnt(), None, None

    def _forget(self) -> None:
        self._model = self._before = self._facebook = None

    def _vectors(self) -> KeyedVectors:
        if self._facebook is not None:
            return KeyedVectors.from_embeddings(_embeddings(self._facebook), self._facebook.counts)
        model = self._live()
        if not self.max_n:
            return KeyedVectors.from_embeddings(model.embeddings(), self._require_vocab().counts)
        whole = model.fasttext_model(self.min_count)
        vectors = model.embeddings()
        return KeyedVectors.from_embeddings(
            Embeddings(vectors.words, vectors.matrix, whole), self._require_vocab().counts
        )

    def _output_rows(self) -> NDArray[np.float32]:
        return self._live().output[:, : self.vector_size]

    def predict_output_word(
        self, context_words_list: Sequence[str | int], topn: int = 10
    ) -> list[tuple[str, float]] | None:
        """The `topn` words that are most probable between context words, with their probabilities; None where no
        context word is known. Raises UsageError for hierarchical softmax alone."""
        if isinstance(context_words_list, str):
            message = "context_words_list: expected a list of words, found a str; split it"
            raise TypeError(message)
        if not self.negative or self.hs:
            message = "predict_output_word needs negative sampling alone: negative above 0 and hs=0"
            raise UsageError(message)
        vectors, words = self.wv, self._require_vocab().words
        rows = [vectors.get_index(word) for word in context_words_list if word in vectors]
        if not rows:
            return None
        hidden = vectors.matrix[rows].sum(axis=0, dtype=np.float64)
        scores = self.syn1neg @ (hidden / len(rows) if self.cbow_mean else hidden)
        shares = np.exp(scores - scores.max())
        best = np.argsort(-shares, kind="stable")[:topn]
        return [(words[row], float(shares[row] / shares.sum())) for row in best.tolist()]

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copies: what was learnt, without the tables of the training."""
        state = self._before if self._model is None else self._state(self._model)
        return {**vars(self), "_wv": None, "_model": None, "_before": state}

    # Files.

    def _state(self, model: Model) -> State:
        return model.state(self._state_options(model.config, float(model.config.epochs * model.corpus.tokens)))

    def _state_options(self, config: Word2vecConfig, trained: float) -> StateOptions:
        words = VocabConfig(min_count=self.min_count)
        return StateOptions(config.model, asdict(config), asdict(words), trained, config.start_lr)

    def save(self, fname: Path) -> None:
        """Writes a state, as `wv train --save-state`. Raises WvError."""
        if self._facebook is not None:
            fasttext_bin.save_model(fspath(fname), self._facebook)
            return
        save_state(fspath(fname), self._state(self._live()))

    @classmethod
    def load(cls, fname: Path) -> Self:
        """Reads what save() has written, or the state of `wv train`; not gensim's pickles. Raises WvError."""
        path = fspath(fname)
        options = read_options(path)
        config = replace(Word2vecConfig(**options.config), threads=3)
        if options.model not in ("skipgram", "cbow") or bool(config.maxn) != issubclass(cls, FastText):
            wanted = "FastText" if config.maxn else "Word2Vec" if options.model in ("skipgram", "cbow") else "wv train"
            message = f"{path}: expected a state of {cls.__name__}, found one of {options.model}; use {wanted}"
            raise UsageError(message)
        subwords: dict[str, Any] = {"min_n": config.minn, "max_n": config.maxn, "bucket": config.buckets}
        model = cls._from_options(
            config,
            alpha=options.lr or config.start_lr,
            min_alpha=config.least_lr,
            min_count=int(options.vocab_config.get("min_count", 1)),
            sg=config.model == "skipgram",
            cbow_mean=config.cbow_mean,
            shrink_windows=config.shrink_window,
            **(subwords if config.maxn else {}),
        )
        state = read_state(path, Model.state_layout(config))
        model._vocab, model._before = state.vocab, state
        model.corpus_count, model.corpus_total_words = state.vocab.lines, state.vocab.tokens_read
        return model

    def __str__(self) -> str:
        words = len(self._vocab) if self._vocab is not None else 0
        return f"{type(self).__name__}<vocab={words}, vector_size={self.vector_size}, alpha={self.alpha}>"


@dataclass(kw_only=True, eq=False, repr=False)
class FastText(Word2Vec):
    """The same with vectors for character n-grams: every word has a vector (Bojanowski et al. 2017)."""

    word_ngrams: int = 1
    min_n: int = 3
    max_n: int = 6
    bucket: int = 2000000

    def __post_init__(self, sentences: Sentences | None, corpus_file: Path | None) -> None:
        if self.max_n < max(1, self.min_n) or self.bucket <= 0:
            self.min_n = self.max_n = self.bucket = 0
        super().__post_init__(sentences, corpus_file)

    @classmethod
    def load(cls, fname: Path) -> Self:
        """Reads what save() has written, the state of `wv train` or a fastText model. Raises WvError."""
        with open_input(fname, "a state or a fastText model") as source:
            is_facebook = fasttext_bin.sniff(source.peek(HEAD_BYTES))
        return cls._of_facebook(fasttext_bin.load_model(fname)) if is_facebook else super().load(fname)

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
