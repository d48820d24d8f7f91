"""The Cython declarations of C, made from its headers, so that a struct, a constant or a function is written down once.

The build writes them (modules.py): wv_cli/core/X.pxd of core/X.h, wv_cli/base/X.pxd of base/X.h, and
wv_cli/_kernels.pxd of kernels/wv_kernels.h and the headers of base/ and kernels/ which that includes. Of the kernels'
headers it understands what stands there and no more:

    typedef struct { ... } name;      members: numbers, pointers, enums, structs declared before
    typedef enum { A, B } name;
    #define NAME integer
    KERNEL(type, name, (arguments))   rows of the .def files that a struct includes: its function pointers

Anything else is an error that names file and line. What stands inside `#ifdef WV_ISA` is left to C.

For every struct X whose name ends in `_options` there is also `fill_X(X *options, source)`. It sets each member from
the attribute of the same name of a Python object, and a member that is an enum from the name of a constant as Python
has it: without the prefix that the enum's constants share, in lower case ("ns" for WV_LOSS_NS, beside WV_LOSS_HS).

The headers of base/ and core/ also have inline functions and atomics. Structs, members, constants, functions and arrays
are declared where Cython can have their types. The others are left out: Cython refuses a module that uses one.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HEADER = "kernels/wv_kernels.h"
STDINT = [f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NUMBERED = f"from libc.stdint cimport {', '.join(STDINT)}"
NUMBERS = {*STDINT, "int", "float", "double"}

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
FOR_C = re.compile(r"^#ifdef WV_ISA *\n.*?^#endif *$", re.MULTILINE | re.DOTALL)

GUARD = re.compile(r"#ifndef \w+_H\n#define \w+_H\n|#endif|#include <[\w./]+>")
CONSTANT = re.compile(r"#define (\w+) +(?:-?\d+|\(-?\d+\)|\(1 << \d+\)) *$", re.MULTILINE)
INCLUDE = re.compile(r'#include "((?:base|kernels)/\w+\.h)"')
ENUM = re.compile(r"typedef enum \{\s*([A-Z]\w*(?:\s*,\s*[A-Z]\w*)*),?\s*\} (\w+);")
STRUCT = re.compile(r"typedef struct \{([^{}]*)\} (\w+);")
MEMBER = re.compile(r"(const )?(\w+) +(\**\w+(?:, *\**\w+)*);")
LIST = re.compile(r'#define KERNEL\(.*\n((?:#include "\w+/\w+\.def"\n)+)#undef KERNEL')
KERNEL = re.compile(r"KERNEL\((\w+), (\w+),\s*\(([^()]*)\)\)")
ARGUMENT = re.compile(r"(const )?(\w+) (\**)\w+")


class NotUnderstood(Exception):
    """C beyond what this file reads; the message says where."""


@dataclass
class Source:
    """One file: its path as C includes it, its text with blanks for comments and for what is left to C."""

    path: str
    text: str

    def error(self, position: int, expected: str) -> NotUnderstood:
        line = self.text.count("\n", 0, position) + 1
        found = self.text[position:].splitlines()[0].strip()
        return NotUnderstood(
            f"csrc/{self.path}:{line}: expected {expected}, found `{found}`: "
            "write it like the declarations around it, or teach csrc/declarations.py to read it"
        )


Rules = dict[re.Pattern[str], Callable[[Source, re.Match[str]], None]]


class Reader:
    """Reads `header`, a path below `root`, and what it includes. `lines` are the body of the extern block; `options`
    the members, (type, name), of each struct of options."""

    def __init__(self, root: Path, header: str = HEADER) -> None:
        self.root = root
        self.lines: list[str] = []
        self.types = {*NUMBERS, "size_t", "char", "void"}
        self.enums: dict[str, list[str]] = {}
        self.options: dict[str, list[tuple[str, str]]] = {}
        self.headers: set[str] = set()
        self.read_header(header)

    def open(self, path: str) -> Source:
        text = (self.root / path).read_text()
        for ignored in (COMMENT, FOR_C):
            text = ignored.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
        return Source(path, text)

    def scan(self, source: Source, expected: str, rules: Rules, start: int = 0, end: int | None = None) -> None:
        """Reads a stretch of a file as statements, each by the rule whose pattern it fits."""
        end = len(source.text) if end is None else end
        position = start
        while rest := source.text[position:end].lstrip():
            position = end - len(rest)
            matches = ((pattern.match(source.text, position, end), rule) for pattern, rule in rules.items())
            match, rule = next(((match, rule) for match, rule in matches if match), (None, None))
            if match is None or rule is None:
                raise source.error(position, expected)
            rule(source, match)
            position = match.end()

    def read_header(self, path: str) -> None:
        if path in self.headers:
            return
        self.headers.add(path)
        rules: Rules = {
            GUARD: lambda source, match: None,
            CONSTANT: lambda source, match: self.lines.extend(["enum:", f"    {match[1]}"]),
            INCLUDE: lambda source, match: self.read_header(match[1]),
            ENUM: self.enum,
            STRUCT: self.struct,
        }
        self.scan(self.open(path), "a struct, an enum, an include or #define NAME integer", rules)

    def enum(self, source: Source, match: re.Match[str]) -> None:
        constants, name = re.findall(r"\w+", match[1]), match[2]
        self.enums[name] = constants
        self.types.add(name)
        self.lines += [f"ctypedef enum {name}:", *(f"    {constant}" for constant in constants)]

    def struct(self, source: Source, match: re.Match[str]) -> None:
        members: list[tuple[str, str]] = []
        functions: list[str] = []

        def member(source: Source, match: re.Match[str]) -> None:
            kind = self.known(source, match.start(), match)
            members.extend((kind, name.strip()) for name in match[3].split(","))

        def listed(source: Source, match: re.Match[str]) -> None:
            for path in re.findall(r'"(.+)"', match[1]):
                functions.extend(self.kernels(path))

        rules: Rules = {LIST: listed, MEMBER: member}
        self.scan(source, "a member: type name, ...;", rules, *match.span(1))
        name = match[2]
        self.types.add(name)
        lines = [f"{kind} {declared}" for kind, declared in members] + functions
        self.lines += [f"ctypedef struct {name}:", *(f"    {line}" for line in lines)]
        if name.endswith("_options"):
            self.options[name] = members
            strange = [declared for kind, declared in members if "*" in declared or kind not in {*NUMBERS, *self.enums}]
            if strange:
                raise source.error(match.start(), f"options that are numbers or enums, not {strange[0]}")

    def known(self, source: Source, position: int, match: re.Match[str]) -> str:
        """The type of a member or an argument, which must have been declared."""
        if match[2] not in self.types:
            raise source.error(position, f"a type declared before, not {match[2]}")
        return f"{match[1] or ''}{match[2]}"

    def kernels(self, path: str) -> list[str]:
        """The function pointers that a .def file lists. Without `noexcept nogil` every call would take the GIL."""
        pointers: list[str] = []

        def kernel(source: Source, match: re.Match[str]) -> None:
            arguments = [ARGUMENT.fullmatch(argument.strip()) for argument in match[3].split(",")]
            if match[1] not in self.types or None in arguments:
                raise source.error(match.start(), "types declared before, arguments as type name")
            known = [(self.known(source, match.start(), argument), argument[3]) for argument in arguments if argument]
            types = [f"{kind} {stars}".strip() for kind, stars in known]
            pointers.append(f"{match[1]} (*{match[2]})({', '.join(types)}) noexcept nogil")

        self.scan(self.open(path), "KERNEL(type, name, (arguments))", {KERNEL: kernel})
        return pointers

    def fill(self, struct: str) -> list[str]:
        """The function fill_STRUCT."""
        lines = [f"cdef inline int fill_{struct}({struct} *options, source) except -1:"]
        for kind, option in self.options[struct]:
            value = f"source.{option}"
            if kind in self.enums:
                choices = ", ".join(f'"{name}": {constant}' for name, constant in python_names(self.enums[kind]))
                value = f'<{kind}><int>choice("{option}", {value}, {{{choices}}})'
            lines.append(f"    options.{option} = {value}")
        return [*lines, "    return 0"]


def python_names(constants: list[str]) -> list[tuple[str, str]]:
    """(name in Python, constant) of an enum's constants."""
    prefix = constants[0]
    while prefix and not (prefix.endswith("_") and all(constant.startswith(prefix) for constant in constants)):
        prefix = prefix[: prefix.rfind("_", 0, -1) + 1]
    return [(constant.removeprefix(prefix).lower(), constant) for constant in constants]


