"""Search tests: trec_eval's per-query values, the layout of BEIR, and systems of vectors against plain computations."""

import json
import lzma

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import GOLDEN
from tests.reference import search_scores
from tests.reference.bm25 import plain_score
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import SearchConfig
from wv_cli.evaluation.ranking import Judged, Ranked, score_query
from wv_cli.evaluation.report import as_json, as_table, as_tsv
from wv_cli.evaluation.search_data import read_search, search_folders
from wv_cli.retrieval.fusion import gains_of_scores
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

SEARCH = GOLDEN / "search"
DOCUMENTS = {
    "d1": ("", "red apple"),
    "d2": ("apple", "tree green"),
    "d10": ("", "green tree"),
    "d3": ("", "blue sea"),
    "d4": ("", "sea salt sea"),
    "q3": ("", "salt"),
}
QUERIES = {"q1": "red apple", "q2": "green tree", "q3": "salt", "q4": "zzz", "q5": "blue"}
QRELS = [("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d10", 1), ("q3", "d4", 1), ("q4", "d3", 1), ("q1", "d4", 0)]
WORDS = ["red", "apple", "tree", "green", "blue", "sea", "salt"]


def write_search(folder, documents=DOCUMENTS, queries=QUERIES, qrels=QRELS, split="test"):
    (folder / "qrels").mkdir(parents=True)
    corpus = [json.dumps({"_id": id, "title": title, "text": text}) for id, (title, text) in documents.items()]
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n")
    asked = [json.dumps({"_id": id, "text": text}) for id, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(asked) + "\n")
    lines = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, each)) for each in qrels)]
    (folder / "qrels" / f"{split}.tsv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def folder(tmp_path):
    return write_search(tmp_path / "set")


def source(seed=3, name="v"):
    matrix = np.random.default_rng(seed).standard_normal((len(WORDS), 6)).astype(np.float32)
    return Vectors(name, lambda: Embeddings(WordList.from_words(WORDS), matrix.copy()))


def run(sources, folders, **options):
    paths = [str(path) for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return TASKS["search"].run(sources, paths, SearchConfig(threads=1, **options))


def judged_of(grades, rows):
    known = sorted((rows[id], grade) for id, grade in grades.items() if id in rows)
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    return Judged(
        np.array([row for row, _ in known], np.int32), np.array([grade for _, grade in known]), np.array(ideal)
    )


def golden_lists():
    run, qrels = {}, {}
    for line in (SEARCH / "run.trec").read_text().splitlines():
        query, _, id, _, score, _ = line.split()
        run.setdefault(query, {})[id] = float(score)
    for line in (SEARCH / "qrels.tsv").read_text().splitlines()[1:]:
        query, id, grade = line.split("\t")
        qrels.setdefault(query, {})[id] = int(grade)
    return run, qrels


def test_per_query_values_are_trec_evals():
    run, qrels = golden_lists()
    expected = json.loads((SEARCH / "scores.json").read_text())
    assert len(expected) == 12
    for query, golden in expected.items():
        ids = sorted(run[query], key=str.encode, reverse=True)
        rows = {id: row for row, id in enumerate(ids)}
        scores = np.array([run[query][id] for id in ids])
        ranked, judged = Ranked.top(np.arange(len(ids)), scores, 1000), judged_of(qrels[query], rows)
        for k in (3, 10, 100):
            found = score_query(ranked, judged, k, k)
            assert found.ndcg == pytest.approx(golden[f"ndcg_cut_{k}"], abs=1e-12)
            assert found.recall == pytest.approx(golden[f"recall_{k}"], abs=1e-12)
        assert score_query(ranked, judged, 10, 10).map == pytest.approx(golden["map_cut_10"], abs=1e-12)
        assert score_query(ranked, judged, 1000, 10).mrr == pytest.approx(golden["recip_rank"], abs=1e-12)


IDS = st.sampled_from(["d1", "d10", "d2", "é", "日本", "z", "Z", "\U0001f600"])


@given(st.dictionaries(IDS, st.integers(0, 3).map(float)), st.dictionaries(IDS, st.integers(-1, 3)), st.integers(1, 9))
def test_scores_are_the_definitions(scores, grades, k):
    ids = sorted({*scores}, key=str.encode, reverse=True)
    rows = {id: row for row, id in enumerate(ids)}
    ranked = Ranked.top(np.array([rows[id] for id in scores], np.int32), np.array([*scores.values()]), 1000)
    order = search_scores.ranking(scores)
    assert [ids[row] for row in ranked.rows] == order
    found = score_query(ranked, judged_of(grades, rows), k, k)
    assert found.ndcg == pytest.approx(search_scores.ndcg(order, grades, k), abs=1e-12)
    assert found.recall == pytest.approx(search_scores.recall(order, grades, k), abs=1e-12)
    assert found.mrr == pytest.approx(search_scores.mrr(order, grades, k), abs=1e-12)
    assert found.map == pytest.approx(search_scores.mean_precision(order, grades, k), abs=1e-12)


def test_reading(folder):
    data = read_search(str(folder), "test")
    assert data.documents == ["q3", "d4", "d3", "d2", "d10", "d1"]  # descending, as bytes
    assert data.texts[3] == "apple tree green"
    assert data.queries == ["q1", "q2", "q3", "q4"]  # q5 has no judgement
    assert data.judged[0].ideal.tolist() == [2, 1]
    assert data.rows_of_queries() == [[], [], [0], []]


def test_compressed_files_and_other_splits(folder):
    plain = read_search(str(folder), "test")
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        path = folder / name
        target = path.with_name(path.name.replace("test", "dev") + ".xz")
        target.write_bytes(lzma.compress(path.read_bytes()))
        path.unlink()
    packed = read_search(str(folder), "dev")
    assert packed.texts == plain.texts and packed.queries == plain.queries


def test_vectors_rank_by_the_cosine_of_means(folder):
    report = run([source()], [folder])
    embeddings = source().load()
    vectors = dict(zip(WORDS, embeddings.matrix.astype(float), strict=True))

    def mean(text):
        made = np.mean([vectors[word] for word in text.split()], axis=0)
        return made / np.linalg.norm(made)

    texts = {id: " ".join(part for part in parts if part) for id, parts in DOCUMENTS.items()}
    expected = []
    for query in ("q1", "q2", "q3", "q4"):
        grades = {id: grade for each, id, grade in QRELS if each == query}
        asked = {} if query == "q4" else {id: text for id, text in texts.items() if id != query}
        scores = {id: round(mean(text) @ mean(QUERIES[query]), 6) for id, text in asked.items()}
        expected.append(search_scores.ndcg(search_scores.ranking(scores), grades, 10))
    (row,) = report.rows
    assert row["ndcg"] == pytest.approx(np.mean(expected))
    assert row["queries"] == 4 and row["documents"] == 6 and row["empty"] == 1
    assert row["low"] <= row["ndcg"] <= row["high"]


def test_systems_are_compared_with_the_first(folder):
    report = run([source(), source(4, "w"), source(3, "same")], [folder])
    first, second, same = report.rows
    assert first["difference"] is None and second["difference"] == pytest.approx(second["ndcg"] - first["ndcg"])
    assert same["difference"] == 0 and same["p"] == 1
    assert "against the first system" in " ".join(as_table(report).split())
    assert len(as_tsv(report).splitlines()) == 4
    assert json.loads(as_json(report))["results"][1]["p"] <= 1


def test_several_sets_have_a_mean(folder, tmp_path):
    other = write_search(tmp_path / "other", qrels=[("q2", "d10", 1), ("q1", "d1", 1)])
    report = run([source(), source(4, "w")], [folder, other])
    data = [row["data"] for row in report.rows]
    assert data == [str(folder)] * 2 + [str(other)] * 2 + ["mean"] * 2
    assert report.rows[4]["ndcg"] == pytest.approx((report.rows[0]["ndcg"] + report.rows[2]["ndcg"]) / 2)
    assert report.rows[5]["difference"] == pytest.approx(report.rows[5]["ndcg"] - report.rows[4]["ndcg"])
    assert len(report.scores) == 4
    assert "mean" in as_table(report)


def test_half_characters_in_ids_and_texts(folder):
    """They are U+FFFD, in records and in judgements."""
    corpus, qrels = folder / "corpus.jsonl", folder / "qrels" / "test.tsv"
    corpus.write_text(corpus.read_text() + '{"_id": "d\\ud83d", "text": "half \\udcc3"}\n')
    qrels.write_bytes(qrels.read_bytes() + "q2\td\ufffd\t1\n".encode())
    data = read_search(str(folder), "test")
    assert data.texts[data.documents.index("d\ufffd")] == "half \ufffd" and data.absent == 0


def test_judged_documents_that_are_absent_count(folder):
    qrels = folder / "qrels" / "test.tsv"
    qrels.write_text(qrels.read_text() + "q2\tnowhere\t1\n")
    report = run([source()], [folder], recall_at=10)
    assert any("1 judged document" in note for note in report.notes)
    assert report.rows[0]["recall"] == pytest.approx((1 + 0.5 + 1 + 0) / 4)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("corpus.jsonl", "", "corpus.jsonl: expected documents, found none"),
        ("corpus.jsonl", '{"_id": "d1"}\n', "corpus.jsonl:1: expected {"),
        ("corpus.jsonl", '{"_id": 1.5, "text": "x"}\n', "corpus.jsonl:1: expected {"),
        ("corpus.jsonl", '{"_id": true, "text": "x"}\n', "corpus.jsonl:1: expected {"),
        ("qrels/test.tsv", "q1\td1\t1.5\n", "with a whole score, found 'q1\\td1\\t1.5'"),
        ("qrels/test.tsv", "q1\td1\tnan\n", "with a whole score, found"),
        ("qrels/test.tsv", "q1\td1\t1\t2\n", "with a whole score, found 'q1\\td1\\t1\\t2'"),
        ("qrels/test.tsv", "q1\td1\t1e9\n", "expected a score of at most 1,000,000, found 1000000000"),
        ("corpus.jsonl", '{"_id": "a", "text": "x"}\n' * 2, "corpus.jsonl:2: the id 'a' is there twice"),
        ("queries.jsonl", "not JSON\n", "queries.jsonl:1: expected a JSON object, found 'not JSON'"),
        ("queries.jsonl", '{"a":' * 100_000, "queries.jsonl: expected an object in each line, found JSON that goes on"),
        (
            "queries.jsonl",
            "[" * 100_000,
            "queries.jsonl: expected an object in each line, found an array; write lines",
        ),
        ("queries.jsonl", '{"_id": "z", "text": "x"}\n', "test.tsv:2: query 'q1' is not in"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n", "test.tsv: expected judgements, found none"),
        ("qrels/test.tsv", "q1\td1\tgood\n", "test.tsv:1: expected `query-id TAB corpus-id TAB score`"),
        ("qrels/test.tsv", "q1 d1 1\n", "test.tsv:1: expected `query-id TAB corpus-id TAB score`"),
    ],
)
def test_bad_files(folder, name, text, message):
    (folder / name).write_text(text)
    with pytest.raises(BadFile) as error:
        run([source()], [folder])
    assert message in str(error.value) and "\n" not in str(error.value)


def judgements_of_mteb(folder, kind):
    """The judgements in another format, as mteb writes them."""
    (folder / "qrels" / "test.tsv").unlink()
    rows = [{"query-id": query, "corpus-id": document, "score": float(grade)} for query, document, grade in QRELS]
    if kind == "jsonl":
        (folder / "qrels" / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "qrels" / "test.parquet")


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_layout_of_mteb(folder, kind):
    """`id` in the place of `_id`, scores with a point."""
    plain = read_search(str(folder), "test")
    for name in ("corpus.jsonl", "queries.jsonl"):
        path = folder / name
        path.write_text(path.read_text().replace('"_id"', '"id"'))
    judgements_of_mteb(folder, kind)
    found = read_search(str(folder), "test")
    assert (found.documents, found.texts, found.queries) == (plain.documents, plain.texts, plain.queries)
    assert [each.ideal.tolist() for each in found.judged] == [each.ideal.tolist() for each in plain.judged]


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet"])
def test_ids_may_be_whole_numbers(folder, kind):
    (folder / "corpus.jsonl").write_text('{"id": 7, "text": "salt"}\n{"id": 10, "text": "sea"}\n')
    (folder / "queries.jsonl").write_text('{"id": 3, "text": "salt"}\n')
    rows = [{"query-id": 3, "corpus-id": 7, "score": 1.0}]
    (folder / "qrels" / "test.tsv").unlink()
    path = folder / "qrels" / f"test.{kind}"
    if kind == "parquet":
        pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        path.write_text("3\t7\t1.0\n" if kind == "tsv" else json.dumps(rows[0]) + "\n")
    found = read_search(str(folder), "test")
    assert (found.documents, found.queries, found.judged[0].ideal.tolist()) == (["7", "10"], ["3"], [1])


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("test.jsonl", b'{"query-id": "q1", "score": 1}\n', "test.jsonl:1: expected `query-id, corpus-id, score`"),
        ("test.jsonl", b"q1\td1\t1\n", "test.jsonl:1: expected a JSON object"),
        ("test.parquet", b"PAR1 no Parquet", "test.parquet: expected Parquet with the columns query-id, corpus-id"),
    ],
)
def test_bad_judgements(folder, name, data, message):
    pytest.importorskip("pyarrow")
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / name).write_bytes(data)
    with pytest.raises(BadFile) as error:
        read_search(str(folder), "test")
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("iteration", ["0", "Q0"])
def test_the_four_columns_of_trec(tmp_path, iteration):
    """The documents are in the third column: ids may be 0, as MS MARCO's, which the second has in each line."""
    documents = {"0": ("", "red apple"), "1": ("", "blue sea")}
    folder = write_search(tmp_path / "trec", documents, {"q1": "sea"}, [("q1", "1", 2), ("q1", "0", 0)])
    expected = read_search(str(folder), "test").judged[0]
    lines = [f"q1\t{iteration}\t1\t2\n", f"q1\t{iteration}\t0\t0\n"]
    (folder / "qrels" / "test.tsv").write_text("".join(lines))
    (judged,) = read_search(str(folder), "test").judged
    for found, wanted in zip(vars(judged).values(), vars(expected).values(), strict=True):
        assert np.array_equal(found, wanted)


