"""Tables: a name -> row dictionary whose look-up failure names the choices and the nearest one."""

import difflib
from collections.abc import Iterable
from typing import TypeVar

from wv_cli.errors import UsageError

Row = TypeVar("Row")


class Registry(dict[str, Row]):
    """Rows by name, in the order they are shown. `kind` is what a row is called in messages: "format", "model"."""

    def __init__(self, kind: str, rows: Iterable[tuple[str, Row]]) -> None:
        super().__init__(rows)
        self.kind = kind

    def find(self, name: str) -> Row:
        """The row called `name`. Raises UsageError with the choices and "did you mean"."""
        if name in self:
            return self[name]
        near = difflib.get_close_matches(name, self, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"unknown {self.kind} {name!r}{hint} (choices: {', '.join(self)})")