CHOICE = """cdef inline object choice(str option, value, dict constants):
    if value not in constants:
        raise ValueError(f"{option}: expected one of {', '.join(constants)}, found {value!r}")
    return constants[value]"""


def declarations(root: Path, header: str = HEADER) -> str:
    """The text of the .pxd. Raises NotUnderstood."""
    reader = Reader(root, header)
    blocks = [
        "# Made by csrc/declarations.py from the headers of the kernels: change those.",
        NUMBERED,
        "\n".join([f'cdef extern from "{header}" nogil:', *(f"    {line}" for line in reader.lines)]),
        *([CHOICE] if reader.options else []),
        *("\n".join(reader.fill(struct)) for struct in reader.options),
    ]
    return "\n\n".join(blocks) + "\n"


ENUMERATION = re.compile(r"^enum (?:\w+ )?\{([^{}]*)\};", re.MULTILINE)
ENUMERATED = re.compile(r"(?:^|,|\))\s*([A-Z]\w*)\s*(?=[=,]|$)")
DEFINITION = re.compile(r"^#define (\w+) +[-\w('].*$", re.MULTILINE)
RECORD = re.compile(r"^typedef struct \{((?:[^{}]|\{[^{}]*\})*)\} (\w+);", re.MULTILINE)
NAMELESS = re.compile(r"\bunion \{([^{}]*)\};|\bstruct \{[^{}]*\} \w+(?:\[\w+\])?;")
TYPE = r"((?:const |unsigned )*\w+)"
ARRAY = re.compile(rf"^extern {TYPE} (\**)(?:const )?(\w+)\[\w+\];", re.MULTILINE)
FUNCTION = re.compile(rf"^(?:static inline )?{TYPE} (\**)(\w+)\(([^()]*)\)(?:;| \{{)", re.MULTILINE)
DECLARED = r"\**\w+(?:\[\w+\])?"
POINTER = re.compile(r"(\w+) \(\*(\w+)\)\(([^()]*)\)")
TYPED = re.compile(rf"{TYPE} +({DECLARED}(?:,\s*{DECLARED})*)")
C_WORDS = {*NUMBERS, "const", "unsigned", "char", "void", "size_t", "ptrdiff_t"}


