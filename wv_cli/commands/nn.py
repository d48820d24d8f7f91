"""`wv nn`: the nearest neighbours of words, among vectors or codes."""

from typing import TYPE_CHECKING

import click

from wv_cli.commands.options import json_option, quiet_option
from wv_cli.commands.queries import Answer, run_queries
from wv_cli.commands.reading import load_vectors, vector_options
from wv_cli.errors import UsageError

if TYPE_CHECKING:
    from wv_cli.neighbours import Hits


@click.command(short_help="Show the nearest neighbours of words.")
@vector_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("-k", "k", type=click.IntRange(1), default=10, show_default=True, help="Neighbours per query.")
@click.option(
    "--rerank", metavar="VECTORS2", help="VECTORS are codes: order the nearest by the cosine of these vectors."
)
@click.option(
    "--candidates", type=click.IntRange(1), metavar="N", help="How many codes --rerank looks at.  [default: 10 x k]"
)
@quiet_option
@json_option
def command(
    vectors: str,
    words: tuple[str, ...],
    k: int,
    rerank: str | None,
    candidates: int | None,
    restrict_vocab: int | None,
    from_format: str | None,
    limit: int | None,
    threads: int,
    quiet: bool,
    as_json: bool,
) -> int:
    """Show the words whose vectors are nearest, by cosine, to each WORD.

    Without WORD queries are read from standard input, one a line; on a terminal there is a prompt. Several words in
    one query ("new york") stand for the mean of their unit vectors. Each neighbour is a line `word TAB score`, after
    the query and a tab when there are several queries; with --json each query is one object. The search is exact.

    VECTORS may be codes from `wv hash`: then the score is the share of equal bits, of sparse codes the share of common
    active bits, and several words stand for their majority.

    \b
    wv nn vectors.bin paris
    cut -f1 words.tsv | wv nn vectors.bin -k 5 --json
    wv nn vectors.codes paris --rerank vectors.bin
    """
    import numpy as np

    from wv_cli.code_search import CodeNeighbours, Reranker
    from wv_cli.codes import CodeVectors
    from wv_cli.neighbours import Neighbours
    from wv_cli.spelling import find_words

    read = load_vectors(vectors, from_format, limit, quiet, piped=not words or rerank == "-")
    known_words = read.words
    if isinstance(read, CodeVectors):
        codes = CodeNeighbours(read.codes, threads=threads)
        reranker = Reranker(known_words, load_vectors(rerank, None, None, quiet), rerank) if rerank else None

        def search(asked: list[list[int]]) -> "Hits":
            queries = np.stack([codes.mean(rows) for rows in asked])
            wanted = max(k, candidates or 10 * k) if reranker else k
            found = codes.top_k(queries, min(wanted, len(codes)), exclude=asked, rows=restrict_vocab)
            return reranker.top_k(asked, found[0], k) if reranker else found
    else:
        if rerank or candidates:
            message = f"--rerank and --candidates: {vectors} holds vectors, whose search is exact already; give codes"
            raise UsageError(message)
        index = Neighbours(read, threads=threads, overwrite=True)

        def search(asked: list[list[int]]) -> "Hits":
            means = [index.unit[rows].mean(axis=0) for rows in asked]
            return index.top_k(means, k, exclude=asked, rows=restrict_vocab)

    k = min(k, len(read))

    def answer(queries: list[str]) -> list[Answer]:
        answers, asked = [Answer(query) for query in queries], []
        for result in answers:
            rows, result.problem = find_words(known_words, result.query, vectors)
            asked.append(rows)
        known = [i for i, result in enumerate(answers) if not result.problem]
        if known:
            hits, scores = search([asked[i] for i in known])
            for i, rows, values in zip(known, hits.tolist(), scores.tolist(), strict=True):
                found = zip(rows, values, strict=True)
                answers[i].hits = [(known_words[row], value) for row, value in found if row >= 0]
        return answers

    return run_queries(
        words, answer, hits=k, prompt="One word, or several for their mean,", as_json=as_json, key="neighbours"
    )
