"""The index of `wv search index` among the files that `wv check` knows. wv_cli.vectors.stored_index reads it."""

from wv_cli.errors import BadFile
from wv_cli.io.input import Input
from wv_cli.vectors.formats.base import Format
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.stored_index import KIND, SearchIndex, is_search_index


def _check(source: Input, report: Report) -> None:
    try:
        found = SearchIndex.read(source, checked=True)
        report.rows = report.promised_rows = found.chunks
        report.dim = found.vectors.shape[1]
        found.require_whole()
    except BadFile as error:
        report.add_error("damaged index", error)


FORMAT = Format(
    name=KIND,
    what="a search index",
    summary="chunks of text, their inverted index and vectors; written by `wv search index`",
    text=False,
    loses="everything: it is searched, not converted",
    sniff=is_search_index,
    read=None,
    check=_check,
)