class CoreHeader:
    """A header of base/ or core/: `names` that it declares and Cython can have, each with its module; `lines` of the
    extern block; `used`, the names in them that other modules declare."""

    def __init__(self, text: str, module: str, names: dict[str, str]) -> None:
        self.module = module
        self.names = names
        self.lines: list[str] = []
        self.used: set[str] = set()
        rules: dict[re.Pattern[str], Callable[[re.Match[str]], None]] = {
            ENUMERATION: lambda match: self.constants(ENUMERATED.findall(match[1])),
            DEFINITION: lambda match: self.constants([match[1]]),
            RECORD: self.record,
            ARRAY: self.array,
            FUNCTION: self.function,
        }
        found = [(match.start(), rule, match) for pattern, rule in rules.items() for match in pattern.finditer(text)]
        for _, rule, match in sorted(found, key=lambda row: row[0]):
            rule(match)

    def add(self, name: str, lines: list[str], *uses: str) -> None:
        """Adds the declaration of `name`, unless it uses a name that Cython cannot have."""
        words = {word for use in uses for word in re.findall(r"[A-Za-z_]\w*", use)} - C_WORDS
        if words <= self.names.keys():
            self.used |= {word for word in words if self.names[word] != self.module}
            self.lines += lines
            self.names[name] = self.module

    def constants(self, names: list[str]) -> None:
        for name in names:
            self.add(name, ["enum:", f"    {name}"])

    def record(self, match: re.Match[str]) -> None:
        """A struct. Members of a nameless union count as its own."""
        name = match[2]
        self.add(name, [f"ctypedef struct {name}:"])
        empty = len(self.lines)
        for member in NAMELESS.sub(lambda nested: nested[1] or "", match[1]).split(";"):
            if pointer := POINTER.fullmatch(member.strip()):
                self.declare(name, f"    {pointer[1]} (*{pointer[2]})", pointer[1], pointer[3], " noexcept nogil")
            typed = TYPED.fullmatch(member.strip())
            for declared in typed[2].split(",") if typed else ():
                declared = declared.strip()
                self.add(name, [f"    {typed[1]} {declared}"], typed[1], *re.findall(r"\[([^\d\]]\w*)\]", declared))
        if len(self.lines) == empty:
            self.lines.append("    pass")

    def array(self, match: re.Match[str]) -> None:
        kind, stars, name = match.groups()
        self.add(name, [f"{kind} {stars}{name}[]"], kind)

    def function(self, match: re.Match[str]) -> None:
        result, stars, name, arguments = match.groups()
        self.declare(name, f"{result} {stars}{name}", result, arguments)

    def declare(self, name: str, before: str, result: str, listed: str, after: str = "") -> None:
        """Adds a function or a pointer to one. Its arguments stay without names, which may be words of Python."""
        arguments = [TYPED.fullmatch(argument.strip()) for argument in listed.split(",") if listed != "void"]
        kinds = [f"{argument[1]} {'*' * argument[2].count('*')}".strip() for argument in arguments if argument]
        if len(kinds) == len(arguments):
            self.add(name, [f"{before}({', '.join(kinds)}){after}"], result, *kinds)


