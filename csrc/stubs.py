"""The stubs of the extension modules, by which editors and type checkers know them: NAME.pyi of wv_cli/NAME.pyx.

An argument's type is that of C: int for int64_t, NDArray[np.float32] for a memoryview of float, Buffer for one of
unsigned char. Where C does not say it, the source does as in Python, and where both stand, Python's counts:

    def score(self, const int32_t[::1] ids, object names: list[str], bint ends=True) -> NDArray[np.float32]:
    cdef readonly object starts, rows  # NDArray[np.int64]
    NAMES: tuple[str, ...] = ...       a constant without a type is an int

A type that is missing is an error that names file and line. Names that begin with one underscore stay private.
"""

import re
from collections.abc import Iterator
from pathlib import Path

SOURCES = {
    "collections.abc": ["Callable", "Iterable", "Iterator", "Sequence"],
    "mmap": ["mmap"],
    "typing": ["Self", "final"],
    "numpy": ["np"],
    "numpy.typing": ["ArrayLike", "NDArray"],
    "typing_extensions": ["Buffer"],
}
INTEGER = re.compile(r"u?int\d+_t|int|size_t|Py_ssize_t")
SCALARS = {"bint": "bool", "float": "float", "double": "float", "str": "str", "bytes": "bytes"}
ELEMENTS = {"float": "float32", "double": "float64"}
HIDDEN = {"__dealloc__", "__getbuffer__", "__releasebuffer__"}

STATEMENT = re.compile(
    r"""^cdef \s class \s (?P<class>\w+) (?:\((?P<base>[\w.]+)\))? :
    | ^(?P<method>\ {4})? def \s (?P<function>\w+) \(
    | ^\ {4}cdef \s readonly \s (?P<kind>[\w.]+) \s (?P<attributes>\w+(?:,\ \w+)*) (?:\ +\#\ (?P<shown>.+))? $
    | ^(?P<constants>[A-Z][A-Z0-9_]*(?:,\ [A-Z][A-Z0-9_]*)*) (?::\ (?P<type>[^=\n]+))? \ =\ """,
    re.MULTILINE | re.VERBOSE,
)
WORDS_NOT_CODE = re.compile(r'""".*?"""', re.DOTALL)


class NoType(Exception):
    """A declaration without a type; the message says where."""


