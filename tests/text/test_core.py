"""csrc/core as C: headers that stand alone, no warnings, what is refused; and Cython's declarations of it against the
headers, because C converts a number of another type silently."""

import operator
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from wv_cli import _cpu, _floattext

CSRC = Path(__file__).parents[2] / "csrc"
CORE = CSRC / "core"
HEADERS = sorted(CORE.glob("*.h"))
SOURCES = sorted(CORE.glob("*.c"))
CYTHON = sorted([*CSRC.glob("wv_cli/*.pyx"), *CSRC.glob("wv_cli/*.pxd")])
WARNINGS = "-Wall -Wextra -Wmissing-prototypes -Wconversion -Wsign-conversion -Wshadow -Wno-psabi -Werror"
STRICT = f"-std=c11 -D_POSIX_C_SOURCE=200809L -O1 {WARNINGS}"


def compiled(*arguments: str, text: str = "") -> str:
    """What the compiler complains of; the text is a C file of its own when no other is named."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, "-I", str(CSRC), *arguments, *(["-x", "c", "-"] if text else [])]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_headers_stand_alone(header):
    assert compiled(*STRICT.split(), "-fsyntax-only", text=f'#include "core/{header.name}"\n') == ""


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_no_warnings(source):
    """Nor a call that POSIX lacks, so that other systems than Linux can build it."""
    rows = " ".join(f"ROW({name})" for name in _cpu.built())
    made = [f"-DWV_ISA_ROWS={rows}", '-DWV_FLAGS=""']
    assert compiled(*STRICT.split(), *made, "-c", "-o", os.devnull, str(source)) == ""


@pytest.mark.parametrize(
    "name", ["wordmap", "tokenizer", "floattext_read", "floattext_write", "fasttexttable", "subwords", "idstream"]
)
def test_big_endian_machines_are_refused(name):
    other = ["-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__"]
    assert "wv needs a little-endian machine" in compiled(*other, "-fsyntax-only", str(CORE / f"{name}.c"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD")
def test_no_locale_is_an_error_and_no_crash(tmp_path):
    """newlocale may fail; then nothing can be parsed exactly, which must not be found out in the middle of a file."""
    library = tmp_path / "broken.so"
    text = """\
        #include <errno.h>
        #include <stddef.h>
        void *newlocale(int mask, const char *name, void *base) {
            (void)mask, (void)name, (void)base;
            errno = ENOMEM;
            return NULL;
        }
        """
    assert compiled("-shared", "-fPIC", "-o", str(library), text=textwrap.dedent(text)) == ""
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    command = [sys.executable, "-c", f"import importlib; importlib.import_module({_floattext.__name__!r})"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "OSError: [Errno 12] no C locale to read numbers in: Cannot allocate memory" in done.stderr


# ---------------------------------------------------------------- declarations

Struct = dict[str, str]
Function = tuple[str, ...]  # the types of the result and of the arguments


def plain(kind: str) -> str:
    """A type with its spaces in one form."""
    return re.sub(r"\s+", " ", kind.replace("*", " * ")).strip()


def without_name(argument: str) -> str:
    return plain(re.sub(r"\w+$", "", argument.strip()))


def functions_in(text: str) -> dict[str, Function]:
    """Prototypes and inline definitions `type name(type name, ...)`."""
    found = re.findall(r"^(?:static inline )?([\w ]+[ *]+)(wv_\w+)\(([^()]*)\)", text, re.MULTILINE)
    return {
        name: (plain(kind), *([] if arguments in ("", "void") else map(without_name, arguments.split(","))))
        for kind, name, arguments in found
    }


def members_in(body: str) -> Struct:
    """Member -> type, with its stars and lengths: `int64_t *a, b[4]`; of a pointer to a function with its arguments."""
    members = {}
    pointer = r"^[ ]*(\w+) \(\*(\w+)\)\(([^()]*)\)(?: noexcept)?;?$"
    for kind, name, arguments in re.findall(pointer, body, re.MULTILINE):
        members[name] = f"{kind} (*)({arguments})"
    body = re.sub(pointer, "", body, flags=re.MULTILINE)
    body = re.sub(r"_Atomic\(([^()]*)\)", r"\1", body)
    for kind, names in re.findall(r"((?:const |unsigned |_Atomic )*\w+) +([^;\n]+);?$", body, re.MULTILINE):
        for declared in names.split(","):
            stars, name, length = re.fullmatch(r"\s*(\**) ?(\w+)((?:\[\w+\])?)\s*", declared).groups()
            members[name] = f"{kind} {stars}{length}"
    return members


def header_text(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def structs_of_header(text: str) -> dict[str, Struct]:
    """The members of anonymous unions count as the struct's own."""
    flat = re.sub(r"union \{(.*?)\};", r"\1", text, flags=re.DOTALL)
    flat = re.sub(r"struct \{[^{}]*\} \w+\[\w+\];", "", flat)
    found = re.findall(r"typedef struct \{([^{}]*)\} (\w+);", flat)
    return {name: members_in(re.sub(r" +$", "", body, flags=re.MULTILINE)) for body, name in found}


def extern_blocks(path: Path) -> list[tuple[str, str]]:
    """(header, body) of `cdef extern from "core/..."`, the body without its indentation."""
    found = re.findall(
        r'^cdef extern from "core/(\w+\.h)" nogil:\n((?:(?: {4}.*)?\n)+)', path.read_text(), re.MULTILINE
    )
    return [(header, textwrap.dedent(body)) for header, body in found]


def structs_of_block(body: str) -> dict[str, Struct]:
    found = re.findall(r"^ctypedef struct (\w+):\n((?:(?: {4}.*)?\n)+)", body, re.MULTILINE)
    return {name: members_in(textwrap.dedent(members)) for name, members in found}


BLOCKS = [(path.name, header, body) for path in CYTHON for header, body in extern_blocks(path)]


@pytest.mark.parametrize(
    ("module", "header", "body"), BLOCKS, ids=[f"{module}-{header}" for module, header, _ in BLOCKS]
)
def test_cython_declares_what_the_header_says(module, header, body):
    text = header_text(CORE / header)
    there, declared = functions_in(text), functions_in(body)
    assert declared == {name: there.get(name) for name in declared}
    structs = structs_of_header(text)
    for name, members in structs_of_block(body).items():
        assert members == {member: structs[name].get(member) for member in members}, f"{module}: {name}"


def test_the_declarations_are_really_compared():
    """Every kind of drift is seen."""
    assert len(BLOCKS) >= 10
    counted = [len(functions_in(body)) + len(structs_of_block(body)) for _, _, body in BLOCKS]
    only_constants = [re.fullmatch(r"enum:(\s+\w+)+\s*", body) is not None for _, _, body in BLOCKS]
    assert all(map(operator.or_, counted, only_constants)) and sum(counted) > 40
    header = "typedef struct {\n    int64_t a, *b;\n    const char *c[4];\n} wv_x;\nconst wv_x *wv_f(int a, double *b);"
    assert functions_in(header) == {"wv_f": ("const wv_x *", "int", "double *")}
    assert structs_of_header(header) == {"wv_x": {"a": "int64_t ", "b": "int64_t *", "c": "const char *[4]"}}
    for change in ("int32_t a, double *b", "int a, float *b", "int a, double b", "int a", "int a, const double *b"):
        assert functions_in(f"const wv_x *wv_f({change}) noexcept") != functions_in(header)
