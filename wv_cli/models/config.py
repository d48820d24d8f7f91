"""What a run of word2vec, fastText, a classifier or a neural language model is asked to do."""

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
from wv_cli.text.config import is_one_word

_DRAWS = "loss=ns|nce|hs_ns"
# word2vec's.
START_LR = {"skipgram": 0.025, "cbow": 0.05}


def negative_option() -> int:
    help = "Negative samples per position."
    return option(5, help, low=1, high=1000, only=_DRAWS, common=True)


def power_option(default: float, only: str) -> float:
    return option(default, "Exponent of the counts in the distribution of negatives.", low=0, high=2, only=only)


def lr_floor_option(default: float) -> float:
    help = "Final learning rate as a fraction of --lr; the fall is linear."
    return option(default, help, low=0, high=1, what="a share of --lr")


def dropout_option(default: float = 0.0) -> float:
    help = "Fraction of input and hidden numbers to drop in each step."
    return option(default, help, low=0, below=1, group="Training")


def minn_option() -> int:
    return option(0, "Length of the shortest character n-gram.", only="maxn>0", group="Model", common=True)


def maxn_option() -> int:
    help = "Length of the longest character n-gram (subwords); 0 uses whole words only."
    return option(0, help, low=0, high=100, low_is="no subwords", group="Model", common=True)


def buckets_option(only: str = "maxn>0") -> int:
    help = "Rows for hashed n-grams; unused rows take no memory."
    return option(2_000_000, help, low=1, high=2**31 - 1, only=only, group="Model")


def word_ngrams_option(default: int) -> int:
    return option(default, "Length of the longest word n-gram; 1 uses single words.", low=1, high=20)


def min_count_label_option() -> int:
    return option(0, "Drop labels seen fewer times.", low=0)


def label_prefix_option() -> str:
    return option("__label__", "Prefix of the labels in a line.")


def require_subwords(minn: int, maxn: int) -> None:
    require(maxn == 0 or minn > 0, f"--maxn {maxn} needs --minn, from 1 to {maxn}")
    require(maxn == 0 or 1 <= minn <= maxn, f"--minn must be between 1 and --maxn ({maxn}), not {minn}")


def require_label_prefix(prefix: str) -> None:
    require(is_one_word(prefix), f"--label-prefix must be letters without white space, not {prefix!r}")


def require_uncut_labels(prefix: str, tokenizes: bool) -> None:
    """Raises UsageError where --tokenize would cut labels as it cuts words."""
    message = f"--label-prefix {prefix} and --tokenize cannot be used together: it leaves only __label__NAME as it is"
    require(not tokenizes or prefix == "__label__", f"{message}; label lines so, or leave --tokenize out")


BALANCED = "balanced"  # of class_weights: by the counts of the labels


@frozen
class Word2vecConfig(Options):
    """A word2vec run, with subwords (fastText) when maxn is above 0. Names and defaults are word2vec's where it has
    them; lr 0 means START_LR, as word2vec chooses. models.presets has fastText's."""

    group: ClassVar[str] = "Training"

    model: Literal["skipgram", "cbow"] = option("skipgram")
    loss: Literal["ns", "hs", "softmax", "nce", "ova", "hs_ns"] = option(
        "ns",
        "Output layer: negative sampling, (hierarchical) softmax, NCE, one-vs-all, or hs and ns together.",
        group="Model",
        common=True,
    )
    dim: int = dim_option()
    window: int = option(5, "Context words on each side.", low=1, high=1000, group="Model", common=True)
    window_side: Literal["both", "left", "right"] = option(
        "both", "Side of a word on which its context stands.", group="Model", only="not whole_line"
    )
    whole_line: bool = option(
        False,
        "Draw the context from the whole line, in any order (items, baskets, sessions).",
        group="Model",
    )
    shrink_window: bool = option(
        True,
        "Draw each position's window from 1..--window, or always use all of it.",
        group="Model",
    )
    negative: int = negative_option()
    share_negatives: bool = option(
        True,
        "Skip-gram: draw negatives once per position, or once per context word as word2vec.",
        only=f"model=skipgram and {_DRAWS}",
    )
    share_positions: bool = option(
        False,
        "CBOW: share negatives between neighboring positions, which is 1.5 times as fast.",
        only="model=cbow and loss=ns and not maxn and window_side=both",
    )
    power: float = power_option(0.75, _DRAWS)
    sample: float = option(
        1e-3,
        "Threshold for subsampling frequent words; smaller drops more, 0 keeps all.",
        low=0,
        low_is="off",
        common=True,
    )
    sample_formula: Literal["word2vec", "paper", "fasttext"] = option(
        "word2vec", "Formula of --sample: word2vec's program, its paper, or fastText.", only="sample>0"
    )
    minn: int = minn_option()
    maxn: int = maxn_option()
    buckets: int = buckets_option()
    lr: float = option(
        0.0,
        "Initial learning rate.",
        low=0,
        high=10,
        low_is="the model's default",
        shown=f"{START_LR['skipgram']} (cbow {START_LR['cbow']})",
        common=True,
    )
    lr_floor: float = lr_floor_option(1e-4)
    epochs: int = epochs_option(5, low=0)
    max_sentence: int = option(1000, "Cut longer lines after this many words.", low=2, high=1_000_000, unit="tokens")
    cbow_mean: bool = option(
        True, "CBOW: average the context words, or sum them.", off="cbow-sum", only="model=cbow", group="Model"
    )
    cbow_gradient: Literal["word2vec", "corrected"] = option(
        "word2vec",
        "CBOW: true gradient of the mean, or word2vec's, not divided by the window.",
        only="model=cbow and cbow_mean",
    )
    seed: int = seed_option()
    threads: int = threads_option()
    deterministic: bool = option(
        False,
        "Make the result independent of --threads, at up to twice the work.",
        only="loss=ns|hs|nce|hs_ns",
        group="Run",
    )

    @property
    def start_lr(self) -> float:
        return self.lr or START_LR[self.model]

    @property
    def least_lr(self) -> float:
        """Below which the learning rate does not fall."""
        return self.start_lr * self.lr_floor

    def check(self) -> None:
        require_subwords(self.minn, self.maxn)
        sides = self.window_side == "both" or not self.share_positions
        require(sides, f"--window-side {self.window_side} needs --no-share-positions")
        message = "--loss hs_ns has no subwords, since fastText's files hold one output layer; use hs or ns"
        require(self.loss != "hs_ns" or self.maxn == 0, message)


