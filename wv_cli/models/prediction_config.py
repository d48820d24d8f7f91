"""What `wv predict` is asked to do."""

from wv_cli.config import frozen, option, require, threads_option
from wv_cli.text.reading_config import AskedConfig


@frozen
class PredictConfig(AskedConfig):
    """What a classifier is asked: its `k` best labels per line, those with a probability of at least `threshold`, or
    the expected `number` of a line."""

    number: bool = option(False, "Labels are numbers, such as __label__3: give each text's expected number.", off=None)
    k: int = option(1, "Labels per line, the best first; -1 gives all.", only="not number")
    threshold: float = option(
        0.0, "Predict only labels at least this probable.", low=0, high=1, what="a probability", only="not number"
    )
    threads: int = threads_option("Prediction threads")

    def check(self) -> None:
        require(self.k >= 1 or self.k == -1, f"--k must be at least 1, or -1 for all labels, not {self.k}")
