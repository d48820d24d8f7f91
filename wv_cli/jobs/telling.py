"""How a Python call tells what happens: the logger "wv_cli", and a bar where one is asked for.

Commands do neither: they have an event log and bars of their own (wv_cli.commands.shared).
"""

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wv_cli.system.events import Log

if TYPE_CHECKING:
    from wv_cli.engine.progress import Progress
    from wv_cli.jobs.run import OnTraining

LOGGER = logging.getLogger("wv_cli")
LOGGER.addHandler(logging.NullHandler())
_BAR = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


def logged(log: Log | None) -> Log:
    """What tells the logger, at the level INFO, and `log`. A record has the facts as its attribute `facts`."""

    def tell(message: str, **facts: object) -> None:
        LOGGER.info("%s", message, extra={"facts": facts})
        if log is not None:
            log(message, **facts)

    return tell


@contextlib.contextmanager
def shown(on_progress: "OnTraining | None", *, progress: bool) -> Iterator["OnTraining | None"]:
    """`on_progress`, which with `progress` moves a bar of tqdm, too; in a notebook its widget."""
    if not progress:
        yield on_progress
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, bar_format=_BAR) as bar:

        def tell(moment: "Progress") -> None:
            bar.update(moment.fraction - bar.n)
            facts: dict[str, Any] = {"epoch": f"{moment.epoch}/{moment.epochs}", "words/s": f"{moment.rate:,.0f}"}
            if moment.loss is not None:
                facts["loss"] = f"{moment.loss:.3f}"
            bar.set_postfix(facts)
            if on_progress is not None:
                on_progress(moment)

        yield tell
