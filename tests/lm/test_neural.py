"""Neural language models: probabilities that sum to 1, answers that do not depend on how they are asked for, files."""

import io
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.lm.golden import FOLDER
from tests.reference.neural import context_of
from wv_cli import train as run_session
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.config import PerplexityConfig
from wv_cli.evaluation.report import as_tsv
from wv_cli.lm import neural_files
from wv_cli.lm.asking import SENTENCE, UNKNOWN, count_normalizers, normalizers_of, take_unnormalized
from wv_cli.lm.files import load, load_ngrams
from wv_cli.lm.generating import Generator
from wv_cli.lm.neural import Paths
from wv_cli.lm.sentences import encode_sentences, occurrences
from wv_cli.lm.vocabulary import SPECIAL
from wv_cli.models.config import NeuralConfig
from wv_cli.models.neural import NeuralLm
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.trees import clustered_paths, predicted_vectors
from wv_cli.text.config import VocabConfig
from wv_cli.text.vocab import read_vocab

TEXT = str(FOLDER / "micro.train.txt")
LOSSES = NeuralConfig.options()["loss"].choices
TREES = [("random", 1), ("random", 3), ("clustered", 1), ("clustered", 4)]
SHAPES = [
    {"model": "nplm", "hidden": 7},
    {"model": "nplm", "hidden": 7, "direct": True},
    {"model": "lbl"},
    {"model": "lbl", "context_matrices": "diagonal"},
    {"model": "lbl", "tie": True},
]


def trained(loss="nce", **changes):
    defaults = {"dim": 5, "order": 4, "epochs": 30, "lr": 0.05, "negative": 20}
    corpus = encode_sentences([TEXT], VocabConfig(min_count=1))
    clusters = trained("nce", dim=4).model() if changes.get("tree") == "clustered" else None
    run = NeuralLm(NeuralConfig(loss=loss, **{**defaults, **changes}), corpus, clusters)
    train(Threads(run))
    return run


def every_model():
    for loss in LOSSES:
        for shape in SHAPES:
            if not (shape.get("tie") and loss in ("hs", "class")):
                yield pytest.param(loss, shape, id=f"{loss} {shape}")
    for tree, codes in TREES:
        yield pytest.param("hs", {"model": "lbl", "tree": tree, "codes": codes}, id=f"{tree} {codes}")


def step(model, state, word):
    """(log10 p, length, the state behind it) of a word that stands alone."""
    scores, lengths, behind = model.score(np.array([word], np.int32), state)
    return float(scores[0]), int(lengths[0]), behind


EVERY_MODEL = pytest.mark.parametrize(("loss", "shape"), list(every_model()))


@EVERY_MODEL
def test_probabilities_sum_to_one_whatever_stands_before(loss, shape):
    model = trained(loss, **shape).model()
    for state in (model.begin(False), model.begin(), step(model, model.begin(), 4)[2], (UNKNOWN, 5, 3), (3, 3, 3)):
        scores = model.all(state).astype(np.float64)
        assert scores[SENTENCE] == -100
        assert (10**scores).sum() == pytest.approx(1, abs=1e-6)
        one_by_one = [step(model, state, word)[0] for word in range(len(model.words))]
        np.testing.assert_allclose(scores, one_by_one, atol=1e-5)


@EVERY_MODEL
@pytest.mark.parametrize("ends", [True, False])
def test_a_stream_is_scored_as_its_words_are(loss, shape, ends):
    model = trained(loss, **shape, epochs=5).model()
    ids = np.array([3, 4, 5, 6, 7, -1, -1, 0, 4, -1, 5, 5, 3], np.int32)
    expected, state = [], model.begin(ends)
    for word in ids:
        if word >= 0:
            score, length, state = step(model, state, int(word))
            assert length == model.order
        else:
            score = step(model, state, 2)[0] if ends else 0.0
            state = model.begin(ends)
        expected.append(score)
    scores, _, behind = model.score(ids, model.begin(ends), ends)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert behind == state
    parts, state = [], model.begin(ends)
    for begin, end in pairwise([0, 0, 2, 6, 7, 11, 13]):
        part, _, state = model.score(ids[begin:end], state, ends)
        parts.append(part)
    np.testing.assert_allclose(np.concatenate(parts), scores, atol=1e-6)


