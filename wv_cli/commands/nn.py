"""`wv nn`: the nearest neighbours of words."""

import click

from wv_cli.commands.options import json_option, quiet_option
from wv_cli.commands.queries import Answer, run_queries
from wv_cli.commands.reading import load_vectors, vector_options


@click.command(short_help="Show the nearest neighbours of words.")
@vector_options
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("-k", "k", type=click.IntRange(1), default=10, show_default=True, help="Neighbours per query.")
@quiet_option
@json_option
def command(
    vectors: str,
    words: tuple[str, ...],
    k: int,
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

    \b
    wv nn vectors.bin paris
    cut -f1 words.tsv | wv nn vectors.bin -k 5 --json
    """
    from itertools import accumulate

    import numpy as np

    from wv_cli.neighbours import Neighbours
    from wv_cli.spelling import find_words

    read = load_vectors(vectors, from_format, limit, quiet, piped=not words)
    index = Neighbours(read, threads=threads, overwrite=True)
    k = min(k, len(index))

    def answer(queries: list[str]) -> list[Answer]:
        answers, asked, oov = [Answer(query) for query in queries], [], index.oov_rows()
        for result in answers:
            rows, result.problem = find_words(index.words, result.query, vectors, oov=oov)
            asked.append(rows)
        known = [i for i, result in enumerate(answers) if not result.problem]
        if known:
            units = index.unit_rows([row for i in known for row in asked[i]], oov)
            ends = list(accumulate(len(asked[i]) for i in known))
            means = [part.mean(axis=0) for part in np.split(units, ends[:-1])]
            hits, scores = index.top_k(means, k, exclude=[asked[i] for i in known], rows=restrict_vocab)
            for i, rows, values in zip(known, hits.tolist(), scores.tolist(), strict=True):
                answers[i].hits = [
                    (index.words[row], value) for row, value in zip(rows, values, strict=True) if row >= 0
                ]
        return answers

    return run_queries(
        words, answer, hits=k, prompt="One word, or several for their mean,", as_json=as_json, key="neighbours"
    )
