"""`wv build-vocab`: counts the words of texts, or sums counts, and writes a vocabulary file."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from wv_cli.config import flag_of, option
from wv_cli.errors import UsageError
from wv_cli.formats.recognize import input_texts
from wv_cli.jobs.distribution import executor, refuse_with_dask
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.events import OnProgress
from wv_cli.text import shard_counting
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import tally
from wv_cli.text.counting import Counts, count_words
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.shard_counting import Divided, words_of
from wv_cli.text.vocab import merge_vocabs, read_vocab, write_pieces


@dataclass(frozen=True, kw_only=True)
class CountedTexts(Part):
    """The input of a vocabulary. `inputs` are texts, or with `merge` vocabulary files. Without `memory` all words are
    counted in it, with it in so many bytes; with `dask`, the address of a scheduler, by its workers."""

    inputs: tuple[str, ...]
    merge: bool = False
    memory: int | None = option(None, low=1)
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    dask: str | None = None

    def reads(self) -> list[str]:
        return [*self.inputs]


@dataclass(frozen=True, kw_only=True)
class VocabularyOutput(Part):
    """The file that gets the words that are kept, and with `sentence_end` the number of lines."""

    output: str = "-"
    sentence_end: bool = True

    def results(self) -> list[str]:
        return [self.output]


@dataclass(frozen=True, kw_only=True)
class VocabularyJob(Job):
    """The job of `wv build-vocab`. It writes no sidecars."""

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("field", "no_header", "tsv_quotes", "tokenize"), "not merge"
    )

    config: VocabConfig = field(default_factory=VocabConfig)
    source: CountedTexts
    vocabulary: VocabularyOutput = field(default_factory=VocabularyOutput)

    def check(self) -> None:
        source, values = self.source, self.values()
        for name in ("lowercase", "dedup", "min_line"):
            if source.merge and values[name]:
                why = "the words are counted already; give it when counting"
                raise UsageError(f"--merge and {flag_of(name)} cannot be used together: {why}")
        if source.merge and source.memory is not None:
            message = "--merge and --memory cannot be used together: vocabularies are summed in memory"
            raise UsageError(message)
        refuse_with_dask(source.dask, merge=source.merge, memory=source.memory, dedup=self.config.dedup)
        refuse_overwriting(source.inputs, self.vocabulary.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Counts and writes the words."""
        started, output, read = time.perf_counter(), self.vocabulary, 0

        def on_reading(done: int, total: int | None) -> None:
            nonlocal read
            read = done
            if run.on_reading is not None:
                run.on_reading(done, total)

        with ExitStack() as stack:
            every = self._counts(stack, run, on_reading)
            words, tokens = write_pieces(output.output, every.kept, every.lines, sentence_end=output.sentence_end)
        metadata: Metadata = {
            "output": output.output,
            "tokens": every.tokens,
            "lines": every.lines,
            "words": every.words,
            "kept_words": words,
            "kept_tokens": tokens,
            "coverage": tokens / every.tokens,
            "bytes_read": read,
        }
        return None, {**metadata, "seconds": time.perf_counter() - started}

    def _counts(self, stack: ExitStack, run: Run, on_reading: OnProgress) -> Counts:
        source, config, output = self.source, self.config, self.vocabulary.output
        asked = input_texts(source.inputs, log=run.log, written=[output], reading=source.reading)
        if source.merge:
            return Counts.from_vocab(merge_vocabs([read_vocab(path) for path in expand_inputs(source.inputs)]), config)
        if source.dask is not None:
            whole_lines = bool(config.min_line) or asked.whole_lines
            divided = Divided(asked, shard_counting.SHARD_BYTES, on_reading, whole_lines=whole_lines)
            with executor(source.dask, run.log) as workers:
                whole = words_of(workers, divided, partial(tally, config=config))
            return Counts.from_vocab(whole.vocab(), config)
        return stack.enter_context(
            count_words(asked, config, progress=on_reading, memory=source.memory, spool_beside=output)
        )
