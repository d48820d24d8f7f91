"""`wv analogy`: a is to b as c is to ?"""

from typing import Any

import click

from wv_cli.commands.shared.habits import require_file_first
from wv_cli.commands.shared.help import Command
from wv_cli.commands.shared.options import json_option, quiet_option
from wv_cli.commands.shared.queries import Asked, Layout, run_queries
from wv_cli.commands.shared.reading import Source, vector_options
from wv_cli.commands.shared.unknown import Unknown, oov_option
from wv_cli.errors import UsageError


@click.command("analogy", cls=Command)
@vector_options
@click.argument("words", nargs=-1, metavar="[A B C]")
@click.option("-k", "--k", "k", type=click.IntRange(1), default=10, show_default=True, help="Answers per question.")
@click.option(
    "--method",
    type=click.Choice(["3cosadd", "3cosmul"]),
    default="3cosadd",
    show_default=True,
    help="Rank by the cosine with b - a + c, or by products of cosines.",
)
@oov_option()
@quiet_option
@json_option
def command(words: tuple[str, ...], k: int, method: str, oov: str, quiet: bool, as_json: bool, **read: Any) -> int:
    """Show the best answers to: A is to B as C is to ?

    Without A B C, questions are read from standard input, three words per line; a terminal gets a prompt. An answer
    is printed as `word TAB score`, after the question and a tab for questions from a pipe. --json prints one object
    per question. The three words of the question are never answers. Words that a fastText model does not list are
    composed of their character n-grams.
    """
    from wv_cli.vectors.queries import WordIndex

    require_file_first([read["vectors"]], words, "analogy")
    if len(words) > 3 and {"+", "-"}.intersection(words):
        total = " ".join(words)
        raise UsageError(f"{total!r} is a sum: `wv nn VECTORS {total!r}` answers it; an analogy is three words A B C")
    if len(words) not in (0, 3):
        message = f"expected three words A B C, found {len(words)}; questions can also be piped in, three words a line"
        raise UsageError(message)
    source = Source(quiet=quiet, **read)
    indexes = []
    for each in source.each():
        vectors = each.load(piped=not words)
        indexes.append(WordIndex(vectors, vectors.exact(threads=each.threads), each.vectors, rest=each.rest()))
    most = min(k, max(map(len, indexes)))

    def new_asked(index: WordIndex) -> Asked:
        rows = source.restrict_vocab
        return Asked(index.name, lambda questions: index.analogies(questions, most, method=method, rows=rows))

    return run_queries(
        [" ".join(words)] if words else [],
        [new_asked(index) for index in indexes],
        hits=most,
        prompt="Three words a b c: a is to b as c is to ?",
        as_json=as_json,
        layout=Layout("answers"),
        unknown=Unknown(oov, quiet),
        words=indexes[0].words,
    )
