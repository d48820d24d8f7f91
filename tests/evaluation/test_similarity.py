"""Word similarity: reading the data sets as they come, coverage, policies, several vector files."""

import gzip
import math

import numpy as np
import pytest

from tests.reference import statistics as reference
from wv_cli.errors import BadFile, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import EvalConfig
from wv_cli.evaluation.similarity import read_pairs
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load
from wv_cli.words import WordList

TASK = TASKS["similarity"]


def vectors(table, name="v"):
    words, rows = zip(*table, strict=True)
    return Vectors(name, lambda: Embeddings(WordList.from_words(words), np.array(rows, np.float32)))


def score(table, path, **config):
    """(the only row, the report)"""
    report = TASK.run([vectors(table)], [str(path)], EvalConfig(**config))
    assert len(report.rows) == 1
    return report.rows[0], report


@pytest.fixture
def write(tmp_path):
    def write(content, name="pairs.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.mark.parametrize(
    "content",
    [
        "old\tnew\t1.5\nbig cat\tdog\t9\n",
        "Word 1,Word 2,Human (mean)\nold,new,1.5\nbig cat,dog,9\n",
        "gem;x\nold;new;1.5\nbig cat;dog;9\n",
        "\ufeffold\tnew\t1.5\r\n\r\nbig cat\tdog\t9",
        "# Word 1\tWord 2\tHuman (mean)\n# agreed in 2001\nold\tnew\t1.5\nbig cat\tdog\t9\n",
        "word1\tword2\tPOS\tSimLex999\tconc(w1)\nold\tnew\tA\t1.5\t2.72\nbig cat\tdog\tN\t9\t2.75\n",
        "Word 1,Word 2,Human (mean),1,2\nold,new,1.5,1,2\nbig cat,dog,9,8,10\n",
    ],
    ids=["tab", "csv", "semicolon", "bom", "comments", "simlex", "raters"],
)
def test_layouts(write, content):
    pairs = read_pairs(write(content))
    assert pairs.words == [("old", "new"), ("big cat", "dog")]
    assert pairs.gold.tolist() == [1.5, 9]
    assert pairs.malformed.count == (1 if content.startswith("gem") else 0)


def test_blanks_separate_too(write):
    pairs = read_pairs(write("sun sunlight 50.000000\nrain   storm\t3e1\n"))
    assert pairs.words == [("sun", "sunlight"), ("rain", "storm")] and pairs.gold.tolist() == [50, 30]


def test_the_shipped_file_is_read_whole(data):
    pairs = read_pairs(str(data / "similarity" / "EN-WS-353-ALL.txt"), strict=True)
    assert len(pairs.words) == 353 and len(set(pairs.words)) == 352  # money-cash stands twice
    assert pairs.words[2] == ("tiger", "tiger") and pairs.gold[2] == 10


def test_malformed_lines_are_counted_or_refused(write):
    path = write("a\tb\t1\na\tb\nc\td\tmuch\ne\tf\tnan\n\tx\t3\ng\th\t2\n" + "z" * 1000 + "\n")
    pairs = read_pairs(path)
    assert len(pairs.words) == 2 and pairs.malformed.count == 5
    assert pairs.malformed.notes() == [
        f"{path}: 5 malformed lines were left out; the first, line 2: expected `word word score`, found 'a\\tb'"
    ]
    with pytest.raises(BadFile, match=r"pairs\.txt:2: expected `word word score`, found"):
        read_pairs(path, strict=True)


@pytest.mark.parametrize("content", ["", "\n\n", "one two three\nfour\n", b"\xff\xfe\x00rubbish" * 50])
def test_files_without_pairs(write, content):
    with pytest.raises(WvError, match=r"pairs\.txt"):
        read_pairs(write(content))


def test_a_missing_file_and_a_compressed_one(write, tmp_path):
    with pytest.raises(WvError, match=r"none\.txt.*check the spelling"):
        read_pairs(str(tmp_path / "none.txt"))
    assert read_pairs(write(gzip.compress(b"a b 1\nc d 2\n"))).gold.tolist() == [1, 2]


PLANE = [("a", [1, 0]), ("b", [1, 1]), ("c", [0, 1]), ("d", [-1, 1]), ("zero", [0, 0])]


def test_coverage_zero_vectors_and_identical_words(write):
    path = write("a a 9\na b 5\na c 3\na d 0\na unknown 8\na zero 4\n")
    row, report = score(PLANE, path)
    assert (row["used"], row["total"], row["covered"], row["zero_vectors"]) == (5, 6, 5, 1)
    # cosines 1, .7, 0, -.7, 0: the zero vector ties with the right angle
    assert row["spearman"] == pytest.approx(reference.spearman([4, 3, 2, 1, 2], [9, 5, 3, 0, 4]), abs=1e-12)
    assert row["low"] < row["spearman"] < row["high"]
    assert report.scores == [(f"v on {path}", row["spearman"])] and not report.unscored
    row, _ = score(PLANE, path, oov="zero")
    assert (row["used"], row["total"], row["covered"]) == (6, 6, 5)
    assert row["spearman"] == pytest.approx(reference.spearman([4, 3, 2, 1, 2, 2], [9, 5, 3, 0, 8, 4]), abs=1e-12)


def test_identical_words_tie_exactly(write):
    random = np.random.default_rng(1)
    table = [(f"w{i}", random.standard_normal(37)) for i in range(50)]
    path = write("".join(f"w{i} w{i} {5 + i % 2}\n" for i in range(50)) + "w0 w1 1\n")
    row, _ = score(table, path)
    assert row["spearman"] == pytest.approx(
        reference.spearman([1] * 50 + [0], [5 + i % 2 for i in range(50)] + [1]), abs=1e-12
    )


