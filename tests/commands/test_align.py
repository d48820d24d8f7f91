"""`wv align` and `wv drift`: rotations that are known, pairs from dictionaries, two runs on one text, refusals."""

import json

import numpy as np
import pytest

from tests.conftest import run_wv
from tests.hashing.test_every_hasher import GLOVE
from wv_cli.commands.align import align
from wv_cli.errors import WvError
from wv_cli.transforms.align import Criterion, Named, common, descend, procrustes
from wv_cli.transforms.config import AlignConfig, DriftConfig
from wv_cli.transforms.drift import drift, shared_neighbors
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import load, save
from wv_cli.vectors.neighbors.exact import Neighbors
from wv_cli.words import WordList


def named(words, matrix, name="some.vec"):
    return Named(Embeddings(WordList.from_words(words), np.asarray(matrix, np.float32)), name)


@pytest.fixture
def turned():
    """(A, B, rotation): B is A turned, each vector with a length of its own, and in another order."""
    random = np.random.default_rng(1)
    words = [f"w{i}" for i in range(500)]
    x = random.standard_normal((500, 24)).astype(np.float32)
    rotation = np.linalg.qr(random.standard_normal((24, 24)))[0]
    order = random.permutation(500)
    y = ((x * random.uniform(0.1, 9, (500, 1))) @ rotation)[order]
    return named(words, x, "a.vec"), named([words[i] for i in order], y, "b.vec"), rotation


def test_a_rotation_is_recovered(turned):
    a, b, rotation = turned
    made = align(a, b, AlignConfig())
    np.testing.assert_allclose(made.map, rotation, atol=1e-6)
    np.testing.assert_allclose(made.vectors.matrix, a.vectors.matrix @ rotation, atol=1e-5)
    assert made.pairs == 500 and made.after == pytest.approx(1, abs=1e-6) and abs(made.before) < 0.3
    assert not made.notes and made.vectors.words == a.vectors.words
    np.testing.assert_allclose(made.map @ made.map.T, np.eye(24), atol=1e-12)


def test_the_end_of_a_sentence_is_no_word():
    lists = [WordList.from_words(words) for words in (["the", "</s>", "of"], ["</s>", "of", "the"])]
    assert common(*lists).tolist() == [[0, 2], [2, 1]]


def test_no_orthogonal_matrix_is_better():
    """Of pairs that no rotation makes equal: any step away from what was found is worse."""
    random = np.random.default_rng(2)
    x, y = random.standard_normal((2, 60, 5)).astype(np.float32)
    pairs = np.stack([np.arange(60)] * 2, axis=1)
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y)]
    found = procrustes(x, y, pairs)
    best = np.sum((unit[0] @ found) * unit[1])
    for _ in range(50):
        step = random.standard_normal((5, 5)) * 0.05
        near = found @ np.linalg.qr(np.eye(5) + step - step.T)[0]
        assert np.sum((unit[0] @ near) * unit[1]) < best


def test_refining_mends_wrong_pairs(turned, tmp_path):
    """Of 40 pairs, half of them wrong, the words' own neighbors find the rotation."""
    a, b, rotation = turned
    path = tmp_path / "pairs"
    path.write_text("".join(f"w{i} w{i + i // 60}\n" for i in range(120)))
    plain = align(a, b, AlignConfig(dictionary=str(path)))
    better = align(a, b, AlignConfig(dictionary=str(path), refine=5))
    assert np.abs(plain.map - rotation).max() > 0.05
    np.testing.assert_allclose(better.map, rotation, atol=1e-6)
    assert better.found[-1] == 500
    few = align(a, b, AlignConfig(dictionary=str(path), refine=5, refine_words=300))
    assert few.found[-1] < 300


def test_a_dictionary_with_unknown_words(turned, tmp_path):
    a, b, rotation = turned
    path = tmp_path / "pairs"
    path.write_text("".join(f"w{i}\tw{i}\n" for i in range(100)) + "w3 nothing\nnothing w3\n\nw9\n")
    made = align(a, b, AlignConfig(dictionary=str(path)))
    np.testing.assert_allclose(made.map, rotation, atol=1e-6)
    assert made.pairs == 100
    assert "1 malformed line" in made.notes[0] and made.notes[1].endswith("2 of 102 pairs are not in both files")


@pytest.fixture
def blurred():
    """(A, B): 1,500 words of GloVe; the same, turned, each with noise of its own, so that hubs take a part of them."""
    random = np.random.default_rng(3)
    words = load(GLOVE)
    x = words.matrix[:1500] / np.linalg.norm(words.matrix[:1500], axis=1, keepdims=True)
    y = x @ np.linalg.qr(random.standard_normal((50, 50)))[0] + random.standard_normal((1500, 50)) * 0.15
    names = [f"w{i}" for i in range(1500)]
    return named(names, x, "a.vec"), named(names, y, "b.vec")


