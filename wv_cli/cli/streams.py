"""Standard input, output and error as a program finds them: closed, unbuffered, or a terminal that must not be given
orders.

Called once, when the program starts.
"""

import codecs
import io
import os
import sys
from typing import Any, Literal, TextIO, cast

from wv_cli.errors import escape_for_terminal


def prepare() -> None:
    """Gives closed standard streams something to stand on, and lets terminals show control characters as text. Messages
    show a byte that is not UTF-8 as `\\xff`."""
    _fill()
    codecs.register_error("wv-bytes", _show_bytes)
    cast("TextIO", sys.stderr).reconfigure(errors="wv-bytes")  # type: ignore[attr-defined]
    if isinstance(sys.stdout.buffer, io.RawIOBase):
        own, raw = sys.stdout, io.FileIO(sys.stdout.fileno(), "wb", closefd=False)
        sys.stdout = io.TextIOWrapper(_Whole(raw), own.encoding, own.errors, write_through=True)
    if sys.stdout.isatty():
        sys.stdout = _wrap_terminal(sys.stdout)
    if sys.stderr.isatty():
        sys.stderr = _wrap_terminal(sys.stderr, returns=True)


def _show_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    code = ord(error.object[error.start])
    if not 0xDC80 <= code <= 0xDCFF:
        return codecs.backslashreplace_errors(error)  # type: ignore[return-value]
    return f"\\x{code - 0xDC00:02x}", error.start + 1


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
        sys.stdin = _open_descriptor(0, "r")
    if sys.stdout is None:
        sys.stdout = _open_descriptor(1, "w")
    if sys.stderr is None:
        sys.stderr = _open_descriptor(2, "w")


def _open_descriptor(descriptor: int, mode: Literal["r", "w"]) -> TextIO:
    return open(descriptor, mode, encoding="utf-8", errors="surrogateescape", closefd=False)


class _Whole(io.BufferedWriter):
    """Standard output of `python -u` and PYTHONUNBUFFERED, which is asked to hold nothing back. By itself it writes to
    a pipe what one call takes, which is a part only when the program is stopped (Ctrl-Z) meanwhile: the rest of what it
    was given would be lost."""

    def write(self, data: Any) -> int:
        written = super().write(data)
        self.flush()
        return written


def _wrap_terminal(stream: TextIO, *, returns: bool = False) -> TextIO:
    return io.TextIOWrapper(
        _Terminal(stream, returns), stream.encoding, stream.errors, line_buffering=True, write_through=True
    )


def shows_styles() -> bool:
    """Whether standard output is a terminal that shows colors and bold letters, and may."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write_orders(text: str) -> None:
    """Writes to standard output what gives a terminal orders, such as colors. Text from files is escaped already."""
    stream = sys.stdout.buffer
    whole = stream.stream if isinstance(stream, _Terminal) else stream
    whole.write(text.encode("utf-8", "surrogateescape"))


class _Terminal(io.BufferedIOBase):
    """Bytes on their way to a terminal: control characters, which a word or a file name may hold, become `\\x1b`. A
    carriage return passes, with `returns`, at the start of what is written at once, which is how a bar redraws."""

    def __init__(self, stream: TextIO, returns: bool) -> None:
        self.stream, self._returns = stream.buffer, returns
        self._text = stream  # which closes its bytes when nobody has it
        # A character may come in two parts.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def write(self, data: Any) -> int:
        text = self._decoder.decode(bytes(data))
        start = "\r" if self._returns and text.startswith("\r") else ""
        shown = start + escape_for_terminal(text[len(start) :])
        self.stream.write(shown.encode("utf-8", "surrogateescape"))
        return len(memoryview(data).cast("B"))

    def flush(self) -> None:
        self.stream.flush()

    @property
    def name(self) -> str:
        return self.stream.name

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.stream.fileno()