def test_duplicate_pairs_are_kept_and_order_does_not_matter(write):
    lines = ["a b 5\n", "a c 3\n", "a d 0\n", "a b 6\n", "d a 1\n"]
    first, _ = score(PLANE, write("".join(lines)))
    second, _ = score(PLANE, write("".join(reversed(lines))))
    assert first["used"] == 5 and first["spearman"] == second["spearman"]


def test_case_policies(write):
    table = [("Paris", [1, 0]), ("PARIS", [0, 1]), ("city", [1, 1]), ("rome", [1, 0.2]), ("straße", [0, -1])]
    path = write("paris City 5\nParis city 3\nROME city 1\nSTRASSE city 2\n")
    assert score(table, path)[0]["used"] == 4
    assert score(table, path, case="lower")[0]["used"] == 1
    assert score(table, path, case="none")[0]["used"] == 1
    # The first spelling stands for all: both Paris pairs have the cosine of `Paris`, and tie.
    row, _ = score(table, write("paris city 1\nPARIS city 2\nrome city 3\n"))
    assert row["spearman"] == pytest.approx(reference.spearman([1, 1, 2], [1, 2, 3]), abs=1e-12)


def test_only_the_first_words(write):
    path = write("a b 5\na c 3\nb c 4\na d 0\n")
    assert score(PLANE, path, restrict_vocab=3)[0]["used"] == 3
    assert score(PLANE, path, restrict_vocab=300)[0]["used"] == 4


@pytest.mark.parametrize(
    ("table", "content", "reason"),
    [
        (PLANE, "x y 1\nz y 2\n", "both words of a pair are known for 0 pairs"),
        (PLANE, "a b 1\nz y 2\n", "known for 1 pairs"),
        ([("a", [1, 1]), ("b", [2, 2]), ("c", [3, 3])], "a b 1\na c 2\n", "all 2 cosines are equal"),
        (PLANE, "a b 1\na c 1\n", "all gold scores are equal"),
        ([("a", [1, 1]), ("b", [math.nan, 2]), ("c", [3, 1])], "a b 1\na c 2\n", "1 pairs have vectors with NaN"),
    ],
)
def test_no_score_has_a_reason(write, table, content, reason):
    row, report = score(table, write(content))
    assert math.isnan(row["spearman"]) and math.isnan(report.scores[0][1])
    assert len(report.unscored) == 1 and reason in report.unscored[0]
    assert report.scores_below(0.5) and "cannot be computed" in report.scores_below(0.5)[0]


def test_several_files_are_scored_on_the_pairs_all_cover(write):
    random = np.random.default_rng(2)
    words = [f"w{i}" for i in range(60)]
    table = [(word, random.standard_normal(8)) for word in words]
    noisy = [(word, row + 0.5 * random.standard_normal(8)) for word, row in table[:50]]
    gold = {}
    for i in range(0, 59):
        x, y = table[i][1], table[i + 1][1]
        gold[words[i], words[i + 1]] = float(x @ y / np.sqrt((x @ x) * (y @ y)))
    path = write("".join(f"{a} {b} {value}\n" for (a, b), value in gold.items()))
    report = TASK.run([vectors(noisy, "noisy"), vectors(table, "exact")], [path], EvalConfig())
    first, second = report.rows
    assert [row["covered"] for row in report.rows] == [49, 59]
    assert [row["used"] for row in report.rows] == [49, 49]
    assert first["spearman"] == score(noisy, path)[0]["spearman"]
    assert second["spearman"] == pytest.approx(1) and second["difference"] == second["spearman"] - first["spearman"]
    assert first["difference"] is None and first["p"] is None
    worse = TASK.run([vectors(noisy, "noisy"), vectors(noisy, "again")], [path], EvalConfig()).rows[1]
    assert worse["difference"] == 0 and worse["p"] == 1
    zeros = TASK.run([vectors(noisy, "noisy"), vectors(table, "exact")], [path], EvalConfig(oov="zero")).rows
    assert [row["used"] for row in zeros] == [59, 59]


def test_real_vectors_on_the_shipped_pairs(data, slice_vectors):
    """Against plain Python on the same files."""
    path = str(data / "similarity" / "EN-WS-353-ALL.txt")
    embeddings = load(slice_vectors)
    report = TASK.run([Vectors("slice", lambda: embeddings)], [path], EvalConfig())
    rows = {word: embeddings.matrix[i].astype(float) for i, word in reversed(list(enumerate(embeddings.words)))}
    model, gold = [], []
    for line in (data / "similarity" / "EN-WS-353-ALL.txt").read_text().split("\n"):
        first, second, value = line.lower().split() or [""] * 3
        if first in rows and second in rows:
            x, y = rows[first], rows[second]
            model.append(float(np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y))))
            gold.append(float(value))
    row = report.rows[0]
    assert row["used"] == len(gold) > 30
    assert row["spearman"] == pytest.approx(reference.spearman(model, gold), abs=1e-9)
    assert row["pearson"] == pytest.approx(reference.correlation(model, gold), abs=1e-9)


def test_tags_of_men_are_left_out(tmp_path):
    path = tmp_path / "men"
    path.write_text("sun-n sunlight-n 50.0\nrun-v fast-j 12\n")
    pairs = read_pairs(str(path))
    assert pairs.words == [("sun", "sunlight"), ("run", "fast")]
    assert "every word has a tag" in pairs.notes()[0]
    path.write_text("sun-n sunlight-n 50.0\nplug-n play 12\n")
    assert read_pairs(str(path)).words[0] == ("sun-n", "sunlight-n") and not read_pairs(str(path)).notes()
