"""`wv search`: the chunks of text that answer a query; `wv search index` makes the index that answers quickly."""

from typing import Any

import click

from wv_cli.commands.shared.habits import require_query
from wv_cli.commands.shared.help import Command, CommandWithParts
from wv_cli.commands.shared.options import (
    field_options,
    given_options,
    json_option,
    quiet_option,
    take,
    threads_option,
)
from wv_cli.errors import UsageError
from wv_cli.retrieval.config import FusionConfig, TextConfig

_MODEL = "Also search by vectors of wv/small, a static embedding, or word vectors."


@click.group("search", cls=CommandWithParts)
@click.argument("index", metavar="INDEX|FOLDER")
@click.argument("queries", nargs=-1, metavar="[QUERY]...")
@click.option("-k", "--k", "k", type=click.IntRange(1), default=10, show_default=True, help="Answers per query.")
@click.option("--model", metavar="MODEL", help=f"{_MODEL}  [default: that of INDEX]")
@field_options(FusionConfig)
@field_options(TextConfig)
@threads_option("Threads that read FOLDER's text with --model")
@quiet_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per answer.")
def command(
    index: str, queries: tuple[str, ...], k: int, model: str | None, threads: int, quiet: bool, as_json: bool,
    **options: Any,
) -> int:  # fmt: skip
    """Show the paragraphs, lines or records that answer each QUERY best.

    INDEX is a file from `wv search index`. A FOLDER or a text file is searched without an index, which takes longer. A
    folder that is called index is given as ./index.

    Without a model the search is BM25: it finds words, their English forms, and identifiers by their parts. With
    --model its scores and those of vectors are summed; wv/small comes with the program and knows English and code.

    An answer is printed as `file:line: text`: the line of the chunk that has most words of the query, or its record's.
    Without QUERY, queries are read from standard input, one per line. Several queries get a first column with theirs.
    --json prints one object per answer, with the record's other fields. Nothing found is exit code 1.
    """
    from wv_cli.commands.shared.answers import run_searches
    from wv_cli.commands.shared.display import emit
    from wv_cli.retrieval.opening import open_searcher

    fusion, text = take(FusionConfig, options), take(TextConfig, options)
    for config in (fusion, text):
        config.validate()
        config.reject_ineffective(given_options())
    if index == "-" and not queries:
        raise UsageError("- (standard input) is the text; give a QUERY, or a file in place of -")
    require_query(index, queries)

    def log(message: str) -> None:
        emit(message, quiet, as_json)

    given = frozenset(given_options())
    searcher = open_searcher(index, model, fusion, text, given, threads=threads, log=log)
    return run_searches(searcher, queries, k, quiet=quiet, as_json=as_json)


@click.command("index", cls=Command, short_help="Build or update the index of a folder.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Index file; one that is there is updated.")
@click.option("--model", metavar="MODEL", help=_MODEL)
@field_options(TextConfig)
@threads_option("Threads that make vectors")
@click.option("--meta/--no-meta", default=True, help="Write NAME.meta.json beside the output.")
@quiet_option
@json_option
def index_command(quiet: bool, as_json: bool, **options: Any) -> None:
    """Build the index of INPUT, files or folders, for `wv search`.

    Folders are searched at any depth. Names that begin with . or _, binary files and files that cannot be read are left
    out. Compressed texts are read. The texts stand in the index, which is searched without them.

    When FILE is an index with the same settings and model, files whose contents have not changed are not read into
    words or vectors again. Files that are gone leave the index.
    """
    from wv_cli.commands.shared.running import job_of, run_job
    from wv_cli.jobs.metadata import number_of
    from wv_cli.jobs.search import SearchIndexJob

    def summarize(metadata: dict[str, Any]) -> str:
        unchanged, out = metadata["files_kept"], metadata["files_left_out"]
        files = number_of(metadata["files"], "file") + (f" ({unchanged:,} unchanged)" if unchanged else "")
        rest = f", {number_of(out, 'file')} left out" if out else ""
        return f"{number_of(metadata['chunks'], 'chunk')} of {files}{rest}; {metadata['seconds']:.1f} s"

    run_job(job_of(SearchIndexJob, options), quiet, as_json, told=summarize, progress=False, bar=("it", "indexing"))


command.add_command(index_command)
