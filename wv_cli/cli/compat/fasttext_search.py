"""fastText's autotune: the flags that ask for it and what it tells while options are tried."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wv_cli.cli.compat import abort, say, tell
from wv_cli.cli.compat.fasttext_args import Args
from wv_cli.cli.compat.fasttext_progress import time_left
from wv_cli.commands.fasttext_jobs import SEARCHED, model_size, search_options
from wv_cli.errors import UsageError

_METRICS = ("f1", "precisionAtRecall", "recallAtPrecision")
_LEAST_SECONDS = 1e-9
_WARNED_AT = 1 / 3  # of the time, when no trial was small enough


class Searching:
    """A search that -autotune-validation asks for."""

    def __init__(self, args: Args) -> None:
        """Aborts as fastText for a metric or size that it cannot read."""
        self._args = args
        metric, colon, label = args.autotune_metric.partition(":")
        if metric not in _METRICS:
            abort(f"Unknown metric : {args.autotune_metric}")
        if metric == "f1" and colon and not label:
            abort(f"Empty metric label : {args.autotune_metric}")
        try:
            self.size = model_size(args.autotune_modelsize)
        except UsageError as error:
            abort(str(error))
        if self.size and args.saveOutput:
            abort("Option -saveOutput is not supported for quantized models.")
        self._trials, self._best, self._elapsed = 0, None, 0.0  # type: int, float | None, float
        self._warned = False

    def options(self) -> dict[str, Any]:
        """The same as options of a SupervisedJob. Tells which flags stay as they are."""
        args = self._args
        for flag in SEARCHED:
            if flag in args.given:
                tell(f"Warning : {flag} is manually set to a specific value. It will not be automatically optimized.\n")
        return search_options(args, args.given, self.size)

    def on_event(self, facts: Mapping[str, Any]) -> None:
        """An event of the job: a trial, or the end of the search."""
        if "score" in facts:
            self._trial(facts)
        if "best" in facts:
            self._line(1.0)
            tell("\nTraining again with best arguments\n")

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Around the job: aborts as fastText when nothing was found."""
        from wv_cli.commands.autotune import NothingFound
        from wv_cli.commands.autotune_metric import UnknownLabel

        try:
            yield
        except UnknownLabel:
            abort("Unknown autotune metric label")
        except NothingFound:
            if self._trials:
                self._line(1.0)
                tell("\n")
            if self._trials and self.size:
                abort("Couldn't fulfil model size constraint: please increase `autotune-modelsize`.")
            abort("Didn't have enough time to train once: please increase `autotune-duration`.")

    def _trial(self, facts: Mapping[str, Any]) -> None:
        score, took = facts["score"], facts["elapsed"] - self._elapsed
        self._trials, self._elapsed = self._trials + 1, facts["elapsed"]
        if score is not None:
            self._best = score if self._best is None else max(self._best, score)
        if self._args.verbose > 2:
            say(self._describe_trial(facts, took))
        fraction = min(self._elapsed / max(self._args.autotune_duration, _LEAST_SECONDS), 1.0)
        self._line(fraction)
        if self.size and self._best is None and fraction > _WARNED_AT and not self._warned:
            self._warned = True
            tell(
                "\nWarning : requested model size is probably too small. You may want to increase "
                "`autotune-modelsize`.\n"
            )

    def _describe_trial(self, facts: Mapping[str, Any], took: float) -> str:
        args, changed = self._args, facts["config"]
        tried = {flag: changed.get(name, getattr(args, flag)) for flag, name in SEARCHED.items() if name}
        # The first trial has the flags as they are.
        tried["bucket"] *= self._trials == 1 or tried["wordNgrams"] > 1 or tried["maxn"] > 0
        rows = {
            "Trial": self._trials,
            **{name: tried[name] for name in ("epoch", "lr", "dim")},
            "minCount": args.minCount,
            **{name: tried[name] for name in ("wordNgrams", "minn", "maxn", "bucket")},
            "dsub": facts["dsub"],
            "loss": tried["loss"],
            "currentScore": float("nan") if facts["score"] is None else facts["score"],
            "train took": took,
        }
        return "".join(
            f"{name} = {format(value, 'g' if isinstance(value, float) else '')}\n" for name, value in rows.items()
        )

    def _line(self, fraction: float) -> None:
        left = (1 - fraction) * self._args.autotune_duration
        best = "unknown" if self._best is None else f"{self._best:f}"
        tell(
            f"\rProgress: {100 * fraction:5.1f}% Trials: {self._trials:4d} Best score: {best:>9} ETA: {time_left(left)}"
        )
