"""`wv lm`: training, asking, converting, and what it refuses."""

import gzip
import json
import subprocess
import sys

import pytest

from tests.lm.golden import SENTENCES, TINY, answers
from tests.processes import Process
from wv_cli.io.meta import tokenization


@pytest.fixture
def model(wv, tmp_path):
    done = wv("lm", "train", TINY, "-o", "tiny.lm", "--order", 5, "-q")
    assert done.returncode == 0 and done.stdout == done.stderr == ""
    return tmp_path / "tiny.lm"


def test_train_says_what_was_counted(wv, tmp_path):
    done = wv("lm", "train", TINY, "-o", "out.arpa", "--prune", "0,0,1", "--order", 3)
    assert done.returncode == 0
    assert "21,814 words in 300 sentences" in done.stderr
    assert "1-grams: 4,392; discounts 0.637717 1.12467 1.62528" in done.stderr
    assert "3-grams: 20,065, kept " in done.stderr
    assert (tmp_path / "out.arpa").read_text().startswith("\\data\\\nngram 1=4392\nngram 2=15540\nngram 3=")
    facts = json.loads(wv("lm", "train", TINY, "-o", "out.lm", "--json").stdout)
    sidecar = json.loads((tmp_path / "out.lm.meta.json").read_text())
    assert (
        sidecar["config"]["order"] == 3 and sidecar["tokens"] == 21814 and sidecar["argv"][:3] == ["wv", "lm", "train"]
    )
    assert facts["tokens"] == 21814 and facts["ngrams"] == facts["kept"] and len(facts["discounts"]) == 3


def test_text_comes_from_a_pipe_and_goes_to_one(wv):
    done = wv("lm", "train", "-", "--order", 2, "--smoothing", "witten-bell", "-q", input="the cat sat\nthe dog\n")
    assert done.returncode == 0
    assert "\tthe cat\n" in done.stdout and done.stdout.endswith("\\end\\\n")
    asked = wv("lm", "score", "-", SENTENCES, input=done.stdout)
    assert asked.returncode == 0 and len(asked.stdout.splitlines()) == 20


def test_score_prints_what_query_prints(wv, model):
    done = wv("lm", "score", model, SENTENCES, "--words")
    lines = done.stdout.splitlines()
    golden = answers("tiny.o5.sentences20.query.txt")
    assert len(lines) == len(golden) == 20
    for line, expected in zip(lines, golden, strict=True):
        *fields, total = line.split("\t")
        for field, answer in zip(fields, expected, strict=True):
            number, length, score = field.rpartition("=")[2].split()
            assert (number == "0", int(length)) == (answer.oov, answer.length)
            assert float(score) == pytest.approx(answer.score, abs=1e-6)
        assert float(total.split()[1]) == pytest.approx(sum(answer.score for answer in expected), rel=1e-6)
        assert int(total.split()[3]) == sum(answer.oov for answer in expected)
    assert [line.rpartition("\t")[2] for line in lines] == wv("lm", "score", model, SENTENCES).stdout.splitlines()


def test_score_as_json_and_from_a_pipe(wv, model):
    done = wv("lm", "score", model, "--json", "--words", input="the xyzzyq\n\n")
    first, second = map(json.loads, done.stdout.splitlines())
    assert [word["word"] for word in first["words"]] == ["the", "xyzzyq", "</s>"]
    assert first["oov"] == 1 and first["words"][1]["id"] == 0 and first["events"] == 3
    assert first["log10"] == pytest.approx(sum(word["log10"] for word in first["words"]))
    assert second["events"] == 1


def test_lines_are_answered_as_they_come(model):
    command = [sys.executable, "-m", "wv_cli", "lm", "score", str(model)]
    with Process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as asked:
        for line in (b"the\n", b"\n", b"of the\n"):
            asked.stdin.write(line)
            assert asked.stdout.readline().startswith(b"Total: -")
        asked.stdin.write(b"in")  # an unfinished line is one, too
        asked.stdin.close()
        assert asked.stdout.read().count(b"Total") == 1


def test_next_words(wv, model):
    done = wv("lm", "next", model, "one of", "-k", 3)
    words = [line.split("\t") for line in done.stdout.splitlines()]
    assert words[0][0] == "the" and len(words) == 3
    assert 1 > float(words[0][1]) > float(words[1][1]) > float(words[2][1])
    piped = wv("lm", "next", model, "-k", 3, input="one of\nin\n").stdout.splitlines()
    assert piped[:3] == [f"one of\t{line}" for line in done.stdout.splitlines()]
    facts = json.loads(wv("lm", "next", model, "one of", "--json").stdout)
    assert facts["start"] == "one of" and facts["next"][0]["word"] == "the" and len(facts["next"]) == 10
    assert wv("lm", "next", model, "<s> the").returncode == 2
    wv("lm", "train", "-", "-o", "one.lm", "--smoothing", "mle", input="a\n")
    assert wv("lm", "next", "one.lm", "a").stdout == "</s>\t1\n"


