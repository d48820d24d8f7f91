"""`wv bioword`: a text in, learnt binary codes of its words out."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import field_options, json_option, phrases_options, quiet_option, saved_run_options
from wv_cli.hashing.config import BiowordConfig
from wv_cli.text.config import PhraseLearning, VocabConfig
from wv_cli.text.reading_config import ReadingConfig


@click.command("bioword", cls=Command)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE",
    help="Output file: NAME.txt, NAME.tsv and - are text, other endings binary.",
)  # fmt: skip
@click.option(
    "--hasher", metavar="FILE", help="Encode the words of INPUT in their contexts with this hasher; train nothing."
)
@click.option("--save-hasher", metavar="FILE", help="Save the trained hasher, for --hasher.")
@field_options(BiowordConfig)
@field_options(VocabConfig)
@field_options(PhraseLearning)
@phrases_options
@click.option("--vocab", metavar="FILE", help="Use this vocabulary, whole unless --min-count is given.")
@saved_run_options
@field_options(ReadingConfig)
@quiet_option
@json_option
def command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Learn binary codes of words from the text INPUT (as for `wv train`), as the fruit fly learns smells.

    Kenyon cells compete for windows of words. The code of a word is its most active cells.
    """
    from wv_cli.commands.shared.running import job_of
    from wv_cli.commands.shared.training_run import run_training
    from wv_cli.jobs.bioword import BiowordJob

    also = [options[name] for name in ("save_phrases", "save_hasher") if options[name]]
    run_training(job_of(BiowordJob, options), [*options["outputs"], *also], quiet, as_json, _figures)


def _figures(facts: dict[str, Any]) -> str:
    return f": {facts['words']:,} words, {facts['active']} of {facts['bits']} bits"
