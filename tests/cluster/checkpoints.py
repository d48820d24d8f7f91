"""Ranks, here threads of one process, that stop, and others that go on from their checkpoint."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cluster.served import silent
from tests.cluster.threads import ThreadRanks, run_ranks
from tests.tiers import full
from wv_cli.cluster.trainer import RankTrainer
from wv_cli.cluster.training import first_part
from wv_cli.engine.peers import PARTS, InParts, Shareable
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import SavedRun

# Of the ranks that stop and of those that go on.
SIZES = [(2, 3), *full((3, 1), (1, 2))]


def stop_and_go_on(path: Path, sizes: tuple[int, int], model_of: Callable[[ThreadRanks], Shareable[Any]]) -> None:
    """Asserts that the second ranks begin where the first have stopped, and come to the end."""

    def go(ranks: ThreadRanks, resume: bool, seconds: float | None) -> tuple[int, Outcome]:
        saved = SavedRun(str(path) if ranks.rank == 0 else None, resume=resume, overwrite=not resume)
        model = model_of(ranks)
        begin = first_part(saved, InParts(model), ranks, silent)
        trainer = RankTrainer(model, ranks, 1, begin)
        outcome = saved.train(
            InParts(model), trainer, save_every=None, max_seconds=seconds, on_progress=None, advice=""
        )
        return begin, outcome

    before, after = sizes
    stopped = run_ranks(before, lambda ranks: go(ranks, False, 0.0))
    assert all(outcome.timed_out and 0 < outcome.next_step < PARTS for _, outcome in stopped)
    ended = run_ranks(after, lambda ranks: go(ranks, True, None))
    assert all(begin == stopped[0][1].next_step and outcome.finished for begin, outcome in ended)
