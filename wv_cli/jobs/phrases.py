"""`wv phrases`: joins the phrases of a text, found in it or saved from another text."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

from wv_cli.config import option
from wv_cli.errors import UsageError
from wv_cli.formats.recognize import input_texts
from wv_cli.jobs.distribution import ask, executor, refuse_with_dask
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.output import open_output, write_together
from wv_cli.system.places import require_one_use
from wv_cli.text.config import PhrasesConfig, all_thresholds
from wv_cli.text.connectors import read_connectors
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import shards
from wv_cli.text.phrase_finding import PhraseFinder
from wv_cli.text.phrases import JoinedText
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.saved_phrases import SavedPhrases, read_phrases
from wv_cli.text.shard_counting import Divided
from wv_cli.text.shard_joining import JoinedShards

SHARD_BYTES = 1 << 24  # of text that a task joins, or in which it counts pairs


@dataclass(frozen=True, kw_only=True)
class PhraseInput(Part):
    """The texts whose phrases are joined. `inputs` are texts. With `apply`, a file of phrases, none are looked for.
    With `dask`, the address of a scheduler, its workers find and join them."""

    inputs: tuple[str, ...]
    apply: str | None = None
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    dask: str | None = None

    def check(self) -> None:
        require_one_use(self.apply or "", "-" in self.inputs)

    def reads(self) -> list[str]:
        return [*self.inputs, *([self.apply] if self.apply else [])]


@dataclass(frozen=True, kw_only=True)
class Passes(Part):
    """The thresholds of the passes. Pairs that score higher than a `threshold` are joined, in one pass for each;
    `passes` is how many there are where the last threshold says all."""

    # How phrases are found, and the file for those that were.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("threshold", "passes", "score", "min_count", "delimiter", "connectors", "across_lines", "save_phrases"),
        "not apply",
    )

    threshold: tuple[float, ...] = ()
    passes: int | None = option(None, low=1, high=100)

    def check(self) -> None:
        if self.passes is not None and len(self.threshold) > 1:
            message = "--passes and several --threshold cannot be used together: each --threshold is a pass already"
            raise UsageError(message)


@dataclass(frozen=True, kw_only=True)
class PhraseOutput(Part):
    """`output` gets the texts with phrases joined, `save_phrases` the phrases."""

    output: str = "-"
    save_phrases: str | None = None

    def results(self) -> list[str]:
        return [self.output, *([self.save_phrases] if self.save_phrases else [])]


@dataclass(frozen=True, kw_only=True)
class PhrasesJob(Job):
    """The job of `wv phrases`. It writes no sidecars."""

    config: PhrasesConfig = field(default_factory=PhrasesConfig)
    source: PhraseInput
    passes: Passes = field(default_factory=Passes)
    out: PhraseOutput = field(default_factory=PhraseOutput)

    @property
    def full_config(self) -> PhrasesConfig:
        """The config with the threshold of every pass."""
        passes = self.passes
        return replace(self.config, thresholds=all_thresholds(passes.threshold, passes.passes, self.config.score))

    def check(self) -> None:
        self.full_config.validate()
        read_connectors(self.config.connectors)
        refuse_with_dask(
            self.source.dask, across_lines=self.config.across_lines, connectors=bool(self.config.connectors)
        )
        for path in self.results():
            refuse_overwriting(self.source.reads(), path)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Finds and joins; the log is told of every pass."""
        source, started = self.source, time.perf_counter()
        asked = input_texts(source.inputs, log=run.log, written=self.results(), reading=source.reading)
        if source.dask is None:
            metadata = self._join(asked, run)
        elif source.apply is not None:
            metadata = self._applied_by(source.dask, source.apply, asked, run)
        else:
            metadata = self._joined_by(source.dask, asked, run)
        return None, {**metadata, "seconds": time.perf_counter() - started}

    def _join(self, asked: Texts, run: Run) -> Metadata:
        with JoinedText(
            asked,
            self.full_config,
            spool_beside=self.out.output,
            progress=run.on_reading,
            after_pass=lambda done: run.log(done.summary, **done.metadata),
            saved=read_phrases(self.source.apply) if self.source.apply is not None else None,
        ) as text:
            self._write(text.rows, text.chunks())
        passes = [done.metadata for done in text.passes]
        return self._metadata(text.lines, text.tokens_read, text.tokens, passes)

    def _joined_by(self, address: str, asked: Texts, run: Run) -> Metadata:
        """The workers at `address` find the phrases, too."""
        divided = Divided(asked, SHARD_BYTES, run.on_reading, whole_lines=True)
        finder = PhraseFinder(self.full_config, after_pass=lambda done: run.log(done.summary, **done.metadata))
        with executor(address, run.log) as workers:
            text = JoinedShards(workers, divided, self.full_config, self.out.output)
            finder.join_in(text)
            self._write(finder.rows, text.chunks())
        passes = [done.metadata for done in finder.passes]
        return self._metadata(text.lines, text.tokens_read, text.tokens, passes)

    def _applied_by(self, address: str, phrases: str, asked: Texts, run: Run) -> Metadata:
        divided = shards(expand_inputs(asked), SHARD_BYTES, whole_lines=True)
        total, read = sum(shard.bytes for shard in divided), 0
        question = _Applied(file=phrases, config=self.full_config)
        applied = ask(address, run.log, "join", question, map(asked.of_shard, divided))
        lines = tokens_read = tokens = 0
        with open_output(self.out.output) as stream:
            for shard, each in zip(divided, applied, strict=True):
                stream.write(each.text)
                lines, tokens_read, tokens = lines + each.lines, tokens_read + each.tokens_read, tokens + each.tokens
                read += shard.bytes
                if run.on_reading is not None:
                    run.on_reading(read, total)
            require_words(tokens_read, self.source.inputs)
        return self._metadata(lines, tokens_read, tokens, [])

    def _metadata(self, lines: int, tokens_read: int, tokens: int, passes: list[dict[str, float]]) -> Metadata:
        counts = {"lines": lines, "tokens_read": tokens_read, "tokens": tokens}
        return {"output": self.out.output, **counts, "passes": passes}

    def _write(self, rows: Callable[[], Iterable[bytes]], chunks: Iterator[bytes | bytearray]) -> None:
        parts: dict[str | None, Callable[[], Iterable[bytes | bytearray]]]
        parts = {self.out.save_phrases: rows, self.out.output: lambda: chunks}

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

    def open(self) -> SavedPhrases:
        return read_phrases(self.file)

    def answer(self, saved: SavedPhrases, part: Texts) -> _Joined:
        with JoinedText(part, self.config, saved=saved, may_be_empty=True) as text:
            return _Joined(b"".join(text.chunks()), text.lines, text.tokens_read, text.tokens)
