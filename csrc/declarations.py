"""Writes the Cython declarations of the kernels from their C headers: python csrc/declarations.py OUTPUT.pxd

The build runs it (CMakeLists.txt), so that a struct, a constant or a kernel is written down once, in C. It reads
kernels/wv_kernels.h and the kernels/ headers that includes, and understands what stands there and no more:

    typedef struct { ... } name;      fields: numbers, pointers, enums, structs declared before
    typedef enum { A, B } name;
    #define NAME integer
    KERNEL(type, name, (arguments))   rows of the .def file a struct includes: its function pointers

Anything else is an error that names file and line, never skipped. Two things are for C alone: what stands inside `#ifdef WV_ISA`, and
the fields of structs from core/.

For every struct X whose name ends in `_options` there is also `fill_X(X *options, source)`: each field is set from the attribute of
the same name of a Python object, a field that is an enum from the name of a constant (WV_LOSS_NS is "ns").
"""

import re
import sys
from dataclasses import dataclass, field
from os.path import commonprefix
from pathlib import Path

HEADER = "kernels/wv_kernels.h"
STDINT = tuple(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64))
NUMBERS = {*STDINT, "int", "float", "double"}
BUILT_IN = {*NUMBERS, "size_t", "char", "void"}

TYPEDEF = re.compile(r"\s*typedef\s+(struct|enum)\s*\{([^{}]*)\}\s*(\w+)\s*;")
FUNCTION = re.compile(r"KERNEL\(\s*([^,()]+?)\s*,\s*(\w+)\s*,\s*\(([^()]*)\)\s*\)")
VARIABLE = re.compile(r"((?:const\s+)?)(\w+)\s+(\**\s*\w+(?:\s*,\s*\**\s*\w+)*)")
CONSTANT = re.compile(r"#define\s+(\w+)\s+(?:-?\d+|\(-?\d+\)|\(1 << \d+\))$")
GUARD = re.compile(r"#(?:ifndef|define)\s+\w+_H$|#endif$|#include\s+<[\w./]+>$")
INCLUDE = re.compile(r'#include\s+"([\w./]+)"$')
# What the kernels alone see, and the macro by which a struct includes its .def file.
FOR_C = re.compile(r"^#ifdef WV_ISA\n.*?^#endif$", re.MULTILINE | re.DOTALL)
ROW_MACRO = re.compile(r"#define KERNEL\(\w+, \w+, \w+\) \w+ \(\*\w+\)\w+;$|#undef KERNEL$")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


class NotUnderstood(Exception):
    """C beyond what this file reads; the message says where."""


@dataclass
class Declarations:
    """Everything read so far: `lines` of the extern block, the enums' constants, the fields of option structs."""

    root: Path
    lines: list[str] = field(default_factory=list)
    types: set[str] = field(default_factory=lambda: set(BUILT_IN))
    enums: dict[str, list[str]] = field(default_factory=dict)
    options: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


@dataclass
class Source:
    """One file without its comments; lines keep their numbers."""

    path: str
    text: str

    def error(self, position: int, found: str, expected: str) -> NotUnderstood:
        line = self.text.count("\n", 0, position) + 1
        found = " ".join(found.split())
        return NotUnderstood(
            f"csrc/{self.path}:{line}: expected {expected}, found `{found}`; write it so, or teach csrc/declarations.py to read it"
        )


def blank(match: re.Match[str]) -> str:
    """As many lines as the match has, all empty."""
    return "\n" * match.group().count("\n")


def read(root: Path, path: str) -> Source:
    text = COMMENT.sub(lambda match: blank(match) or " ", (root / path).read_text())
    text = "\n".join(line.rstrip() for line in text.split("\n"))
    return Source(path, FOR_C.sub(blank, text))


def read_header(found: Declarations, path: str) -> None:
    """Adds the declarations of a header, after those of the kernels/ headers it includes."""
    if path in found.seen:
        return
    found.seen.add(path)
    source = read(found.root, path)
    for match in re.finditer(r"^#.*$", source.text, re.MULTILINE):
        read_directive(found, source, match)
    # Of the directives only the .def file's include is left, as a member of the struct it stands in.
    body = re.sub(r"^#.*$", lambda match: member_of(match.group()), source.text, flags=re.MULTILINE)
    source = Source(path, body)
    position = 0
    while body[position:].strip():
        statement = TYPEDEF.match(body, position)
        if statement is None:
            start = position + len(body[position:]) - len(body[position:].lstrip())
            raise source.error(start, body[start : start + 60], "typedef struct { ... } name; or typedef enum { ... } name;")
        kind, content, name = statement.groups()
        if kind == "enum":
            read_enum(found, source, statement)
        else:
            read_struct(found, source, statement.start(2), content, name)
        found.types.add(name)
        position = statement.end()


def member_of(directive: str) -> str:
    include = INCLUDE.match(directive)
    return f"KERNELS {include[1]};" if include and include[1].endswith(".def") else ""


def read_directive(found: Declarations, source: Source, match: re.Match[str]) -> None:
    line = match.group()
    include, constant = INCLUDE.match(line), CONSTANT.match(line)
    if include and include[1].startswith("core/"):
        for name in re.findall(r"^\} (\w+);", read(found.root, include[1]).text, re.MULTILINE):
            found.types.add(name)
            found.lines += [f"ctypedef struct {name}:", "    pass"]
    elif include and include[1].endswith(".h"):
        read_header(found, include[1])
    elif constant:
        found.lines += ["enum:", f"    {constant[1]}"]
    elif not (include or GUARD.match(line) or ROW_MACRO.match(line)):
        raise source.error(match.start(), line, "an include, a guard or #define NAME integer")


