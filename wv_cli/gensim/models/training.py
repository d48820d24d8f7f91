"""What gensim's trained models share: vocabulary, training and callbacks, over the parts that `wv train` has.

A text is counted by wv_cli.text, learnt by wv_cli.models and wv_cli.models.training. Nothing is written before save().
Sentences that are no file are spool_sentences into one (wv_cli.text.sentences), once even if they are counted and
learnt.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.commands.telling import tee_log
from wv_cli.config import Options
from wv_cli.config.wording import arguments_in_errors
from wv_cli.errors import UsageError, WvError
from wv_cli.gensim.models.callbacks import CallbackAny2Vec
from wv_cli.gensim.models.keyedvectors import KeyedVectors
from wv_cli.gensim.models.sentences import divided_file
from wv_cli.gensim.refusals import ARGUMENTS, missing_attribute, refuse, warn_deprecated
from wv_cli.gensim.utils import RULE_DISCARD, RULE_KEEP
from wv_cli.models.training import run
from wv_cli.models.training.threads import Threads
from wv_cli.text.config import VocabConfig
from wv_cli.text.continued_vocabulary import extend_vocab
from wv_cli.text.corpus import Corpus, count, encode
from wv_cli.text.sentences import Sentences, spool_sentences
from wv_cli.text.vocab import EmptyVocabulary, Vocab, order_words
from wv_cli.words import WordList

Path = str | PathLike[str]
TrimRule = Callable[[str, int, int], int | None]

ConfigType = TypeVar("ConfigType", bound=Options)
# gensim's names of options; what is the same in every config ...
_SAME = {
    "dim": "vector_size",
    "window": "window",
    "power": "ns_exponent",
    "sample": "sample",
    "epochs": "epochs",
    "seed": "seed",
    "threads": "workers",
}
# ... and of others that messages name.
_NAMES = {
    **_SAME,
    "lr": "alpha",
    "lr-floor": "min_alpha",
    "minn": "min_n",
    "maxn": "max_n",
    "buckets": "bucket",
    "max-vocab": "max_final_vocab",
}


@dataclass(kw_only=True, eq=False, repr=False)
class Trained(Generic[ConfigType]):
    """Base of models. Its fields are gensim's arguments; `corpus_count` and `corpus_total_words` are the sentences and
    the words that were counted last."""

    EVERY_LINE: ClassVar[bool] = False  # whether an empty sentence counts
    VECTORS: ClassVar[str] = "model.wv"  # what messages name for questions to vectors

    vector_size: int = 100
    alpha: float = 0.025
    min_alpha: float = 0.0001
    window: int = 5
    min_count: int = 5
    max_vocab_size: int | None = None
    max_final_vocab: int | None = None
    sample: float = 1e-3
    seed: int | None = 1
    workers: int = 3
    hs: int = 0
    negative: int = 5
    ns_exponent: float = 0.75
    epochs: int = 5
    trim_rule: TrimRule | None = None
    sorted_vocab: int = 1
    batch_words: int = 10000
    compute_loss: bool = False
    shrink_windows: bool = True
    hashfxn: Any = hash
    callbacks: Iterable[CallbackAny2Vec] = ()

    def _begin(self, texts: Any, corpus_file: Path | None) -> None:
        """The constructor's work: refuses what cannot be, then counts and learns the texts, if there are any."""
        given = vars(self)
        refuse(**{name: given[name] for name in given if name in ARGUMENTS})
        self.seed = int(np.random.default_rng().integers(1 << 31)) if self.seed is None else self.seed
        self.hs, self.negative = int(self.hs), int(self.negative)
        self.callbacks, self.min_count = list(self.callbacks), max(1, self.min_count or 1)
        self.effective_min_count = self.min_count
        self.corpus_count = self.corpus_total_words = 0
        self.running_training_loss = self.total_train_time = 0.0
        self._vocab: Vocab | None = None
        self._wv: KeyedVectors | None = None
        config = self._config(self.alpha, self.min_alpha, self.epochs)
        if texts is None and corpus_file is None:
            return
        with self._text(texts, corpus_file) as path:
            self._count(path, update=False, trim_rule=None)
            self._learn(path, config)

    # What each model makes of it.

    def _options(self, same: dict[str, Any]) -> ConfigType:
        """The config of a training; `same` are the options that every config has."""
        raise NotImplementedError

    def _make(self, config: ConfigType, corpus: Corpus) -> Any:
        """The model to be trained on a corpus, which goes on from what was learnt before."""
        raise NotImplementedError

    def _vectors(self) -> KeyedVectors:
        """The vectors of the words as they are now."""
        raise NotImplementedError

    def _output_rows(self) -> NDArray[np.float32]:
        """The rows of the output layers: the nodes of hierarchical softmax, then the words."""
        raise NotImplementedError

    def _forget(self) -> None:
        """A new vocabulary begins."""
        raise NotImplementedError

    def _drop_vectors(self) -> None:
        """The vectors of the moment before are no longer those of the model."""
        self._wv = None

    def _restore_state(self) -> None:
        """The vocabulary grows: what was learnt is kept for the next model."""
        raise NotImplementedError

    # What all have.

    @property
    def wv(self) -> KeyedVectors:
        """The vectors of the words. Raises WvError before there is a vocabulary."""
        self._require_vocab()
        if self._wv is None:
            self._wv = self._vectors()
        return self._wv

    @property
    def layer1_size(self) -> int:
        return self.vector_size

    @property
    def syn1neg(self) -> NDArray[np.float32]:
        """The context vectors of negative sampling, (words, dim). Raises AttributeError without."""
        if not self.negative:
            raise missing_attribute(self, "syn1neg")
        return self._output_rows()[-len(self._require_vocab()) :]

    @property
    def syn1(self) -> NDArray[np.float32]:
        """The nodes of hierarchical softmax, (words, dim). The last row is zero, but for FastText: its tree has a leaf
        for line ends. Raises AttributeError without."""
        if not self.hs:
            raise missing_attribute(self, "syn1")
        words = len(self._require_vocab())
        nodes = self._output_rows()[: -words if self.negative else None]
        return np.concatenate([nodes, np.zeros_like(nodes[:1])])[:words]

    def get_latest_training_loss(self) -> float:
        """The sum of the losses of the last training, 0 unless `compute_loss`."""
        return self.running_training_loss

    def init_sims(self, replace: bool = False) -> None:
        """Nothing, or divides every vector by its length with `replace`."""
        warn_deprecated("init_sims", "Use fill_norms() of the vectors instead")
        if replace:
            self.wv.unit_normalize_all()

    def build_vocab(
        self,
        corpus_iterable: Sentences | None = None,
        corpus_file: Path | None = None,
        update: bool = False,
        progress_per: int = 10000,
        keep_raw_vocab: bool = False,
        trim_rule: TrimRule | None = None,
    ) -> None:
        """Counts the words of sentences and keeps the frequent ones; with `update` they are added to those that the
        model has. Raises TypeError, ValueError for other sentences, WvError for no words."""
        refuse(keep_raw_vocab=keep_raw_vocab)
        with self._text(corpus_iterable, corpus_file) as path:
            self._count(path, update=update, trim_rule=trim_rule)

    def build_vocab_from_freq(
        self,
        word_freq: Mapping[str, int],
        keep_raw_vocab: bool = False,
        corpus_count: int | None = None,
        trim_rule: TrimRule | None = None,
        update: bool = False,
    ) -> None:
        """The same with counts that are known."""
        refuse(keep_raw_vocab=keep_raw_vocab)
        words, counts = WordList.from_words(word_freq), np.array(list(word_freq.values()), np.int64)
        total = int(counts.sum())
        whole, _ = order_words(words.blob, words.starts, counts, lines=corpus_count or 0, tokens_read=total)
        self._take(whole, update=update, trim_rule=trim_rule)

    def train(
        self,
        corpus_iterable: Sentences | None = None,
        corpus_file: Path | None = None,
        total_examples: int | None = None,
        total_words: int | None = None,
        epochs: int | None = None,
        start_alpha: float | None = None,
        end_alpha: float | None = None,
        word_count: int = 0,
        queue_factor: int = 2,
        report_delay: float = 1.0,
        compute_loss: bool | None = None,
        callbacks: Iterable[CallbackAny2Vec] = (),
    ) -> tuple[int, int]:
        """Learns from sentences; words outside the vocabulary are left out. The learning rate falls from `start_alpha`
        to `end_alpha`. Returns (words learnt, words read), those of every epoch. `total_examples`, `total_words`,
        `queue_factor` and `report_delay` are not needed: the text is counted when it is read. Raises Interrupted for
        a run that a signal stopped; the model keeps what it has learnt."""
        refuse(word_count=word_count)
        if compute_loss is not None:
            self.compute_loss = compute_loss
        alpha = self.alpha if start_alpha is None else start_alpha
        least = self.min_alpha if end_alpha is None else end_alpha
        epochs = epochs or self.epochs
        config = self._config(alpha, least, epochs)
        self.alpha, self.min_alpha, self.epochs = alpha, least, epochs
        with self._text(corpus_iterable, corpus_file) as path:
            return self._learn(path, config, callbacks)

    @contextmanager
    def _text(self, sentences: Any, corpus_file: Path | None) -> Iterator[str]:
        if (sentences is None) == (corpus_file is None):
            found = "neither" if sentences is None else "both"
            message = f"expected sentences or corpus_file, found {found}"
            raise TypeError(message)
        name = "sentences" if not self.EVERY_LINE else "documents"
        given = spool_sentences(sentences, name=name) if corpus_file is None else divided_file(corpus_file)
        with given as path, arguments_in_errors(_NAMES):
            yield path

    def _count(self, path: str, *, update: bool, trim_rule: TrimRule | None) -> None:
        self._take(count([path], VocabConfig(min_count=1)), update=update, trim_rule=trim_rule)

    def _take(self, whole: Vocab, *, update: bool, trim_rule: TrimRule | None) -> None:
        """The vocabulary becomes that of a text, or grows by it."""
        kept = self._cut(whole, trim_rule or self.trim_rule)
        if update:
            self._restore_state()
            kept = extend_vocab(self._require_vocab(), kept, VocabConfig(min_count=1))
        else:
            self._forget()
        self._vocab = kept
        self._drop_vectors()
        self.corpus_count, self.corpus_total_words = whole.lines, whole.tokens_read

    def _cut(self, whole: Vocab, rule: TrimRule | None) -> Vocab:
        """The words that are frequent enough, by gensim's rules. Raises WvError when none is."""
        least, most = self.min_count, self.max_final_vocab
        if most is not None and most < whole.often(least):
            least = max(least, int(whole.counts[most]) + 1)  # of words with one count all are kept, or none
        self.effective_min_count = least
        if rule is None:
            return whole.cut(VocabConfig(min_count=least))
        kept = []
        for row, (word, number) in enumerate(zip(whole.words, whole.counts.tolist(), strict=True)):
            verdict = rule(word, number, least)
            if verdict == RULE_KEEP or (verdict != RULE_DISCARD and number >= least):
                kept.append(row)
        if not kept:
            message = "the trim rule and min_count keep no word"
            raise EmptyVocabulary(message)
        rows = np.array(kept, np.int64)
        return Vocab(whole.words.take(rows), whole.counts[rows], whole.lines, whole.tokens_read)

    def _learn(self, path: str, config: ConfigType, others: Iterable[CallbackAny2Vec] = ()) -> tuple[int, int]:
        callbacks = [*self.callbacks, *others]
        vocab = self._require_vocab()
        corpus = encode([path], VocabConfig(min_count=1), vocab=vocab, every_line=self.EVERY_LINE)
        model = self._make(config, corpus)
        trainer: Threads[Any] = Threads(model, model.config.threads)
        epochs: int = model.epochs
        self.running_training_loss = 0.0
        self._drop_vectors()

        def after_epoch(number: int) -> bool:
            self._drop_vectors()
            if self.compute_loss:
                self.running_training_loss = trainer.totals.loss
            for each in callbacks:
                each.on_epoch_end(self)
            for each in callbacks if number < epochs else ():
                each.on_epoch_begin(self)
            return True

        for each in callbacks:
            each.on_train_begin(self)
        for each in callbacks:
            each.on_epoch_begin(self)
        log = tee_log(None)
        log(f"training on {corpus.tokens:,} words", tokens=corpus.tokens, vocabulary=len(vocab))
        outcome = run.train(trainer, after_epoch=after_epoch if callbacks else None)
        log(f"trained in {outcome.seconds:.1f} s", seconds=outcome.seconds)
        if self.compute_loss:
            self.running_training_loss = outcome.totals.loss
        self.total_train_time += outcome.seconds
        self._drop_vectors()
        if not outcome.is_finished:
            raise outcome.ended_early("the model keeps what it has learnt")
        for each in callbacks:
            each.on_train_end(self)
        return outcome.totals.tokens, corpus.tokens_read * epochs

    def _config(self, alpha: float, min_alpha: float, epochs: int) -> ConfigType:
        """The config of a training. Raises UsageError, by gensim's names, for what cannot be."""
        if not self.hs and not self.negative:
            message = "negative=0 needs hs=1: without an output layer nothing is learnt"
            raise UsageError(message)
        if alpha > 0 and min_alpha > alpha:
            message = f"min_alpha must be at most alpha ({alpha:g}), not {min_alpha:g}"
            raise UsageError(message)
        with arguments_in_errors(_NAMES):
            lr = {"lr": alpha, "lr_floor": min_alpha / alpha if alpha else 0.0}
            same = {option: getattr(self, name) for option, name in _SAME.items()}
            config = self._options({**same, **lr, "negative": self.negative or 5, "epochs": epochs})
            config.validate()
        return config

    def _require_vocab(self) -> Vocab:
        if self._vocab is None:
            message = "the model has no vocabulary; call build_vocab, or give it sentences"
            raise WvError(message)
        return self._vocab

    @classmethod
    def _from_options(cls, options: Any, **others: Any) -> Self:
        """A model with the options of a config, not trained."""
        return cls(
            **{name: getattr(options, option) for option, name in _SAME.items() if option != "threads"},
            hs="hs" in options.loss,
            negative=options.negative if "ns" in options.loss else 0,
            **others,
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name, f"use that of {self.VECTORS}" if hasattr(KeyedVectors, name) else None)

        def __getitem__(self, key: Any) -> Any:
            message = f"a {type(self).__name__} has no items: use {self.VECTORS}[{key!r}]"
            raise TypeError(message)

        def __contains__(self, key: Any) -> bool:
            return bool(self[key])