def test_missing_files(folder, tmp_path):
    with pytest.raises(WvError, match=r"qrels/dev\.tsv: no such file; expected .*; --split can be test"):
        run([source()], [folder], split="dev")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(WvError, match=r"queries\.jsonl: no such file; expected corpus\.jsonl, "):
        run([source()], [folder])
    with pytest.raises(WvError, match=r"x\.txt: no corpus\.jsonl"):
        search_folders(["x.txt"])


def test_ranks_beyond_the_depth_are_refused(folder):
    with pytest.raises(UsageError, match="--recall-at 100 is beyond --depth 50; raise --depth"):
        run([source()], [folder], depth=50)


def test_one_score_for_all_documents_is_refused(folder):
    with pytest.raises(UsageError, match="--k1 0 and --bm25 bm25l give all documents of a query one score"):
        run([], [folder], bm25=("lucene", "bm25l"), k1=0.0)


def test_bm25_is_a_system(folder):
    report = run([], [folder], bm25=("lucene", "bm25+"), k1=0.9, b=0.4)
    assert [row["system"] for row in report.rows] == ["bm25-lucene", "bm25+"]
    data = read_search(str(folder), "test")
    expected = []
    for query, grades in (("q1", {"d1": 2, "d2": 1}), ("q2", {"d10": 1}), ("q3", {"d4": 1}), ("q4", {"d3": 1})):
        documents = [text.split() for text in data.texts]
        scores = {
            id: round(plain_score("lucene", QUERIES[query].split(), documents, row, 0.9, 0.4, 0.5), 6)
            for row, id in enumerate(data.documents)
        }
        order = [id for id in search_scores.ranking(scores) if scores[id] > 0 and id != query]
        expected.append(search_scores.ndcg(order, grades, 10))
    assert report.rows[0]["ndcg"] == pytest.approx(np.mean(expected))
    assert report.rows[0]["empty"] == 1  # zzz
    assert "BM25: k1 0.9, b 0.4" in " ".join(as_table(report).split())


