"""Which inputs are running text: what a folder leaves out, and what is refused because it is something else.

Not a reader: judged are names and first bytes (source.py has them). Formats of vectors stand above this room, so what
recognizes them is handed down (vectors/recognize.py). A model trained on the bytes of yesterday's vectors looks
like any other, so doubt is no reason to refuse but knowledge is: a few stray NULs are text, one in a thousand bytes is
not.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from wv_cli.errors import BadFile, UsageError
from wv_cli.io.events import unheard
from wv_cli.io.kinds import HEAD_BYTES, records_of
from wv_cli.io.kinds import RECORDS as RECORD_TEXTS
from wv_cli.text.binary import NO_UTF8, binary, describe_foreign, is_foreign
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import record_kind

if TYPE_CHECKING:
    from wv_cli.text.parts import Part, Shard
    from wv_cli.text.records.labels import LabelFields
    from wv_cli.text.records.reading import Block, OnBad
    from wv_cli.text.records.spans import Span


@dataclass(frozen=True)
class Texts:
    """Inputs that must be running text. `recognize` says what a file is that begins with these bytes, None when it may
    be text; `is_sidecar` tells by its path a file that stands beside another one. Folders leave out sidecars, what is
    recognized and the files in `written`, which the run itself writes; `log` is told how many. A file that was named,
    and a pipe, are refused. `reading` says what is read of records, each of which is `one_line` where answers must
    stand beside it; with its `force_text` everything is read but sidecars and `written`. To `advise` is to tell `log`
    of raw text, whose words are to be learnt, and of the option that cuts it (raw_text.py), `cutting`. Records get
    the `labels` that their fields have; each is `one_line` then."""

    inputs: Sequence[str]
    recognize: Callable[[bytes], str | None]
    is_sidecar: Callable[[str], bool]
    log: Callable[[str], None]
    written: Sequence[str] = ()
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    one_line: bool = False
    part: "Part | Shard | None" = None
    advise: bool = False
    cutting: str = "--tokenize"
    labels: "LabelFields | None" = None

    def __post_init__(self) -> None:
        """Raises UsageError for text that cannot be cut into words as asked."""
        tokenizing, recipe = self.reading.tokenize_config, f"--tokenize {self.reading.tokenize}"
        if tokenizing is not None and tokenizing.sentences and self.one_line:
            raise UsageError(f"{recipe}: each line has one answer, so sentences has no effect; leave it out")
        if tokenizing is not None and tokenizing.markup != "none" and self.part is not None:
            message = f"{recipe}: markup is of whole files, which processes cannot share; run wv tokenize first"
            raise UsageError(message)

    @property
    def whole_lines(self) -> bool:
        """Whether what is made of a line depends on all of it."""
        return self.reading.tokenize is not None

    @property
    def extracts_pages(self) -> bool:
        """Whether --tokenize takes the text out of web pages."""
        tokenizing = self.reading.tokenize_config
        return tokenizing is not None and tokenizing.markup == "html"

    def of_shard(self, shard: "Shard") -> "Texts":
        """What another process reads of them, wherever it is; of files that are named there is nothing to note."""
        return replace(self.quiet(), inputs=shard.paths, part=shard, written=())

    def quiet(self) -> "Texts":
        """The same, where `log` has been told what there is to note, or another reader tells it."""
        return replace(self, log=unheard)

    def records(self, path: str) -> str | None:
        """The kind of records that a file has, a key of RECORDS; None for text. A name that says nothing, and standard
        input, are JSON lines where a field is asked for."""
        if self.reading.force_text:
            return None
        return record_kind(path) or ("jsonl" if self.reading.field is not None else None)

    def read_records(
        self,
        path: str,
        name: str,
        chunks: Iterator[bytes],
        added: tuple[str, ...] | None = None,
        *,
        begins: bool = True,
        start: int = 0,
        on_bad: "OnBad | None" = None,
        span: "Span | None" = None,
    ) -> "Iterator[Block]":
        """The records of a file, whose bytes are `chunks`; `begins` tells whether these are its first ones. With
        `added`, the fields that they get, records can be written again. Those before the byte `start` are left out, and
        those outside the `span`, at whose `start` the chunks begin then. `on_bad` is told of records that cannot be
        read."""
        from wv_cli.text.records.opening import read_records
        from wv_cli.text.records.reading import Rules

        kind = self.records(path)
        assert kind is not None, path
        rules = Rules(
            self.reading,
            self.one_line,
            self.log,
            added=added or (),
            strict=self.part is not None and self.part.is_strict,
            whole=added is not None,
            start=start,
            on_bad=on_bad,
            span=span,
            beside=self.labels.names if self.labels is not None else (),
        )
        return read_records(kind, name, path, chunks, rules, begins=begins)

    def problem(self, head: bytes, *, is_whole: bool = True) -> str | None:
        """What a file that begins with `head` is instead of text, None when it may be text. A head that is not
        `is_whole` may yet turn out to be binary data, if it has a NUL."""
        if self.reading.force_text:
            return None
        found = self.recognize(head) or binary(head) or RECORD_TEXTS.get(records_of(head) or "")
        return found or (describe_foreign(head) if (is_whole or 0 not in head) and is_foreign(head) else None)

    def require_text(self, chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
        """The chunks of a text as they come, however small a pipe makes them. Raises BadFile once they are seen to be
        no text."""
        head, judged = b"", 0
        for chunk in chunks:
            if len(head) < HEAD_BYTES:
                head += chunk[: HEAD_BYTES - len(head)]
                if len(head) >= min(2 * judged, HEAD_BYTES):
                    judged = len(head)
                    self._require_head(head, name, is_whole=judged == HEAD_BYTES)
            yield chunk
        if len(head) < HEAD_BYTES:
            self._require_head(head, name, is_whole=True)

    def _require_head(self, head: bytes, name: str, *, is_whole: bool) -> None:
        if problem := self.problem(head, is_whole=is_whole):
            raise not_text(name, problem)


def not_text(name: str, what: str) -> BadFile:
    if what.startswith(("UTF-", NO_UTF8)):
        forced = ", or --force-text to read it as it is" if what.startswith(NO_UTF8) else ""
        return BadFile(name, f"expected UTF-8 text, found {what}{forced}")
    return BadFile(name, f"expected text, found {what}; give a text, or --force-text to read it as text")
