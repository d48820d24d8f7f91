"""`wv lm`: the group of what is done with language models. Their perplexity is `wv eval perplexity`."""

import click

from wv_cli.cli.custom import lm_ask as ask
from wv_cli.cli.fields import LazyParts
from wv_cli.cli.help import CommandGroup

_ASKING = {"score": ask.score, "next": ask.next_words, "sample": ask.sample}


@click.group("lm", cls=CommandGroup, commands=LazyParts("lm", _ASKING))
def command() -> None:
    """Train, query, mix and convert n-gram language models.

    MODEL is an ARPA file of KenLM, SRILM or wv (.arpa, .arpa.gz), KenLM's binary of any type, wv's binary (.lm), or a
    neural model (.lm). `wv train --model nplm` or lbl makes neural models, which cannot be converted. `wv eval
    perplexity` scores models on a text.
    """
