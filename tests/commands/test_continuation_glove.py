"""`wv glove` that goes on with a state: what is kept, what it equals, what it refuses."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from wv_cli import __main__
from wv_cli._glove import RECORD
from wv_cli.models.glove.state import open_state
from wv_cli.text.vocab import read_vocab
from wv_cli.vectors import formats

OPTIONS = "--dim 12 --iterations 8 --min-count 1 --x-max 10 --threads 1 -q --no-meta"


def glove(arguments: str) -> int:
    return __main__.run(["glove", *arguments.split()])


@pytest.fixture(scope="module")
def halves(slice_text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("halves")
    with slice_text.open("rb") as stream:
        lines = list(islice(stream, 200))
    for name, part in (("first", lines[:100]), ("second", lines[100:]), ("both", lines)):
        (folder / f"{name}.txt").write_bytes(b"".join(part))
    assert glove(f"{folder}/first.txt -o {folder}/first.vec --save-state {folder}/first.state {OPTIONS}") == 0
    return folder


@pytest.fixture
def here(halves, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in halves.iterdir():
        Path(path.name).symlink_to(path)
    return tmp_path


def made(here):
    """The files that a run left."""
    return sorted(path.name for path in here.iterdir() if not path.is_symlink())


def counts(path, vocab):
    """Pairs by their words."""
    words, records = list(read_vocab(vocab).words), np.fromfile(path, RECORD)
    return {(words[row - 1], words[column - 1]): value for row, column, value in records.tolist()}


def test_two_halves_are_counted_as_one_text(here):
    kept = "--save-counts 2.counts --save-vocab 2.vocab -q --no-meta"
    assert glove(f"second.txt --continue first.state -o 2.vec --save-state 2.state {kept}") == 0
    assert glove("both.txt --counts-only --save-counts both.counts --save-vocab both.vocab --min-count 1 -q") == 0
    found, both = (read_vocab(f"{name}.vocab") for name in ("2", "both"))
    assert dict(zip(found.words, found.counts, strict=True)) == dict(zip(both.words, both.counts, strict=True))
    assert counts("2.counts", "2.vocab") == counts("both.counts", "both.vocab")
    state = open_state("2.state")
    assert state.records.tobytes() == Path("2.counts").read_bytes()
    assert list(state.vocab.words) == list(found.words) and state.vocab.tokens_read == both.counts.sum()
    assert state.options.config["dim"] == 12 and state.options.vocab_config["min_count"] == 1
    before = open_state("first.state")
    assert state.options.trained == before.options.trained + 8 * len(state.records)


def test_known_words_begin_where_they_were(here):
    """Nothing moves at such a learning rate."""
    assert glove("second.txt --continue first.state -o 2.vec --eta 1e-9 --bias-lr 0 --iterations 1 -q --no-meta") == 0
    old, new = formats.load("first.vec"), formats.load("2.vec")
    places = new.words.find_all(old.words)
    assert places.min() >= 0 and len(new) > len(old)
    np.testing.assert_allclose(new.matrix[places], old.matrix, atol=1e-5)


def cost(state, of):
    """The mean cost of the model `state` on the counts of the state `of`, between words that both know."""
    ids = state.vocab.words.find_all(of.vocab.words)
    records = of.records.copy().view(RECORD)[:, 0]
    rows, columns = ids[records["row"] - 1], ids[records["column"] - 1]
    known = (rows >= 0) & (columns >= 0)
    rows, columns, values = rows[known], columns[known], records["value"][known]
    rows_of = {name: array.astype(np.float64) for name, array in state.rows.items()}
    scores = np.einsum("ij,ij->i", rows_of["word_vectors"][rows], rows_of["context_vectors"][columns])
    errors = scores + rows_of["word_biases"][rows] + rows_of["context_biases"][columns] - np.log(values)
    return float(np.mean(np.minimum(1, (values / 10) ** 0.75) * errors**2))


def test_it_learns_what_the_second_half_says(here):
    assert glove("second.txt --continue first.state -o 2.vec --save-state 2.state -q --no-meta") == 0
    first, both = open_state("first.state"), open_state("2.state")
    assert cost(both, both) < 0.9 * cost(first, both)
    assert cost(first, first) < 0.9 * cost(first, both), "the halves differ"


def test_what_was_learnt_helps(here):
    """The first pass over both halves costs less than one that begins anew, and learns more."""
    short = "--iterations 1 -q --no-meta"
    assert glove(f"second.txt --continue first.state -o 2.vec --save-state 2.state {short}") == 0
    assert glove(f"both.txt -o b.vec --save-state b.state {OPTIONS} {short}") == 0
    on, anew = open_state("2.state"), open_state("b.state")
    assert cost(on, on) < 0.8 * cost(anew, anew)


def test_neighbors_stay_when_little_is_new(here):
    """When training goes on from where it was; a model begun anew has others."""
    Path("few.txt").write_text("the zyxwv of the zyxwv\n")
    long = OPTIONS.replace("--iterations 8", "--iterations 60")
    assert glove(f"first.txt -o old.vec --save-state old.state {long}") == 0
    assert glove("few.txt --continue old.state -o on.vec --iterations 6 -q --no-meta") == 0
    assert glove(f"first.txt -o anew.vec --seed 2 {long}") == 0
    old, on, anew = (formats.load(f"{name}.vec") for name in ("old", "on", "anew"))
    assert set(on.words) == {*old.words, "zyxwv"}

    def nearest(model):
        rows = model.matrix[model.words.find_all(old.words[:300])]
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return np.argsort(-(rows @ rows.T), axis=1)[:, 1:11].tolist()

    def shared(model):
        return np.mean([len({*one} & {*other}) for one, other in zip(nearest(old), nearest(model), strict=True)]) / 10

    assert shared(on) > 0.85 > shared(anew) + 0.2


def test_a_share_of_the_counts(here):
    assert glove("second.txt --continue first.state --decay 0.5 -o 2.vec --save-state 2.state -q --no-meta") == 0
    assert glove("second.txt --continue first.state --decay 0 -o 0.vec --save-state 0.state -q --no-meta") == 0
    first, half, none = (open_state(f"{name}.state") for name in ("first", "2", "0"))
    assert list(none.vocab.words) != list(half.vocab.words) and set(none.vocab.words) == set(half.vocab.words)
    sums = [float(each.records.copy().view(RECORD)["value"].sum()) for each in (first, half, none)]
    assert sums[1] == pytest.approx(0.5 * sums[0] + sums[2])
    assert half.options.trained == first.options.trained / 2 + 8 * len(half.records)


def test_a_state_may_be_replaced_by_the_next(here):
    Path("a.state").write_bytes(Path("first.state").read_bytes())
    for given, left in (("a.state", "a.state"), ("first.state", "b.state")):
        assert glove(f"second.txt --continue {given} -o 2.vec --save-state {left} --threads 1 -q --no-meta") == 0
    assert Path("a.state").read_bytes() == Path("b.state").read_bytes()


def test_a_stopped_run_goes_on_to_the_same_bytes(here):
    options = "second.txt --continue first.state --threads 1 -q --no-meta --iterations 20"
    assert glove(f"{options} -o whole.vec --save-state whole.state") == 0
    assert glove(f"{options} -o a.vec --save-state a.state --max-time 0.000001") == 124
    assert not Path("a.state").exists()
    assert glove(f"{options} -o a.vec --save-state a.state --resume --decay 0.5") == 1, "other counts"
    assert glove(f"{options} -o a.vec --save-state a.state --resume") == 0
    for name in ("vec", "state"):
        assert Path(f"a.{name}").read_bytes() == Path(f"whole.{name}").read_bytes()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("second.txt -o 2.vec --dim 13", "--dim is 12 in the state and 13 here; leave it out"),
        ("second.txt -o 2.vec --window 4", "--window is 10 in the state and 4 here"),
        ("second.txt -o 2.vec --left-only", "--symmetric is True in the state and False here"),
        ("second.txt -o 2.vec --weighting flat", "--weighting is distance in the state and flat here"),
        ("second.txt -o 2.vec --lowercase", "--lowercase is False in the state and True here"),
        ("second.txt -o 2.vec --decay 2", "--decay must be between 0 (earlier counts"),
        ("second.txt -o 2.vec --vocab x", "--vocab has no effect with --continue"),
        ("second.txt -o 2.vec --init x", "--init has no effect with --continue"),
        ("second.txt -o 2.vec --save-state -", "a state is a file"),
        ("second.txt -o 2.vec --save-state 2.vec", "give each its own"),
        ("second.txt -o first.state --to npy", "is both read and written"),
        ("--counts x.counts:x.vocab -o 2.vec", "--continue has no effect with --counts"),
        ("second.txt --counts-only --save-counts x.counts", "--continue has no effect with --counts-only"),
    ],
)
def test_what_does_not_go_together(here, capfd, given, message):
    assert glove(f"{given} --continue first.state") == 2
    errors = capfd.readouterr().err
    assert message in errors and errors.count("\n") == 1
    assert made(here) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("second.txt -o 2.vec --decay 0.5", "--decay needs --continue"),
        ("--counts x.counts:x.vocab -o 2.vec --save-state x.state", "--save-state has no effect with --counts"),
        ("second.txt --counts-only --save-counts x --save-state x.state", "has no effect with --counts-only"),
    ],
)
def test_what_needs_a_state_or_a_text(here, capfd, given, message):
    assert glove(given) == 2
    assert message in capfd.readouterr().err


def test_a_state_of_one_word_is_none(here, capfd):
    Path("one.txt").write_text("the the the\n")
    assert glove(f"one.txt -o 1.vec --save-state 1.state {OPTIONS}") == 1
    assert "at least two different words" in capfd.readouterr().err


def test_states_of_others_and_damaged_ones(here, capfd):
    train = [
        "train",
        "first.txt",
        "-o",
        "w.vec",
        "--save-state",
        "w.state",
        "--dim",
        "12",
        "--epochs",
        "1",
        "--no-meta",
    ]
    assert __main__.run(train) == 0
    whole = Path("first.state").read_bytes()
    Path("cut.state").write_bytes(whole[:-9])
    damaged = bytearray(whole)
    damaged[-1000] ^= 1
    Path("flipped.state").write_bytes(damaged)
    cases: list[tuple[str, Callable[[str], int], str]] = [
        ("w.state", glove, "expected a state of glove, found 'skipgram'; `wv train` goes on with those of its models"),
        (
            "first.state",
            lambda options: __main__.run(["train", *options.split()]),
            "found 'glove'; `wv glove` goes on with it",
        ),
        ("cut.state", glove, "cut short"),
        ("flipped.state", glove, "check sum differs"),
        ("first.vec", glove, "expected a state file of wv"),
        ("none.state", glove, "no such file"),
    ]
    before = made(here)
    for path, run, message in cases:
        capfd.readouterr()
        assert run(f"second.txt -o 2.vec --continue {path}") == 1
        errors = capfd.readouterr().err
        assert path in errors and message in errors and errors.count("\n") == 1
        assert made(here) == before


def test_a_full_disk_leaves_yesterdays_state(here):
    """A limit on the file size fails the write in the middle, as a full disk does."""
    Path("a.state").write_bytes(Path("first.state").read_bytes())
    call = "glove second.txt -o 2.vec --continue a.state --save-state a.state --iterations 1 --no-meta -q"
    sizes = [Path("first.vec").stat().st_size, 20_000]  # at the state, at the counts on the way to it

    for size in sizes:

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        argv = [sys.executable, "-m", "wv_cli", *call.split()]
        done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=limit, check=False)
        assert done.returncode == 1 and "file too large" in done.stderr and done.stderr.count("\n") == 1
        assert Path("a.state").read_bytes() == Path("first.state").read_bytes()
        assert made(here) == ["a.state"]


def test_command_line(here, wv):
    done = wv("glove", "second.txt", "-o", "2.vec", "--continue", "first.state", "--save-state", "2.state")
    assert done.returncode == 0, done.stderr
    assert "words from first.state" in done.stderr and "wrote 2.vec, 2.state" in done.stderr
    assert made(here) == ["2.state", "2.state.meta.json", "2.vec", "2.vec.meta.json"]
    metadata = json.loads(Path("2.state.meta.json").read_text())
    assert (metadata["continued"]["state"], metadata["continued"]["decay"]) == ("first.state", 1.0)
    assert metadata["config"]["x_max"] == 10 and metadata["vocabulary_config"]["min_count"] == 1, "the state's options"
