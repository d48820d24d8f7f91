"""The command lines of word2vec, fastText and GloVe as their users type them: flags, printed forms, exit codes, files.

Thin faces: each module translates one program's words into the sessions and queries that the other commands run, and
prints what that program prints. What is unsafe in an original is safe here; `wv help differences` lists what differs.
"""

import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import click


class Exit(Exception):
    """The program has said what there is to say and ends with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def say(text: str) -> None:
    """To standard output; words may be any bytes."""
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


def tell(text: str) -> None:
    """To standard error, at once; words may be any bytes."""
    sys.stdout.flush()
    sys.stderr.write(text)
    sys.stderr.flush()


def abort(message: str) -> NoReturn:
    """Tells what an original says when it aborts, and raises Exit(1)."""
    tell(f"{message}\n")
    raise Exit(1)


class CompatCommand(click.Command):
    """A command that gets the words after its name as they are: `main` returns the exit code, or raises Exit. To the
    words `asking` it answers with its help."""

    def __init__(self, name: str, main: Callable[[Sequence[str]], int], help: str, asking: Sequence[str] = ()) -> None:
        super().__init__(name, help=help, add_help_option=False)
        self._main, self._asking = main, asking

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        context = click.Context(self, info_name=info_name, parent=parent)
        context.args = list(args)
        return context

    def invoke(self, context: click.Context) -> int:
        return self._run(context.args)

    def show_help(self) -> None:
        """What the program says itself, and how it is called."""
        self._run(self._asking)
        say(f"{self.name} as `wv {self.name}`; `wv links DIR` makes links of the original names. {self.help}\n")

    def _run(self, words: Sequence[str]) -> int:
        try:
            return self._main(words)
        except Exit as ended:
            return ended.code
