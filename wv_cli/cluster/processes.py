"""The ranks of a training as a job sees them (wv_cli.jobs.run.Processes)."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, cast

from wv_cli.cluster.inputs import shared_texts
from wv_cli.cluster.machine import APART, place
from wv_cli.cluster.ranks import Ranks, agreeing
from wv_cli.cluster.rounds import PARTS, Shareable, Together
from wv_cli.cluster.training import first_part, labelled_of_all, of_all, pooled_by
from wv_cli.engine import checkpoint
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import Savable, SavedRun
from wv_cli.engine.saved_run import Say as Log
from wv_cli.text.corpus import Corpus
from wv_cli.text.labelled import LabelledCorpus
from wv_cli.text.parts import Part

__all__ = ["APART", "RankProcesses", "place", "shared_texts"]


class RankProcesses:
    """The ranks of one training, of which this process is one."""

    def __init__(self, ranks: Ranks) -> None:
        self.peers, self.pooled = ranks, pooled_by(ranks)
        self._trained: Together | None = None

    @property
    def is_main(self) -> bool:
        return self.peers.rank == 0

    @property
    def count(self) -> int:
        return self.peers.size

    def part(self, *, whole_lines: bool) -> Part:
        return Part(self.peers.rank, self.peers.size, whole_lines)

    def agreeing(self) -> AbstractContextManager[None]:
        return agreeing(self.peers)

    def whole(self, corpus: Corpus) -> Corpus:
        return of_all(corpus, self.peers)

    def whole_labelled(self, corpus: LabelledCorpus) -> LabelledCorpus:
        return labelled_of_all(corpus, self.peers)

    def total(self, count: int) -> int:
        return sum(self.peers.gather(count))

    def first_step(self, saved: SavedRun, model: Savable[Any], log: Log) -> int:
        """A part of the whole (wv_cli.cluster.rounds.PARTS)."""
        try:
            return first_part(saved, self._together(model), self.peers, log)
        except checkpoint.OtherRun as error:
            if error.steps != PARTS:
                whose = "the checkpoint of one process, not of ranks"
                message = f"{saved.path}: {whose}; go on with one process, or begin anew with --overwrite"
                error.args = (message,)
            raise

    def trained_by(self, model: Savable[Any]) -> tuple[Savable[Any], Callable[..., Outcome]]:
        together = self._together(model)
        return together, together.train

    def _together(self, model: Savable[Any]) -> Together:
        """The model as the ranks train it, always the same one."""
        if self._trained is None:
            self._trained = Together(cast(Shareable[Any], model), self.peers)
        return self._trained

    def metadata(self) -> dict[str, object]:
        figures = asdict(self._trained.figures) if self._trained is not None else {}
        return {"ranks": {"size": self.count, **figures}}
