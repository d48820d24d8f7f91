"""Cases of tests/golden/transcripts.tar.xz: one run of an original program each, and how ours are compared with it.

The README inside the archive says how the cases were made and what their rules (exact, shape, ignore) mean. A rule is
about the exit status, one stream, or one file the program wrote.
"""

import hashlib
import io
import lzma
import math
import re
import shlex
import shutil
import tarfile
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from tests.conftest import GOLDEN
from wv_cli._glove import RECORD
from wv_cli.cli import PROGRAMS

ARCHIVE = GOLDEN / "transcripts.tar.xz"
# Words beyond these counts in a text are the same over and over, and the text too long to keep.
MILLION = b"one two three four five six seven eight nine ten\n" * 110_000
# A program that looked for memory or data where there was none: ours prints the message and ends with 1.
ABORTED = {"134", "136", "139"}
# What their cases print are sums of floats.
_SUMS = ("distance/", "word-analogy/", "fasttext/nn-", "fasttext/analogies-")


@dataclass(frozen=True)
class Case:
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @cached_property
    def argv(self) -> list[str]:
        """After `wv`."""
        program, *words = shlex.split((self.folder / "cmd").read_text(encoding="utf-8"))
        return [*PROGRAMS[program], *words]

    @cached_property
    def rules(self) -> dict[str, str]:
        """What is compared ("status", "stdout", "stderr", "files/NAME") -> how."""
        lines = (self.folder / "compare").read_text(encoding="utf-8").splitlines()
        found = dict(line.partition(": ")[::2] for line in lines)
        rules = {what: rule.split()[0] for what, rule in found.items() if what not in ("stdin", "reason")}
        # Where it says that numbers are sums of floats, the last digit may be another machine's.
        sums = "float sums" in found["reason"] or self.name.startswith(_SUMS)
        return {what: "last digit" if rule == "exact" and sums else rule for what, rule in rules.items()}

    @cached_property
    def stdin(self) -> bytes:
        if (self.folder / "stdin.from").exists():
            return (inputs() / (self.folder / "stdin.from").read_text().strip().removeprefix("inputs/")).read_bytes()
        path = self.folder / "stdin"
        return path.read_bytes() if path.exists() else b""

    @property
    def status(self) -> str:
        return (self.folder / "status").read_text().strip()

    def stream(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    @cached_property
    def listing(self) -> dict[str, tuple[int, str]]:
        """The files the program wrote: name -> (bytes, SHA-256)."""
        path = self.folder / "list"
        rows = [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []
        return {name: (int(size), digest) for name, size, digest, *_ in rows}

    def lay(self, folder: Path) -> None:
        """Puts the case's input files into `folder`."""
        names = self.folder / "inputs"
        for name in names.read_text().split() if names.exists() else ():
            shutil.copy(inputs() / name, folder / name)


@dataclass(frozen=True)
class Done:
    """One run of ours: what the shell and the folder show."""

    status: int
    stdout: bytes
    stderr: bytes
    folder: Path


_scratch: list[Path] = []


@cache
def archive() -> tuple[tarfile.TarFile, dict[str, list[tarfile.TarInfo]]]:
    """With the entries below each folder of the second level, PROGRAM/CASE, and those of inputs."""
    opened = tarfile.open(fileobj=io.BytesIO(lzma.decompress(ARCHIVE.read_bytes())))  # noqa: SIM115
    below: dict[str, list[tarfile.TarInfo]] = {}
    for entry in opened:
        parts = Path(entry.name).parts
        below.setdefault("inputs" if parts[:1] == ("inputs",) else "/".join(parts[:2]), []).append(entry)
    return opened, below


def _unpack(what: str) -> None:
    opened, below = archive()
    opened.extractall(_scratch[0], below[what], filter="data")


def unpack_into(folder: Path) -> None:
    """The inputs, once a session; a case where it is asked for."""
    _scratch[:] = [folder]
    _unpack("inputs")
    (inputs() / "text2000.txt").write_bytes(lzma.decompress((inputs() / "text2000.txt.xz").read_bytes()))
    (inputs() / "million.txt").write_bytes(MILLION)


def inputs() -> Path:
    return _scratch[0] / "inputs"


def case(name: str) -> Case:
    if not (_scratch[0] / name).exists():
        _unpack(name)
    return Case(_scratch[0] / name)


@cache
def names() -> list[str]:
    """All cases as PROGRAM/CASE, without unpacking."""
    _, below = archive()
    return sorted(name for name, entries in below.items() if any(entry.name.endswith("/cmd") for entry in entries))


def problems(case: Case, done: Done) -> list[str]:
    """What is not as the rules of the case want it, one line each."""
    found = []
    for what, rule in case.rules.items():
        if rule == "ignore":
            continue
        if what == "status":
            wanted = {"1"} if case.status in ABORTED else {case.status}
            if str(done.status) not in wanted:
                found.append(f"status {done.status}, not {' or '.join(sorted(wanted))}")
        elif what in ("stdout", "stderr"):
            ours, theirs = getattr(done, what), case.stream(what)
            if case.status == "killed":  # it went on for ever after the end of input
                theirs = theirs[: len(ours)]
            if what == "stdout" and case.folder.parent.name in ("cooccur", "shuffle"):
                ours = _as_their_records(case.folder.parent.name, ours, theirs)
            if what == "stderr" and case.status in ABORTED:
                ours, theirs = _without_abort(ours), _without_abort(theirs)
            found += _compared(what, rule, ours, theirs)
        else:
            found += _file(case, done, what.removeprefix("files/"), rule)
    return found


def _as_their_records(program: str, ours: bytes, theirs: bytes) -> bytes:
    """GloVe's records, `theirs` where ours are the same: shuffled ones in another order, counts within the last bits,
    since a sum of fractions hangs on the order of its terms."""
    if len(ours) != len(theirs) or len(ours) % RECORD.itemsize:
        return ours
    one, other = np.frombuffer(ours, RECORD), np.frombuffer(theirs, RECORD)
    if program == "shuffle":
        return theirs if np.array_equal(np.sort(one), np.sort(other)) else ours
    same = one.copy()
    close = np.isclose(one["value"], other["value"], rtol=1e-12, atol=0)
    same["value"][close] = other["value"][close]
    return same.tobytes()


def _vectors(text: bytes) -> bytes:
    """fastText's text vectors with `#` for every number of five significant digits. Words of equal count stand in any
    order: the rows are sorted."""
    header, *rows, end = text.split(b"\n")
    shown = []
    for row in rows:
        word, *numbers, last = row.split(b" ")
        shown.append(b" ".join([word, *(b"#" if b"%.5g" % float(each) == each else each for each in numbers), last]))
    return b"\n".join([header, *sorted(shown), end])


def _without_abort(text: bytes) -> bytes:
    """What C++ says of an exception nobody caught: the message without the words around it."""
    text = re.sub(rb"(?<=[^\n])terminate called", b"\nterminate called", text)
    text = re.sub(rb"terminate called after throwing an instance of '[^']*'\n\s+what\(\):\s+", b"", text)
    return text.removesuffix(b"\n")


def _compared(what: str, rule: str, ours: bytes, theirs: bytes) -> list[str]:
    if ours == theirs or (rule in _ALIKE and _ALIKE[rule](ours, theirs)):
        return []
    place = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
    around = slice(max(0, place - 60), place + 60)
    return [f"{what} ({rule}) differs at byte {place} of {len(theirs)}: {ours[around]!r} for {theirs[around]!r}"]


def _file(case: Case, done: Done, name: str, rule: str) -> list[str]:
    path, kept = done.folder / name, case.folder / "files" / name
    if case.status in ABORTED and case.listing[name][0] == 0:  # outputs are there whole or not at all
        return [f"{name} was written"] if path.exists() else []
    if not path.exists():
        return [f"{name} was not written"]
    ours = path.read_bytes()
    if rule == "exact":
        size, digest = case.listing[name]
        if (len(ours), hashlib.sha256(ours).hexdigest()) == (size, digest):
            return []
        return _compared(name, rule, ours, kept.read_bytes()) if kept.exists() else [f"{name} differs"]
    if path.suffix in (".bin", ".ftz"):
        size = case.listing[name][0]
        return [] if len(ours) == size else [f"{name}: {len(ours)} bytes, not {size}"]
    if not kept.exists():
        return []
    theirs = kept.read_bytes()
    if path.suffix in (".vec", ".output"):
        ours, theirs = _vectors(ours), _vectors(theirs)
    if "-classes" in case.argv:  # which number a class has is chance
        ours, theirs = (_CLASS.sub(rb"\1#", text) for text in (ours, theirs))
    return _compared(name, rule, ours, theirs)


# ---------------------------------------------------------------- shapes

_NUMBER = re.compile(rb"(?<![\w.])[+-]?(?:nan|inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?=k?(?!\w))")
_DATE = re.compile(rb"\d\d/\d\d/\d\d - \d\d:\d\d\.\d\d[AP]M")
# Whole numbers that time, speed or chance decide.
_LOOSE = re.compile(rb"(words/sec/thread:|ETA:|Trials:|random seed)\s+[0-9hms -]+")
_MEASURED = re.compile(rb"(currentScore|train took) = [\d.e-]+")
_TRIALS = re.compile(rb"(?s)(?<=\n)Trial = 2\n.*")  # as many as there was time for
_CLASS = re.compile(rb"(?m)^(\S+ )\d+$")
_FLOAT_NOISE = Decimal("5e-6")
_PROGRESS = re.compile(rb"\rAlpha: |\rProgress: ")


def same_but_last_digits(ours: bytes, theirs: bytes) -> bool:
    """Numbers with a point may differ by one in the last digit that is printed, or by a few units of float32: a small
    probability has gone through its logarithm."""
    if _NUMBER.sub(b"#", ours) != _NUMBER.sub(b"#", theirs):
        return False
    for one, other in zip(_NUMBER.findall(ours), _NUMBER.findall(theirs), strict=True):
        unit = Decimal(1).scaleb(Decimal(other.decode()).as_tuple().exponent)  # type: ignore[arg-type]
        wanted = Decimal(other.decode())
        close = max(unit, abs(wanted) * _FLOAT_NOISE)
        if one != other and (b"." not in other or abs(Decimal(one.decode()) - wanted) > close):
            return False
    return True


def same_shape(ours: bytes, theirs: bytes) -> bool:
    """Same lines, words and number formats, other numbers. Progress is one line however often it is renewed; a number
    with six decimals has six in both, other numbers with a point may be short or long; whole numbers are the same."""
    one, other = _parts(ours), _parts(theirs)
    return len(one) == len(other) and all(map(_same_line, one, other))


def _parts(text: bytes) -> list[bytes]:
    text = _MEASURED.sub(rb"\1 #", _LOOSE.sub(rb"\1 #", _DATE.sub(b"DATE", _TRIALS.sub(b"", text))))
    parts: list[bytes] = []
    for line in re.split(rb"(?=[\n\r])", text):
        renewed = parts and _PROGRESS.match(line) and _PROGRESS.match(parts[-1])
        if renewed:
            parts.pop()
        parts.append(line)
    return parts


def _same_line(one: bytes, other: bytes) -> bool:
    if one == other:
        return True
    if _PROGRESS.match(other):  # right-aligned numbers take more or fewer blanks
        one, other = re.sub(rb" +", b" ", one), re.sub(rb" +", b" ", other)
    rest = _NUMBER.sub(b"#", one), _NUMBER.sub(b"#", other)
    if rest[0] != rest[1]:
        return False
    return all(map(_same_number, _NUMBER.findall(one), _NUMBER.findall(other)))


def _same_number(one: bytes, other: bytes) -> bool:
    if one == other:
        return True
    whole = [re.fullmatch(rb"[+-]?\d+", number) is not None for number in (one, other)]
    if all(whole):
        return False
    decimals = [len(number.partition(b".")[2]) for number in (one, other)]
    if 6 in decimals and math.isfinite(float(one)) and math.isfinite(float(other)) and b"e" not in one + other:
        return decimals[0] == decimals[1] or any(whole)
    return True


_ALIKE = {"shape": same_shape, "last digit": same_but_last_digits}
