"""`wv texts-distance`: word mover's distance of two texts, or the texts nearest to one."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import json_option, quiet_option, refuse_options
from wv_cli.commands.shared.queries import Asked, Layout, run_queries
from wv_cli.commands.shared.reading import Source, refuse_tokenizer, word_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.errors import UsageError

if TYPE_CHECKING:
    from wv_cli.vectors.lookup import Case


@click.command("texts-distance", cls=Command)
@word_options
@click.argument("texts", nargs=-1, metavar="[A B] | [TEXT]...")
@click.option("--among", metavar="FILE", help="Find the lines of FILE nearest to each TEXT (- is standard input).")
@click.option(
    "-k", "--k", "k", type=click.IntRange(1), default=10, show_default=True, help="Lines of --among to show per TEXT."
)
@click.option(
    "--case",
    type=click.Choice(["fold-first", "lower", "none"]),
    default="fold-first",
    show_default=True,
    help="Match words regardless of case (fold-first), in lower case, or as written.",
)
@click.option(
    "--stop-words",
    type=click.Choice(["keep", "drop"]),
    default="keep",
    show_default=True,
    help="Keep or drop English stop words.",
)
@click.option("--stop-list", metavar="FILE", help="File of stop words to drop instead of the English ones.")
@click.option("--normalize/--no-normalize", default=True, show_default=True, help="Scale all vectors to unit length.")
@oov_option()
@quiet_option
@json_option
def command(
    texts: tuple[str, ...], among: str | None, k: int, case: "Case", stop_words: str, stop_list: str | None,
    normalize: bool, oov: str, quiet: bool, as_json: bool, **read: Any,
) -> int:  # fmt: skip
    """Show the word mover's distance of the texts A and B: the least movement of words that turns one into the other.

    The distance is exact. It uses the fractions of the words in each text; word order and words without a vector
    have no effect.

    Without texts, pairs are read from standard input: two texts per line with a tab between. With --among, each TEXT
    (or line of standard input) is compared with the lines of FILE. The nearest lines are printed as `line TAB
    distance`; the lower bound RWMD skips most exact distances.
    """
    from wv_cli.text.stop_words import read_stop_words
    from wv_cli.transforms.text_distance import TextAnswers, TextSpace, read_lines

    refuse_options(k="among", stop_list="stop_words=drop")
    if among is None and len(texts) not in (0, 2):
        message = f"expected two texts A B, found {len(texts)}; quote each, or pipe pairs in with a tab between"
        raise UsageError(message)
    source = Source(quiet=quiet, **read)
    stopped = read_stop_words(stop_list) if stop_words == "drop" else frozenset[str]()
    if among == "-" and (not texts or "-" in (source.vectors, *source.beside)):
        message = "--among - takes standard input, which the texts or vectors are read from, too; name a file"
        raise UsageError(message)
    for each in source.each():
        refuse_tokenizer(each.vectors, "the word mover's distance is of words")
    lines = read_lines(among) if among is not None else None
    loaded = [(each, each.load(piped=not texts)) for each in source.each()]
    answers = [
        TextAnswers(TextSpace(found, case, stop_words=stopped, normalize=normalize), each.vectors, lines)
        for each, found in loaded
    ]
    return run_queries(
        ["\t".join(texts)] if texts and among is None else texts,
        [Asked(each.name, partial(each.answers, k=k)) for each in answers],
        hits=k,
        prompt="A text" if among else "Two texts with a tab between",
        as_json=as_json,
        layout=Layout("nearest" if among else "distance", number=among is None),
        unknown=Unknown(oov, quiet),
        words=loaded[0][1].words,
    )
