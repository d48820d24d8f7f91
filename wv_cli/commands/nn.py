"""`wv nn`: the nearest neighbours of words, among vectors or codes."""

from typing import Any

import click

from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import json_option, quiet_option, refuse_meaningless
from wv_cli.commands.shared.queries import run_queries
from wv_cli.commands.shared.reading import Source, load_vectors, vector_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.errors import UsageError


@click.command("nn", cls=Command)
@vector_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("-k", "--k", "k", type=click.IntRange(1), default=10, show_default=True, help="Neighbours per query.")
@click.option(
    "--rerank", metavar="VECTORS2", help="VECTORS are codes: order the nearest by the cosine of these vectors."
)
@click.option("--candidates", type=click.IntRange(1), metavar="N", help="Codes --rerank looks at.  [default: 10 x k]")
@oov_option()
@quiet_option
@json_option
def command(
    words: tuple[str, ...],
    k: int,
    rerank: str | None,
    candidates: int | None,
    oov: str,
    quiet: bool,
    as_json: bool,
    **read: Any,
) -> int:
    """Show the words whose vectors are nearest, by cosine, to each WORD.

    Without WORD queries are read from standard input, one a line; on a terminal there is a prompt. Several words in
    one query ("new york") stand for the mean of their unit vectors. Each neighbour is a line `word TAB score`, after
    the query and a tab when there are several queries; with --json each query is one object. Blank lines are no
    queries. Words that a fastText model does not list are composed of their character n-grams. The search is exact.

    VECTORS may be codes from `wv hash`: the score is the share of equal bits, of sparse codes of common active bits,
    and several words stand for their majority; codes of pq stand for vectors and are searched as these.
    """
    from wv_cli.vectors.codes import CodeVectors, reranked
    from wv_cli.vectors.queries import WordIndex

    refuse_meaningless(candidates="rerank")
    source = Source(quiet=quiet, **read)
    vectors = source.load(piped=not words or rerank == "-")
    if rerank and not isinstance(vectors, CodeVectors):
        problem = f"{source.vectors} holds vectors, whose search is exact; give codes"
        raise UsageError(f"--rerank: {problem}")
    search = vectors.search(threads=source.threads, overwrite=True)
    if rerank:
        search = reranked(search, vectors.words, load_vectors(rerank, None, None, quiet), rerank, candidates)
    index = WordIndex(vectors, search, source.vectors, rest=source.rest())
    k = min(k, len(index))
    return run_queries(
        words,
        lambda queries: index.nearest(queries, k, rows=source.restrict_vocab),
        hits=k,
        prompt="One word, or several for their mean,",
        as_json=as_json,
        key="neighbours",
        unknown=Unknown(oov, quiet),
    )
