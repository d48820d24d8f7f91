"""Modified Kneser-Ney against KenLM's lmplz and query: n-grams, numbers, discounts, scores, perplexities."""

import math

import pytest

from tests.lm.golden import FOLDER, SENTENCES, TINY, VARIANTS, answers, entries, golden_entries, text_of, trained
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.lm.config import LmConfig
from wv_cli.lm.counts import count
from wv_cli.lm.files import load
from wv_cli.lm.scoring import Scorer
from wv_cli.lm.smoothing import adjusted_counts
from wv_cli.text.source import Source


@pytest.fixture(scope="module")
def tiny():
    return trained(TINY, LmConfig(order=5))


def scored(model, path, **options):
    """(OOV, length, score) of every event, a list for each sentence."""
    found = []
    for part in Scorer(model, **options).read(Source([str(path)])):
        for sentence in part.sentences():
            found.append(list(zip(part.oov[sentence], part.lengths[sentence], part.scores[sentence], strict=True)))
    return found


@pytest.mark.parametrize("name", list(VARIANTS))
def test_every_number_is_lmplzs(name):
    mine, golden = entries(trained(text_of(name), VARIANTS[name]).model), golden_entries(name)
    assert mine.keys() == golden.keys()
    for ngram, numbers in golden.items():
        assert mine[ngram] == pytest.approx(numbers, abs=2e-6), ngram


def test_the_slip_of_lmplz_is_not_repeated_unasked():
    right, slip = (trained(text_of("micro2.o3"), LmConfig(order=3, lmplz_last=asked)) for asked in (False, True))
    assert right.discounts[2] == slip.discounts[2]
    assert slip.discounts[0] == pytest.approx((0.2, 1.4, 2.6))
    assert right.discounts[0] == pytest.approx((1 / 3, 1.5, 5 / 3))


def test_counts_are_those_of_the_table():
    counts = count([str(text_of("micro.o3"))], LmConfig(order=3))
    trie, found = counts.trie, {}
    for length in range(1, 4):
        own, adjusted = counts.count[trie.level(length)].tolist(), adjusted_counts(counts, length).tolist()
        for row, numbers in zip(trie.rows(length).tolist(), zip(own, adjusted, strict=True), strict=True):
            found[" ".join(trie.words[word] for word in row)] = numbers
    rows = [line.split("\t") for line in (FOLDER / "micro.o3.counts.tsv").read_text().splitlines()[1:]]
    assert {row[1]: (int(row[2]), int(row[3])) for row in rows} == {
        ngram: numbers for ngram, numbers in found.items() if ngram not in ("<unk>", "<s>")
    }
    assert counts.sentences == 10 and counts.tokens == 27


def test_discounts_and_sizes(tiny):
    assert tiny.model.trie.sizes == [4392, 15540, 20065, 20931, 21028]
    golden = [(0.637717, 1.12467, 1.62528), (0.846192, 1.26319, 1.54938), (0.944621, 1.45426, 1.44008)]
    golden += [(0.980079, 1.50996, 1.54388), (0.984695, 1.76294, 1.1821)]
    for mine, theirs in zip(tiny.discounts, golden, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "golden", "including", "excluding"),
    [
        ("wiki.test200.txt.xz", "tiny.o5.test200.query.txt.xz", 1068.060196, 294.787451),
        ("sentences20.txt", "tiny.o5.sentences20.query.txt", 119.933023, 65.106268),
    ],
)
def test_every_score_is_that_of_query(tiny, text, golden, including, excluding):
    mine, theirs = scored(tiny.model, FOLDER / text), answers(golden)
    assert len(mine) == len(theirs)
    for sentence, expected in zip(mine, theirs, strict=True):
        assert [(bool(oov), int(length)) for oov, length, _ in sentence] == [(e.oov, e.length) for e in expected]
        assert [score for _, _, score in sentence] == pytest.approx([each.score for each in expected], abs=1e-6)
    events = [event for sentence in mine for event in sentence]
    known = [float(score) for oov, _, score in events if not oov]
    assert 10 ** -(math.fsum(float(event[2]) for event in events) / len(events)) == pytest.approx(including, rel=1e-6)
    assert 10 ** -(math.fsum(known) / len(known)) == pytest.approx(excluding, rel=1e-6)


def test_lmplzs_file_scores_like_ours():
    for mine, theirs in zip(
        scored(load(FOLDER / "micro.o3.arpa"), text_of("micro.o3")), answers("micro.o3.train.query.txt"), strict=True
    ):
        assert [float(score) for _, _, score in mine] == pytest.approx([each.score for each in theirs], abs=1e-6)


def test_words_without_sentences(tiny):
    """Pieces of text begin with the probability of a word alone, and nothing ends them."""
    sentence = scored(tiny.model, SENTENCES, ends=False)[2]
    node = tiny.model.trie.words.find("the")
    assert sentence[0] == (False, 1, tiny.model.prob[node])
    assert sentence[1] == (False, 0, 0.0)


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<unk>"])
def test_marks_in_the_text(tmp_path, mark):
    text = tmp_path / "text.txt"
    text.write_text(f"a b\nb {mark} a\n")
    with pytest.raises(BadFile, match=rf"text\.txt:2: expected words, found {mark}"):
        count([str(text)], LmConfig(order=2))
    skipped = count([str(text)], LmConfig(order=2, skip_symbols=True))
    plain = tmp_path / "plain.txt"
    plain.write_text("a b\nb a\n")
    again = count([str(plain)], LmConfig(order=2))
    assert skipped.trie.words == again.trie.words and skipped.count.tolist() == again.count.tolist()


@pytest.mark.parametrize("mark", ["<s>", "</s>"])
def test_marks_in_a_text_to_score_are_words_as_others(tiny, tmp_path, mark):
    """As to KenLM: the mark is found by itself or behind its words, and the next word behind it."""
    text = tmp_path / "text.txt"
    text.write_text(f"the\n\nof {mark} the\n")
    *_, (of, found, the, end) = scored(tiny.model, text)
    text.write_text("of\nthe\n")
    (first, last), _ = scored(tiny.model, text)
    assert of == first and not found[0] and not the[0] and end[1] >= 1
    if mark == "</s>":
        assert found == last


def test_counts_that_give_no_discounts():
    with pytest.raises(WvError, match=r"order 1 give no discounts.*--discount-fallback"):
        trained(text_of("fallback.o2"), LmConfig(order=2))


@pytest.mark.parametrize(
    ("prune", "message"),
    [("1,0", "let them rise"), ("x", "whole numbers"), ("", "whole numbers"), ("0,0,0,1", "--order is 3")],
)
def test_thresholds_that_cannot_be(prune, message):
    config = LmConfig(prune=prune)
    with pytest.raises(UsageError, match=message):
        config.validate()
        config.check_order()
