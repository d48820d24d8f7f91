"""One run of `wv phrases`: joins the phrases of a text, found in it or kept from another, and writes it again."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from wv_cli.formats.recognise import texts
from wv_cli.jobs.distribution import ask, executor, refuse_with_dask
from wv_cli.system.events import Log, OnProgress
from wv_cli.system.launcher import refuse_processes
from wv_cli.system.output import check_writable, open_output, write_together
from wv_cli.system.places import require_different
from wv_cli.text.config import PhrasesConfig
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import shards
from wv_cli.text.phrase_finding import PhraseFinder
from wv_cli.text.phrases import JoinedText
from wv_cli.text.saved_phrases import SavedPhrases, read_phrases
from wv_cli.text.shard_counting import Divided
from wv_cli.text.shard_joining import JoinedShards

SHARD_BYTES = 1 << 24  # of text that a task joins, or in which it counts pairs


@dataclass(frozen=True, kw_only=True)
class JoiningRun:
    """`inputs` are texts, `output` gets them with phrases joined, `save_phrases` the phrases; with `apply`, a file of
    them, none are looked for; with `dask`, the address of a scheduler, its workers find and join them."""

    inputs: tuple[str, ...]
    output: str
    config: PhrasesConfig
    save_phrases: str | None = None
    apply: str | None = None
    force_text: bool = False
    dask: str | None = None

    @property
    def outputs(self) -> list[str]:
        return [path for path in (self.output, self.save_phrases) if path]

    def run(self, say: Log, report: Callable[[str], None], reading: OnProgress | None) -> dict[str, Any]:
        """Does the work; what is to be told of it. `report` is told of every pass. Raises WvError and its kin."""
        refuse_processes()
        started = time.perf_counter()
        asked = self._checked(say)
        if self.dask is not None:
            if self.apply is not None:
                facts = self._applied_on(self.dask, self.apply, asked, say, reading)
            else:
                facts = self._joined_on(self.dask, asked, say, report, reading)
            return {**facts, "seconds": time.perf_counter() - started}
        with JoinedText(
            asked,
            self.config,
            spool_beside=self.output,
            progress=reading,
            after_pass=lambda done: report(done.summary),
            saved=read_phrases(self.apply) if self.apply is not None else None,
        ) as text:
            self._write(text.rows, text.chunks())
        facts = {"output": self.output, "lines": text.lines, "tokens_read": text.tokens_read, "tokens": text.tokens}
        return {**facts, "passes": [done.facts for done in text.passes], "seconds": time.perf_counter() - started}

    def _joined_on(
        self, address: str, asked: Texts, say: Log, report: Callable[[str], None], reading: OnProgress | None
    ) -> dict[str, Any]:
        """The phrases are found by the workers, too."""
        divided = Divided(asked, SHARD_BYTES, reading, whole_lines=True)
        finder = PhraseFinder(self.config, after_pass=lambda done: report(done.summary))
        with executor(address, say) as workers:
            text = JoinedShards(workers, divided, self.config, self.output)
            finder.join_in(text)
            self._write(finder.rows, text.chunks())
        facts = {"output": self.output, "lines": text.lines, "tokens_read": text.tokens_read, "tokens": text.tokens}
        return {**facts, "passes": [done.facts for done in finder.passes]}

    def _applied_on(
        self, address: str, phrases: str, asked: Texts, say: Log, reading: OnProgress | None
    ) -> dict[str, Any]:
        divided = shards(expand_inputs(asked), SHARD_BYTES, whole_lines=True)
        total, read = sum(shard.bytes for shard in divided), 0
        applied = ask(address, say, "join", _Applied(file=phrases, config=self.config), map(asked.only, divided))
        lines = tokens_read = tokens = 0
        with open_output(self.output) as stream:
            for shard, each in zip(divided, applied, strict=True):
                stream.write(each.text)
                lines, tokens_read, tokens = lines + each.lines, tokens_read + each.tokens_read, tokens + each.tokens
                read += shard.bytes
                if reading is not None:
                    reading(read, total)
            require_words(tokens_read, self.inputs)
        return {"output": self.output, "lines": lines, "tokens_read": tokens_read, "tokens": tokens, "passes": []}

    def _checked(self, say: Log) -> Texts:
        refuse_with_dask(self.dask, across_lines=self.config.across_lines)
        for path in self.outputs:
            refuse_overwriting([*self.inputs, *filter(None, [self.apply])], path)
            check_writable(path)
        require_different(self.outputs)
        return texts(self.inputs, note=say, written=self.outputs, force=self.force_text)

    def _write(self, rows: Callable[[], Iterable[bytes]], chunks: Iterator[bytes | bytearray]) -> None:
        parts: dict[str | None, Callable[[], Iterable[bytes | bytearray]]]
        parts = {self.save_phrases: rows, self.output: lambda: chunks}

        def write(path: str) -> None:
            with open_output(path) as stream:
                for part in parts[path]():
                    stream.write(part)

        write_together((path, write) for path in parts if path is not None)


class _Joined(NamedTuple):
    text: bytes
    lines: int
    tokens_read: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class _Applied:
    """The phrases in `file`, joined in parts of a text. Satisfies wv_cli.engine.asking.Asking."""

    file: str
    config: PhrasesConfig

    def opened(self) -> SavedPhrases:
        return read_phrases(self.file)

    def answer(self, saved: SavedPhrases, part: Texts) -> _Joined:
        with JoinedText(part, self.config, saved=saved, may_be_empty=True) as text:
            return _Joined(b"".join(text.chunks()), text.lines, text.tokens_read, text.tokens)
