"""The runner: every step once, in order with one thread; stops between steps; carries errors; reports true means."""

import os
import signal
import threading
import time

import pytest

from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.models.training.trainer import Diverged, Immediate


class Recorder(Immediate):
    """A model whose steps note their number and take `seconds`."""

    steps, epochs = 0, 4

    def __init__(self, steps=40, seconds=0.0, fail_at=None, loss=2.0):
        self.steps, self.seconds, self.fail_at, self.loss = steps, seconds, fail_at, loss
        self.done = []

    @property
    def epoch_steps(self):
        return self.steps // self.epochs

    def worker(self):
        return threading.get_ident()

    def train_step(self, step, worker):
        assert worker == threading.get_ident()
        time.sleep(self.seconds)
        if step == self.fail_at:
            raise RuntimeError("step failed")
        self.done.append(step)
        return self.loss * 10, 10, 100, 0.5


def test_one_thread_takes_the_steps_in_order():
    model = Recorder()
    outcome = train(Threads(model))
    assert model.done == list(range(40)) and outcome.is_finished and outcome.next_step == 40
    assert (outcome.totals.tokens, outcome.totals.loss) == (4000, 800.0)


def test_many_threads_take_every_step_once():
    model = Recorder(seconds=0.001)
    assert train(Threads(model, 7)).is_finished
    assert sorted(model.done) == list(range(40))


def test_goes_on_from_a_step():
    model = Recorder()
    assert train(Threads(model, first_step=33)).is_finished
    assert model.done == list(range(33, 40))


def test_nothing_left_to_do():
    model = Recorder()
    assert train(Threads(model, first_step=40)).is_finished
    assert model.done == []


def test_an_error_in_a_thread_reaches_the_caller():
    with pytest.raises(RuntimeError, match="step failed"):
        train(Threads(Recorder(fail_at=5), 3))


def test_divergence_stops_without_saving():
    saves = []
    with pytest.raises(Diverged):
        train(Threads(Recorder(loss=float("nan"))), save=saves.append)
    assert saves == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_between_steps(number, monkeypatch):
    """Sent by a step, so that it never comes before the loop listens."""
    model, saves, real = Recorder(steps=10_000, seconds=0.002), [], Recorder.train_step

    def train_step(model, step, worker):
        if step == 100:
            os.kill(os.getpid(), number)
        return real(model, step, worker)

    monkeypatch.setattr(Recorder, "train_step", train_step)
    before = signal.getsignal(number)
    outcome = train(Threads(model, 2), save=saves.append)
    assert outcome.signal == number and not outcome.is_finished
    assert saves == [outcome.next_step] and sorted(model.done) == list(range(outcome.next_step))
    assert signal.getsignal(number) == before


def test_max_seconds_saves_and_stops():
    model, saves = Recorder(steps=10_000, seconds=0.002), []
    outcome = train(Threads(model), save=saves.append, max_seconds=0.3)
    assert outcome.timed_out and saves == [outcome.next_step] == [len(model.done)]


@pytest.mark.parametrize("threads", [1, 3])
def test_out_of_time_ends_with_the_steps_under_way(threads):
    """However fast they are, and though the main thread sleeps: the workers look at the clock themselves."""
    model, saves, told = Recorder(), [], []
    outcome = train(Threads(model, threads), save=saves.append, max_seconds=1e-9, after_epoch=told.append)
    assert outcome.timed_out and not outcome.is_finished and saves == [outcome.next_step] and told == []
    assert sorted(model.done) == list(range(outcome.next_step)) and 1 <= outcome.next_step <= threads


def test_save_every_saves_while_no_step_runs():
    model, saves = Recorder(steps=10_000, seconds=0.002), []

    def save(step):
        saves.append((step, sorted(model.done)))
        model.seconds = 0 if len(saves) == 2 else model.seconds  # it may end

    train(Threads(model, 3), save_every=0.2, save=save)
    assert len(saves) >= 2
    assert all(done == list(range(step)) for step, done in saves)


def test_progress_reports_interval_means_and_reaches_one():
    model, seen = Recorder(steps=10_000, seconds=0.002), []

    def see(report):
        seen.append(report)
        model.seconds = 0 if len(seen) == 3 else model.seconds  # it may end

    train(Threads(model), on_progress=see)
    assert seen[-1].fraction == 1 and seen[-1].epoch == seen[-1].epochs == 4
    assert all(report.loss in (None, 2.0) for report in seen) and len(seen) >= 3
    assert [report.fraction for report in seen] == sorted(report.fraction for report in seen)


def test_after_every_epoch_no_thread_runs():
    model, seen = Recorder(seconds=0.001), []

    def after(epoch):
        seen.append((epoch, len(model.done), {*threading.enumerate()} - before))
        return True

    before = {*threading.enumerate()}  # one that another test has left may end meanwhile
    assert train(Threads(model, 3), after_epoch=after).is_finished
    assert seen == [(epoch, epoch * 10, set()) for epoch in (1, 2, 3, 4)] and sorted(model.done) == list(range(40))


def test_an_epoch_may_end_the_run_which_is_then_finished():
    model, saves = Recorder(), []
    outcome = train(Threads(model), save=saves.append, after_epoch=lambda epoch: epoch < 2)
    assert outcome.is_finished and outcome.next_step == 20 and model.done == list(range(20)) and saves == []


@pytest.mark.parametrize(("first", "epochs"), [(0, [1, 2, 3, 4]), (15, [2, 3, 4]), (20, [2, 3, 4]), (40, [4])])
def test_a_run_that_goes_on_asks_again_where_it_stopped(first, epochs):
    model, seen = Recorder(), []
    assert train(Threads(model, first_step=first), after_epoch=lambda epoch: seen.append(epoch) or True).is_finished
    assert seen == epochs and model.done == list(range(first, 40))


@pytest.mark.parametrize("end", ["signal", "time"])
def test_a_run_that_is_to_stop_in_its_last_step_is_whole(monkeypatch, end):
    """The last epoch is told of, though the main thread has already stopped waiting for it."""
    monkeypatch.setattr("wv_cli.models.training.threads.WAKE_SECONDS", 0.01)
    model, real, seen, clock = Recorder(), Recorder.train_step, [], [0.0]
    monkeypatch.setattr("wv_cli.models.training.run.time.monotonic", lambda: clock[0])

    def train_step(model, step, worker):
        if step == model.steps - 1:
            if end == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
            clock[0] = 2.0
            time.sleep(0.5)
        return real(model, step, worker)

    monkeypatch.setattr(Recorder, "train_step", train_step)
    seconds = 1.0 if end == "time" else None
    outcome = train(Threads(model), max_seconds=seconds, after_epoch=lambda epoch: seen.append(epoch) or True)
    assert seen == [1, 2, 3, 4] and outcome.is_finished
    assert outcome.late == (signal.SIGTERM if end == "signal" else None)


def test_an_error_in_a_thread_is_not_the_end_of_an_epoch():
    seen = []
    with pytest.raises(RuntimeError, match="step failed"):
        train(Threads(Recorder(fail_at=9)), after_epoch=lambda epoch: seen.append(epoch) or True)
    assert seen == []
