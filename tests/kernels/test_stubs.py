"""csrc/stubs.py: the stub that it makes of a .pyx, what it refuses, and that a stub has all that its module has.
`.ci/run` compares the signatures with the modules (mypy.stubtest)."""

import ast
import builtins
import importlib
import importlib.util
import textwrap
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
SOURCES = sorted(CSRC.glob("wv_cli/*.pyx"))


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("stubs", CSRC / "stubs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(generator: ModuleType, folder: Path, text: str, shared: str = "") -> str:
    """The stub of _sample.pyx with this text, without its first line."""
    (folder / "_sample.pyx").write_text(textwrap.dedent(text))
    if shared:
        (folder / "_sample.pxd").write_text(textwrap.dedent(shared))
    return generator.stub(folder / "_sample.pyx").split("\n", 1)[1]


SAMPLE = '''\
    """A sample:
    def not_this(x):
    """

    cimport cython
    from wv_cli cimport _training
    from wv_cli._search cimport Rows, Unused

    PADDING, WIDTH = WV_PADDING, 3
    NAMES: tuple[str, ...] = tuple(names())


    cdef int hidden(int x):
        return x


    def _private(x):
        return x


    def pack(const unsigned char[::1] text not None, float[:, ::1] out, Rows rows, str isa=None, *, bint last=False,
             list names: list[str], double lr=1.5, int64_t most=1 << 4) -> tuple[int, NDArray[np.float32]] | None:
        """def of(x): is no code."""


    @cython.final
    cdef class Reader:
        cdef readonly object starts, rows  # NDArray[np.int64]
        cdef readonly int64_t n
        cdef int64_t inner

        def __cinit__(
            self, const uint16_t[::1] ids, *, path: tuple[int, ...] | None = None,
        ):
            pass

        def __dealloc__(self):
            pass

        @property
        def size(self) -> int:
            return 1


    cdef class Empty:
        def __cinit__(self):
            pass


    cdef class Run(_training.Run):
        def __init__(self, options: object):
            pass

        def worker(self, int32_t thread) -> Empty:  # type: ignore[override]
            def inner(x):
                pass
            return Empty()


    cdef class Memory:
        def __getbuffer__(self, Py_buffer *buffer, int flags):
            pass
'''
EXPECTED = """\
from typing import Self, final
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer
from wv_cli import _training
from wv_cli._search import Rows

PADDING: int
WIDTH: int
NAMES: tuple[str, ...]

def pack(
    text: Buffer,
    out: NDArray[np.float32],
    rows: Rows,
    isa: str | None = None,
    *,
    last: bool = False,
    names: list[str],
    lr: float = 1.5,
    most: int = ...,
) -> tuple[int, NDArray[np.float32]] | None: ...

@final
class Reader:
    @property
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def rows(self) -> NDArray[np.int64]: ...
    @property
    def n(self) -> int: ...
    def __new__(cls, ids: NDArray[np.uint16], *, path: tuple[int, ...] | None = None) -> Self: ...
    @property
    def size(self) -> int: ...

class Empty: ...

class Run(_training.Run):
    @property
    def length(self) -> int: ...
    def __init__(self, options: object) -> None: ...
    def worker(self, thread: int) -> Empty: ...  # type: ignore[override]

class Memory(Buffer): ...
"""


def test_the_stub_of_the_sample(generator, tmp_path):
    shared = "cdef class Run:\n    cdef int64_t inner\n    cdef readonly int64_t length\n\n    cdef void train(self)\n"
    assert made(generator, tmp_path, SAMPLE, shared) == EXPECTED


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("def f(x) -> int:\n    return x\n", 1, "x of f()"),
        ("\n\ndef f(list x) -> int:\n    return x\n", 3, "x of f()"),
        ("def f(int x):\n    return x\n", 1, "the result of f()"),
        ('"""One\ntwo."""\n\n\ndef f(int x, y=None) -> int:\n    return x\n', 5, "y of f()"),
        ("cdef class X:\n    cdef readonly object rows\n", 2, "rows"),
    ],
)
def test_what_has_no_type_is_refused_with_its_place(generator, tmp_path, source, line, what):
    with pytest.raises(generator.NoType) as refused:
        made(generator, tmp_path, source)
    assert (
        str(refused.value) == f"csrc/wv_cli/_sample.pyx:{line}: {what} has no type for the stub: write it as in Python"
    )


def test_stubs_of_modules_that_are_gone_are_deleted(generator, tmp_path):
    (tmp_path / "_gone.pyi").touch()
    (tmp_path / "kept.pyi").touch()
    generator.write(CSRC, tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == {"kept", *(path.stem for path in SOURCES)}


def public(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_stub_has_what_the_module_has_and_every_name_that_it_uses(generator, source):
    module = vars(importlib.import_module(f"wv_cli.{source.stem}"))
    tree = ast.parse(generator.stub(source))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    constants = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    imported = {alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert used <= {"np", *vars(builtins), *imported, *classes, *constants}
    assert functions | classes.keys() | constants <= module.keys()
    own = {name for name in public(module) if getattr(module[name], "__module__", None) == f"wv_cli.{source.stem}"}
    assert own and own <= functions | classes.keys()
    for name, node in classes.items():
        methods = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        assert public(methods) == public(vars(module[name]))