def test_samples(wv, model):
    first, again, other = (wv("lm", "sample", model, "-n", 5, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == again != other
    assert len(first.splitlines()) == 5 and "<" not in first
    begun = wv("lm", "sample", model, "-n", 4, "--start", "one of", "--max-words", 6).stdout.splitlines()
    assert all(line.startswith("one of") and len(line.split()) <= 6 for line in begun)


def test_convert_there_and_back(wv, model, tmp_path):
    for step in (
        ("tiny.lm", "a.arpa"),
        ("a.arpa", "b.arpa.gz"),
        ("b.arpa.gz", "c.lm"),
        ("c.lm", "d.txt", "--to", "arpa"),
    ):
        done = wv("lm", "convert", *step)
        assert done.returncode == 0, done.stderr
    arpa = (tmp_path / "a.arpa").read_bytes()
    assert (tmp_path / "d.txt").read_bytes() == arpa == gzip.decompress((tmp_path / "b.arpa.gz").read_bytes())
    assert wv("lm", "convert", "tiny.lm", "-").stdout.encode() == arpa


def test_who_writes_a_model_anew_is_told_of_its_words(wv, tmp_path):
    """The sidecar stays behind, or says what all models of a mixture say."""
    (tmp_path / "text").write_text("The cat sat, the dog sat.\nA dog and a cat.\n" * 5)
    for name, more in (("cut", ["--tokenize"]), ("low", ["--lowercase"]), ("raw", [])):
        train = ("lm", "train", "text", "-o", f"{name}.arpa", "--smoothing", "witten-bell", "-q")
        assert wv(*train, *more).returncode == 0
    for name, recipe in (("cut", "unicode,lowercase"), ("low", "blanks,form=none,lowercase")):
        told = f"{name}.arpa: trained with --tokenize {recipe}; the output does not say so: give it with each text\n"
        assert wv("lm", "convert", f"{name}.arpa", "out.lm").stderr.endswith(told)
        assert wv("lm", "mix", f"{name}.arpa", "raw.arpa", "-o", "out.lm").stderr.count(told) == 1
        mix = ("lm", "mix", f"{name}.arpa", f"{name}.arpa", "-o", "out.lm")
        assert told not in wv(*mix).stderr and tokenization(tmp_path / "out.lm") == recipe
        assert wv(*mix, "--no-meta").stderr.count(told) == 2
    assert "trained with" not in wv("lm", "convert", "raw.arpa", "out.lm").stderr
    # How the held-out text is cut says nothing of the words of the models.
    mix = wv("lm", "mix", "cut.arpa", "low.arpa", "-o", "out.lm", "--fit", "text", "--tokenize", "unicode")
    assert mix.returncode == 0, mix.stderr
    assert mix.stderr.count("the output does not say so") == 2 and tokenization(tmp_path / "out.lm") is None


def test_quantized_in_training_and_in_converting(wv, model, tmp_path):
    assert wv("lm", "train", TINY, "-o", "small.lm", "--order", 5, "--quantize", 6, "-q").returncode == 0
    assert wv("lm", "convert", "tiny.lm", "again.lm", "--quantize", 6).returncode == 0
    small, again, whole = ((tmp_path / name).read_bytes() for name in ("small.lm", "again.lm", "tiny.lm"))
    assert small == again and len(small) < 0.6 * len(whole)
    assert wv("lm", "convert", "small.lm", "out.arpa", "--quantize", 6).returncode == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("train {text} -o out.txt", "names no format to write"),
        ("train {text} -o out.lm --to nothing", "unknown model format"),
        ("train {text} -o out.arpa --quantize 8", "--quantize makes binary files smaller"),
        ("train {text} -o out.lm --quantize 17", "--quantize"),
        ("train {text} -o out.lm --counts-only --quantize 8", "--counts-only"),
        ("train {text} -o {text} --to arpa", "is also an input"),
        ("train {text} -o out.lm --smoothing mle --discount-fallback", "--discount-fallback has no effect"),
        ("train {text} -o out.lm --prune 2,1", "let them rise"),
        ("train {text} -o out.lm --order 11", "--order must be between 1 and 10"),
        ("train {text} -o out.lm --limit-vocab {empty}", "expected words divided by spaces"),
        ("train {empty} -o out.lm", "no text"),
        ("score {text} {text}", "expected a language model (arpa, binary, kenlm, neural), found"),
        ("score - -", "standard input"),
    ],
)
def test_what_is_refused(wv, tmp_path, call, message):
    (tmp_path / "text.txt").write_text("the cat sat\non the mat\n")
    (tmp_path / "empty.txt").write_text("\n")
    done = wv("lm", *call.format(text="text.txt", empty="empty.txt").split())
    assert done.returncode in (1, 2)
    assert message in done.stderr and "Traceback" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "empty.txt"}


@pytest.mark.parametrize(("order", "told"), [(1, True), (2, False), (6, False), (7, True)])
def test_orders_that_kenlms_package_does_not_read_are_told(wv, tmp_path, order, told):
    (tmp_path / "t.txt").write_text("a b c a b\nb c a\nc b a d\n" * 3)
    done = wv("lm", "train", "t.txt", "-o", "m.arpa", "--order", order, "--smoothing", "witten-bell")
    assert done.returncode == 0, done.stderr
    note = f"note: the kenlm package of PyPI reads models of order 2 to 6, not of {order}\n"
    assert (note in done.stderr) == told


@pytest.mark.parametrize("ending", [".arpa", ".lm"])
def test_sentence_marks_in_texts_end_nothing(wv, tmp_path, ending):
    (tmp_path / "t.txt").write_text("a b c a b\nb c a\nc b a d\n" * 3)
    assert wv("lm", "train", "t.txt", "-o", f"m{ending}", "--order", 2, "--smoothing", "witten-bell").returncode == 0
    (tmp_path / "r.jsonl").write_text('{"text": "a b"}\n{"text": "a <s> b </s> a"}\n{"text": "b"}\n')
    done = wv("lm", "score", f"m{ending}", "r.jsonl", "--add", "lp")
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 3 and "null" not in done.stdout
    assert wv("eval", "perplexity", f"m{ending}", "-d", "r.jsonl").returncode == 0
