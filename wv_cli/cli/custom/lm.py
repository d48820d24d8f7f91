"""`wv lm`: the group of what is done with language models. Their perplexity is `wv eval perplexity`."""

import click

from wv_cli.cli.fields import Subcommands
from wv_cli.cli.help import CommandGroup

_ASKING = {
    "score": "wv_cli.cli.custom.lm_score:score",
    "next": "wv_cli.cli.custom.lm_continue:next_words",
    "sample": "wv_cli.cli.custom.lm_continue:sample",
}


@click.group("lm", cls=CommandGroup, commands=Subcommands("lm", _ASKING))
def command() -> None:
    """Train, query, mix and convert n-gram language models.

    MODEL is an ARPA file of KenLM, SRILM or wv (.arpa, .arpa.gz), KenLM's binary of any type, wv's binary (.lm), or a
    neural model (.lm). `wv train --model nplm` or lbl makes neural models, which cannot be converted. `wv eval
    perplexity` scores models on a text.
    """
