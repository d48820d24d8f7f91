"""What every row of the table of evaluation tasks owes, run over the table: the same vectors and data, every layout."""

import json
import math

import numpy as np
import pytest

from tests.walk import require_rows
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.report import as_json, as_table, as_tsv
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList

DATA = {
    "similarity": "a b 1\nc d 2\na d 3\nb c 4\nA\tB\n",
    "analogy": ": one\na b c d\nb a d c\n: gram two\na c b d\na b\n",
    "sts": "a b,c d,1\nc d,a,2\na d,b,3\nb c,d a,4\nA\tB\n",
}
WORDS = ["a", "b", "c", "d"]
# Tasks whose data are no words and sentences alone have tests of their own: labels and perplexity score models,
# retrieval's data are vectors, translation needs the vectors of the answers,
# wic development data, search folders of three files.
OTHERS = {"labels", "perplexity", "retrieval", "search", "translation", "wic"}
EVERY = pytest.mark.parametrize("task", [TASKS[name] for name in DATA], ids=list(DATA))


@pytest.fixture
def source():
    random = np.random.default_rng(1)
    matrix = random.standard_normal((4, 5)).astype(np.float32)
    return Vectors("some vectors", lambda: Embeddings(WordList.from_words(WORDS), matrix.copy()))


@pytest.fixture
def path(task, tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(DATA[task.name])
    return str(path)


def test_every_task_has_data_here():
    require_rows("DATA of tests/evaluation/test_every_task.py, or OTHERS,", {*DATA, *OTHERS}, TASKS)


def test_a_wrong_name_is_helped():
    with pytest.raises(UsageError, match="did you mean 'analogy'"):
        TASKS.find("analogies")


@EVERY
def test_every_field_of_the_config_is_an_option(task):
    assert all(field.help for field in task.config.options().values())


@EVERY
def test_report(task, source, path):
    config = task.config()
    report = task.run([source], [path, path], config)
    assert report.task == task.name and report.measure == task.measure and report.config is config
    assert len(report.scores) == 2 and report.scores[0] == report.scores[1]
    low, high = task.scale
    for row in report.rows:
        assert set(row) == {column.key for column in report.columns}
        assert low <= row[task.measure] <= high
        assert not row["low"] > row[task.measure] and not row["high"] < row[task.measure]
    assert report.scores_below(high + 1) and not report.scores_below(low)
    assert all("malformed" in note for note in report.notes) and len(report.notes) == 2
    assert report.protocol


@EVERY
def test_layouts_agree(task, source, path):
    report = task.run([source, source], [path], task.config())
    facts = json.loads(as_json(report))
    header, *lines = [line.split("\t") for line in as_tsv(report).splitlines()]
    assert len(lines) == len(facts["results"]) == len(report.rows)
    for line, result in zip(lines, facts["results"], strict=True):
        record = dict(zip(header, line, strict=True))
        for key, value in result.items():
            if isinstance(value, float):
                assert float(record[key]) == pytest.approx(value, rel=1e-5)
            else:
                assert record[key] == ("" if value is None else str(value))
        assert record["task"] == task.name and record["case"] == "fold-first" and record["restrict_vocab"] == "0"
    table = as_table(report)
    assert all(len(line) <= 200 for line in table.splitlines())
    for score in report.scores:
        assert f"{score[1]:.2f}" in table
    assert "first file" in table


@EVERY
def test_one_file_is_not_compared(task, source, path):
    report = task.run([source], [path], task.config())
    assert "difference" not in report.rows[0]
    assert "first file" not in as_table(report)


@EVERY
def test_the_protocol_says_what_was_chosen(task, source, path):
    config = task.config(case="none", oov="zero", restrict_vocab=3)
    table = as_table(task.run([source], [path], config))
    for part in ("first 3 words", "as written"):
        assert part in " ".join(table.split())
    assert as_tsv(task.run([source], [path], config)).count("\tnone\tzero\t3") >= 1


@EVERY
def test_numbers_that_are_missing(task, source, path, tmp_path):
    nothing = tmp_path / "unknown.txt"
    nothing.write_text(DATA[task.name].replace("a", "x").replace("b", "y").replace("c", "z").replace("d", "w"))
    report = task.run([source], [str(nothing)], task.config(case="none"))
    assert math.isnan(report.scores[0][1]) and report.unscored
    assert json.loads(as_json(report))["results"][0][task.measure] is None
    assert "-" in as_table(report).split()


@EVERY
def test_strict(task, source, path):
    with pytest.raises(BadFile, match=r"data\.txt:[56]: expected"):
        task.run([source], [path], task.config(strict=True))


@EVERY
def test_bad_config(task, source, path):
    with pytest.raises(UsageError, match="--restrict-vocab"):
        task.run([source], [path], task.config(restrict_vocab=-1))


@EVERY
def test_missing_data(task, source, tmp_path):
    with pytest.raises(WvError, match=r"nowhere\.txt"):
        task.run([source], [str(tmp_path / "nowhere.txt")], task.config())
