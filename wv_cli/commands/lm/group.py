"""`wv lm`: the group of what is done with language models. Their perplexity is `wv eval perplexity`."""

from collections import UserDict
from typing import Any

import click

from wv_cli.commands.lm import ask
from wv_cli.commands.shared.help import CommandGroup


class Subcommands(UserDict[str, Any]):
    """The subcommands of a group by name. In the place of one stand the MODULE:CLASS of its job and its line in the
    help until it is asked for, so that others do not wait for the modules of the job."""

    def __getitem__(self, name: str) -> click.Command:
        found: click.Command | tuple[str, str] = self.data[name]
        if isinstance(found, tuple):
            from wv_cli.commands.shared.fields import make_command
            from wv_cli.registry import load

            place, summary = found
            self.data[name] = found = make_command(name, load(place))
            found.short_help = summary
        return found


@click.group(
    "lm",
    cls=CommandGroup,
    commands=Subcommands(
        {
            "train": ("wv_cli.jobs.ngrams:NgramJob", "Train a model of n-grams on a text."),
            "score": ask.score,
            "next": ask.next_words,
            "sample": ask.sample,
            "convert": ("wv_cli.jobs.lm_convert:LmConvertJob", "Write a model in another format."),
            "mix": ("wv_cli.jobs.lm_mix:LmMixJob", "Write several models as one."),
        }
    ),
)
def command() -> None:
    """Train, query, mix and convert n-gram language models.

    MODEL is an ARPA file of KenLM, SRILM or wv (.arpa, .arpa.gz), KenLM's binary of any type, wv's binary (.lm), or a
    neural model (.lm). `wv train --model nplm` or lbl makes neural models, which cannot be converted. `wv eval
    perplexity` scores models on a text.
    """
