"""Continued training from a state: its options, words, counts and learning rate."""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata
from wv_cli.config import Options, frozen, option
from wv_cli.config.wording import flag_of
from wv_cli.errors import BadFile, UsageError, WvError, show_value
from wv_cli.io.events import Log
from wv_cli.io.lock import hold_lock
from wv_cli.io.places import identity, is_stream
from wv_cli.models.config import SupervisedConfig, Word2vecConfig
from wv_cli.models.glove.config import MODEL as GLOVE
from wv_cli.text.config import VocabConfig
from wv_cli.text.reading_config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.models.training.state import StateOptions

Learner = TypeVar("Learner", Word2vecConfig, SupervisedConfig)
# How fast a run learns depends on how much it has learnt: this is not taken from the state.
_NOT_CONTINUED = ("lr",)
_MOST_TEXTS = 10_000  # are remembered, the last ones


@frozen
class Continuation(Part):
    """The options of continued training: the run continues the state in the file `continue_`; `decay` says how much of
    the counts and of the schedule of the earlier texts is kept. `save_state` gets the state that this run leaves,
    perhaps in the place of the first. A text that the state has learnt is learnt `again` only where that is asked."""

    continue_: str | None = option(
        None,
        "Continue training from a saved state; its options hold unless others are given.",
        role="read",
        group="Input",
        common=True,
    )
    decay: float | None = option(
        None,
        "With --continue: weight of the earlier counts and training.",
        low=0,
        high=1,
        low_is="earlier counts have no weight",
        high_is="full weight",
        metavar="SHARE",
        shown="1",
        group="Input",
        only="continue_",
    )
    again: bool = option(
        False,
        "With --continue: learn INPUT even if the state has already learned it.",
        off=None,
        group="Input",
        only="continue_",
    )
    save_state: str | None = option(
        None,
        "Also save the state for --continue; it may replace the earlier state.",
        role="result",
        group="Output",
        common=True,
    )

    def check(self) -> None:
        if self.save_state and is_stream(self.save_state):
            message = f"--save-state {self.save_state}: a state is a file, for --continue; name one"
            raise UsageError(message)

    def reads(self) -> list[str]:
        """A state may be replaced by the one that follows it."""
        return [] if self._replaces else super().reads()

    def begins_with(self) -> list[str]:
        return [self.continue_] if self.continue_ else []

    @contextmanager
    def claim(self, beside: str | None, *, anew: bool) -> Iterator[None]:
        """From its reading to its renaming a state that is replaced is this run's: of two runs that continued it, one
        would lose what it has learnt."""
        if self.save_state is None:
            yield
            return
        from wv_cli.models.training.state import read_options

        before = self.before
        with hold_lock(self.save_state, "another run replaces this state; begin when it has ended"):
            if before is not None and read_options(str(self.continue_)) != before:
                message = f"{self.continue_}: another run has replaced this state meanwhile; begin again"
                raise WvError(message)
            yield

    def learnt(self) -> tuple[str, ...]:
        """Where no state is continued, the texts of the one that is replaced: they do not tell how far this run is."""
        if self.before is not None:
            return self.before.texts
        from wv_cli.models.training.state import read_options

        with contextlib.suppress(WvError):
            if self.save_state is not None and Path(self.save_state).is_file():
                return read_options(self.save_state).texts
        return ()

    @property
    def knows_texts(self) -> bool:
        """Whether the text must be known again."""
        return bool(self.continue_ or self.save_state)

    def has_seen_text(self, text: str, log: Log) -> bool:
        """Whether the state has learnt the text with this digest, which is not to be learnt again. The log is told."""
        if self.before is None or self.again or text not in self.before.texts:
            return False
        log(
            f"{self.continue_}: this text is already learnt, so nothing is trained; --again learns it once more",
            already_learnt=True,
        )
        return True

    def leaves_state(self, *, known: bool) -> bool:
        """Whether a state is written. After a text that was `known` the state that is continued stays as it is."""
        return self.save_state is not None and not (known and self._replaces)

    @property
    def _replaces(self) -> bool:
        """Whether the state that is continued is replaced."""
        same = self.continue_ is not None and self.save_state is not None
        return same and identity(str(self.continue_)) == identity(str(self.save_state))

    @property
    def kept_fraction(self) -> float:
        """The fraction of the earlier texts that still counts."""
        return 1.0 if self.decay is None else self.decay

    @cached_property
    def before(self) -> "StateOptions | None":
        """The options of the state that this run continues. Raises BadFile, WvError."""
        from wv_cli.models.training.state import read_options

        return read_options(self.continue_) if self.continue_ is not None else None

    def require_same(
        self, before: "StateOptions", config: Options, words: Mapping[str, Any], fixed: Collection[str]
    ) -> None:
        """Raises UsageError, with the first option, when the rows of the state `before` are not for these options. The
        arrays of a state depend on those of `config` that are `fixed`."""
        pairs: list[tuple[str, Any, Any]] = [("model", before.model, getattr(config, "model", before.model))]
        whole = {**{field.name: field.default for field in fields(config)}, **before.config}
        pairs += [(name, whole[name], getattr(config, name)) for name in fixed]
        pairs += [(name, before.vocab_config.get(name), words.get(name)) for name in ("lowercase", "tokenize")]
        for name, one, other in pairs:
            if one != other:
                message = f"{self.continue_}: {flag_of(name)} is {one} in the state and {other} here; leave it out"
                raise UsageError(f"{message}, or begin anew without --continue")

    def tell(self, older: int, words: int, log: Log) -> None:
        """Tells how many of the `words` are new to the state, which has `older` of them."""
        log(
            f"going on with {older:,} words from {self.continue_}; {words - older:,} are new",
            continued=self.continue_,
            new_words=words - older,
        )

    def with_rate(self, config: Learner, before: "StateOptions", tokens: int, explicit: Collection[str]) -> Learner:
        """The config with the initial learning rate for a text of `tokens` tokens."""
        if "lr" in explicit or config.epochs * tokens == 0:
            return config
        return replace(config, lr=before.lr_after(config.epochs * tokens, self.kept_fraction))

    def metadata(self) -> Metadata:
        before = self.before
        if before is None:
            return {}
        return {"continued": {"state": self.continue_, "decay": self.kept_fraction, "trained": before.trained}}

    def left_behind(
        self, model: str, config: Options, words: Mapping[str, Any], *, lr: float, learnt: int, text: str
    ) -> "StateOptions":
        """The options of the state that this run leaves; options given for this run alone do not become those of later
        runs. The run trained on `learnt` tokens of the `text` with this
        digest (empty: of none), those of every epoch, and began with the learning rate `lr` if it began at all."""
        from wv_cli.models.training.state import StateOptions

        before, trained = self.before, float(learnt)
        options = asdict(config)
        texts = (text,) if learnt and text else ()
        if before is not None:
            if not text:
                return before
            trained, lr = trained + before.trained * self.kept_fraction, before.lr
            options, words = {**options, **before.config}, {**words, **before.vocab_config}
            texts = (*before.texts, *texts)
        return StateOptions(model, options, dict(words), trained, lr, texts[-_MOST_TEXTS:])


