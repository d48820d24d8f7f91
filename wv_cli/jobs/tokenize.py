"""`wv tokenize`: makes running text of raw text."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace

from wv_cli.formats.recognise import input_texts
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.events import Log
from wv_cli.system.output import open_output
from wv_cli.text.config import ReadingConfig, TokenizeConfig
from wv_cli.text.corpus import require_words
from wv_cli.text.input_files import refuse_overwriting
from wv_cli.text.inputs import UNSEGMENTED, Texts
from wv_cli.text.source import Source
from wv_cli.text.tokenizing import Tokenizer


@dataclass(frozen=True, kw_only=True)
class RawTexts(Part):
    """The texts that are cut into words."""

    inputs: tuple[str, ...]
    reading: ReadingConfig = field(default_factory=ReadingConfig)

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

    config: TokenizeConfig = field(default_factory=TokenizeConfig)
    source: RawTexts
    out: RunningText = field(default_factory=RunningText)

    def check(self) -> None:
        refuse_overwriting(self.source.inputs, self.out.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Reads and writes a piece at a time."""
        started, output = time.perf_counter(), self.out.output
        texts = input_texts(self.source.inputs, log=_heard(run.log), written=[output], reading=self.source.reading)
        source, tokenizer, lines = Source(texts, progress=run.on_reading), Tokenizer(self.config), 0
        some = False
        chunks = source if self.config.markup == "none" else _documents(source, texts, tokenizer)
        with open_output(output) as file:
            for piece in tokenizer.lines(chunks):
                lines += piece.count(b"\n")
                some = some or (bool(piece) and not piece.isspace())
                file.write(piece)
            require_words(int(some), self.source.inputs)
        settings = asdict(self.config) | self.source.reading.identity()
        metadata: Metadata = {"output": output, "lines": lines, "bytes_read": source.consumed, "tokenizing": settings}
        metadata["seconds"] = time.perf_counter() - started
        self.finish(run, [output], metadata)
        return None, metadata


def _heard(log: Log) -> Callable[[str], None]:
    """Leaves out that a text has no blanks between its words."""
    return lambda message: None if message.endswith(UNSEGMENTED) else log(message)


def _documents(source: Source, texts: Texts, tokenizer: Tokenizer) -> Iterator[bytes]:
    """The texts of records, or of whole files, without their markup."""
    for path in source.paths:
        if texts.records(path):
            for block in source.blocks(path):
                for text in block.each:
                    yield tokenizer.extracted(text)
        else:
            yield tokenizer.extracted(b"".join(Source(replace(texts, inputs=[path]))))
