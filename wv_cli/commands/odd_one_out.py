"""`wv odd-one-out`: the word that does not belong to the others."""

from typing import Any

import click

from wv_cli.commands.shared.habits import require_file_first
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import json_option, quiet_option
from wv_cli.commands.shared.queries import Asked, Layout, run_queries
from wv_cli.commands.shared.reading import Source, word_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.errors import UsageError


@click.command("odd-one-out", cls=Command)
@word_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option(
    "-k",
    "--k",
    "k",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Words per list, the oddest first.",
)
@oov_option()
@quiet_option
@json_option
def command(words: tuple[str, ...], k: int, oov: str, quiet: bool, as_json: bool, **read: Any) -> int:
    """Show which WORD has the lowest cosine with the mean of the unit vectors of all WORDs.

    Without WORD, lists are read from standard input, one per line; a terminal gets a prompt. The answer is printed
    as `word TAB cosine`, after the list and a tab for lists from a pipe. --json prints one object per list. A list
    with an unknown word has no answer, unlike in gensim's doesnt_match. Words that a fastText model does not list
    are composed of their character n-grams.
    """
    from wv_cli.vectors.comparisons import Comparer
    from wv_cli.words import split_words

    require_file_first([read["vectors"]], words, "odd-one-out")
    if len(words) == 1:
        message = "expected two words or more, found 1; lists can also be piped in, one a line"
        raise UsageError(message)
    source = Source(quiet=quiet, **read)
    loaded = [(each, each.load(piped=not words)) for each in source.each()]

    def new_asked(comparer: Comparer) -> Asked:
        def answer(lines: list[str]) -> list[Any]:
            return [comparer.odd_ones(words or split_words(line), k) for line in lines]

        return Asked(comparer.name, answer)

    return run_queries(
        [" ".join(words)] if words else [],
        [new_asked(Comparer(found, each.vectors, each.rest())) for each, found in loaded],
        hits=k,
        prompt="Several words",
        as_json=as_json,
        layout=Layout("odd"),
        unknown=Unknown(oov, quiet),
        words=loaded[0][1].words,
    )
