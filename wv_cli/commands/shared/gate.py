"""--min-score: a bar that the scores of an evaluation must reach."""

from wv_cli.errors import GateMissed, UsageError, WvError
from wv_cli.evaluation import Report, Task


def check_bar(task: Task, min_score: float) -> None:
    """Raises UsageError for a bar that every score passes or none."""
    low, high = task.scale
    if not low <= min_score <= high:
        message = f"--min-score {min_score:g}: {task.measure} lies between {low:g} and {high:g}"
        raise UsageError(message)
    if high == 100 and 0 < min_score <= 1:
        message = f"--min-score {min_score:g}: {task.measure} is in percent; write {100 * min_score:g}"
        raise UsageError(message)


def judge(report: Report, min_score: float | None) -> None:
    """Raises GateMissed for a score below the bar, WvError when one could not be computed."""
    if min_score is not None and (missed := report.scores_below(min_score)):
        raise GateMissed("; ".join(missed))
    if report.unscored:
        raise WvError("; ".join(report.unscored))
