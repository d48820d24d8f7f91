"""What a filter run reads for one output: a file or, of a file that is larger than the share of a part, a slice.

The slices of big.jsonl are written to big-00000-of-00004.jsonl and so on, so that their names are in the order of the
records. What stays of all slices, one after the other, is what one run would write.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from wv_cli.errors import WvError
from wv_cli.io.compression import inner_name
from wv_cli.io.remote import is_remote, size_of
from wv_cli.text.records.kinds import RECORDS, record_kind
from wv_cli.text.records.spans import Span

_SLICE = re.compile(r"-\d{5,}-of-\d{5,}(\.[^/]*|)$")
LARGE = 64 << 20  # bytes of a file that may be cut
_PER_SHARE = 2  # slices of the bytes that a part has on average, so that parts have about as many


@dataclass(frozen=True)
class Slice:
    """The records of the file `path`, or those in a `span` of it, whose outputs have the `name` in their folders."""

    path: str
    name: str
    span: Span | None = None

    @property
    def size(self) -> int:
        """In bytes; 0 of a file whose server does not say. Raises WvError."""
        return self.span.size if self.span is not None else _size_of(self.path)


def cut_large(slices: Sequence[Slice], count: int) -> list[Slice]:
    """The same, where a file that is larger than the share of one of `count` parts is cut, unless it can only be read
    as a whole. Raises WvError."""
    sizes = [each.size for each in slices]
    share = max(sum(sizes) / count, 1)
    found: list[Slice] = []
    for each, size in zip(slices, sizes, strict=True):
        found += _cut(each, int(_PER_SHARE * size / share)) if size > max(share, LARGE) else [each]
    names = {each.name for each in found}
    if len(names) < len(found):
        taken = next(each for each in slices if each in found and sum(each.name == other.name for other in found) > 1)
        raise WvError(f"{taken.path}: has the name of a slice of another file; rename it")
    return found


def refuse_other_cuts(folders: Iterable[Path], slices: Sequence[Slice]) -> None:
    """Raises WvError where a folder of outputs has the records of a file in other slices, or in one file, besides."""
    wholes = {_whole_name(each) for each in slices}
    names = {each.name for each in slices}
    for folder in folders:
        for parent in {(folder / each.name).parent for each in slices}:
            for path in sorted(parent.iterdir()) if parent.is_dir() else []:
                name = str(path.relative_to(folder))
                if name not in names and _SLICE.sub(r"\1", name) in wholes:
                    problem = "has records of an input that this run cuts into other slices"
                    raise WvError(f"{path}: {problem}; remove it, or name another folder")


def _whole_name(each: Slice) -> str:
    """Of the output of a whole file."""
    return each.name if each.span is None else _SLICE.sub(r"\1", each.name)


def _cut(whole: Slice, count: int) -> list[Slice]:
    kind = record_kind(inner_name(whole.path)) or "jsonl"
    spans = RECORDS[kind].cut(whole.path, count)
    if len(spans) < 2:
        return [whole]
    path = PurePath(whole.name)
    names = (f"{path.stem}-{number:05}-of-{len(spans):05}{path.suffix}" for number in range(len(spans)))
    return [Slice(whole.path, str(path.with_name(name)), span) for name, span in zip(names, spans, strict=True)]


def _size_of(path: str) -> int:
    return (size_of(path) or 0) if is_remote(path) else Path(path).stat().st_size
