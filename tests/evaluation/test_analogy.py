"""Analogies: reading questions, sections and totals, the answer pool, policies, several vector files."""

import math

import numpy as np
import pytest

from tests.reference import search as reference
from tests.reference.statistics import binomial_two_sided
from wv_cli.errors import BadFile, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.analogy import read_questions
from wv_cli.evaluation.config import AnalogyConfig
from wv_cli.evaluation.statistics import wilson_interval
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load
from wv_cli.words import WordList

TASK = TASKS["analogy"]

# man : woman as king : queen, and so on, in three dimensions: male/female, royal, number.
FAMILY = {
    "man": [1, 0, 0],
    "woman": [-1, 0, 0],
    "king": [1, 2, 0],
    "queen": [-1, 2, 0],
    "men": [1, 0, 1.5],
    "women": [-1, 0, 1.5],
    "kings": [1, 2, 1.5],
    "queens": [-1, 2, 1.5],
    "stone": [0, 0.1, -3],
}


def vectors(table, name="v"):
    words, rows = list(table), np.array(list(table.values()), np.float32)
    return Vectors(name, lambda: Embeddings(WordList.from_words(words), rows.copy()))


def run(tables, path, **config):
    sources = [vectors(table, f"v{i}") for i, table in enumerate(tables)]
    return TASK.run(sources, [str(path)], AnalogyConfig(**config))


def rows(table, path, **config):
    """The rows of one vector file by section."""
    return {row["section"]: row for row in run([table], path, **config).rows}


@pytest.fixture
def write(tmp_path):
    def write(content, name="questions.txt"):
        path = tmp_path / name
        path.write_text(content)
        return str(path)

    return write


ROYAL = ": royal family\nman woman king queen\nking queen man woman\nman woman stone queen\n"
NUMBER = ": gram8-plural\nman men king kings\nwoman women queen queens\nman men dog dogs\n"


def test_sections_and_totals(write):
    found = rows(FAMILY, write(ROYAL + NUMBER))
    assert list(found) == ["royal family", "gram8-plural", "semantic", "syntactic", "total"]
    royal, plural, total = found["royal family"], found["gram8-plural"], found["total"]
    assert (royal["correct"], royal["answered"], royal["total"]) == (2, 3, 3)
    assert (plural["correct"], plural["answered"], plural["total"]) == (2, 2, 3)
    assert plural["accuracy"] == 100 and plural["accuracy_of_all"] == pytest.approx(200 / 3)
    assert found["semantic"]["correct"] == 2 and found["syntactic"]["correct"] == 2
    assert (total["correct"], total["answered"], total["total"], total["accuracy"]) == (4, 5, 6, 80)
    assert (total["low"], total["high"]) == tuple(100 * x for x in wilson_interval(4, 5))


def test_kinds_are_totalled_only_where_there_are_both(write):
    assert list(rows(FAMILY, write(ROYAL))) == ["royal family", "total"]
    assert list(rows(FAMILY, write(NUMBER))) == ["gram8-plural", "total"]


def test_google_file(data):
    path = data / "analogy" / "questions-words.txt"
    questions = read_questions(str(path), strict=True)
    sizes = {name: int(mask.sum()) for name, mask in questions.groups()}
    assert (sizes["semantic"], sizes["syntactic"], sizes["total"]) == (8869, 10675, 19544)
    assert len(questions.names) == 14
    assert list(sizes)[:5] == ["capital-common-countries", "capital-world", "currency", "city-in-state", "family"]
    phrases = read_questions(str(data / "analogy" / "questions-phrases.txt"), strict=True)
    assert len(phrases.words) == 3218 and len(phrases.names) == 5


def test_reading(write):
    questions = read_questions(write("a b c d\r\n\n:first\nnew york\tnyc\tlos angeles\tla\n: \na\tb  c d\n", "msr.txt"))
    assert questions.names == ["msr", "first", "line 5"]
    assert questions.words == [("a", "b", "c", "d"), ("new york", "nyc", "los angeles", "la"), ("a", "b", "c", "d")]
    assert questions.section.tolist() == [0, 1, 2] and questions.malformed.count == 0