def test_bm25_stems_and_stops(tmp_path):
    documents = {"a": ("", "the running dogs"), "b": ("", "the cat"), "c": ("", "a bird")}
    folder = write_search(tmp_path / "s", documents, {"q": "dog", "r": "the"}, [("q", "a", 1), ("r", "b", 1)])
    plain = run([], [folder], bm25=("lucene",)).rows[0]
    assert plain["recall"] == 0 and plain["empty"] == 2
    assert run([], [folder], bm25=("lucene",), stem="english").rows[0]["recall"] == 0.5
    assert run([], [folder], bm25=("lucene",), stem="english", stop_words="keep").rows[0]["recall"] == 1


def test_a_run_is_read_as_it_was_written(folder, tmp_path):
    path = str(tmp_path / "all.trec")
    written = run([source()], [folder], bm25=("lucene",), fuse=("1,2",), save_run=path)
    lines = (tmp_path / "all.trec").read_text().splitlines()
    assert lines[0].split()[0] == "q1" and lines[0].split()[1] == "Q0" and lines[0].split()[3] == "1"
    assert {line.split()[5] for line in lines} == {"v", "bm25-lucene", "fuse-1,2"}
    read = run([], [folder], run=(path,))
    assert [row["system"] for row in read.rows] == [f"{path}:{tag}" for tag in ("v", "bm25-lucene", "fuse-1,2")]
    for first, second in zip(written.rows, read.rows, strict=True):
        assert {**first, "system": ""} == pytest.approx({**second, "system": ""}, nan_ok=True)
    assert len(read.notes) == 3 and "1 query has no answer and count" in read.notes[0]


