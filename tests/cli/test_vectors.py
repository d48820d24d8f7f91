"""`wv vectors`, `wv dump` and `wv convert` of fastText's models through the real entry point; words that a model does
not list in `wv nn`, `wv analogy` and `wv eval`."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.processes import PATIENCE, Process
from wv_cli.vectors.formats import load
from wv_cli.vectors.formats.fasttext_bin import load_model

WORDS, LABELS, QUANTIZED = (GOLDEN / name for name in ("ft-words.bin", "ft-labels.bin", "ft-labels.ftz"))


def rows(text, names=True):
    """(names, numbers) of printed lines."""
    fields = [line.split(" ") for line in text.splitlines()]
    return [row[0] for row in fields] if names else [], np.array([row[names:] for row in fields], float)


def test_words_as_arguments(wv):
    done = wv("vectors", WORDS, "the", "unseenword", "naïve")
    assert (done.returncode, done.stderr) == (0, "")
    names, numbers = rows(done.stdout)
    assert names == ["the", "unseenword", "naïve"]
    np.testing.assert_allclose(numbers, load_model(WORDS).word_vectors(names), atol=6e-7)
    exact = wv("vectors", WORDS, "the", "--precision", "exact").stdout
    assert np.array_equal(rows(exact)[1].astype(np.float32)[0], load_model(WORDS).word_vector("the"))


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_words_from_a_pipe(wv, arguments):
    done = wv("vectors", WORDS, *arguments, input="the\nof unseenword\n\n  and\r\n\udce9\n")
    names, numbers = rows(done.stdout)
    assert names == ["the", "of", "unseenword", "and", "\udce9"], done.stderr
    np.testing.assert_allclose(numbers, load_model(WORDS).word_vectors(names), atol=6e-7)


def test_answers_come_before_the_pipe_ends():
    """Another program may ask, wait for the answer and ask again."""
    call = [sys.executable, "-m", "wv_cli", "vectors", GOLDEN / "fasttext.vec"]
    with Process(call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for word, answer in (("the", "the"), ("zzzqqq", "\n"), ("of", "of")):
            process.stdin.write(f"{word}\n")
            process.stdin.flush()
            assert process.stdout.readline().split(" ")[0] == answer
        process.stdin.close()
        assert process.wait(timeout=PATIENCE) == 1


def test_ngrams_of_a_word(wv):
    done = wv("vectors", WORDS, "--ngrams", "the")
    names, numbers = rows(done.stdout)
    assert names == ["the", "<th", "<the", "<the>", "the", "the>", "he>"]
    np.testing.assert_allclose(numbers.mean(axis=0), load_model(WORDS).word_vector("the"), atol=6e-7)
    assert rows(wv("vectors", WORDS, "--ngrams", "zzz").stdout)[0][0] == "<zz"


@pytest.mark.parametrize("model", [WORDS, LABELS, QUANTIZED])
def test_sentences(wv, model):
    """fastText's own answers, in the order asked."""
    lines, expected = [], []
    golden = GOLDEN / f"{model.name.removesuffix('.bin')}.sentence-vectors.txt"
    for line in golden.read_text(encoding="utf-8").splitlines():
        text, _, numbers = line.partition("\t")
        lines.append(text)
        expected.append([float(x) for x in numbers.split()])
    done = wv("vectors", model, "--sentences", input="".join(f"{line}\n" for line in lines))
    np.testing.assert_allclose(rows(done.stdout, names=False)[1], expected, atol=1e-6)


def test_sentences_of_plain_vectors(wv):
    """The mean of the words that are there, as --pooling mean has it; zeros and a note for a line without one."""
    vectors = load(GOLDEN / "fasttext.vec")
    the, of = (vectors.matrix[vectors.words.find(word)].astype(float) for word in ("the", "of"))
    done = wv("vectors", GOLDEN / "fasttext.vec", "--sentences", "the zzzqqq of", "zzzqqq")
    numbers = rows(done.stdout, names=False)[1]
    expected = (the + of) / 2
    np.testing.assert_allclose(numbers, [expected, 0 * expected], atol=1e-6)
    assert done.stderr == "1 of 2 lines have no word with a vector; theirs are zero\n"
    for pooling in ("mean", "own"):
        same = wv("vectors", GOLDEN / "fasttext.vec", "--sentences", "--pooling", pooling, "the zzzqqq of", "zzzqqq")
        assert (same.stdout, same.stderr) == (done.stdout, done.stderr)
    assert not wv("vectors", GOLDEN / "fasttext.vec", "--sentences", "zzzqqq", "-q").stderr


