"""`wv nn`: the nearest neighbours of words, among vectors or codes."""

from typing import TYPE_CHECKING

import click

from wv_cli.commands.shared.options import json_option, quiet_option
from wv_cli.commands.shared.queries import Answer, run_queries
from wv_cli.commands.shared.reading import load_vectors, vector_options
from wv_cli.errors import UsageError

if TYPE_CHECKING:
    from wv_cli.search.neighbours import Hits
    from wv_cli.vectors.embeddings import OovRows


@click.command(short_help="Show the nearest neighbours of words.")
@vector_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("-k", "k", type=click.IntRange(1), default=10, show_default=True, help="Neighbours per query.")
@click.option(
    "--rerank", metavar="VECTORS2", help="VECTORS are codes: order the nearest by the cosine of these vectors."
)
@click.option("--candidates", type=click.IntRange(1), metavar="N", help="Codes --rerank looks at.  [default: 10 x k]")
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
    the query and a tab when there are several queries; with --json each query is one object. Words that a
    fastText model does not list are composed of their character n-grams. The search is exact.

    VECTORS may be codes from `wv hash`: the score is the share of equal bits, of sparse codes of common active bits,
    and several words stand for their majority; codes of pq stand for vectors and are searched as these.

    \b
    cut -f1 words.tsv | wv nn vectors.bin -k 5 --json
    wv nn vectors.codes paris --rerank vectors.bin
    """
    from itertools import accumulate

    import numpy as np

    from wv_cli.search.codes import CodeNeighbours, Reranker
    from wv_cli.search.neighbours import Neighbours
    from wv_cli.vectors.codes import CodeVectors
    from wv_cli.vectors.spelling import find_words

    read = load_vectors(vectors, from_format, limit, quiet, piped=not words or rerank == "-")
    listed, index, codes, reranker = read.words, None, None, None
    if isinstance(read, CodeVectors):
        reranker = Reranker(listed, load_vectors(rerank, None, None, quiet), rerank) if rerank else None
    elif rerank or candidates:
        raise UsageError(f"--rerank and --candidates: {vectors} holds vectors, whose search is exact; give codes")
    if isinstance(read, CodeVectors) and read.codes.quantizer is None:
        codes = CodeNeighbours(read.codes, threads=threads)
    else:
        index = Neighbours(read, threads=threads, overwrite=True)
    k = min(k, len(listed))

    def search(asked: list[list[int]], oov: "OovRows | None") -> "Hits":
        if codes:
            return codes.nearest(asked, k, reranker=reranker, candidates=candidates, rows=restrict_vocab)
        assert index
        units = index.unit_rows([row for rows in asked for row in rows], oov)
        means = [part.mean(axis=0) for part in np.split(units, list(accumulate(map(len, asked)))[:-1])]
        wanted = max(k, candidates or 10 * k) if reranker else k
        found = index.top_k(means, min(wanted, len(listed)), exclude=asked, rows=restrict_vocab)
        return reranker.top_k(asked, found[0], k) if reranker else found

    def answer(queries: list[str]) -> list[Answer]:
        answers, asked = [Answer(query) for query in queries], []
        oov = index.oov_rows() if index else None
        for result in answers:
            rows, result.problem = find_words(listed, result.query, vectors, oov=oov)
            asked.append(rows)
        known = [i for i, result in enumerate(answers) if not result.problem]
        if known:
            hits, scores = search([asked[i] for i in known], oov)
            for i, rows, values in zip(known, hits.tolist(), scores.tolist(), strict=True):
                answers[i].hits = [(listed[row], value) for row, value in zip(rows, values, strict=True) if row >= 0]
        return answers

    return run_queries(
        words, answer, hits=k, prompt="One word, or several for their mean,", as_json=as_json, key="neighbours"
    )
