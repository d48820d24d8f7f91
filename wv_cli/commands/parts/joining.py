"""What `wv phrases` joins, in which passes, and what it writes."""

from dataclasses import field
from typing import ClassVar

from wv_cli.commands.distribution import dask_option
from wv_cli.commands.part import Part
from wv_cli.config import argument, frozen, option, threads_option
from wv_cli.errors import UsageError
from wv_cli.io.places import require_one_use
from wv_cli.text.reading_config import ReadingConfig


@frozen
class Passes(Part):
    """The thresholds of the passes."""

    threshold: tuple[float, ...] = option(
        (),
        "Join pairs that score higher; repeat for one pass each.",
        metavar="SCORE", only="not apply", shown="100; npmi: 0.5",
    )  # fmt: skip
    passes: int | None = option(
        None,
        "Number of passes; each earlier pass has a stricter threshold (400, 200, 100).",
        low=1, high=100, only="not apply",
    )  # fmt: skip

    def check(self) -> None:
        if self.passes is not None and len(self.threshold) > 1:
            message = "--passes and several --threshold cannot be used together: each --threshold is a pass already"
            raise UsageError(message)


@frozen
class PhraseInput(Part):
    """The texts whose phrases are joined, and where the phrases are known."""

    inputs: tuple[str, ...] = argument("INPUT...")
    apply: str | None = option(
        None, "Join the phrases of this --save-phrases file instead of finding phrases.", metavar="FILE"
    )
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    threads: int = threads_option("Threads that count pairs and write the text", only="not dask")
    dask: str | None = dask_option()

    def check(self) -> None:
        require_one_use(self.apply or "", "-" in self.inputs)

    def reads(self) -> list[str]:
        return [*self.inputs, *([self.apply] if self.apply else [])]


@frozen
class PhraseOutput(Part):
    """The files for the joined text and for its phrases."""

    group: ClassVar[str] = "Output"

    output: str = option("-", "File for the joined text.", short="o", metavar="FILE")
    save_phrases: str | None = option(
        None,
        "Also write the phrases as tab-separated lines: phrase, score, pass, words.",
        metavar="FILE", only="not apply",
    )  # fmt: skip

    def results(self) -> list[str]:
        return [self.output, *([self.save_phrases] if self.save_phrases else [])]