@EVERY_MODEL
def test_the_kernel_s_loss_is_what_the_model_says(loss, shape):
    """A last epoch with a learning rate that moves nothing; of exact losses."""
    run = trained(loss, **shape)
    if loss not in ("softmax", "hs", "class"):
        pytest.skip("its loss is another one")
    total, examples, tokens, _ = run.worker().block(0, len(run.corpus.ids), 0, 1e-30)
    model = run.model()
    scores = np.asarray(model.score(run.corpus.ids, model.begin())[0])
    assert (examples, tokens) == (len(scores), run.corpus.tokens)
    assert -scores.sum(dtype=np.float64) * np.log(10) == pytest.approx(total, rel=1e-5)
    assert total < examples * np.log(len(model.words)), "it has learnt something"


def test_ids_are_those_of_sentences(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("b a a\n\na c <unk> a b\n")
    corpus = encode_sentences([str(text)], VocabConfig(min_count=2))
    assert list(corpus.vocab.words) == ["a", "b"]
    assert corpus.ids.tolist() == [4, 3, 3, -1, -1, 3, 0, 0, 3, 4, -1]
    spooled = encode_sentences([str(text)], VocabConfig(min_count=2), memory=1, spool_beside=str(tmp_path / "x"))
    assert spooled.ids.tolist() == corpus.ids.tolist() and spooled.digest == corpus.digest
    assert (spooled.tokens, spooled.lines) == (corpus.tokens, corpus.lines) == (8, 3)
    (tmp_path / "few.vocab").write_text("c 7\nz 3\n")
    corpus = encode_sentences([str(text)], VocabConfig(min_count=1), vocab=read_vocab(str(tmp_path / "few.vocab")))
    assert corpus.ids.tolist() == [0, 0, 0, -1, -1, 0, 3, 0, 0, 0, -1]
    text.write_text("a </s> b\n")
    with pytest.raises(WvError, match="mark sentences"):
        encode_sentences([str(text)], VocabConfig(min_count=1))
    (tmp_path / "few.vocab").write_text("c 7\n<unk> 3\n")
    text.write_text("c\n")
    with pytest.raises(WvError, match="of its own"):
        encode_sentences([str(text)], VocabConfig(min_count=1), vocab=read_vocab(str(tmp_path / "few.vocab")))


@EVERY_MODEL
def test_files_read_back_to_the_same_model(loss, shape, tmp_path):
    model, path = trained(loss, **shape, epochs=2).model(), tmp_path / "model.lm"
    with path.open("wb") as stream:
        neural_files.write(stream, model)
    read = load(path)
    assert read.words[:] == model.words[:] and (read.order, read.loss) == (model.order, model.loss)
    state = step(model, model.begin(), 5)[2]
    np.testing.assert_array_equal(read.all(state), model.all(state))
    again = io.BytesIO()
    neural_files.write(again, read)
    assert again.getvalue() == path.read_bytes()
    with pytest.raises(UsageError, match="no other format"):
        load_ngrams(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda model: replace(model, order=5), "sizes of its arrays"),
        (lambda model: replace(model, mixing=model.mixing[:-1]), "sizes of its arrays"),
        (lambda model: replace(model, hidden_bias=None), "sizes of its arrays"),
        (lambda model: replace(model, output=model.output[:, :-1]), "sizes of its arrays"),
        (lambda model: replace(model, output=model.output[:-1], bias=model.bias[:-1]), "sizes of its arrays"),
        (lambda model: replace(model, bias=model.bias[:-1]), "sizes of its arrays"),
        (lambda model: replace(model, bias=np.zeros_like(model.bias)), "sizes of its arrays"),
        (lambda model: replace(model, input=model.input * np.float32(np.nan)), "NaN"),
        (lambda model: replace(model, output=model.output + np.float32(1e20)), "up to 1e+09"),
        (lambda model: replace(model, words=model.words[1:]), "sizes of its arrays"),
        (lambda model: replace(model, words=model.words.take(np.arange(len(model.words)) // 4 * 4)), "not those of a"),
    ],
)
def test_a_file_that_does_not_fit_itself_is_refused(change, message, tmp_path):
    path = tmp_path / "model.lm"
    with path.open("wb") as stream:
        neural_files.write(stream, change(trained(hidden=7, epochs=1).model()))
    with pytest.raises(BadFile, match=message.replace("+", r"\+")):
        load(path)


@pytest.mark.parametrize(
    ("loss", "change", "message"),
    [
        ("hs", lambda outputs: replace(outputs, node=outputs.node + 1), "path_nodes"),
        ("hs", lambda outputs: replace(outputs, answer=outputs.answer + 1), "path_answers"),
        ("hs", lambda outputs: replace(outputs, start=outputs.start[::-1].copy()), "path_starts"),
        ("hs", lambda outputs: replace(outputs, codes=np.arange(3)), "code_starts"),
        ("class", lambda outputs: replace(outputs, start=outputs.start + 1), "class_starts"),
        ("class", lambda outputs: replace(outputs, start=outputs.start[:-1]), "class_starts"),
    ],
)
def test_a_tree_or_classes_that_do_not_fit_are_refused(loss, change, message, tmp_path):
    path, model = tmp_path / "model.lm", trained(loss, epochs=1).model()
    with path.open("wb") as stream:
        neural_files.write(stream, replace(model, outputs=change(model.outputs)))
    with pytest.raises(BadFile, match=message):
        load(path)


@pytest.mark.parametrize(("tree", "codes"), TREES)
def test_every_word_is_a_leaf_of_every_tree(tree, codes):
    paths = trained("hs", tree=tree, codes=codes, epochs=0).outputs
    assert isinstance(paths, Paths)
    words = len(paths.start) - 1 if paths.codes is None else len(paths.codes) - 1
    counts = np.diff(paths.codes) if paths.codes is not None else np.diff(paths.start) > 0
    assert [int(count) for count in counts] == [0 if word == SENTENCE else codes for word in range(words)]
    every = [tuple(2 * paths.node[a:b] + paths.answer[a:b]) for a, b in pairwise(paths.start)]
    leaves = [path for path in every if path]
    assert len(set(leaves)) == len(leaves) == codes * (words - 1)
    assert int(paths.node.max()) + 1 == len(leaves) - 1, "a binary tree"
    assert sum(2.0 ** -len(path) for path in leaves) == pytest.approx(1)


def test_a_clustered_tree_sets_words_of_two_kinds_apart():
    random = np.random.default_rng(1)
    kinds = np.arange(40) % 2
    vectors = random.normal(0, 0.1, (40, 3)) + kinds[:, None] * [3.0, 0, 0]
    paths = clustered_paths(np.ones(40), vectors, 1, 1)
    first = [int(paths.answer[a]) if b > a else -1 for a, b in pairwise(paths.start)]
    sides = {kind: {first[word] for word in range(40) if kinds[word] == kind and word != SENTENCE} for kind in (0, 1)}
    assert len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1]


def test_vectors_that_are_predicted_are_means_over_occurrences():
    run = trained("nce", epochs=3)
    model, ids = run.model(), run.corpus.ids
    found = predicted_vectors(model, ids, np.arange(len(model.words), dtype=np.int32))
    expected = np.zeros_like(found)
    for word in range(len(model.words)):
        places = np.flatnonzero(np.where(ids < 0, 2, ids) == word)
        if len(places):
            contexts = np.array([context_of(ids, place, model.order - 1) for place in places.tolist()], np.int32)
            expected[word] = model.predict_vectors(contexts).mean(axis=0)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_noise_contrast_leaves_sums_near_one_and_scores_that_need_none():
    model = count_normalizers(trained("nce", epochs=200, dropout=0.2).model())
    ids = encode_sentences([TEXT], VocabConfig(min_count=1)).ids
    exact = np.asarray(model.score(ids, model.begin())[0])
    sums = normalizers_of(model)
    assert sums.count == len(ids) and abs(sums.mean) < 0.02 and 0 < sums.spread < 0.5
    raw = take_unnormalized(model, "x")
    assert normalizers_of(count_normalizers(raw)) is None
    scores = np.asarray(raw.score(ids, raw.begin())[0])
    np.testing.assert_allclose((scores - exact).mean() * np.log(10), sums.mean, atol=1e-5)
    assert not np.allclose(scores, exact, atol=1e-4)
    with pytest.raises(UsageError, match="not trained by noise contrast"):
        take_unnormalized(trained("ns", epochs=0).model(), "x")


def test_perplexity_mixes_it_with_n_grams(tmp_path, wv):
    for name, call in {
        "kn": "lm train text.txt -o kn.lm --order 2 --smoothing witten-bell -q",
        "nplm": "train text.txt -o nplm.lm -o nplm.vec --model nplm --dim 8 --hidden 8 --epochs 60 -q",
        "hs": "train text.txt -o hs.lm --model lbl --loss hs --dim 8 --epochs 60 --lr 0.1 -q",
    }.items():
        (tmp_path / "text.txt").write_bytes((FOLDER / "micro.train.txt").read_bytes())
        assert wv(*call.split()).returncode == 0, name
    paths = [str(tmp_path / f"{name}.lm") for name in ("kn", "nplm", "hs")]
    vectors = [Vectors(path, lambda: None) for path in paths]
    found = TASKS["perplexity"].run(vectors, [TEXT], PerplexityConfig(mix=TEXT, resamples=0))
    perplexities = [row["perplexity"] for row in found.rows]
    assert perplexities[3] < min(perplexities[:3]) * 1.0001 and max(perplexities) < 15
    assert [row["log_z"] is not None for row in found.rows] == [False, True, False, False]
    assert len({line.count("\t") for line in as_tsv(found).splitlines()}) == 1
    raw = TASKS["perplexity"].run(vectors, [TEXT], PerplexityConfig(unnormalized=True, resamples=0)).rows
    assert raw[1]["perplexity"] == pytest.approx(perplexities[1] * np.exp(-found.rows[1]["log_z"]), rel=1e-4)
    assert [raw[k]["perplexity"] for k in (0, 2)] == [perplexities[k] for k in (0, 2)]
    with pytest.raises(UsageError, match="--unnormalized"):
        TASKS["perplexity"].run(vectors[::2], [TEXT], PerplexityConfig(unnormalized=True))
    assert wv("nn", "nplm.vec", "a").returncode == 0
    refused = wv("lm", "convert", "nplm.lm", "out.arpa")
    assert refused.returncode == 2 and "neural" in refused.stderr
    assert wv("lm", "score", "nplm.lm", "text.txt", "--unnormalized").returncode == 0


def test_generating_goes_by_the_model():
    model = trained("softmax", epochs=100).model()
    generator = Generator(model)
    found = generator.next_words("", 3)
    assert len(found) == 3 and found[0][1] >= found[1][1] >= found[2][1]
    assert found[0][1] == pytest.approx(10 ** float(model.all(model.begin()).max()), rel=1e-5)
    sentences = list(generator.sample(5, 1, max_words=9))
    assert sentences == list(Generator(model).sample(5, 1, max_words=9))
    assert all(word in model.words for sentence in sentences for word in sentence.split())


@pytest.mark.parametrize(("model", "each"), [("nplm", 1), ("lbl", 1), ("ivlbl", 3)])
def test_two_threads_learn_the_same_events(model, each):
    """`each`: examples of a position, of which ivlbl has one for each word of the context."""
    one, two = (trained("nce", model=model, order=4, epochs=10, threads=n) for n in (1, 2))
    outcome = train(Threads(NeuralLm(two.config, two.corpus), 2))
    assert outcome.totals.examples == 10 * each * len(one.corpus.ids)


def test_ivlbl_learns_what_follows_at_each_distance(tmp_path):
    """`a b c` again and again: `b` is the next but none behind `a`, `c` the next but one."""
    text = tmp_path / "text.txt"
    text.write_text("a b c " * 400)
    corpus = encode_sentences([str(text)], VocabConfig(min_count=1))
    model = NeuralLm(NeuralConfig(model="ivlbl", loss="softmax", order=3, dim=8, epochs=10, lr=0.05), corpus)
    train(Threads(model))
    rows = {word: place + len(SPECIAL) for place, word in enumerate(corpus.vocab.words)}
    for place, follower in ((0, "b"), (1, "c")):
        predicted = model.mixing[place, :8] * model.input[rows["a"], :8]
        scores = model.output[:, :8] @ predicted + model.bias
        assert scores.argmax() == rows[follower]


@pytest.mark.parametrize("shape", [*SHAPES, {"model": "ivlbl"}], ids=str)
def test_negative_sampling_begins_at_the_frequencies(shape, tmp_path):
    """Each score of the first step is log p - log noise, and learning from there with the default rate is stable."""
    rank = np.arange(1, 1001)
    words = np.random.default_rng(1).choice(rank, 20_000, p=1 / rank / (1 / rank).sum())
    text = tmp_path / "text.txt"
    text.write_text("".join(f"w{word}\n" if i % 20 == 19 else f"w{word} " for i, word in enumerate(words)))
    corpus = encode_sentences([str(text)], VocabConfig(min_count=1))
    run = NeuralLm(NeuralConfig(loss="ns", epochs=1, power=0.5, **shape), corpus)
    counts = np.asarray(corpus.vocab.counts, np.float64)
    noise = np.maximum(occurrences(corpus.ids, len(counts) + len(SPECIAL)), 0.5) ** 0.5
    noise[SENTENCE] = 0
    expected = np.log(counts / len(corpus.ids)) - np.log(500 * noise[len(SPECIAL) :] / noise.sum())
    np.testing.assert_allclose(run.bias[len(SPECIAL) :], expected, atol=1e-3)
    train(Threads(run))
    assert np.isfinite(run.output).all()


def test_a_run_that_stops_goes_on_to_the_same_bytes(tmp_path):
    options = {"model": "nplm", "dim": 6, "hidden": 6, "epochs": 4000, "negative": 9, "dropout": 0.1}

    def made(name, **changes):
        run_session(TEXT, [tmp_path / f"{name}.lm", tmp_path / f"{name}.vec"], **options, **changes)
        return (tmp_path / f"{name}.lm").read_bytes()

    whole = made("whole")
    with pytest.raises(WvError):
        made("part", max_time=1e-9)
    assert not (tmp_path / "part.lm").exists() and (tmp_path / "part.lm.checkpoint").exists()
    assert made("part", resume=True) == whole
    assert (tmp_path / "whole.lm.meta.json").exists() and (tmp_path / "whole.vec").read_text().startswith("6 6\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hs", "tree": "clustered"}, "tree clustered needs tree_from"),
        ({"loss": "hs", "tree": "random", "tree_from": "x.lm"}, "tree_from has no effect"),
        ({"phrases": "x.phrases"}, "phrases has no effect with model"),
        ({"learn_phrases": 1}, "learn_phrases has no effect with model"),
        ({"loss": "nce", "codes": 2}, "codes has no effect"),
        ({"model": "nplm", "tie": True}, "tie has no effect"),
        ({"loss": "hs", "tie": True}, "tie has no effect"),
        ({"window": 3}, "window has no effect"),
        (
            {"model": "ivlbl"},
            r"out\.lm: ivlbl predicts from one word at a time and is no language model; name .* NAME\.vec",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        run_session(TEXT, tmp_path / "out.lm", **{"model": "lbl", **options})


def test_a_tree_is_not_made_of_n_grams(tmp_path, wv):
    (tmp_path / "text.txt").write_bytes((FOLDER / "micro.train.txt").read_bytes())
    assert wv("lm", "train", "text.txt", "-o", "kn.lm", "--smoothing", "witten-bell", "-q").returncode == 0
    made = "train text.txt -o out.lm --model lbl --loss hs --tree clustered --tree-from kn.lm -q"
    done = wv(*made.split())
    assert done.returncode == 2 and "a model of n-grams" in done.stderr
