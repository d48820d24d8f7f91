"""`wv tokenize`: makes running text of raw text."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Invocation, Part
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.io.output import open_output
from wv_cli.text.input_files import refuse_overwriting
from wv_cli.text.reading_config import RawConfig, ReadingConfig, TokenizeConfig, recipe_of
from wv_cli.text.source import Source


@frozen
class RawTexts(Part):
    """The texts that are cut into words."""

    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    reading: RawConfig = field(default_factory=RawConfig)


@frozen
class RunningText(Part):
    """The file that gets the words."""

    group: ClassVar[str] = "Output"

    output: str = option("-", "File for the words.", short="o", role="result")


@frozen
class SettingsSidecar(Invocation):
    """How a run was asked for whose sidecar has the settings of the words."""

    meta: bool = option(True, "Write FILE.meta.json with the settings.", group="Output")


@frozen
class TokenizeJob(Job):
    """Cut INPUT into words with blanks between them: text files, folders, or - for standard input, plain or compressed.

    Each line gives a line. Words are those of Unicode's standard annex 29: punctuation marks are words of their own,
    can't and 3.14 stay whole, and Han, Hiragana and Thai are cut into characters. The packages jieba, fugashi and
    pythainlp find the words of Chinese, Japanese and Thai; each is to be installed.

    The same options give the same words of a text, today and for the texts that a model is asked about later.
    """

    READING: ClassVar[tuple[str, str]] = ("B", "reading")

    invocation: SettingsSidecar = field(default_factory=SettingsSidecar)
    config: TokenizeConfig = field(default_factory=TokenizeConfig)
    source: RawTexts
    out: RunningText = field(default_factory=RunningText)

    def check(self) -> None:
        refuse_overwriting(self.source.inputs, self.out.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Reads and writes a piece at a time."""
        from wv_cli.text.corpus import require_words
        from wv_cli.vectors.recognize import input_texts

        started, output = time.perf_counter(), self.out.output
        reading = ReadingConfig(**vars(self.source.reading), tokenize=recipe_of(self.config))
        texts = input_texts(self.source.inputs, log=run.log, written=[output], reading=reading, advise=True)
        source, lines, some = Source(replace(texts, cutting="--words"), progress=run.on_reading), 0, False
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

    def report(self, metadata: Mapping[str, Any]) -> str:
        """How many lines there were, and how fast they were read."""
        from wv_cli.commands.metadata import number_of

        speed = metadata["bytes_read"] / 1e6 / max(metadata["seconds"], 1e-9)
        return f"{number_of(metadata['lines'], 'line')}; {metadata['seconds']:.1f} s ({speed:.0f} MB/s)"
