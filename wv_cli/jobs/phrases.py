"""What a run does about phrases while it reads its text: joins those of a file, or those that it finds itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from wv_cli.jobs.facts import Facts
from wv_cli.jobs.training_session import TextSession
from wv_cli.system.events import Log as Say
from wv_cli.system.output import open_output
from wv_cli.text.config import PhraseLearning
from wv_cli.text.joining import Phrases
from wv_cli.text.phrase_finding import PhraseFinder
from wv_cli.text.saved_phrases import read_phrases


@dataclass(frozen=True, kw_only=True)
class PhrasesSession(TextSession):
    """The phrases kept in the file `phrases` are joined while `inputs` are read, or those that are found in them as
    `phrase_learning` says; `save_phrases` gets the latter, together with the other results."""

    phrases: str | None = None
    phrase_learning: PhraseLearning = field(default_factory=PhraseLearning)
    save_phrases: str | None = None
    _finder: PhraseFinder | None = field(default=None, init=False, repr=False, compare=False)

    def validate(self) -> None:
        self.phrase_learning.validate()
        super().validate()

    def values(self) -> Mapping[str, Any]:
        return {**vars(self.phrase_learning), **super().values()}

    def conditions(self) -> list[tuple[str, str]]:
        return [*super().conditions(), *self.phrase_learning.conditions(), ("save_phrases", "learn_phrases")]

    def read(self) -> list[str]:
        return super().read() + ([self.phrases] if self.phrases else [])

    def written(self) -> list[str]:
        return super().written() + ([self.save_phrases] if self.save_phrases else [])

    @property
    def joins(self) -> bool:
        """Whether there are phrases to join."""
        return bool(self.phrases or self.phrase_learning.learn_phrases)

    @property
    def ids_memory(self) -> int | None:
        """What the ids of the text may take of `memory`: half where pairs are counted, as in `wv phrases`."""
        return self.memory // 2 if self.memory and self.phrase_learning.learn_phrases else self.memory

    def phrases_to_join(self, say: Say, *, memory: int | None = None, apart: str = "") -> Phrases | None:
        """What joins phrases in the text that is read next: it tells what each pass has found. Counts of pairs take
        half of `memory` (default: the session's); words that begin with `apart` are in no phrase that is found. Raises
        WvError, BadFile."""
        if self.phrases:
            return read_phrases(self.phrases)
        config = self.phrase_learning.finding(memory or self.memory)
        if config is None:
            return None
        finder = PhraseFinder(config, after_pass=lambda done: say(done.summary, **done.facts), apart=apart)
        object.__setattr__(self, "_finder", finder)
        return finder

    def phrases_writers(self) -> list[tuple[str, Callable[[str], None]]]:
        """Beside those of the other results: the name of the file for what was found, and what writes it."""
        return [(self.save_phrases, self._write_phrases)] if self.save_phrases else []

    def _write_phrases(self, path: str) -> None:
        assert self._finder is not None, "the text was read before"
        with open_output(path) as stream:
            for row in self._finder.rows():
                stream.write(row)

    def own_facts(self) -> Facts:
        """With what the sidecar says of phrases that were found, nothing where none were looked for."""
        finder = self._finder
        if finder is None:
            return super().own_facts()
        config = finder.config
        how: Facts = {"score": config.score, "min_count": config.min_count, "delimiter": config.delimiter}
        found: Facts = {"found": len(finder.saved()), **how, "passes": [done.facts for done in finder.passes]}
        return {**super().own_facts(), "phrases": found}
