"""gensim's Word2Vec over wv_cli.models.word2vec, and its readers of text.

Files are the states of `wv train --save-state`: either side goes on with what the other has learnt.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, replace
from os import fspath
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.gensim.models.keyedvectors import KeyedVectors, Path
from wv_cli.gensim.models.sentences import LineSentence, PathLineSentences, Text8Corpus
from wv_cli.gensim.models.training import Trained
from wv_cli.gensim.refusals import name_old_arguments
from wv_cli.io.arguments import require_type
from wv_cli.io.input import open_input
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.training.state import State, StateOptions, read_options, read_state, save_state
from wv_cli.models.word2vec import Word2vec as Model
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, empty_corpus
from wv_cli.text.sentences import Sentences
from wv_cli.text.vocab import order_words

__all__ = ["FAST_VERSION", "LineSentence", "PathLineSentences", "Text8Corpus", "Word2Vec"]

_LONGEST = 10_000  # words of a sentence
FAST_VERSION = 1  # gensim's sign of compiled kernels


@name_old_arguments
@dataclass(eq=False, repr=False)
class Word2Vec(Trained[Word2vecConfig]):
    """Word vectors by CBOW, or with sg=1 by skip-gram. Arguments are gensim's, with its defaults.

    >>> model = Word2Vec([["hello", "world"], ["hello", "there"]], vector_size=50, min_count=1)
    >>> model.wv.most_similar("hello")

    Raises UsageError for a value that has no effect or cannot be (wv_cli.gensim.refusals).
    """

    HAS_SUBWORDS: ClassVar[bool] = False
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
        return self._before

    def _restore_state(self) -> None:
        self._before, self._model = self._learnt(), None

    def _forget(self) -> None:
        self._model = self._before = None

    def _vectors(self) -> KeyedVectors:
        return KeyedVectors.from_embeddings(self._live().embeddings(), self._require_vocab().counts)

    @property
    def wv(self) -> KeyedVectors:
        """The vectors of the words. Those that are set replace them; other words than the model's become its
        vocabulary, and what it has learnt is forgotten."""
        return super().wv

    @wv.setter
    def wv(self, vectors: KeyedVectors) -> None:
        require_type(vectors, KeyedVectors, "wv", "KeyedVectors")
        if self.HAS_SUBWORDS:
            message = "wv of FastText follows from its n-grams; use load_facebook_model or FastText.load"
            raise UsageError(message)
        if not len(vectors):
            message = "wv: there are no vectors; add_vectors makes them"
            raise UsageError(message)
        if vectors.dim != self.vector_size:
            message = f"wv: expected vectors of {self.vector_size} numbers, found {vectors.dim}; give vector_size"
            raise UsageError(message)
        words, counts = vectors.words, vectors.expandos["count"]
        if self._vocab is None or len(self._vocab) != len(words) or self._vocab.words.find_all(words).min() < 0:
            self._forget()
            total = int(counts.sum())
            self._vocab, _ = order_words(words.blob, words.starts, counts, lines=0, tokens_read=total)
            self._drop_vectors()
        self.wv.add_vectors(list(words), vectors.matrix, replace=True)

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

    def save(self, fname: Path, separately: Any = None, sep_limit: int = 0, pickle_protocol: int = 4) -> None:
        """Writes a state, as `wv train --save-state`, one file whatever the other arguments say. Raises WvError."""
        save_state(fspath(fname), self._state(self._live()))

    @classmethod
    def load(cls, fname: Path, mmap: str | None = None) -> Self:
        """Reads what save() has written, or the state of `wv train`, into memory; not gensim's pickles. Raises
        WvError."""
        path = fspath(fname)
        with open_input(path, "a state"):
            options = read_options(path)
        config = replace(Word2vecConfig(**options.config), threads=3)
        if options.model not in ("skipgram", "cbow") or bool(config.maxn) != cls.HAS_SUBWORDS:
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

    def __repr__(self) -> str:
        words = len(self._vocab) if self._vocab is not None else 0
        return f"{type(self).__name__}<vocab={words}, vector_size={self.vector_size}, alpha={self.alpha}>"