def test_malformed_lines_are_counted_or_refused(write):
    path = write(": s\na b c d\na b c\na b c d e\n")
    questions = read_questions(path)
    assert len(questions.words) == 1 and questions.malformed.count == 2
    assert "line 3: expected four words" in questions.malformed.notes()[0]
    with pytest.raises(BadFile, match=r"questions\.txt:3: expected four words `a b c d` or `: section`, found 'a b c'"):
        read_questions(path, strict=True)
    assert rows(FAMILY, write(ROYAL + "one two\n"))["total"]["malformed"] == 1


@pytest.mark.parametrize("content", ["", "\n", ": only\n: headings\n", "one two three\n"])
def test_files_without_questions(write, content):
    with pytest.raises(WvError, match=r"questions\.txt"):
        read_questions(write(content))


def test_unknown_words_count_as_wrong_under_zero(write):
    path = write(ROYAL + NUMBER)
    assert rows(FAMILY, path)["gram8-plural"]["accuracy"] == 100
    zero = rows(FAMILY, path, oov="zero")["gram8-plural"]
    assert (zero["correct"], zero["answered"], zero["covered"]) == (2, 3, 2)
    assert zero["accuracy"] == zero["accuracy_of_all"] == pytest.approx(200 / 3)


def test_case_policies(write):
    path = write("Man Woman KING Queen\n")
    assert rows(FAMILY, path)["total"]["accuracy"] == 100
    assert rows(FAMILY, path, case="lower")["total"]["accuracy"] == 100
    assert rows(FAMILY, path, case="none")["total"]["answered"] == 0
    # A second spelling, nearer to the answer than the first, is no answer: one word, one row.
    cased = {**FAMILY, "QUEEN": [-1.55, 0.9, 0]}
    assert rows(cased, path)["total"]["accuracy"] == 100
    assert rows(cased, write("man woman king queen\n"), case="none")["total"]["accuracy"] == 0


def test_a_word_that_stands_twice_is_one_answer(write):
    words = [*FAMILY, "queen"]
    matrix = np.array([*FAMILY.values(), [-1, 2, 0.01]], np.float32)
    source = Vectors("v", lambda: Embeddings(WordList.from_words(words), matrix.copy()))
    for case in ("none", "lower", "fold-first"):
        report = TASK.run([source], [write("man woman king queen\n")], AnalogyConfig(case=case))
        assert report.rows[-1]["accuracy"] == 100


def test_the_vocabulary_limit_holds_for_questions_and_answers(write):
    path = write("man woman king queen\nman men king kings\n")
    assert rows(FAMILY, path, restrict_vocab=4)["total"]["answered"] == 1
    blocked = {"man": [1, 0], "woman": [-1, 0.1], "king": [1, 2], "queen": [-1, 1.7], "wrong": [-1.55, 0.9]}
    assert rows(blocked, path)["total"]["accuracy"] == 0
    assert rows(blocked, path, restrict_vocab=4)["total"]["accuracy"] == 100