def test_golden_run_as_a_system(tmp_path):
    lists, qrels = golden_lists()
    ids = sorted({id for each in lists.values() for id in each} | {id for each in qrels.values() for id in each})
    triples = [(query, id, grade) for query, each in qrels.items() for id, grade in each.items()]
    folder = write_search(tmp_path / "g", dict.fromkeys(ids, ("", "x")), dict.fromkeys(qrels, "y"), triples)
    report = run([], [folder], run=(str(SEARCH / "run.trec"),))
    expected = json.loads((SEARCH / "scores.json").read_text())
    assert len(qrels) == len(expected) + 1  # q12 has no answer and counts 0
    assert report.rows[0]["ndcg"] == pytest.approx(sum(each["ndcg_cut_10"] for each in expected.values()) / 13)
    assert report.rows[0]["recall"] == pytest.approx(sum(each["recall_100"] for each in expected.values()) / 13)


def test_fusion_adds_reciprocal_ranks_or_scores(folder, tmp_path):
    first, second = {"d1": 9, "d2": 8, "d3": 7}, {"d3": 0.5, "d10": 0.4}
    for name, scores in (("a", first), ("b", second)):
        lines = [f"q1 Q0 {id} 1 {score} {name}\n" for id, score in scores.items()]
        (tmp_path / name).write_text("".join(lines))
    out = tmp_path / "out"
    paths = (str(tmp_path / "a"), str(tmp_path / "b"))
    run([], [folder], run=paths, fuse=("1,0.5", "1,0"), save_run=str(out))
    found = [line.split() for line in out.read_text().splitlines()]
    fused = {fields[2]: float(fields[4]) for fields in found if fields[5] == "fuse-1,0.5"}
    assert fused == pytest.approx({"d1": 1 / 61, "d2": 1 / 62, "d3": 1 / 63 + 0.5 / 61, "d10": 0.5 / 62})
    assert [fields[2] for fields in found if fields[5] == "fuse-1,0"] == ["d1", "d2", "d3"]
    run([], [folder], run=paths, fuse=("1,0.5",), fuse_by="scores", save_run=str(out))
    found = [line.split() for line in out.read_text().splitlines()]
    fused = {fields[2]: float(fields[4]) for fields in found if fields[5] == "fuse-1,0.5"}
    one, two = np.std([9, 8, 7] + [0] * 97), np.std([0.5, 0.4] + [0] * 98)
    assert fused == pytest.approx({"d1": 9 / one, "d2": 8 / one, "d3": 7 / one + 0.25 / two, "d10": 0.2 / two})


