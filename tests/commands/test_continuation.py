"""Runs that go on with a state: what they keep, what they take from it, what they refuse."""

import json
import resource
import subprocess
import sys
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from wv_cli import train
from wv_cli.__main__ import run
from wv_cli.commands.parts import continuation
from wv_cli.errors import BadFile, TimedOut, UsageError, WvError
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.lock import hold_lock
from wv_cli.models.training.state import StateOptions, read_options
from wv_cli.vectors import formats
from wv_cli.vectors.formats.fasttext_read import load_model

OPTIONS = {"dim": 12, "epochs": 3, "min_count": 3, "lr": 0.1, "meta": False}
KINDS = {
    "skipgram": {},
    "cbow": {"model": "cbow"},
    "hs": {"loss": "hs"},
    "hs_ns": {"loss": "hs_ns"},
    "nce": {"loss": "nce"},
    "softmax": {"loss": "softmax"},
    "ova": {"loss": "ova", "lr": 0.01},
    "subwords": {"minn": 2, "maxn": 4, "buckets": 5000},
    "subwords-hs": {"minn": 2, "maxn": 4, "buckets": 5000, "loss": "hs"},
}
EVERY = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def halves(slice_text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("halves")
    with slice_text.open("rb") as stream:
        lines = list(islice(stream, 300))
    (folder / "first.txt").write_bytes(b"".join(lines[:150]))
    (folder / "second.txt").write_bytes(b"".join(lines[150:]))
    for kind, options in KINDS.items():
        out = folder / f"{kind}.vec"
        train(folder / "first.txt", out, save_state=folder / f"{kind}.state", **{**OPTIONS, **options})
    return folder


@pytest.fixture
def here(halves, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return halves


def contents(path, kind="state"):
    with open_input(path, "") as source:
        reader = container.Reader(source, kind)
        return reader.header, reader.read()


def rewritten(path, change, **facts):
    """The state with other facts, and arrays as `change` makes them, and a valid check sum."""
    header, arrays = contents(path)
    container.save("bad.state", "state", {**header, **facts}, {**arrays, **change(arrays)})
    return "bad.state"


def counts(path):
    _, arrays = contents(path)
    words = [bytes(word) for word in np.split(arrays["words"], arrays["word_starts"][1:-1])]
    return dict(zip(words, arrays["word_counts"].tolist(), strict=True))


@EVERY
def test_without_training_the_old_vectors_are_what_they_were(here, kind):
    train(here / "second.txt", "second.vec", continue_=here / f"{kind}.state", epochs=0, save_state="2.state")
    old, new = formats.load(here / f"{kind}.vec"), formats.load("second.vec")
    places = new.words.find_all(old.words)
    assert places.min() >= 0 and len(new) > len(old)
    np.testing.assert_allclose(new.matrix[places], old.matrix, atol=2e-6)
    (_, before), (_, after) = contents(here / f"{kind}.state"), contents("2.state")
    if "hs" not in kind:
        assert np.array_equal(after["output"][places], before["output"])
        assert not after["output"][np.setdiff1d(np.arange(len(new)), places)].any()
    if "output_bias" in before:
        assert np.array_equal(after["output_bias"][places], before["output_bias"])
    if "buckets" in before:
        rows = dict(zip(after["buckets"].tolist(), after["input"][len(new) :], strict=True))
        for bucket, row in zip(before["buckets"].tolist(), before["input"][len(old) :], strict=True):
            assert np.array_equal(rows[bucket], row)


@EVERY
def test_what_was_learnt_helps(here, kind):
    """The same run after a state in which nothing has been learnt has a higher loss."""
    options = {**OPTIONS, **KINDS[kind]}
    train(here / "first.txt", "none.vec", save_state="none.state", **{**options, "epochs": 0})
    on, begun = (
        train(here / "second.txt", "on.vec", continue_=state, lr=options["lr"], epochs=1)
        for state in (here / f"{kind}.state", "none.state")
    )
    assert on["mean_loss"] < 0.995 * begun["mean_loss"]


def test_words_and_counts_are_those_of_both_texts(here):
    train(here / "second.txt", "second.vec", continue_=here / "skipgram.state", epochs=0, save_state="2.state")
    first, both = counts(here / "skipgram.state"), counts("2.state")
    text = (here / "second.txt").read_bytes().split()
    assert set(both) == set(first) | {word for word in set(text) if text.count(word) >= 3}
    assert all(both[word] == first.get(word, 0) + text.count(word) for word in list(both)[::20])
    train(here / "second.txt", "second.vec", continue_=here / "skipgram.state", epochs=0, save_state="0.state", decay=0)
    assert counts("0.state")[b"the"] == 1 + text.count(b"the")


def test_unknown_words_begin_with_what_their_subwords_say(here):
    train(here / "first.txt", "first.bin", **{**OPTIONS, **KINDS["subwords"]}, save_state="first.state")
    train(here / "second.txt", "second.vec", continue_="first.state", epochs=0)
    model, new = load_model("first.bin"), formats.load("second.vec")
    fresh = [word for word in new.words if word not in model.words and word.isalpha()]
    far = [np.abs(model.word_vector(word) - new.matrix[new.words.find(word)]).max() for word in fresh]
    assert len(far) > 50 and np.median(far) < 0.02  # but for n-grams that no word had before


def test_options_not_given_are_the_states(here):
    metadata = train(here / "second.txt", "a.vec", continue_=here / "cbow.state", window=3)
    assert (
        metadata["config"]["model"] == "cbow" and metadata["config"]["dim"] == 12 and metadata["config"]["window"] == 3
    )
    assert metadata["vocabulary_config"]["min_count"] == 3
    assert metadata["continued"] == {
        "state": str(here / "cbow.state"),
        "decay": 1.0,
        "trained": read_options(str(here / "cbow.state")).trained,
    }


def test_the_learning_rate_goes_on_or_is_given(here):
    state = read_options(str(here / "skipgram.state"))
    metadata = train(here / "second.txt", "a.vec", continue_=here / "skipgram.state", save_state="2.state", epochs=2)
    tokens = 2 * metadata["corpus"]["tokens"]
    assert metadata["config"]["lr"] == pytest.approx(0.1 * tokens / (tokens + state.trained))
    after = read_options("2.state")
    assert (after.lr, after.trained) == (0.1, state.trained + tokens)
    metadata = train(
        here / "second.txt", "a.vec", continue_="2.state", decay=0.5, again=True, epochs=2, save_state="3.state"
    )
    assert metadata["config"]["lr"] == pytest.approx(0.1 * tokens / (tokens + after.trained / 2))
    assert read_options("3.state").trained == after.trained / 2 + tokens
    assert train(here / "second.txt", "a.vec", continue_="2.state", again=True, lr=0.01)["config"]["lr"] == 0.01


def test_nothing_trained_leaves_the_rate_at_its_start():
    assert StateOptions("skipgram", {}, {}, 0, 0.05).lr_after(1000, 1) == 0.05
    assert StateOptions("skipgram", {}, {}, 3000, 0.05).lr_after(1000, 1) == 0.0125


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"dim": 13}, "dim is 12 in the state and 13 here"),
        ({"model": "cbow"}, "model is skipgram in the state and cbow here"),
        ({"loss": "hs"}, "loss is ns in the state and hs here"),
        ({"minn": 2, "maxn": 3}, "minn is 0 in the state and 2 here"),
        ({"lowercase": True}, "lowercase is False in the state and True here"),
        ({"preset": "fasttext"}, "preset has no effect with continue"),
        ({"model": "nplm"}, "continue_ has no effect with model nplm"),
        ({"init": "x.vec"}, "init has no effect with continue"),
        ({"vocab": "x.vocab"}, "vocab has no effect with continue"),
        ({"decay": 1.5}, "decay must be between 0 (earlier counts have no weight) and 1 (full weight), not 1.5"),
        ({"decay": float("nan")}, "decay must be between"),
        ({"save_state": "/dev/stdout"}, "a state is a file"),
        ({"save_state": "a.vec"}, "give each its own"),
    ],
    ids=str,
)
def test_what_does_not_go_together(here, given, message):
    with pytest.raises(UsageError) as error:
        train(here / "second.txt", "a.vec", continue_=here / "skipgram.state", **given)
    assert message in str(error.value)
    assert not list(Path().iterdir())