def core_declarations(root: Path) -> dict[str, str]:
    """The text of wv_cli/PATH.pxd of each PATH.h of base/ and core/ that declares anything, by path."""
    shared = "base/wv_shared"
    in_kernels = dict.fromkeys(Reader(root, f"{shared}.h").types - C_WORDS, "wv_cli._kernels")
    headers = {shared: CoreHeader("", "wv_cli._kernels", in_kernels)}

    def read(path: str) -> CoreHeader:
        if path not in headers:
            text = COMMENT.sub(" ", (root / f"{path}.h").read_text())
            included = re.findall(r'#include "(\w+/\w+)\.h"', text)
            names = {word: module for part in included for word, module in read(part).names.items()}
            headers[path] = CoreHeader(text, f"wv_cli.{path.replace('/', '.')}", names)
        return headers[path]

    texts = {}
    for path in sorted(f"{path.parent.name}/{path.stem}" for path in [*root.glob("base/*.h"), *root.glob("core/*.h")]):
        header = read(path)
        imports = [f"from {header.names[word]} cimport {word}" for word in sorted(header.used)]
        block = [f'cdef extern from "{path}.h" nogil:', *(f"    {line}" for line in header.lines)]
        if header.lines:
            first = [f"# Made by csrc/declarations.py from {path}.h: change that.", NUMBERED, *imports]
            texts[path] = "\n".join([*first, "", *block, ""])
    return texts


def write(root: Path, folder: Path) -> None:
    """Writes all declarations below `folder`. Raises NotUnderstood."""
    for name, text in {"_kernels": declarations(root), **core_declarations(root)}.items():
        output = folder / f"wv_cli/{name}.pxd"
        # An unchanged file keeps its time, so that a comment in a header does not compile every module again.
        if not output.exists() or output.read_text() != text:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(text)
