"""Labeled texts as id streams: what is a word, a label and a line, and what is refused."""

import numpy as np
import pytest

from wv_cli import train
from wv_cli.errors import WvError
from wv_cli.text.config import VocabConfig
from wv_cli.text.labeled import encode_labeled
from wv_cli.words import WordList

LINES = "__label__a the cat\nthe __label__b dog __label__a the\n\nno labels here\n__label__rare the"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text(LINES)
    return str(path)


def shown(corpus):
    """The stream in words again."""
    names = {-1: "\n"} | {-2 - i: label for i, label in enumerate(corpus.labels)}
    return " ".join(names.get(i) or corpus.words[i] for i in corpus.ids.tolist()).split(" \n")


def test_words_labels_and_line_ends(text):
    corpus = encode_labeled([text], VocabConfig(min_count=1))
    assert shown(corpus) == [
        "__label__a the cat", " the __label__b dog __label__a the", " no labels here", " __label__rare the", "",
    ]  # fmt: skip
    # Five lines end, the last without a newline, the empty one too.
    assert corpus.words[0] == "</s>" and corpus.end_of_line == 0
    assert corpus.counts.tolist() == [5, 4, 1, 1, 1, 1, 1]
    assert list(corpus.labels) == ["__label__a", "__label__b", "__label__rare"]
    assert corpus.label_counts.tolist() == [2, 1, 1]
    assert corpus.tokens_read == 18
    assert not corpus.ids.flags.writeable


def test_cuts(text):
    corpus = encode_labeled([text], VocabConfig(min_count=2))
    assert [*corpus.words] == ["</s>", "the"]
    with pytest.raises(WvError, match=r"found 3 labels, 1 of them at least 2 times \(--min-count-label\)"):
        encode_labeled([text], VocabConfig(min_count=1), min_count_label=2)
    kept = encode_labeled([text], VocabConfig(min_count=2), keep_dropped=True)
    assert kept.kept == 2 and len(kept.words) == 7 and len(kept.counts) == 2
    assert shown(kept)[0] == "__label__a the cat"
    largest = encode_labeled([text], VocabConfig(min_count=1, max_vocab=1))
    assert [*largest.words] == ["</s>"]


def test_rare_words_that_are_asked_for_stay(text):
    also = WordList.from_words(["__label__c", "cat", "notthere", "the"])
    corpus = encode_labeled([text], VocabConfig(min_count=2), also=also)
    assert [*corpus.words] == ["</s>", "the", "cat", "notthere"] and corpus.counts.tolist() == [5, 4, 1, 1]
    assert corpus.added == 2 and corpus.tokens_read == 18
    assert shown(corpus)[0] == "__label__a the cat" and "__label__c" not in corpus.labels
    kept = encode_labeled([text], VocabConfig(min_count=2), also=also, keep_dropped=True)
    assert [*kept.words[: kept.kept]] == [*corpus.words] and shown(kept)[2] == " no labels here"


def test_the_end_of_line_may_be_cut(text):
    corpus = encode_labeled([text], VocabConfig(min_count=6), keep_dropped=True)
    assert corpus.kept == 0 and corpus.end_of_line == 0
    with pytest.raises(WvError, match="--min-count"):
        encode_labeled([text], VocabConfig(min_count=6))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("just words\nmore words\n", "no labels: expected lines such as `__label__cats"),
        ("__label__a one\n__label__a two\n", "at least two labels to choose from, found one label"),
        ("", "no text"),
        ("\n\n \n", "no text"),
    ],
)
def test_texts_without_what_it_takes(content, message, tmp_path):
    path = tmp_path / "text"
    path.write_text(content)
    with pytest.raises(WvError, match=message):
        encode_labeled([str(path)], VocabConfig(min_count=1))


def test_a_spool_file_gives_the_same_corpus(text):
    config = VocabConfig(min_count=1)
    memory, spooled = encode_labeled([text], config), encode_labeled([text], config, memory=4, spool_beside=text)
    np.testing.assert_array_equal(memory.ids, spooled.ids)
    assert memory.digest == spooled.digest


def test_other_prefixes_and_case(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("#Spam Buy# NOW\nIT #É hello \udcff ÄÖ\n".encode("utf-8", "surrogateescape"))
    corpus = encode_labeled([str(path)], VocabConfig(min_count=1, lowercase=True), label_prefix="#")
    assert [*corpus.labels] == ["#Spam", "#É"]
    assert sorted(corpus.words) == ["</s>", "buy#", "hello", "it", "now", "äö", "\udcff"]


@pytest.mark.parametrize("labels", [2, 30])
def test_lines_in_the_order_of_labels_are_noticed(labels, tmp_path):
    random = np.random.default_rng(1)
    lines = [f"__label__{label} word" for label in random.integers(0, labels, 600)]
    for count, order, expected in ((600, sorted(lines), True), (600, lines, False), (40, sorted(lines[:40]), False)):
        (tmp_path / "text").write_text("\n".join(order))
        corpus = encode_labeled([str(tmp_path / "text")], VocabConfig(min_count=1))
        assert (corpus.lines, corpus.is_sorted_by_label()) == (count, expected)


@pytest.mark.parametrize(("lines", "values", "rare"), [(150, 10**6, True), (150, 5, False), (90, 10**6, False)])
def test_labels_that_stand_once_are_noticed(lines, values, rare, tmp_path):
    numbers = np.random.default_rng(1).permutation(values)[np.arange(lines) % values]
    (tmp_path / "text").write_text("\n".join(f"__label__{number / 7:.3f} word" for number in numbers))
    told = encode_labeled([str(tmp_path / "text")], VocabConfig(min_count=1)).describe_rare_labels()
    assert told.startswith("150 of 150 labels stand once") is rare
    assert bool(told) is rare


@pytest.mark.parametrize("model", ["supervised", "pooled"])
def test_training_tells_of_labels_that_stand_once(model, tmp_path):
    (tmp_path / "text").write_text("\n".join(f"__label__{number} word" for number in range(150)))
    told: list[str] = []
    options = {"model": model, "epochs": 1, "dim": 4, "min_count": 1}
    train(tmp_path / "text", tmp_path / "model.bin", **options, log=lambda message, **_: told.append(message))
    assert any(message.startswith("150 of 150 labels stand once") for message in told)
