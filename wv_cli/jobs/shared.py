"""A run that several ranks share: each reads its part of the texts, all train, rank 0 checks, talks and writes."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self, cast

from wv_cli.cluster.ranks import Ranks, agreeing, joined, named
from wv_cli.cluster.rounds import Shareable, Together
from wv_cli.cluster.training import first_part, pooled_by, require_same
from wv_cli.engine.run import Outcome, Worker
from wv_cli.engine.saved_run import Savable, Say
from wv_cli.errors import WvError
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.session import Observe, Reading, TextSession
from wv_cli.text.corpus import Pooled
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.parts import Part, size_of

# What only rank 0 writes, and what it is told when its session is that of another rank.
_NOTHING: dict[str, Any] = {
    "outputs": (),
    "save_vocab": None,
    "save_counts": None,
    "output_vectors": None,
    "checkpoint": None,
    "resumable": False,
    "write_meta": False,
}
# What may differ between ranks: where a command line calls the same thing otherwise.
_OWN = {"argv", "named", "config", "vocab_config", "_trained", "_finder"}


@dataclass(frozen=True, kw_only=True)
class SharedSession(TextSession):
    """With `ranks` this process is one of several that a launcher has started. Every rank reads the whole of other
    files than texts."""

    _trained: Together | None = field(default=None, init=False, repr=False, compare=False)

    @cached_property
    def ranks(self) -> Ranks | None:
        return joined()

    @property
    def rank(self) -> int | None:
        return self.ranks.rank if self.ranks is not None else None

    @property
    def leads(self) -> bool:
        return not self.rank

    @property
    def part(self) -> Part | None:
        return Part(self.ranks.rank, self.ranks.size) if self.ranks is not None else None

    @property
    def pooled(self) -> Pooled | None:
        return pooled_by(self.ranks) if self.ranks is not None else None

    def run(
        self, say: Say, observe: Observe | None = None, reading: Reading | None = None
    ) -> tuple[Outcome | None, Facts]:
        """See Session.run. What keeps all ranks from working one of them says; what happens to one alone has its name
        in the message."""
        ranks = self.ranks
        if ranks is None:
            return super().run(say, observe, reading)
        require_same(ranks, self._options())
        own = self if self.leads else self._following()
        with ExitStack() as stack:
            listed: list[tuple[str, int]] = []
            with agreeing(ranks):
                if self.leads:
                    self.validate()
                    stack.enter_context(self.claimed(say))
                    listed = [(path, size_of(path)) for path in expand_inputs(self.texts(say))]
            listed = ranks.share(listed)
            with agreeing(ranks):
                self._require_files(listed)
            try:
                own = replace(own, inputs=tuple(path for path, _ in listed))
                return own.work(say, observe, reading) if self.leads else own.work(_silent, None, None)
            except BaseException as error:
                if isinstance(error, WvError) and error.agreed:
                    raise
                if isinstance(error, WvError):
                    named(error, ranks)
                ranks.abort_at_exit(getattr(error, "exit_code", 1))
                raise

    def _options(self) -> dict[str, object]:
        """What must be the same on all ranks."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in _OWN}
        return {**values, **self.config.identity(), **asdict(self.vocab_config)}

    def _following(self) -> Self:
        """The session of a rank that writes nothing."""
        names = {each.name for each in fields(self)}
        return replace(self, **{name: value for name, value in _NOTHING.items() if name in names})

    def _require_files(self, listed: list[tuple[str, int]]) -> None:
        """Raises WvError where this rank does not see the files that rank 0 has listed, and where its part is empty."""
        for path, size in listed:
            found = size_of(path)
            if found != size:
                message = f"{path}: {found:,} bytes here, {size:,} where rank 0 is; all ranks must see the same files"
                raise WvError(message)
        assert self.part is not None, "called of several ranks"
        self.part.of([path for path, _ in listed])

    def first_step(self, model: Savable[Worker], say: Say) -> int:
        """See TrainingSession; with ranks it is a part of the whole (cluster.rounds.PARTS)."""
        if self.ranks is None:
            return super().first_step(model, say)
        return first_part(self.saved_run, self._together(model, self.ranks), self.ranks, say)

    def trained_by(self, model: Savable[Any]) -> tuple[Savable[Any], Callable[..., Outcome]]:
        """See TrainingSession."""
        if self.ranks is None:
            return super().trained_by(model)
        together = self._together(model, self.ranks)
        return together, together.train

    def _together(self, model: Savable[Any], ranks: Ranks) -> Together:
        """The model as the ranks train it, always the same one."""
        if self._trained is None:
            object.__setattr__(self, "_trained", Together(cast(Shareable[Any], model), ranks))
        assert self._trained is not None, "made above"
        return self._trained

    def own_facts(self) -> Facts:
        """With what the sidecar says of the ranks, nothing of a process that was alone."""
        if self.ranks is None or self._trained is None:
            return super().own_facts()
        return {**super().own_facts(), "ranks": {"size": self.ranks.size, **asdict(self._trained.figures)}}


def _silent(message: str, **facts: object) -> None:
    """Rank 0 has said it."""
