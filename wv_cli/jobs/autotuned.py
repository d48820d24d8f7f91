"""Sessions that may search for their options before they train: the search's own options, what it reads and writes."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError
from wv_cli.jobs import autotune_log
from wv_cli.jobs.training_session import TextSession
from wv_cli.system.compression import compression_of
from wv_cli.system.events import Log as Say
from wv_cli.system.places import is_stream

if TYPE_CHECKING:
    from wv_cli.jobs.trials import Search


@dataclass(frozen=True, kw_only=True)
class AutotunedSession(TextSession):
    """With `autotune_validation` the options that were not `given` are searched for first, by their score on this file
    (jobs.trials); `autotune_log` gets the trials."""

    SEARCH_CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("autotune_duration", "autotune_log"), "autotune_validation"),
        # A search compares models that begin alike.
        "continue_": "not autotune_validation",
    }

    autotune_validation: str | None = None
    autotune_duration: float | None = None
    autotune_log: str | None = None
    given: tuple[str, ...] = ()

    def check_options(self) -> None:
        super().check_options()
        if self.autotune_log and compression_of(self.autotune_log):
            message = f"{self.autotune_log}: a log grows line by line and is not compressed; choose another ending"
            raise UsageError(message)

    def read(self) -> list[str]:
        return super().read() + ([self.autotune_validation] if self.autotune_validation else [])

    def written(self) -> list[str]:
        return super().written() + ([self.log] if self.log else [])

    @property
    def log(self) -> str:
        """Where the trials are written; "" for nowhere."""
        if self.autotune_validation is None:
            return ""
        named = next((path for path in self.outputs if not is_stream(path)), "wv")
        return self.autotune_log or (f"{named}.autotune.jsonl" if self.resumable else "")

    def planned(self) -> dict[str, Any]:
        """The fields of a SearchPlan."""
        from wv_cli.jobs.trials import SearchPlan

        return {
            "validation": self.autotune_validation,
            "duration": self.autotune_duration or SearchPlan.duration,
            "log": self.log,
            "given": self.given,
        }

    @contextmanager
    def claimed(self, say: Say) -> Iterator[None]:
        with super().claimed(say), ExitStack() as log:
            if self.log:
                log.enter_context(autotune_log.claimed(self.log, discard=self.resume or self.overwrite))
            yield

    def search(self, search: "Search[Any]", say: Say) -> Outcome | None:
        """Searches, and tells what was found. Returns the outcome of a trial that a signal stopped, else None."""
        from wv_cli.jobs.trials import changes

        stopped = search.run(say, resume=self.resume)
        if stopped is None:
            best = search.best_options()
            say(f"training with the best options: {changes(best, search.first)}", best=asdict(best))
        return stopped
