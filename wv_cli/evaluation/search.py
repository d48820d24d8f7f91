"""Search: do the texts that a system ranks first answer the query? (BEIR, NanoBEIR, MTEB's retrieval sets.)

Every system ranks all documents for every query with a judgement; ranking.py scores the lists by trec_eval's rules.
Scores are means over queries. Intervals come from a bootstrap over queries, p-values from a randomization test of the
differences of NDCG with the first system. Of several data sets the plain mean is shown besides, as NanoBEIR reports it.

TREC run files: ranked lists of documents, `query Q0 document rank score tag` lines, one for each answer.

The tag names the system; a file may hold several. Scores decide the order, by trec_eval's rules; ranks are not read.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation.base import Column, Report, Row, Vectors, count, number, p_value
from wv_cli.evaluation.config import SearchConfig
from wv_cli.evaluation.data import data_lines, encoders_among, restrict_words
from wv_cli.evaluation.ranking import Floats, Ranked, score_all
from wv_cli.evaluation.search_data import SearchData, read_search, search_folders
from wv_cli.evaluation.search_systems import System, fuse, of_bm25, of_encoder, of_vectors
from wv_cli.evaluation.statistics import randomization_p, ratio_interval
from wv_cli.io.output import open_output
from wv_cli.text.input_files import refuse_overwriting

_Lists = dict[str, dict[int, float]]  # for each query the scores of documents, by row


def read_run(path: str, data: SearchData, depth: int) -> tuple[list[System], list[str]]:
    """(a system for each tag, what the report should say). Answers to queries without a judgement are left out. Raises
    BadFile for a line that is none of a run, a document that the corpus lacks, and one that answers a query twice."""
    rows = {id: row for row, id in enumerate(data.documents)}
    asked = set(data.queries)
    tags: dict[str, _Lists] = {}
    for at, line in enumerate(data_lines(path), 1):
        fields = line.split()
        if not fields:
            continue
        score = _number(fields[4]) if len(fields) == 6 else math.nan
        if math.isnan(score):
            found = line if len(line) <= 60 else f"{line[:60]}..."
            raise BadFile(path, f"expected `query Q0 document rank score tag`, found {found!r}", line=at)
        query, _, id, _, _, tag = fields
        lists = tags.setdefault(tag, {})
        if query not in asked:
            continue
        if id not in rows:
            raise BadFile(path, f"document {id!r} is not in the corpus of {data.path}", line=at)
        scores = lists.setdefault(query, {})
        if rows[id] in scores:
            raise BadFile(path, f"document {id!r} answers query {query!r} twice", line=at)
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


_MEASURES = ("ndcg", "recall", "mrr", "map")


def run(vectors: Sequence[Vectors], data: Sequence[str], config: SearchConfig) -> Report:
    """Scores every system on every data folder; see evaluation.Task.run."""
    encoders, vectors = encoders_among(vectors)
    if encoders:
        config = replace(config, encoder=(*encoders, *config.encoder))
        config.validate()
    sets = [read_search(folder, config.split) for folder in search_folders(data)]
    if len(sets) > 1 and (config.run or config.save_run is not None):
        option = "--run" if config.run else "--save-run"
        message = f"{option} needs one data folder, found {len(sets)}; score them one by one"
        raise UsageError(message)
    if config.save_run is not None:
        refuse_overwriting([each.path for each in sets], config.save_run)
    systems, notes = _systems(vectors, sets, config)
    if config.save_run is not None:
        write_run(config.save_run, systems, sets[0])
    report = _new_report(config, sets, len(systems) > 1)
    report.notes += notes
    means = np.zeros((len(sets), len(systems), len(_MEASURES)))
    for i, each in enumerate(sets):
        if each.absent:
            documents = "1 judged document is" if each.absent == 1 else f"{each.absent:,} judged documents are"
            report.notes.append(f"{each.path}: {documents} not in the corpus; no system finds them")
        scores = [score_all(system.answers[i], each.judged, config.at, config.recall_at) for system in systems]
        for j, system in enumerate(systems):
            row = _row(each.path, system.name, scores[j], config)
            row |= {"queries": len(each.queries), "documents": len(each.documents), "empty": system.empty[i]}
            if len(systems) > 1:
                row |= _against(scores[0][0], scores[j][0], config) if j else _NO_DIFFERENCE
            means[i, j] = [row[key] for key in _MEASURES]
            report.rows.append(row)
            report.scores.append((f"{system.name} on {each.path}", float(scores[j][0].mean())))
    if len(sets) > 1:
        for j, system in enumerate(systems):
            overall = dict(zip(_MEASURES, means[:, j].mean(axis=0).tolist(), strict=True))
            report.rows.append(_mean_row(system.name, overall, report.rows[j], float(means[:, 0, 0].mean()), j))
    return report


_NO_DIFFERENCE: Row = {"difference": None, "difference_low": None, "difference_high": None, "p": None}


def _systems(
    vectors: Sequence[Vectors], sets: Sequence[SearchData], config: SearchConfig
) -> tuple[list[System], list[str]]:
    """The systems in the order of the report, and what it should say about them."""
    systems: list[System] = []
    notes: list[str] = []
    for source in vectors:
        words = restrict_words(source.load(), config.restrict_vocab)
        systems.append(of_vectors(source.name, words, sets, config))
    for path in config.encoder:
        system, about = of_encoder(path, sets, config)
        systems.append(system)
        notes += about
    by_words, about = of_bm25(sets, config)
    systems += by_words
    notes += about
    for path in config.run:
        made, about = read_run(path, sets[0], config.depth)
        systems += made
        notes += about
    single = list(systems)
    for weights in config.weights():
        if len(weights) != len(single):
            message = f"--fuse has {len(weights)} weights for {len(single)} systems; give one for each, in their order"
            raise UsageError(message)
        systems.append(fuse(single, weights, config.fuse_by))
    return systems, notes


def _row(data: str, name: str, scores: tuple[Floats, ...], config: SearchConfig) -> Row:
    row: Row = {"data": data, "system": name}
    row |= {key: float(values.mean()) for key, values in zip(_MEASURES, scores, strict=True)}
    row["low"], row["high"] = ratio_interval(scores[0], np.ones(len(scores[0])), config.resamples, config.seed)
    return row


def _against(first: Floats, second: Floats, config: SearchConfig) -> Row:
    gains = second - first
    low, high = ratio_interval(gains, np.ones(len(gains)), config.resamples, config.seed)
    p = randomization_p(gains, config.resamples, config.seed)
    return {"difference": float(gains.mean()), "difference_low": low, "difference_high": high, "p": p}


def _mean_row(name: str, overall: dict[str, float], like: Row, first: float, index: int) -> Row:
    """The plain mean over the data sets, without intervals and tests."""
    row: Row = dict.fromkeys(like)
    row |= {"data": "mean", "system": name, **overall}
    if index:
        row["difference"] = overall["ndcg"] - first
    return row


def _new_report(config: SearchConfig, sets: Sequence[SearchData], several: bool) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("system", "system", label=True),
        Column("ndcg", f"NDCG@{config.at}", number(4)),
        Column("low", "95 % from", number(3)),
        Column("high", "to", number(3)),
        Column("recall", f"recall@{config.recall_at}", number(4)),
        Column("mrr", f"MRR@{config.at}", number(4)),
        Column("map", f"MAP@{config.at}", number(4)),
    ]
    if several:
        columns += [
            Column("difference", "difference", number(4, signed=True)),
            Column("difference_low", "95 % from", number(3, signed=True)),
            Column("difference_high", "to", number(3, signed=True)),
            Column("p", "p", p_value),
        ]
    columns += [
        Column("queries", "queries", count),
        Column("documents", "documents", count),
        Column("empty", "unread", count),
    ]
    protocol = [
        f"qrels/{config.split}.tsv by trec_eval's rules: linear gain, ties by descending document id",
        "a query without an answer or a relevant document counts 0; unread: queries that a system cannot read",
        "a document with the query's id is no answer",
    ]
    if config.bm25:
        words = "English stems" if config.stem == "english" else "words as written"
        stop = ", without 33 stop words" if config.stop_words == "drop" else ""
        protocol.append(f"BM25: k1 {config.k1:g}, b {config.b:g}, {words}{stop}")
    if config.fuse:
        gain = "/ (60 + rank)" if config.fuse_by == "ranks" else "* (score - lowest) / deviation of the list's scores"
        protocol.append(f"fuse: the sum of weight {gain} over the systems, in their order")
    if config.resamples:
        protocol.append(f"intervals of 95 %: {config.resamples:,} bootstrap samples of queries")
    if several and config.resamples:
        protocol.append("difference and p: NDCG against the first system, by a paired randomization test")
    if len(sets) > 1:
        protocol.append("mean: over the data sets, each counted alike")
    return Report("search", "ndcg", config, columns, protocol=protocol)
