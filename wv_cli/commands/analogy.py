"""`wv analogy`: a is to b as c is to ?"""

import click

from wv_cli.commands.shared.options import json_option, quiet_option
from wv_cli.commands.shared.queries import Answer, run_queries
from wv_cli.commands.shared.reading import load_vectors, vector_options
from wv_cli.errors import UsageError


@click.command(short_help="Answer `a is to b as c is to ?`.")
@vector_options
@click.argument("words", nargs=-1, metavar="[A B C]")
@click.option("-k", "k", type=click.IntRange(1), default=10, show_default=True, help="Answers per question.")
@click.option(
    "--method",
    type=click.Choice(["3cosadd", "3cosmul"]),
    default="3cosadd",
    show_default=True,
    help="3cosadd: the cosine with b - a + c; 3cosmul: products of cosines (Levy & Goldberg 2014).",
)
@quiet_option
@json_option
def command(
    vectors: str,
    words: tuple[str, ...],
    k: int,
    method: str,
    restrict_vocab: int | None,
    from_format: str | None,
    limit: int | None,
    threads: int,
    quiet: bool,
    as_json: bool,
) -> int:
    """Show the best answers to: A is to B as C is to ?

    Without A B C questions are read from standard input, three words a line; on a terminal there is a prompt. Answers
    are lines `word TAB score`, after the question and a tab for those from a pipe; with --json each question is one
    object. The three words themselves are never answers. Words that a fastText model does not list are composed of
    their character n-grams.

    \b
    wv analogy vectors.bin man king woman
    """
    from wv_cli.search.neighbours import Neighbours
    from wv_cli.vectors.spelling import find_words

    if len(words) not in (0, 3):
        message = f"expected three words A B C, found {len(words)}; questions can also be piped in, three words a line"
        raise UsageError(message)
    read = load_vectors(vectors, from_format, limit, quiet, piped=not words)
    index = Neighbours(read, threads=threads, overwrite=True)
    k = min(k, len(index))

    def answer(queries: list[str]) -> list[Answer]:
        answers, asked, oov = [Answer(query) for query in queries], [], index.oov_rows()
        for result in answers:
            rows, result.problem = find_words(index.words, result.query, vectors, oov=oov, whole=False)
            if not result.problem and len(rows) != 3:
                result.problem = f"expected three words a b c, found {len(rows)}: {result.query!r}"
            asked.append(rows)
        known = [i for i, result in enumerate(answers) if not result.problem]
        if known:
            a, b, c = zip(*(asked[i] for i in known), strict=True)
            hits, scores = index.analogies(a, b, c, k, method=method, rows=restrict_vocab, oov=oov)
            for i, rows, values in zip(known, hits.tolist(), scores.tolist(), strict=True):
                answers[i].hits = [
                    (index.words[row], value) for row, value in zip(rows, values, strict=True) if row >= 0
                ]
        return answers

    arguments = [" ".join(words)] if words else []
    return run_queries(
        arguments, answer, hits=k, prompt="Three words a b c: a is to b as c is to ?", as_json=as_json, key="answers"
    )
