"""How a document becomes the lines that a classifier gets: the options of what judges records."""

import click

from wv_cli.filtering.flattening import FLATTENINGS, UNITS

flatten_option = click.option(
    "--flatten", type=click.Choice(list(FLATTENINGS)), default="space", show_default=True,
    help="How a text of several lines becomes one: as a pipeline does it, by name.",
)  # fmt: skip
unit_option = click.option(
    "--unit", type=click.Choice(list(UNITS)), default="document", show_default=True,
    help="Units of a text that are scored one by one.",
)  # fmt: skip
