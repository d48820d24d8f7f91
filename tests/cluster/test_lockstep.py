"""`wv train --deterministic` by several ranks, here threads of one process: the bytes of one process, stopped and gone
on with or not; what ranks notice of each other, and what ends them."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.cluster.threads import ThreadRanks, run_ranks, run_sessions
from tests.models.test_rounds import VARIANTS
from wv_cli.cluster.lockstep import Lockstep, Meetings
from wv_cli.engine.run import Outcome
from wv_cli.engine.run import train as train_by
from wv_cli.engine.trainer import Diverged, StepResult
from wv_cli.errors import Elsewhere, TimedOut, WvError
from wv_cli.jobs.train import train

OPTIONS = {"dim": 20, "epochs": 2, "min_count": 2, "deterministic": True}


@pytest.fixture(scope="module")
def text(slice_text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lockstep") / "text.txt"
    with slice_text.open() as whole:
        path.write_text("".join(islice(whole, 800)))
    return path


def alone(text: Path, output: Path, **options: Any) -> bytes:
    train(text, output, **{**OPTIONS, **options})
    return output.read_bytes()


def by_ranks(monkeypatch: pytest.MonkeyPatch, size: int, text: Path, output: Path, **options: Any) -> bytes | None:
    """What the ranks have written; None when they were stopped."""

    def task(ranks: ThreadRanks) -> bool:
        try:
            train(text, output, **{**OPTIONS, **options})
        except TimedOut:
            return False
        return True

    ended = run_sessions(monkeypatch, size, task)
    assert len(set(ended)) == 1, "all end alike"
    return output.read_bytes() if ended[0] else None


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_any_number_of_ranks_writes_the_bytes_of_one_process_and_goes_on_with_any(
    variant: dict[str, Any], text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(text, tmp_path / "1.bin", **variant)
    for size, threads in ((2, 1), (3, 2), (4, 9)):
        assert by_ranks(monkeypatch, size, text, tmp_path / "more.bin", threads=threads, **variant) == one, size
    part = tmp_path / "part.bin"
    for again in (
        lambda: by_ranks(monkeypatch, 4, text, part, resume=True, **variant),
        lambda: alone(text, part, resume=True, **variant),
    ):
        assert by_ranks(monkeypatch, 2, text, part, max_time=1e-9, **variant) is None
        assert not part.exists()
        assert again() == one
        part.unlink()


def test_ranks_go_on_with_the_checkpoint_of_one_process(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(text, tmp_path / "1.bin")
    monkeypatch.setattr("wv_cli.engine.threads.WAKE_SECONDS", 0)
    with pytest.raises(TimedOut):
        alone(text, tmp_path / "part.bin", max_time=1e-9)
    assert by_ranks(monkeypatch, 8, text, tmp_path / "part.bin", resume=True) == one
    assert not (tmp_path / "part.bin.checkpoint").exists()


def test_checkpoints_on_the_way_change_nothing(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = alone(text, tmp_path / "1.bin")
    assert by_ranks(monkeypatch, 2, text, tmp_path / "2.bin", checkpoint_every=1e-9) == one


@pytest.mark.parametrize(
    "options", [{"preset": "quality", "epochs": 1, "dim": 100}, {"dedup": True}, {"min_line": 5}], ids=str
)
def test_what_other_ranks_refuse_or_divide(
    options: dict[str, Any], text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = alone(text, tmp_path / "1.bin", **options)
    assert by_ranks(monkeypatch, 2, text, tmp_path / "2.bin", **options) == one


def test_files_beside_the_vectors_are_those_of_one_process(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Phrases that are found, the vocabulary, a state, and what goes on with it."""
    for name in ("1", "2"):
        files = {f"save_{what}": tmp_path / f"{name}.{what}" for what in ("phrases", "vocab", "state")}
        options = {"learn_phrases": 1, "phrase_min_count": 2, **files}
        output = tmp_path / f"{name}.bin"
        again = {"continue_": files["save_state"], "epochs": 1}
        if name == "1":
            alone(text, output, **options)
            alone(text, tmp_path / "1.next.bin", **again)
        else:
            by_ranks(monkeypatch, 2, text, output, **options)
            by_ranks(monkeypatch, 3, text, tmp_path / "2.next.bin", **again)
    for what in ("bin", "phrases", "vocab", "state", "next.bin"):
        assert (tmp_path / f"1.{what}").read_bytes() == (tmp_path / f"2.{what}").read_bytes(), what


