"""`wv similarity`: the cosine of two words, or of two lists of words."""

from typing import Any

import click

from wv_cli.commands.shared.habits import require_file_first
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import json_option, quiet_option
from wv_cli.commands.shared.queries import Asked, Layout, run_queries
from wv_cli.commands.shared.reading import Source, word_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.errors import UsageError


@click.command("similarity", cls=Command)
@word_options
@click.argument("words", nargs=-1, metavar="[A B]")
@oov_option()
@quiet_option
@json_option
def command(words: tuple[str, ...], oov: str, quiet: bool, as_json: bool, **read: Any) -> int:
    """Show the cosine of the vectors of A and B, two words or two lists of words ("breakfast lunch").

    A list stands for the mean of its vectors, which are not normalized, as in gensim's n_similarity. Without A B,
    pairs are read from standard input: two words per line, or two lists with a tab between. A terminal gets a
    prompt. The cosine of a pair from a pipe is printed after the pair and a tab; --json prints one object per pair.
    Words that a fastText model does not list are composed of their character n-grams.
    """
    from wv_cli.vectors.comparisons import Comparer

    require_file_first([read["vectors"]], words, "similarity")
    if len(words) not in (0, 2):
        message = f"expected two words A B, found {len(words)}; put quotes around each of two lists, or pipe pairs in"
        raise UsageError(message)
    source = Source(quiet=quiet, **read)
    loaded = [(each, each.load(piped=not words)) for each in source.each()]
    return run_queries(
        ["\t".join(words)] if words else [],
        [Asked(each.vectors, Comparer(found, each.vectors, each.rest()).similarities) for each, found in loaded],
        hits=1,
        prompt="Two words, or two lists of words with a tab between,",
        as_json=as_json,
        layout=Layout("similarity", number=True),
        unknown=Unknown(oov, quiet),
        words=loaded[0][1].words,
    )
