"""gensim's questions from the shell: sums of words, similarities, the odd one out, texts, files side by side."""

import json

import pytest

from tests.conftest import GOLDEN
from wv_cli.vectors.formats import load

ANSWERS = json.loads((GOLDEN / "gensim-answers.json").read_text())
VECTORS = GOLDEN / "w2v-sg-ns.bin"
TABLE = "6 2\none 1 0\ntwo 1 1\nthree 0 1\nfour -1 0\nnew-york 3 1\n- 1 -1\n"


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "v.vec").write_text(TABLE)
    return "v.vec"


def hits(done):
    assert (done.returncode, done.stderr) == (0, "")
    return [(word, float(score)) for word, score in (line.split("\t") for line in done.stdout.splitlines())]


def assert_same(found, expected):
    assert [word for word, _ in found] == [word for word, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-5)


def test_sums_as_options_and_as_expressions(wv):
    """Both spellings get gensim's answers; piped in, several at once."""
    case = ANSWERS["most_similar"][0]
    assert_same(hits(wv("nn", VECTORS, "king + woman - man")), case["answers"])
    given = wv("nn", VECTORS, "--positive", "king", "woman", "--negative", "man", "-k", 10)
    assert_same(hits(given), case["answers"])
    lines = [
        "".join([" ".join(c["positive"]), *(f" - {word}" for word in c["negative"])]) for c in ANSWERS["most_similar"]
    ]
    done = wv("nn", VECTORS, input="".join(f"{line}\n" for line in lines))
    for c, line in zip(ANSWERS["most_similar"], lines, strict=True):
        rows = [row.split("\t")[1:] for row in done.stdout.splitlines() if row.split("\t")[0] == line]
        assert_same([(word, float(score)) for word, score in rows], c["answers"])


def test_spellings_of_sums(wv, vectors):
    plain = wv("nn", vectors, "one + three - four").stdout
    assert wv("nn", vectors, "one three - four").stdout == plain
    assert wv("nn", vectors, "--", "- four + one three").stdout.splitlines()[0].split("\t")[0] == plain.split("\t")[0]
    assert wv("nn", vectors, "--positive=one", "--positive", "three", "--negative", "four").stdout == plain
    object_ = json.loads(wv("nn", vectors, "--negative", "four", "--positive", "one", "three", "--json").stdout)
    assert object_["query"] == "one + three - four" and object_["neighbors"][0]["word"] == plain.split("\t")[0]
    # A sign alone is a word, and as an option's it always is.
    assert wv("nn", vectors, "-k", 1, "--", "-").stdout == "one\t0.707107\n"
    assert wv("nn", vectors, "-k", 1, "--positive", "-", "three").stdout == "new-york\t0.997484\n"


def test_what_is_no_sum(wv, vectors):
    done = wv("nn", vectors, "one -", "one + - two")
    assert (done.returncode, done.stdout) == (1, "\n\n")
    assert done.stderr.splitlines() == [
        "wv nn: expected a word after the sign '-', found none: 'one -'",
        "wv nn: expected a word after the sign '+', found none: 'one + - two'",
    ]
    both = wv("nn", vectors, "one", "--positive", "two")
    assert both.returncode == 2 and "--positive and WORD cannot be used together" in both.stderr
    assert wv("nn", vectors, "--positive", "nowhere", "--oov", "error").returncode == 1


@pytest.mark.parametrize(("a", "b", "expected"), ANSWERS["similarity"] + ANSWERS["n_similarity"])
def test_similarity(a, b, expected, wv):
    done = wv("similarity", VECTORS, *(each if isinstance(each, str) else " ".join(each) for each in (a, b)))
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) == pytest.approx(expected, abs=1e-5)


def test_pairs_from_a_pipe(wv, vectors):
    done = wv("similarity", vectors, input="one  two\n\none three\ttwo\none nowhere\none\none\t\n")
    assert done.stdout == "one  two\t0.707107\none three\ttwo\t1.000000\n\n\n\n"
    assert done.returncode == 1 and done.stderr.splitlines() == [
        "wv similarity: 'nowhere' is not in v.vec",
        "wv similarity: expected two words, or two lists of words with a tab between, found: 'one'",
        "wv similarity: expected two words, or two lists of words with a tab between, found: 'one\\t'",
    ]
    objects = [
        json.loads(line) for line in wv("similarity", vectors, "--json", input="one two\nx y\n").stdout.splitlines()
    ]
    assert objects[0] == {"query": "one two", "similarity": 0.707107}
    assert objects[1]["similarity"] is None and "'x' is not in" in objects[1]["error"]
    assert wv("similarity", vectors, "one", "two", "three").returncode == 2
    skipped = wv("similarity", vectors, "--oov", "skip", "-q", input="one x\none four\n")
    assert (skipped.returncode, skipped.stdout, skipped.stderr) == (0, "one four\t-1.000000\n", "")


@pytest.mark.parametrize("case", ANSWERS["doesnt_match"], ids=lambda case: case["answer"])
def test_the_odd_one_out(case, wv):
    """gensim's ranking, from its end."""
    found = hits(wv("odd-one-out", VECTORS, *case["words"], "-k", 9))
    assert_same(found, case["ranked"][::-1])
    assert hits(wv("odd-one-out", VECTORS, *case["words"]))[0][0] == case["answer"]


