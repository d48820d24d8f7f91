"""How a Python call runs a job, and tells what happens: by the logger "wv_cli". Commands have a log of their own."""

import logging
from typing import Any

from wv_cli.commands.job import Job
from wv_cli.commands.run import Metadata, OnTraining
from wv_cli.io.events import Log
from wv_cli.io.remote import show_names

LOGGER = logging.getLogger("wv_cli")
LOGGER.addHandler(logging.NullHandler())


def tee_log(log: Log | None) -> Log:
    """What tells the logger, at the level INFO, and `log`. A record has the facts as its attribute `facts`."""

    def tell(message: str, **facts: object) -> None:
        message = show_names(message)
        LOGGER.info("%s", message, extra={"facts": facts})
        if log is not None:
            log(message, **facts)

    return tell


def require_functions(**given: Any) -> None:
    """Raises TypeError for the first of these arguments that is neither a function nor None."""
    for name, function in given.items():
        if not (function is None or callable(function)):
            raise TypeError(f"{name}: expected a function, found {type(function).__name__}")


def run_job(job: Job, log: Log | None, on_progress: OnTraining | None = None) -> Metadata:
    """Runs the job of a call and returns its metadata. Raises what it raises, Interrupted and TimedOut for one that did
    not finish."""
    outcome, metadata = job.run(tee_log(log), on_progress)
    if outcome is not None and not outcome.is_finished:
        # What is saved is the checkpoint, or in a search for options its log.
        raise outcome.ended_early("go on with resume=True" if job.checkpoint_path else "nothing was saved")
    return metadata
