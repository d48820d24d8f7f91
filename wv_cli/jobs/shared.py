"""A run that several ranks share: each reads its part of the texts, or all of them; rank 0 checks, talks and writes.

ReadingSession   the ranks read together; who trains is for the session to say
SharedSession    all of them train one model, each from its part of the text, or, where they read all of it, in lockstep

The processes of one machine are one rank: see wv_cli.cluster.machine.
"""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self, cast

from wv_cli.cluster.inputs import shared_texts
from wv_cli.cluster.lockstep import Alike, Lockstep, Meetings
from wv_cli.cluster.machine import APART, OneOfMachines
from wv_cli.cluster.ranks import Ranks
from wv_cli.cluster.rounds import PARTS, InParts, Shareable, Together
from wv_cli.cluster.training import first_part, pooled_by
from wv_cli.engine import checkpoint
from wv_cli.engine.run import Outcome, Worker
from wv_cli.engine.saved_run import Savable
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.session import Observe, Reading
from wv_cli.jobs.training_session import TextSession
from wv_cli.system.events import Log as Say
from wv_cli.text.corpus import Pooled
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import Part

# What only rank 0 writes, and what it is told when its session is that of another rank.
_NOTHING: dict[str, Any] = {
    "outputs": (),
    "save_vocab": None,
    "save_phrases": None,
    "save_state": None,
    "save_counts": None,
    "output_vectors": None,
    "checkpoint": None,
    "resumable": False,
    "write_meta": False,
}
# What may differ between ranks: where a command line calls the same thing otherwise.
_OWN = {"argv", "named", "config", "vocab_config", "_trained", "_finder"}


@dataclass(frozen=True, kw_only=True)
class ReadingSession(OneOfMachines, TextSession):
    """With `ranks` this process is one of several that a launcher has started. Every rank reads the whole of other
    files than texts."""

    @property
    def readers(self) -> Ranks | None:
        """The ranks between which the text is divided; None: this process reads all of it."""
        return self.ranks

    @property
    def rank(self) -> int | None:
        """Whose text this process reads."""
        return self.readers.rank if self.readers is not None else None

    @property
    def leads(self) -> bool:
        return not self.follows

    @property
    def part(self) -> Part | None:
        readers = self.readers
        return Part(readers.rank, readers.size, self.whole_lines) if readers is not None else None

    @property
    def whole_lines(self) -> bool:
        """Whether a long line, too, is read by one rank: where more is asked of it than its words."""
        return bool(self.vocab_config.min_line)

    @property
    def pooled(self) -> Pooled | None:
        return pooled_by(self.readers) if self.readers is not None else None

    def run(
        self, say: Say, observe: Observe | None = None, reading: Reading | None = None
    ) -> tuple[Outcome | None, Facts]:
        """See Session.run. What keeps all ranks from working one of them says; what happens to one alone has its name
        in the message."""
        own = self._for_the_machine(say)
        if own.ranks is None:
            return super(ReadingSession, own).run(say, observe, reading)
        return own._run_as_rank(own.ranks, say, observe, reading)

    def refuse_processes(self) -> None:
        """They can share it, or one of them does it."""

    def _for_the_machine(self, say: Say) -> Self:
        """The session with the threads of all processes that this one works for."""
        here = self.place
        if here.processes == 1:
            return self
        threads = here.threads(self.config.threads)
        if self.leads:
            what = f"the {here.processes} processes of this machine work as one, with {threads} threads"
            say(f"{what} ({APART}: each by itself)", processes=here.processes, threads=threads)
        return replace(self, config=replace(cast(Any, self.config), threads=threads))

    def _run_as_rank(
        self, ranks: Ranks, say: Say, observe: Observe | None, reading: Reading | None
    ) -> tuple[Outcome | None, Facts]:
        own = self if self.leads else self._following()
        with ExitStack() as stack:

            def checked() -> Texts:
                if self.leads:
                    self.validate()
                    stack.enter_context(self.claimed(say))
                return self.texts(say)

            cut = {"whole_lines": self.whole_lines, "divided": self.readers is not None}
            texts = stack.enter_context(shared_texts(ranks, self._options(), checked, **cut))
            own = replace(own, inputs=tuple(texts.inputs))
            return own.work(say, observe, reading) if self.leads else own.work(_silent, None, None)
        raise AssertionError("no error is kept back")

    def _options(self) -> dict[str, object]:
        """What must be the same on all ranks."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _OWN}
        return {**values, **self.config.identity(), **asdict(self.vocab_config)}

    def _following(self) -> Self:
        """The session of a rank that writes nothing."""
        names = {each.name for each in fields(self)}
        return replace(self, **{name: value for name, value in _NOTHING.items() if name in names})

    def own_facts(self) -> Facts:
        """With how many ranks there are, nothing of a process that was alone."""
        if self.ranks is None:
            return super().own_facts()
        return {**super().own_facts(), "ranks": {"size": self.ranks.size, **self.figures()}}

    def figures(self) -> Facts:
        """What the sidecar says of the ranks beside their number."""
        return {}


@dataclass(frozen=True, kw_only=True)
class SharedSession(ReadingSession):
    """With `ranks` all of them train one model."""

    _trained: Together | Lockstep | None = field(default=None, init=False, repr=False, compare=False)

    @cached_property
    def meetings(self) -> Meetings | None:
        """Of ranks that train in lockstep."""
        return Meetings(self.ranks) if self.ranks is not None and self.readers is None else None

    def first_step(self, model: Savable[Worker], say: Say) -> int:
        """See TrainingSession; with ranks that divide the text it is a part of the whole (cluster.rounds.PARTS). One
        process goes on where they were."""
        try:
            if self.ranks is None:
                return super().first_step(model, say)
            return first_part(self.saved_run, self._together(model, self.ranks).saved, self.ranks, say)
        except checkpoint.OtherRun as error:
            of_ranks = error.steps == PARTS
            # A model with a validation is none that ranks can have.
            if of_ranks and self.ranks is None and hasattr(model, "corpus"):
                part = self.saved_run.first_step(InParts(cast(Shareable[Any], model)), say)
                return -(-part * model.steps // PARTS)
            if self.readers is not None and not of_ranks:
                whose = "the checkpoint of one process, not of ranks"
                message = f"{self.checkpoint_path}: {whose}; go on with one process, or begin anew with --overwrite"
                error.args = (message,)
            raise

    def trained_by(self, model: Savable[Any]) -> tuple[Savable[Any], Callable[..., Outcome]]:
        """See TrainingSession."""
        if self.ranks is None:
            return super().trained_by(model)
        together = self._together(model, self.ranks)
        return together.saved, together.train

    def _together(self, model: Savable[Any], ranks: Ranks) -> Together | Lockstep:
        """The model as the ranks train it, always the same one."""
        if self._trained is None:
            made: Together | Lockstep
            if self.meetings is not None:
                made = Lockstep(cast(Alike[Any], model), self.meetings)
            else:
                made = Together(cast(Shareable[Any], model), ranks)
            object.__setattr__(self, "_trained", made)
        assert self._trained is not None, "made above"
        return self._trained

    def figures(self) -> Facts:
        return asdict(self._trained.figures) if self._trained is not None else {}


def _silent(message: str, **facts: object) -> None:
    """Rank 0 has said it."""
