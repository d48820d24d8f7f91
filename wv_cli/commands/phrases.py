"""`wv phrases`: joins the phrases of a text, found in it or saved from another."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from wv_cli.commands.distribution import ask, dask_option, executor, refuse_with_dask
from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, threads_option
from wv_cli.errors import UsageError
from wv_cli.io.places import require_one_use
from wv_cli.text.config import PhrasesConfig, all_thresholds
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.reading_config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.text.inputs import Texts
    from wv_cli.text.saved_phrases import SavedPhrases


@frozen
class Passes(Part):
    """The thresholds of the passes."""

    threshold: tuple[float, ...] = option(
        (),
        "Join pairs that score higher; repeat for one pass each.",
        metavar="SCORE", only="not apply", shown="100; npmi: 0.5",
    )  # fmt: skip
    passes: int | None = option(
        None,
        "Number of passes; each earlier pass has a stricter threshold (400, 200, 100).",
        low=1, high=100, only="not apply",
    )  # fmt: skip

    def check(self) -> None:
        if self.passes is not None and len(self.threshold) > 1:
            message = "--passes and several --threshold cannot be used together: each --threshold is a pass already"
            raise UsageError(message)


@frozen
class PhraseInput(Part):
    """The texts whose phrases are joined, and where the phrases are known."""

    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    apply: str | None = option(
        None, "Join the phrases of this --save-phrases file instead of finding phrases.", role="read"
    )
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    threads: int = threads_option("Threads that count pairs and write the text", only="not dask")
    dask: str | None = dask_option()

    def check(self) -> None:
        require_one_use(self.apply or "", "-" in self.inputs)


@frozen
class PhraseOutput(Part):
    """The files for the joined text and for its phrases."""

    group: ClassVar[str] = "Output"

    output: str = option("-", "File for the joined text.", short="o", role="result")
    save_phrases: str | None = option(
        None,
        "Also write the phrases as tab-separated lines: phrase, score, pass, words.",
        role="result", only="not apply",
    )  # fmt: skip


@frozen
class PhrasesJob(Job):
    """Join phrases in INPUT: text files, folders, or - for standard input, plain or compressed.

    A pair of neighboring words becomes one word if it occurs much more often than chance predicts. Each further
    pass reads the joined text, so that longer phrases grow: --threshold 200 --threshold 100, or --passes 2. --apply
    joins the same phrases in another text.

    The score word2vec is (count(ab) - min_count) * words / (count(a) * count(b)). The score npmi lies between -1 and
    1; its passes have the thresholds 0.875, 0.75, 0.5. A smaller --memory costs time, not exactness.

    Connectors begin and end no phrase. Of "bank of america" the score is that of bank and america, with the count of
    the whole phrase, as in gensim. A file of --save-phrases keeps the connectors of its phrases.

    With --dask, workers process parts of INPUT; the result is the same. Every worker needs this version of wv and
    the same files at the same paths.
    """

    READING: ClassVar[tuple[str, str]] = ("B", "reading")

    passes: Passes = field(default_factory=Passes)
    config: PhrasesConfig = field(default_factory=PhrasesConfig)
    source: PhraseInput
    out: PhraseOutput = field(default_factory=PhraseOutput)

    @property
    def full_config(self) -> PhrasesConfig:
        """The config with the threshold of every pass."""
        passes = self.passes
        return replace(self.config, thresholds=all_thresholds(passes.threshold, passes.passes, self.config.score))

    def reads(self) -> list[str]:
        from wv_cli.text.connectors import names_file

        connectors = self.config.connectors
        return [*super().reads(), *([connectors] if names_file(connectors) else [])]

    def check(self) -> None:
        from wv_cli.text.connectors import read_connectors

        self.full_config.validate()
        read_connectors(self.config.connectors)
        refuse_with_dask(
            self.source.dask, across_lines=self.config.across_lines, connectors=bool(self.config.connectors)
        )
        for path in self.results():
            refuse_overwriting(self.source.reads(), path)

    def work(self, run: Run) -> tuple[None, Metadata]:
        started = time.perf_counter()
        metadata = PhraseRun(run, self.full_config, self.source, self.out).finish()
        return None, {**metadata, "seconds": time.perf_counter() - started}

    def report(self, metadata: Mapping[str, Any]) -> str:
        """How many words there were, and how many are left."""
        from wv_cli.commands.metadata import number_of

        counts = f"{metadata['tokens_read']:,} words in, {metadata['tokens']:,} out, "
        return f"{counts}{number_of(metadata['lines'], 'line')}; {metadata['seconds']:.1f} s"


SHARD_BYTES = 1 << 24  # of text that a task joins, or in which it counts pairs


@dataclass(frozen=True)
class PhraseRun:
    """One run over the texts of `source`; `config` has the threshold of every pass."""

    run: Run
    config: PhrasesConfig
    source: PhraseInput
    out: PhraseOutput

    def finish(self) -> Metadata:
        """Finds and joins; the log is told of every pass."""
        from wv_cli.text.source import tell_words
        from wv_cli.vectors.recognize import input_texts

        source = self.source
        asked = input_texts(
            source.inputs, log=self.run.log, written=self.out.results(), reading=source.reading, advise=True
        )
        if source.dask is None:
            return self._join(asked)
        tell_words(asked)
        if source.apply is not None:
            return self._apply_by(source.dask, source.apply, asked)
        return self._join_by(source.dask, asked)

    def _join(self, asked: "Texts") -> Metadata:
        from wv_cli.text.phrases import JoinedText
        from wv_cli.text.saved_phrases import read_phrases

        with JoinedText(
            asked,
            self.config,
            spool_beside=self.out.output,
            progress=self.run.on_reading,
            after_pass=lambda done: self.run.log(done.summary, **done.metadata),
            saved=read_phrases(self.source.apply) if self.source.apply is not None else None,
            threads=self.source.threads,
        ) as text:
            self._write(text.rows, text.chunks())
        passes = [done.metadata for done in text.passes]
        return self._metadata(text.lines, text.tokens_read, text.tokens, passes)

    def _join_by(self, address: str, asked: "Texts") -> Metadata:
        """The workers at `address` find the phrases, too."""
        from wv_cli.text.phrase_finding import PhraseFinder
        from wv_cli.text.shard_counting import Divided
        from wv_cli.text.shard_joining import JoinedShards

        divided = Divided(asked, SHARD_BYTES, self.run.on_reading, whole_lines=True)
        finder = PhraseFinder(self.config, after_pass=lambda done: self.run.log(done.summary, **done.metadata))
        with executor(address, self.run.log) as workers:
            text = JoinedShards(workers, divided, self.config, self.out.output)
            finder.join_in(text)
            self._write(finder.rows, text.chunks())
        passes = [done.metadata for done in finder.passes]
        return self._metadata(text.lines, text.tokens_read, text.tokens, passes)

    def _apply_by(self, address: str, phrases: str, asked: "Texts") -> Metadata:
        from wv_cli.io.output import open_output
        from wv_cli.text.corpus import require_words
        from wv_cli.text.parts import shards

        divided = shards(expand_inputs(asked), SHARD_BYTES, whole_lines=True)
        total, read = sum(shard.bytes for shard in divided), 0
        question = _Applied(file=phrases, config=self.config)
        applied = ask(address, self.run.log, "join", question, map(asked.of_shard, divided))
        lines = tokens_read = tokens = 0
        with open_output(self.out.output) as stream:
            for shard, each in zip(divided, applied, strict=True):
                stream.write(each.text)
                lines, tokens_read, tokens = lines + each.lines, tokens_read + each.tokens_read, tokens + each.tokens
                read += shard.bytes
                if self.run.on_reading is not None:
                    self.run.on_reading(read, total)
            require_words(tokens_read, self.source.inputs)
        return self._metadata(lines, tokens_read, tokens, [])

    def _metadata(self, lines: int, tokens_read: int, tokens: int, passes: list[dict[str, float]]) -> Metadata:
        counts = {"lines": lines, "tokens_read": tokens_read, "tokens": tokens}
        return {"output": self.out.output, **counts, "passes": passes}

    def _write(self, rows: Callable[[], Iterable[bytes]], chunks: Iterator[bytes | bytearray]) -> None:
        from wv_cli.io.output import open_output, write_together

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
    """The phrases in `file`, joined in parts of a text. Satisfies wv_cli.models.training.asking.Asking."""

    file: str
    config: PhrasesConfig

    def open(self) -> "SavedPhrases":
        from wv_cli.text.saved_phrases import read_phrases

        return read_phrases(self.file)

    def answer(self, saved: "SavedPhrases", part: "Texts") -> _Joined:
        from wv_cli.text.phrases import JoinedText

        with JoinedText(part, self.config, saved=saved, may_be_empty=True) as text:
            return _Joined(b"".join(text.chunks()), text.lines, text.tokens_read, text.tokens)