@pytest.mark.full
def test_against_the_reference(data, slice_vectors):
    """Real vectors, Google's questions: the number of right answers is that of a full sort in float64."""
    embeddings = load(slice_vectors)
    questions = read_questions(str(data / "analogy" / "questions-words.txt"))
    known = [[embeddings.words.find(word.lower()) for word in words] for words in questions.words]
    asked = np.array([row for row in known if min(row) >= 0])[::4]
    assert len(asked) > 50
    unit = reference.unit(embeddings.matrix)
    for method in ("3cosadd", "3cosmul"):
        # A slice of a corpus answers almost nothing right, so the tested answers are made the expected ones.
        answers, scores = reference.analogies(unit, *asked[:, :3].T, 2, method)
        clear = scores[:, 0] > scores[:, 1] + 1e-5  # not a tie within float32's rounding
        expected = np.where(np.arange(len(asked)) % 3, answers[:, 0], asked[:, 3])[clear]
        answers, questions = answers[clear], asked[clear]
        lines = ["\t".join(embeddings.words[i] for i in (*q[:3], e)) for q, e in zip(questions, expected, strict=True)]
        path = slice_vectors.parent / f"made-{method}.txt"
        path.write_text("\n".join(lines))
        source = Vectors("slice", lambda: load(slice_vectors))
        total = TASK.run([source], [str(path)], AnalogyConfig(method=method, case="none")).rows[-1]
        assert total["answered"] == len(questions) > 50
        assert total["correct"] == int((answers[:, 0] == expected).sum())


def test_several_files_answer_the_same_questions(write):
    random = np.random.default_rng(3)
    base = {f"w{i}": random.standard_normal(6) for i in range(40)}
    other = {word: row + random.standard_normal(6) for word, row in list(base.items())[:30]}
    lines = []
    for _ in range(200):
        a, b, c = random.integers(0, 40, 3)
        scores = reference.analogy_scores(reference.unit(list(base.values())), a, b, c, "3cosadd")
        scores[[a, b, c]] = -9
        lines.append(f"w{a} w{b} w{c} w{scores.argmax()}\n")
    report = run([base, other], write("".join(lines)))
    first, second = report.rows[-2:]
    assert first["answered"] == second["answered"] == second["covered"] < first["covered"] == 200
    assert first["accuracy"] == 100 > second["accuracy"]
    lost = second["answered"] - second["correct"]
    assert second["difference"] == pytest.approx(-100 * lost / second["answered"])
    assert second["p"] == pytest.approx(binomial_two_sided(0, lost), rel=1e-9)
    assert first["difference"] is None and first["p"] is None
    assert any("all files" in line for line in report.protocol)


def test_no_question_answered(write):
    report = run([FAMILY], write("a b c d\n"))
    assert math.isnan(report.rows[-1]["accuracy"]) and math.isnan(report.rows[-1]["low"])
    assert "all four words are known for no question" in report.unscored[0]


def test_vectors_with_nan_answer_nothing(write):
    broken = {**FAMILY, "king": [math.nan, 0, 0], "stone": [math.inf, 0, 0]}
    total = rows(broken, write(ROYAL))["total"]
    assert total["answered"] == 3 and total["correct"] == 0


BATS = "man\twoman/lady\nking\tqueen\n\nmen\tnobody/women/ladies\nkings\tnone\n"


def test_files_of_bats_ask_each_pair_with_every_other(write):
    """Any answer of a list is right, and the first one stands in the examples."""
    questions = read_questions(write(BATS, "E01 [male - female].txt"))
    assert questions.names == ["E01 [male - female]"] and len(questions.words) == 12
    assert questions.words[:2] == [("man", "woman", "king", "queen"), ("man", "woman", "men", "nobody")]
    found = rows(FAMILY, write(BATS, "bats.txt"))["total"]
    # Answered are those whose words are listed; the answer to king : queen = man : ? is men here.
    assert (found["total"], found["answered"], found["correct"]) == (12, 4, 3)
    spelled = rows({**FAMILY, "QUEEN": [5, 5, 5]}, write("man woman\nking QUEEN/queens/queen\n"), case="none")["total"]
    assert (spelled["total"], spelled["answered"], spelled["correct"]) == (
        2,
        2,
        1,
    )  # the first answer, QUEEN, is no good example
    strict = read_questions(write("a b\nc d\n"), strict=True)
    assert len(strict.words) == 2
    with pytest.raises(BadFile, match="expected four words"):
        read_questions(write("a b c d\ne f\n"), strict=True)
    with pytest.raises(BadFile, match="expected lines of four words"):
        read_questions(write("a b\n"))
