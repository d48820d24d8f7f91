"""The child process that times fastText's predict: `peer_calls.py MODULE LINES MODEL ...`.

It prints {task: microseconds a line} of processor time, the best of a few turns. A list of all lines is one call.
"""

import importlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

TURNS = 5


def best(call: Callable[[], object], lines: int) -> float:
    """Microseconds of processor time a line."""
    seconds = []
    for _ in range(TURNS):
        begin = time.process_time()
        call()
        seconds.append(time.process_time() - begin)
    return round(min(seconds) / lines * 1e6, 2)


def main(module: str, path: str, *models: str) -> dict[str, float]:
    library: Any = importlib.import_module(module)
    lines = Path(path).read_text(encoding="utf-8").split("\n")
    found = {}
    for name in models:
        model = library.load_model(name)
        model.predict(lines)
        found[f"a list, {name}"] = best(lambda model=model: model.predict(lines), len(lines))  # type: ignore[misc]
        found[f"line by line, {name}"] = best(lambda model=model: [*map(model.predict, lines)], len(lines))  # type: ignore[misc]
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(main(*sys.argv[1:])))