def split(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that stand outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == separator and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def python_type(kind: str) -> str | None:
    """What a type of Cython is in Python; None: it does not say."""
    element = kind.removeprefix("const ").partition("[")
    if element[1]:
        name = element[0]
        return "Buffer" if name == "unsigned char" else f"NDArray[np.{ELEMENTS.get(name, name.removesuffix('_t'))}]"
    if kind in ("", "object", "list", "tuple", "dict"):
        return None
    return "int" if INTEGER.fullmatch(kind) else SCALARS.get(kind, kind)


class Module:
    """The stub of one module. Raises NoType."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = WORDS_NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), path.read_text())
        self.lines: list[str] = []
        shared = path.with_suffix(".pxd")
        self.shared = shared.read_text() if shared.exists() else ""
        for match in STATEMENT.finditer(self.text):
            if match["class"]:
                self.open_class(match)
            elif match["function"]:
                self.function(match)
            elif match["attributes"]:
                self.attributes(match)
            else:
                self.lines += [f"{name}: {match['type'] or 'int'}" for name in match["constants"].split(", ")]

    def missing(self, position: int, what: str) -> NoType:
        line = self.text.count("\n", 0, position) + 1
        return NoType(f"csrc/wv_cli/{self.path.name}:{line}: {what} has no type for the stub: write it as in Python")

    def open_class(self, match: re.Match[str]) -> None:
        body = re.compile(r"(?:\n(?: {4}.*)?)*").match(self.text, match.end())
        assert body is not None
        base = "Buffer" if "def __getbuffer__(" in body[0] else match["base"]
        final = self.text[: match.start()].endswith("@cython.final\n")
        members = re.search(
            r"^ {4}(?:def (?!__dealloc|__getbuffer|__cinit__\(self\))|cdef readonly)", body[0], re.MULTILINE
        )
        head = f"class {match['class']}{f'({base})' if base else ''}:"
        blank = [""] if self.lines else []
        self.lines += [*blank, *(["@final"] if final else []), head if members else f"{head} ..."]
        declared = re.search(rf"^cdef class {match['class']}\b.*:\n((?: {{4}}.*\n|\n)*)", self.shared, re.MULTILINE)
        for attribute in STATEMENT.finditer(declared[1]) if declared else ():
            self.attributes(attribute)

    def attributes(self, match: re.Match[str]) -> None:
        kind = match["shown"] or python_type(match["kind"])
        if kind is None:
            raise self.missing(match.start(), match["attributes"])
        for name in match["attributes"].split(", "):
            if not name.startswith("_"):
                self.lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]

    def function(self, match: re.Match[str]) -> None:
        name, indent = match["function"], match["method"] or ""
        private = name.startswith("_") and not name.endswith("__")
        if private or name in HIDDEN or (name == "__cinit__" and self.text.startswith("self)", match.end())):
            return
        tail = re.compile(r"(?: -> (?P<result>[^#\n]+?))?:(?P<ignored> +# type: ignore.*)?(?:\n| )")
        end, depth = match.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            end += 1
        after = tail.match(self.text, end)
        makes = {"__cinit__": "Self", "__init__": "None"}.get(name)
        result = (after["result"] if after else None) or makes
        if after is None or result is None:
            raise self.missing(match.start(), f"the result of {name}()")
        words = [word for word in split(re.sub(r"#.*", "", self.text[match.end() : end - 1]), ",") if word]
        arguments = [self.argument(match.start(), name, " ".join(word.split())) for word in words]
        if name == "__cinit__":
            name, arguments[0] = "__new__", "cls"
        if self.text[: match.start()].endswith("@property\n"):
            self.lines.append(f"{indent}@property")
        elif not indent and self.lines and not self.lines[-1].startswith(("def ", ")")):
            self.lines.append("")
        first, ignored = f"{indent}def {name}(", after["ignored"] or ""
        line = f"{first}{', '.join(arguments)}) -> {result}: ...{ignored}"
        if len(line) > 120:
            self.lines += [f"{first}{ignored}", *(f"{indent}    {argument}," for argument in arguments)]
            line = f"{indent}) -> {result}: ..."
        self.lines.append(line)

    def argument(self, position: int, function: str, text: str) -> str:
        declared, _, default = (part.strip() for part in text.partition("="))
        before, *annotation = split(declared.replace(" not None", ""), ":")
        kind, _, name = before.rpartition(" ")
        if name in ("self", "*"):
            return name
        shown = annotation[0] if annotation else python_type(kind)
        if shown is None:
            raise self.missing(position, f"{name} of {function}()")
        if default == "None" and "None" not in shown:
            shown += " | None"
        plain = re.fullmatch(r"None|True|False|-?[\d.]+|\"[^\"]*\"|'[^']*'", default)
        return f"{name}: {shown}" + (f" = {default if plain else '...'}" if default else "")

    def imports(self) -> Iterator[str]:
        """Those of the names that the stub uses."""
        used = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", "\n".join(self.lines)))
        for module, known in SOURCES.items():
            if names := [name for name in known if name in used]:
                yield "import numpy as np" if names == ["np"] else f"from {module} import {', '.join(names)}"
        for module, cimported in re.findall(r"^from (wv_cli(?:\._\w+)?) cimport ([\w, ]+)", self.text, re.MULTILINE):
            yield from (f"from {module} import {name}" for name in cimported.split(", ") if name in used)


def stub(path: Path) -> str:
    """The text of the stub of a .pyx. Raises NoType."""
    module = Module(path)
    first = f"# Made by csrc/stubs.py from csrc/wv_cli/{path.name}: change that."
    return "\n".join([first, *module.imports(), "", *module.lines, ""])


def write(root: Path, folder: Path) -> None:
    """Writes all stubs into `folder`, and deletes those of modules that are gone. Raises NoType."""
    texts = {f"{path.stem}.pyi": stub(path) for path in sorted(root.glob("wv_cli/*.pyx"))}
    folder.mkdir(parents=True, exist_ok=True)
    for gone in {path.name for path in folder.glob("_*.pyi")} - texts.keys():
        (folder / gone).unlink()
    for name, text in texts.items():
        (folder / name).write_text(text)