def read_enum(found: Declarations, source: Source, statement: re.Match[str]) -> None:
    _, content, name = statement.groups()
    constants = [constant.strip() for constant in content.rstrip(", \n").split(",")]
    for constant in constants:
        if not re.fullmatch(r"[A-Z]\w*", constant):
            raise source.error(statement.start(2), constant, "names of constants without values")
    found.enums[name] = constants
    found.lines += [f"ctypedef enum {name}:", *(f"    {constant}" for constant in constants)]


def read_struct(found: Declarations, source: Source, position: int, content: str, name: str) -> None:
    found.lines.append(f"ctypedef struct {name}:")
    for declaration in content.split(";"):
        text = declaration.strip()
        start = position + declaration.find(text)
        position += len(declaration) + 1
        if text.startswith("KERNELS "):
            found.lines += [f"    {row}" for row in kernels(found, text.removeprefix("KERNELS "))]
        elif text:
            fields = variables(found, source, start, text)
            found.lines += [f"    {kind} {declared}" for kind, declared in fields]
            if name.endswith("_options"):
                found.options.setdefault(name, []).extend(fields)
                check_options(found, source, start, fields)


def variables(found: Declarations, source: Source, position: int, text: str) -> list[tuple[str, str]]:
    """(type, name with its stars) of each variable of a C declaration: Cython takes one a line."""
    match = VARIABLE.fullmatch(text)
    if match is None:
        raise source.error(position, text, "type name, ...;")
    if match[2] not in found.types:
        raise source.error(position, text, "a number or a type declared before")
    kind = f"{match[1].strip()} {match[2]}".strip()
    return [(kind, "".join(name.split())) for name in match[3].split(",")]


def kernels(found: Declarations, path: str) -> list[str]:
    """The function pointers of a .def file. Without `noexcept nogil` every call would take the GIL."""
    source = read(found.root, path)
    rows, position = [], 0
    while source.text[position:].strip():
        position += len(source.text[position:]) - len(source.text[position:].lstrip())
        row = FUNCTION.match(source.text, position)
        if row is None:
            raise source.error(position, source.text[position : position + 60], "KERNEL(type, name, (arguments))")
        result, name, arguments = row.groups()
        variables(found, source, row.start(), f"{result} {name}")
        types = []
        for argument in arguments.split(","):
            ((kind, declared),) = variables(found, source, row.start(3), argument.strip())
            types.append(f"{kind} {'*' * declared.count('*')}".strip())
        rows.append(f"{result} (*{name})({', '.join(types)}) noexcept nogil")
        position = row.end()
    return rows


def check_options(found: Declarations, source: Source, position: int, fields: list[tuple[str, str]]) -> None:
    for kind, name in fields:
        if kind not in NUMBERS | found.enums.keys() or "*" in name:
            raise source.error(position, f"{kind} {name}", "a number or an enum, as options are")


def python_names(constants: list[str]) -> dict[str, str]:
    """{name in Python: constant}: what follows the prefix that all of an enum's constants share, in lower case."""
    prefix = commonprefix(constants)
    prefix = prefix[: prefix.rfind("_") + 1]
    return {constant.removeprefix(prefix).lower(): constant for constant in constants}


def fill(found: Declarations, name: str) -> list[str]:
    """The function fill_NAME."""
    lines = [f"cdef inline int fill_{name}({name} *options, source) except -1:"]
    for kind, option in found.options[name]:
        value = f"source.{option}"
        if kind in found.enums:
            pairs = ", ".join(f'"{name}": {constant}' for name, constant in python_names(found.enums[kind]).items())
            value = f'<{kind}><int>choice("{option}", {value}, {{{pairs}}})'
        lines.append(f"    options.{option} = {value}")
    return [*lines, "    return 0"]


CHOICE = '''cdef inline object choice(str option, value, dict constants):
    if value not in constants:
        raise ValueError(f"{option}: expected one of {', '.join(constants)}, found {value!r}")
    return constants[value]'''


def declarations(root: Path, header: str = HEADER) -> str:
    """The text of the .pxd for `header`, a path below `root` as C includes it. Raises NotUnderstood."""
    found = Declarations(root)
    read_header(found, header)
    blocks = [
        "# Made by csrc/declarations.py from the headers of the kernels: change those.",
        f"from libc.stdint cimport {', '.join(STDINT)}",
        "\n".join([f'cdef extern from "{header}" nogil:', *(f"    {line}" for line in found.lines)]),
        *([CHOICE] if found.options else []),
        *("\n".join(fill(found, name)) for name in found.options),
    ]
    return "\n\n".join(blocks) + "\n"


def main() -> None:
    output = Path(sys.argv[1])
    try:
        text = declarations(Path(__file__).parent)
    except NotUnderstood as error:
        sys.exit(str(error))
    # An unchanged file keeps its time, so that a comment in a header does not compile every module again.
    if not output.exists() or output.read_text() != text:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)


if __name__ == "__main__":
    main()
