"""The shape of the house: imports point one way, the libraries neither print nor know click, files stay small.

Reads the source tree, not the installed package, because that is where the shape is decided.
"""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from wv_cli.commands import COMMANDS as COMMAND_TABLE

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "wv_cli"
TOP_LEVEL = {"pyproject.toml", "wv_cli", "csrc", "tests", "benchmarks", "data", "README.md"}

# commands -> {training, models, evaluation, formats} -> {text, vocab, embeddings, ...} -> extension modules
COMMANDS, METHODS, PARTS, EXTENSIONS = 3, 2, 1, 0
LEVELS = {
    "wv_cli.commands": COMMANDS,
    "wv_cli.__main__": COMMANDS,
    "wv_cli.training": METHODS,
    "wv_cli.models": METHODS,
    "wv_cli.evaluation": METHODS,
    "wv_cli.formats": METHODS,
    "wv_cli.text": PARTS,
}
# What an extension module may use of the Python side: the errors it raises and the words it reads.
BELOW_EXTENSIONS = {"wv_cli.errors", "wv_cli.words"}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def level(module: str) -> int:
    parts = module.split(".")
    if len(parts) > 1 and parts[1].startswith("_") and not parts[1].startswith("__"):
        return EXTENSIONS
    return LEVELS.get(".".join(parts[:2]), PARTS)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(path: Path) -> set[str]:
    """Every module the file imports, also inside functions; `from package import module` counts as module."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import; write the full name"
            assert node.module
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if is_module(whole) else node.module)
    return found


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists() or path.with_suffix(".pyi").exists()


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_imports_point_one_way(path: Path) -> None:
    own = level(module_name(path))
    upwards = sorted(
        name for name in imported(path) if name.startswith("wv_cli.") and level(name) > own and name != "wv_cli"
    )
    assert not upwards, f"{module_name(path)} is below {upwards}"


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_only_declared_packages_are_needed(path: Path) -> None:
    """At the top of a file: the standard library, ourselves and the three run-time dependencies. Extras are imported
    where they are used, and what only type checkers read stands under TYPE_CHECKING."""
    nodes = [node for node in tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    allowed = {*sys.stdlib_module_names, "wv_cli", "click", "numpy", "tqdm"}
    assert {name.split(".")[0] for name in names} <= allowed


def test_no_import_cycle() -> None:
    """Modules of one level may use each other, but not in a circle. An __init__ imported for its table is a module."""
    names = {module_name(path): path for path in sources()}
    graph = {name: {other for other in imported(path) if other in names} for name, path in names.items()}
    finished: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import cycle: {' -> '.join((*trail[trail.index(name) :], name))}"
        if name not in finished:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            finished.add(name)

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize("path", sorted((ROOT / "csrc" / "wv_cli").glob("*.pyx")), ids=lambda path: path.stem)
def test_extension_modules_stand_lowest(path: Path) -> None:
    """A .pyx uses nothing of the Python side but errors and words, and has a stub for type checkers."""
    lines = [line.split("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines()]
    used = {words[1] for words in lines if len(words) > 1 and words[0] in ("import", "from") and "cimport" not in words}
    assert {name for name in used if name.startswith("wv_cli")} <= BELOW_EXTENSIONS
    assert (PACKAGE / f"{path.stem}.pyi").is_file()


@pytest.mark.parametrize("path", [path for path in sources() if level(module_name(path)) < COMMANDS], ids=module_name)
def test_libraries_neither_print_nor_know_the_command_line(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & {"click", "tqdm"}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"{path}:{node.lineno}: print() below the commands"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            assert node.attr != "stderr", f"{path}:{node.lineno}: sys.stderr below the commands"


@pytest.mark.parametrize("name", list(COMMAND_TABLE))
def test_command_files_stay_thin(name: str) -> None:
    """Usage, options and one call: 100 lines."""
    path = ROOT.joinpath(*COMMAND_TABLE[name].module.split(".")).with_suffix(".py")
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 100


def test_importing_every_command_loads_nothing_heavy() -> None:
    """Heavy imports wait inside the functions, so that --help and shell completion are fast."""
    names = ["wv_cli.__main__", *(row.module for row in COMMAND_TABLE.values() if is_module(row.module))]
    code = f"import sys, {', '.join(names)}; print(*(name for name in ('numpy', 'tqdm') if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def tracked() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout")
    return [path for name in listing.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


def test_top_level_is_exactly_what_it_should_be() -> None:
    names = {path.relative_to(ROOT).parts[0] for path in tracked()}
    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL


def test_files_are_small_shallow_and_say_what_they_are_for() -> None:
    for path in tracked():
        place = path.relative_to(ROOT)
        if path.suffix not in {".py", ".pyx", ".pxd", ".pyi", ".c", ".h"}:
            continue
        assert len(place.parts) <= 4, f"{place}: nested more than two deep"
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 500, f"{place}: {len(lines)} lines"
        header = path.with_suffix(".h")
        if path.suffix == ".c" and header.exists():
            lines = header.read_text(encoding="utf-8").splitlines()  # the header says it
        opening = {".py": ('"""', 'r"""', "#!"), ".pyx": ('"""', "#"), ".c": ("/*",)}.get(path.suffix)
        if lines and opening:
            assert lines[0].startswith(opening), f"{place}: line 1 should say what the file is for"
