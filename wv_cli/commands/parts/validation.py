"""The options of scoring a model after every epoch."""

from wv_cli.commands.part import Part
from wv_cli.config import frozen, option


@frozen
class Validation(Part):
    """Validation during training. The vectors are scored after every epoch on the file `validation` of pairs or
    analogies, and those of the best epoch are kept. After `patience` epochs without a better score the run ends
    (wv_cli.commands.validation)."""

    validation: str | None = option(
        None,
        "Score the vectors on this file after each epoch; keep the best epoch.",
        role="read",
        group="Input",
        common=True,
    )
    patience: int | None = option(
        None, "Stop after N epochs without a better score.", low=1, group="Training", only="validation"
    )
