"""Papers' figures beside ours: which data set a name is, and that nothing else changes."""

import json

import numpy as np
import pytest

from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import StsConfig
from wv_cli.evaluation.published import _read, set_of
from wv_cli.evaluation.report import as_json, as_table, as_tsv
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("data/stsb-en-test.csv", "sts-b"),
        ("there/STSbenchmark/sts-test.csv", "sts-b"),
        ("STSbenchmark/sts-dev.csv", None),
        ("stsbenchmark/test: all", None),
        ("sts-b.test.tsv", "sts-b"),
        ("stsbenchmark-test.csv", "sts-b"),
        ("stsb-en-dev.csv", None),
        ("SICK_test_annotated.txt", "sick"),
        ("SICK_train.txt", None),
        ("x/STS2012-en-test: wmean", "2012"),
        ("x/sts16: wmean", "2016"),
        ("x/STS2012-en-test: all", None),
        ("x/STS2011: wmean", None),
        ("test.csv", None),
    ],
)
def test_names_tell_the_set(name, expected):
    assert set_of(name) == expected


def test_the_table_is_whole():
    rows = _read()
    assert len(rows) == 19 and all(set(row) == set(rows[0]) for row in rows)
    numbers = [
        row[key] for row in rows for key in ("sts-b", "2012", "2013", "2014", "2015", "2016", "sick") if row[key]
    ]
    assert len(numbers) == 18 * 7 + 2 and all(50 < float(number) < 90 for number in numbers)


@pytest.fixture
def report(tmp_path):
    def run(name, **options):
        (tmp_path / name).write_text("a b,c d,1\nc d,a,2\na d,b,3\nb c,d a,4\n")
        matrix = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
        source = Vectors("v", lambda: Embeddings(WordList.from_words("abcd"), matrix.copy()))
        return TASKS["sts"].run([source], [str(tmp_path / name)], StsConfig(**options))

    return run


def test_rows_stand_behind_ours(report):
    plain, shown = report("stsb-test.csv"), report("stsb-test.csv", published=True)
    assert len(shown.rows) == len(plain.rows) + 19 and shown.scores == plain.scores
    assert shown.rows[0] == {**plain.rows[0], "source": None}
    glove = shown.rows[1]
    assert (glove["vectors"], glove["spearman"], glove["pearson"]) == ("GloVe [2019]", 58.02, None)
    assert "BERT-base [2021]" in as_table(shown) and "as published" in as_table(shown)
    assert len(as_tsv(shown).splitlines()) == 21
    assert json.loads(as_json(shown))["results"][2]["source"] == "Su et al. 2021, tables 1 and 2"


def test_gains_and_differences_are_ours_alone(report):
    shown = report("stsb-test.csv", published=True, pooling=("idf",))
    assert [row["gain"] for row in shown.rows].count(None) == 20


def test_data_without_a_table(report):
    shown = report("mine.csv", published=True)
    assert len(shown.rows) == 1 and "no table has these data" in shown.notes[-1]
