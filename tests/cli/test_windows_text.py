"""Every reader of text gives the same answer for a file that an editor of Windows saved: a byte order mark before the
first line, carriage returns before the line ends."""

import gzip

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.io.marks import MARK, has_mark, split_lines, without_mark
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save
from wv_cli.words import WordList

VECTORS = "5 2\ncat 1 0\ndog .9 .1\nsun 0 1\nmoon .2 1\nthe .5 .5\n"
GLOVE = VECTORS.split("\n", 1)[1]
ARPA = (
    "\\data\\\nngram 1=5\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\n-99\t<s>\t-.3\n-1\t</s>\n-.5\tcat\t-.2\n-.6\tdog\t-.2\n\n"
    "\\2-grams:\n-.2\t<s> cat\n-.3\tcat dog\n\n\\end\\\n"
)
TEXT = "cat dog sun moon\nthe cat the dog\nsun the moon cat\n" * 3
LABELED = "".join(f"__label__{'xy'[i % 2]} {'cat dog' if i % 2 else 'sun moon'}\n" for i in range(8))
COUNTS = "cat 5\ndog 4\nsun 3\nmoon 2\nthe 1\n"
PHRASES = "cat_dog\t5\t1\tcat dog\n"
PAIRS = "cat dog 9\nsun moon 8\ncat sun 1\ndog moon 2\nthe cat 4\n"
STS = (
    "genre\tfile\tyear\t1\t5\tcat dog\tdog\ngenre\tfile\tyear\t2\t0\tsun the\tcat\ngenre\tfile\tyear\t3\t4\tmoon\tsun\n"
)
ANALOGIES = ": one\ncat dog sun moon\ndog cat moon sun\n"
DICTIONARY = "cat cat\ndog dog\nsun sun\nmoon moon\n"
TSV = "cat\tdog\nsun\tmoon\n"
QUICK = ["--dim", 4, "--min-count", 1, "--threads", 1, "-q", "--no-meta"]
TRAIN = ["train", "t", *QUICK, "--epochs", 1, "-o", "out.vec"]
# What is read, and how: a command line, in which `f` is the file; without one standard input.
READERS = {
    "word2vec-text": (VECTORS, ["convert", "f", "out.npy"]),
    "word2vec-text on standard input": (VECTORS, ["convert", "-", "out.npy"]),
    "glove-text": (GLOVE, ["convert", "f", "out.npy"]),
    "words beside .npy": ("\n".join("abcde") + "\n", ["nn", "m.npy", "a"]),
    "check": (GLOVE, ["check", "f"]),
    "codes-text": ((GOLDEN / "sign.codes.txt").read_text(), ["nn", "f", "in", "-k", 2]),
    "nn": ("cat\nthe\n", ["nn", "v.vec", "-k", 2]),
    "nn without a line end": ("cat\nthe", ["nn", "v.vec", "-k", 2]),
    "similarity": ("cat dog\nsun the\n", ["similarity", "v.vec"]),
    "odd-one-out": ("cat dog sun\n", ["odd-one-out", "v.vec"]),
    "analogy": ("cat dog sun\n", ["analogy", "v.vec"]),
    "vectors": ("cat\nthe\n", ["vectors", "v.vec"]),
    "vectors --sentences": ("cat dog\nthe\n", ["vectors", "--sentences", "v.vec"]),
    "vectors --pooling": ("cat dog\nthe\n", ["vectors", "--sentences", "--pooling", "mean", "v.vec"]),
    "vectors --counts": (
        COUNTS, ["vectors", "--sentences", "--pooling", "sif", "--counts", "f", "v.vec", "cat dog", "sun"]
    ),
    "texts-distance": (TSV, ["texts-distance", "v.vec"]),
    "texts-distance --among": (TEXT, ["texts-distance", "v.vec", "cat", "--among", "f"]),
    "texts-distance --stop-list": (
        "the\nsun\n", ["texts-distance", "v.vec", "the cat", "dog sun", "--stop-words", "drop", "--stop-list", "f"]
    ),
    "ARPA": (ARPA, ["lm", "convert", "f", "out.lm"]),
    "lm score": ("cat dog\ndog\n", ["lm", "score", "m.arpa", "f"]),
    "lm score on standard input": ("cat dog\ndog\n", ["lm", "score", "m.arpa", "--words"]),
    "lm next": ("cat\n", ["lm", "next", "m.arpa", "-k", 2]),
    "lm train": (TEXT, ["lm", "train", "f", "-o", "out.arpa", "--order", 2, "-q", "--discount-fallback"]),
    "lm train --limit-vocab": (
        "cat dog\nsun\n",
        ["lm", "train", "t", "-o", "out.arpa", "--order", 2, "-q", "--discount-fallback", "--limit-vocab", "f"],
    ),
    "build-vocab": (TEXT, ["build-vocab", "f", "--min-count", 1]),
    "train": (TEXT, ["train", "f", *TRAIN[2:]]),
    "train --vocab": (COUNTS, [*TRAIN, "--vocab", "f"]),
    "train --init": ("2 4\ncat 1 0 1 0\nthe 1 1 0 1\n", [*TRAIN, "--init", "f"]),
    "train --phrases": (PHRASES, [*TRAIN, "--phrases", "f"]),
    "train --model supervised": (LABELED, ["train", "f", "--model", "supervised", *QUICK, "-o", "out.bin"]),
    "phrases": (TEXT, ["phrases", "f", "--min-count", 1, "--threshold", 0.1, "-q"]),
    "phrases --apply": (PHRASES, ["phrases", "t", "--apply", "f", "-q"]),
    "glove": (TEXT, ["glove", "f", *QUICK, "--iterations", 1, "-o", "out.vec"]),
    "glove --vocab": (COUNTS, ["glove", "t", *QUICK, "--iterations", 1, "-o", "out.vec", "--vocab", "f"]),
    "predict": ("cat dog\nsun\n", ["predict", GOLDEN / "ft-labels.bin", "f", "--prob"]),
    "eval labels": ("__label__baking a\n__label__x a\n", ["eval", "labels", GOLDEN / "ft-labels.bin", "-d", "f"]),
    "eval similarity": (PAIRS, ["eval", "similarity", "v.vec", "-d", "f"]),
    "eval analogy": (ANALOGIES, ["eval", "analogy", "v.vec", "-d", "f"]),
    "eval sts": (STS, ["eval", "sts", "v.vec", "-d", "f"]),
    "eval sts --stop-list": (
        "the\nsun\n", ["eval", "sts", "v.vec", "-d", "sts.tsv", "--stop-words", "drop", "--stop-list", "f"]
    ),
    "eval translation": (DICTIONARY, ["eval", "translation", "v.vec", "--target", "v.vec", "-d", "f"]),
    "eval perplexity": (TEXT, ["eval", "perplexity", "m.arpa", "-d", "f"]),
    "align --dictionary": (DICTIONARY, ["align", "v.vec", "v.vec", "-o", "out.vec", "--dictionary", "f", "-q"]),
    "whiten --counts": (COUNTS, ["whiten", "v.vec", "-o", "out.vec", "--counts", "f", "-q"]),
    "compat distance": ("cat\nEXIT\n", ["distance", "v.bin"]),
    "compat compute-accuracy": (ANALOGIES, ["compute-accuracy", "v.bin"]),
    "compat fasttext": ("cat\nEXIT\n", ["fasttext", "print-word-vectors", GOLDEN / "ft-labels.bin"]),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    rows = Embeddings(WordList.from_words("abcde"), np.eye(5, 3, dtype=np.float32) + 0.5)
    save(tmp_path / "m.npy", rows)
    (tmp_path / "v.vec").write_text(VECTORS)
    words = WordList.from_words(["cat", "dog", "sun", "moon", "the"])
    save(tmp_path / "v.bin", Embeddings(words, np.eye(5, 3, dtype=np.float32) + 0.5))
    for name, text in {"m.arpa": ARPA, "t": TEXT, "sts.tsv": STS}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def answers(run, folder, text, command):
    """What the command makes of the bytes `text`: its code, standard output and files."""
    named = any(word in ("f", "f.words.txt") for word in command)
    beside = "m.npy" in command
    if named:
        (folder / "f").write_bytes(text)
    if beside:
        (folder / "m.npy.words.txt").write_bytes(text)
    before = {*folder.iterdir()}
    feed = "" if named or beside else text.decode()
    done = run(*command, input=feed, cwd=folder)
    made = {path.name: path.read_bytes() for path in sorted({*folder.iterdir()} - before)}
    for name in made:
        (folder / name).unlink()
    made = {name: content for name, content in made.items() if not name.endswith(".meta.json")}
    return done.returncode, done.stdout, made, done.stderr


@pytest.mark.parametrize("reader", READERS)
def test_a_file_that_an_editor_of_windows_saved(reader, folder, wv):
    text, command = READERS[reader]
    plain = text.encode()
    ended = plain.replace(b"\n", b"\r\n") + b"\r" * (not plain.endswith(b"\n"))
    expected = answers(wv, folder, plain, command)
    assert expected[0] == 0, expected
    for saved in (MARK + plain, ended, MARK + ended):
        assert answers(wv, folder, saved, command)[:3] == expected[:3]


def test_words_that_were_written_with_a_mark_or_a_return_stay(tmp_path):
    from wv_cli.vectors.formats import load

    words = ["\ufeffa", "b\r", "\r"]
    save(tmp_path / "x.npy", Embeddings(WordList.from_words(words), np.eye(3, dtype=np.float32)))
    assert [*load(tmp_path / "x.npy").words] == words


def test_compressed_vectors_lose_their_mark_too(tmp_path):
    from wv_cli.vectors.formats import load

    (tmp_path / "x.gz").write_bytes(gzip.compress(MARK + GLOVE.encode()))
    assert load(tmp_path / "x.gz").words[0] == "cat"


def test_text_before_the_data_of_an_arpa_file_is_a_comment(wv, tmp_path):
    (tmp_path / "plain.arpa").write_text(ARPA)
    (tmp_path / "m.arpa").write_text("Made by hand\n\n" + ARPA)
    asked = [wv("lm", "score", name, input="cat dog\n").stdout for name in ("plain.arpa", "m.arpa")]
    assert asked[0] == asked[1] != ""


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_mark_in_pieces(size):
    for text in (MARK + b"ab\n", b"ab", b"", MARK, MARK[:2], MARK[:1] + b"a"):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        assert b"".join(without_mark(chunks)) == text.removeprefix(MARK)


def test_a_number_that_begins_like_a_mark():
    assert not has_mark(MARK + b"\0")
    assert b"".join(without_mark([MARK, b"\0\1"])) == MARK + b"\0\1"


def test_lines():
    assert split_lines(MARK + b"a\r\n\r\nb\rc\nd") == [b"a", b"", b"b\rc", b"d"]
    assert split_lines(b"") == []
