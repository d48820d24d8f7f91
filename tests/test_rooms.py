"""The shape of the house: rooms in one strict order, libraries that neither print nor know click, small files.

Reads the source tree, not the installed package, because that is where the shape is decided.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.walk import for_each
from wv_cli.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "wv_cli"
TOP_LEVEL = {"pyproject.toml", "wv_cli", "csrc", "tests", "benchmarks", "data", "findings", "README.md"}

# From top to bottom. A file imports its own room and rooms that stand below it; a module named in a string counts.
ROOMS = (
    "__main__",
    "",  # wv_cli/__init__.py, the public face
    "cli",
    "guides",
    "fasttext",
    "gensim",
    "commands",
    "evaluation",
    "plotting",
    "filtering",
    "retrieval",
    "hashing",
    "transforms",
    "models",
    "lm",
    "encoders",
    "vectors",
    "text",
    "config",
    "io",
    "words",
    "registry",
    "_",  # the extension modules
    "errors",
)
MOST_ROOT_FILES = 6
# Rooms that talk to the user; all others neither print nor know click and tqdm.
TALKING = {"__main__", "cli"}
# What an extension module may use of the Python side: the errors it raises and the words it reads.
BELOW_EXTENSIONS = {"wv_cli.errors", "wv_cli.words"}

_NAMED = re.compile(r"wv_cli(\.\w+)+\.?(:\w+)?")


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The room of wv_cli.ROOM.file, the file itself at the root, "_" for an extension module."""
    room = [*module.split("."), ""][1]
    return "_" if room.startswith("_") and not room.startswith("__") else room


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def imported(path: Path) -> set[str]:
    """Every module the file imports, also inside functions, and every one it names in a string; `from package import
    module` counts as module. The version may be read by everyone."""
    found = set()
    docstrings = {id(node.body[0].value) for node in ast.walk(tree(path)) if _has_docstring(node)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the full name"
            assert node.module
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole != "wv_cli.__version__":
                    found.add(whole if is_module(whole) else node.module)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            found.update(_named(node.value))
    return found


def for_checkers(path: Path) -> set[str]:
    """The modules that the file imports under TYPE_CHECKING."""
    blocks = [
        node for node in tree(path).body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    nodes = [each for block in blocks for each in block.body if isinstance(each, ast.ImportFrom) and each.module]
    return {str(each.module) for each in nodes}


def _named(text: str) -> list[str]:
    """The module that a whole string names: `wv_cli.room.file`, `wv_cli.room.file:Class`, the start of an f-string."""
    return [text.partition(":")[0].rstrip(".")] if _NAMED.fullmatch(text) else []


def _has_docstring(node: ast.AST) -> bool:
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return isinstance(node, kinds) and bool(node.body) and isinstance(node.body[0], ast.Expr)


@cache
def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists() or (ROOT / f"csrc/{name.replace('.', '/')}.pyx").exists()


def upwards(path: Path) -> list[str]:
    """What the file imports from rooms that stand above its own."""
    own = ROOMS.index(room_of(module_name(path)))
    names = {name for name in imported(path) if name.split(".")[0] == "wv_cli"}
    return sorted(name for name in names if ROOMS.index(room_of(name)) < own)


def test_every_room_has_its_place_in_the_order() -> None:
    found = {room_of(module_name(path)) for path in sources()} | {"_"}
    assert found == set(ROOMS)
    assert len(ROOMS) == len(set(ROOMS))


@for_each("path", sources(), module_name)
def test_imports_point_down(path: Path) -> None:
    assert upwards(path) == [], f"{module_name(path)} stands below these"


def test_the_root_stays_small() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_ROOT_FILES


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("models/word2vec.py", "from wv_cli.commands.job import Job"),
        ("vectors/neighbors/rows.py", "def f():\n    import wv_cli.models.training"),
        ("text/corpus.py", "import wv_cli.commands as jobs"),
        ("text/phrases.py", "from wv_cli import evaluation"),
        ("hashing/__init__.py", "ROW = 'wv_cli.commands.hash:HashJob'"),
        ("vectors/formats/__init__.py", "name = 'x'; module = f'wv_cli.cli.{name}'"),
        ("vectors/neighbors/rows.py", "from wv_cli import load"),
    ],
)
def test_the_order_is_enforced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, text: str) -> None:
    """A file moved up, an import hidden in a function, a module named in a string: each is seen."""
    path = tmp_path / "wv_cli" / place
    path.parent.mkdir(parents=True)
    path.write_text(text)
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "wv_cli")
    assert upwards(path)


DOORS = {"wv_cli.commands.distribution"}  # to other processes


def beside_the_door(path: Path) -> list[str]:
    """What a file imports of the cluster, unless it is the door."""
    inside = module_name(path) in DOORS
    return [] if inside else sorted(name for name in imported(path) if name.startswith("wv_cli.io.dask_cluster"))


def test_one_module_of_commands_knows_other_processes() -> None:
    assert {path: found for path in sources() if (found := beside_the_door(path))} == {}


