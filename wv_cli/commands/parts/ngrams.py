"""The file that a model of n-grams is written to."""

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part
from wv_cli.config import frozen, option

if TYPE_CHECKING:
    from wv_cli.lm.model import Ngrams


@frozen
class NgramFormat(Part):
    """The format of a model of n-grams."""

    group: ClassVar[str] = "Output"

    to: str | None = option(None, "Output format: arpa or binary; by default the ending chooses.", metavar="FORMAT")
    quantize: int | None = option(
        None,
        "Bits per probability and back-off weight of a binary (8 hardly changes scores).",
        metavar="BITS", low=2, high=16,
    )  # fmt: skip

    def require_fitting(self, output: str) -> None:
        """Raises UsageError for an output that has no format, or whose numbers are not quantized."""
        from wv_cli.lm.files import format_for_output

        format_for_output(output, self.to).require_quantize(self.quantize)

    def save(self, output: str, model: "Ngrams") -> None:
        """Writes the model. Raises WvError."""
        from wv_cli.lm.files import save

        save(output, model, format=self.to, quantize=self.quantize)


@frozen
class NgramOutput(Part):
    """The output file of a model of n-grams, standard output by default."""

    output: str = option(
        "-",
        "Output file: NAME.arpa, NAME.arpa.gz, NAME.lm (binary), or - (ARPA on standard output).",
        short="o", role="result", group="Output",
    )  # fmt: skip
    format: NgramFormat = field(default_factory=NgramFormat)
