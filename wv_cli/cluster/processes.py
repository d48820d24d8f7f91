"""The ranks of a training as a job sees them (wv_cli.jobs.run.Processes)."""

from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any, cast

from wv_cli.cluster.inputs import shared_texts
from wv_cli.cluster.machine import place
from wv_cli.cluster.ranks import Ranks, agree
from wv_cli.cluster.trainer import RankTrainer
from wv_cli.cluster.training import RankPeers, first_part, labelled_of_all, of_all, pooled_by
from wv_cli.engine.checkpoint import OtherRun
from wv_cli.engine.peers import PARTS, InParts, Shareable
from wv_cli.engine.saved_run import Checkpointed, Savable, SavedRun
from wv_cli.engine.trainer import Trainer
from wv_cli.system.events import Log
from wv_cli.text.corpus import Corpus
from wv_cli.text.labelled import LabelledCorpus
from wv_cli.text.parts import Part

__all__ = ["RankProcesses", "place", "shared_texts"]


class RankProcesses:
    """The ranks of one training, of which this process is one."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self.peers, self.pooled = RankPeers(ranks), pooled_by(ranks)
        self._trainer: RankTrainer | None = None

    @property
    def is_main(self) -> bool:
        return self._ranks.rank == 0

    @property
    def count(self) -> int:
        return self._ranks.size

    def part(self, *, whole_lines: bool) -> Part:
        return Part(self._ranks.rank, self._ranks.size, whole_lines)

    def agreeing(self) -> AbstractContextManager[None]:
        return agree(self._ranks)

    def whole(self, corpus: Corpus) -> Corpus:
        return of_all(corpus, self._ranks)

    def whole_labelled(self, corpus: LabelledCorpus) -> LabelledCorpus:
        return labelled_of_all(corpus, self._ranks)

    def first_step(self, saved: SavedRun, model: Savable[Any], log: Log) -> int:
        """A part of the whole (wv_cli.engine.peers.PARTS)."""
        try:
            return first_part(saved, self.saved_as(model), self._ranks, log)
        except OtherRun as error:
            if error.steps != PARTS:
                whose = "the checkpoint of one process, not of ranks"
                message = f"{saved.path}: {whose}; go on with one process, or begin anew with --overwrite"
                error.args = (message,)
            raise

    def saved_as(self, model: Savable[Any]) -> Checkpointed:
        return InParts(cast(Shareable[Any], model))

    def trainer(self, model: Savable[Any], threads: int, first_step: int) -> Trainer:
        self._trainer = RankTrainer(cast(Shareable[Any], model), self._ranks, threads, first_step)
        return self._trainer

    def metadata(self) -> dict[str, object]:
        figures = asdict(self._trainer.figures()) if self._trainer is not None else {}
        return {"ranks": {"size": self.count, **figures}}
