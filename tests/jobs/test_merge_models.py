"""States of shards, averaged: `wv train --shard` and `wv merge-models`."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import wv_cli
from tests.conftest import Run
from wv_cli.engine.state import State, read_state, save_state
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.formats import load
from wv_cli.jobs.merge_models import merge
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.word2vec import Word2vec

SMALL = {"dim": 8, "epochs": 1, "threads": 1}


@pytest.fixture
def vocab(slice_text: Path, tmp_path: Path, wv: Run) -> str:
    assert wv("build-vocab", slice_text, "-o", tmp_path / "text.vocab", "-q").returncode == 0
    return str(tmp_path / "text.vocab")


def state_of(text: Path, vocab: str, name: str, **options: object) -> str:
    path = str(Path(vocab).parent / name)
    options = {**SMALL, **options}
    wv_cli.train(text, f"{path}.vec", vocab=vocab, save_state=path, **options)  # type: ignore[arg-type]
    return path


def read(path: str, **changes: object) -> State:
    return read_state(path, Word2vec.state_layout(Word2vecConfig(dim=8, **changes)))  # type: ignore[arg-type]


def test_shards_read_all_of_the_text_and_no_line_twice(slice_text: Path, vocab: str) -> None:
    whole = read(state_of(slice_text, vocab, "whole.state")).options.trained
    parts = [read(state_of(slice_text, vocab, f"{i}.state", shard=f"{i}/3")).options.trained for i in (1, 2, 3)]
    assert sum(parts) == whole
    assert max(parts) < 0.4 * whole


def test_a_shard_begins_with_the_rows_of_the_others(slice_text: Path, vocab: str) -> None:
    """Untouched rows: with a rate of nearly nothing."""
    one, other = (
        read(state_of(slice_text, vocab, f"{i}.state", shard=f"{i}/2", lr=1e-12)).arrays["input"] for i in (1, 2)
    )
    assert np.allclose(one, other, atol=1e-6) and one.any()


@pytest.mark.parametrize("loss", ["ns", "hs", "nce"])
def test_rows_are_turned_to_the_first_state_and_count_by_the_words_trained(
    slice_text: Path, vocab: str, tmp_path: Path, loss: str
) -> None:
    path = state_of(slice_text, vocab, "a.state", loss=loss)
    state = read(path, loss=loss)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 8)))[0].astype(np.float32)
    arrays = {**state.arrays}
    for name in ("input", "output"):
        arrays[name] = 3 * (state.arrays[name] @ rotation)
    trained = state.options.trained
    save_state(str(tmp_path / "b.state"), State(replace(state.options, trained=3 * trained), state.vocab, arrays))
    merged = merge([path, str(tmp_path / "b.state")])
    assert merged.options.trained == 4 * trained
    for name in ("input", "output"):  # a quarter of x and three quarters of 3 x
        assert np.allclose(merged.arrays[name], 2.5 * state.arrays[name], atol=1e-4)
    if loss == "nce":
        assert np.allclose(merged.arrays["output_bias"], state.arrays["output_bias"], atol=1e-6)


@pytest.mark.parametrize("subwords", [{}, {"minn": 3, "maxn": 4, "buckets": 1000}], ids=str)
def test_a_merged_state_gives_its_vectors_and_is_gone_on_with(
    slice_text: Path, vocab: str, wv: Run, tmp_path: Path, subwords: dict[str, object]
) -> None:
    paths = [state_of(slice_text, vocab, f"{i}.state", shard=f"{i}/2", **subwords) for i in (1, 2)]
    assert wv("merge-models", *paths, "-o", "merged.state").returncode == 0
    done = wv("merge-models", *paths, "-o", "merged.vec")
    assert done.returncode == 0 and "the mean of 2 states" in done.stderr
    merged = load(str(tmp_path / "merged.vec"))
    assert np.isfinite(merged.matrix).all() and len(merged) == len(load(f"{paths[0]}.vec"))
    again = wv("train", slice_text, "-o", "next.vec", "--continue", "merged.state", "--epochs", 1, "-q")
    assert again.returncode == 0, again.stderr
    if subwords:
        assert wv("merge-models", *paths, "-o", "model.bin").returncode == 0
        assert wv("dump", "model.bin", "args").returncode == 0
        model = load(str(tmp_path / "model.bin"))  # with a row for line ends
        assert np.allclose(model.matrix[model.words.find_all(merged.words)], merged.matrix, atol=1e-4)
    else:
        assert np.allclose(merged.matrix, read(str(tmp_path / "merged.state")).arrays["input"], atol=1e-4)


def test_what_does_not_belong_together_is_refused(slice_text: Path, vocab: str, wv: Run, tmp_path: Path) -> None:
    one = state_of(slice_text, vocab, "a.state")
    with pytest.raises(UsageError, match=r"--seed is 2, in .*a.state it is 1; merge states of runs with the same opt"):
        merge([one, state_of(slice_text, vocab, "b.state", seed=2)])
    with pytest.raises(UsageError, match="nothing to be merged with"):
        merge([one])
    copy = shutil.copy(one, tmp_path / "copy.state")
    for twice in ([one, one], [one, str(copy)]):
        with pytest.raises(UsageError, match=r"state: has the numbers of .*a.state, which would count twice"):
            merge(twice)
    assert wv("build-vocab", slice_text, "-o", "less.vocab", "--max-vocab", 500, "-q").returncode == 0
    with pytest.raises(BadFile, match=r"expected the words and counts of .*a.state, found others"):
        merge([one, state_of(slice_text, str(tmp_path / "less.vocab"), "c.state")])
    done = wv("merge-models", one, one, "-o", "new.state", "--to", "word2vec-text")
    assert done.returncode == 2 and "--to has no meaning" in done.stderr
    done = wv("merge-models", one, one, "-o", one)
    assert done.returncode == 2
    assert not (tmp_path / "new.state").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shard": "0/2"}, "--shard 0/2: expected part I of N as I/N"),
        ({"shard": "3/2"}, "--shard 3/2: expected part I of N as I/N"),
        ({"shard": "half"}, "--shard half: expected part I of N as I/N"),
        ({"shard": "1/2"}, "--shard needs --vocab FILE"),
        ({"shard": "1/2", "vocab": True, "dedup": True}, "--shard and --dedup cannot be used together"),
        ({"shard": "1/2", "vocab": True, "learn_phrases": 1}, "--shard and --learn-phrases cannot be used together"),
        ({"shard": "1/2", "vocab": True, "model": "supervised"}, "--shard has no meaning for --model supervised"),
        ({"shard": "2/90000", "vocab": True}, "no text for part 2 of 90000"),
    ],
    ids=str,
)
def test_shards_that_cannot_be_are_refused(
    slice_text: Path, vocab: str, tmp_path: Path, options: dict[str, object], message: str
) -> None:
    given = {**options, "vocab": vocab} if options.get("vocab") else options
    with pytest.raises(WvError, match=message):
        wv_cli.train(slice_text, tmp_path / "new.vec", **given)  # type: ignore[arg-type]
    assert not (tmp_path / "new.vec").exists()


def test_a_stream_has_no_shards(slice_text: Path, vocab: str, wv: Run) -> None:
    done = wv("train", "-", "-o", "new.vec", "--shard", "1/2", "--vocab", vocab, input=slice_text.read_text())
    assert done.returncode == 1
    assert "several processes cannot share a stream" in done.stderr