def test_decay_needs_a_state(here):
    with pytest.raises(UsageError, match="decay needs continue"):
        train(here / "first.txt", "a.vec", decay=0.5)


def test_the_vectors_may_not_replace_the_state(here):
    Path("a.state").write_bytes((here / "skipgram.state").read_bytes())
    for more in ({}, {"save_state": "b.state"}):
        with pytest.raises(UsageError, match="is both read and written"):
            train(here / "second.txt", "a.state", continue_="a.state", to="word2vec-text", **more)


def test_a_state_may_be_replaced_by_the_next(here):
    Path("a.state").write_bytes((here / "skipgram.state").read_bytes())
    train(here / "second.txt", "a.vec", continue_="a.state", save_state="a.state", meta=False)
    train(here / "second.txt", "b.vec", continue_=here / "skipgram.state", save_state="b.state", meta=False)
    assert Path("a.state").read_bytes() == Path("b.state").read_bytes()


@pytest.mark.parametrize("command", ["train", "glove"])
def test_two_runs_do_not_replace_one_state(command, here, capsys):
    """The second would not know what the first has learnt."""
    first, second = here / "first.txt", here / "second.txt"
    quiet = ["--save-state", "a.state", "-q", "--no-meta"]
    assert run([command, str(first), "-o", "a.vec", "--dim", "5", *quiet]) == 0
    before, again = Path("a.state").read_bytes(), ["-o", "b.vec", "--continue", "a.state", *quiet]
    with hold_lock("a.state", ""):
        assert run([command, str(second), *again]) == 1
    assert "a.state: another run replaces this state" in capsys.readouterr().err
    assert Path("a.state").read_bytes() == before and not Path("b.vec").exists()
    assert run([command, str(second), *again]) == 0 and Path("a.state").read_bytes() != before


