"""Files of co-occurrence counts."""

from wv_cli.commands.part import Part
from wv_cli.config import frozen, option


@frozen
class Counts(Part):
    """The options about co-occurrence files. `counts` are read instead of a text, `save_counts` gets the counts of the
    run, and `counts_only` trains nothing."""

    counts: tuple[str, ...] = option(
        (),
        "Train on these co-occurrence counts (or their sum), mapped to --vocab.",
        metavar="FILE[:VOCAB]",
        group="Input",
    )
    save_counts: str | None = option(
        None, "Also write the counts as GloVe's 16-byte records, sorted.", metavar="FILE", group="Output"
    )
    counts_only: bool = option(False, "Stop after counting; needs --save-counts.", off=None, group="Output")

    def reads(self) -> list[str]:
        return [path for path in (*self.counts, *(spec.rpartition(":")[0] for spec in self.counts)) if path]

    def results(self) -> list[str]:
        return [self.save_counts] if self.save_counts else []