def test_the_criterion_of_rcsls_and_its_gradient(blurred):
    """By its definition, one pair after the other; the gradient by differences, so small that neighbors stay."""
    x, y = (each.vectors.matrix for each in blurred)
    pairs = np.stack([np.arange(0, 300, 3)] * 2, axis=1)
    w = np.linalg.qr(np.random.default_rng(4).standard_normal((50, 50)))[0] * 1.3
    criterion = Criterion(x, y, pairs, rows=200)
    loss, gradient = criterion(w)
    sources, targets = (rows[:200] / np.linalg.norm(rows[:200], axis=1, keepdims=True) for rows in (x, y))
    terms = []
    for i, j in pairs:
        a, b = x[i] / np.linalg.norm(x[i]), y[j] / np.linalg.norm(y[j])
        terms.append(np.sort(targets @ (a @ w))[-10:].mean() + np.sort(sources @ w @ b)[-10:].mean() - 2 * (a @ w) @ b)
    assert loss == pytest.approx(np.mean(terms), abs=1e-6)
    for direction in np.random.default_rng(5).standard_normal((20, 50, 50)):
        step = direction * 1e-7
        slope = (criterion(w + step)[0] - criterion(w - step)[0]) / 2e-7
        assert slope == pytest.approx(np.sum(gradient * direction), abs=1e-3)


def test_a_step_that_makes_it_worse_is_taken_back():
    def criterion(w):
        return float(np.sum(w**4)), 4 * w**3

    w, losses = descend(criterion, np.full((2, 2), 2.0), 8)  # from 2 a step of 1 leads to -30
    assert losses[0] == losses[1] == 64 and all(np.diff(losses) <= 0) and losses[-1] == np.sum(w**4) < 64


def test_rcsls_finds_pairs_that_a_rotation_does_not(blurred, tmp_path):
    """Judged on words that it was not given."""
    a, b = blurred
    path = tmp_path / "pairs"
    path.write_text("".join(f"w{i} w{i}\n" for i in range(750)))
    right = []
    for method in ("procrustes", "rcsls"):
        made = align(a, b, AlignConfig(dictionary=str(path), method=method))
        nearest = Neighbors(b.vectors.matrix).top_k(made.vectors.matrix[750:], 1)[0][:, 0]
        right.append(int((nearest == np.arange(750, 1500)).sum()))
    assert right[1] > 1.15 * right[0]
    assert len(made.losses) == 11 and made.losses[-1] < made.losses[0]


def test_common_words():
    a, b = WordList.from_words(["x", "y", "x", "z", "u"]), WordList.from_words(["z", "v", "x", "x", "y"])
    assert common(a, b).tolist() == [[0, 2], [1, 4], [3, 0]]
    assert common(a, b, 4).tolist() == [[0, 2], [3, 0]]
    assert common(a, b, 99).tolist() == common(a, b).tolist()


def test_rows_without_direction_are_no_pairs(turned):
    a, b, rotation = turned
    a.vectors.matrix[7], a.vectors.matrix[9] = 0, np.nan
    made = align(a, b, AlignConfig(refine=1))
    assert made.pairs == 498 and made.found == [498]
    np.testing.assert_allclose(made.map, rotation, atol=1e-6)
    assert not made.vectors.matrix[7].any() and np.isnan(made.vectors.matrix[9]).all()


def test_what_changed_comes_first(turned):
    a, b, _ = turned
    place = b.vectors.words.find("w42")
    b.vectors.matrix[place] *= -1
    for by in ("neighbors", "vectors"):
        found = drift(a, b, DriftConfig(by=by, neighbors=10, top=3))
        assert found.words[0] == "w42" and len(found.words) == 3 and found.compared == 500
        assert found.shared[0] < 0.2 and found.cosine[0] == pytest.approx(-1, abs=0.01)
    assert drift(a, b, DriftConfig(top=0)).shared[250:].min() > 0.9


def test_shared_neighbors_by_hand():
    random = np.random.default_rng(3)
    x, y = random.standard_normal((2, 30, 4)).astype(np.float32)
    expected = []
    for row in range(30):
        lists = []
        for rows in (x, y):
            cosines = rows @ rows[row] / np.linalg.norm(rows, axis=1)
            cosines[row] = -9
            lists.append(set(np.argsort(-cosines)[:6].tolist()))
        expected.append(len(lists[0] & lists[1]) / 6)
    np.testing.assert_allclose(shared_neighbors(x, y, 6), expected)
    assert shared_neighbors(x, y, 99).tolist() == [1] * 30


@pytest.mark.parametrize(
    ("words", "dim", "message"),
    [
        (["w1", "w2"], 5, "c.vec: expected vectors of 24 numbers as in b.vec, found 5"),
        (["x", "y"], 24, "c.vec and b.vec: words with vectors in both: 0 (at least 2 are needed)"),
        (["w1"], 24, "words with vectors in both: 1 (at least 2 are needed)"),
    ],
)
def test_refusals(turned, words, dim, message):
    c = named(words, np.ones((len(words), dim)), "c.vec")
    for work, config in ((align, AlignConfig()), (drift, DriftConfig())):
        with pytest.raises(WvError) as error:
            work(c, turned[1], config)
        assert message in str(error.value)


