"""Conditions on the fields of records, such as `score >= 3 and lang in (de, fr)`.

    condition := both ("or" both)*
    both      := single ("and" single)*
    single    := "not" single | "(" condition ")" | FIELD test
    test      := ("=" | "!=" | "<" | "<=" | ">" | ">=") VALUE
               | ["not"] "in" "(" VALUE ("," VALUE)* ")"
               | "is" ["not"] "null"

A field is a name, or a path such as meta.score; in double quotes it may have any character. A value is a number,
`true`, `false`, a word, or a text in quotes. Conditions are true, false or unknown, as in SQL: a comparison with a
field that is missing or null, or has another type than the value, is unknown, and so is its opposite. A record stays
where the condition is true. Of a list one value must compare so.
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import Columns, FieldScorer

Value = float | int | str | bool
Truth = tuple[NDArray[np.bool_], NDArray[np.bool_]]  # (n,) where it is true, (n,) where it is false
Test = Callable[[Columns], Truth]

_TOKEN = re.compile(
    r"""\s*(?:(?P<sign><=|>=|!=|<>|==|[<>=(),])
    |(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<word>[^\s<>=!(),"']+)
    |(?P<other>.))""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)
_TIME_OF_DAY = re.compile(r"^(\d{4}-\d\d-\d\d)[T ](?=\d)", re.ASCII)
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_KEYWORDS = ("and", "or", "not", "in", "is", "null")
_DEEPEST = 100
_VALUE = "expected a number or a text"


class _Token(NamedTuple):
    kind: str  # the name of a group of _TOKEN, a keyword, or "end"
    text: str
    at: int


def where(subject: str, options: ScorerOptions) -> FieldScorer:
    """A condition: 1 where it is true."""
    return parse_condition(subject)


def parse_condition(text: str) -> FieldScorer:
    """The condition of --where. Raises UsageError, which points at what is wrong."""
    parser = _Parser(text)
    test = parser.condition(0)
    if parser.next.kind != "end":
        parser.refuse("expected and, or, or the end")
    fields, words = (tuple(dict.fromkeys(names)) for names in (parser.fields, parser.words))
    return FieldScorer(fields, lambda columns: test(columns)[0].astype(np.float32), words)


class _Parser:
    """Reads a condition from left to right; `next` is what has not been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = iter([*_tokens(text), _Token("end", "", len(text))])
        self.fields: list[str] = []
        self.words: list[str] = []
        self.next = next(self._tokens)

    def refuse(self, expected: str) -> NoReturn:
        text, at = self._text.replace("\n", " "), self.next.at
        begin, end = max(0, at - 60), at + 20  # of a long condition what is near
        found = "the end" if self.next.kind == "end" else self.next.text[:40]
        if self.next.kind == "other" and found in "\"'":
            found = "a quote that is never closed"
        shown = f"  {text[begin:end]}\n  {' ' * (at - begin)}^"
        raise UsageError(f"--where: {expected}, found {found}\n{shown}")

    def take(self) -> _Token:
        """Reads one."""
        taken = self.next
        self.next = next(self._tokens, taken)
        return taken

    def takes(self, *kinds: str) -> bool:
        """Reads one if it is a sign or keyword of these."""
        found = self.next.kind in kinds or (self.next.kind == "sign" and self.next.text in kinds)
        if found:
            self.take()
        return found

    def condition(self, depth: int) -> Test:
        tests = [self._both(depth)]
        while self.takes("or"):
            tests.append(self._both(depth))
        return tests[0] if len(tests) == 1 else _negate(_all([_negate(test) for test in tests]))

    def _both(self, depth: int) -> Test:
        tests = [self._single(depth)]
        while self.takes("and"):
            tests.append(self._single(depth))
        return tests[0] if len(tests) == 1 else _all(tests)

    def _single(self, depth: int) -> Test:
        if depth > _DEEPEST:
            self.refuse(f"expected up to {_DEEPEST} parts in each other")
        if self.takes("not"):
            return _negate(self._single(depth + 1))
        if self.takes("("):
            test = self.condition(depth + 1)
            if not self.takes(")"):
                self.refuse("expected ), and, or or")
            return test
        return self._comparison()

    def _comparison(self) -> Test:
        if self.next.kind not in ("word", "quoted"):
            quoted = " (in double quotes if it is called so)" if self.next.kind in _KEYWORDS else ""
            self.refuse(f"expected a field{quoted}, not or (")
        field = _unquote(self.take())
        self.fields.append(field)
        if self.next.kind == "sign" and self.next.text in _SIGNS:
            compare = _SIGNS[self.take().text]
            return _compare(field, compare, [self._value()])
        if self.takes("is"):
            negated = self.takes("not")
            if not self.takes("null"):
                self.refuse("expected null" if negated else "expected null or not null")
            return _negate(_is_null(field)) if negated else _is_null(field)
        negated = self.takes("not")
        if not self.takes("in"):
            self.refuse(
                "expected in" if negated else f"expected a comparison ({' '.join(_SIGNS)}, in, is) behind a field"
            )
        test = _compare(field, operator.eq, self._values())
        return _negate(test) if negated else test

    def _values(self) -> list[Value]:
        if not self.takes("("):
            self.refuse("expected ( and values")
        values = [self._value()]
        while self.takes(","):
            values.append(self._value())
        if not self.takes(")"):
            self.refuse("expected , or )")
        return values

    def _value(self) -> Value:
        if self.next.kind == "null":
            self.refuse(f"{_VALUE} (write FIELD is null)")
        if self.next.kind not in ("word", "quoted"):
            quoted = " (in quotes if it is this word)" if self.next.kind in _KEYWORDS else ""
            self.refuse(f"{_VALUE}{quoted}")
        token = self.take()
        if token.kind == "quoted":
            return _unquote(token)
        if token.text.lower() in ("true", "false"):
            return token.text.lower() == "true"
        number = _number(token.text)
        if number is not None:
            return number
        self.words.append(token.text)
        return token.text


def _tokens(text: str) -> Iterable[_Token]:
    for found in _TOKEN.finditer(text):
        kind = str(found.lastgroup)
        word = found[kind]
        if kind == "word" and word.lower() in _KEYWORDS:
            kind = word.lower()
        if not (kind == "other" and word.isspace()):
            yield _Token(kind, word, found.start(str(found.lastgroup)))


def _unquote(token: _Token) -> str:
    return re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL) if token.kind == "quoted" else token.text


def _number(text: str) -> float | int | None:
    """The number that a text is: whole ones exactly, unless they are longer than Python reads."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def _all(tests: list[Test]) -> Test:
    def test(columns: Columns) -> Truth:
        true, false = zip(*(each(columns) for each in tests), strict=True)
        return np.logical_and.reduce(true), np.logical_or.reduce(false)

    return test


def _negate(test: Test) -> Test:
    return lambda columns: test(columns)[::-1]


def _is_null(field: str) -> Test:
    def test(columns: Columns) -> Truth:
        null = np.array([_is_nothing(value) for value in columns[field]], np.bool_)
        return null, ~null

    return test


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _compare(field: str, compare: Callable[[Any, Any], bool], wanted: list[Value]) -> Test:
    """Whether the value, or one in a list of values, compares with one that is wanted."""
    readers = [(_reader(each), each) for each in wanted]

    def holds(value: Any) -> bool | None:
        found: bool | None = None
        for read, each in readers:
            own = read(value)
            if own is not None:
                if compare(own, each):
                    return True
                found = False
        return found

    def holds_for_one(value: Any) -> bool | None:
        if not isinstance(value, list | tuple):
            return holds(value)
        found = {holds(each) for each in value}
        return True if True in found else False if found <= {False} else None

    def test(columns: Columns) -> Truth:
        found = [holds_for_one(value) for value in columns[field]]
        return np.array([each is True for each in found]), np.array([each is False for each in found])

    return test


def _reader(wanted: Value) -> Callable[[Any], Any]:
    """What makes a field's value comparable with one that is wanted; None where it has another type."""
    if isinstance(wanted, bool):
        return _as_truth
    if isinstance(wanted, str):
        return _as_time(wanted[10]) if _TIME_OF_DAY.match(wanted) else _as_text
    return _as_float if isinstance(wanted, float) else _as_number


def _as_truth(value: Any) -> bool | None:
    if isinstance(value, str):  # of CSV
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def _as_number(value: Any) -> Any:
    if isinstance(value, str):
        return _number(value)
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return value if is_number and value == value else None


def _as_float(value: Any) -> Any:
    """A decimal is the float that its digits are, as the wanted number: 1.10 is 1.1."""
    return float(value) if isinstance(value, Decimal) else _as_number(value)


def _as_text(value: Any) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, date | time):
        return value.isoformat()
    return value if isinstance(value, str) else None


def _as_time(sign: str) -> Callable[[Any], str | None]:
    """A reader of texts that puts this sign, T or a blank, between the day and the time of day."""

    def read(value: Any) -> str | None:
        text = _as_text(value)
        return None if text is None else _TIME_OF_DAY.sub(rf"\g<1>{sign}", text)

    return read
