"""word2vec and fastText's word vectors: matrices, tables and steps for the kernel csrc/kernels/word2vec/word2vec.c.

Skip-gram and CBOW (Mikolov et al. 2013) with negative sampling, hierarchical softmax, NCE or the full softmax, with or
without subwords (Bojanowski et al. 2017; which rows a word has is in subwords.py). Steps are (epoch, block of the
corpus); see wv_cli.models.training.run.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _word2vec
from wv_cli.errors import UsageError, WvError
from wv_cli.io import memory
from wv_cli.io.matrices import IN_MEMORY, MatrixAllocator
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.continued_rows import Tree, carry_ngrams, carry_nodes, compose_new
from wv_cli.models.layers import LAYERS
from wv_cli.models.replicas import (
    Path,
    Replicas,
    choose_replicas,
    choose_slices,
    most_replica_rows,
    replica_rows,
    updates_per_word,
)
from wv_cli.models.subwords import Subwords, counts_with_line_end, fasttext_model
from wv_cli.models.training.blocks import BlockTraining
from wv_cli.models.training.state import State, StateOptions
from wv_cli.text.corpus import Corpus
from wv_cli.text.subsampling import highest_draws, keep_probability
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel


class Word2vec(BlockTraining[Word2vecConfig]):
    """A model in training. Satisfies wv_cli.models.training.trainer.Trainable.

    `input` holds the word vectors, with subwords the rows that `subwords` describes; `output` the context vectors
    (hierarchical softmax: those of the inner nodes); both are (rows, padded dim) float32.
    """

    def __init__(
        self,
        config: Word2vecConfig,
        corpus: Corpus,
        init: Embeddings | None = None,
        subwords: Subwords | None = None,
        before: State | None = None,
        allocator: MatrixAllocator = IN_MEMORY,
    ) -> None:
        """Allocates, in `allocator`, and initializes; `subwords` are those of the vocabulary, when the caller has them
        already. With a state `before`, all of whose words are in the vocabulary, training goes on
        (models.continued_rows). Raises UsageError for a corpus or `init` that cannot be trained on, WvError when there
        is no room for the matrices or the state is not that of such a model."""
        words = corpus.require_different_words()
        if init is not None and init.dim != config.dim:
            message = f"--init: expected vectors of --dim {config.dim}, found {init.dim}; give --dim {init.dim}"
            raise UsageError(message)
        self.subwords = subwords or Subwords.from_words(corpus.vocab.words, config)
        matrices = self.checkpoint_bytes(config, words, self.subwords)
        allocator.require(
            self.bytes_needed(config, words, self.subwords, corpus.tokens), matrices, "lower --dim or raise --min-count"
        )
        self.config, self.corpus, self.layer = config, corpus, LAYERS[config.loss]
        self._path = self._make_path(corpus.vocab) if self.layer.tree else None
        outputs = int(self._path[1].max()) + 1 if self._path else 0
        if self.layer.draws or not self._path:
            outputs += words
        self.input = allocator.zeros(words + _ngrams(self.subwords), memory.pad_width(config.dim))
        self.output = allocator.zeros(outputs, memory.pad_width(config.dim))
        self.output_bias = np.zeros(words, np.float32) if self.layer.biases else None
        self.ngrams_initialized = 0
        self.words_initialized = self._initialize(init)
        if before is not None:
            self._restore_state(before)
        # A step is so short that a signal is answered at once and threads share evenly.
        self.starts = _word2vec.block_starts(corpus.ids, self._step_ids, config.max_sentence)
        self._run, self._replicas = self._make_run()

    @staticmethod
    def bytes_needed(config: Word2vecConfig, words: int, subwords: Subwords | None = None, tokens: int = 0) -> int:
        """Memory of the matrices and tables, beyond the corpus, and of what each of several threads copies when they
        train on a text of so many `tokens`."""
        tables = 12 + (20 * 4 if LAYERS[config.loss].tree else 8)
        row = 4 * memory.pad_width(config.dim)
        needed = words * (_matrices(config) * row + tables)
        if subwords is not None:
            needed += _ngrams(subwords) * row + subwords.nbytes
        if config.threads == 1 or LAYERS[config.loss].takes_all or config.deterministic:
            return needed
        inputs, outputs = most_replica_rows(config, words, tokens, subwords)
        needed += 2 * config.threads * (inputs + outputs) * row
        return needed + (subwords.rows.nbytes if subwords is not None and inputs else 0)

    @staticmethod
    def checkpoint_bytes(config: Word2vecConfig, words: int, subwords: Subwords | None = None) -> int:
        return (_matrices(config) * words + _ngrams(subwords)) * 4 * memory.pad_width(config.dim)

    def _initialize(self, init: Embeddings | None) -> int:
        """Uniform in +-0.5 / dim as word2vec, with subwords in +-1 / dim as fastText; output rows stay zero. Returns
        how many words came from `init`. With the same n-grams, a fastText model gives its rows of words and n-grams;
        other n-grams stay random."""
        dim = self.config.dim
        scale = (2 if self.subwords else 1) / dim
        _word2vec.fill_uniform(np.random.default_rng(self.config.seed), self.input, dim, factor=scale)
        if init is None:
            return 0
        known = init.words.find_all(self.corpus.vocab.words)
        found = np.flatnonzero(known >= 0)
        model = init.subwords
        if not isinstance(model, FastTextModel) or self.subwords is None or not self._has_ngrams_of(model):
            self.input[found, :dim] = init.matrix[known[found]]
            return len(found)
        self.input[found, :dim] = model.input.take(known[found])
        rows = model.rows_of_buckets(self.subwords.buckets)
        first, rows_at_once = len(self.corpus.vocab), 1 << 16
        for begin in range(0, len(rows), rows_at_once):
            block = rows[begin : begin + rows_at_once]
            held = np.flatnonzero(block >= 0)
            self.input[first + begin + held, :dim] = model.input.take(block[held])
        self.ngrams_initialized = int(np.count_nonzero(rows >= 0))
        return len(found)

    def _has_ngrams_of(self, model: FastTextModel) -> bool:
        config = self.config
        return (config.minn, config.maxn, config.buckets) == (*model.char_ngrams, model.args.buckets)

    def _restore_state(self, before: State) -> None:
        """Puts the rows of a state in the place of those that training would start from. Raises WvError when they are
        not those of such a model with these words."""
        dim, arrays = self.config.dim, before.arrays
        words, vocab = len(before.vocab), self.corpus.vocab
        ids = vocab.words.find_all(before.vocab.words)
        path = self._make_path(before.vocab) if self.layer.tree else None
        nodes = int(path[1].max()) + 1 if path else 0
        ngrams = len(arrays["buckets"]) if self.subwords else 0
        outputs = nodes + (words if self.layer.draws or not path else 0)
        if np.any(ids < 0) or len(arrays["input"]) != words + ngrams or len(arrays["output"]) != outputs:
            message = f"the state is not that of its {words:,} words: its rows are too many or too few; make it again"
            raise WvError(message)
        self.input[ids, :dim] = arrays["input"][:words]
        if self.subwords is not None:
            fresh = np.setdiff1d(np.arange(len(vocab)), ids)
            out = self.input[len(vocab) :, :dim]
            learnt = carry_ngrams(arrays["buckets"], arrays["input"][words:], self.subwords, out)
            compose_new(self.subwords, learnt, fresh, self.input)
        first = 0
        if path is not None and self._path is not None:
            trees = Tree.from_paths(path), Tree.from_paths(self._path)
            rows = carry_nodes(trees[0], arrays["output"][:nodes], trees[1], ids, vocab.counts)[0]
            self.output[: len(rows), :dim], first = rows, len(rows)
        if outputs > nodes:
            self.output[first + ids, :dim] = arrays["output"][nodes:]
        if self.output_bias is not None:
            self.output_bias[ids] = arrays["output_bias"]

    def _make_path(self, vocab: Vocab) -> Path:
        """The Huffman paths of the words. With subwords the tree is fastText's, with a leaf for the line ends, so that
        the output rows are those that fastText expects in its file."""
        if self.subwords is None:
            return _word2vec.huffman(vocab.counts)
        counts, own = counts_with_line_end(vocab)
        start, node, code = _word2vec.huffman(counts)
        lengths = np.diff(start)
        ours = np.zeros(len(counts), np.bool_)
        ours[own] = True
        kept = np.repeat(ours, lengths)
        return np.concatenate([[0], np.cumsum(lengths[own])]), node[kept], code[kept]

    def _make_run(self) -> tuple[_word2vec.Run, Replicas | None]:
        """The run, and the rows of which each of several threads has copies: none where a layer takes all in order."""
        config, noise = self.config, self._noise()
        tables: dict[str, Any] = {"keep": highest_draws(self._keep())}
        if noise is not None:
            tables["sampler"] = _word2vec.alias_table(noise)
            if self.layer.biases:
                tables["log_noise"] = np.log(config.negative * noise / noise.sum()).astype(np.float32)
                tables["output_bias"] = self.output_bias
        if self.subwords is not None:
            tables["subwords"] = (self.subwords.starts, self.subwords.rows)
        run = _word2vec.Run(
            config, ids=self.corpus.ids, input=self.input, output=self.output, path=self._path, **tables
        )
        if config.threads == 1 or self.layer.takes_all:
            return run, None
        rows = replica_rows(config, self.corpus.tokens)
        replicas = choose_replicas(config, self._keep_probabilities(), self._path, noise, rows, self.subwords)
        if noise is not None:
            slices = choose_slices(config, replicas, len(self.output) - len(noise), self.corpus.tokens)
            replicas = replace(replicas, noise_slices=slices)
        return run, replicas

    def _keep_probabilities(self) -> NDArray[np.float64]:
        """How often a word of the text is each word, and survives subsampling."""
        counts, keep = self.corpus.vocab.counts, self._keep()
        kept: NDArray[np.float64] = (counts * (1.0 if keep is None else keep)) / max(1, counts.sum())
        return kept

    def _keep(self) -> NDArray[np.float64] | None:
        vocab = self.corpus.vocab
        return keep_probability(vocab.counts, self.config, vocab.tokens_read + vocab.lines)

    def _noise(self) -> NDArray[np.float64] | None:
        """What words are drawn in proportion to."""
        return self.corpus.vocab.counts.astype(np.float64) ** self.config.power if self.layer.draws else None

    def _updates(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How often one word of the text changes each row of `input` and of `output`."""
        contexts, outputs, _ = updates_per_word(self.config, self._keep_probabilities(), self._path, self._noise())
        if self.layer.takes_all:
            outputs = np.ones(len(self.output))
        if self.subwords is not None:
            contexts = self.subwords.updates(contexts)
        return contexts, outputs

    def worker(self) -> _word2vec.Worker:
        return self._run.worker(self._replicas)

    def flush(self, worker: _word2vec.Worker) -> None:  # type: ignore[override]
        worker.flush()

    @property
    def _step_ids(self) -> int:
        return self.layer.word_step_ids

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        return {**self.config.identity(), **self.corpus.identity}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        return {"version": self.layer.version, "step_ids": self._step_ids}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        arrays: dict[str, NDArray[Any]] = {"input": self.input, "output": self.output}
        if self.output_bias is not None:
            arrays["output_bias"] = self.output_bias
        return arrays

    def state(self, options: StateOptions) -> State:
        """What a run leaves that others go on with; `options` say how it was made."""
        dim = self.config.dim
        arrays: dict[str, NDArray[Any]] = {"input": self.input[:, :dim], "output": self.output[:, :dim]}
        if self.output_bias is not None:
            arrays["output_bias"] = self.output_bias
        if self.subwords is not None:
            arrays["buckets"] = self.subwords.buckets
        return State(options, self.corpus.vocab, arrays)

    @staticmethod
    def state_layout(config: Word2vecConfig) -> dict[str, tuple[str, tuple[int | str, ...]]]:
        """The arrays of state(); see models.training.state.read_state."""
        layer = LAYERS[config.loss]
        layout: dict[str, tuple[str, tuple[int | str, ...]]] = {
            "input": ("<f4", ("inputs" if config.maxn else "words", config.dim)),
            "output": ("<f4", ("outputs" if layer.tree else "words", config.dim)),
        }
        if layer.biases:
            layout["output_bias"] = ("<f4", ("words",))
        if config.maxn:
            layout["buckets"] = ("<i4", ("buckets",))
        return layout

    def embeddings(self) -> Embeddings:
        """The word vectors; with subwords the mean of each word's rows."""
        rows = self.input if self.subwords is None else self.subwords.means(self.input)
        return Embeddings(self.corpus.vocab.words, rows[:, : self.config.dim])

    def fasttext_model(self, min_count: int) -> FastTextModel:
        """The model for fastText's files: n-grams, output rows and labels included. `min_count` is only recorded."""
        dim, corpus = self.config.dim, self.corpus
        rows = self.input[:, :dim], self.output[:, :dim]
        model = fasttext_model(self.config, min_count, corpus.vocab, self.subwords, *rows)
        return replace(model, labels=corpus.labels, label_counts=corpus.label_counts)

    def output_embeddings(self) -> Embeddings:
        """The context vectors. Raises UsageError for hierarchical softmax, whose output rows are not words."""
        if self.layer.tree:
            loss = f"--loss {self.config.loss}"
            message = f"--save-output-vectors: with {loss} the output rows are tree nodes, not words; use --loss ns"
            raise UsageError(message)
        return Embeddings(self.corpus.vocab.words, self.output[:, : self.config.dim])


def _matrices(config: Word2vecConfig) -> int:
    """With a row per word: the input, the output, and the inner nodes where the output has words besides."""
    layer = LAYERS[config.loss]
    return 3 if layer.tree and layer.draws else 2


def _ngrams(subwords: Subwords | None) -> int:
    return 0 if subwords is None else len(subwords.buckets)
