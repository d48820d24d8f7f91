"""Checkpoints are never discarded silently: who may replace or remove one, and that one run holds it."""

import os
import re
import subprocess
import sys
import warnings
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.processes import Process
from wv_cli import _cpu, train
from wv_cli.commands.job import SidecarWarning
from wv_cli.errors import BadFile, TimedOut, UsageError, WvError
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.lock import hold_lock
from wv_cli.models.layers import LAYERS, OutputLayer
from wv_cli.models.training import blocks
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import save as save_vectors
from wv_cli.words import WordList

OPTIONS = {"dim": 8, "epochs": 30, "min_count": 5, "meta": False}
FLAGS = ["--dim", 8, "--epochs", 30, "--min-count", 5, "--no-meta"]
LOG = ["--autotune-log", "x.bin"]


@pytest.fixture
def text(slice_text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with slice_text.open("rb") as lines:
        Path("text.txt").write_bytes(b"".join(islice(lines, 300)))
    return "text.txt"


@pytest.fixture
def stopped(text):
    """The checkpoint of a run that was stopped."""
    with pytest.raises(TimedOut):
        train(text, "a.vec", max_time=1e-6, **OPTIONS)
    return Path("a.vec.checkpoint")


def header(path):
    with open_input(path, "") as source:
        return container.Reader(source, "checkpoint").header


def rewritten(path, **changed):
    """The checkpoint with other facts in its header and a valid check sum."""
    with open_input(path, "") as source:
        reader = container.Reader(source, "checkpoint")
        facts, arrays = reader.header, reader.read()
    facts = {name: {**facts[name], **changed.get(name, {})} if name in changed else facts[name] for name in facts}
    container.save(path, "checkpoint", facts, arrays)


def test_the_same_command_without_resume_is_refused_before_any_work(stopped, wv):
    before, said = stopped.read_bytes(), []
    done = wv("train", "no-such-text.txt", "-o", "a.vec", *FLAGS)  # nothing is read
    assert done.returncode == 1 and re.fullmatch(
        r"wv train: a\.vec\.checkpoint: the checkpoint of an earlier run is there, at \d+\.\d % of 30 epochs, made "
        r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d; go on with --resume, or begin anew with --overwrite\n",
        done.stderr,
    )
    with pytest.raises(WvError, match="overwrite"):
        train("text.txt", "a.vec", log=lambda message, **facts: said.append(message), **{**OPTIONS, "epochs": 1})
    assert stopped.read_bytes() == before and said == [] and sorted(os.listdir()) == ["a.vec.checkpoint", "text.txt"]


def test_what_can_be_said_of_other_checkpoints(stopped):
    rewritten(stopped, schedule={"steps": 8, "epochs": 1}, state={"next_step": 3})
    with pytest.raises(WvError, match=r"at 37\.5 % of 1 epoch, made"):
        train("text.txt", "a.vec", **OPTIONS)
    whole = stopped.read_bytes()
    stopped.write_bytes(whole[:-9])
    with pytest.raises(WvError, match=r"a file that is no checkpoint, or a damaged one .*made 20"):
        train("text.txt", "a.vec", **OPTIONS)
    stopped.write_text("not a checkpoint")
    with pytest.raises(WvError, match=r"a file that is no checkpoint, or a damaged one .*overwrite"):
        train("text.txt", "a.vec", **OPTIONS)
    stopped.write_bytes(whole)
    rewritten(stopped, schedule={"steps": None}, state={"next_step": 133})
    with pytest.raises(WvError, match=r"at step 133, made 20"):
        train("text.txt", "a.vec", **OPTIONS)


def test_overwrite_keeps_the_old_one_until_the_first_save(stopped):
    old, seen = stopped.read_bytes(), []
    train("text.txt", "a.vec", overwrite=True, on_progress=lambda now: seen.append(stopped.read_bytes()), **OPTIONS)
    assert set(seen) == {old} and not stopped.exists()
    train("text.txt", "a.vec", overwrite=True, **OPTIONS)  # there is none: fine
    with pytest.raises(TimedOut):
        train("text.txt", "a.vec", max_time=1e-6, **OPTIONS)
    with pytest.raises(TimedOut):
        train("text.txt", "a.vec", max_time=1e-6, overwrite=True, **{**OPTIONS, "epochs": 20})
    assert header(stopped)["identity"]["epochs"] == 20


def test_a_failed_run_with_overwrite_leaves_the_old_one(stopped):
    old = stopped.read_bytes()
    with pytest.raises(WvError, match=r"no-such"):
        train("no-such.txt", "a.vec", overwrite=True, **OPTIONS)
    assert stopped.read_bytes() == old


def test_resume_and_overwrite_contradict(text, wv):
    done = wv("train", text, "-o", "a.vec", "--resume", "--overwrite")
    assert done.returncode == 2 and "--resume and --overwrite cannot be used together" in done.stderr
    with pytest.raises(UsageError, match="one continues the checkpoint, one discards it"):
        train(text, "a.vec", resume=True, overwrite=True)


def test_the_way_on_does_not_overwrite(text, wv):
    done = wv("train", "-o", "a.vec", *FLAGS, "--epochs", 3000, "--overwrite", "--max-time", 0.2, "--", text)
    assert done.returncode == 124 and "--overwrite" not in done.stderr
    assert done.stderr.rstrip().endswith(f"--max-time 0.2 --resume -- {text}")


def test_a_finished_run_removes_only_its_own(stopped):
    """One that another program put there meanwhile stays."""
    mine, other = stopped.read_bytes(), b"another's"
    stopped.unlink()
    train("text.txt", "a.vec", on_progress=lambda now: stopped.write_bytes(other), **OPTIONS)
    assert stopped.read_bytes() == other
    stopped.write_bytes(mine)
    said = []
    train("text.txt", "a.vec", resume=True, log=lambda message, **facts: said.append(message), **OPTIONS)
    assert any("going on at" in message for message in said) and not stopped.exists()


def test_two_runs_with_the_same_output(text, wv):
    """The second is refused before any work; the first goes on."""
    arguments = ["train", "-", "-o", "a.vec", *FLAGS]
    command = [sys.executable, "-m", "wv_cli", *map(str, arguments)]
    first, data = Process(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE), Path(text).read_bytes()
    first.stdin.write(data * -(-(1 << 20) // len(data)))  # more than a pipe has room for: it has been locked and reads
    second = wv(*arguments, "--overwrite")
    assert second.returncode == 1 and second.stderr.startswith(
        "wv train: a.vec.checkpoint: another run saves to this checkpoint; wait for it"
    )
    _, talk = first.communicate()
    assert first.returncode == 0, talk
    assert sorted(os.listdir()) == ["a.vec", "text.txt"]


def test_standard_output_needs_no_lock(text, wv):
    assert wv("train", text, "-o", "-", *FLAGS, "-q").returncode == 0
    assert os.listdir() == [text]


def test_without_locks_the_run_says_so(text, monkeypatch):
    said = []
    monkeypatch.setattr("wv_cli.io.lock.take", lambda descriptor: False)
    train(text, "a.vec", log=lambda message, **facts: said.append(message), **OPTIONS)
    assert "no locks on this file system" in said[0]


def test_the_lock_lasts_until_the_results_are_written(text, monkeypatch):
    def save(path, embeddings, **options):
        with pytest.raises(WvError, match="used"), hold_lock("a.vec.checkpoint", "used"):
            pass

    monkeypatch.setattr("wv_cli.vectors.formats.save", save)
    train(text, "a.vec", **OPTIONS)


@pytest.mark.parametrize("wrong", [99_999_999_999, -1, 1.7, 1.0, True, "3", None, [1]], ids=repr)
def test_an_impossible_next_step(wrong, stopped):
    rewritten(stopped, state={"next_step": wrong})
    before = stopped.read_bytes()
    with pytest.raises(BadFile, match=r"byte 16: expected `next_step` to be a whole number from 0 to \d+, found "):
        train("text.txt", "a.vec", resume=True, **OPTIONS)
    assert stopped.read_bytes() == before and not Path("a.vec").exists()


@pytest.mark.parametrize(
    ("part", "facts"),
    [
        ("state", {"isa": 3}),
        ("schedule", {"steps": "many"}),
        ("schedule", {"version": True}),
        ("identity", {"dim": True}),
    ],
    ids=str,
)
def test_facts_of_other_types(part, facts, stopped):
    rewritten(stopped, **{part: facts})
    with pytest.raises(WvError, match=next(iter(facts))):
        train("text.txt", "a.vec", resume=True, **{**OPTIONS, "dim": 8})


@pytest.mark.parametrize("part", ["identity", "schedule", "state"])
@pytest.mark.parametrize("wrong", [None, 3, "x", []], ids=repr)
def test_parts_of_other_types(part, wrong, stopped):
    with open_input(stopped, "") as source:
        reader = container.Reader(source, "checkpoint")
        facts, arrays = reader.header, reader.read()
    container.save(stopped, "checkpoint", {**facts, part: wrong}, arrays)
    with pytest.raises(BadFile, match=f"expected `{part}` to be a dict, found"):
        train("text.txt", "a.vec", resume=True, **OPTIONS)
    with pytest.raises(WvError, match="is there"):  # nor does it harm to be told of
        train("text.txt", "a.vec", **OPTIONS)


def test_numbers_that_are_none(stopped):
    with open_input(stopped, "") as source:
        reader = container.Reader(source, "checkpoint")
        facts, arrays = reader.header, reader.read()
    arrays["output"][3, 2] = float("nan")
    container.save(stopped, "checkpoint", facts, arrays)
    with pytest.raises(BadFile, match="the array output holds NaN or infinity"):
        train("text.txt", "a.vec", resume=True, **OPTIONS)


@pytest.mark.parametrize("changed", [{"step_ids": 39_000}, {"version": 2}], ids=str)
def test_other_steps_are_refused(changed, stopped, monkeypatch):
    """A version whose blocks are others, or whose steps compute something else, does not go on."""
    with monkeypatch.context() as patch:
        patch.setitem(LAYERS, "ns", OutputLayer("", "ns", draws=True, **changed))
        (name,) = changed
        with pytest.raises(WvError, match=rf"made by wv \S+ \(.*{name}: \d+ in the checkpoint, .*; finish it with"):
            train("text.txt", "a.vec", resume=True, **OPTIONS)
    train("text.txt", "a.vec", resume=True, **OPTIONS)


def test_another_order_of_steps_is_refused(stopped, monkeypatch):
    assert blocks.epoch_order() == 1318386966, "NumPy draws other orders"
    monkeypatch.setattr("wv_cli.models.training.saved_run.epoch_order", lambda: 7)
    with pytest.raises(WvError, match="epoch_order"):
        train("text.txt", "a.vec", resume=True, **OPTIONS)


def test_another_instruction_set_is_told(stopped):
    rewritten(stopped, state={"isa": "abacus"})
    said = []
    train("text.txt", "a.vec", resume=True, log=lambda message, **facts: said.append(message), **OPTIONS)
    assert any(f"made with abacus kernels, going on with {_cpu.name()}" in message for message in said)


def test_a_sidecar_that_cannot_be_written_does_not_fail_the_run(text, wv):
    Path("a.vec.meta.json").mkdir()
    done = wv("train", text, "-o", "a.vec", *FLAGS[:-1], "-q")
    assert done.returncode == 0 and Path("a.vec").stat().st_size > 1000
    assert re.fullmatch(
        r"wv train: note: a\.vec\.meta\.json: cannot write: .*; a\.vec itself is written and whole\n", done.stderr
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train(text, "b.vec", **OPTIONS)
        train(text, "a.vec", **{**OPTIONS, "meta": True})
    assert [each.category for each in caught] == [SidecarWarning]


@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", "a.vec", "-o", "a.vec"],
        ["-o", "a.vec", "-o", "./a.vec"],
        ["-o", "a.vec", "-o", "link.vec"],
        ["-o", "a.vec", "-o", "hard.vec"],
        ["-o", "a.vec", "--checkpoint", "a.vec"],
        ["-o", "a.vec", "--save-output-vectors", "a.vec"],
        ["-o", "a.vec", "-o", "a.vec.checkpoint.vec", "--checkpoint", "a.vec.checkpoint.vec"],
        ["-o", "a.vec", "--checkpoint", "a.vec.meta.json"],
        ["-o", "a.vec", "-o", "b.npy", "--save-output-vectors", "b.words.txt"],
        ["-o", "-", "-o", "-"],
    ],
    ids=" ".join,
)
def test_two_outputs_that_are_one_file(arguments, text, wv):
    Path("a.vec").write_text("yesterday's")
    Path("link.vec").symlink_to("a.vec")
    Path("hard.vec").hardlink_to("a.vec")
    done = wv("train", text, *arguments, *FLAGS[:-1])
    assert done.returncode == 2 and re.search("is the same file as|two outputs have this name", done.stderr)
    assert Path("a.vec").read_text() == "yesterday's"


def test_two_outputs_of_other_commands(text, wv):
    save_vectors("v.vec", Embeddings(WordList.from_words([b"a", b"b"]), np.eye(2, dtype=np.float32)))
    for arguments in [
        ["hash", "v.vec", "-m", "lsh", "-o", "x.codes", "--save-hasher", "x.codes"],
        ["glove", text, "-o", "x.vec", "--save-counts", "x.vec"],
        ["bioword", text, "-o", "x.codes", "--save-hasher", "./x.codes"],
        ["whiten", "v.vec", "-o", "x.vec", "--save-moments", "x.vec"],
        ["train", text, "--model", "supervised", "-o", "x.bin", "--autotune-validation", "v.vec", *LOG],
    ]:
        done = wv(*arguments)
        assert done.returncode == 2 and "x." in done.stderr, (arguments, done.stderr)
    devices = ["-o", "/dev/null", "--save-hasher", "/dev/null", "--checkpoint", "c", "--no-meta"]
    assert wv("bioword", text, *devices, "--cells", 8, "--length", 2, "--epochs", 1, "-q").returncode == 0


@pytest.mark.parametrize("name", ["v.vec", "v.bin"])
def test_what_a_kill_while_saving_has_left_is_removed_by_a_run_that_saves_nothing(tmp_path, name):
    """The temporary file of a checkpoint, in a rerun that ends before a checkpoint is due."""
    (tmp_path / "text").write_text("one two three\n" * 9)
    stray = tmp_path / f".{name}.checkpoint.{0:024x}.wv-tmp"
    stray.write_bytes(b"half of a checkpoint")
    train(tmp_path / "text", tmp_path / name, dim=2, epochs=1, min_count=1)
    assert not stray.exists()