def test_the_sidecar_says_what_was_handed_over(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_ranks(monkeypatch, 2, text, tmp_path / "a.bin")
    alone(text, tmp_path / "b.bin")
    two, one = (json.loads((tmp_path / f"{name}.bin.meta.json").read_text()) for name in "ab")
    assert two["ranks"]["size"] == 2 and two["ranks"]["rounds"] > 2 and two["ranks"]["bytes_per_word"] > 20
    assert "ranks" not in one
    for same in ("corpus", "examples", "mean_loss", "rounds"):
        assert two[same] == one[same]


def refused(task: Callable[[ThreadRanks], object]) -> Callable[[ThreadRanks], WvError]:
    """The task of which all ranks agree that it cannot be done, returning what each raises."""

    def run(ranks: ThreadRanks) -> WvError:
        with pytest.raises(WvError) as caught:
            task(ranks)
        return caught.value

    return run


def test_more_ranks_than_workers_are_refused(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = run_sessions(monkeypatch, 9, refused(lambda _: train(text, tmp_path / "a.bin", **OPTIONS)))
    said = "--deterministic has work for 8 ranks, not for 9; start fewer"
    assert [str(error) for error in errors] == [f"rank 0 of 9 (here): {said}"] + 8 * [""]
    assert all(error.exit_code == 2 for error in errors)


def test_a_rank_that_fails_ends_all(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a step, while a thread of each rank waits for the one that meets the others."""
    given = ThreadRanks.gather_bytes

    def gather_bytes(self: ThreadRanks, own: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
        if self.rank == 1 and self.bytes_sent > 0:
            raise WvError("the network is gone")
        return given(self, own)

    monkeypatch.setattr(ThreadRanks, "gather_bytes", gather_bytes)
    with pytest.raises(WvError, match=r"rank 1 of 2 \(here\): the network is gone"):
        by_ranks(monkeypatch, 2, text, tmp_path / "a.bin", threads=2)
    assert not (tmp_path / "a.bin").exists()


class Counting:
    """A model whose steps do nothing but count; `fault` says what is wrong with that of rank 1."""

    epochs, epoch_steps, steps = 1, 5, 5

    def __init__(self, ranks: ThreadRanks, fault: str = "") -> None:
        self.fault = fault if ranks.rank == 1 else ""
        self.diverges = fault == "diverges"

    def identity(self) -> dict[str, str]:
        return {"corpus": self.fault if self.fault == "text" else ""}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"input": np.full((2, 3), self.fault == "arrays", np.float32)}

    def tables(self) -> list[NDArray[Any]]:
        return [np.full(2, self.fault == "tables", np.uint32)]

    def worker(self) -> None:
        """It needs nothing."""

    def train_step(self, step: int, worker: None) -> StepResult:
        return (float("nan") if self.diverges and step == 2 else 1.0), 1, 1, 0.5


def counted(ranks: ThreadRanks, fault: str = "", **asked: Any) -> Outcome:
    model: Any = Counting(ranks, fault)
    return train_by(Lockstep(model, Meetings(ranks)).begin(0), **asked)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("text", "has read another text than rank 0 of 3"),
        ("arrays", "begins with other numbers than rank 0 of 3"),
        ("tables", "begins with other numbers than rank 0 of 3"),
    ],
)
def test_ranks_that_are_not_alike_are_refused(fault: str, said: str) -> None:
    first, *others = map(str, run_ranks(3, refused(lambda ranks: counted(ranks, fault))))
    assert first.startswith(f"rank 1 of 3 (here) {said} (here)") and others == ["", ""]


def test_a_divergence_is_no_matter_of_one_rank() -> None:
    first, *others = run_ranks(3, refused(lambda ranks: counted(ranks, "diverges")))
    assert isinstance(first, Diverged) and first.agreed
    assert str(first) == "the vectors diverged (NaN or infinity) in step 2 of 5"
    assert all(isinstance(error, Elsewhere) for error in others)


def test_a_signal_of_one_rank_stops_all_at_the_same_step(monkeypatch: pytest.MonkeyPatch) -> None:
    own = threading.local()

    @contextmanager
    def caught() -> Iterator[list[int]]:
        yield [15] if own.rank == 1 else []

    def task(ranks: ThreadRanks) -> tuple[Outcome, list[int]]:
        saved: list[int] = []
        own.rank = ranks.rank
        return counted(ranks, save=saved.append if ranks.rank == 0 else None), saved

    monkeypatch.setattr("wv_cli.engine.run.caught_signals", caught)
    found = run_ranks(2, task)
    assert [(outcome.next_step, outcome.signal, saved) for outcome, saved in found] == [(1, 15, [1]), (1, 15, [])]


def test_a_time_that_is_over_for_one_rank_is_over_for_all() -> None:
    def task(ranks: ThreadRanks) -> tuple[Outcome, list[int]]:
        saved: list[int] = []
        mine = {"save": saved.append, "save_every": 1e-9} if ranks.rank == 0 else {}
        seconds = 1e-9 if ranks.rank == 1 else None
        return counted(ranks, max_seconds=seconds, **mine), saved

    found = run_ranks(2, task)
    assert [(outcome.next_step, outcome.timed_out, saved) for outcome, saved in found] == [
        (1, True, [1]),
        (1, True, []),
    ]
    whole = run_ranks(2, lambda ranks: counted(ranks, save_every=1e-9, save=[].append if ranks.rank == 0 else None))
    assert all(outcome.finished and outcome.next_step == 5 for outcome in whole)
