"""Files of records, read as blocks of records, and how much of the files has been read.

Source makes one text of files; here every record keeps its file and its place.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from wv_cli.errors import BadFile
from wv_cli.io.compression import CHUNK, decompress
from wv_cli.text.input_files import Inputs, expand_inputs, total_size
from wv_cli.text.inputs import Texts
from wv_cli.text.raw_files import blocks, name_of_input, open_raw
from wv_cli.text.records.kinds import RECORDS, require_tsv

if TYPE_CHECKING:
    import io

    from wv_cli.text.records.reading import Block, OnBad
    from wv_cli.text.records.spans import Span


class RecordFiles:
    """The files that `inputs` name, in order, of which Texts may have records. `consumed` counts the bytes read
    (compressed ones of compressed files) of `total`, None when it cannot be known.

    Raises WvError for an input that is missing, unreadable or empty of files, BadFile for one that is not the text it
    must be, UsageError when there is none.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._texts = inputs if isinstance(inputs, Texts) else None
        self.inputs = inputs.inputs if isinstance(inputs, Texts) else inputs
        self.paths = expand_inputs(inputs)
        if self._texts is not None and self._texts.reading.tsv_quotes and self._texts.part is None:
            require_tsv(self.paths)
        self.consumed = 0
        self.total = total_size(self.paths)

    @property
    def field(self) -> str:
        """Of records, the one that is read."""
        return (self._texts.reading.field if self._texts is not None else None) or "text"

    def select(self, paths: list[str], total: int) -> None:
        """Only these of the `paths` are read, `total` bytes of them."""
        self.paths, self.total = paths, total

    def blocks(
        self,
        path: str,
        added: tuple[str, ...] | None = None,
        start: int = 0,
        on_bad: "OnBad | None" = None,
        span: "Span | None" = None,
    ) -> "Iterator[Block]":
        """The records of one of the `paths`, from the byte `start` of its text on; with `added`, the fields that they
        get, to write them again. `on_bad` is told of those that cannot be read. Of a `span` the records in it, where
        the first ones of the file are such records, too."""
        assert self._texts is not None
        name = name_of_input(path)
        if span is not None:
            self._look_at_first(self._texts, path, name, added)
        with open_raw(path) as raw:
            is_table = RECORDS[self._texts.records(path) or "jsonl"].table  # it is read from wherever its reader wants
            text: Iterator[bytes] = blocks(raw, name, CHUNK)
            if span is not None:
                text = self._read_range(raw, name, max(start, span.begin), span.end)
            else:
                text = decompress(text if is_table else self._count_bytes(text), name)
            for block in self._texts.read_records(
                path, name, text, added, begins=span is None, start=start, on_bad=on_bad, span=span
            ):
                self.consumed += block.size if is_table else 0
                yield block

    def find_damage(self, path: str, span: "Span | None" = None) -> str | None:
        """What is wrong with a file of records, as far as its format tells; None for one that can be read. Bad records
        are no damage."""
        from wv_cli.text.records.reading import NoRecords, RefusedRecords

        assert self._texts is not None
        unheard = RecordFiles(replace(self._texts.quiet(), inputs=[path]))  # whose progress is its own
        try:
            for _ in unheard.blocks(path, (), span=span):
                pass
        except (NoRecords, RefusedRecords):
            return None
        except BadFile as error:
            return str(error)
        return None

    @staticmethod
    def _look_at_first(texts: Texts, path: str, name: str, added: tuple[str, ...] | None) -> None:
        """Raises what the first records of a file raise."""
        with open_raw(path) as raw:
            next(texts.quiet().read_records(path, name, blocks(raw, name, CHUNK), added), None)

    def _read_range(self, raw: "io.RawIOBase", name: str, begin: int, end: int) -> Iterator[bytes]:
        """Bytes of a file that is not compressed."""
        raw.seek(begin)
        while begin < end and (block := next(blocks(raw, name, min(CHUNK, end - begin)), b"")):
            begin += len(block)
            self.consumed += len(block)
            yield block

    def _count_bytes(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self.consumed += len(block)
            yield block