def state_of(path: str, models: Collection[str]) -> "StateOptions":
    """The options of the state at `path`, which must be of one of the `models`. Raises BadFile, WvError."""
    from wv_cli.models.training.state import read_options

    before = read_options(path)
    if before.model not in models:
        advice = "`wv glove` goes on with it" if before.model == GLOVE else "update wv"
        if GLOVE in models:
            advice = "`wv train` goes on with those of its models"
        expected = f"a state of {'' if len(models) == 1 else 'one of the models '}{', '.join(models)}"
        raise BadFile(path, f"expected {expected}, found {show_value(before.model)}; {advice}")
    return before


def inherit_options(
    path: str, before: "StateOptions", config: type[Options], explicit: Collection[str]
) -> dict[str, Any]:
    """The options that a run inherits from the state at `path`: those that are not `explicit`. Raises BadFile for
    unknown options or impossible values."""
    known = {**config.options(), **VocabConfig.options(), "tokenize": ReadingConfig.options()["tokenize"]}
    found = {**before.config, **before.vocab_config}
    unknown = sorted(set(found) - set(known))
    try:
        if unknown:
            raise UsageError(f"there is no option {flag_of(unknown[0])}; update wv")
        config(**before.config).validate()
        words = dict(before.vocab_config)
        ReadingConfig(tokenize=words.pop("tokenize", None)).validate()
        VocabConfig(**words).validate()
    except (UsageError, TypeError) as error:
        problem = f"expected options of a run, found impossible ones: {error}"
        raise BadFile(path, problem) from error
    own = {*explicit, *_NOT_CONTINUED}
    return {name: value for name, value in found.items() if known[name].identity and name not in own}
