"""What `wv distil` makes of the pieces of an encoder's tokenizer."""

from wv_cli.commands.part import Part
from wv_cli.config import frozen, option


@frozen
class PieceOptions(Part):
    """What concerns pieces only. The file `words` has own words, one a line, `counts` the counts of words that weigh
    the pieces. `variance` chooses the dimensions, `clusters` are rows that pieces share."""

    words: str | None = option(None, "Add these words, one a line, to the pieces.", metavar="FILE")
    counts: str | None = option(
        None, "Weigh pieces by these `word count` lines, not by their ranks.", metavar="FILE", group="Input"
    )
    variance: float | None = option(
        None,
        "Keep the dimensions that explain this fraction of the variance, instead of --dim.",
        above=0, below=1, metavar="P",
    )  # fmt: skip
    clusters: int | None = option(None, "Let pieces share N rows, found by k-means.", low=1)

    def reads(self) -> list[str]:
        return [*filter(None, [self.words, self.counts])]
