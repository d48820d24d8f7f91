"""What a run is asked to do: frozen dataclasses with the defaults and one validate() each, one file a room (config.py).

The command line fills them (help prints these defaults), checkpoints and the .meta.json sidecars record them.
"""

from wv_cli.errors import UsageError


def require(condition: bool, message: str) -> None:
    """Raises UsageError with `message` unless `condition` holds."""
    if not condition:
        raise UsageError(message)
