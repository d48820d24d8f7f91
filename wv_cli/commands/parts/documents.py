"""How a document becomes the lines that a classifier gets: options of the commands that judge records."""

from wv_cli.config import option
from wv_cli.filtering.flattening import FLATTENINGS, UNITS


def flatten_option(*, only: str = "") -> str:
    help = "How a text of several lines becomes one: as a pipeline does it, by name."
    return option("space", help, choices=FLATTENINGS, only=only)


def unit_option(*, only: str = "") -> str:
    return option("document", "Units of a text that are scored one by one.", choices=UNITS, only=only)
