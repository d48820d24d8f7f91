"""What a run that learns vectors of whole texts is asked to do: doc2vec, or means of tokens' vectors."""

from typing import ClassVar, Literal

from wv_cli.config import (
    Options,
    dim_option,
    epochs_option,
    frozen,
    lr_option,
    option,
    require,
    seed_option,
    threads_option,
)
from wv_cli.models.config import (
    buckets_option,
    dropout_option,
    label_prefix_option,
    lr_floor_option,
    maxn_option,
    min_count_label_option,
    minn_option,
    power_option,
    require_label_prefix,
    require_subwords,
    word_ngrams_option,
)

_DM = "algorithm=dm_mean|dm_concat"


@frozen
class Doc2vecConfig(Options):
    """Paragraph vectors (Le & Mikolov 2014). Names are word2vec's, defaults gensim's where it has them."""

    group: ClassVar[str] = "Sentences and documents"
    sample_formula: ClassVar[str] = "word2vec"

    algorithm: Literal["dbow", "dm_mean", "dm_concat"] = option(
        "dbow",
        "Predict words from the document vector alone (dbow), or averaged or concatenated with context words.",
    )
    context: Literal["before", "around"] = option(
        "before", "Context words: those before the predicted word, or those on both sides.", only=_DM
    )
    mean_gradient: Literal["document", "word2vec", "corrected"] = option(
        "document",
        "Divide gradients by the number of inputs for: context words (document), none (word2vec), all (corrected).",
        only="algorithm=dm_mean",
    )
    loss: Literal["ns", "hs"] = option("ns", "Output layer: negative sampling or hierarchical softmax.")
    dim: int = dim_option()
    window: int = option(5, "Context words on each side.", low=1, high=1000, only=_DM)
    negative: int = option(5, "Negative samples per predicted word.", low=1, high=1000, only="loss=ns")
    power: float = power_option(0.75, "loss=ns")
    sample: float = option(
        1e-3, "Threshold for subsampling frequent words; smaller drops more, 0 keeps all.", low=0, low_is="off"
    )
    lr: float = lr_option(0.025, "Initial learning rate.", high=10)
    lr_floor: float = lr_floor_option(0.004)
    epochs: int = epochs_option(10, low=0)
    seed: int = seed_option()
    threads: int = threads_option()

    @property
    def least_lr(self) -> float:
        """Below which the learning rate does not fall."""
        return self.lr * self.lr_floor


@frozen
class PairsConfig(Options):
    """A table of tokens whose means tell pairs of texts from others (multiple negatives ranking)."""

    group: ClassVar[str] = "Sentences and documents"

    dim: int = option(256, "Dimension of the vectors.", low=1, high=100_000, group="Model", common=True)
    nested: str | None = option(
        None, "Also train prefixes of these lengths as vectors of their own (Matryoshka): 32,64,128.", shown="no others"
    )
    scale: float = option(20.0, "Factor of the cosines in the softmax; 1 / temperature.", above=0, high=40)
    symmetric: bool = option(False, "Also tell each positive's anchor from the others.")
    max_length: int = option(512, "Tokens read of a text; 0 reads all.", low=0, high=2**30, low_is="all")
    batch: int = option(2048, "Pairs of a step; their texts are each other's negatives.", low=1, high=1 << 20)
    optimizer: Literal["adam", "adagrad"] = option(
        "adam", "Adam, or AdaGrad with one sum a row, which takes a third of the memory."
    )
    lr: float = lr_option(0.2, "Highest learning rate, in units of the first table's root mean square.", high=1000)
    warmup: float = option(
        0.1, "Fraction of the steps in which the learning rate rises.", low=0, below=1, what="a share of the steps"
    )
    epochs: int = epochs_option(1, low=0)
    seed: int = seed_option("Random seed; the same seed gives the same file.")
    threads: int = threads_option()

    def check(self) -> None:
        levels = self.levels
        fits = levels[0] > 0 and levels[-1] == self.dim and len(levels) <= 16
        require(fits, f"--nested takes up to 15 dimensions below --dim ({self.dim}), not {self.nested!r}")

    @property
    def levels(self) -> tuple[int, ...]:
        """The dimensions that are trained, rising, the last all. Raises UsageError for what are no numbers."""
        parts = (self.nested or "").split(",") if self.nested is not None else []
        numbers = all(part.strip().isdigit() and len(part) < 10 for part in parts)
        require(numbers, f"--nested takes dimensions with commas between them, such as 32,64,128, not {self.nested!r}")
        return tuple(sorted({*map(int, parts), self.dim}))


@frozen
class PooledConfig(Options):
    """A text classifier of pooled vectors of tokens beside fastText's n-grams. A step reads the fields of
    wv_pooled_options (csrc/kernels/wv_pooled.h)."""

    group: ClassVar[str] = "Classifier"

    dim: int = dim_option()
    ngram_dim: int = option(64, "pooled: dimension of the n-grams' vectors.", low=1, high=100_000)
    word_ngrams: int = word_ngrams_option(2)
    minn: int = minn_option()
    maxn: int = maxn_option()
    buckets: int = buckets_option("maxn>0 or word_ngrams>1")
    max_length: int = option(512, "Tokens read of a text.", low=1, high=1 << 20)
    lr: float = lr_option(0.2, "Initial learning rate.", high=10)
    row_lr: float = option(0.0015, "pooled: learning rate of the tokens' vectors.", low=0, high=10, group="Training")
    dropout: float = dropout_option(0.5)
    ngram_dropout: float = option(
        0.7, "pooled: fraction of the n-grams' sum to drop in each step.", low=0, below=1, group="Training"
    )
    label_smoothing: float = option(
        0.05, "pooled: share of each target that all labels divide.", low=0, below=1, group="Training"
    )
    epochs: int = epochs_option(40, low=0)
    min_count_label: int = min_count_label_option()
    label_prefix: str = label_prefix_option()
    seed: int = seed_option()
    threads: int = threads_option()

    def check(self) -> None:
        require_subwords(self.minn, self.maxn)
        require_label_prefix(self.label_prefix)