def test_odd_ones_from_a_pipe(wv, vectors):
    done = wv("odd-one-out", vectors, input="one two four\none\none two nowhere\n")
    assert done.stdout == "one two four\tfour\t-0.707107\n\n\n"
    assert done.returncode == 1 and done.stderr.splitlines() == [
        "wv odd-one-out: expected two words or more, found 1: 'one'",
        "wv odd-one-out: 'nowhere' is not in v.vec",
    ]
    assert wv("odd-one-out", vectors, "one").returncode == 2


def test_distances_of_texts(wv):
    texts, cases = ANSWERS["texts"], ANSWERS["wmdistance"]
    lines = "".join(f"{texts[a]}\t{texts[b]}\n" for a, b, _, _ in cases)
    done = wv("texts-distance", VECTORS, "--case", "none", input=lines)
    found = [float(line.split("\t")[2]) for line in done.stdout.splitlines()]
    assert found == pytest.approx([case[2] for case in cases], abs=1e-4)
    plain = wv("texts-distance", VECTORS, "--no-normalize", texts[cases[0][0]], texts[cases[0][1]])
    assert float(plain.stdout) == pytest.approx(cases[0][3], abs=1e-4)


def test_the_nearest_texts(wv, vectors, tmp_path):
    (tmp_path / "lines.txt").write_text("Four!\n\nnowhere\ntwo,\tone\none, three three\none four\n")
    done = wv("texts-distance", vectors, "--among", "lines.txt", "-k", 2, "ONE and two", "nowhere at all")
    assert done.returncode == 1
    assert done.stdout == "ONE and two\ttwo, one\t0.000000\nONE and two\tone, three three\t0.618386\n\n"
    assert done.stderr == "wv texts-distance: no word of the text 'nowhere at all' has a vector in v.vec\n"
    piped = wv("texts-distance", vectors, "--among", "-", "-k", 1, "one two", input="one\ntwo one\n")
    assert piped.stdout == "two one\t0.000000\n"
    (tmp_path / "stop.txt").write_text("two\n")
    options = ["--stop-words", "drop", "--stop-list", "stop.txt"]
    assert wv("texts-distance", vectors, *options, "one two", "two one two").stdout == "0.000000\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["one"], 2, "expected two texts A B, found 1; a text is one argument"),
        (["one", "two", "-k", 2], 2, "-k needs --among"),
        (["one", "two", "--stop-list", "x"], 2, "--stop-list"),
        (["--among", "-"], 2, "--among - takes standard input"),
        (["one", "--among", "empty"], 1, "empty: expected lines of text, found none"),
        (["one", "--among", "missing"], 1, "missing: cannot read"),
        (["one", "--among", "v.vec"], 1, "v.vec: "),
        (["one", "two", "--beside", "missing"], 1, "missing: cannot read"),
    ],
)
def test_misuse_of_texts_distance(arguments, code, message, wv, vectors, tmp_path):
    (tmp_path / "empty").write_text("\n")
    done = wv("texts-distance", vectors, *arguments)
    assert (done.returncode, done.stdout) == (code, "") and message in done.stderr and "Traceback" not in done.stderr


def test_several_files_side_by_side(wv, vectors, tmp_path):
    (tmp_path / "w.vec").write_text("3 1\none 1\nfour 1\nfive -1\n")
    done = wv("nn", vectors, "--beside", "w.vec", "-k", 3, "one")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("new-york\t0.948683\tfour\t1.000000\ntwo\t0.707107\tfive\t-1.000000\n-\t0.707107\t\t\n")
    lost = wv("nn", vectors, "--beside", "w.vec", "-k", 1, input="two\nfive\nsix\n")
    assert lost.stdout.splitlines() == ["two\tnew-york\t0.894427\t\t", "five\t\t\tone\t-1.000000", ""]
    assert lost.returncode == 1 and lost.stderr.count("is not in v.vec") == 2 == lost.stderr.count("is not in w.vec")
    skipped = wv("similarity", vectors, "--beside", "w.vec", "--oov", "skip", "-q", input="one four\none two\nx y\n")
    assert (skipped.returncode, skipped.stdout) == (0, "one four\t-1.000000\t1.000000\none two\t0.707107\t\n")
    (object_,) = [json.loads(wv("similarity", vectors, "--beside", "w.vec", "--json", "one", "two").stdout)]
    assert [each["file"] for each in object_["files"]] == ["v.vec", "w.vec"]
    assert object_["files"][0]["similarity"] == 0.707107 and "'two' is not in w.vec" in object_["files"][1]["error"]
    line = wv("analogy", vectors, "one", "two", "three", "-k", 1).stdout.strip()
    assert wv("analogy", vectors, "--beside", vectors, "one", "two", "three", "-k", 1).stdout == f"{line}\t{line}\n"


