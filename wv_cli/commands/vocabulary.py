"""`wv build-vocab`: counts the words of texts, or sums counts, and writes a vocabulary file."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.distribution import dask_option, executor, refuse_with_dask
from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, threads_option
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.io.events import OnProgress
from wv_cli.text.config import VocabConfig
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.reading_config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.text.counting import Counts


@frozen
class CountedTexts(Part):
    """The texts whose words are counted, or with `merge` the vocabulary files whose counts are summed."""

    group: ClassVar[str] = "Input"

    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    merge: bool = option(False, "Sum the counts of INPUTs, which are vocabulary files.", off=None)
    memory: int | None = option(
        None,
        "Memory of the whole process; words that exceed it are counted on disk.",
        metavar="SIZE", low=1, shown="no limit", group="Run",
    )  # fmt: skip
    threads: int = threads_option("Threads that count words", only="not merge and not memory and not dask")
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    dask: str | None = dask_option()


@frozen
class VocabularyOutput(Part):
    """The vocabulary file."""

    group: ClassVar[str] = "Output"

    output: str = option("-", "File for the `word count` lines.", short="o", role="result")
    sentence_end: bool = option(True, "Write the number of lines as a first row `</s> N`, as word2vec does.")


@frozen
class VocabularyJob(Job):
    """Count the words of INPUT: text files, folders, or - for standard input, plain or compressed.

    The most frequent word comes first; words of equal count keep their order of first sight. `wv train --vocab`,
    word2vec (-read-vocab) and GloVe read the file.

    To count a large text in parts, count each part with --min-count 1 and sum the files with --merge. Words of equal
    sums may stand in another order than in one pass. The limit --memory must hold Python (60 MB) and a table of words
    (16 MB); a small value gives the same result.

    With --dask, workers process parts of INPUT; the result is the same. Every worker needs this version of wv and
    the same files at the same paths.
    """

    READING: ClassVar[tuple[str, str]] = ("B", "reading")
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("field", "no_header", "tsv_quotes", "tokenize"), "not merge"
    )

    vocabulary: VocabularyOutput = field(default_factory=VocabularyOutput)
    config: VocabConfig = field(default_factory=VocabConfig)
    source: CountedTexts

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

    def facts(self, metadata: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: value for name, value in metadata.items() if name != "bytes_read"}

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Counts and writes the words."""
        from wv_cli.text.vocab import write_pieces

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

    def _counts(self, stack: ExitStack, run: Run, on_reading: OnProgress) -> "Counts":
        from wv_cli.text.corpus import tally
        from wv_cli.text.counting import Counts, count_words
        from wv_cli.text.shard_counting import SHARD_BYTES, Divided, words_of
        from wv_cli.text.source import tell_words
        from wv_cli.text.vocab import merge_vocabs, read_vocab
        from wv_cli.vectors.recognize import input_texts

        source, config, output = self.source, self.config, self.vocabulary.output
        asked = input_texts(source.inputs, log=run.log, written=[output], reading=source.reading, advise=True)
        if source.merge:
            return Counts.from_vocab(merge_vocabs([read_vocab(path) for path in expand_inputs(source.inputs)]), config)
        if source.dask is not None:
            tell_words(asked)
            whole_lines = bool(config.min_line) or asked.whole_lines
            divided = Divided(asked, SHARD_BYTES, on_reading, whole_lines=whole_lines)
            with executor(source.dask, run.log) as workers:
                whole = words_of(workers, divided, partial(tally, config=config))
            return Counts.from_vocab(whole.vocab(), config)
        return stack.enter_context(
            count_words(
                asked, config, progress=on_reading, memory=source.memory, spool_beside=output, threads=source.threads
            )
        )

    def report(self, metadata: Mapping[str, Any]) -> str:
        """How many words there are, how many of them are kept, and how fast they were counted."""
        from wv_cli.commands.metadata import number_of

        seconds, rate = metadata["seconds"], ""
        if not (self.source.merge or self.source.dask):
            rate = f" ({metadata['bytes_read'] / 1e6 / seconds:,.0f} MB/s)"
        return (
            f"{number_of(metadata['tokens'], 'word')} in {number_of(metadata['lines'], 'line')}, "
            f"{metadata['words']:,} different ones; kept {metadata['kept_words']:,}, which cover "
            f"{metadata['coverage']:.2%} of the text; {seconds:.1f} s{rate}"
        )
