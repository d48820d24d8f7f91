"""TREC run files: ranked lists of documents, `query Q0 document rank score tag` lines, one for each answer.

The tag names the system; a file may hold several. Scores decide the order, by trec_eval's rules; ranks are not read.
"""

import math
from collections.abc import Sequence

import numpy as np

from wv_cli.errors import BadFile
from wv_cli.evaluation.data import data_lines
from wv_cli.evaluation.ranking import Ranked
from wv_cli.evaluation.search_data import SearchData
from wv_cli.evaluation.search_systems import System
from wv_cli.io.output import open_output

_Lists = dict[str, dict[int, float]]  # for each query the scores of documents, by row


def read_run(path: str, data: SearchData, depth: int) -> tuple[list[System], list[str]]:
    """(a system for each tag, what the report should say). Answers to queries without a judgement are left out. Raises
    BadFile for a line that is none of a run, a document that the corpus lacks, and one that answers a query twice."""
    rows = {id: row for row, id in enumerate(data.documents)}
    asked = set(data.queries)
    tags: dict[str, _Lists] = {}
    for number, line in enumerate(data_lines(path), 1):
        fields = line.split()
        if not fields:
            continue
        score = _number(fields[4]) if len(fields) == 6 else math.nan
        if math.isnan(score):
            found = line if len(line) <= 60 else f"{line[:60]}..."
            raise BadFile(path, f"expected `query Q0 document rank score tag`, found {found!r}", line=number)
        query, _, id, _, _, tag = fields
        lists = tags.setdefault(tag, {})
        if query not in asked:
            continue
        if id not in rows:
            raise BadFile(path, f"document {id!r} is not in the corpus of {data.path}", line=number)
        scores = lists.setdefault(query, {})
        if rows[id] in scores:
            raise BadFile(path, f"document {id!r} answers query {query!r} twice", line=number)
        scores[rows[id]] = score
    if not any(tags.values()):
        raise BadFile(path, f"expected answers to queries of {data.path}, found none")
    systems, notes = [], []
    for tag, lists in tags.items():
        name = path if len(tags) == 1 else f"{path}:{tag}"
        answers = [_rank_documents(lists.get(query, {}), depth) for query in data.queries]
        missing = len(data.queries) - len(lists)
        if missing:
            queries = "1 query has" if missing == 1 else f"{missing:,} queries have"
            notes.append(f"{name}: {queries} no answer and count 0")
        systems.append(System(name, [answers], [missing]))
    return systems, notes


def _rank_documents(scores: dict[int, float], depth: int) -> Ranked:
    return Ranked.top(np.array([*scores], np.int32), np.array([*scores.values()], np.float64), depth)


def _number(text: str) -> float:
    """NaN for what is no finite float32."""
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if abs(value) <= float(np.finfo(np.float32).max) else math.nan


def write_run(path: str, systems: Sequence[System], data: SearchData) -> None:
    """Writes the answers to all queries, as one file whose tags are the systems' names, blanks as `_`. Raises
    WvError."""
    with open_output(path) as file:
        for system in systems:
            tag = "_".join(system.name.split())
            for query, ranked in zip(data.queries, system.answers[0], strict=True):
                for rank, (row, score) in enumerate(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True), 1):
                    file.write(f"{query} Q0 {data.documents[row]} {rank} {score:.9g} {tag}\n".encode())
