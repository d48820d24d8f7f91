"""`wv glove-tools vocab_count|cooccur|shuffle|glove`: GloVe's four programs, and what they have in common.

Results go to standard output (`glove` writes files), talk to standard error.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from wv_cli.cli.compat import CompatCommand, Exit, say
from wv_cli.cli.compat.flags import Flags
from wv_cli.errors import UsageError

PROGRAMS = ("vocab_count", "cooccur", "shuffle", "glove")
HELP_FLAGS = ("-h", "-help", "--help")
COUNTER_STEP = 100_000  # words or records between two renewals of a counter
GIGABYTE = 1 << 30
_MEMORY = (1e-6, 1e6)  # gigabytes
_MISSING = "No argument given for {}"
_LINES = f"""GloVe's own command lines:
  wv glove-tools vocab_count < text > vocab.txt
  wv glove-tools cooccur -vocab-file vocab.txt < text > cooccurrence.bin
  wv glove-tools shuffle < cooccurrence.bin > cooccurrence.shuf.bin
  wv glove-tools glove -input-file cooccurrence.shuf.bin -vocab-file vocab.txt
Help: vocab_count and shuffle with {HELP_FLAGS[0]}, cooccur and glove without any word.
"""


def main(words: Sequence[str]) -> int:
    program = words[0] if words else ""
    if program in HELP_FLAGS:
        say(_LINES)
        return 0
    if program not in PROGRAMS:
        found = f"not {program!r}" if program else "and its flags"
        raise UsageError(f"expected one of {', '.join(PROGRAMS)}, {found}")
    return int(importlib.import_module(f"{__name__}_{program}").main(words[1:]))


def flags_of(words: Sequence[str]) -> Flags:
    return Flags(words, _MISSING)


def memory_of(flags: Flags, default: float) -> float:
    """-memory, in gigabytes. Raises UsageError."""
    memory, (low, high) = flags.number("-memory", default), _MEMORY
    if not low <= memory <= high:
        raise UsageError(f"-memory is in gigabytes and must be between {low:g} and {high:g}, not {memory:g}")
    return memory


def show_help(program: str) -> int:
    say(Path(__file__).with_name(f"glove_tools_{program}.txt").read_text(encoding="utf-8"))
    return 0


def tell(text: str) -> None:
    """To standard error, at once; names may be any bytes."""
    sys.stderr.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stderr.buffer.flush()


def require_opened(path: str, what: str, flags: int = os.O_RDONLY, shown: str = "") -> None:
    """Tells that `path` cannot be opened, called `shown` where that is another name, and raises Exit(1)."""
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        tell(f"Unable to open {what} {shown or path}.\nErrno: {error.errno}\nError description: {error.strerror}\n")
        raise Exit(1) from None


def column(number: int) -> str:
    """Moves a terminal's cursor to a column."""
    return f"\033[{number}G"


def counter(place: int, count: int, unit: str = "") -> str:
    """What a counter in that column shows one after the other on its way to `count`."""
    return "".join(f"{column(place)}{done}{unit}" for done in range(COUNTER_STEP, count + 1, COUNTER_STEP))


command = CompatCommand(
    "glove-tools",
    main,
    "GloVe's own programs: vocab_count, cooccur, shuffle and glove, each with its flags.",
    HELP_FLAGS[:1],
)
