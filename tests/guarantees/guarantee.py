"""Guarantees, and faults that break them.

A fault names a function and what is wrong in it, not a line of its source: names of functions and of what they use
change seldom, lines often.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass

Change = Callable[[ast.AST, str], ast.AST | None]


@dataclass(frozen=True)
class Fault:
    """`kind` is a row of KINDS, `what` the name that it looks for in the function; `function` is Class.method."""

    module: str
    function: str
    kind: str
    what: str

    @property
    def file(self) -> str:
        return f"wv_cli/{self.module.replace('.', '/')}.py"

    @property
    def name(self) -> str:
        return f"{self.module}.{self.function}: {self.kind} {self.what}"

    def applied(self, source: str) -> str:
        """The module with the fault. Raises ValueError unless there is exactly one place for it."""
        tree = ast.parse(source)
        places = _functions(tree, self.function)
        if len(places) != 1:
            message = f"{self.file} has {len(places)} functions {self.function}"
            raise ValueError(message)
        changer = _Changer(KINDS[self.kind], self.what)
        changer.generic_visit(places[0])
        if changer.count != 1:
            message = f"{self.name}: stands there {changer.count} times, not once"
            raise ValueError(message)
        return ast.unparse(ast.fix_missing_locations(tree))


@dataclass(frozen=True)
class SourceFault:
    """A fault in C or Cython, whose `old` text stands once in `file`."""

    name: str
    file: str
    old: str
    new: str

    def applied(self, source: str) -> str:
        if source.count(self.old) != 1:
            message = f"{self.file}: {self.old!r} stands there {source.count(self.old)} times, not once"
            raise ValueError(message)
        return source.replace(self.old, self.new)


@dataclass(frozen=True)
class Guarantee:
    """`words` stand so in wv_cli/guides/guarantees.md; each of `faults` makes one of `tests` fail."""

    words: str
    tests: tuple[str, ...]
    faults: tuple[Fault | SourceFault, ...]


class _Changer(ast.NodeTransformer):
    """Changes every place that a kind of fault finds."""

    def __init__(self, change: Change, what: str) -> None:
        self._change, self._what, self.count = change, what, 0

    def visit(self, node: ast.AST) -> ast.AST:
        changed = self._change(node, self._what)
        if changed is None:
            return self.generic_visit(node)
        self.count += 1
        return changed


def _functions(tree: ast.Module, name: str) -> list[ast.FunctionDef | ast.ClassDef]:
    found: list[ast.Module | ast.FunctionDef | ast.ClassDef] = [tree]
    places: list[ast.FunctionDef | ast.ClassDef] = []
    for part in name.split("."):
        inner = [node for each in found for node in each.body]
        places = [node for node in inner if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == part]
        found = [*places]
    return places


def _names(node: ast.AST) -> set[str]:
    """The variables and attributes that an expression uses."""
    nodes = [*ast.walk(node)]
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


def _is_call(node: ast.AST, what: str) -> bool:
    return isinstance(node, ast.Call) and what in _names(node.func)


def skip(node: ast.AST, what: str) -> ast.AST | None:
    """A statement that calls `what` does nothing; a `with` that calls it enters nothing."""
    if isinstance(node, ast.Expr) and _is_call(node.value, what):
        return ast.Pass()
    if isinstance(node, ast.With) and any(_is_call(item.context_expr, what) for item in node.items):
        return ast.If(ast.Constant(value=True), node.body, [])
    return None


def never(node: ast.AST, what: str) -> ast.AST | None:
    """The condition that uses `what` does not hold."""
    return _decide(node, what, holds=False)


def always(node: ast.AST, what: str) -> ast.AST | None:
    """The condition that uses `what` holds."""
    return _decide(node, what, holds=True)


def _decide(node: ast.AST, what: str, *, holds: bool) -> ast.AST | None:
    if isinstance(node, (ast.If, ast.IfExp)) and what in _names(node.test):
        node.test = ast.Constant(value=holds)
        return node
    return None


def without(node: ast.AST, what: str) -> ast.AST | None:
    """The operand of `and`, `or` or `|`, or the element, that uses `what` is left out."""
    if isinstance(node, ast.BoolOp):
        values = [value for value in node.values if what not in _names(value)]
        if len(values) < len(node.values):
            return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and what in _names(node.right):
        return node.left
    if isinstance(node, (ast.Tuple, ast.List)) and any(what in _names(each) for each in node.elts):
        node.elts = [each for each in node.elts if what not in _names(each)]
        return node
    return None


def forget(node: ast.AST, what: str) -> ast.AST | None:
    """What is assigned to the variable `what` is None."""
    if isinstance(node, ast.Assign) and [what] == [each.id for each in node.targets if isinstance(each, ast.Name)]:
        return ast.Assign(node.targets, ast.Constant(value=None))
    return None


def answer(node: ast.AST, what: str) -> ast.AST | None:
    """The function's last word is `what`, an expression."""
    return ast.Return(ast.parse(what, mode="eval").body) if isinstance(node, ast.Return) else None


KINDS: dict[str, Change] = {each.__name__: each for each in (skip, never, always, without, forget, answer)}
