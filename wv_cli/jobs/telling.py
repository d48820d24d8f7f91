"""How a Python call tells what happens: by the logger "wv_cli". Commands have an event log of their own."""

import logging

from wv_cli.system.events import Log

LOGGER = logging.getLogger("wv_cli")
LOGGER.addHandler(logging.NullHandler())


def tee_log(log: Log | None) -> Log:
    """What tells the logger, at the level INFO, and `log`. A record has the facts as its attribute `facts`."""

    def tell(message: str, **facts: object) -> None:
        LOGGER.info("%s", message, extra={"facts": facts})
        if log is not None:
            log(message, **facts)

    return tell
