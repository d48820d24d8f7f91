"""sent2vec (Pagliardini et al. 2018): matrices, tables and steps for the kernel csrc/kernels/sent2vec.c, which has the
formulas.

Buckets of word n-grams have a row only when they occur in the text. Steps are (epoch, block of the corpus); see
wv_cli.engine.run.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _sent2vec, _subwords, _training, _word2vec
from wv_cli.models.sentence_config import Sent2vecConfig
from wv_cli.models.text_training import STEP_IDS, TextTraining
from wv_cli.system import memory
from wv_cli.system.matrices import IN_MEMORY, MatrixAllocator
from wv_cli.text.corpus import Corpus
from wv_cli.text.subsampling import highest_draws, keep_probability
from wv_cli.vectors.document_models import Sent2vecModel


class Sent2vec(TextTraining[Sent2vecConfig]):
    """A model in training. Satisfies wv_cli.engine.trainer.Trainable.

    `input` is (rows, padded dim) float32: the words of the corpus, then the buckets that occur, in order of first
    sight; `bucket_row` (buckets,) int32 tells which row a bucket has, -1 for none. `output` is (words, padded dim).
    """

    def __init__(
        self, config: Sent2vecConfig, corpus: Corpus, *, lowercase: bool = False, allocator: MatrixAllocator = IN_MEMORY
    ) -> None:
        """Allocates, in `allocator`, and initialises; `lowercase` is only noted in the model. Raises WvError for a
        corpus that cannot be trained on and when there is no room for the matrices."""
        super().__init__(config, corpus)
        words, self._lowercase = len(corpus.vocab), lowercase
        self.bucket_row = np.full(config.buckets, -1, np.int32) if config.word_ngrams > 1 else None
        listed = corpus.vocab.words
        hashes = _subwords.word_hashes(listed.blob, listed.starts).view(np.int32) if config.word_ngrams > 1 else None
        ngrams: dict[str, Any] = {"hashes": hashes, "bucket_row": self.bucket_row}
        longest, rows = _sent2vec.survey(config, corpus.ids, words, **ngrams)
        stride = memory.pad_width(config.dim)
        needed = 4 * stride * (rows + words)
        allocator.require(needed, needed, "lower --dim or --buckets, or raise --min-count")
        self.input, self.output = allocator.zeros(rows, stride), allocator.zeros(words, stride)
        self._initialise()
        counts = corpus.vocab.counts
        self._run = _sent2vec.Run(
            config,
            ids=corpus.ids,
            longest=longest,
            input=self.input,
            output=self.output,
            sampler=_word2vec.alias_table(counts.astype(np.float64) ** config.power),
            keep=highest_draws(keep_probability(counts, config)),
            **ngrams,
        )
        self.starts = _word2vec.block_starts(corpus.ids, STEP_IDS, config.max_sentence)

    def _initialise(self) -> None:
        """Uniform in +-1 / dim as fastText; output rows stay zero."""
        dim = self.config.dim
        _word2vec.fill_uniform(np.random.default_rng(self.config.seed), self.input, dim, factor=2, divisor=dim)

    @property
    def nbytes(self) -> int:
        """Of the matrices, in memory and in a checkpoint."""
        return self.input.nbytes + self.output.nbytes

    def worker(self) -> _training.Worker:
        return self._run.worker()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        return {"input": self.input, "output": self.output}

    def model(self) -> Sent2vecModel:
        """The model as it answers: input rows without padding, the n-grams in the order of their buckets."""
        words, dim = len(self.corpus.vocab), self.config.dim
        kept = np.empty(0, np.int32)
        rows = self.input[:words, :dim]
        if self.bucket_row is not None:
            kept = np.flatnonzero(self.bucket_row >= 0).astype(np.int32)
            rows = np.concatenate([rows, self.input[self.bucket_row[kept], :dim]])
        return Sent2vecModel(
            words=self.corpus.vocab.words,
            lowercase=self._lowercase,
            word_ngrams=self.config.word_ngrams,
            buckets=self.config.buckets if self.bucket_row is not None else 0,
            kept=kept,
            rows=np.ascontiguousarray(rows),
        )
