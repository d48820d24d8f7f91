"""The option --oov: what a command does with a query that contains an unknown word."""

from typing import TYPE_CHECKING

import click

from wv_cli.errors import BadFile, WvError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NOTES = 10


def tell_zeros(zeros: int, asked: int, what: str = "lines have no word with a vector") -> None:
    """Notes on standard error how many of the answers are zero vectors."""
    if zeros:
        click.echo(f"{zeros:,} of {asked:,} {what}; theirs are zero", err=True)


class Unknown:
    """Counts the queries without an answer and reports them by the rule `oov`. The first ten different problems are
    printed on standard error. `quiet` suppresses them where they are no failure."""

    def __init__(self, oov: str, quiet: bool = False) -> None:
        self.oov = oov
        self._silent = quiet and oov == "skip"
        self._told: set[str] = set()
        self._noted: set[str] = set()
        self._queries = self._words = self._zeros = 0
        self._notes = not quiet
        self._more = False

    def tell(self, problem: str, line: int | None = None) -> None:
        """`line` is that of standard input. Raises WvError under --oov error."""
        if self.oov == "error":
            raise WvError(problem) if line is None else BadFile("standard input", problem, line=line)
        self._queries += 1
        if problem in self._told or self._silent:
            return
        if len(self._told) == _NOTES:
            self._more = True
            return
        self._told.add(problem)
        self._say(problem)

    def note(self, text: str) -> None:
        """Prints a note about an answer; the first ten different ones, none where `quiet`."""
        if self._notes and text not in self._noted and len(self._noted) < _NOTES:
            self._noted.add(text)
            self._say(text)

    def count(self, known: "NDArray[np.bool_]") -> None:
        """Words, and which of them have a vector, for the note of --oov zero."""
        self._words, self._zeros = self._words + len(known), self._zeros + int((~known).sum())

    def exit_code(self) -> int:
        """Tells how many there were, if not all were told; 1 when any was a failure."""
        if self._notes and self.oov == "zero":
            tell_zeros(self._zeros, self._words, "words have no vector")
        if self._more:
            self._say(f"{self._queries:,} queries in all have no answer")
        return int(self._queries > 0 and self.oov == "empty")

    def _say(self, message: str) -> None:
        click.echo(f"{click.get_current_context().command_path}: {message}", err=True)
