"""ARPA files as other toolkits write them, and those that are refused, with the line."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from tests.lm.golden import FOLDER, entries
from wv_cli.errors import BadFile, FormatWarning
from wv_cli.lm.files import load, save
from wv_cli.lm.scoring import Scorer
from wv_cli.words import WordList

GOOD = (FOLDER / "micro.o3.arpa").read_text()


def read(tmp_path, text):
    path = tmp_path / "model.arpa"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\t", " "),
        lambda text: text.replace(" ", "\t").replace("ngram\t", "ngram "),
        lambda text: text.replace("ngram 1=", "ngram 1=\t"),
        lambda text: "\n# made by hand\n\n" + text,
        lambda text: text.replace("\n\n\\1-grams", "\n\\1-grams").replace("\\2-grams", "\n\n\\2-grams"),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\t0\n", "\n"),
        lambda text: text.replace("-0.745151\t", "-7.45151e-1\t"),
    ],
    ids=["CRLF", "spaces", "tabs", "irstlm", "comments", "blank lines", "no newline", "no back-offs of 0", "exponent"],
)
def test_other_ways_to_write_it(tmp_path, change):
    assert entries(read(tmp_path, change(GOOD))) == entries(load(FOLDER / "micro.o3.arpa"))


def test_order_in_a_section_does_not_matter(tmp_path):
    sections = GOOD.split("\n\n")
    for i in (1, 2, 3):
        title, *lines = sections[i].split("\n")
        sections[i] = "\n".join([title, *reversed(lines)])
    assert entries(read(tmp_path, "\n\n".join(sections))) == entries(load(FOLDER / "micro.o3.arpa"))


def test_words_need_not_be_utf8(tmp_path):
    text = GOOD.replace("\te\t", "\t\udcff\t").replace("e f", "\udcff f").replace("<s> e", "<s> \udcff")
    assert "\udcff" in read(tmp_path, text).trie.words


@pytest.mark.parametrize("line", ["-1.2439915\t<unk>\t0\n", "0\t<s>\t-0.26607707\n"])
def test_marks_that_are_missing_get_probability_0(tmp_path, line):
    text = GOOD.replace(line, "").replace("ngram 1=9", "ngram 1=8")
    mark = line.split("\t")[1]
    with pytest.warns(FormatWarning, match=f"no 1-gram {mark}: probability 0"):
        model = read(tmp_path, text)
    assert model.prob[model.trie.words.find(mark)] == -100


def test_infinity_is_the_logarithm_of_0(tmp_path):
    with pytest.warns(FormatWarning, match="2 numbers are -inf"):
        model = read(tmp_path, GOOD.replace("0\t<s>\t-0.26607707", "-inf\t<s>\t-inf"))
    assert model.prob[1] == model.backoff[1] == -100


def test_an_order_without_ngrams(tmp_path):
    text = GOOD[: GOOD.index("\\3-grams")].replace("ngram 3=21", "ngram 3=0") + "\\3-grams:\n\n\\end\\\n"
    model = read(tmp_path, text)
    assert model.trie.sizes == [9, 19, 0]
    whole = load(FOLDER / "micro.o3.arpa")
    ids = np.array([3, 4, 5, -1], np.int32)
    scores = model.scorer.score(ids, model.scorer.begin())[0]
    assert np.isfinite(scores).all() and scores[0] == whole.scorer.score(ids, whole.scorer.begin())[0][0]


def test_suffixes_that_are_missing(tmp_path):
    """SRILM's entropy pruning drops `c d` and keeps `b c d`: what follows `b c d` is then asked after `d`."""
    text = GOOD.replace("ngram 2=19", "ngram 2=18").replace("ngram 3=21", "ngram 3=18")
    for line in ("-0.53778553\tc d\t-0.17609128\n", "-0.33825818\tc d </s>\n", "-0.49451753\tc d a\n"):
        assert line in text
        text = text.replace(line, "")
    text = text.replace("-0.2785315\t<s> c d\n", "")
    model = read(tmp_path, text)
    ids = np.array([model.words.find(word) for word in "bcda"], np.int32)
    scores, lengths, _ = model.scorer.score(ids, model.scorer.begin(False))
    d_a = entries(model)["d a"][0]
    assert (lengths[-1], scores[-1]) == (2, pytest.approx(d_a))


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("ngram 2=19", "ngram 2=20", 37, "promises 20 2-grams, but the section ends after 19"),
        ("ngram 2=19", "ngram 2=18", 36, "promises 18 2-grams, and here is one more"),
        ("ngram 3=21", "ngram 3=99999999999999", 60, "promises 99,999,999,999,999 3-grams, but the section"),
        ("ngram 1=9\n", "", 2, r"expected `ngram 1=COUNT`, found 'ngram 2=19'"),
        ("ngram 3=21\n", "", 23, "expected a logarithm, 2 words, found"),
        ("\\2-grams:\n", "", 17, "expected .2-grams:, the section"),
        ("\\end\\\n", "", 61, "found the end of the file"),
        ("-0.6574234\ta a", "0.6574234\ta a", 25, "expected a logarithm of a probability, 0 or less"),
        ("-0.6574234\ta a", "nan\ta a", 25, "expected a logarithm of 99 or less"),
        ("-0.6574234\ta a", "x\ta a", 25, "expected a logarithm of 99 or less"),
        ("-0.17609128\n-0.66081625", "1e9\n-0.66081625", 25, "expected a logarithm of 99"),
        ("\ta a\t", "\ta\t", 25, "not among the 1-grams"),
        ("\ta a </s>", "\ta a </s>\t-1", 39, "expected a logarithm, 3 words, found"),
        ("\ta a\t", "\ta xyzzy\t", 25, "one of its words is not among the 1-grams"),
        ("\tb\t", "\ta\t", 11, "the word was listed before"),
        ("\tb a\t", "\ta a\t", 26, r"was listed in line 25"),
        ("\te f\t", "\tf e\t", 45, "the n-gram of all words but its last is not listed"),
    ],
)
def test_what_is_refused(tmp_path, old, new, line, message):
    assert old in GOOD
    changed = GOOD.replace(old, new, 1)
    with warnings.catch_warnings(), pytest.raises(BadFile, match=message) as caught:
        warnings.simplefilter("error")
        read(tmp_path, changed)
    assert caught.value.line == line


