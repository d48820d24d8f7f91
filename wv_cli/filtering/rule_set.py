"""Rules that any process can open: their files have absolute paths, and are known again by digests."""

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from wv_cli.errors import WvError, cannot_read
from wv_cli.filtering.cutting import recipe_of_model
from wv_cli.filtering.judge import Judge
from wv_cli.filtering.rules import Rule
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.text.source import new_digest

_OPENING = threading.Lock()
_JUDGES = 4  # that a process holds; their models are mostly mapped


@dataclass(frozen=True)
class RuleSet:
    """Rules and what their scorers share."""

    rules: tuple[Rule, ...]
    options: ScorerOptions

    def absolute(self) -> "RuleSet":
        """The same for a process in another folder."""
        return RuleSet(tuple(rule.absolute() for rule in self.rules), self.options.absolute())

    @property
    def models(self) -> list[str]:
        """The files that the rules need."""
        tokenizer = [self.options.tokenizer] if self.options.tokenizer is not None else []
        return [*(path for rule in self.rules for path in rule.files), *tokenizer]

    def open_judge(self) -> Judge:
        """The judge of these rules, which threads may share. A process reads the models once, and again where one was
        replaced. Raises WvError."""
        states = self.model_states()
        with _OPENING:
            return _opened_judge(self, states)

    def model_states(self) -> tuple[tuple[int, int], ...]:
        """Size and time of change of each model. Raises WvError for one that is not there."""
        return tuple(map(_state, self.models))

    def model_identities(self) -> dict[str, tuple[str, str | None]]:
        """(digest, settings of its words) of each model. A process reads a model for it once."""
        return {
            path: (_digest(path, state), recipe_of_model(path, self.options.tokenize))
            for path, state in zip(self.models, self.model_states(), strict=True)
        }

    def require_models(self, wanted: Mapping[str, tuple[str, str | None]]) -> None:
        """Raises WvError for a model that is another one than that of model_identities() elsewhere."""
        for path, found in self.model_identities().items():
            if found[0] != wanted[path][0]:
                raise WvError(f"{path}: expected the model that the rules were made with, found another; copy it here")
            if found != wanted[path]:
                problem = f"expected the settings {wanted[path][1]}, found {found[1] or 'none'}"
                raise WvError(f"{path}: {problem} in its sidecar; copy NAME.meta.json beside it")


def _state(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError as error:
        raise cannot_read(path, error) from error
    return status.st_size, status.st_mtime_ns


def file_digest(path: str) -> str:
    """Of a model. A process reads it for that once. Raises WvError."""
    return _digest(path, _state(path))


@lru_cache(maxsize=64)
def _digest(path: str, state: tuple[int, int]) -> str:
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, new_digest).hexdigest()
    except OSError as error:
        raise cannot_read(path, error) from error


@lru_cache(maxsize=_JUDGES)
def _opened_judge(rules: RuleSet, states: tuple[tuple[int, int], ...]) -> Judge:
    return Judge(rules.rules, rules.options)
