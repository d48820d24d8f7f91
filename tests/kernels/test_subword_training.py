"""Word vectors with subwords: which rows a vocabulary gets; runs learn, repeat and resume; and the model given
to fastText's files has the vectors that were trained."""

from itertools import pairwise

import numpy as np
import pytest

from wv_cli import _subwords, _word2vec
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.subwords import Subwords, counts_with_line_end, line_end_index
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.fasttext_bin import load_model, save_model
from wv_cli.words import WordList

CHINESE = "我 爱 北京 天安门\n天安门 上 太阳 升\n北京 是 中国 的 首都\n" * 20
# hs_ns has no subwords.
LOSSES = [loss for loss in Word2vecConfig.options()["loss"].choices if loss != "hs_ns"]


@pytest.fixture(scope="module")
def corpus(slice_text):
    return encode([str(slice_text)], VocabConfig(min_count=30))


@pytest.fixture(scope="module")
def small_corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("subwords") / "small.txt"
    text = ["the kings and queens of the lands"] * 30 + ["a dog and a cat in a house", "the dogs housed the cats"] * 30
    path.write_text("\n".join(text) + "\n")
    return encode([str(path)], VocabConfig(min_count=1))


def config(model="skipgram", loss="ns", **changes):
    options = {"dim": 24, "epochs": 2, "sample": 1e-2, "lr": 0.05, "minn": 3, "maxn": 6, "buckets": 5000}
    return Word2vecConfig(model=model, loss=loss, **{**options, **changes})


@pytest.mark.parametrize(("minn", "maxn", "buckets"), [(3, 6, 2_000_000), (1, 2, 997), (2, 2, 7), (90, 100, 50)])
def test_rows_are_the_word_and_its_ngrams_in_order_of_first_use(corpus, minn, maxn, buckets):
    words = corpus.vocab.words
    subwords = Subwords.from_words(words, config(minn=minn, maxn=maxn, buckets=buckets))
    number: dict[int, int] = {}
    for w in range(len(words)):
        found = [bucket for _, bucket in _subwords.ngrams(words.bytes_at(w), minn, maxn, buckets)]
        expected = [number.setdefault(bucket, len(words) + len(number)) for bucket in found]
        assert subwords.rows[subwords.starts[w] : subwords.starts[w + 1]].tolist() == [w, *expected]
    assert subwords.starts[0] == 0 and subwords.starts[-1] == len(subwords.rows)
    assert subwords.buckets.tolist() == list(number), "a row for each bucket that occurs, and no other"
    assert subwords.starts.dtype == np.int64 and subwords.rows.dtype == np.int32


def test_chinese_ngrams_are_characters_not_bytes():
    words = WordList.from_words(["北京", "京", "天安门"])
    subwords = Subwords.from_words(words, config(minn=1, maxn=2, buckets=2_000_000))
    # <北 北 北京 京 京>;  <京 京 京>;  <天 天 天安 安 安门 门 门>
    assert np.diff(subwords.starts).tolist() == [1 + 5, 1 + 3, 1 + 7]
    assert subwords.rows[4 + 0] == subwords.rows[6 + 2], "the two words share the row of their character"
    assert len(subwords.buckets) == 5 + 1 + 7


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
def test_means_are_the_mean_of_the_rows(corpus, monkeypatch, at_once):
    monkeypatch.setattr("wv_cli.models.subwords._ROWS_AT_ONCE", at_once)
    subwords = Subwords.from_words(corpus.vocab.words, config())
    matrix = np.random.default_rng(1).normal(size=(subwords.rows.max() + 1, 16)).astype(np.float32)
    expected = [matrix[subwords.rows[a:b]].mean(axis=0) for a, b in pairwise(subwords.starts)]
    np.testing.assert_allclose(subwords.means(matrix), expected, atol=1e-6)


def test_line_end_and_short_words_have_no_ngrams():
    words = WordList.from_words(["ab", "</s>", "abc"])
    subwords = Subwords.from_words(words, config(minn=5, maxn=5))
    assert np.diff(subwords.starts).tolist() == [1, 1, 2]
    assert Subwords.from_words(words, config(minn=0, maxn=0)) is None


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", ["skipgram", "cbow"])
def test_learns_repeats_and_resumes(model, loss, corpus, small_corpus):
    text = small_corpus if LAYERS[loss].takes_all else corpus
    first = Word2vec(config(model, loss), text)
    begin = first.input.copy()
    assert 0.5 / 24 < np.abs(begin[:, :24]).max() <= 1 / 24
    losses = []
    for epoch in range(first.epochs):
        totals, worker = np.zeros(2), first.worker()
        for step in range(epoch * first.epoch_steps, (epoch + 1) * first.epoch_steps):
            totals += first.train_step(step, worker)[:2]
        losses.append(totals[0] / totals[1])
    assert losses[1] < losses[0], "the mean loss must fall from epoch to epoch"
    moved = np.any(first.input != begin, axis=1)
    assert moved[len(text.vocab) :].mean() > 0.9, "n-gram rows are trained"

    stopped, rest = Word2vec(config(model, loss), text), Word2vec(config(model, loss), text)
    half = stopped.epoch_steps // 2 + 1
    worker = stopped.worker()
    for step in range(half):
        stopped.train_step(step, worker)
    for name, array in rest.arrays().items():
        array[:] = stopped.arrays()[name]
    assert train(Threads(rest, first_step=half)).is_finished
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, rest.arrays()[name])


