"""The child process that runs a script of scripts/ and prints its answers: `peer_script.py SCRIPT ORIGINAL MODULE`.

With a MODULE other than the ORIGINAL the script imports that instead. Every statement runs, even after one that failed;
its answers are what it prints.
"""

import ast
import contextlib
import io
import json
import re
import sys
import time
import warnings
from pathlib import Path
from typing import Any

CHANCE = "# random"  # at the end of a line whose answers follow from random numbers


def change_imports(text: str, original: str, module: str) -> str:
    """The script as one call of sed would change it."""
    if module == original:
        return text
    text = re.sub(
        r"^from sentence_transformers import (\w+)", r"from wv_cli import load_encoder as \1", text, flags=re.M
    )
    text = re.sub(rf"^from {original}\b", f"from {module}", text, flags=re.MULTILINE)
    text = re.sub(rf"^import {original}([.\w]*) as", rf"import {module}\1 as", text, flags=re.MULTILINE)
    return re.sub(rf"^import {original}[.\w]*$", f"import {module} as {original}", text, flags=re.MULTILINE)


def plain(value: Any) -> Any:
    """As JSON has it; the type of what JSON has not."""
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    if value is None or isinstance(value, str | int | float):
        return value
    shown = str(value)
    return type(value).__name__ if " at 0x" in shown or "\n" in shown else shown


def run(path: Path, original: str, module: str) -> list[dict[str, Any]]:
    """{"call", "printed" or "error", "message", "cpu_seconds"} of every statement that calls something."""
    text = path.read_text(encoding="utf-8")
    printed: list[Any] = []
    names: dict[str, Any] = {"__name__": "__main__", "print": lambda *values: printed.extend(map(plain, values))}
    found = []
    for node in ast.parse(change_imports(text, original, module)).body:
        call = ast.get_source_segment(text, node) or ""  # a changed import moves no line, but what stands in it
        line = text.splitlines()[node.end_lineno - 1]  # type: ignore[operator]
        printed.clear()
        begin = time.process_time()
        answer: dict[str, Any] = {}
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(ast.Module([node], []), str(path), "exec"), names)
            answer["printed"] = list(printed)
        except Exception as error:
            answer |= {"error": type(error).__name__, "kinds": [kind.__name__ for kind in type(error).__mro__]}
            answer["message"] = str(error)
        if any(isinstance(each, ast.Call) for each in ast.walk(node)) or isinstance(node, ast.Import | ast.ImportFrom):
            call = line if isinstance(node, ast.Import | ast.ImportFrom) else call
            answer |= {"call": call, "by_chance": line.endswith(CHANCE), "cpu_seconds": time.process_time() - begin}
            found.append(answer)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(run(Path(sys.argv[1]), sys.argv[2], sys.argv[3])))
