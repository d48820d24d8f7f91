"""The flags of fastText's training and quantizing: a single dash, the value is the next word, the last occurrence wins.

The help shows the values read so far. What cannot be read is told in fastText's words: a number that does not fit as an
argument that is missing, no number at all by the name of the C++ function that refuses it.
"""

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NoReturn

from wv_cli.cli.compat import Exit, abort, tell
from wv_cli.commands.fasttext_jobs import SUPERVISED, TrainingFlags

_HELP = Path(__file__).with_name("fasttext_args.txt")
_WHOLE = re.compile(r"\s*([+-]?\d+)")
_NUMBER = re.compile(r"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan))", re.IGNORECASE)
_LOSSES = {"hs": "hs", "ns": "ns", "softmax": "softmax", "one-vs-all": "one-vs-all", "ova": "one-vs-all"}


class _OutOfRange(Exception):
    """What C++ calls std::out_of_range: no word there, or a number that the type cannot hold."""


def stoi(text: str) -> int:
    """C++'s: digits up to the first character that is none. Aborts without any, raises _OutOfRange beyond 32 bits."""
    found = _WHOLE.match(text)
    if found is None:
        abort("stoi")
    if not -(2**31) <= int(found[1]) < 2**31:
        raise _OutOfRange
    return int(found[1])


def stof(text: str) -> float:
    """C++'s: a float32. Aborts where there is no number, raises _OutOfRange for one too large."""
    found = _NUMBER.match(text)
    if found is None:
        abort("stof")
    try:
        number: float = struct.unpack("f", struct.pack("f", float(found[1])))[0]
    except OverflowError:
        raise _OutOfRange from None
    if found[1].lower().lstrip("+-")[0] not in "in" and number in (float("inf"), float("-inf")):
        raise _OutOfRange
    return number


def answer_count(text: str) -> int:
    """K of the commands that answer. Aborts for what is none."""
    try:
        return stoi(text)
    except _OutOfRange:
        abort("stoi")


def threshold(text: str) -> float:
    """TH of the same."""
    try:
        return stof(text)
    except _OutOfRange:
        abort("stof")


@dataclass
class Args(TrainingFlags):
    """The flags of a command line; a dash inside a name is `_`. `given` are those on the command line."""

    given: set[str] = field(default_factory=set)

    @classmethod
    def parse(cls, command: str, words: Sequence[str]) -> "Args":
        """The flags in `words`. Tells what is wrong, with the help, and raises Exit(1)."""
        args = cls(**SUPERVISED) if command == "supervised" else cls()
        args._read(list(words))
        if not (args.input and args.output):
            args._refuse("Empty input or output path.")
        return args

    @classmethod
    def help(cls) -> str:
        return cls()._help()

    def _help(self) -> str:
        return _HELP.read_text(encoding="utf-8").format(
            **{name: _show_value(value) for name, value in vars(self).items() if name != "given"}
        )

    def _refuse(self, problem: str) -> NoReturn:
        tell(f"{problem}\n{self._help()}")
        raise Exit(1)

    def _read(self, words: list[str]) -> None:
        place = 0
        while place < len(words):
            flag = words[place]
            if not flag.startswith("-"):
                self._refuse("Provided argument without a dash! Usage:")
            if flag == "-h":
                self._refuse("Here is the help! Usage:")
            if flag not in _KINDS:
                self._refuse(f"Unknown argument: {flag}")
            name, kind = _KINDS[flag]
            self.given.add(name)
            if kind is bool:
                setattr(self, name, True)
                place += 1
                continue
            try:
                if place + 1 == len(words):
                    raise _OutOfRange
                setattr(self, name, self._value(name, kind, words[place + 1]))
            except _OutOfRange:
                self._refuse(f"{flag} is missing an argument")
            place += 2

    def _value(self, name: str, kind: type, text: str) -> object:
        if name == "loss":
            if text not in _LOSSES:
                self._refuse(f"Unknown loss: {text}")
            return _LOSSES[text]
        return _READERS[kind](text)


_READERS: dict[type, Callable[[str], object]] = {int: stoi, float: stof, str: str}
# flag -> (field, type of its value)
_KINDS = {
    "-" + each.name.replace("_", "-"): (each.name, type(each.default)) for each in fields(Args) if each.name != "given"
}


def _show_value(value: object) -> str:
    """As C++ streams print it."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
