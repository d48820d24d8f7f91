"""Retraining a pruned classifier: the rows that are left learn to do without the others, on the same kernel as
wv_cli.models.supervised. Buckets that were dropped stay dropped; words that were dropped count in word n-grams only."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords
from wv_cli.errors import WvError
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.supervised import Supervised
from wv_cli.text.config import VocabConfig
from wv_cli.text.input_files import Inputs
from wv_cli.text.labeled import LabeledCorpus, encode_labeled, renumber_ids
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import LABEL_PREFIX, DenseMatrix, FastTextModel
from wv_cli.words import WordList, concatenate_words

_DROPPED = -2  # in bucket_row: the bucket has no row and gets none


class Retraining(Supervised):
    """A model that starts from the rows of `model`, pruned and dense, and learns from labeled texts. Raises WvError
    when these have none of its labels."""

    def __init__(
        self, model: FastTextModel, inputs: Inputs, *, lr: float, epochs: int, seed: int, threads: int
    ) -> None:
        args = model.args
        self._model = model
        settings = SupervisedConfig(
            loss=args.loss,
            dim=args.dim,
            lr=lr,
            epochs=epochs,
            word_ngrams=args.word_ngrams,
            minn=model.char_ngrams[0],
            maxn=model.char_ngrams[1],
            buckets=max(args.buckets, 1),
            negative=args.negative,
            seed=seed,
            threads=threads,
        )
        read = encode_labeled(inputs, VocabConfig(min_count=1), label_prefix=_find_prefix(model.labels))
        super().__init__(settings, args.min_count, _in_the_models_words(read, model))

    def _word_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        corpus, words = self.corpus, self.corpus.words
        assert self.bucket_row is not None
        starts, buckets = _subwords.of_words(
            words.blob, words.starts, self.config.minn, self.config.maxn, self.config.buckets
        )
        word = np.repeat(np.arange(len(words)), np.diff(starts))
        left = (self.bucket_row[buckets] >= 0) & (word != corpus.end_of_line)
        word, rows = word[left], self.bucket_row[buckets[left]]
        # The words' own rows, each before those of its n-grams.
        word = np.concatenate([np.arange(corpus.kept), word])
        rows = np.concatenate([np.arange(corpus.kept, dtype=np.int32), rows])
        order = np.argsort(word, kind="stable")
        ends = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.bincount(word, minlength=len(words)), out=ends[1:])
        return ends, np.ascontiguousarray(rows[order])

    def _start_rows(self) -> int:
        kept, nwords = self._model.kept_buckets, self.corpus.kept
        if self.bucket_row is not None and kept is not None:
            self.bucket_row[:] = _DROPPED
            self.bucket_row[kept[:, 0]] = nwords + kept[:, 1]
        return self._model.input.shape[0]

    def _initialize(self, pretrained: Embeddings | None) -> int:
        dim = self.config.dim
        self.input[:, :dim] = self._model.input.take(np.arange(len(self.input)))
        self.output[:, :dim] = self._model.output.take(np.arange(len(self.output)))
        return 0

    def fasttext_model(self) -> FastTextModel:
        dim = self.config.dim
        output = self._model.output.take(np.arange(len(self.corpus.labels))).copy()
        output[: len(self.output)] = self.output[:, :dim]
        return replace(
            self._model, input=DenseMatrix(np.ascontiguousarray(self.input[:, :dim])), output=DenseMatrix(output)
        )


def _find_prefix(labels: WordList) -> str:
    """What marks a label in the text: fastText's prefix or, the file does not say, what all labels begin with."""
    usual = LABEL_PREFIX.decode()
    if all(label.startswith(usual) for label in labels):
        return usual
    first, last = min(labels), max(labels)
    prefix = first[: next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    if not prefix:
        message = (
            f"the labels of the model, {labels[0]!r} and others, have no common prefix that marks labels in a text"
        )
        raise WvError(message)
    return prefix


def _in_the_models_words(corpus: LabeledCorpus, model: FastTextModel) -> LabeledCorpus:
    """The same text with the model's word and label numbers. Words that it has not come behind its own; labels that it
    has not are taken out."""
    nwords = len(model.words)
    words = model.words.find_all(corpus.words)
    new = words < 0
    words[new] = nwords + np.arange(int(new.sum()))
    labels = model.labels.find_all(corpus.labels)
    if (labels < 0).all():
        message = "the text to retrain on has none of the model's labels, such as " + repr(model.labels[0])
        raise WvError(message)
    added = corpus.words.take(np.flatnonzero(new))
    return replace(
        corpus,
        ids=renumber_ids(corpus, words, labels),
        words=concatenate_words(model.words, added),
        kept=nwords,
        counts=model.counts,
        end_of_line=int(words[corpus.end_of_line]),
        labels=model.labels,
        label_counts=model.label_counts,
    )
