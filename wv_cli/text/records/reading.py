"""What all readers of records share: which field they read, a block of records, and those that cannot be read.

A record that cannot be read is counted, told with its place, and skipped; it is never the end of a file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from numpy.typing import NDArray

from wv_cli import _records
from wv_cli.errors import BadFile
from wv_cli.text.reading_config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.text.records.spans import Span

DEFAULT_FIELD = "text"
_SHOWN = 3  # records that cannot be read are told with their places, of each file


class Column(NamedTuple):
    """A field that is added: a value for every record, or None, or of `many` values a list or a row of a matrix. A
    "number" is written with a point, whatever it is, so that readers give the field one type; a "count" is whole."""

    kind: Literal["text", "number", "count"]
    values: Sequence[Any] | NDArray[Any]
    many: bool = False
    fixed_size: bool = False


class Block(Protocol):
    """Some records of a file. `texts` has their texts, each with a line end, and `count` how many there are."""

    @property
    def texts(self) -> bytes: ...
    @property
    def count(self) -> int: ...
    @property
    def size(self) -> int:
        """Bytes of the file that it stands for."""
        ...

    @property
    def each(self) -> Sequence[bytes]:
        """The text of each record."""
        ...

    def lines(self) -> tuple[list[int], int]:
        """(the line of each record in the block, from 0, how many lines the block has), of Parquet rows."""
        ...

    def to_write(
        self,
        added: Mapping[str, Column],
        kept: Sequence[bool] | None = None,
        changed: Mapping[int, bytes] | None = None,
    ) -> Any:
        """The records with fields `added`, or those of them that are `kept`: what Sink.write takes. `changed` are new
        texts of some, by their numbers."""
        ...


class Sink(Protocol):
    """An output that gets blocks of records."""

    def write(self, block: Any) -> None: ...
    def close(self) -> None: ...
    def discard(self) -> None:
        """Gives up what is held, on the way to an error."""


@dataclass(frozen=True)
class Rules:
    """What is read of records: their `field`. With `one_line` line ends inside a text become spaces. No record may have
    a field that is `added`. With `strict` a record that cannot be read is an error. Records that are read `whole` can
    be written again. `step` is what to do where there is no such field. Of a file whose records up to the byte `start`
    have been read, some of them good, only the others are. Of a file of which other processes read the rest, the
    records in `span` are, and bytes of lines begin at `place`. `on_bad` is told of each record that cannot be read.
    The fields `beside` are read, too, where that must be said before."""

    reading: ReadingConfig
    one_line: bool
    log: Callable[[str], None]
    added: tuple[str, ...] = ()
    strict: bool = False
    whole: bool = False
    step: str = "name one with --field"
    start: int = 0
    on_bad: "OnBad | None" = None
    span: "Span | None" = None
    beside: Sequence[str] = ()

    @property
    def place(self) -> int:
        """The byte of the first record that is read."""
        return max(self.start, self.span.begin if self.span is not None else 0)

    @property
    def field(self) -> str:
        return self.reading.field or DEFAULT_FIELD

    @property
    def newlines(self) -> int:
        """As the scanners call it."""
        return _records.SPACE if self.one_line else _records.KEEP


class BadRecord(NamedTuple):
    """A record that cannot be read: its first byte in the file and its line, None where a file has none."""

    byte: int | None
    line: int | None
    problem: str


OnBad = Callable[[BadRecord], None]


class RefusedRecords(BadFile):
    """Records that the options refuse, in a file that may be whole."""


class NoRecords(BadFile):
    """A file without a record that can be read, though it may be whole."""


NO_UTF8 = "expected UTF-8, found another byte"
_CONVERT = "iconv -f ENCODING -t UTF-8 FILE"


class BadRecords:
    """Counts the records of the file `name` that cannot be read, tells the first of them, and ends with how many."""

    def __init__(self, name: str, rules: Rules) -> None:
        self.name, self.count, self.good = name, 0, 0
        self._rules = rules
        self._strict = rules.strict or rules.reading.bad_records == "error"
        self._first = ""

    def add(self, problem: str, line: int | None, byte: int | None = None) -> None:
        """One more. Raises BadFile where such a record is an error."""
        at = f"byte {byte:,}: " if byte is not None else ""
        if self._strict:
            way = "; --bad-records skip reads on without it"
            raise RefusedRecords(self.name, f"{at}{problem}{way if not self._rules.strict else ''}", line=line)
        place = f"{self.name}:{line}" if line is not None else self.name
        self._first = self._first or f"{at}{problem}"
        self.count += 1
        if self._rules.on_bad is not None:
            self._rules.on_bad(BadRecord(byte, line, problem))
        if self.count <= _SHOWN:
            self._rules.log(f"{place}: {at}{problem}; skipped")

    def finish(self) -> None:
        """Raises BadFile when there were only such records."""
        may_be_foreign = NO_UTF8 in self._first and self.count > self.good
        encoded = f"; if the file is in another encoding, convert it: {_CONVERT}" if may_be_foreign else ""
        if self.count and not self.good:
            message = f"none of its {self.count:,} records can be read; {self._first}{encoded}"
            raise NoRecords(self.name, message)
        if self.count > _SHOWN:
            self._rules.log(f"{self.name}: {self.count:,} records cannot be read and were skipped{encoded}")


class Reader(Protocol):
    """Reads a file of records."""

    def __call__(self, name: str, path: str, chunks: Iterator[bytes], rules: Rules) -> Iterator[Block]:
        """The records of the file at `path`, whose bytes are `chunks`. Messages call it `name`. Raises BadFile."""
        ...


def shown_fields(found: Sequence[str]) -> str:
    """The names of fields in an error: the first 20, as a terminal can show them."""
    names = [name[:80] if name[:80].isprintable() else repr(name[:80]) for name in found[:20]]
    return ", ".join(names + ["..."] * (len(found) > 20)) or "none"


def no_field(name: str, rules: Rules, found: Sequence[str], more: str = "") -> NoRecords:
    """For a file of which no record has the field."""
    is_pair = {"anchor", "positive"} <= {*found} and rules.step == Rules.step
    pairs = "; pairs are for wv train --model pairs" if is_pair else ""
    return NoRecords(name, f"expected the field {rules.field}, found {shown_fields(found)}; {rules.step}{pairs}{more}")
