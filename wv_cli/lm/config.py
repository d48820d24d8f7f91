"""How a language model is counted and smoothed."""

from dataclasses import dataclass
from typing import Literal

from wv_cli.config import Config, option, require, threads_option
from wv_cli.text.config import lowercase_option

LARGEST_ORDER = 10
_DISCOUNTED = "smoothing=kneser-ney|absolute|katz"
_INTERPOLATED = "smoothing=kneser-ney|absolute|witten-bell"


@dataclass(frozen=True)
class CountConfig(Config):
    """What is counted."""

    order: int = option(3, "Words of the longest n-grams.", low=1, high=LARGEST_ORDER)
    lowercase: bool = lowercase_option()
    skip_symbols: bool = option(False, "Read over <s>, </s> and <unk> in the text, which are otherwise an error.")
    threads: int = threads_option("Threads that sort and smooth n-grams; the model is the same. 0: all processors.")


@dataclass(frozen=True)
class LmConfig(CountConfig):
    """What is counted, and how probabilities are made of the counts."""

    smoothing: Literal["kneser-ney", "absolute", "katz", "witten-bell", "add-k", "mle"] = option(
        "kneser-ney",
        "kneser-ney: modified, interpolated (Chen & Goodman 1998), as lmplz; absolute: one discount an order, "
        "interpolated; katz: Good-Turing, backing off; witten-bell: interpolated, for little text; add-k: every "
        "n-gram k times more often, the unseen ones' share by backing off; mle: relative frequencies, no smoothing.",
    )
    prune: str = option(
        "0",
        "Drop n-grams that occur so often or less: one number for each order, divided by commas, the last for all "
        "longer ones (0,0,1).",
    )
    prune_entropy: float = option(
        0.0,
        "Then drop n-grams without which the perplexity on the text would rise by less than this share (1e-8; Stolcke "
        "1998); 0 drops none.",
        low=0,
        below=1,
    )
    limit_vocab: str | None = option(None, "FILE with the words to keep; n-grams with others are dropped.")
    discount_fallback: bool = option(
        False, "An order whose counts give no discounts takes 0.5, 1 and 1.5 instead of being an error.",
        only=_DISCOUNTED,
    )  # fmt: skip
    interpolate_unigrams: bool = option(
        True, "Give every word a share of what <unk> gets, as lmplz; otherwise <unk> has it all, as SRILM.",
        only=_INTERPOLATED,
    )  # fmt: skip
    vocab_pad: int = option(0, "Smooth as if there were so many words.", low=0, high=2**31 - 1, only=_INTERPOLATED)
    add_k: float = option(1.0, "What is added to each count.", above=0, high=1e9, only="smoothing=add-k")
    katz_max: int = option(5, "Counts above are not discounted.", low=1, high=1000, only="smoothing=katz")
    lmplz_last: bool = option(
        False,
        "Repeat lmplz's slip for discounts equal to its last digit: the last n-gram of each order but the highest "
        "counts by its occurrences.",
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
