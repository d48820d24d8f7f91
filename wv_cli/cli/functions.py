"""The commands as functions, each made when it is asked for (calling.py). functions.pyi has their arguments.

It is made of the same options: `python -m tests.function_stub`."""

from collections.abc import Callable
from typing import Any

from wv_cli.cli.calling import FUNCTIONS, function_of


def __getattr__(name: str) -> Callable[..., dict[str, Any]]:
    if name not in FUNCTIONS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = found = function_of(name, __name__)
    return found
