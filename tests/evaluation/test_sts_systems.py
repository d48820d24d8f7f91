"""What `wv eval sts` scores besides word vectors: encoders, sentence vectors made elsewhere; what transforms are
fitted on."""

import json

import numpy as np
import pytest

from tests.conftest import GOLDEN
from tests.evaluation.test_sts import run, sentences, write_csv
from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError
from wv_cli.evaluation.sts_data import read_sentence_pairs
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import fit
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save
from wv_cli.words import WordList

TINY = str(GOLDEN / "encoders" / "tiny-bert")


def encoded(texts, pooling):
    encoder = open_encoder(TINY, poolings=[pooling])
    return encode(encoder, texts, [Pooling.parse(pooling, 2, TINY)])[0].vectors.astype(float)


def rho(first, second, gold):
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (first, second)]
    return 100 * spearman(np.round((unit[0] * unit[1]).sum(axis=1), 12), np.array(gold))


def sides(pairs, pooling="mean"):
    return [encoded([pair[side] for pair in pairs], pooling) for side in (0, 1)]


@pytest.fixture
def files(tmp_path):
    """(scored pairs, their file, training pairs, their file)"""
    test, train = sentences(60, seed=1), sentences(90, seed=2)
    return test, write_csv(tmp_path / "test.csv", test), train, write_csv(tmp_path / "train.csv", train)


def spearmans(report):
    return {(row["pooling"], row["after"]): row["spearman"] for row in report.rows}


def test_poolings_of_an_encoder(files):
    pairs, path, _, _ = files
    gold = [pair[2] for pair in pairs]
    report = run([], [path], encoder=(TINY,), pooling=("first-last", "layer:0"), resamples=10)
    found = spearmans(report)
    assert [pooling for pooling, _ in found] == ["mean", "first-last", "layer:0"]
    for (pooling, _), value in found.items():
        assert value == pytest.approx(rho(*sides(pairs, pooling), gold), abs=0.05)
    assert report.rows[1]["gain"] == pytest.approx(report.rows[1]["spearman"] - report.rows[0]["spearman"])
    only = run([], [path], encoder=(TINY,))
    assert len(only.rows) == 1 and "gain" not in only.rows[0] and only.rows[0]["vectors"] == TINY
    assert any("an encoder reads as many tokens as its folder says" in line for line in only.protocol)
    assert not any("case" in line for line in only.protocol)


@pytest.mark.parametrize("where", ["test", "train", "all"])
def test_what_a_transform_is_fitted_on(files, where):
    """The sentences are named in the report, and others give other numbers."""
    pairs, path, others, train = files
    gold = [pair[2] for pair in pairs]
    both = sides(pairs)
    fitted = {"test": [*both], "train": [*sides(others)], "all": [*both, *sides(others)]}[where]
    moments = Moments.none(16).with_rows(np.concatenate(fitted))
    transform = fit(moments, WhitenConfig(dim=5))
    made = [(each - transform.mean) @ transform.matrix for each in both]
    options = {} if where == "test" else {"fit": where, "fit_data": (train,)}
    report = run([], [path], encoder=(TINY,), after=("whiten", "zca"), dim=5, resamples=0, **options)
    found = spearmans(report)
    assert [after for _, after in found] == ["-", "whiten 5", "zca"]
    assert found["mean", "whiten 5"] == pytest.approx(rho(*made, gold), abs=0.05)
    names = {"test": "120 sentences of these data", "train": f"180 sentences of {train}",
             "all": f"300 sentences of these data and of {train}"}  # fmt: skip
    assert any(f"fitted on the {names[where]}, without their scores" in line for line in report.protocol)


def test_sentence_vectors_made_elsewhere(files, tmp_path):
    """In the order of the file: first and second sentence of a pair, the next pair; a sentence that is zero is one
    without a vector. They score as the encoder they came from does."""
    _, path, _, train = files
    every = [text for name in (path, train) for pair in read_sentence_pairs(name).texts for text in pair]
    matrix = encoded(every, "mean").astype(np.float32)
    for count, options in ((120, {}), (300, {"fit": "train", "fit_data": (train,)})):
        name = str(tmp_path / f"{count}.npy")
        save(name, Embeddings(WordList.from_words(map(str, range(count))), matrix[:count]))
        options |= {"after": ("whiten",), "resamples": 0}
        both = run([], [path], sentence_vectors=(name,), encoder=(TINY,), **options)
        given, own = both.rows[:2], both.rows[2:]
        assert [row["pooling"] for row in both.rows] == ["given", "given", "mean", "mean"]
        for first, second in zip(given, own, strict=True):
            assert first["spearman"] == pytest.approx(second["spearman"], abs=0.05)
        assert "difference" in own[0] and both.scores[0][0] == f"{name} on {path}"
    matrix[0] = 0
    save(name, Embeddings(WordList.from_words(map(str, range(120))), matrix[:120]))
    assert run([], [path], sentence_vectors=(name,)).rows[0]["zero_vectors"] == 1
    save(name, Embeddings(WordList.from_words(map(str, range(119))), matrix[:119]))
    with pytest.raises(BadFile, match=r"expected 120 rows, one for each sentence of the 60 pairs .*, found 119"):
        run([], [path], sentence_vectors=(name,))


