"""What gensim's trained models share: vocabulary, training and callbacks, over the parts that `wv train` has.

A text is counted by wv_cli.text, learnt by wv_cli.models and wv_cli.engine. Nothing is written before save(). Sentences
that are no file are spooled into one (wv_cli.text.sentences), once even if they are counted and learnt.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from wv_cli.config import Config
from wv_cli.engine import run
from wv_cli.engine.threads import Threads
from wv_cli.errors import UsageError, WvError
from wv_cli.gensim.callbacks import CallbackAny2Vec
from wv_cli.gensim.keyedvectors import KeyedVectors
from wv_cli.gensim.refusals import missing, refuse
from wv_cli.jobs.telling import logged
from wv_cli.text.config import VocabConfig
from wv_cli.text.continued_vocabulary import extend_vocab
from wv_cli.text.corpus import Corpus, count, encode
from wv_cli.text.sentences import Sentences, spooled
from wv_cli.text.vocab import EmptyVocabulary, Vocab, order_words
from wv_cli.words import WordList

Path = str | PathLike[str]
TrimRule = Callable[[str, int, int], int | None]
RULE_DEFAULT, RULE_DISCARD, RULE_KEEP = 0, 1, 2  # the answers of a trim rule

ConfigType = TypeVar("ConfigType", bound=Config)
# gensim's names of the options that messages name.
_NAMES = {
    "dim": "vector_size",
    "lr": "alpha",
    "lr-floor": "min_alpha",
    "power": "ns_exponent",
    "threads": "workers",
    "minn": "min_n",
    "maxn": "max_n",
    "buckets": "bucket",
    "max-vocab": "max_final_vocab",
}


class Trained(Generic[ConfigType]):
    """Base of models. `corpus_count` and `corpus_total_words` are the sentences and words that were counted last."""

    EVERY_LINE = False  # whether an empty sentence counts

    def __init__(
        self,
        *,
        vector_size: int,
        alpha: float,
        min_alpha: float,
        window: int,
        min_count: int | None,
        sample: float,
        seed: int | None,
        workers: int,
        hs: int,
        negative: int,
        ns_exponent: float,
        epochs: int,
        trim_rule: TrimRule | None,
        compute_loss: bool,
        callbacks: Iterable[CallbackAny2Vec],
        max_final_vocab: int | None,
    ) -> None:
        self.vector_size, self.window, self.epochs = vector_size, window, epochs
        self.alpha, self.min_alpha, self.sample, self.workers = alpha, min_alpha, sample, workers
        self.seed = int(np.random.default_rng().integers(1 << 31)) if seed is None else seed
        self.hs, self.negative, self.ns_exponent = hs, negative, ns_exponent
        self.min_count, self.max_final_vocab = max(1, min_count or 1), max_final_vocab
        self.compute_loss, self.callbacks = compute_loss, list(callbacks)
        self.effective_min_count = self.min_count
        self.corpus_count = self.corpus_total_words = 0
        self.running_training_loss = self.total_train_time = 0.0
        self._trim_rule = trim_rule
        self._vocab: Vocab | None = None
        self._wv: KeyedVectors | None = None
        self._config(alpha, min_alpha, epochs)

    # What each model makes of it.

    def _options(self, alpha: float, min_alpha: float, epochs: int) -> ConfigType:
        """The config of a training."""
        raise NotImplementedError

    def _make(self, config: ConfigType, corpus: Corpus) -> Any:
        """The model to be trained on a corpus, which goes on from what was learnt before."""
        raise NotImplementedError

    def _vectors(self) -> KeyedVectors:
        """The vectors of the words as they are now."""
        raise NotImplementedError

    def _forget(self) -> None:
        """A new vocabulary begins."""
        self._wv = None

    def _carry(self) -> None:
        """The vocabulary grows: what was learnt is kept for the next model."""
        raise NotImplementedError

    # What all have.

    @property
    def wv(self) -> KeyedVectors:
        """The vectors of the words. Raises WvError before there is a vocabulary."""
        self._known()
        if self._wv is None:
            self._wv = self._vectors()
        return self._wv

    @property
    def layer1_size(self) -> int:
        return self.vector_size

    def get_latest_training_loss(self) -> float:
        """The sum of the losses of the last training, 0 unless `compute_loss`."""
        return self.running_training_loss

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
        words, counts = WordList.of(word_freq), np.array(list(word_freq.values()), np.int64)
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
        config = self._config(alpha, self.min_alpha if end_alpha is None else end_alpha, epochs or self.epochs)
        with self._text(corpus_iterable, corpus_file) as path:
            return self._learn(path, config, [*self.callbacks, *callbacks])

    def _begin(self, sentences: Sentences | None, corpus_file: Path | None) -> None:
        """What a constructor does with sentences: it counts and learns them."""
        if sentences is None and corpus_file is None:
            return
        with self._text(sentences, corpus_file) as path:
            self._count(path, update=False, trim_rule=None)
            self._learn(path, self._config(self.alpha, self.min_alpha, self.epochs), self.callbacks)

    @contextmanager
    def _text(self, sentences: Any, corpus_file: Path | None) -> Iterator[str]:
        if (sentences is None) == (corpus_file is None):
            found = "neither" if sentences is None else "both"
            message = f"expected sentences or corpus_file, found {found}"
            raise TypeError(message)
        if corpus_file is not None:
            yield fspath(corpus_file)
            return
        with spooled(sentences) as path:
            yield path

    def _count(self, path: str, *, update: bool, trim_rule: TrimRule | None) -> None:
        self._take(count([path], VocabConfig(min_count=1)), update=update, trim_rule=trim_rule)

    def _take(self, whole: Vocab, *, update: bool, trim_rule: TrimRule | None) -> None:
        """The vocabulary becomes that of a text, or grows by it."""
        kept = self._cut(whole, trim_rule or self._trim_rule)
        if update:
            self._carry()
            kept = extend_vocab(self._known(), kept, VocabConfig(min_count=1))
        else:
            self._forget()
        self._vocab, self._wv = kept, None
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

    def _learn(self, path: str, config: ConfigType, callbacks: Sequence[CallbackAny2Vec]) -> tuple[int, int]:
        vocab = self._known()
        corpus = encode([path], VocabConfig(min_count=1), vocab=vocab, every_line=self.EVERY_LINE)
        model = self._make(config, corpus)
        trainer: Threads[Any] = Threads(model, model.config.threads)
        epochs: int = model.epochs
        self.running_training_loss, self._wv = 0.0, None

        def after_epoch(number: int) -> bool:
            self._wv = None
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
        log = logged(None)
        log(f"training on {corpus.tokens:,} words", tokens=corpus.tokens, vocabulary=len(vocab))
        outcome = run.train(trainer, after_epoch=after_epoch if callbacks else None)
        log(f"trained in {outcome.seconds:.1f} s", seconds=outcome.seconds)
        if self.compute_loss:
            self.running_training_loss = outcome.totals.loss
        self.total_train_time += outcome.seconds
        self._wv = None
        if not outcome.finished:
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
        try:
            config = self._options(alpha, min_alpha, epochs)
            config.validate()
        except UsageError as error:
            named = re.sub(r"--([\w-]+)", lambda found: _NAMES.get(found[1], found[1].replace("-", "_")), str(error))
            raise UsageError(named) from None
        return config

    def _known(self) -> Vocab:
        if self._vocab is None:
            message = "the model has no vocabulary; call build_vocab, or give it sentences"
            raise WvError(message)
        return self._vocab

    @classmethod
    def _unmade(cls) -> Self:
        """An object without a constructor's work, for load()."""
        return cls.__new__(cls)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing(self, name)
