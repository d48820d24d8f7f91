"""Standard input, output and error as a program finds them: closed, or a terminal that must not be given orders.

Called once, when the program starts.
"""

import codecs
import io
import os
import sys
from typing import Any, BinaryIO, Literal, TextIO

from wv_cli.errors import escaped


def prepare() -> None:
    """Gives closed standard streams something to stand on, and lets terminals show control characters as text."""
    _fill()
    if sys.stdout.isatty():
        sys.stdout = _shown(sys.stdout)
    if sys.stderr.isatty():
        sys.stderr = _shown(sys.stderr, returns=True)


def _fill() -> None:
    """A file opened later must not become standard output because that number was free. What takes its place can be
    neither read (standard input) nor written (standard output): whoever needs it gets EBADF, as from a closed one.
    Talk to a closed standard error goes nowhere."""
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            found = os.open(os.devnull, mode)  # the lowest number that is free: this one
            assert found == descriptor
            os.set_inheritable(descriptor, True)
    if sys.stdin is None:
        sys.stdin = _opened(0, "r")
    if sys.stdout is None:
        sys.stdout = _opened(1, "w")
    if sys.stderr is None:
        sys.stderr = _opened(2, "w")


def _opened(descriptor: int, mode: Literal["r", "w"]) -> TextIO:
    return open(descriptor, mode, encoding="utf-8", errors="surrogateescape", closefd=False)


def _shown(stream: TextIO, *, returns: bool = False) -> TextIO:
    return io.TextIOWrapper(
        _Terminal(stream.buffer, returns), stream.encoding, stream.errors, line_buffering=True, write_through=True
    )


class _Terminal(io.BufferedIOBase):
    """Bytes on their way to a terminal: control characters, which a word or a file name may hold, become `\\x1b`. A
    carriage return passes, with `returns`, at the start of what is written at once, which is how a bar redraws."""

    def __init__(self, stream: BinaryIO, returns: bool) -> None:
        self._stream, self._returns = stream, returns
        # A character may come in two parts.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, data: Any) -> int:
        text = self._decoder.decode(bytes(data))
        start = "\r" if self._returns and text.startswith("\r") else ""
        shown = start + escaped(text[len(start) :])
        self._stream.write(shown.encode("utf-8", "surrogateescape"))
        return len(memoryview(data).cast("B"))

    def flush(self) -> None:
        self._stream.flush()

    @property
    def name(self) -> str:
        return self._stream.name

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()