def test_gains_are_the_same_for_scores_of_another_scale():
    scores = np.sort(np.random.default_rng(1).random(150))[::-1]
    gains = gains_of_scores(scores)
    assert gains == pytest.approx((scores - scores[-1]) / scores.std()) and gains[-1] == 0
    assert gains_of_scores(3 * scores - 7) == pytest.approx(gains)
    assert gains_of_scores(np.full(150, 2.0)).tolist() == [0] * 150
    assert gains_of_scores(np.array([2.0])) == pytest.approx([1 / np.std([1] + [0] * 99)])  # one answer alone counts
    assert gains_of_scores(np.array([-1.0, -3.0])) == pytest.approx([1 / np.std([1] + [0] * 99), 0])
    assert gains_of_scores(np.array([])).tolist() == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1 Q0 d1 1 .5\n", "bad.trec:1: expected `query Q0 document rank score tag`, found 'q1 Q0 d1 1 .5'"),
        ("q1 Q0 d1 1 nan x\n", "bad.trec:1: expected `query Q0"),
        ("q1 Q0 d1 1 1e99 x\n", "bad.trec:1: expected `query Q0"),
        ("q1 Q0 nowhere 1 .5 x\n", "bad.trec:1: document 'nowhere' is not in the corpus of"),
        ("q1 Q0 d1 1 .5 x\nq1 Q0 d1 2 .4 x\n", "bad.trec:2: document 'd1' answers query 'q1' twice"),
        ("q9 Q0 d1 1 .5 x\n", "bad.trec: expected answers to queries of"),
        ("", "bad.trec: expected answers to queries of"),
    ],
)
def test_bad_runs(folder, tmp_path, text, message):
    (tmp_path / "bad.trec").write_text(text)
    with pytest.raises(BadFile) as error:
        run([], [folder], run=(str(tmp_path / "bad.trec"),))
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("weights", ["", "1", "0,0", "1,x", "1,-1", "1,,1", "nan,1"])
def test_bad_weights(folder, weights):
    with pytest.raises(UsageError, match="--fuse must be two or more weights"):
        run([source()], [folder], bm25=("lucene",), fuse=(weights,))