@pytest.mark.parametrize(
    "place", ["commands/word2vec.py", "commands/parts/reading.py", "cli/train.py", "evaluation/base.py"]
)
def test_a_second_door_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    path = tmp_path / "wv_cli" / place
    path.parent.mkdir(parents=True)
    path.write_text("def f():\n    from wv_cli.io.dask_cluster import DaskCluster")
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path / "wv_cli")
    assert beside_the_door(path) == ["wv_cli.io.dask_cluster"]


_OTHER_PROCESSES = re.compile(r"\bMPI\b|\bmpi\w+|\bDask\b")
_MAY_SAY = {"cli/options.py"}  # the help of `--dask`


@pytest.mark.parametrize("room", ["text", "models", "vectors", "evaluation", "cli"])
def test_rooms_do_not_speak_of_other_processes(room: str) -> None:
    said = {}
    for path in sorted((PACKAGE / room).rglob("*.py")):
        if str(path.relative_to(PACKAGE)) not in _MAY_SAY:
            said[str(path)] = _OTHER_PROCESSES.findall(path.read_text(encoding="utf-8"))
    assert {path: found for path, found in said.items() if found} == {}


@for_each("path", sources(), module_name)
def test_only_declared_packages_are_needed(path: Path) -> None:
    """At the top of a file: the standard library, ourselves and the three run-time dependencies. Extras are imported
    where they are used, and what only type checkers read stands under TYPE_CHECKING."""
    nodes = [node for node in tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    allowed = {*sys.stdlib_module_names, "wv_cli", "click", "numpy", "tqdm"}
    assert {name.split(".")[0] for name in names} <= allowed


def test_no_import_cycle() -> None:
    """Modules of one room may use each other, but not in a circle. An __init__ imported for its table is a module. What
    type checkers alone import makes no circle."""
    names = {module_name(path): path for path in sources()}
    graph = {
        name: {other for other in imported(path) - for_checkers(path) if other in names} - {name}
        for name, path in names.items()
    }
    finished: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail[trail.index(name) :], name))}"
        if name not in finished:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            finished.add(name)

    for name in sorted(graph):
        visit(name, ())


@for_each("path", sorted((ROOT / "csrc" / "wv_cli").glob("*.pyx")))
def test_extension_modules_stand_lowest(path: Path) -> None:
    """A .pyx uses nothing of the Python side but errors and words."""
    lines = [line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines()]
    used = {words[1] for words in lines if len(words) > 1 and words[0] in ("import", "from") and "cimport" not in words}
    assert {name for name in used if name.startswith("wv_cli")} <= BELOW_EXTENSIONS


@for_each("path", [path for path in sources() if room_of(module_name(path)) not in TALKING], module_name)
def test_libraries_neither_print_nor_know_the_command_line(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & {"click", "tqdm"}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"{path}:{node.lineno}: print() below the commands"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            assert node.attr != "stderr", f"{path}:{node.lineno}: sys.stderr below the commands"


@for_each("name", [name for name, row in COMMANDS.items() if ":" not in row.module])
def test_command_files_stay_thin(name: str) -> None:
    """Usage, options and one call."""
    path = ROOT.joinpath(*COMMANDS[name].module.split(".")).with_suffix(".py")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 130


def test_importing_every_command_loads_nothing_heavy() -> None:
    """Heavy imports wait inside the functions, so that --help and shell completion are fast."""
    names = ["wv_cli.__main__", *(row.module.partition(":")[0] for row in COMMANDS.values())]
    code = f"import sys, {', '.join(names)}; print(*(name for name in ('numpy', 'tqdm') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_tests_have_a_folder_per_room() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    folders = {path.name for path in (ROOT / "tests").iterdir() if (path / "__init__.py").exists()}
    assert folders - rooms == {"compat", "fuzz", "guarantees", "kernels", "peers", "reference"}
    assert rooms <= folders


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listing.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def test_top_level_is_exactly_what_it_should_be() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL


def test_findings_stand_alone() -> None:
    """They run public packages of one version, and not this program."""
    scripts = [path for path in tracked() if path.parent.name == "findings" and path.suffix == ".sh"]
    assert scripts
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert script.stat().st_mode & 0o111 and re.search(r"==\d", text), script
        assert not re.search(r"\bwv(_cli)?\b", text) and 25 <= len(text.splitlines()) <= 60, script


def test_files_are_small_shallow_and_say_what_they_are_for() -> None:
    for path in tracked():
        place = path.relative_to(ROOT)
        if path.suffix not in {".py", ".pyx", ".pxd", ".pyi", ".c", ".h"}:
            continue
        assert len(place.parts) <= 4, f"{place}: nested more than two deep"
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 500 or path.name == "functions.pyi", f"{place}: {len(lines)} lines"  # that one is made
        header = path.with_suffix(".h")
        if path.suffix == ".c" and header.exists():
            lines = header.read_text(encoding="utf-8").splitlines()  # the header says it
        opening = {".py": ('"""', 'r"""', "#!"), ".pyx": ('"""', "#"), ".c": ("/*",)}.get(path.suffix)
        if lines and opening:
            assert lines[0].startswith(opening), f"{place}: line 1 should say what the file is for"
