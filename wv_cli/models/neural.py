"""Neural language models: matrices, tables and steps for the kernel csrc/kernels/neural.c, which has the formulas.

NPLM (Bengio et al. 2003), the log-bilinear model (Mnih & Hinton 2007) and its inverse (Mnih & Kavukcuoglu 2013), with
the output layers of NEURAL_LAYERS. A step is a block of positions; every epoch takes the blocks in an order of its own.
The learning rate falls from step to step.
"""

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _neural, _word2vec
from wv_cli.io import memory
from wv_cli.lm.asking import SENTENCE
from wv_cli.lm.neural import Classes, NeuralModel, Paths, Words
from wv_cli.lm.neural_files import NOTHING
from wv_cli.lm.sentences import all_words, occurrences
from wv_cli.lm.vocabulary import SPECIAL
from wv_cli.models.config import NeuralConfig
from wv_cli.models.layers import NEURAL_LAYERS
from wv_cli.models.training.blocks import BlockTraining, EpochOrder
from wv_cli.models.training.trainer import StepResult
from wv_cli.models.trees import clustered_paths, contexts_of, huffman_paths, predicted_vectors, random_paths
from wv_cli.text.corpus import Corpus
from wv_cli.vectors.embeddings import Embeddings

_FIRST_SPREAD = 0.1  # standard deviation of the numbers of word vectors at first
_POSITIONS_ASKED = 2048
# A word that does not occur is taken for one seen so often.
_UNSEEN = 0.5