def test_the_name_of_a_file_is_a_text(wv, tmp_path):
    """And may have been meant for its lines."""
    (tmp_path / "two.txt").write_text("the\nof\n")
    done = wv("vectors", WORDS, "--sentences", "two.txt", "three.txt", "x" * 5000)
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr == (
        "two.txt is taken for a text, and is the name of a file; to read its lines, give them with < two.txt\n"
    )
    assert not wv("vectors", WORDS, "--sentences", "two.txt", "-q").stderr
    assert "taken for" not in wv("vectors", WORDS, "two.txt").stderr


def test_words_without_a_vector(wv):
    file = GOLDEN / "fasttext.vec"
    done = wv("vectors", file, "the", "zzzqqq", "of")
    assert done.returncode == 1 and done.stderr == f"wv vectors: 'zzzqqq' has no vector in {file}\n"
    assert [line.partition(" ")[0] for line in done.stdout.split("\n")] == ["the", "", "of", ""]
    done = wv("vectors", file, "--oov", "error", input="the\n\nof zzzqqq in\n")
    assert done.returncode == 1 and [line.partition(" ")[0] for line in done.stdout.splitlines()] == ["the", "of"]
    assert done.stderr == f"wv vectors: standard input:3: 'zzzqqq' has no vector in {file}\n"
    lines = wv("vectors", file, "the", "zzzqqq", "--json").stdout.splitlines()
    assert json.loads(lines[1]) == {"word": "zzzqqq", "vector": None}
    names, numbers = rows(wv("vectors", file, "the", "zzzqqq", "of", "--oov", "zero").stdout)
    assert names == ["the", "zzzqqq", "of"] and not numbers[1].any() and numbers[2].any()
    assert rows(wv("vectors", file, "the", "zzzqqq", "of", "--oov", "skip").stdout)[0] == ["the", "of"]
    done = wv("vectors", file, "zzzqqq", "--oov", "skip")
    assert (done.returncode, done.stdout) == (0, "") and "'zzzqqq' has no vector" in done.stderr


def test_words_with_blanks(wv):
    names = wv("vectors", GOLDEN / "gensim-spaces.vec", "--json", "new york", "the").stdout.splitlines()
    assert [json.loads(line)["word"] for line in names] == ["new york", "the"]


