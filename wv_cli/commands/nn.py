"""`wv nn`: the nearest neighbors of words, vectors or sentences, among vectors or codes."""

from typing import Any

import click

from wv_cli.commands.shared.habits import require_file_first
from wv_cli.commands.shared.neighbors import Asking, answer_neighbors
from wv_cli.commands.shared.options import WordsOption, json_option, quiet_option, refuse_options
from wv_cli.commands.shared.reading import Source, vector_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.commands.shared.word_options import TakesWords


@click.command("nn", cls=TakesWords)
@vector_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--positive", cls=WordsOption, multiple=True, metavar="WORD...", help="Words to add up, instead of WORD.")
@click.option("--negative", cls=WordsOption, multiple=True, metavar="WORD...", help="Words to subtract.")
@click.option("--vector", multiple=True, metavar="NUMBERS", help="A vector to ask, instead of WORD; - reads lines.")
@click.option("--sentence", multiple=True, metavar="TEXT", help="A sentence to ask, instead of WORD; - reads lines.")
@click.option(
    "--among", metavar="FILE", help="Answer only with the words of FILE, one a line; with --sentence its lines."
)
@click.option("--exclude", metavar="FILE", help="Never answer with the words of FILE, one a line.")
@click.option("-k", "--k", "k", type=click.IntRange(1), default=10, show_default=True, help="Neighbors per query.")
@click.option("--rerank", metavar="VECTORS2", help="Vectors by whose cosines the nearest codes are ordered.")
@click.option(
    "--candidates", type=click.IntRange(1), metavar="N", help="Codes for which cosines are computed.  [default: 10 x k]"
)  # fmt: skip
@oov_option()
@quiet_option
@json_option
def command(
    words: tuple[str, ...], positive: tuple[str, ...], negative: tuple[str, ...], vector: tuple[str, ...],
    sentence: tuple[str, ...], among: str | None, exclude: str | None, k: int, rerank: str | None,
    candidates: int | None, oov: str, quiet: bool, as_json: bool, **read: Any,
) -> int:  # fmt: skip
    """Show the words whose vectors have the highest cosine with each WORD.

    Without WORD, queries are read from standard input, one per line; a terminal gets a prompt. Several words in one
    query ("new york") stand for the mean of their unit vectors; words after a minus are subtracted. Words that a
    fastText model does not list are composed of their character n-grams.

    --vector asks numbers between blanks or commas. --sentence asks a text, whose vector is that of `wv vectors
    --sentences`. With --sentence, the lines of --among FILE are sentences, too.

    A neighbor is printed as `word TAB score`, after the query and a tab if there are several queries. --json prints
    one object per query. Blank lines are skipped. The search is exact.

    VECTORS may be codes from `wv hash`: the score is then the fraction of equal bits (dense codes) or of common
    active bits (sparse codes). Codes of pq are searched as the vectors that they stand for.
    """
    require_file_first([read["vectors"]], words, "nn")
    refuse_options(candidates="rerank", beside="not rerank", restrict_vocab="not among or not sentence")
    source = Source(quiet=quiet, **read)
    asking = Asking(words, positive, negative, vector, sentence, among, exclude, rerank, candidates)
    return answer_neighbors(source, asking, k, as_json, Unknown(oov, quiet))