def test_options_that_do_not_fit(folder, tmp_path):
    with pytest.raises(UsageError, match="--fuse has 3 weights for 2 systems; give one for each"):
        run([source()], [folder], bm25=("lucene",), fuse=("1,1,1",))
    other = write_search(tmp_path / "other")
    with pytest.raises(UsageError, match="--save-run needs one data folder, found 2"):
        run([source()], [folder, other], save_run=str(tmp_path / "x"))
    corpus = folder / "corpus.jsonl"
    before = corpus.read_bytes()
    with pytest.raises(UsageError, match=r"corpus\.jsonl"):
        run([source()], [folder], save_run=str(corpus))
    assert corpus.read_bytes() == before


def test_queries_of_stop_words_are_named(folder, wv):
    queries = [("s1", "to be or not to be"), ("s2", "?"), ("s3", "x")]
    with (folder / "queries.jsonl").open("a") as lines:
        lines.writelines(f"{json.dumps({'_id': name, 'text': text})}\n" for name, text in queries)
    with (folder / "qrels" / "test.tsv").open("a") as lines:
        lines.writelines(f"{name}\td1\t1\n" for name, _ in queries)
    call = ("eval", "search", "--bm25", "lucene", "-d", folder, "--resamples", "0", "--json")
    notes = json.loads(wv(*call).stdout)["notes"]
    assert "bm25: 1 query has stop words only; --stop-words keep ranks their documents" in notes
    assert not any("stop words" in note for note in json.loads(wv(*call, "--stop-words", "keep").stdout)["notes"])
