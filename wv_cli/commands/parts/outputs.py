"""The output files of a training."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part
from wv_cli.config import frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.compression import inner_name
from wv_cli.vectors.file_options import BitOrder

if TYPE_CHECKING:
    from wv_cli.vectors.codes import Codes


def outputs_option(help: str) -> tuple[str, ...]:
    return option((), help, short="o", flag="output", role="result", group="Output", common=True)


def to_option() -> str | None:
    help = "Format of the outputs (see wv convert); by default their endings choose."
    return option(None, help, metavar="FORMAT", group="Output")


@frozen
class Outputs(Part):
    group: ClassVar[str] = "Output"

    outputs: tuple[str, ...] = outputs_option("Output file, whose ending chooses the format; may be given twice.")


@frozen
class CodeOutputs(Outputs):
    """Files of codes."""

    outputs: tuple[str, ...] = outputs_option(
        "Output file: NAME.txt, NAME.tsv and - are text, NAME.npy is packed, other endings binary."
    )
    packed: BitOrder | None = option(
        None, "Bytes of NAME.npy, for other programs: bit 0 is the lowest or the highest.", group="Output"
    )

    def check(self) -> None:
        arrays = [path for path in self.outputs if inner_name(path).endswith(".npy")]
        if arrays and not self.packed:
            message = f"{arrays[0]}: --packed is missing, little or big: the order of the bits in a byte"
            raise UsageError(message)
        if self.packed and not arrays:
            message = "--packed needs an output NAME.npy; wv nn and wv eval read the other codes without it"
            raise UsageError(message)

    def writers(self, codes: "Codes") -> "list[tuple[str, Callable[[str], None]]]":
        """What writes the codes, for each output."""
        from wv_cli.vectors.formats.codes import save
        from wv_cli.vectors.formats.packed_codes import save_packed

        def write(path: str) -> None:
            if self.packed and inner_name(path).endswith(".npy"):
                save_packed(path, codes, self.packed)
            else:
                save(path, codes)

        return [(path, write) for path in self.outputs]
