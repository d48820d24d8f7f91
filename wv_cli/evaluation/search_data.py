"""Search tests as BEIR and mteb lay them out: documents, queries, and which documents answer which query.

    corpus.jsonl      {"_id": "d1", "title": "...", "text": "..."}, a document a line; its text is title, blank, text
    queries.jsonl     {"_id": "q1", "text": "..."}
    qrels/SPLIT.tsv   `query-id TAB corpus-id TAB score` lines under a header; a grade of 0 is judged and not relevant;
                      or the four columns of TREC, `query-id TAB 0 TAB corpus-id TAB score`

The ids may be called "id", and be whole numbers. Judgements may be JSON lines or Parquet with these names, scores 1.0.
Each may be compressed. Queries without a judgement are left out.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wv_cli.errors import BadFile, WvError
from wv_cli.evaluation.data import data_lines
from wv_cli.evaluation.ranking import Judged
from wv_cli.io.compression import inner_name
from wv_cli.io.extra import foreign, require
from wv_cli.io.json_text import to_unicode
from wv_cli.text.records.opening import refuse_json_over_lines

_ENDINGS = ("", ".gz", ".xz", ".bz2", ".zst")
_LAYOUT = "corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv"
_JUDGEMENTS = (".tsv", ".jsonl", ".parquet")
_COLUMNS = ["query-id", "corpus-id", "score"]


@dataclass(frozen=True, eq=False)
class SearchData:
    """One folder. `documents` are ids in descending order, which decides ties; `texts`, their texts. `queries` are ids
    in the order of the file, `asked` their texts and `judged` their judgements. `absent` counts judged documents that
    the corpus lacks: they count as not found."""

    path: str
    documents: list[str]
    texts: list[str]
    queries: list[str]
    asked: list[str]
    judged: list[Judged]
    absent: int

    def rows_of_queries(self) -> list[list[int]]:
        """For each query the documents that have its id, which are no answers to it, as BEIR does."""
        rows = {id: row for row, id in enumerate(self.documents)}
        return [[rows[id]] if id in rows else [] for id in self.queries]


def search_folders(paths: Sequence[str]) -> list[str]:
    """The folders of a corpus.jsonl among these files. Raises WvError when there is none."""
    names = [Path(path) for path in paths]
    found = dict.fromkeys(str(each.parent) for each in names if each.name in _names("corpus.jsonl"))
    if not found:
        message = f"{paths[0]}: no corpus.jsonl; expected folders with {_LAYOUT} (BEIR's layout)"
        raise WvError(message)
    return list(found)


def read_search(folder: str, split: str) -> SearchData:
    """Raises BadFile, WvError for a file that is missing."""
    corpus, queries = _find(folder, "corpus", (".jsonl",)), _find(folder, "queries", (".jsonl",))
    qrels = _find(folder, f"qrels/{split}", _JUDGEMENTS)
    texts = _texts(corpus, title=True)
    if not texts:
        raise BadFile(corpus, "expected documents, found none")
    documents = sorted(texts, key=str.encode, reverse=True)
    rows = {id: row for row, id in enumerate(documents)}
    grades = _grades(qrels)
    asked = _texts(queries)
    for query, (line, _) in grades.items():
        if query not in asked:
            raise BadFile(qrels, f"query {query!r} is not in {queries}", line=line)
    chosen = [query for query in asked if query in grades]
    judged = [_judgements_of(grades[query][1], rows) for query in chosen]
    absent = sum(id not in rows for _, each in grades.values() for id in each)
    return SearchData(
        folder, documents, [texts[id] for id in documents], chosen, [asked[id] for id in chosen], judged, absent
    )


def _judgements_of(grades: dict[str, int], rows: dict[str, int]) -> Judged:
    known = sorted((rows[id], grade) for id, grade in grades.items() if id in rows)
    table = np.array(known, np.int64).reshape(-1, 2)
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return Judged(table[:, 0].astype(np.int32), table[:, 1], np.array(ideal, np.int64))


def _names(name: str) -> list[str]:
    return [name + ending for ending in _ENDINGS]


def _find(folder: str, name: str, kinds: Sequence[str]) -> str:
    names = [each for kind in kinds for each in _names(name + kind)]
    found = next((path for path in (Path(folder, each) for each in names) if path.is_file()), None)
    if found is None:
        beside = sorted({path.name.split(".")[0] for kind in kinds for path in Path(folder, "qrels").glob(f"*{kind}*")})
        splits = f"; --split can be {', '.join(beside)}" if beside and name.startswith("qrels/") else ""
        message = f"{Path(folder, name + kinds[0])}: no such file; expected {_LAYOUT} in {folder}{splits}"
        raise WvError(message)
    return str(found)


def _texts(path: str, *, title: bool = False) -> dict[str, str]:
    """The texts by their ids. Raises BadFile for a line that is no such record, and for an id that is there twice."""
    found: dict[str, str] = {}
    for number, record in _records(path):
        id, text, head = _id(record.get("_id", record.get("id"))), record.get("text"), record.get("title") or ""
        if id is None or not isinstance(text, str) or not isinstance(head, str):
            raise BadFile(
                path,
                'expected {"_id": "...", "text": "..."} with an id and a string, found another object',
                line=number,
            )
        if id in found:
            raise BadFile(path, f"the id {id!r} is there twice", line=number)
        found[id] = f"{head} {text}" if title and head else text
    return found


def _id(value: object) -> str | None:
    """An id, which may be a whole number; None for something else."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if isinstance(value, str) else str(value) if is_whole else None