@frozen
class SupervisedConfig(Options):
    """A text classifier. Names and defaults are fastText's; buckets count only with word_ngrams > 1 or maxn > 0."""

    group: ClassVar[str] = "Classifier"

    loss: Literal["softmax", "hs", "ns", "ova"] = option(
        "softmax", "Output layer: softmax, hierarchical softmax, negative sampling, or one-vs-all."
    )
    dim: int = dim_option()
    lr: float = lr_option(0.1, "Initial learning rate.", high=1000)
    epochs: int = epochs_option(5, low=0)
    word_ngrams: int = word_ngrams_option(1)
    minn: int = minn_option()
    maxn: int = maxn_option()
    buckets: int = buckets_option("maxn>0 or word_ngrams>1")
    negative: int = negative_option()
    dropout: float = dropout_option()
    min_count_label: int = min_count_label_option()
    label_prefix: str = label_prefix_option()
    class_weights: str = option(
        "",
        "Weights of the labels: balanced by their counts, or a FILE of `label weight` lines.",
        shown="1 each",
    )
    line_weights: bool = option(False, "Read words such as __weight__0.5 as the weight of their line.")
    seed: int = seed_option()
    threads: int = threads_option()

    @property
    def uses_buckets(self) -> bool:
        return self.word_ngrams > 1 or self.maxn > 0

    def check(self) -> None:
        require_subwords(self.minn, self.maxn)
        require_label_prefix(self.label_prefix)


_SAMPLED = "loss=nce|ns|importance"


@frozen
class NeuralConfig(Options):
    """A neural language model, nplm (Bengio et al. 2003) or lbl (Mnih & Hinton 2007), or ivlbl, which turns lbl round
    (Mnih & Kavukcuoglu 2013)."""

    group: ClassVar[str] = "Language model"

    model: Literal["nplm", "lbl", "ivlbl"] = option("nplm")
    loss: Literal["softmax", "nce", "ns", "hs", "importance", "class"] = option(
        "nce",
        "Output layer: softmax, NCE, negative sampling, hierarchical, importance-sampled or class-based softmax.",
    )
    order: int = option(5, "Context length plus one.", low=2, high=10)
    dim: int = dim_option()
    hidden: int = option(100, "Size of the hidden layer.", low=1, high=100_000, only="model=nplm")
    direct: bool = option(
        False, "Also connect the context words directly to the output, past the hidden layer.", only="model=nplm"
    )
    context_matrices: Literal["full", "diagonal"] = option(
        "full", "Multiply each context word by a matrix per position, or by a vector.", only="model=lbl"
    )
    tree: Literal["huffman", "random", "clustered"] = option(
        "huffman",
        "Tree of hierarchical softmax: Huffman by counts, random and balanced, or clustered from --tree-from.",
        only="loss=hs",
    )
    codes: int = option(
        1, "Number of random trees; every word gets one code per tree.", low=1, high=64,
        only="loss=hs and tree=random|clustered",
    )  # fmt: skip
    tie: bool = option(
        False, "Share one vector per word between context and prediction.",
        only="model=lbl and loss=softmax|nce|ns|importance",
    )  # fmt: skip
    negative: int = option(
        500, "Negative samples, shared by the positions of a batch.", low=1, high=100_000, only=_SAMPLED
    )
    power: float = power_option(1.0, _SAMPLED)
    dropout: float = dropout_option()
    lr: float = lr_option(0.01, "Initial learning rate.", high=10)
    lr_floor: float = lr_floor_option(0.01)
    batch: int = option(16, "Positions per update.", low=1, high=1024)
    epochs: int = epochs_option(5, low=0)
    seed: int = seed_option()
    threads: int = threads_option()

    @property
    def width(self) -> int:
        """Numbers of the predicted vector."""
        return self.hidden if self.model == "nplm" else self.dim

    @property
    def diagonal(self) -> bool:
        """Whether a context word is multiplied with a vector, not with a matrix."""
        return self.model == "ivlbl" or (self.model == "lbl" and self.context_matrices == "diagonal")
