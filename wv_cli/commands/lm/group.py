"""`wv lm`: the group of what is done with language models. Their perplexity is `wv eval perplexity`."""

import click

from wv_cli.commands.lm import ask, convert, mix, train
from wv_cli.commands.shared.help import CommandGroup


@click.group("lm", cls=CommandGroup)
def command() -> None:
    """Train, query, mix and convert n-gram language models.

    MODEL is an ARPA file of KenLM, SRILM or wv (.arpa, .arpa.gz), KenLM's binary of any type, wv's binary (.lm), or a
    neural model (.lm). `wv train --model nplm` or lbl makes neural models, which cannot be converted. `wv eval
    perplexity` scores models on a text.
    """


for _each in (train.command, ask.score, ask.next_words, ask.sample, convert.command, mix.command):
    command.add_command(_each)
