"""Options that take several words without being repeated: `--positive king woman --negative man`."""

from collections.abc import Iterator, Sequence

import click

from wv_cli.cli.help import Command
from wv_cli.cli.options import WordsOption


class TakesWords(Command):
    """A command whose repeatable options, given once, take all words up to the next option. A word that begins with -
    comes first after its option."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        flags = {flag for each in self.params if isinstance(each, WordsOption) for flag in each.opts}
        return super().parse_args(context, list(_repeat_option(arguments, flags)))


def _repeat_option(arguments: Sequence[str], flags: set[str]) -> Iterator[str]:
    """The command line with the option before each of its words."""
    flag, first, literal = "", False, False
    for each in arguments:
        if each in flags and not literal and not first:
            flag, first = each, True
            continue
        if not first and len(each) > 1 and each.startswith("-"):
            flag, literal = "", literal or each == "--"
        if flag:
            yield flag
        yield each
        first = False
    if first:
        yield flag
