"""Paragraph vectors, doc2vec (Le & Mikolov 2014): matrices, tables and steps for the kernel csrc/kernels/doc2vec.c.

A document is a line of the corpus, empty ones too, so that a document has the number of its line. Steps are (epoch,
block of the corpus); see wv_cli.models.training.run.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _doc2vec, _word2vec
from wv_cli.io import memory
from wv_cli.io.matrices import IN_MEMORY, MatrixAllocator
from wv_cli.models.sentence_config import Doc2vecConfig
from wv_cli.models.training.blocks import BlockTraining
from wv_cli.models.training.trainer import StepResult
from wv_cli.text.corpus import Corpus
from wv_cli.vectors.doc2vec import END, Doc2vecModel, Doc2vecOptions, padded_parts, tables, unpadded_parts
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.npy import number_words

STEP_IDS = 20_000  # some 10 ms of work
_LONGEST = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Tags:
    """Rows of document vectors, of which there are `count`: line n of a text has rows[starts[n]:starts[n + 1]], one at
    least (int32; int64, lines + 1)."""

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    count: int


class Doc2vec(BlockTraining[Doc2vecConfig]):
    """A model in training. Satisfies wv_cli.models.training.trainer.Trainable.

    The matrices are those of csrc/kernels/wv_doc2vec.h; `corpus` has a line end for every line of its text."""

    def __init__(
        self,
        config: Doc2vecConfig,
        corpus: Corpus,
        *,
        lowercase: bool = False,
        allocator: MatrixAllocator = IN_MEMORY,
        tags: Tags | None = None,
        before: tuple[Doc2vecModel, NDArray[np.float32]] | None = None,
    ) -> None:
        """Allocates, in `allocator`, and initializes; `lowercase` is only noted in the model. A line has the vectors of
        its `tags`, else its own. Training goes on from a model of the same words and its document vectors, `before`.
        Raises WvError for a corpus that cannot be trained on and when there is no room for the matrices."""
        corpus.require_different_words()
        self.config, self.corpus = config, corpus
        words, documents = len(corpus.vocab), corpus.lines if tags is None else tags.count
        self._lowercase = lowercase
        self._options = Doc2vecOptions(**{field.name: getattr(config, field.name) for field in fields(Doc2vecOptions)})
        stride, context = memory.pad_width(config.dim), words + 1 if config.algorithm != "dbow" else 0
        outputs, width = words - (config.loss == "hs"), self._options.parts * stride
        needed = 4 * (stride * (documents + context) + width * outputs)
        allocator.require(needed, needed, "lower --dim or --window, or raise --min-count")
        self.documents, self.input = allocator.zeros(documents, stride), allocator.zeros(context, stride)
        self.output = allocator.zeros(outputs, width)
        random = np.random.default_rng(config.seed)
        for matrix in (self.documents, self.input):
            _word2vec.fill_uniform(random, matrix, config.dim, divisor=config.dim)  # as word2vec
        if before is not None:
            model, self.documents[:, : config.dim] = before
            self.input[:, : config.dim], self.output[:] = model.input, padded_parts(model.output, config.dim)
        self._run = _doc2vec.Run(
            config,
            ids=corpus.ids,
            words=words,
            documents=self.documents,
            output=self.output,
            input=self.input if context else None,
            tags=None if tags is None else (tags.starts, tags.rows),
            **tables(self._options, corpus.vocab.counts),
        )
        self.starts = _word2vec.block_starts(corpus.ids, STEP_IDS, _LONGEST)
        ends = [np.count_nonzero(corpus.ids[a:b] == END) for a, b in zip(self.starts, self.starts[1:], strict=False)]
        self._first_document = np.concatenate([[0], np.cumsum(ends)])

    @property
    def nbytes(self) -> int:
        """Of the matrices, in memory and in a checkpoint."""
        return self.documents.nbytes + self.input.nbytes + self.output.nbytes

    def worker(self) -> _doc2vec.Worker:
        return self._run.worker()

    def train_step(self, step: int, worker: _doc2vec.Worker) -> StepResult:  # type: ignore[override]
        """See models.training.trainer.Trainable."""
        epoch, block = divmod(step, self.epoch_steps)
        first = int(self._first_document[block])
        return worker.block(int(self.starts[block]), int(self.starts[block + 1]), epoch, first)

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        return {**self.config.identity(), **self.corpus.identity}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": 1, "step_ids": STEP_IDS}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        return {"documents": self.documents, "input": self.input, "output": self.output}

    def model(self) -> Doc2vecModel:
        """The model as it answers, its matrices without padding."""
        dim, vocab = self.config.dim, self.corpus.vocab
        return Doc2vecModel(
            words=vocab.words,
            lowercase=self._lowercase,
            counts=vocab.counts,
            options=self._options,
            input=np.ascontiguousarray(self.input[:, :dim]),
            output=unpadded_parts(self.output, dim),
        )

    def document_vectors(self) -> Embeddings:
        """Those of the lines of the text, called 0, 1, 2; zero for a line without a word."""
        empty = np.diff(np.flatnonzero(self.corpus.ids == END), prepend=-1) == 1
        matrix = self.documents[:, : self.config.dim].copy()
        matrix[empty] = 0
        return Embeddings(number_words(0, len(matrix)), matrix)
