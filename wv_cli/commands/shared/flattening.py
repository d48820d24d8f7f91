"""How a document becomes the line that a classifier gets: the option of what judges records."""

import click

from wv_cli.filtering.flattening import FLATTENINGS

flatten_option = click.option(
    "--flatten", type=click.Choice(list(FLATTENINGS)), default="space", show_default=True,
    help="How a text of several lines becomes one: as a pipeline does it, by name.",
)  # fmt: skip