def _records(path: str) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(data_lines(path), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(to_unicode(line), object_hook=_to_unicode)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            refuse_json_over_lines(path, f"{line}\n".encode("utf-8", "surrogateescape"))
            found = line if len(line) <= 60 else f"{line[:60]}..."
            raise BadFile(path, f"expected a JSON object, found {found!r}", line=number)
        yield number, record


def _to_unicode(record: dict[str, object]) -> dict[str, object]:
    return {key: to_unicode(value) if isinstance(value, str) else value for key, value in record.items()}


def _grades(path: str) -> dict[str, tuple[int, dict[str, int]]]:
    """For each query its first line, and the grades of documents. Raises BadFile."""
    found: dict[str, tuple[int, dict[str, int]]] = {}
    for number, fields in _judgements(path):
        query, document, score = fields if len(fields) == len(_COLUMNS) else (None, None, None)
        asked, answer, grade = _id(query), _id(document), _grade(score)
        if asked is None or answer is None or grade is None:
            form = (
                "query-id TAB corpus-id TAB score" if Path(inner_name(path)).suffix == ".tsv" else ", ".join(_COLUMNS)
            )
            shown = "\t".join(map(str, fields))[:60]
            raise BadFile(path, f"expected `{form}` with a whole score, found {shown!r}", line=number)
        if abs(grade) > 1_000_000:
            raise BadFile(path, f"expected a score of at most 1,000,000, found {grade}", line=number)
        found.setdefault(asked, (number, {}))[1][answer] = grade
    if not found:
        raise BadFile(path, "expected judgements, found none")
    return found


def _judgements(path: str) -> Iterator[tuple[int, Sequence[object]]]:
    """(line or row, its fields) of a file of judgements. Raises BadFile."""
    kind = Path(inner_name(path)).suffix
    if kind == ".parquet":
        parquet = require("pyarrow.parquet", "reading Parquet", "pyarrow")
        with foreign(path, f"expected Parquet with the columns {', '.join(_COLUMNS)}"):
            columns = parquet.read_table(path, columns=_COLUMNS).to_pydict()
            rows = [*zip(*(columns[name] for name in _COLUMNS), strict=True)]
        yield from enumerate(rows, 1)
    elif kind == ".jsonl":
        for number, record in _records(path):
            yield number, [record.get(name) for name in _COLUMNS]
    else:
        for number, line in enumerate(data_lines(path), 1):
            fields = [field.strip().strip('"') for field in to_unicode(line).rstrip("\r").split("\t")]
            if len(fields) == 4 and fields[1] in ("0", "Q0"):
                del fields[1]  # TREC's iteration, which is not used
            if line.strip() and not (number == 1 and fields[-1] == "score"):
                yield number, fields


def _grade(score: object) -> int | None:
    """A whole score, which may be written 1.0; None for something else."""
    try:
        value = float(score) if isinstance(score, str | int | float) else float("nan")
    except (ValueError, OverflowError):
        return None
    return int(value) if value.is_integer() else None
