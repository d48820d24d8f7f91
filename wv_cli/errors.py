"""The errors a user can meet. Texts are written for the user: place, what was expected, what was found, what to do.

Raised anywhere in the library, worded once; `wv_cli.__main__` alone turns them into a line on stderr and an exit code.
"""

import errno
import re

NOT_BUILT = (
    "wv_cli was found as sources without their compiled modules, such as a checkout that Python is started in; start "
    "it in another folder, or as python -P"
)


class WvError(Exception):
    """The work could not be done (exit code 1)."""

    exit_code = 1

    def __reduce__(self) -> tuple[object, ...]:
        """Whatever its constructor takes: errors cross to other processes."""
        return _made_again, (type(self), self.args, self.__dict__)


def _made_again(kind: type[WvError], args: tuple[object, ...], facts: dict[str, object]) -> WvError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class UsageError(WvError):
    """The options contradict each other or make no sense together (exit code 2)."""

    exit_code = 2


class BadFile(WvError):
    """A file's content is not what its format promises.

    `place` is a line (`line=812`) or a byte offset (`byte=4096`), so that the message reads
    `corpus.vec:812: expected 300 numbers, found 299` or `vectors.bin: byte 4096: ...`.
    """

    def __init__(self, path: object, problem: str, *, line: int | None = None, byte: int | None = None) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}: byte {byte}" if byte is not None else f"{path}"
        super().__init__(f"{place}: {problem}")
        self.path, self.problem, self.line, self.byte = path, problem, line, byte


class MissingFile(WvError, FileNotFoundError):
    """A file that is to be read is not there."""


class GateMissed(WvError):
    """A score is below the bar the user set (exit code 3)."""

    exit_code = 3


class FormatWarning(UserWarning):
    """A file was read whole, but something about it deserves the user's eye. Commands show it as a note."""


class TimedOut(WvError):
    """Stopped by --max-time after saving what there was (exit code 124, as timeout(1))."""

    exit_code = 124


class Interrupted(WvError):
    """Stopped by SIGINT or SIGTERM, what there was is saved; the message says how to go on (exit code 128 + signal)."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number


# Control characters but newline and tab, those of bidirectional text that reorder a line, and bytes that are not UTF-8.
_ORDERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\udc80-\udc9f]")


def escape_for_terminal(text: str) -> str:
    """Text for a terminal: what would give it orders, such as to move its cursor, becomes `\\x1b` or `\\u202e`."""
    return _ORDERS.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code >= 0xDC80:  # a byte that is not UTF-8
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# As Python writes a byte of a str that is not UTF-8, behind an even number of backslashes.
_BYTE = re.compile(r"(?<!\\)((?:\\\\)*)\\udc([89a-f][0-9a-f])")


def show_word(word: str) -> str:
    """A word for a message: as Python writes it, but a byte that is not UTF-8 is `\\xff`."""
    return _BYTE.sub(r"\1\\x\2", repr(word))


def show_bytes(text: bytes, limit: int = 40) -> str:
    """Bytes of a file for a message: short, in quotes, on one line."""
    cut = text if len(text) <= limit else text[:limit]
    characters = cut.decode("utf-8", "backslashreplace")
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in characters)
    return f"'{plain}{'...' if cut is not text else ''}'"


def show_head(head: bytes) -> str:
    """The bytes a file begins with, for a message; that they are no text where most of them cannot be shown."""
    first = head[:64]
    shown = first.decode("utf-8", "ignore")
    if sum(len(each.encode()) for each in shown if each.isprintable() or each in "\n\t\r") < len(first) * 3 / 4:
        return "bytes that are no text"
    return show_bytes(head, 20)


def show_value(value: object, limit: int = 60) -> str:
    """A value of a file for a message: as Python writes it, short, on one line."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # lists deep in each other, a number of thousands of digits
        return "what is too large to show"
    return text if len(text) <= limit else f"{text[:limit]}..."


def cannot_read(name: object, error: OSError | ValueError) -> WvError:
    """The error for a file that cannot be opened: MissingFile where there is none. ValueError: a NUL in its name."""
    why = reason(error) if isinstance(error, OSError) else str(error)
    return (MissingFile if isinstance(error, FileNotFoundError) else WvError)(f"{name}: cannot read: {why}")


EMPTY_NAME = "the name is empty; name a file"


def reason(error: OSError) -> str:
    """What the system says, with the next step for the failures that have an obvious one."""
    steps = {
        errno.ENOSPC: "free some space or write to another disk",
        errno.EDQUOT: "free some space or write to another disk",
        errno.EACCES: "check the permissions of the file and its folder",
        errno.EROFS: "write to another disk",
        errno.EISDIR: "name a file, not a folder",
        errno.ENOTDIR: "name a folder, not a file",
        errno.EEXIST: "choose another name",
        errno.ENAMETOOLONG: "choose a shorter one; a name has at most 255 bytes, what is appended to it included",
        errno.ENOENT: "check the spelling of the path",
    }
    if error.errno == errno.EBADF:
        return "it is closed; open it or name a file"
    text = (error.strerror or str(error)).lower()
    step = steps.get(error.errno or 0)
    return f"{text}; {step}" if step else text
