"""What every model owes, run over the table of models and every output layer: it learns, and the same seed gives the
same bytes on every count of steps, files and resumes."""

from itertools import islice

import numpy as np
import pytest

from wv_cli import train as run_session
from wv_cli.commands.models import MODELS
from wv_cli.errors import TimedOut
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.text.subsampling import keep_probability

LOSSES = Word2vecConfig.options()["loss"].choices
WORD_MODELS = [name for name, row in MODELS.items() if row.config is Word2vecConfig]


def test_rows_name_what_the_configs_name():
    """Context rules and output layers are values of options and rows of a table each."""
    assert tuple(WORD_MODELS) == Word2vecConfig.options()["model"].choices
    assert all((row.presets is None) == bool(row.own_defaults) for row in MODELS.values())
    assert {loss for config in (Word2vecConfig, SupervisedConfig) for loss in config.options()["loss"].choices} == {
        *LAYERS
    }


@pytest.mark.parametrize("model", MODELS)
def test_its_session_repeats_follows_the_seed_and_goes_on(model, slice_text, tmp_path):
    """As `wv train` does it, with the defaults of every row but the size; its text is a classifier's, too, or pairs."""
    text, config = tmp_path / ("text.tsv" if model == "pairs" else "text.txt"), MODELS[model].config.options()
    with slice_text.open() as whole:
        lines = [line for line in islice(whole, 150) if line.strip()]
    between = "\t" if model == "pairs" else " "
    header = "anchor\tpositive\n" if model == "pairs" else ""
    text.write_text(header + "".join(f"__label__{line.split()[0]}{between}{line}" for line in lines))
    options = {name: value for name, value in {"dim": 8, "epochs": 6}.items() if name in config}

    def trained(name, **changes):
        path = tmp_path / f"{name}.bin"
        run_session(text, path, model=model, **{**options, **changes})
        return path.read_bytes()

    whole = trained("whole")
    assert trained("again") == whole != trained("other", seed=2)
    with pytest.raises(TimedOut):
        trained("part", max_time=1e-9)
    assert not (tmp_path / "part.bin").exists()
    assert trained("part", resume=True) == whole
    assert not (tmp_path / "part.bin.checkpoint").exists()


@pytest.fixture(scope="module")
def corpus(slice_text):
    return encode([str(slice_text)], VocabConfig(min_count=30))


def small(model, loss, epochs=2, **changes):
    """A run of a second or less; what visits every word for every position gets a small corpus."""
    return Word2vecConfig(model=model, loss=loss, dim=24, epochs=epochs, sample=1e-2, lr=0.05, **changes)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("model", WORD_MODELS)
def test_learns_and_repeats(model, loss, corpus, tmp_path):
    if LAYERS[loss].takes_all:
        text = tmp_path / "small.txt"
        text.write_text("\n".join(["the king and the queen of the land"] * 30 + ["a dog and a cat in a house"] * 30))
        corpus = encode([str(text)], VocabConfig(min_count=1))
    first = Word2vec(small(model, loss), corpus)
    begin = first.input.copy()
    losses = []
    for epoch in range(first.epochs):
        totals = np.zeros(2)
        worker = first.worker()
        for step in range(epoch * first.epoch_steps, (epoch + 1) * first.epoch_steps):
            totals += first.train_step(step, worker)[:2]
        losses.append(totals[0] / totals[1])
    assert losses[1] < losses[0], "the mean loss must fall from epoch to epoch"
    assert np.isfinite(first.input).all() and not np.array_equal(first.input, begin)

    again = Word2vec(small(model, loss), corpus)
    assert train(Threads(again)).is_finished
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, again.arrays()[name])
    other = Word2vec(small(model, loss, seed=2), corpus)
    assert train(Threads(other)).is_finished
    assert not np.array_equal(other.input, first.input)


@pytest.mark.parametrize("model", WORD_MODELS)
def test_two_threads_train_the_same_tokens(model, corpus):
    one, two = (Word2vec(small(model, "ns", epochs=8, threads=n), corpus) for n in (1, 2))
    first, second = train(Threads(one)), train(Threads(two, 2))
    assert first.totals.tokens == second.totals.tokens == 8 * corpus.tokens
    assert first.totals.examples == second.totals.examples, "the draws do not depend on the threads"
    assert second.totals.loss == pytest.approx(first.totals.loss, rel=0.04)  # a small text: most rows are hot ones


def test_keep_probability_follows_the_formulas():
    counts, config = np.array([900, 90, 10]), Word2vecConfig(sample=0.01)
    share = counts / 1000
    expected = np.minimum(1, (np.sqrt(share / 0.01) + 1) * 0.01 / share)
    np.testing.assert_allclose(keep_probability(counts, config), expected)
    paper = Word2vecConfig(sample=0.01, sample_formula="paper")
    np.testing.assert_allclose(keep_probability(counts, paper), np.minimum(1, np.sqrt(0.01 / share)))
    fasttext = Word2vecConfig(sample=0.01, sample_formula="fasttext")
    share = counts / 4000
    expected = np.minimum(1, np.sqrt(0.01 / share) + 0.01 / share)
    np.testing.assert_allclose(keep_probability(counts, fasttext, 4000), expected)
    assert keep_probability(counts, Word2vecConfig(sample=0)) is None
    for formula in ("word2vec", "fasttext", "paper"):  # without a warning, which would be an error here
        assert (keep_probability(counts, Word2vecConfig(sample=1e308, sample_formula=formula)) == 1).all()


def test_rows_start_small_and_outputs_at_zero(corpus):
    model = Word2vec(small("skipgram", "ns"), corpus)
    assert np.abs(model.input[:, :24]).max() <= 0.5 / 24 and model.input[:, :24].std() > 0
    assert not model.input[:, 24:].any() and not model.output.any()