class NeuralLm(BlockTraining[NeuralConfig]):
    """A model in training. Satisfies wv_cli.models.training.trainer.Trainable.

    The matrices are those of csrc/kernels/wv_neural.h; `corpus` is what wv_cli.lm.sentences makes of a text."""

    def __init__(self, config: NeuralConfig, corpus: Corpus, clusters: NeuralModel | None = None) -> None:
        """Allocates and initializes; a clustered tree is made of what the model `clusters` predicts. Raises WvError
        when the matrices do not fit in memory."""
        self.config, self.corpus, self.layer = config, corpus, NEURAL_LAYERS[config.loss]
        words = len(corpus.vocab) + len(SPECIAL)
        memory.require(self.bytes_needed(config, words), "training", "lower --dim or --hidden, or raise --min-count")
        counts = np.maximum(occurrences(corpus.ids, words), _UNSEEN)
        counts[SENTENCE] = 0
        self.outputs = self._make_outputs(counts, clusters)
        self._make_matrices(words, counts)
        self.starts = np.append(np.arange(0, len(corpus.ids), self.layer.step_ids), len(corpus.ids))
        self._order = EpochOrder(config.seed, self.epoch_steps)
        self._run = self._make_run(counts)

    @staticmethod
    def bytes_needed(config: NeuralConfig, words: int) -> int:
        """Memory of the matrices, beyond the corpus."""
        context = (config.order - 1) * memory.pad_width(config.dim)
        columns = memory.pad_width(config.width) + (context if config.direct else 0)
        inputs = memory.pad_width(config.dim) * (0 if config.tie else words)
        return 4 * (inputs + words * columns + config.width * context)

    def _make_outputs(self, counts: NDArray[np.float64], clusters: NeuralModel | None) -> Words | Paths | Classes:
        config = self.config
        if not self.layer.tree:
            return frequency_classes(counts) if config.loss == "class" else Words()
        if config.tree == "huffman":
            return huffman_paths(counts)
        if config.tree == "random":
            return random_paths(counts, config.codes, config.seed)
        assert clusters is not None, "checked by the job"
        lookup = clusters.words.find_all(all_words(self.corpus.vocab)).astype(np.int32)
        vectors = predicted_vectors(clusters, self.corpus.ids, lookup)
        return clustered_paths(counts, vectors, config.codes, config.seed)

    def _make_matrices(self, words: int, counts: NDArray[np.float64]) -> None:
        """Context vectors and mixing small and random, output rows zero (tied: the context vectors), biases the words'
        frequencies, of ns as its scores have them: predictions begin at those."""
        config, random = self.config, np.random.default_rng(self.config.seed)
        dim, stride, context = config.dim, memory.pad_width(config.dim), config.order - 1
        self.input = memory.zeros(words, stride)
        self.input[:, :dim] = random.standard_normal((words, dim), np.float32) * np.float32(_FIRST_SPREAD)
        if config.diagonal:
            self.mixing = memory.zeros(context, stride)
            self.mixing[:, :dim] = 1 if config.model == "ivlbl" else 1 / context
        else:
            self.mixing = memory.zeros(config.width, context * stride)
            first = random.random((config.width, context, dim), np.float32) * 2 - 1
            self.mixing.reshape(config.width, context, stride)[:, :, :dim] = first / np.float32(np.sqrt(context * dim))
        self.hidden_bias = memory.zeros(1, memory.pad_width(config.width))[0] if config.model == "nplm" else None
        columns = memory.pad_width(config.width) + (context * stride if config.direct else 0)
        self.bias = np.zeros(_rows(self.outputs, words), np.float32)
        self.output = self.input if config.tie else memory.zeros(len(self.bias), columns)
        if isinstance(self.outputs, Paths):
            return
        self.bias[:words] = np.log(np.maximum(counts, _UNSEEN) / counts.sum())
        if config.loss == "ns":
            # Its score is log p - log noise (Levy & Goldberg 2014). From biases of 0 the first batches, in which every
            # negative sample counts for a half, make lbl and ivlbl diverge.
            self.bias[:words] -= self._log_noise(counts)
        self.bias[SENTENCE] = NOTHING
        if isinstance(self.outputs, Classes):
            self.bias[words:] = np.log(np.add.reduceat(counts, self.outputs.start[:-1]) / counts.sum())

    def _noise(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weight (words,) of each word among the negative samples."""
        noise = counts**self.config.power
        noise[SENTENCE] = 0
        return noise

    def _log_noise(self, counts: NDArray[np.float64]) -> NDArray[np.float32]:
        """The logarithm (words,) of how often each word is expected among the negative samples of a batch."""
        noise = self._noise(counts)
        share = np.maximum(noise, noise[noise > 0].min()) / noise.sum()
        logs: NDArray[np.float32] = np.log(self.config.negative * share).astype(np.float32)
        return logs

    def _make_run(self, counts: NDArray[np.float64]) -> _neural.Run:
        tables: dict[str, Any] = {}
        if self.layer.draws:
            tables["sampler"] = _word2vec.alias_table(self._noise(counts))
            tables["log_noise"] = self._log_noise(counts)
        match self.outputs:
            case Paths(start, node, answer, codes):
                tables["path"] = (start, node, answer) if codes is None else (start, node, answer, codes)
            case Classes(start) as classes:
                tables["classes"] = classes.of_word, start
        return _neural.Run(
            self.config,
            ids=self.corpus.ids,
            input=self.input,
            mixing=self.mixing,
            output=self.output,
            bias=self.bias,
            hidden=self.config.width,
            hidden_bias=self.hidden_bias,
            **tables,
        )

    def worker(self) -> _neural.Worker:
        return self._run.worker()

    def train_step(self, step: int, worker: _neural.Worker) -> StepResult:  # type: ignore[override]
        """See models.training.trainer.Trainable."""
        epoch, place = divmod(step, self.epoch_steps)
        block = int(self._order.for_epoch(epoch)[place])
        share = max(1 - step / self.steps, self.config.lr_floor)
        return worker.block(int(self.starts[block]), int(self.starts[block + 1]), epoch, self.config.lr * share)

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        return {**self.config.identity(), **self.corpus.identity, "paths": self._paths_digest()}

    def _paths_digest(self) -> int:
        """Of the tree, which another model may have made."""
        if not isinstance(self.outputs, Paths):
            return 0
        return zlib.crc32(self.outputs.answer.tobytes(), zlib.crc32(self.outputs.node.astype("<i4").tobytes()))

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": self.layer.version, "step_ids": self.layer.step_ids}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        arrays: dict[str, NDArray[Any]] = {"input": self.input, "mixing": self.mixing, "bias": self.bias}
        if not self.config.tie:
            arrays["output"] = self.output
        if self.hidden_bias is not None:
            arrays["hidden_bias"] = self.hidden_bias
        return arrays

    def model(self) -> NeuralModel:
        """The model as it answers, its matrices without padding."""
        config = self.config
        dim, context, width = config.dim, config.order - 1, config.width
        inputs = np.ascontiguousarray(self.input[:, :dim])
        mixing = self.mixing[:, :dim] if config.diagonal else _remove_padding(self.mixing, context, dim)
        parts = [self.output[:, :width]]
        if config.direct:
            parts.append(_remove_padding(self.output[:, memory.pad_width(width) :], context, dim))
        made = NeuralModel(
            words=all_words(self.corpus.vocab),
            order=config.order,
            loss=config.loss,
            input=inputs,
            mixing=np.ascontiguousarray(mixing),
            hidden_bias=None if self.hidden_bias is None else self.hidden_bias[:width].copy(),
            output=inputs if config.tie else np.concatenate(parts, axis=1),
            bias=self.bias,
            outputs=self.outputs,
        )
        return replace(made, bias=made.bias - self._excess(made)) if made.may_be_unnormalized else made

    def _excess(self, model: NeuralModel) -> np.float32:
        """The mean of ln Z over some positions of the text, which dropout moves away from 0: it is taken off all
        biases, which changes nothing but scores that are not normalized."""
        ids, random = self.corpus.ids, np.random.default_rng(self.config.seed)
        places = random.integers(0, len(ids), min(len(ids), _POSITIONS_ASKED))
        contexts = contexts_of(ids, places, self.config.order - 1)
        return np.float32(model.log_sums(contexts).mean())

    def embeddings(self) -> Embeddings:
        """The context vectors of the words."""
        return Embeddings(self.corpus.vocab.words, self.input[len(SPECIAL) :, : self.config.dim])


def frequency_classes(counts: NDArray[np.float64]) -> Classes:
    """About as many classes as the root of the number of words, each with the same share of the sum of the roots of the
    counts (Mikolov et al. 2011); words are in order of falling count but for the first three."""
    wanted = int(np.ceil(np.sqrt(len(counts))))
    shares = np.cumsum(np.sqrt(counts)) / np.sqrt(counts).sum()
    place = np.minimum((shares * wanted).astype(np.int64), wanted - 1)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    return Classes(np.append(starts, len(counts)).astype(np.int32))


def _rows(outputs: Words | Paths | Classes, words: int) -> int:
    match outputs:
        case Paths():
            return int(outputs.node.max()) + 1
        case Classes():
            return words + len(outputs.start) - 1
        case Words():
            return words


def _remove_padding(rows: NDArray[np.float32], context: int, dim: int) -> NDArray[np.float32]:
    """Rows of `context` padded vectors one after the other, without the padding."""
    return np.ascontiguousarray(rows.reshape(len(rows), context, -1)[:, :, :dim]).reshape(len(rows), context * dim)
