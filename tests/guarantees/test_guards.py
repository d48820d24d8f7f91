"""Guards and policies that show only when something goes wrong: here it does."""

import os
import shutil
import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.models.training.test_run import Recorder
from wv_cli.commands.autotune import LabelSearch, Plan
from wv_cli.commands.autotune_log import Trial
from wv_cli.errors import UsageError, WvError
from wv_cli.io import memory
from wv_cli.io.output import check_writable, open_output
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.vectors.neighbors.codes import CodeNeighbors, pack_bits


def test_a_file_is_on_disk_before_it_gets_its_name_and_the_name_before_the_end(tmp_path, monkeypatch):
    events = []

    def fsync(descriptor, real=os.fsync):
        events.append(("sync", os.fstat(descriptor).st_ino))
        real(descriptor)

    def renamed(source, target, *more, real):
        events.append(("rename", Path(source).stat().st_ino))
        real(source, target, *more)

    monkeypatch.setattr(os, "fsync", fsync)
    for name in ("replace", "rename"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *arguments, real=real: renamed(*arguments, real=real))
    with open_output(tmp_path / "file") as stream:
        stream.write(b"whole")
    file, folder = (tmp_path / "file").stat().st_ino, tmp_path.stat().st_ino
    assert events == [("sync", file), ("rename", file), ("sync", folder)]


def test_one_writer_of_a_file_at_a_time(tmp_path):
    target = tmp_path / "file"
    with open_output(target) as first:
        first.write(b"first")
        with pytest.raises(WvError, match="another process is writing this file"), open_output(target) as second:
            second.write(b"second")
    assert target.read_bytes() == b"first"


def test_a_disk_too_small_is_told_before_the_work(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    check_writable(tmp_path / "file", 1_000_000)
    with pytest.raises(WvError, match=r"file: needs about 2 MB, but .* has 1 MB free"):
        check_writable(tmp_path / "file", 2_000_000)


def test_memory_too_small_is_told_before_the_work(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 999)
    memory.require(999, "training", "lower --dim")
    with pytest.raises(WvError, match=r"training needs .* lower --dim"):
        memory.require(1000, "training", "lower --dim")


@pytest.mark.parametrize("config", [Word2vecConfig, SupervisedConfig])
@pytest.mark.parametrize(
    ("minn", "message"),
    [(4, r"--minn must be between 1 and --maxn \(3\), not 4"), (0, "--maxn 3 needs --minn, from 1 to 3")],
)
def test_n_grams_that_cannot_be_are_refused(config, minn, message):
    with pytest.raises(UsageError, match=message):
        replace(config(), minn=minn, maxn=3).validate()


def test_negatives_are_drawn_by_the_power(slice_text):
    """With power 0 all words are drawn alike, so the rows of rare words move as far as others."""
    corpus = encode([str(slice_text)], VocabConfig(min_count=5))

    def moved(power):
        model = Word2vec(Word2vecConfig(dim=16, epochs=1, power=power, window=1, negative=20), corpus)
        train(Threads(model))
        norms = np.linalg.norm(model.output, axis=1)
        return norms[-500:].mean() / norms[:500].mean()

    assert moved(0.0) > 1.2 * moved(0.75)


def test_the_time_left_counts_only_what_this_run_did():
    model, seen = Recorder(steps=1000, seconds=0.002), []
    train(Threads(model, first_step=900), on_progress=seen.append)
    for report in seen[:-1]:
        if done := round(report.fraction * 1000 - 900):  # a step may take longer than the time between two reports
            assert report.eta == pytest.approx(report.elapsed * (100 - done) / done)


def test_a_second_interrupt_ends_at_once(monkeypatch):
    """The step of its thread interrupts, again and again, until the test lets it end."""
    model, goes_on, real = Recorder(steps=8), threading.Event(), Recorder.train_step

    def train_step(model, step, worker):
        while not goes_on.wait(0.1):
            os.kill(os.getpid(), signal.SIGINT)
        return real(model, step, worker)

    monkeypatch.setattr(Recorder, "train_step", train_step)
    usual = signal.signal(signal.SIGINT, lambda *_: None)  # for those that come when nobody trains any more
    trainer = Threads(model)
    try:
        with pytest.raises(KeyboardInterrupt):
            train(trainer)
        assert model.done == [], "it waited for the step"
    finally:
        goes_on.set()
        for thread in trainer._threads:
            thread.join()
        signal.signal(signal.SIGINT, usual)


def test_of_equal_trials_the_first_is_best():
    search = object.__new__(LabelSearch)
    search.plan, search.first = Plan("valid"), SupervisedConfig()
    search.trials = [Trial(number, {}, 2, score, "", 1.0) for number, score in enumerate([0.1, 0.7, 0.7, None, 0.7])]
    assert search.best.number == 1


def test_a_tie_of_bits_is_on():
    codes = pack_bits(np.array([[1, 1, 0, 0], [1, 0, 1, 0]]) > 0)
    index = CodeNeighbors(4, 0, codes)
    assert index.majority(codes).tolist() == pack_bits(np.array([[1, 1, 1, 0]]) > 0)[0].tolist()
