"""`wv nn`: the nearest neighbours of words, among vectors or codes."""

from typing import Any

import click

from wv_cli.commands.shared.habits import require_file_first
from wv_cli.commands.shared.options import conflict, json_option, quiet_option, refuse_options
from wv_cli.commands.shared.queries import Asked, Layout, run_queries
from wv_cli.commands.shared.reading import Source, load_vectors, vector_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.commands.shared.word_options import TakesWords, WordsOption
from wv_cli.errors import UsageError


@click.command("nn", cls=TakesWords)
@vector_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--positive", cls=WordsOption, multiple=True, metavar="WORD...", help="Words to add up, instead of WORD.")
@click.option("--negative", cls=WordsOption, multiple=True, metavar="WORD...", help="Words to subtract.")
@click.option("-k", "--k", "k", type=click.IntRange(1), default=10, show_default=True, help="Neighbours per query.")
@click.option("--rerank", metavar="VECTORS2", help="Vectors by whose cosines the nearest codes are ordered.")
@click.option("--index", metavar="NAME", help="Search this index of VECTORS (from wv index): faster, not exact.")
@click.option(
    "--candidates", type=click.IntRange(1), metavar="N",
    help="Rows of codes or of the index for which cosines are computed.  [default: 10 x k; k of hnsw and flat]",
)  # fmt: skip
@oov_option()
@quiet_option
@json_option
def command(
    words: tuple[str, ...], positive: tuple[str, ...], negative: tuple[str, ...], k: int, rerank: str | None,
    index: str | None, candidates: int | None, oov: str, quiet: bool, as_json: bool, **read: Any,
) -> int:  # fmt: skip
    """Show the words whose vectors have the highest cosine with each WORD.

    Without WORD, queries are read from standard input, one per line; a terminal gets a prompt. Several words in one
    query ("new york") stand for the mean of their unit vectors; words after a minus are subtracted. Words that a
    fastText model does not list are composed of their character n-grams.

    A neighbour is printed as `word TAB score`, after the query and a tab if there are several queries. --json prints
    one object per query. Blank lines are skipped. The search is exact without --index.

    VECTORS may be codes from `wv hash`: the score is then the fraction of equal bits (dense codes) or of common
    active bits (sparse codes). Codes of pq are searched as the vectors that they stand for.
    """
    from wv_cli.vectors.queries import WordIndex
    from wv_cli.vectors.sums import Sum

    require_file_first([read["vectors"]], words, "nn")
    refuse_options(
        candidates="rerank or index", beside="not rerank and not index", rerank="not index",
        restrict_vocab="not index", limit="not index",
    )  # fmt: skip
    if index:
        from wv_cli.formats.index_file import open_search
    if rerank:
        from wv_cli.vectors.codes import CodeVectors, rerank_codes
    if words and (positive or negative):
        error = conflict("--positive" if positive else "--negative", "WORD", "the options' words are the query")
        raise error
    total = Sum.of(positive, negative)
    queries = [total.text] if total.words else list(words)
    source = Source(quiet=quiet, **read)
    indexes = []
    for each in source.each():
        vectors = each.load(piped=not queries or rerank == "-")
        if rerank and not isinstance(vectors, CodeVectors):
            raise UsageError(
                f"{each.vectors}: --rerank needs codes, found vectors, whose search is exact; leave it out"
            )
        search = (
            open_search(vectors, each.vectors, index, each.threads, candidates)
            if index
            else vectors.search(threads=each.threads)
        )
        if rerank:
            search = rerank_codes(search, vectors.words, load_vectors(rerank, None, None, quiet), rerank, candidates)
        indexes.append(WordIndex(vectors, search, each.vectors, rest=each.rest()))
    most = min(k, max(map(len, indexes)))

    def asked(one: WordIndex) -> Asked:
        if total.words:
            return Asked(one.name, lambda _: one.nearest_to_sums([total], most, rows=source.restrict_vocab))
        return Asked(one.name, lambda queries: one.nearest(queries, most, rows=source.restrict_vocab))

    return run_queries(
        queries,
        [asked(one) for one in indexes],
        hits=most,
        prompt="One word, or several for their mean or `a - b + c`,",
        as_json=as_json,
        layout=Layout("neighbours"),
        unknown=Unknown(oov, quiet),
        words=indexes[0].words,
    )
