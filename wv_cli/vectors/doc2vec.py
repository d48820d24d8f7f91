"""A model of paragraph vectors (Le & Mikolov 2014) as it answers: it learns a new text's vector while all else stays.

The formulas are those of csrc/kernels/doc2vec.c. Not here: training (wv_cli.models.doc2vec), files
(wv_cli.vectors.formats.document_models).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wv_cli import _doc2vec, _word2vec
from wv_cli.io import memory
from wv_cli.text.subsampling import highest_draws, keep_probability
from wv_cli.vectors.document_models import Ids
from wv_cli.words import WordList

END = -1  # of a document in a stream of ids


@dataclass(frozen=True)
class Doc2vecOptions:
    """What inference repeats of the training; names and meanings are wv_cli.models.sentence_config.Doc2vecConfig's."""

    algorithm: str
    context: str
    mean_gradient: str
    loss: str
    dim: int
    window: int
    negative: int
    power: float
    sample: float
    lr: float
    least_lr: float
    epochs: int
    seed: int

    sample_formula: ClassVar[str] = "word2vec"

    @property
    def places(self) -> int:
        """Of context words."""
        return self.window * (2 if self.context == "around" else 1)

    @property
    def parts(self) -> int:
        """Vectors that an output row is joined of."""
        return 1 + self.places if self.algorithm == "dm_concat" else 1


def tables(options: Doc2vecOptions, counts: NDArray[np.int64]) -> dict[str, Any]:
    """What _doc2vec.Run wants besides the matrices, for words with these counts."""
    found: dict[str, Any] = {"keep": highest_draws(keep_probability(counts, options))}
    if options.loss == "hs":
        return {**found, "path": _word2vec.huffman(counts)}
    return {**found, "sampler": _word2vec.alias_table(counts.astype(np.float64) ** options.power)}


@dataclass(frozen=True, eq=False)
class Doc2vecModel:
    """`counts` (words,) int64 are those of the training. `input` is (words + 1, dim) float32 of context words, the last
    one stands where there is none; (0, dim) for dbow. `output` is (words, parts * dim), hs: a row less."""

    words: WordList
    lowercase: bool
    counts: NDArray[np.int64]
    options: Doc2vecOptions
    input: NDArray[np.float32]
    output: NDArray[np.float32]

    @property
    def dim(self) -> int:
        return self.options.dim

    @property
    def word_vectors(self) -> NDArray[np.float32]:
        """(words, dim): the context vectors; for dbow, which has none, the output rows, or with hs the mean of a path's
        nodes, each with the sign of its answer: what a document's vector is like where the word is probable."""
        if len(self.input):
            return self.input[:-1]
        if self.options.loss == "ns":
            return self.output
        start, node, code = _word2vec.huffman(self.counts)
        signed = self.output[node] * (1 - 2 * code.astype(np.float32))[:, None]
        means = np.add.reduceat(signed, start[:-1]) / np.diff(start)[:, None]
        return means.astype(np.float32)

    def of_ids(self, texts: Sequence[Ids]) -> NDArray[np.float32]:
        """See TextModel. A text has the same vector whatever stands beside it."""
        options, dim = self.options, self.dim
        documents = memory.zeros(len(texts), memory.pad_width(dim))
        if not len(texts):
            return documents[:, :dim]
        documents[:, :dim] = (np.random.default_rng(options.seed).random(dim) - 0.5) / dim
        ids = np.concatenate([part for text in texts for part in (text, [END])]).astype(np.int32)
        run = _doc2vec.Run(
            options,
            ids=ids,
            words=len(self.words),
            documents=documents,
            output=padded_parts(self.output, dim),
            input=padded_parts(self.input, dim) if len(self.input) else None,
            frozen=True,
            **tables(options, self.counts),
        )
        worker = run.worker()
        for epoch in range(options.epochs):
            worker.block(0, len(ids), epoch, 0)
        documents[[len(text) == 0 for text in texts]] = 0
        return np.ascontiguousarray(documents[:, :dim])


def padded_parts(rows: NDArray[np.float32], dim: int) -> NDArray[np.float32]:
    """Rows of several vectors, each padded as kernels have them."""
    parts, stride = rows.shape[1] // dim, memory.pad_width(dim)
    made = memory.zeros(len(rows), parts * stride)
    made.reshape(len(rows), parts, stride)[:, :, :dim] = rows.reshape(len(rows), parts, dim)
    return made


def unpadded_parts(rows: NDArray[np.float32], dim: int) -> NDArray[np.float32]:
    """The same without padding."""
    stride = memory.pad_width(dim)
    parts = rows.shape[1] // stride
    return np.ascontiguousarray(rows.reshape(len(rows), parts, stride)[:, :, :dim]).reshape(len(rows), parts * dim)