def test_a_state_that_is_replaced_while_a_run_begins(here, monkeypatch):
    """After its options were read, before it is locked."""
    Path("a.state").write_bytes((here / "skipgram.state").read_bytes())

    @contextmanager
    def hold(path, who):
        Path("a.state").write_bytes((here / "hs.state").read_bytes())
        yield True

    monkeypatch.setattr(continuation, "hold_lock", hold)
    with pytest.raises(WvError, match="another run has replaced this state meanwhile"):
        train(here / "second.txt", "a.vec", continue_="a.state", save_state="a.state", meta=False)


@pytest.mark.parametrize(
    ("change", "facts", "message"),
    [
        (lambda a: {"word_counts": a["word_counts"][:-1]}, {}, "do not fit a state of this model"),
        (lambda a: {"word_starts": a["word_starts"][:-1]}, {}, "words are missing"),
        (lambda a: {"words": a["words"][:-1]}, {}, "where each of several words begins"),
        (lambda a: {"word_starts": a["word_starts"][::-1]}, {}, "where each of several words begins"),
        (lambda a: {"words": a["words"] * 0}, {}, "expected different words"),
        (lambda a: {"word_counts": a["word_counts"][::-1]}, {}, "expected counts of words"),
        (lambda a: {"word_counts": a["word_counts"] * 0}, {}, "expected counts of words"),
        (lambda a: {"word_counts": a["word_counts"] * 0 + 2**62}, {}, "expected counts of words"),
        (lambda a: {"output": a["output"][:-1]}, {}, "do not fit a state of this model"),
        (lambda a: {"input": a["input"] * np.float32(np.inf)}, {}, "NaN or infinity"),
        (lambda a: {"more": a["word_counts"]}, {}, "do not fit a state of this model"),
        (lambda a: {}, {"model": "word2vec"}, "a state of one of the models skipgram"),
        (lambda a: {}, {"model": 3}, "expected `model` to be a str"),
        (lambda a: {}, {"config": {"dim": 12, "speed": 3}}, "there is no option speed"),
        (lambda a: {}, {"config": {"dim": "twelve"}}, "dim must be a whole number"),
        (lambda a: {}, {"config": {"dim": 13}}, "do not fit a state of this model"),
        (lambda a: {}, {"vocabulary_config": {"min_count": 0}}, "min_count must be"),
        (lambda a: {}, {"lr": float("nan")}, "expected `lr` to be a float"),
        (lambda a: {}, {"trained": -1}, "expected `trained` to be a float"),
        (lambda a: {}, {"lines": 2**63}, "expected `lines` to be an int"),
    ],
)
def test_a_damaged_state_is_refused(here, change, facts, message):
    bad = rewritten(here / "skipgram.state", change, **facts)
    with pytest.raises(BadFile) as error:
        train(here / "second.txt", "a.vec", continue_=bad, meta=False)
    assert message in str(error.value)
    assert sorted(path.name for path in Path().iterdir()) == ["bad.state"]


@pytest.mark.parametrize(("kind", "array"), [("subwords", "input"), ("hs", "output"), ("subwords", "buckets")])
def test_rows_that_are_not_those_of_the_words(here, kind, array):
    bad = rewritten(here / f"{kind}.state", lambda arrays: {array: arrays[array][:-1]})
    with pytest.raises(WvError, match="its rows are too many or too few"):
        train(here / "second.txt", "a.vec", continue_=bad, meta=False)


