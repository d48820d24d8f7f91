"""Runs that go on with what another run has left: options from the state, its words and counts, its learning rate."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from wv_cli.config import Config, flag_of
from wv_cli.engine.state import StateOptions, read_options
from wv_cli.errors import BadFile, UsageError
from wv_cli.glove.config import MODEL as GLOVE
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.training_session import TextSession
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.system.events import Log as Say
from wv_cli.system.places import identity, is_stream
from wv_cli.text.config import VocabConfig

Learner = TypeVar("Learner", Word2vecConfig, SupervisedConfig)
# Not those of the run before: how fast it learns depends on how much it has learnt.
_NOT_CONTINUED = ("lr",)


@dataclass(frozen=True, kw_only=True)
class GrowingSession(TextSession):
    """`continue_` is the state this run goes on with, in which `decay` says how much of the counts and of the schedule
    of the earlier texts is kept; `save_state` gets the state this run leaves, perhaps in the place of that. STATES are
    the models whose states it may be (none: the session was chosen by the state), FIXED the fields of `config` that
    the arrays of a state depend on."""

    STATES: ClassVar[Collection[str]] = ()
    FIXED: ClassVar[tuple[str, ...]] = ()

    continue_: str | None = None
    decay: float | None = None
    save_state: str | None = None

    def validate(self) -> None:
        if self.decay is not None and not 0 <= self.decay <= 1:
            message = f"--decay is a share of the earlier counts between 0 (none) and 1 (all), not {self.decay:g}"
            raise UsageError(message)
        if self.save_state and is_stream(self.save_state):
            message = f"--save-state {self.save_state}: a state is a file, for --continue; name one"
            raise UsageError(message)
        if self.before is not None:
            self.require_same(self.before)
        super().validate()

    @property
    def first_rows(self) -> tuple[str | None, ...]:
        return (*super().first_rows, self.continue_)

    def read(self) -> list[str]:
        """A state may be replaced by the one that follows it."""
        replaced = self.save_state is not None and self.continue_ is not None
        if replaced and identity(self.continue_ or "") == identity(self.save_state or ""):
            return super().read()
        return super().read() + ([self.continue_] if self.continue_ else [])

    def results(self) -> list[str]:
        return super().results() + ([self.save_state] if self.save_state else [])

    @property
    def share(self) -> float:
        """Of the earlier texts, that still counts."""
        return 1.0 if self.decay is None else self.decay

    @cached_property
    def before(self) -> StateOptions | None:
        """What the state says that this run goes on with. Raises BadFile, WvError."""
        if self.continue_ is None:
            return None
        return state_of(self.continue_, self.STATES) if self.STATES else read_options(self.continue_)

    def require_same(self, before: StateOptions) -> None:
        """Raises UsageError, with the first option, when the rows of the state are not for this run's options."""
        model = getattr(self.config, "model", before.model)
        pairs = [("model", before.model, model)]
        for config, found, names in (
            (self.config, before.config, self.FIXED),
            (self.vocab_config, before.vocab_config, ("lowercase",)),
        ):
            whole = {**{field.name: field.default for field in fields(config)}, **found}  # type: ignore[arg-type]
            pairs += [(name, whole[name], getattr(config, name)) for name in names]
        for name, one, other in pairs:
            if one != other:
                message = f"{self.continue_}: {flag_of(name)} is {one} in the state and {other} here; leave it out"
                raise UsageError(f"{message}, or begin anew without --continue")

    def going_on(self, before: StateOptions, older: int, words: int, say: Say) -> None:
        """Tells how many of the `words` are new to the state, which has `older` of them."""
        self.require_same(before)  # the file may be another one by now
        say(
            f"going on with {older:,} words from {self.continue_}; {words - older:,} are new",
            continued=self.continue_,
            new_words=words - older,
        )

    def with_rate(self, config: Learner, before: StateOptions, tokens: int) -> Learner:
        """The config with the learning rate to begin with, when the text has `tokens` tokens."""
        if "lr" in self.named or config.epochs * tokens == 0:
            return config
        return replace(config, lr=before.lr_after(config.epochs * tokens, self.share))

    def own_facts(self) -> Facts:
        """With what the sidecar says about the state this run went on with."""
        before = self.before
        if before is None:
            return super().own_facts()
        return {
            **super().own_facts(),
            "continued": {"state": self.continue_, "decay": self.share, "trained": before.trained},
        }

    def left_behind(self, model: str, config: Config, lr: float, learnt: int) -> StateOptions:
        """What the state says that this run leaves: it has learnt from `learnt` tokens, those of every epoch, and began
        with `lr` if it began at all."""
        before, trained = self.before, float(learnt)
        if before is not None:
            trained, lr = trained + before.trained * self.share, before.lr
        return StateOptions(model, asdict(config), asdict(self.vocab_config), trained, lr)


def state_of(path: str, models: Collection[str]) -> StateOptions:
    """What the state at `path` says, which must be of one of the `models`. Raises BadFile, WvError."""
    before = read_options(path)
    if before.model not in models:
        advice = "`wv glove` goes on with it" if before.model == GLOVE else "update wv"
        if GLOVE in models:
            advice = "`wv train` goes on with those of its models"
        one_of = "" if len(models) == 1 else "one of the models "
        raise BadFile(path, f"expected a state of {one_of}{', '.join(models)}, found {before.model!r}; {advice}")
    return before


def continued(path: str, before: StateOptions, config: type[Config], named: Collection[str]) -> dict[str, Any]:
    """The options of the run that left the state at `path`, by which one that goes on goes where it is given none;
    `named` are given. Raises BadFile when there are some that do not exist or cannot be."""
    known = {**config.options(), **VocabConfig.options()}
    found = {**before.config, **before.vocab_config}
    unknown = sorted(set(found) - set(known))
    try:
        if unknown:
            raise UsageError(f"there is no option {flag_of(unknown[0])}; update wv")
        config(**before.config).validate()
        VocabConfig(**before.vocab_config).validate()
    except (UsageError, TypeError) as error:
        problem = f"expected options of a run, found what none can have: {error}"
        raise BadFile(path, problem) from error
    own = {*named, *_NOT_CONTINUED}
    return {name: value for name, value in found.items() if known[name].identity and name not in own}