def test_json(wv):
    done = wv("vectors", WORDS, "the", "\udce9", "--json")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["word"] == "the" and len(first["vector"]) == 50 and second["word"] == "\ufffd"
    line = json.loads(wv("vectors", LABELS, "--sentences", "--json", "a cake").stdout)
    assert line["sentence"] == "a cake" and len(line["vector"]) == 10


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((GOLDEN / "fasttext.vec", "--ngrams", "the"), 2, "--ngrams needs a fastText model"),
        ((WORDS, "the", "--ngrams", "the"), 2, "--ngrams and WORD cannot be used together"),
        ((WORDS, "--sentences", "--ngrams", "the"), 2, "--ngrams and --sentences cannot"),
        (("-",), 2, "standard input"),
        ((GOLDEN / "broken" / "floret.bin", "the"), 1, "this is a floret model"),
        ((GOLDEN / "broken" / "truncated.vec", "the"), 1, "truncated.vec"),
    ],
)
def test_misuse(wv, arguments, code, message):
    done = wv("vectors", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr and "Traceback" not in done.stderr


def test_numbers_that_are_not_finite(wv, tmp_path):
    data = bytearray(WORDS.read_bytes())
    the = load_model(WORDS).input.take(np.array([0]))[0].tobytes()
    place = data.index(the)
    data[place : place + 4] = b"\0\0\xc0\x7f"
    (tmp_path / "x.bin").write_bytes(data)
    done = wv("vectors", tmp_path / "x.bin", "of", "the")
    assert done.returncode == 1 and "found nan in the vector of 'the'" in done.stderr and done.stdout == ""
    assert wv("check", tmp_path / "x.bin").returncode == 1


def test_dump(wv):
    assert wv("dump", LABELS, "args").stdout.splitlines() == [
        "dim 10", "ws 5", "epoch 10", "minCount 5", "neg 5", "wordNgrams 2", "loss softmax", "model sup",
        "bucket 3000", "minn 2", "maxn 3", "lrUpdateRate 100", "t 0.0001",
    ]  # fmt: skip
    model, lines = load_model(LABELS), wv("dump", LABELS, "dict").stdout.splitlines()
    assert len(lines) == 1 + 1325 + 168 and lines[0] == "1493"
    assert lines[1] == f"{model.words[0]} {model.counts[0]} word"
    assert lines[-1] == f"{model.labels[167]} {model.label_counts[167]} label"
    for what, matrix in (("input", model.input), ("output", model.output)):
        first, *numbers = wv("dump", LABELS, what).stdout.splitlines()
        assert first == "{} {}".format(*matrix.shape)
        values = np.array([line.split(" ") for line in numbers], float)
        np.testing.assert_allclose(values, matrix.values, rtol=1e-5)
    quantized = wv("dump", QUANTIZED, "input").stdout.splitlines()
    assert quantized[0] == "1000 10"
    done = wv("dump", GOLDEN / "fasttext.vec", "args")
    assert done.returncode == 1 and "expected a fastText model, found word2vec-text vectors" in done.stderr


def test_convert_to_vectors(wv, tmp_path):
    for model in (WORDS, QUANTIZED):
        assert wv("convert", model, "x.vec", "--precision", "exact").returncode == 0
        expected, found = load(model), load(tmp_path / "x.vec")
        assert found.words == expected.words and np.array_equal(found.matrix, expected.matrix)
    assert wv("convert", WORDS, "-", "--limit", 2).stdout.startswith("2 50\nthe ")


def test_convert_to_a_model(wv, tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(WORDS.read_bytes()))
    assert wv("convert", "x.gz", "x.bin", "--to", "fasttext-bin").returncode == 0
    assert (tmp_path / "x.bin").read_bytes() == WORDS.read_bytes()
    for source, extra, message in [
        (QUANTIZED, (), "a pruned model has no dense form"),
        (GOLDEN / "fasttext.vec", (), "expected a fastText model, found vectors alone"),
        (WORDS, ("--limit", 3), "--limit and --to fasttext-bin"),
    ]:
        done = wv("convert", source, "x.bin", "--to", "fasttext-bin", *extra)
        assert done.returncode in (1, 2) and message in done.stderr
    assert "wv quantize" in wv("convert", WORDS, "x.ftz").stderr
    assert (tmp_path / "x.bin").read_bytes() == WORDS.read_bytes()


def test_check(wv):
    for model, text in ((WORDS, "225 rows of 50"), (LABELS, "1325 rows of 10"), (QUANTIZED, "84 rows of 10")):
        done = wv("check", model)
        assert done.returncode == 0 and f"fasttext-bin, {text} numbers: no damage found" in done.stdout


def test_neighbors_of_a_word_that_is_not_listed(wv):
    model, vectors = load_model(WORDS), load(WORDS).matrix.astype(float)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    made = model.word_vector("anarchists") / np.linalg.norm(model.word_vector("anarchists"))
    of = unit[model.words.find("of")]
    done = wv("nn", WORDS, "anarchists", "anarchists of", "-k", 4)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    for query, vector, left_out in (("anarchists", made, []), ("anarchists of", made + of, ["of"])):
        scores = unit @ (vector / np.linalg.norm(vector))
        best = [i for i in np.argsort(-scores) if model.words[int(i)] not in left_out][:4]
        found = [line[1:] for line in lines if line[0] == query]
        assert [word for word, _ in found] == [model.words[int(i)] for i in best]
        np.testing.assert_allclose([float(score) for _, score in found], scores[best], atol=1e-5)
    assert "is not in" in wv("nn", GOLDEN / "fasttext.vec", "anarchistsss").stderr


def test_analogies_with_words_that_are_not_listed(wv):
    model, vectors = load_model(WORDS), load(WORDS).matrix.astype(float)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def one(word):
        vector = model.word_vector(word).astype(float)
        return vector / np.linalg.norm(vector)

    target = one("unseenly") - one("unseen") + one("the")
    scores = unit @ target / np.linalg.norm(target)
    scores[model.words.find("the")] = -1
    word, score = wv("analogy", WORDS, "unseen", "unseenly", "the", "-k", 1).stdout.split("\t")
    assert word == model.words[int(scores.argmax())] and abs(float(score) - scores.max()) < 1e-5


def test_scores_with_words_that_are_not_listed(wv, tmp_path):
    (tmp_path / "pairs.tsv").write_text("the\tof\t3\nof\tunseenword\t2\nunseenword\tunseenly\t9\nand\tzzz\t1\n")
    done = wv("eval", "similarity", WORDS, "-d", "pairs.tsv", "--json")
    report = json.loads(done.stdout)
    assert report["results"][0]["used"] == 4
    assert "3 words that are not listed were composed of subwords" in done.stderr
    done = wv("eval", "similarity", WORDS, "-d", "pairs.tsv", "--json", "--no-subwords", "--oov", "zero")
    assert '"covered": 1' in done.stdout and "composed" not in done.stderr
    (tmp_path / "questions").write_text(": all\nthe unseenword of and\nthe of and unseenword\nthe of and in\n")
    done = wv("eval", "analogy", WORDS, "-d", "questions", "--tsv")
    # The answer must be a word that is listed.
    header, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert dict(zip(header, lines[-1], strict=True))["answered"] == "2"


PEAK = """
import sys
from wv_cli.__main__ import main
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) >> 10
try:
    main()
finally:
    print(peak(), file=sys.stderr)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell the largest memory")
@pytest.mark.full
@pytest.mark.parametrize("options", [[], ["--sentences"]])
def test_a_long_line_does_not_fill_the_memory(tmp_path, options):
    """Its words are taken one by one: beside the text, some copies of it at most."""
    path = tmp_path / "x.vec"
    path.write_text("2 2\na 1 2\nb 3 4\n")

    def peak(words):
        command = [sys.executable, "-P", "-c", PEAK, "vectors", str(path), *options]
        done = subprocess.run(command, input=b"a b " * words + b"\n", capture_output=True, check=True, timeout=PATIENCE)
        return int(done.stderr.split()[-1])

    megabytes = 8
    assert peak(megabytes << 18) - peak(1) < 5 * megabytes


@pytest.mark.parametrize("more", [[], ["--pooling", "mean"], ["--json"]])
def test_lines_without_a_known_word_are_noted(wv, tmp_path, more):
    (tmp_path / "v.vec").write_text("2 2\ncat 1 0\ndog .9 .1\n")
    done = wv("vectors", "v.vec", "--sentences", *more, input="cat\nx\n\n")
    assert (done.returncode, done.stdout.count("\n")) == (0, 3)
    assert done.stderr == "2 of 3 lines have no word with a vector; theirs are zero\n"
    assert wv("vectors", "v.vec", "--sentences", "-q", *more, input="x\n").stderr == ""


def test_words_without_a_vector_are_noted(wv, tmp_path):
    (tmp_path / "v.vec").write_text("2 2\ncat 1 0\ndog .9 .1\n")
    assert (
        wv("vectors", "v.vec", "--oov", "zero", input="cat\nx\n").stderr
        == "1 of 2 words have no vector; theirs are zero\n"
    )
    assert wv("vectors", "v.vec", "--oov", "skip", "-q", input="cat\nx\n").stderr == ""
