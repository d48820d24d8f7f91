"""Records written again, in order, with what a model says of each added to it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from wv_cli.errors import UsageError, WvError
from wv_cli.io.output import open_output
from wv_cli.io.threads import in_order
from wv_cli.registry import load
from wv_cli.text.inputs import Texts
from wv_cli.text.raw_files import name_of_input
from wv_cli.text.records.kinds import RECORDS, record_kind, written_kind
from wv_cli.text.records.reading import Block, Column, Sink
from wv_cli.text.records.scanned import Written
from wv_cli.text.source import Source


class Asked(Protocol):
    """Texts of records that a model is asked about."""

    @property
    def count(self) -> int: ...
    @property
    def each(self) -> Sequence[bytes]: ...


@dataclass(frozen=True)
class CutTexts:
    """Texts of records that have been cut into words."""

    count: int
    each: list[bytes]


Answer = Callable[[Asked], Mapping[str, Column]]


class ByteSink:
    """Writes JSON lines, CSV and TSV to `file`. Of several files with a header that of the first is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._header = b""
        self._open = False  # the last record had no line end

    def write(self, written: Written) -> None:
        """Raises WvError for a header that is not that of the file before."""
        header, records = written
        if header and self._header and header.strip() != self._header.strip():
            message = "the inputs have different headers, and the output has one; give them one by one"
            raise WvError(message)
        piece = records if self._header else header + records
        if piece:
            self._file.write(b"\n" + piece if self._open else piece)
            self._open = not piece.endswith((b"\n", b"\r"))
        self._header = self._header or header

    def close(self) -> None:
        pass

    def discard(self) -> None:
        pass


def open_sink(kind: str, file: BinaryIO) -> Sink:
    """What writes records of this kind."""
    place = RECORDS[kind].sink
    opened: Sink = load(place)(file) if place else ByteSink(file)
    return opened


def common_kind(texts: Texts, paths: Sequence[str], output: str, option: str) -> str:
    """The kind of records that all files at `paths` have. Raises UsageError when they have none, or several, and for an
    output whose name promises another one."""
    kinds = {path: texts.records(path) for path in paths}
    for path, kind in kinds.items():
        if kind is None:
            known = ", ".join(RECORDS)
            step = "change its ending" if path != "-" else "name the field of JSON lines with the texts: --field text"
            raise UsageError(f"{option} adds to records ({known}), and {name_of_input(path)} is none; {step}")
    found = sorted({written_kind(kind) for kind in kinds.values() if kind is not None})
    if len(found) > 1:
        message = f"{option} writes one kind of records, and the inputs are {' and '.join(found)}; give them one by one"
        raise UsageError(message)
    wanted = record_kind(output)
    if output != "-" and wanted not in (None, found[0]):
        message = f"{output}: records stay what they are, {found[0]}; change the ending of the output"
        raise UsageError(message)
    if RECORDS[found[0]].table and len(paths) > 1:
        message = f"{option} writes one file of {found[0]}, and there are {len(paths)}; give them one by one"
        raise UsageError(message)
    return found[0]


def add_fields(source: Source, kind: str, names: tuple[str, ...], answer: Answer, file: BinaryIO, threads: int) -> int:
    """Writes the records of the files of `source` to `file`, with the fields `names`, whose values `answer` gives for
    a block of records. Returns how many there were. Raises BadFile, WvError."""
    sink, count = open_sink(kind, file), 0

    def answer_block(block: Block) -> tuple[int, Any]:
        return block.count, block.to_write(answer(block))

    try:
        for path in source.paths:
            for records, written in in_order(answer_block, source.blocks(path, names), threads):
                sink.write(written)
                count += records
        sink.close()
    finally:
        sink.discard()
    return count


def add_answers(
    texts: Texts, output: str, opened: Callable[[], tuple[tuple[str, ...], Answer]], threads: int = 1
) -> int:
    """The same for the records of `texts`, to the file `output`. The texts are looked at before the names of the fields
    and what answers are `opened`. Raises UsageError, BadFile, WvError."""
    source = Source(texts)
    kind = common_kind(texts, source.paths, output, "--add")
    names, answer = opened()
    if (tokenizing := texts.reading.tokenize_config) is not None:
        from wv_cli.text.tokenizing import Tokenizer

        asked = answer

        def answer(block: Asked) -> Mapping[str, Column]:
            tokenizer = Tokenizer(tokenizing)  # of one thread
            return asked(CutTexts(block.count, list(map(tokenizer.words_of, block.each))))

    with open_output(output) as file:
        return add_fields(source, kind, names, answer, file, threads)
