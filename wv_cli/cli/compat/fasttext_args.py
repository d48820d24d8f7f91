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
class Args:
    """The flags by fastText's names, with `_` for a dash inside, and the defaults of skipgram, cbow and quantize.
    `given` are those on the command line."""

    input: str = ""
    output: str = ""
    verbose: int = 2
    minCount: int = 5
    minCountLabel: int = 0
    wordNgrams: int = 1
    bucket: int = 2_000_000
    minn: int = 3
    maxn: int = 6
    t: float = 1e-4
    label: str = "__label__"
    lr: float = 0.05
    lrUpdateRate: int = 100
    dim: int = 100
    ws: int = 5
    epoch: int = 5
    neg: int = 5
    loss: str = "ns"
    thread: int = 12
    pretrainedVectors: str = ""
    saveOutput: bool = False
    seed: int = 0
    autotune_validation: str = ""
    autotune_metric: str = "f1"
    autotune_predictions: int = 1
    autotune_duration: int = 300
    autotune_modelsize: str = ""
    cutoff: int = 0
    retrain: bool = False
    qnorm: bool = False
    qout: bool = False
    dsub: int = 2
    given: set[str] = field(default_factory=set)

    @classmethod
    def parse(cls, command: str, words: Sequence[str]) -> "Args":
        """The flags in `words`. Tells what is wrong, with the help, and raises Exit(1)."""
        args = cls(**_SUPERVISED) if command == "supervised" else cls()  # type: ignore[arg-type]
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


_SUPERVISED = {"loss": "softmax", "minCount": 1, "minn": 0, "maxn": 0, "lr": 0.1}
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
