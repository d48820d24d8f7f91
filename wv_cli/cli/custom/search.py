"""`wv search`: the chunks of text that answer a query; `wv search index` makes the index that answers quickly."""

from functools import partial
from typing import Any

from wv_cli.cli.fields import Subcommands, make_command
from wv_cli.cli.habits import require_query
from wv_cli.cli.help import CommandWithParts
from wv_cli.commands.search import SearchJob


def _search(quiet: bool, as_json: bool, **options: Any) -> int:
    """Prints each answer as it is found."""
    from wv_cli.cli.answers import run_searches
    from wv_cli.cli.display import emit
    from wv_cli.cli.options import given_options

    job = SearchJob.from_options({**options, "explicit": given_options()})
    job.check()
    require_query(job.index, job.queries)
    opening = partial(job.open, partial(emit, quiet=quiet, as_json=as_json))
    return run_searches(opening, job.queries, job.k, quiet=quiet, as_json=as_json)


command = make_command("search", SearchJob, CommandWithParts, _search)
command.commands = Subcommands("search")  # type: ignore[attr-defined]
