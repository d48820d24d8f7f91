"""`wv eval translation`: by hand, against the reference implementation of CSLS, coverage, several files, refusals."""

import json

import numpy as np
import pytest

from tests.reference.csls import csls
from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import TranslationConfig
from wv_cli.evaluation.dictionary import read_dictionary
from wv_cli.evaluation.report import as_json, as_table, as_tsv
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save
from wv_cli.words import WordList


def embeddings(words, matrix):
    return Embeddings(WordList.from_words(words), np.asarray(matrix, np.float32))


@pytest.fixture
def spaces(tmp_path):
    """60 words e0.. and their 80 translations f0.., the first of which lie near; the dictionary says e_i f_i."""
    random = np.random.default_rng(1)
    y = random.standard_normal((80, 6)) + 0.7
    x = y[:60] + 0.4 * random.standard_normal((60, 6))
    save(str(tmp_path / "f.vec"), embeddings([f"f{i}" for i in range(80)], y), format="word2vec-text")
    (tmp_path / "d").write_text("".join(f"e{i} f{i}\n" for i in range(60)))
    return x.astype(np.float32), y.astype(np.float32)


def run(tmp_path, sources, **options):
    config = TranslationConfig(target=str(tmp_path / "f.vec"), threads=1, **options)
    vectors = [Vectors(f"v{i}", lambda source=source: source) for i, source in enumerate(sources)]
    return TASKS["translation"].run(vectors, [str(tmp_path / "d")], config)


def test_precision_at_k_against_the_reference(spaces, tmp_path):
    x, y = spaces
    report = run(tmp_path, [embeddings([f"e{i}" for i in range(60)], x)])
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in spaces]
    for row, scores in zip(report.rows, (unit[0] @ unit[1].T, csls(x, y, 10)), strict=True):
        right = scores[np.arange(60), np.arange(60)]
        place = (scores > right[:, None]).sum(axis=1)
        for k in (1, 5, 10):
            assert row[f"p{k}"] == pytest.approx(100 * (place < k).mean())
        assert row["low"] < row["p1"] < row["high"] and row["answered"] == row["total"] == row["covered"] == 60
    nn, by_csls = report.rows
    assert nn["method"] == "nn" and by_csls["method"] == "csls"
    assert any(nn[key] != by_csls[key] for key in ("p1", "p5", "p10"))
    assert [value for _, value in report.scores] == [nn["p1"], by_csls["p1"]]
    for layout in (as_table, as_tsv, as_json):
        assert "csls" in layout(report)


def test_one_of_several_translations_is_enough(spaces, tmp_path):
    _, y = spaces
    (tmp_path / "d").write_text("a f1\na f2\nb f3\nb f9\n")
    report = run(tmp_path, [embeddings(["a", "b"], y[[2, 5]])], method="nn")
    assert report.rows[0]["correct"] == 1 and report.rows[0]["total"] == 2


def test_unknown_words(spaces, tmp_path):
    _, y = spaces
    (tmp_path / "d").write_text("a f1\nb none\nnone f3\nc F4\nodd line here\n")
    source = embeddings(["a", "b", "C"], y[[1, 2, 4]])
    skip, zero, exact = (
        run(tmp_path, [source], method="nn", **options).rows[0] for options in ({}, {"oov": "zero"}, {"case": "none"})
    )
    assert (skip["p1"], skip["answered"], skip["total"], skip["covered"], skip["malformed"]) == (100, 2, 4, 2, 1)
    assert (zero["p1"], zero["answered"]) == (50, 4)
    assert (exact["answered"], exact["covered"]) == (1, 1)
    limited = run(tmp_path, [source], method="nn", restrict_vocab=4).rows[0]
    assert limited["answered"] == 1


def test_several_files_on_the_same_words(spaces, tmp_path):
    x, y = spaces
    words = [f"e{i}" for i in range(60)]
    report = run(tmp_path, [embeddings(words, x), embeddings(words[:50], y[:50])])
    first, _, better, _ = report.rows
    assert first["difference"] is None and better["p1"] == 100 and better["answered"] == first["answered"] == 50
    assert better["difference"] == pytest.approx(100 - first["p1"]) and 0 < better["p"] < 0.05
    assert first["covered"] == 60


def test_nothing_in_common(spaces, tmp_path):
    report = run(tmp_path, [embeddings(["x"], spaces[1][:1])])
    assert report.unscored and report.scores_below(0)
    assert json.loads(as_json(report))["results"][0]["p1"] is None


def test_refusals(spaces, tmp_path):
    with pytest.raises(BadFile, match=r"v0: expected vectors of 6 numbers as in .*, found 3"):
        run(tmp_path, [embeddings(["e1"], [[1, 2, 3]])])
    with pytest.raises(UsageError, match="--target FILE is missing"):
        TASKS["translation"].run([], [], TranslationConfig())
    (tmp_path / "d").write_text("a f1\nodd line here\n")
    with pytest.raises(BadFile, match="d:2: expected two words"):
        run(tmp_path, [embeddings(["e1"], spaces[0][:1])], strict=True)


@pytest.mark.parametrize("text", ["", "\n\n", "one\ntwo\n", "a b c\n"])
def test_no_dictionary(text, tmp_path):
    (tmp_path / "d").write_text(text)
    with pytest.raises(BadFile, match="two words `word translation`"):
        read_dictionary(str(tmp_path / "d"))


def test_words_with_blanks_and_pairs_twice(tmp_path):
    (tmp_path / "d").write_text("new york\tnueva york\r\na b\na  b\na c\n")
    found = read_dictionary(str(tmp_path / "d"))
    assert found.pairs == [("new york", "nueva york"), ("a", "b"), ("a", "c")]
    assert found.entries()["a"] == ["b", "c"]