def test_a_dictionary_without_hits(turned, tmp_path):
    (tmp_path / "pairs").write_text("one two\nthree four\n")
    with pytest.raises(WvError, match=r"pairs: pairs with vectors in a.vec and b.vec: 0 \(at least 2"):
        align(*turned[:2], AlignConfig(dictionary=str(tmp_path / "pairs")))


def test_few_pairs_are_told(turned):
    a, b, _ = turned
    assert "determine only a part" in align(a, b, AlignConfig(anchors=60)).notes[0]


def test_rare_words_are_told_of(wv, tmp_path):
    words = np.random.default_rng(1).standard_normal((2001, 4)).astype(np.float32)
    for name in ("a.bin", "b.bin"):
        save(str(tmp_path / name), Embeddings(WordList.from_words(f"w{i}" for i in range(2001)), words))
    few = ["--restrict-vocab", "12", "--neighbors"]
    cases = ([], ["--restrict-vocab", "2000"], [*few, "11"], [*few, "10"])
    assert [wv("drift", "a.bin", "b.bin", "--top", "1", *more).stderr for more in cases] == [
        "2,001 words compared, rare ones too, which change by chance; --restrict-vocab 2000 leaves them out\n",
        "2,000 words compared\n",
        "12 words compared, so few that each is a neighbor of all others; compare more, or lower --neighbors\n",
        "12 words compared\n",
    ]


def test_the_commands(turned, wv, tmp_path):
    a, b, rotation = turned
    for each in (a, b):
        save(str(tmp_path / each.name), each.vectors, format="word2vec-text", precision="exact")
    done = wv("align", "a.vec", "b.vec", "-o", "c.bin", "--refine", "1", "--json")
    facts = json.loads(done.stdout)
    assert (facts["words"], facts["pairs"], facts["refined_pairs"]) == (500, 500, [500])
    np.testing.assert_allclose(load(str(tmp_path / "c.bin")).matrix, a.vectors.matrix @ rotation, atol=1e-5)
    assert wv("align", "a.vec", "b.vec", "-o", "a.vec", "-q").stderr == ""  # takes the place of its input
    np.testing.assert_allclose(load(str(tmp_path / "a.vec")).matrix, a.vectors.matrix @ rotation, atol=2e-6)
    header, *lines = [line.split("\t") for line in wv("drift", "a.vec", "b.vec", "--top", "4").stdout.splitlines()]
    assert header == ["word", "neighbors", "cosine"]
    assert [len(line) for line in lines] == [3] * 4 and lines[0][2] == "1.0000"
    assert len(json.loads(wv("drift", "a.vec", "b.vec", "--json", "--top", "0").stdout)["words"]) == 500
    done = wv("align", "a.vec", "b.vec", "-o", "-", "--json")  # stdout has the vectors
    assert json.loads(done.stderr)["output"] == "-" and done.stdout.startswith("500 24\n")
    wv("hash", "a.vec", "-m", "lsh", "-o", "a.codes", "-q", "--no-meta")
    for call, code, message in [
        (("align", "a.codes", "b.vec", "-o", "x.vec"), 1, "a.codes: expected vectors, found codes"),
        (("drift", "b.vec", "a.codes"), 1, "a.codes: expected vectors, found codes"),
        (("align", "a.vec", "b.vec", "-o", "x.vec", "--refine-words", "9"), 2, "--refine-words has no effect"),
        (("align", "a.vec", "b.vec", "-o", "x.vec", "--dictionary", "d", "--anchors", "9"), 2, "--anchors has no eff"),
        (("align", "-", "-", "-o", "x.vec"), 2, "- (standard input) is named twice"),
        (("drift", "-", "-"), 2, "- (standard input) is named twice"),
    ]:
        done = wv(*call)
        assert done.returncode == code and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "x.vec").exists()


def test_two_seeds_of_one_text(slice_text, tmp_path):
    """Frequent words find themselves, aligned by other words than those asked for."""
    for seed in (1, 2):
        options = ("--dim", 50, "--epochs", 10, "--threads", 2, "--no-meta", "-q")
        run_wv("train", slice_text, "-o", tmp_path / f"{seed}.bin", "--seed", seed, *options)
    words = [*load(str(tmp_path / "1.bin")).words]
    assert len(words) > 3000
    for name, every in (("asked", words[:1000:2]), ("pairs", [*words[1:1000:2], *words[1000:3000]])):
        (tmp_path / name).write_text("".join(f"{word} {word}\n" for word in every))
    one, two, out = (str(tmp_path / name) for name in ("1.bin", "2.bin", "out.bin"))
    assert run_wv("align", one, two, "-o", out, "--dictionary", tmp_path / "pairs").returncode == 0
    call = ("eval", "translation", "--target", two, "-d", tmp_path / "asked", "--case", "none", "--min-score", "95")
    assert run_wv(*call, out).returncode == 0
    assert run_wv(*call, one).returncode == 3
