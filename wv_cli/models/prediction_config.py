"""What `wv predict` is asked to do."""

from dataclasses import dataclass

from wv_cli.config import option, require, threads_option
from wv_cli.text.config import ReadingConfig


@dataclass(frozen=True)
class PredictConfig(ReadingConfig):
    """What a classifier is asked: its `k` best labels per line, those with a probability of at least `threshold`."""

    k: int = option(1, "Labels predicted per line, the best first; -1: all.")
    threshold: float = option(0.0, "Predict only labels at least this probable.", low=0, high=1, what="a probability")
    threads: int = threads_option("Threads that predict; the order of lines is kept.")

    def check(self) -> None:
        require(self.k >= 1 or self.k == -1, f"--k must be at least 1, or -1 for all labels, not {self.k}")