def test_files_that_are_no_state(here):
    Path("cut.state").write_bytes((here / "skipgram.state").read_bytes()[:-9])
    whole = bytearray((here / "skipgram.state").read_bytes())
    Path("newer.state").write_bytes(whole.replace(b"wv state 1\n", b"wv state 2\n", 1))
    whole[-1000] ^= 1
    Path("flipped.state").write_bytes(whole)
    train(here / "first.txt", "a.vec", **OPTIONS)
    for path, message in {
        "cut.state": "cut short",
        "newer.state": "version '2'; update wv",
        "flipped.state": "check sum differs",
        "a.vec": "expected a state file of wv",
        "none.state": "no such file",
    }.items():
        with pytest.raises(WvError) as error:
            train(here / "second.txt", "b.vec", continue_=path)
        assert path in str(error.value) and message in str(error.value)
        assert not Path("b.vec").exists()


def test_a_stopped_run_goes_on_to_the_same_bytes(here):
    options = {"continue_": here / "skipgram.state", "epochs": 40, "meta": False}
    train(here / "second.txt", "whole.vec", save_state="whole.state", **options)
    with pytest.raises(TimedOut):
        train(here / "second.txt", "a.vec", save_state="a.state", max_time=1e-6, **options)
    assert not Path("a.state").exists()
    train(here / "second.txt", "a.vec", save_state="a.state", resume=True, **options)
    assert Path("a.vec").read_bytes() == Path("whole.vec").read_bytes()
    assert Path("a.state").read_bytes() == Path("whole.state").read_bytes()


def test_a_stopped_run_does_not_go_on_from_another_state(here):
    """Of the same words and counts: only what was learnt differs."""
    for name, seed in (("one", 1), ("other", 2)):
        train(here / "first.txt", f"{name}.vec", save_state=f"{name}.state", **{**OPTIONS, "epochs": 0, "seed": seed})
    options = {"epochs": 40, "seed": 1, "meta": False}
    with pytest.raises(TimedOut):
        train(here / "second.txt", "a.vec", continue_="one.state", max_time=1e-6, **options)
    with pytest.raises(WvError, match=r"a.vec.checkpoint: this checkpoint belongs to another run \(first_rows: \d+ in"):
        train(here / "second.txt", "a.vec", continue_="other.state", resume=True, **options)
    train(here / "second.txt", "a.vec", continue_="one.state", resume=True, **options)


def test_command_line(here, wv):
    done = wv("train", here / "second.txt", "-o", "2.vec", "--continue", here / "cbow.state", "--save-state", "2.state")
    assert done.returncode == 0, done.stderr
    assert "are new" in done.stderr and "wrote 2.vec, 2.state" in done.stderr
    metadata = json.loads(Path("2.state.meta.json").read_text())
    assert metadata["config"]["model"] == "cbow"
    done = wv("train", here / "second.txt", "-o", "3.vec", "--continue", "2.state", "--dim", 9)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("wv train: 2.state: --dim is 12 in the state and 9 here; leave it out, or begin anew")


def test_words_of_plain_vectors_are_kept(here):
    """--init with --keep-words: the words that the text lacks stay, where they were when nothing is learnt."""
    for epochs in (0, 1):
        options = {**OPTIONS, "epochs": epochs, "init": here / "skipgram.vec"}
        train(here / "second.txt", "kept.vec", keep_words=True, **options)
        train(here / "second.txt", "own.vec", **options)
        old, kept, own = (formats.load(path) for path in (here / "skipgram.vec", "kept.vec", "own.vec"))
        assert set(kept.words) == set(old.words) | set(own.words) > set(own.words)
        lost = [word for word in old.words if word not in (here / "second.txt").read_text().split()]
        rows = [kept.words.find(word) for word in lost]
        assert np.array_equal(kept.matrix[rows], old.matrix[[old.words.find(word) for word in lost]])
    with pytest.raises(UsageError, match="keep_words needs init"):
        train(here / "second.txt", "kept.vec", **OPTIONS, keep_words=True)
    with pytest.raises(UsageError, match="vocab has no effect with keep_words"):
        train(here / "second.txt", "kept.vec", vocab="x", keep_words=True, **options)


def test_a_full_disk_leaves_yesterdays_state(here):
    """A limit on the file size fails the write in the middle, as a full disk does."""
    Path("a.state").write_bytes((here / "skipgram.state").read_bytes())
    call = [
        "train",
        here / "second.txt",
        "-o",
        "a.vec",
        "--continue",
        "a.state",
        "--save-state",
        "a.state",
        "--no-meta",
    ]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    argv = [sys.executable, "-m", "wv_cli", *map(str, call), "-q"]
    done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 1 and "file too large" in done.stderr and "Traceback" not in done.stderr
    assert Path("a.state").read_bytes() == (here / "skipgram.state").read_bytes()
    assert [path.name for path in Path().iterdir()] == ["a.state"]
