"""The output files of a training."""

from dataclasses import dataclass
from typing import ClassVar

from wv_cli.commands.part import Part
from wv_cli.config import option


def outputs_option(help: str) -> tuple[str, ...]:
    return option((), help, short="o", flag="output", metavar="FILE", group="Output", common=True)


def to_option(*, only: str = "") -> str | None:
    help = "Format of the outputs (see wv convert); by default their endings choose."
    return option(None, help, metavar="FORMAT", group="Output", only=only)


@dataclass(frozen=True, kw_only=True)
class Outputs(Part):
    group: ClassVar[str] = "Output"

    outputs: tuple[str, ...] = outputs_option("Output file, whose ending chooses the format; may be given twice.")

    def results(self) -> list[str]:
        return list(self.outputs)


@dataclass(frozen=True, kw_only=True)
class CodeOutputs(Outputs):
    """Files of codes."""

    outputs: tuple[str, ...] = outputs_option("Output file: NAME.txt, NAME.tsv and - are text, other endings binary.")
