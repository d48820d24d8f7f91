"""What stubtest (.ci/run) cannot see in the extension modules: constructors, and that every module has a stub."""

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "csrc/wv_cli").glob("*.pyx"))
CLASS = re.compile(r"^cdef class (\w+)", re.MULTILINE)
CONSTRUCTOR = re.compile(r"^    def __c?init__\(self,?(.*?)\):$", re.MULTILINE | re.DOTALL)


def arguments_in_cython(text: str) -> list[tuple[str, bool]]:
    """(name, whether it has a default) of an argument list; `*` stands for itself."""
    plain = re.sub(r"\[[^]]*\]", "", " ".join(text.split()))
    arguments = [argument.split("=") for argument in plain.split(",") if argument.strip()]
    return [(argument[0].split()[-1].lstrip("*") or "*", len(argument) > 1) for argument in arguments]


def constructors(source: str) -> dict[str, list[tuple[str, bool]]]:
    """The arguments of the constructor of every class that takes any."""
    starts = [match.start() for match in CLASS.finditer(source)] + [len(source)]
    bodies = [source[start:end] for start, end in pairwise(starts)]
    found = {CLASS.match(body)[1]: CONSTRUCTOR.search(body) for body in bodies}
    return {name: arguments_in_cython(match[1]) for name, match in found.items() if match and match[1]}


def constructors_of_stub(stub: str) -> dict[str, list[tuple[str, bool]]]:
    """The same of a stub, where a final class may have `__new__`."""
    classes = [node for node in ast.parse(stub).body if isinstance(node, ast.ClassDef)]
    functions = [(node.name, item) for node in classes for item in node.body if isinstance(item, ast.FunctionDef)]
    return {
        name: arguments_of(function.args)
        for name, function in functions
        if function.name in ("__init__", "__new__") and any(arguments_of(function.args))
    }


def arguments_of(arguments: ast.arguments) -> list[tuple[str, bool]]:
    names = [argument.arg for argument in arguments.args[1:]]
    optional = len(arguments.defaults)
    positional = [(name, i >= len(names) - optional) for i, name in enumerate(names)]
    keywords = [
        (argument.arg, default is not None)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    return positional + ([("*", False), *keywords] if keywords else [])


def test_every_module_has_a_stub():
    assert len(SOURCES) > 10
    assert {path.stem for path in SOURCES} == {path.stem for path in (ROOT / "wv_cli").glob("_*.pyi")}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_constructors_are_those_of_the_stub(source):
    found = constructors(source.read_text())
    assert found == constructors_of_stub((ROOT / f"wv_cli/{source.stem}.pyi").read_text())


def test_a_difference_is_seen():
    cython = "cdef class Run:\n    def __init__(self, const float[:, ::1] x, int n=1, *, str isa=None):\n        pass\n"
    assert constructors(cython) == {"Run": [("x", False), ("n", True), ("*", False), ("isa", True)]}
    stub = "class Run:\n    def __init__(self, x: int, n: int, *, isa: str | None = None) -> None: ...\n"
    other = {"Run": [("x", False), ("n", False), ("*", False), ("isa", True)]}
    assert constructors_of_stub(stub) == other
    assert constructors_of_stub(stub.replace("__init__(self", "__new__(cls")) == other
