"""Classifiers that several ranks train together, here threads of one process (tests/cluster/threads.py)."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cluster.checkpoints import SIZES, stop_and_go_on
from tests.cluster.labelled_text import HELD_OUT, labelled_lines
from tests.cluster.served import silent
from tests.cluster.threads import ThreadRanks, run_ranks
from tests.reference.supervised import lines, word_ngrams
from tests.tiers import full
from wv_cli import _subwords
from wv_cli.cluster.trainer import RankTrainer
from wv_cli.cluster.training import RankPeers, labelled_of_all, pooled_by
from wv_cli.engine.run import Outcome, train
from wv_cli.engine.threads import Threads
from wv_cli.errors import WvError
from wv_cli.formats.recognise import input_texts
from wv_cli.models.classifier import Classifier
from wv_cli.models.config import SupervisedConfig
from wv_cli.models.supervised import Supervised
from wv_cli.text.config import VocabConfig
from wv_cli.text.labelled import LabelledCorpus, encode_labelled
from wv_cli.text.parts import Part
from wv_cli.words import WordList

CONFIG = SupervisedConfig(dim=16, epochs=5, lr=0.5, buckets=5000)
NGRAMS = replace(CONFIG, word_ngrams=3, minn=2, maxn=3)
WORDS = VocabConfig(min_count=2)


@pytest.fixture(scope="module")
def halves(slice_text: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """The file to learn from, and lines that are held out."""
    found = labelled_lines(slice_text)
    path = tmp_path_factory.mktemp("labelled") / "train.txt"
    path.write_text("".join(found[:-HELD_OUT]))
    return path, "".join(found[-HELD_OUT:]).encode()


@pytest.fixture(scope="module")
def path(halves: tuple[Path, bytes]) -> Path:
    return halves[0]


def part_of(path: Path, ranks: ThreadRanks, **options: Any) -> LabelledCorpus:
    asked = input_texts([str(path)], log=silent, part=Part(ranks.rank, ranks.size, whole_lines=True))
    return labelled_of_all(encode_labelled(asked, WORDS, pooled=pooled_by(ranks), **options), ranks)


def model_of(path: Path, ranks: ThreadRanks, config: SupervisedConfig = CONFIG) -> Supervised:
    corpus = part_of(path, ranks, keep_dropped=config.uses_buckets)
    return Supervised(config, WORDS.min_count, corpus, peers=RankPeers(ranks))


def trained(path: Path, ranks: ThreadRanks, config: SupervisedConfig = CONFIG) -> tuple[Supervised, Outcome]:
    model = model_of(path, ranks, config)
    return model, train(RankTrainer(model, ranks, 1))


def alone(path: Path, config: SupervisedConfig = CONFIG) -> Supervised:
    corpus = encode_labelled([str(path)], WORDS, keep_dropped=config.uses_buckets)
    return Supervised(config, WORDS.min_count, corpus)


def precision(model: Supervised, held_out: bytes) -> float:
    answered = Classifier(model.fasttext_model()).answer(held_out)
    return float((answered.labels[:, 0] == answered.true_labels).mean())


ALSO = WordList.of(["__label__other", "zebra", "notthere", "the"])


@pytest.mark.parametrize(
    "options",
    [{}, {"keep_dropped": True}, {"min_count_label": 1400}, {"also": ALSO}, {"also": ALSO, "keep_dropped": True}],
    ids=["plain", "rare words stay", "rare labels go", "words asked for", "both"],
)
def test_the_ranks_have_the_words_and_labels_of_one_process(path: Path, options: dict[str, Any]) -> None:
    expected = encode_labelled([str(path)], WORDS, **options)
    for size in (2, 3):
        parts = run_ranks(size, lambda ranks: part_of(path, ranks, **options))
        for corpus in parts:
            assert [*corpus.words] == [*expected.words] and [*corpus.labels] == [*expected.labels]
            assert np.array_equal(corpus.counts, expected.counts)
            assert np.array_equal(corpus.label_counts, expected.label_counts)
            for name in ("kept", "added", "end_of_line", "lines", "tokens_read"):
                assert getattr(corpus, name) == getattr(expected, name), name
        assert np.array_equal(np.concatenate([corpus.ids for corpus in parts]), expected.ids)
        assert {corpus.digest for corpus in parts} == {run_ranks(2, lambda r: part_of(path, r, **options))[0].digest}


def test_another_text_has_another_digest(path: Path, tmp_path: Path) -> None:
    longer = tmp_path / "longer.txt"
    longer.write_bytes(path.read_bytes() + b"__label__the of all things\n")
    assert len({run_ranks(2, lambda ranks: part_of(each, ranks))[0].digest for each in (path, longer)}) == 2  # noqa: B023


def test_every_n_gram_has_the_row_that_one_process_gives_it(path: Path) -> None:
    expected = alone(path, NGRAMS)
    for size in (2, 3):
        for model in run_ranks(size, lambda ranks: model_of(path, ranks, NGRAMS)):
            assert np.array_equal(model.bucket_row, expected.bucket_row)
            assert np.array_equal(model.input, expected.input)


@pytest.mark.parametrize("loss", ["softmax", "hs", "ns", "ova"])
def test_how_often_rows_are_changed_is_counted_in_the_text(path: Path, loss: str) -> None:
    config = replace(NGRAMS, loss=loss)
    (model,) = run_ranks(1, lambda ranks: model_of(path, ranks, config))
    corpus, words = model.corpus, model.corpus.words
    hashes = _subwords.word_hashes(words.blob, words.starts).view(np.int32)
    starts, buckets = _subwords.of_words(words.blob, words.starts, config.minn, config.maxn, config.buckets)
    rows_of_word = [
        [word] * (word < corpus.kept) + model.bucket_row[buckets[starts[word] : starts[word + 1]]].tolist()
        for word in range(len(words))
    ]
    rows_of_word[corpus.end_of_line] = [corpus.end_of_line]
    examples, rows, total, labels = 0, Counter[int](), 0, Counter[int]()
    for _, line, given in lines(corpus.ids, corpus.end_of_line):
        own = [row for word in line for row in rows_of_word[word]]
        own += model.bucket_row[word_ngrams(hashes[line], 3, config.buckets)].tolist()
        total, examples = total + len(own), examples + 1
        rows.update(own)
        labels.update(given)
    (_, inputs), (_, outputs) = model.shared()
    expected = np.array([rows[row] for row in range(len(model.input))])
    assert np.allclose(inputs * model.words() * total / examples, expected)
    share = np.array([labels[label] for label in range(len(corpus.labels))]) / examples
    each = outputs * model.words() / examples
    if loss in ("softmax", "ova"):
        assert np.allclose(each, 1)
    elif loss == "ns":
        noise = np.sqrt(corpus.label_counts)
        assert np.allclose(each, share + config.negative * noise / noise.sum())
    else:
        assert each.max() == pytest.approx(1) and len(each) == len(share) - 1  # the root


@pytest.mark.parametrize("loss", ["softmax", *full("hs", "ns", "ova")])
def test_ranks_learn_what_one_process_learns(halves: tuple[Path, bytes], loss: str) -> None:
    path, held_out = halves
    config = replace(CONFIG, loss=loss)
    models = [alone(path, replace(config, seed=seed)) for seed in (1, 2, 3)]
    for model in models:
        train(Threads(model))
    expected = float(np.mean([precision(model, held_out) for model in models]))
    for size in (2, 4, 8):
        (first, outcome), *others = run_ranks(size, lambda ranks: trained(path, ranks, config))
        for other, _ in others:
            assert all(np.array_equal(array, other.arrays()[name]) for name, array in first.arrays().items())
        assert outcome.finished and outcome.totals.examples == config.epochs * first.corpus.lines
        assert precision(first, held_out) > expected - 0.03, size


@pytest.mark.parametrize("more", [{"word_ngrams": 2}, {"minn": 2, "maxn": 3}, {"dropout": 0.3}], ids=str)
def test_n_grams_and_dropout_of_ranks(halves: tuple[Path, bytes], more: dict[str, Any]) -> None:
    path, held_out = halves
    config = replace(CONFIG, **more)
    model = alone(path, config)
    train(Threads(model))
    (first, _), _ = run_ranks(2, lambda ranks: trained(path, ranks, config))
    assert precision(first, held_out) > precision(model, held_out) - 0.03


def test_ranks_draw_other_numbers(path: Path) -> None:
    """Two ranks with the same lines would otherwise draw the same negatives."""

    def task(ranks: ThreadRanks) -> np.ndarray[Any, Any]:
        config = replace(CONFIG, loss="ns", negative=1)
        model = Supervised(config, 1, encode_labelled([str(path)], WORDS), peers=RankPeers(ranks))
        model.train_step(0, model.worker())
        return model.output

    one, other = run_ranks(2, task)
    assert one.any() and not np.array_equal(one, other)


def test_a_label_that_one_rank_has_seen_is_learnt(path: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(path.read_bytes() + 50 * b"__label__last penguins swim over the ice\n")
    (model, _), *_ = run_ranks(4, lambda ranks: trained(text, ranks))
    assert model.corpus.label_counts[-1] == 50
    ((answer, probability),) = Classifier(model.fasttext_model()).predict("penguins swim over ice")[0]
    assert answer == "__label__last" and probability > 0.5


def test_a_rank_without_words_waits_for_the_others(path: Path, tmp_path: Path) -> None:
    text, lines = tmp_path / "text.txt", path.read_bytes().splitlines(keepends=True)[:200]
    whole = b"".join(lines)
    text.write_bytes(whole + b"\n" * len(whole))
    config = replace(CONFIG, word_ngrams=2)
    (first, outcome), (second, _) = run_ranks(2, lambda ranks: trained(text, ranks, config))
    assert second.survey["examples"] == 0 and np.array_equal(first.input, second.input)
    assert outcome.totals.examples == config.epochs * len(lines)
    assert first.corpus.lines == len(lines)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words\n" * 10, "no labels"),
        ("__label__a one\n" * 10, "found one label"),
        ("__label__a one\n__label__b two\n", "no word occurs 20 times"),
        ("\n" * 10, "no text"),
    ],
)
def test_what_is_wrong_with_the_text_of_all_is_said_once(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "text.txt"
    path.write_text(text)

    def task(ranks: ThreadRanks) -> str:
        with pytest.raises(WvError) as caught:
            encode_labelled(
                input_texts([str(path)], log=silent, part=Part(ranks.rank, ranks.size, whole_lines=True)),
                VocabConfig(min_count=20),
                pooled=pooled_by(ranks),
            )
        return str(caught.value)

    said, *others = run_ranks(2, task)
    assert message in said and "rank" not in said and others == [""]


@pytest.mark.parametrize("sizes", SIZES)
def test_a_checkpoint_is_continued_by_any_number_of_ranks(path: Path, tmp_path: Path, sizes: tuple[int, int]) -> None:
    stop_and_go_on(tmp_path / "model.checkpoint", sizes, lambda ranks: model_of(path, ranks, NGRAMS))
