"""What fastText tells on standard error while it reads and trains."""

from typing import TYPE_CHECKING

from wv_cli.cli.compat import tell

if TYPE_CHECKING:
    from wv_cli.models.training.progress import Progress

_MILLION = 1_000_000


def time_left(seconds: float) -> str:
    return f"{int(seconds // 3600):3d}h{int(seconds // 60 % 60):2d}m{int(seconds % 60):2d}s"


class Telling:
    """With `verbose` 0 nothing, 1 no lines in between, and none either where one thread was asked for (`threads`)."""

    def __init__(self, verbose: int, asked: int, threads: int) -> None:
        self._verbose, self._between, self._threads = verbose, verbose > 1 and asked > 1, threads
        self._last: Progress | None = None
        self._loss = 0.0

    def read(self, tokens: int, words: int, labels: int) -> None:
        """The text is read."""
        if self._verbose > 1:
            for million in range(1, tokens // _MILLION + 1):
                tell(f"\rRead {million}M words")
        if self._verbose > 0:
            tell(f"\rRead {tokens // _MILLION}M words\n")
            tell(f"Number of words:  {words}\nNumber of labels: {labels}\n")

    def show_progress(self, now: "Progress") -> None:
        before = self._last.tokens if self._last else 0
        if now.loss is not None:
            self._loss += now.loss * (now.tokens - before)
        self._last = now
        if self._between and now.fraction < 1:
            self._line(100 * now.fraction, now.lr, now.eta or 0.0)

    def finish_bar(self) -> None:
        """The training is over, if there was any."""
        if self._verbose > 0 and self._last is not None:
            self._line(100.0, 0.0, 0.0)
            tell("\n")

    def _line(self, percent: float, lr: float, seconds: float) -> None:
        assert self._last is not None
        tokens = self._last.tokens
        loss = f"{self._loss / tokens:f}" if tokens else "-nan"
        speed = int(self._last.rate / self._threads)
        tell(
            f"\rProgress: {percent:5.1f}% words/sec/thread: {speed:7d} lr: {lr:9.6f} avg.loss: {loss:>9} "
            f"ETA: {time_left(seconds)}"
        )