@pytest.mark.parametrize("model", ["skipgram", "cbow"])
def test_two_threads_train_the_same_tokens(model, corpus):
    one, two = (Word2vec(config(model, epochs=6, threads=n), corpus) for n in (1, 2))
    first, second = train(Threads(one)), train(Threads(two, 2))
    assert first.totals.examples == second.totals.examples
    assert second.totals.loss == pytest.approx(first.totals.loss, rel=0.02)


def test_words_of_one_spelling_family_come_together(corpus):
    """What subwords are for: a word is near its own inflections more often than without them."""

    def nearness(run):
        embeddings = run.embeddings()
        words = list(embeddings.words)
        pairs = [(words.index(word), words.index(word + "s")) for word in words if word + "s" in embeddings.words]
        unit = embeddings.matrix / np.linalg.norm(embeddings.matrix, axis=1, keepdims=True)
        return np.mean([unit[a] @ unit[b] for a, b in pairs])

    plain, subwords = Word2vec(config(minn=0, maxn=0), corpus), Word2vec(config(), corpus)
    assert train(Threads(plain)).is_finished and train(Threads(subwords)).is_finished
    assert nearness(subwords) > nearness(plain) + 0.1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", ["skipgram", "cbow"])
def test_the_fasttext_model_has_the_trained_vectors(model, loss, small_corpus, tmp_path):
    run = Word2vec(config(model, loss, epochs=1), small_corpus)
    assert train(Threads(run)).is_finished
    embeddings = run.embeddings()
    save_model(tmp_path / "model.bin", run.fasttext_model(min_count=1))
    loaded = load_model(tmp_path / "model.bin")
    words = list(embeddings.words)
    np.testing.assert_allclose(loaded.word_vectors(words), embeddings.matrix, atol=1e-6)
    oov = [row for _, row in loaded.ngrams("dogs' house")]
    assert oov and np.abs(loaded.word_vector("dogs' house")).max() > 0
    assert sorted(loaded.words) == sorted([*words, "</s>"])
    assert loaded.counts[loaded.words.find("</s>")] == small_corpus.vocab.lines == 90
    assert (np.diff(loaded.counts) <= 0).all()
    assert loaded.tokens == small_corpus.vocab.tokens_read + 90
    assert (loaded.args.minn, loaded.args.maxn, loaded.args.buckets) == (3, 6, 5000)
    if loss in ("ns", "softmax"):
        own = [loaded.words.find(word) for word in words]
        np.testing.assert_array_equal(loaded.output.take(own), run.output[:, :24])
    if loss == "hs":
        start, node, code = _word2vec.huffman(loaded.counts)  # as fastText makes the tree on loading
        our_start, our_node, our_code = run._path
        for w, word in enumerate(words):
            k = loaded.words.find(word)
            theirs, ours = slice(start[k], start[k + 1]), slice(our_start[w], our_start[w + 1])
            assert node[theirs].tolist() == our_node[ours].tolist()
            assert code[theirs].tolist() == our_code[ours].tolist()


def test_a_model_without_subwords_is_a_fasttext_model_without_buckets(small_corpus, tmp_path):
    run = Word2vec(config(minn=0, maxn=0), small_corpus)
    save_model(tmp_path / "model.bin", run.fasttext_model(min_count=1))
    loaded = load_model(tmp_path / "model.bin")
    np.testing.assert_array_equal(loaded.word_vectors(list(run.embeddings().words)), run.embeddings().matrix)
    tree = Word2vec(config(loss="hs", minn=0, maxn=0), small_corpus).fasttext_model(min_count=1)
    assert tree.words == small_corpus.vocab.words, "its tree has no leaf for line ends"
    assert not loaded.has_subwords and loaded.input.shape == (len(loaded.words), 24)


def test_line_end_stands_by_its_count(small_corpus):
    vocab = small_corpus.vocab
    counts, own = counts_with_line_end(vocab)
    assert vocab.lines == 90 and line_end_index(vocab) is not None
    assert counts[own].tolist() == vocab.counts.tolist() and (np.diff(counts) <= 0).all()
    assert set(range(len(counts))) - set(own.tolist()) == {line_end_index(vocab)}


def test_chinese_trains_with_characters(tmp_path):
    path = tmp_path / "zh.txt"
    path.write_text(CHINESE, encoding="utf-8")
    run = Word2vec(config(minn=1, maxn=2, buckets=2_000_000), encode([str(path)], VocabConfig(min_count=1)))
    assert train(Threads(run)).is_finished
    model = run.fasttext_model(min_count=1)
    near, far = model.word_vectors(["北京的", "qx"])
    assert np.abs(near).max() > 0 and not far.any(), "known characters give an unknown word a vector"
    assert len(run.input) < 100, "rows only for what occurs"


def test_init_fills_word_rows_only(small_corpus):
    known = WordList.from_words(["dog", "unicorn"])
    init = Embeddings(known, np.full((2, 24), 0.5, np.float32))
    run = Word2vec(config(), small_corpus, init)
    assert run.words_initialized == 1
    dog = small_corpus.vocab.words.find("dog")
    assert (run.input[dog, :24] == 0.5).all()
    assert (run.input[:, :24] == 0.5).all(axis=1).sum() == 1
