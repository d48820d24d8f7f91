"""`wv eval retrieval`: the expectation over ties by enumeration, the figures by hand, what it says of bad input."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import codes as reference
from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.report import as_json, as_table, as_tsv
from wv_cli.evaluation.retrieval import expected_scores
from wv_cli.vectors.codes import Codes, CodeVectors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save
from wv_cli.vectors.formats.codes import save as save_codes
from wv_cli.vectors.neighbors.codes import pack_bits
from wv_cli.words import WordList

TASK = TASKS["retrieval"]
WORDS = WordList.from_words([f"w{i}" for i in range(60)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6), st.integers(1, 7))
def test_expectation_over_ties(rows, at):
    level = np.unique([level for level, _ in rows], return_inverse=True)[1]
    relevant = np.array([mark for _, mark in rows])
    if not relevant.any():
        relevant[0] = True
    found = expected_scores(level, relevant, at)
    assert found == pytest.approx(reference.mean_over_orders(level.tolist(), relevant.tolist(), at))


@pytest.fixture
def dense(tmp_path):
    matrix = np.random.default_rng(1).standard_normal((60, 8)).astype(np.float32)
    save(tmp_path / "x.vec", Embeddings(WORDS, matrix), precision="exact")
    return Embeddings(WORDS, matrix), str(tmp_path / "x.vec")


def codes_of(embeddings, bits=64, seed=2):
    weights = np.random.default_rng(seed).standard_normal((embeddings.dim, bits))
    return Codes(embeddings.words, "lsh", bits, 0, pack_bits(embeddings.matrix @ weights > 0))


def sources(*embeddings):
    return [Vectors(f"file {i}", lambda e=e: e) for i, e in enumerate(embeddings)]


def test_vectors_find_themselves(dense):
    vectors, path = dense
    report = TASK.run(sources(vectors), [path], TASK.config(neighbors=5, at=5, queries=0))
    row = report.rows[0]
    assert row["map"] == pytest.approx(100) and row["recall"] == pytest.approx(100)
    assert (row["queries"], row["bits"]) == (60, 256) and row["per_second"] > 0


def test_codes_by_hand(dense):
    vectors, path = dense
    codes = codes_of(vectors)
    report = TASK.run(sources(CodeVectors(codes)), [path], TASK.config(neighbors=5, at=7, queries=0, threads=1))
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    signs = CodeVectors(codes).matrix
    expected = []
    for query in range(60):
        others = [row for row in range(60) if row != query]
        near = sorted(others, key=lambda row: -float(unit[query] @ unit[row]))[:5]
        level = np.unique([-float(signs[query] @ signs[row]) for row in others], return_inverse=True)[1]
        expected.append(expected_scores(level, np.isin(others, near), 7))
    precision, recall = 100 * np.mean(expected, axis=0)
    assert report.rows[0]["map"] == pytest.approx(precision) and report.rows[0]["recall"] == pytest.approx(recall)
    assert report.scores == [(f"file 0 on {path}", report.rows[0]["map"])] and not report.scores_below(precision - 1)


def test_codes_that_say_nothing_get_no_luck(dense):
    path = dense[1]
    empty = Codes(WORDS, "none", 8, 0, np.zeros((60, 1), np.uint64))
    row = TASK.run(sources(CodeVectors(empty)), [path], TASK.config(neighbors=10, at=10, queries=0)).rows[0]
    assert row["recall"] == pytest.approx(100 * 10 / 59)
    assert 10 / 59 < row["map"] / 100 < 0.25


def test_several_files_and_missing_words(dense):
    vectors, path = dense
    codes = codes_of(vectors)
    half = CodeVectors(codes.take(slice(30)))
    report = TASK.run(sources(vectors, CodeVectors(codes), half), [path], TASK.config(neighbors=5, queries=0))
    assert [row["queries"] for row in report.rows] == [30] * 3 and report.rows[0]["total"] == 60
    assert report.rows[0]["difference"] is None and report.rows[1]["difference"] < 0 and 0 <= report.rows[1]["p"] < 0.01
    assert report.rows[2]["map"] < report.rows[1]["map"], "neighbors without a code are not found"
    keys = {column.key for column in report.columns}
    assert all(set(row) == keys for row in report.rows)
    facts = json.loads(as_json(report))
    assert len(facts["results"]) == len(as_tsv(report).splitlines()) - 1 == 3
    assert "ties: expectation over random order" in " ".join(as_table(report).split())


def test_no_word_in_common(dense):
    vectors, path = dense
    strangers = Embeddings(WordList.from_words([f"x{i}" for i in range(60)]), vectors.matrix)
    report = TASK.run(sources(strangers), [path], TASK.config(neighbors=5))
    assert report.unscored and np.isnan(report.scores[0][1])
    assert json.loads(as_json(report))["results"][0]["map"] is None


def test_restricted_vocabulary(dense):
    vectors, path = dense
    report = TASK.run(sources(vectors), [path], TASK.config(neighbors=5, restrict_vocab=20, queries=0))
    assert report.rows[0]["total"] == 20 and report.rows[0]["map"] == pytest.approx(100)
    assert "the first 20 words" in " ".join(as_table(report).split())


@pytest.mark.parametrize(
    "changes", [{"neighbors": 0}, {"at": 0}, {"queries": -1}, {"threads": -1}, {"seed": -1}, {"restrict_vocab": -1}]
)
def test_bad_config(changes, dense):
    with pytest.raises(UsageError, match="--" + next(iter(changes)).replace("_", "-")):
        TASK.run(sources(dense[0]), [dense[1]], TASK.config(**changes))


def test_bad_data(dense, tmp_path):
    with pytest.raises(UsageError, match=r"expected more than 60 vectors .*, found 60"):
        TASK.run(sources(dense[0]), [dense[1]], TASK.config(neighbors=60))
    save_codes(tmp_path / "x.codes", codes_of(dense[0]))
    with pytest.raises(BadFile, match="expected the vectors that hold the true neighbors, found codes"):
        TASK.run(sources(dense[0]), [str(tmp_path / "x.codes")], TASK.config())