def test_standard_input_holds_one_thing(wv, vectors):
    for arguments in (["-", "--beside", "-", "one"], [vectors, "--beside", "-"]):
        done = wv("nn", *arguments, input=TABLE)
        assert done.returncode == 2 and "standard input" in done.stderr
    assert (
        wv("nn", vectors, "--beside", "-", "-k", 1, "one", input=TABLE).stdout
        == "new-york\t0.948683\tnew-york\t0.948683\n"
    )


def test_neighbors_of_vectors_and_sentences(wv, vectors, tmp_path):
    """Numbers and lines stand for what `wv vectors` prints of them; no word is left out."""
    assert wv("nn", vectors, "--vector", "0, -2.5e0").stdout == wv("nn", vectors, "--vector", "0 -1").stdout
    for sentence in ("one three", "two"):
        numbers = wv("vectors", vectors, "--sentences", sentence).stdout
        expected = wv("nn", vectors, "--vector", numbers, "-k", 3).stdout
        assert wv("nn", vectors, "--sentence", sentence, "-k", 3).stdout == expected != ""
    piped = wv("nn", vectors, "--vector", "-", "-k", 1, input="1 0\n\n1\n1 x\nnan 1\n")
    assert (piped.returncode, piped.stdout) == (1, "1 0\tone\t1.000000\n\n\n\n")
    assert piped.stderr.splitlines() == [
        "wv nn: expected 2 numbers, found 1: '1'",
        "wv nn: expected 2 finite numbers, found '1 x'",
        "wv nn: expected 2 finite numbers, found 'nan 1'",
    ]
    asked = wv("nn", vectors, "--sentence", "-", "-k", 1, input="Two!\nnowhere\n")
    assert (asked.returncode, asked.stdout) == (1, "Two!\ttwo\t1.000000\n\n")
    assert asked.stderr == "wv nn: no word of the sentence 'nowhere' has a vector in v.vec\n"
    (tmp_path / "lines").write_text("four four\none\tthree\nnowhere\n")
    among = wv("nn", vectors, "--sentence", "two", "--among", "lines")
    assert among.stdout == "one three\t1.000000\nfour four\t-0.707107\n"
    assert among.stderr == "lines: 1 of 3 lines have no word of v.vec and are left out; the first is 'nowhere'\n"
    (tmp_path / "less").write_text("four four\n")
    assert wv("nn", vectors, "--sentence", "two", "--among", "lines", "--exclude", "less", "-q").stdout == (
        "one three\t1.000000\n"
    )


@pytest.mark.parametrize("model", ["ft-labels.bin", "ft-words.bin"])
def test_a_sentence_has_the_rule_of_the_model(model, wv):
    numbers = wv("vectors", GOLDEN / model, "--sentences", "--precision", "exact", "the cake").stdout
    asked = wv("nn", GOLDEN / model, "--vector", numbers, "-k", 3).stdout
    assert wv("nn", GOLDEN / model, "--sentence", "the cake", "-k", 3).stdout == asked != ""


def test_neighbors_among_words_and_without_some(wv, vectors, tmp_path):
    (tmp_path / "few").write_text("three\none\nnowhere\nfour\nthree\n")
    (tmp_path / "less").write_text("four\nnowhere\n")
    done = wv("nn", vectors, "--among", "few", "one")
    assert done.stdout == "three\t0.000000\nfour\t-1.000000\n"
    assert done.stderr == "few: 1 of 4 words are not in v.vec and are left out; the first is 'nowhere'\n"
    assert wv("nn", vectors, "--among", "few", "--exclude", "less", "-q", "one").stdout == "three\t0.000000\n"
    every = wv("nn", vectors, "one").stdout.splitlines()
    assert wv("nn", vectors, "--exclude", "less", "one").stdout.splitlines() == every[:-1]
    assert wv("nn", vectors, "--exclude", "less", "one", "--restrict-vocab", 2).stdout == "two\t0.707107\n"
    found = load(tmp_path / "v.vec")
    assert [word for word, _ in found.neighbors("one", among=["three", "four", "nowhere"])] == ["three", "four"]
    assert [word for word, _ in found.neighbors("one", exclude=["four", "new-york"])] == ["two", "-", "three"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["one", "--vector", "1 1"], 2, "--vector and WORD cannot be used together"),
        (["--vector", "1 1", "--sentence", "one"], 2, "--sentence and --vector cannot be used together"),
        (["--positive", "one", "--sentence", "one"], 2, "--sentence and --positive cannot be used together"),
        (["--vector", "-", "--among", "-"], 2, "standard input"),
        (["one", "--among", "v.vec"], 1, "expected text, found word2vec-text"),
        (["one", "--among", "less", "--exclude", "less"], 1, "less without less: expected a word of v.vec to answer"),
        (["--sentence", "a", "--among", "less", "--restrict-vocab", 2], 2, "--restrict-vocab has no effect with"),
    ],
)
def test_misuse_of_lists_and_vectors(arguments, code, message, wv, vectors, tmp_path):
    (tmp_path / "less").write_text("four\n")
    done = wv("nn", vectors, *arguments)
    assert (done.returncode, done.stdout) == (code, "") and message in done.stderr and "Traceback" not in done.stderr
