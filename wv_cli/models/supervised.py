"""The text classifier of fastText (Joulin et al. 2016): matrices, tables and steps for csrc/kernels/supervised.c.

Buckets of character and word n-grams have a row only when they occur in the text: fastText's 2,000,000 buckets then
cost 4 bytes each, not 4 * dim. A bucket that does not occur stays zero, where fastText leaves it at its random start.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _subwords, _supervised, _word2vec
from wv_cli.errors import UsageError, WvError
from wv_cli.io import container, memory
from wv_cli.io.matrices import IN_MEMORY, MatrixAllocator
from wv_cli.models.class_weights import class_weights
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.continued_rows import Tree, carry_nodes
from wv_cli.models.layers import LAYERS
from wv_cli.models.replicas import OutputReplicas, replica_bytes
from wv_cli.models.training.blocks import BlockTraining
from wv_cli.models.training.state import State, StateOptions
from wv_cli.text.labeled import LabeledCorpus
from wv_cli.text.vocab import Vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import DenseMatrix, FastTextArgs, FastTextModel, SparseRows

# A step is some 10 ms of work: a row costs about 50 ns at dim 100, a label's row 12 ns.
_STEP_ROWS = 200_000
_LABELS_PER_ROW = 4
_NOISE_POWER = 0.5  # fastText's
_NO_BUCKETS = np.empty(0, np.int32)
_NOT_ITS_ROWS = "the state's rows are not those of its words, labels and n-grams; make it again"


def _no_rows(buckets: int) -> NDArray[np.int32]:
    """A row for every bucket, none yet, in huge pages: any of them may be next."""
    row: NDArray[np.int32] = memory.zeros(1, buckets)[0].view(np.int32)
    row[:] = -1
    return row


class Supervised(BlockTraining[SupervisedConfig]):
    """A model in training. Satisfies wv_cli.models.training.trainer.Trainable.

    `input` is (rows, padded dim) float32: the words of the corpus, then the buckets that occur, in order of first
    sight; `bucket_row` (buckets,) int32 tells which row a bucket has, -1 for none. `output` is (labels, padded dim);
    hierarchical softmax: one row less, those of the inner nodes.
    """

    def __init__(
        self,
        config: SupervisedConfig,
        min_count: int,
        corpus: LabeledCorpus,
        pretrained: Embeddings | None = None,
        before: State | None = None,
        allocator: MatrixAllocator = IN_MEMORY,
    ) -> None:
        """Allocates, in `allocator`, and initializes; `min_count` is only noted in the model's file. With a state
        `before`, all of whose words and labels are in the corpus, training goes on.
        Raises UsageError for `pretrained` that does not fit, WvError when there is no room for the matrices or the
        state is not that of such a model."""
        if pretrained is not None and pretrained.dim != config.dim:
            found = f"found {pretrained.dim}; give --dim {pretrained.dim}"
            raise UsageError(f"--pretrained: expected vectors of --dim {config.dim}, {found}")
        self.config, self.min_count, self.corpus, self.layer = config, min_count, corpus, LAYERS[config.loss]
        self.bucket_row = _no_rows(config.buckets) if config.uses_buckets else None
        self._learnt = before.arrays["buckets"] if before is not None and config.uses_buckets else _NO_BUCKETS
        self._rules = self._make_rules()
        self.ngram_rows = allocator.beside_ids(len(corpus.ids) * (config.word_ngrams - 1))
        self.survey = self._rules.survey(corpus.ids, self._next_row, ngram_rows=self.ngram_rows)
        rows, stride = self.survey["next_row"], memory.pad_width(config.dim)
        outputs = len(corpus.labels) - self.layer.tree
        matrices = 4 * stride * (rows + outputs)
        needed = matrices
        needed += replica_bytes(config, outputs)
        allocator.require(needed, matrices, "lower --dim or --buckets, or raise --min-count")
        self.input, self.output = allocator.zeros(rows, stride), allocator.zeros(outputs, stride)
        self.words_initialized = self._initialize(pretrained)
        if before is not None:
            self._restore_state(before)
        step_ids = self._step_ids()
        self.starts = _word2vec.block_starts(corpus.ids, step_ids, 2**31 - 1)
        self._run = self._make_run()
        self._replicas = OutputReplicas.for_threads(config, len(self.output))

    def _make_rules(self) -> _supervised.Rules:
        config, corpus = self.config, self.corpus
        words = corpus.words
        tables: dict[str, Any] = {}
        self._next_row = self._start_rows()
        self._rows_of_words = self._word_rows() if config.maxn > 0 else None
        if self._rows_of_words is not None:
            tables["word_rows"] = self._rows_of_words
        if config.word_ngrams > 1:
            hashes = _subwords.word_hashes(words.blob, words.starts).view(np.int32)
            tables |= {"hashes": hashes, "word_ngrams": config.word_ngrams}
        return _supervised.Rules(
            ids=len(words),
            words=corpus.kept,
            end_of_line=corpus.end_of_line,
            bucket_row=self.bucket_row,
            labels=len(corpus.labels),
            line_weights=corpus.line_weights if len(corpus.line_weights) else None,
            **tables,
        )

    def _start_rows(self) -> int:
        """Rows there are before any bucket has occurred: the words' and those of buckets that are learnt."""
        kept, learnt = self.corpus.kept, self._learnt
        if self.bucket_row is not None and len(learnt):
            if learnt.min() < 0 or learnt.max() >= len(self.bucket_row) or len(np.unique(learnt)) < len(learnt):
                raise WvError(_NOT_ITS_ROWS)
            self.bucket_row[learnt] = kept + np.arange(len(learnt), dtype=np.int32)
        return kept + len(learnt)

    def _word_rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(starts, rows): for every word its row, if it has one, then those of its character n-grams, which get rows in
        order of first sight. `</s>` has no n-grams."""
        config, corpus = self.config, self.corpus
        assert self.bucket_row is not None
        words = corpus.words
        starts, buckets = _subwords.of_words(words.blob, words.starts, config.minn, config.maxn, config.buckets)
        sizes = np.diff(starts)
        word = np.repeat(np.arange(len(words)), sizes)
        buckets, word = buckets[word != corpus.end_of_line], word[word != corpus.end_of_line]
        sizes[corpus.end_of_line] = 0
        distinct, first = np.unique(buckets[self.bucket_row[buckets] < 0], return_index=True)
        self.bucket_row[distinct[np.argsort(first)]] = self._next_row + np.arange(len(distinct), dtype=np.int32)
        self._next_row += len(distinct)
        sizes[: corpus.kept] += 1
        out = np.zeros(len(words) + 1, np.int64)
        np.cumsum(sizes, out=out[1:])
        rows = np.empty(out[-1], np.int32)
        own = np.zeros(len(rows), np.bool_)
        own[out[: corpus.kept]] = True
        rows[own], rows[~own] = np.arange(corpus.kept), self.bucket_row[buckets]
        return out, rows

    def _step_ids(self) -> int:
        """Ids per step, so that a step takes about as long whatever the model."""
        corpus, config = self.corpus, self.config
        rows = self.survey["rows"] / len(corpus.ids)
        labels = len(corpus.labels) if self.layer.takes_all else 2 * config.negative + 10
        outputs = labels / _LABELS_PER_ROW * corpus.lines / len(corpus.ids)
        return max(1, int(_STEP_ROWS * 100 / max(config.dim, 16) / (rows + outputs)))

    def _initialize(self, pretrained: Embeddings | None) -> int:
        """Uniform in +-1 / dim as fastText; output rows stay zero. Returns how many words came from `pretrained`; its
        words that are not in the text are left out."""
        dim = self.config.dim
        _word2vec.fill_uniform(np.random.default_rng(self.config.seed), self.input, dim, factor=2, divisor=dim)
        if pretrained is None:
            return 0
        known = pretrained.words.find_all(self.corpus.words)[: self.corpus.kept]
        found = np.flatnonzero(known >= 0)
        self.input[found, :dim] = pretrained.matrix[known[found]]
        return len(found)

    def _restore_state(self, before: State) -> None:
        """Puts the rows of a state in the place of those that training would start from. Raises WvError when they are
        not those of such a model."""
        dim, arrays, corpus = self.config.dim, before.arrays, self.corpus
        labels = before.labels
        assert labels is not None, "read_state() was asked for them"
        ids, tags = corpus.words.find_all(before.vocab.words), corpus.labels.find_all(labels.words)
        words, outputs = len(ids), len(tags) - self.layer.tree
        shapes = len(arrays["input"]), len(arrays["output"])
        if min(ids.min(initial=0), tags.min()) < 0 or shapes != (words + len(self._learnt), outputs):
            raise WvError(_NOT_ITS_ROWS)
        self.input[ids, :dim] = arrays["input"][:words]
        self.input[corpus.kept : corpus.kept + len(self._learnt), :dim] = arrays["input"][words:]
        if not self.layer.tree:
            self.output[tags, :dim] = arrays["output"]
            return
        trees = (
            Tree.from_paths(_word2vec.huffman(labels.counts)),
            Tree.from_paths(_word2vec.huffman(corpus.label_counts)),
        )
        self.output[:, :dim] = carry_nodes(trees[0], arrays["output"], trees[1], tags, corpus.label_counts)[0]

    def _make_run(self) -> _supervised.Run:
        config, corpus = self.config, self.corpus
        tables: dict[str, Any] = {}
        if self.layer.draws:
            tables["sampler"] = _word2vec.alias_table(self._noise())
        if self.layer.tree:
            tables["path"] = _word2vec.huffman(corpus.label_counts)
        if config.class_weights:
            tables["class_weights"] = class_weights(config.class_weights, corpus.labels, corpus.label_counts)
        return _supervised.Run(
            config,
            rules=self._rules,
            survey=self.survey,
            ids=corpus.ids,
            input=self.input,
            output=self.output,
            labels=len(corpus.labels),
            **tables,
        )

    def _noise(self) -> NDArray[np.float64]:
        """What labels are drawn in proportion to."""
        noise: NDArray[np.float64] = self.corpus.label_counts.astype(np.float64) ** _NOISE_POWER
        return noise

    def worker(self) -> _supervised.Worker:
        return self._run.worker(self._replicas)

    def flush(self, worker: _supervised.Worker) -> None:  # type: ignore[override]
        worker.flush()

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        return {**self.config.identity(), "corpus": self.corpus.digest}

    def schedule(self) -> dict[str, Any]:
        """See models.training.saved_run.Savable."""
        bounded = {"bounded": True} if self.config.dropout else {}  # older runs had no bound on a step with dropout
        return {"version": self.layer.version, "step_rows": _STEP_ROWS, "labels_per_row": _LABELS_PER_ROW, **bounded}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything that training changes."""
        return {"input": self.input, "output": self.output}

    def state(self, options: StateOptions) -> State:
        """What a run leaves that others go on with; `options` say how it was made."""
        corpus, dim = self.corpus, self.config.dim
        arrays: dict[str, NDArray[Any]] = {"input": self.input[:, :dim], "output": self.output[:, :dim]}
        if self.bucket_row is not None:
            used = np.flatnonzero(self.bucket_row >= 0)
            arrays["buckets"] = used[np.argsort(self.bucket_row[used])].astype(np.int32)
        vocab = Vocab(corpus.words[: corpus.kept], corpus.counts, corpus.lines, corpus.tokens_read)
        return State(options, vocab, arrays, Vocab(corpus.labels, corpus.label_counts))

    @staticmethod
    def state_layout(config: SupervisedConfig) -> container.Layout:
        """The arrays of state(); see models.training.state.read_state."""
        layout: dict[str, tuple[str, tuple[int | str, ...]]] = {
            "input": ("<f4", ("inputs" if config.uses_buckets else "words", config.dim)),
            "output": ("<f4", ("outputs" if LAYERS[config.loss].tree else "labels", config.dim)),
        }
        return {**layout, "buckets": ("<i4", ("buckets",))} if config.uses_buckets else layout

    def fasttext_model(self) -> FastTextModel:
        """The model as fastText's files hold it; its rows are those in training, not copies."""
        config, corpus = self.config, self.corpus
        buckets = config.buckets if config.uses_buckets else 0
        used = np.flatnonzero(self.bucket_row >= 0) if self.bucket_row is not None else np.empty(0, np.int64)
        rows = np.arange(corpus.kept, dtype=np.int32)
        if self.bucket_row is not None:
            rows = np.concatenate([rows, self.bucket_row[used]])
        kept = np.concatenate([np.arange(corpus.kept), corpus.kept + used])
        outputs = np.zeros((len(corpus.labels), config.dim), np.float32)
        outputs[: len(self.output)] = self.output[:, : config.dim]
        return FastTextModel(
            args=FastTextArgs(
                dim=config.dim,
                epochs=config.epochs,
                min_count=self.min_count,
                negative=config.negative,
                word_ngrams=config.word_ngrams,
                loss=config.loss,
                model="supervised",
                buckets=buckets,
                minn=config.minn,
                maxn=config.maxn,
            ),
            words=corpus.words[: corpus.kept],
            counts=corpus.counts,
            labels=corpus.labels,
            label_counts=corpus.label_counts,
            tokens=corpus.tokens_read,
            kept_buckets=None,
            input=SparseRows((corpus.kept + buckets, config.dim), kept, self.input[:, : config.dim], rows),
            output=DenseMatrix(outputs),
        )