@pytest.mark.parametrize("text", ["\\data\\\n", "\\data\\\nngram 1=3\n", "\\data\\\nngram 1=0\n\n\\1-grams:\n"])
def test_files_that_end_too_early(tmp_path, text):
    with pytest.raises(BadFile, match="found the end of the file"):
        read(tmp_path, text)


def test_too_long_ngrams(tmp_path):
    header = "".join(f"ngram {n}=1\n" for n in range(1, 12))
    with pytest.raises(BadFile, match=r":12: expected n-grams of up to 10 words"):
        read(tmp_path, f"\\data\\\n{header}\n")


SRILM = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-1.2	<UNK>	-0.3
-99	<s>	-0.4
-0.9	</s>
-0.7	the	-0.2
-0.8	cat	-0.1

\\2-grams:
-0.3	<s> the
-0.4	the cat
-0.2	cat </s>

\\end\\
"""
# What the package kenlm 0.3.0 gives for each word and the end of a text.
KENLM = {
    "the cat": [-0.3, -0.4, -0.2],
    "zzz the cat": [-1.6, -1.0, -0.4, -0.2],
    "<UNK> cat": [-1.6, -1.1, -0.2],
    "cat <unk> the": [-1.2, -1.3, -1.0, -1.1],
    "the <s> cat": [-0.3, -99.2, -1.2, -0.2],
    "the </s> cat": [-0.3, -1.1, -0.8, -0.2],
    "<s> the cat </s>": [-99.4, -0.3, -0.4, -0.2, -0.9],
}
WITHOUT = {"zzz the cat": [-100.4, -0.7, -0.4, -0.2], "cat <unk> the": [-1.2, -100.1, -0.7, -1.1]}
UNK_LAST = SRILM.replace("ngram 1=5", "ngram 1=6").replace("-1.2\t<UNK>", "-2.5\t<unk>\t-0.1\n-1.2\t<UNK>")
UNK_FIRST = SRILM.replace("ngram 1=5", "ngram 1=6").replace("-99\t<s>", "-2.5\t<unk>\t-0.1\n-99\t<s>")


def scores(tmp_path, text, texts, ending):
    (tmp_path / "m.arpa").write_text(text)
    model = load(tmp_path / "m.arpa")
    if ending == ".lm":
        save(str(tmp_path / "m.lm"), model)
        model = load(tmp_path / "m.lm")
    (found,) = [part for part in Scorer(model).read(["".join(f"{each}\n" for each in texts).encode()]) if len(part.ids)]
    return [found.scores[sentence].tolist() for sentence in found.sentences()]


@pytest.mark.filterwarnings("ignore:.*no 1-gram <unk>")
@pytest.mark.parametrize("ending", [".arpa", ".lm"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (SRILM, KENLM),
        (SRILM.replace("<UNK>", "<unk>"), KENLM),
        (SRILM.replace("the cat\n", "the cat\t0\n").replace("cat </s>\n", "cat </s>\t-0.0\n"), KENLM),
        (SRILM.replace("-1.2\t<UNK>\t-0.3\n", "").replace("ngram 1=5", "ngram 1=4"), {**KENLM, **WITHOUT}),
        (UNK_LAST, KENLM),
        (UNK_FIRST, {"zzz the cat": [-2.9, -0.8, -0.4, -0.2], "the cat": KENLM["the cat"]}),
        (
            SRILM.replace("ngram 2=3", "ngram 2=4").replace("\n\n\\end", "\n-0.05\t<UNK> cat\n\n\\end"),
            {"zzz cat": [-1.6, -0.05, -0.2]},
        ),
    ],
    ids=["upper", "lower", "back-off of 0", "without", "both, upper last", "both, lower last", "as a context"],
)
def test_scores_are_kenlms(tmp_path, text, wanted, ending):
    wanted = {each: row for each, row in wanted.items() if each != "<UNK> cat" or "unk" in text.lower()}
    for found, row in zip(scores(tmp_path, text, wanted, ending), wanted.values(), strict=True):
        assert found == pytest.approx(row, abs=1e-5)


@pytest.mark.parametrize("first", ["iARPA", "\n\niARPA\r", "qARPA 2 256 256"])
def test_irstlms_other_files_are_refused_by_name(tmp_path, first):
    with pytest.raises(
        BadFile, match=r"expected an ARPA file, found IRSTLM's .ARPA; make an ARPA of it: compile-lm --t"
    ):
        read(tmp_path, f"{first}\n{SRILM}")


@pytest.mark.parametrize("head", [b"blmt 3 10 20 30\n\0\1\2", b"Qblmt 3 10\n\0", b"QblmtI 3 10\n\0"])
def test_irstlms_binaries_are_refused_by_name(tmp_path, head):
    (tmp_path / "m.blm").write_bytes(head)
    with pytest.raises(BadFile, match="found a binary of IRSTLM; make an ARPA of it: compile-lm --text=yes"):
        load(tmp_path / "m.blm")


def test_a_backoff_behind_the_longest_ngrams_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"expected a logarithm, 2 words, found '-0.4\\tthe cat\\t-0.5'"):
        read(tmp_path, SRILM.replace("the cat\n", "the cat\t-0.5\n"))


def test_a_word_that_is_read_back_as_unknown_is_told(tmp_path):
    model = read(tmp_path, SRILM.replace("\tcat", "\t<Unk>").replace(" cat", " <Unk>").replace("cat ", "<Unk> "))
    model = replace(
        model, trie=replace(model.trie, words=WordList.from_words(["<unk>", "<s>", "</s>", "the", "<UNK>"]))
    )
    with pytest.warns(FormatWarning, match="the word <UNK> will be read as <unk>, by KenLM, too"):
        save(str(tmp_path / "again.arpa"), model)
