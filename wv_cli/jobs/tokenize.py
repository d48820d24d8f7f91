"""`wv tokenize`: makes running text of raw text."""

import time
from dataclasses import asdict, dataclass, field

from wv_cli.formats.recognize import input_texts
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part, SidecarOption
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.output import open_output
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import refuse_overwriting
from wv_cli.text.reading_config import RawConfig, ReadingConfig, TokenizeConfig, recipe_of
from wv_cli.text.source import Source


@dataclass(frozen=True, kw_only=True)
class RawTexts(Part):
    """The texts that are cut into words."""

    inputs: tuple[str, ...]
    reading: RawConfig = field(default_factory=RawConfig)

    def reads(self) -> list[str]:
        return [*self.inputs]


@dataclass(frozen=True, kw_only=True)
class RunningText(Part):
    """The file that gets the words."""

    output: str = "-"

    def results(self) -> list[str]:
        return [self.output]


@dataclass(frozen=True, kw_only=True)
class TokenizeJob(Job):
    """The job of `wv tokenize`. The sidecar has its settings."""

    invocation: SidecarOption = field(default_factory=SidecarOption)
    config: TokenizeConfig = field(default_factory=TokenizeConfig)
    source: RawTexts
    out: RunningText = field(default_factory=RunningText)

    def check(self) -> None:
        refuse_overwriting(self.source.inputs, self.out.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Reads and writes a piece at a time."""
        started, output = time.perf_counter(), self.out.output
        reading = ReadingConfig(**vars(self.source.reading), tokenize=recipe_of(self.config))
        texts = input_texts(self.source.inputs, log=run.log, written=[output], reading=reading)
        source, lines, some = Source(texts, progress=run.on_reading), 0, False
        with open_output(output) as file:
            for piece in source:
                lines += piece.count(b"\n")
                some = some or (bool(piece) and not piece.isspace())
                file.write(piece)
            require_words(int(some), self.source.inputs)
        settings = asdict(self.config) | self.source.reading.identity()
        metadata: Metadata = {"output": output, "lines": lines, "bytes_read": source.consumed, "tokenizing": settings}
        metadata["seconds"] = time.perf_counter() - started
        self.finish(run, [output], metadata)
        return None, metadata
