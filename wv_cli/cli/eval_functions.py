"""The tasks of `wv eval` as functions: `wv_cli.eval.similarity("v.bin", data="pairs.txt")`.

eval_functions.pyi has their arguments. It is made of the options of the tasks: `python -m tests.function_stub`."""

from collections.abc import Callable
from typing import Any

from wv_cli.cli.calling import FUNCTIONS, function_of
from wv_cli.evaluation import TASKS


def __getattr__(name: str) -> Callable[..., dict[str, Any]]:
    if f"eval.{name}" not in FUNCTIONS:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = found = function_of(f"eval.{name}", __name__)
    return found


def __dir__() -> list[str]:
    return [*TASKS]
