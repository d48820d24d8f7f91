"""How a language model is counted and smoothed."""

from typing import Literal

from wv_cli.config import Options, frozen, lowercase_option, option, require, threads_option

LARGEST_ORDER = 10
_DISCOUNTED = "smoothing=kneser-ney|absolute|katz"
_INTERPOLATED = "smoothing=kneser-ney|absolute|witten-bell"


@frozen
class PiecesConfig(Options):
    """What is done to a text before a model of pieces reads it."""

    normalize: Literal["none", "ccnet", "datatrove"] = option(
        "none", "Normalization of each line of the text.", group="Input"
    )
    tokenizer: str | None = option(
        None, "Cut the text into pieces of this sentencepiece model.", group="Input", role="read"
    )


@frozen
class CountConfig(Options):
    """What is counted."""

    order: int = option(3, "Length of the longest n-grams.", low=1, high=LARGEST_ORDER)
    lowercase: bool = lowercase_option()
    skip_symbols: bool = option(False, "Skip <s>, </s> and <unk> in the text instead of failing.")
    threads: int = threads_option("Threads for sorting and smoothing")


@frozen
class LmConfig(CountConfig):
    """What is counted, and how probabilities are made of the counts."""

    smoothing: Literal["kneser-ney", "absolute", "katz", "witten-bell", "add-k", "mle"] = option(
        "kneser-ney",
        "Smoothing method of the probabilities.",
    )
    prune: str = option(
        "0",
        "Drop n-grams up to these counts, one per order; the last repeats (0,0,1).",
    )
    prune_entropy: float = option(
        0.0,
        "Drop n-grams whose loss raises perplexity by less than this fraction; 0 drops none.",
        low=0,
        below=1,
    )
    limit_vocab: str | None = option(
        None, "File of the words to keep; n-grams with other words are dropped.", role="read"
    )
    discount_fallback: bool = option(
        False, "Use the discounts 0.5, 1 and 1.5 where the counts give none.",
        only=_DISCOUNTED,
    )  # fmt: skip
    interpolate_unigrams: bool = option(
        True, "Spread <unk>'s probability over all words, as lmplz, or leave it to <unk>.",
        only=_INTERPOLATED,
    )  # fmt: skip
    vocab_pad: int = option(
        0, "Vocabulary size to assume in smoothing.", low=0, high=2**31 - 1,
        only=f"{_INTERPOLATED} and interpolate_unigrams",
    )  # fmt: skip
    add_k: float = option(1.0, "Number added to each count.", above=0, high=1e9, only="smoothing=add-k")
    katz_max: int = option(5, "Largest count that is discounted.", low=1, high=1000, only="smoothing=katz")
    lmplz_last: bool = option(
        False,
        "Repeat lmplz's error in the last n-gram of each order, for identical discounts.",
        only="smoothing=kneser-ney",
    )

    def check(self) -> None:
        thresholds = self.prune.split(",")
        message = f"--prune must be whole numbers divided by commas, such as 0,0,1, not {self.prune!r}"
        require(all(each.isascii() and each.isdigit() and len(each) < 16 for each in thresholds), message)
        falling = f"--prune {self.prune}: a longer n-gram cannot be kept without the shorter ones in it; let them rise"
        require(list(self.thresholds) == sorted(self.thresholds), falling)

    def check_order(self) -> None:
        """Raises UsageError for options that do not go with `order`."""
        numbers = self.prune.count(",") + 1
        message = f"--prune {self.prune} has {numbers} numbers, but --order is {self.order}"
        require(numbers <= self.order, message)

    @property
    def thresholds(self) -> tuple[int, ...]:
        """What --prune says of every order."""
        given = [int(each) for each in self.prune.split(",")]
        return tuple(given[min(n, len(given) - 1)] for n in range(self.order))