def test_a_null_direction_is_cut(files, tmp_path):
    """A layer norm leaves sum((y - b) / w) = 0: one direction without any variance, which must not be divided by."""
    _, path, _, _ = files
    matrix = np.random.default_rng(3).standard_normal((120, 12))
    matrix -= matrix.mean(axis=1, keepdims=True)
    scale, shift = np.random.default_rng(4).uniform(0.5, 2, (2, 12))
    name = str(tmp_path / "n.npy")
    save(name, Embeddings(WordList.from_words(map(str, range(120))), (matrix * scale + shift).astype(np.float32)))
    report = run([], [path], sentence_vectors=(name,), after=("whiten",), resamples=0)
    eleven = run([], [path], sentence_vectors=(name,), after=("whiten",), dim=11, resamples=0)
    assert np.isfinite(report.rows[1]["spearman"])
    assert report.rows[1]["spearman"] == pytest.approx(eleven.rows[1]["spearman"])


def test_sentences_that_are_cut_are_told(files):
    _, path, _, _ = files
    assert run([], [path], encoder=(TINY,), max_length=5).notes[0].startswith(f"{TINY}: 120 sentences are longer")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder": (TINY,), "pooling": ("idf",)}, "--pooling idf weighs words"),
        ({"encoder": (TINY,), "stop_words": "both"}, "--stop-words both needs word vectors"),
        ({"sentence_vectors": ("x",), "pooling": ("mean",)}, "--pooling has no effect with --sentence-vectors"),
        ({"encoder": (TINY,), "after": ("whiten",), "fit": "train"}, "--fit train needs --fit-data"),
        ({"encoder": (TINY,), "pooling": ("layer:7",)}, "has the layers 0"),
    ],
)
def test_refusals(files, options, message):
    with pytest.raises(UsageError, match=message):
        run([], [files[1]], **options)


def test_on_the_command_line(wv, files, tmp_path):
    (tmp_path / "v.vec").write_text("2 2\ndog 1 0\nplays 0 1\n")
    call = ("eval", "sts", "-d", files[1])
    done = wv(*call, "v.vec", "--encoder", TINY, "--json")
    assert done.returncode == 0, done.stderr
    assert [row["vectors"] for row in json.loads(done.stdout)["results"]] == ["v.vec", TINY]
    for more, code, message in [
        ((), 2, "missing argument 'VECTORS...'"),
        (("--encoder", TINY, "--case", "lower"), 2, "--case needs VECTORS"),
        (("v.vec", "--max-length", 9), 2, "--max-length needs --encoder"),
        (("v.vec", "--pooling", "cls"), 2, "--pooling cls joins the tokens of an encoder; v.vec has none"),
        (("v.vec", "--resamples", 9), 2, "--resamples has no effect"),
        (("v.vec", "--pooling", "mean", "--resamples", 9), 2, "it needs --pooling other than mean"),
        (("v.vec", "--after", "zca", "--dim", 1), 2, "--dim has no effect with --after zca"),
        (("v.vec", "--fit", "test"), 2, "--fit needs --after"),
        (("--sentence-vectors", "none.npy"), 1, "none.npy"),
    ]:
        done = wv(*call, *more)
        assert done.returncode == code and message in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


def test_whitening_on_too_few_sentences_is_noted(tmp_path):
    """The sentences of several files count together, and a sentence that stands in two of them counts once."""
    paths = [write_csv(tmp_path / f"{seed}.csv", sentences(24, seed=seed)) for seed in (1, 2)]
    random = np.random.default_rng(1)
    rows = [str(tmp_path / name) for name in ("one.npy", "two.npy")]
    for path, count in zip(rows, (48, 96), strict=True):
        save(
            path,
            Embeddings(WordList.from_words(map(str, range(count))), random.normal(size=(count, 12)).astype(np.float32)),
        )
    for method in ("whiten", "zca"):
        note = run([], paths[:1], sentence_vectors=rows[:1], after=(method,), resamples=0).notes
        assert len(note) == 1 and "one.npy: --after" in note[0] and "use --after soft, or whiten with --dim" in note[0]
    for options in ({"after": ("soft", "abtt", "pca")}, {"after": ("whiten",), "dim": 5}):
        assert not run([], paths[:1], sentence_vectors=rows[:1], resamples=0, **options).notes
    assert not run([], paths, sentence_vectors=rows[1:], after=("whiten",), fit="together", resamples=0).notes
    notes = run([], paths, sentence_vectors=rows[1:], after=("whiten",), resamples=0).notes
    assert [path in note for path, note in zip(paths, notes, strict=True)] == [True, True]
    assert run([], [paths[0]] * 2, sentence_vectors=rows[1:], after=("whiten",), resamples=0).notes


def test_each_of_several_files_is_fitted_by_itself(files):
    _, first, _, second = files

    def scores(paths, **more):
        report = run([], paths, encoder=(TINY,), after=("soft",), resamples=0, **more)
        found = {(row["data"], row["after"]): row["spearman"] for row in report.rows}
        return [found[path, "soft"] for path in paths], " ".join(report.protocol)

    (alone, _), (other, _) = scores([first]), scores([second])
    together, protocol = scores([first, second])
    assert together == [*alone, *other] and "each data file by itself" in protocol
    joined, protocol = scores([first, second], fit="together")
    assert joined != together and "all data files together" in protocol
    with pytest.raises(UsageError, match="--fit together needs several data files"):
        scores([first], fit="together")
