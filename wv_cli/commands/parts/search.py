"""The search for a classifier's options by their score on a validation file, before it is trained."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.part import Part, internal
from wv_cli.commands.run import Run
from wv_cli.config import frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.compression import compression_of

if TYPE_CHECKING:
    from wv_cli.commands.autotune import LabelSearch, Plan
    from wv_cli.models.training.run import Outcome


@frozen
class SearchOptions(Part):
    """The options of a search. With `autotune_validation` the options that are not `fixed` are searched for first, by
    their score on this file (wv_cli.commands.autotune); `autotune_log` gets the trials. Only a search that is `logged`
    has a log without a name."""

    group: ClassVar[str] = "Autotune"

    autotune_validation: str | None = option(
        None,
        "Search for a classifier's options that are not given, by their score on this file.",
        role="read",
        common=True,
    )
    autotune_duration: float | None = option(
        None, "Time for the search.", metavar="TIME", shown="5m", only="autotune_validation"
    )
    autotune_metric: str | None = option(
        None,
        "Score to maximize: f1, f1:LABEL, precisionAtRecall:R[:LABEL] or recallAtPrecision:P[:LABEL].",
        metavar="METRIC",
        shown="f1",
        only="autotune_validation",
    )
    autotune_predictions: int | None = option(
        None, "Labels predicted per line in the search.", metavar="K", shown="1", only="autotune_validation"
    )
    autotune_size: int | None = option(
        None, "Quantize the classifier to at most this size (2M).", low=1, metavar="SIZE", only="autotune_validation"
    )
    autotune_log: str | None = option(
        None,
        "File for the trials, one JSON object per line.",
        role="write",
        shown="first OUTPUT.autotune.jsonl",
        only="autotune_validation",
    )
    fixed: tuple[str, ...] = internal(())
    logged: bool = internal(True)

    def check(self) -> None:
        if self.autotune_log and compression_of(self.autotune_log):
            message = f"{self.autotune_log}: a log grows line by line and is not compressed; choose another ending"
            raise UsageError(message)

    def also_writes(self, beside: str | None) -> list[str]:
        log = self.log(beside)
        return [log] if log else []

    def log(self, beside: str | None) -> str:
        """The path of the log of trials; "": none is kept."""
        if self.autotune_validation is None:
            return ""
        return self.autotune_log or (f"{beside or 'wv'}.autotune.jsonl" if self.logged else "")

    def plan(self, beside: str | None) -> "Plan | None":
        """The search, if there is to be one."""
        if self.autotune_validation is None:
            return None
        from wv_cli.commands.autotune import Plan

        return Plan(
            validation=self.autotune_validation,
            duration=self.autotune_duration or Plan.duration,
            log=self.log(beside),
            given=self.fixed,
            metric=self.autotune_metric or Plan.metric,
            predictions=Plan.predictions if self.autotune_predictions is None else self.autotune_predictions,
            size=self.autotune_size or 0,
        )

    def claim(self, beside: str | None, *, anew: bool) -> AbstractContextManager[object]:
        """The log is this run's while it lasts."""
        log = self.log(beside)
        if not log:
            return nullcontext()
        from wv_cli.commands import autotune_log

        return autotune_log.claim_log(log, discard=anew)


def run_search(search: "LabelSearch", run: Run, *, resume: bool) -> "Outcome | None":
    """Runs the search and logs its result. Returns the outcome of a trial that a signal stopped, else None."""
    from wv_cli.commands.autotune import changes

    stopped = search.run(run.log, resume=resume)
    if stopped is None:
        best, _ = search.best_config()
        run.log(f"training with the best options: {changes(best, search.first)}", best=asdict(best))
    return stopped
