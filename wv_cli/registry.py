"""Tables: a name -> row dictionary whose look-up failure names the choices and the nearest one."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from wv_cli.errors import UsageError

Row = TypeVar("Row")


class Registry(dict[str, Row]):
    """Rows by name, in the order they are shown. `kind` is what a row is called in messages: "format", "model"."""

    def __init__(self, kind: str, rows: Iterable[tuple[str, Row]]) -> None:
        super().__init__(rows)
        self.kind = kind

    def find(self, name: str) -> Row:
        """The row called `name`. Raises UsageError with the choices and "did you mean", TypeError for no str."""
        return _find(self, name, self.kind)


def load(place: str) -> Any:
    """What stands at "module:attribute"."""
    module, _, attribute = place.partition(":")
    return getattr(importlib.import_module(module), attribute)


class LazyRegistry(Mapping[str, Row]):
    """A table whose rows stand in modules, which are imported when a row is asked for. `places` are names of rows with
    "module:attribute"."""

    def __init__(self, kind: str, places: Mapping[str, str]) -> None:
        self.kind, self._places = kind, places

    def __getitem__(self, name: str) -> Row:
        row: Row = load(self._places[name])
        return row

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def find(self, name: str) -> Row:
        """As Registry.find."""
        return _find(self, name, self.kind)


def _find(table: Mapping[str, Row], name: str, kind: str) -> Row:
    if not isinstance(name, str):
        raise TypeError(f"{kind}: expected a name as str, found {name!r}")
    if name in table:
        return table[name]
    import difflib

    near = difflib.get_close_matches(name, table, n=1)
    way = f"; did you mean {near[0]!r}?" if near else f" (choices: {', '.join(table)})"
    raise UsageError(f"unknown {kind} {name!r}{way}")
