"""`wv lm train`: from text, or n-gram counts, to an n-gram model or to counts."""

import time
from dataclasses import asdict, dataclass, field, replace

from wv_cli.config import flag_of, option
from wv_cli.errors import UsageError
from wv_cli.formats.recognize import input_texts
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part, SidecarOption
from wv_cli.jobs.run import Metadata, Run
from wv_cli.lm.config import CountConfig, LmConfig
from wv_cli.lm.count_files import load, sum_counts
from wv_cli.lm.count_files import save as save_counts
from wv_cli.lm.counts import NgramCounts, count
from wv_cli.lm.estimate import estimate
from wv_cli.lm.files import format_for_output, save
from wv_cli.lm.words import read_words
from wv_cli.system.host import processors
from wv_cli.text.input_files import refuse_overwriting
from wv_cli.text.reading_config import ReadingConfig

# The options that make a model of counts.
_OF_MODELS = {*LmConfig.options(), "to", "quantize"} - {*CountConfig.options()}
# Those that say how text is read.
_OF_TEXT = {"lowercase", "skip_symbols", *ReadingConfig.options()}


@dataclass(frozen=True, kw_only=True)
class CountedInput(Part):
    """The input of n-gram counting. The texts `inputs`, or the counts of n-grams in `count_files`. Counting takes
    `memory` bytes; what does not fit waits on the disk."""

    inputs: tuple[str, ...] = ()
    count_files: tuple[str, ...] = ()
    memory: int | None = option(None, low=1)
    reading: ReadingConfig = field(default_factory=ReadingConfig)

    def check(self) -> None:
        if self.inputs and self.count_files:
            message = "INPUT and --counts cannot be used together: --counts trains on earlier counts; leave one out"
            raise UsageError(message)
        if not (self.inputs or self.count_files):
            message = "INPUT is missing (or --counts FILE)"
            raise UsageError(message)

    def reads(self) -> list[str]:
        return [*self.inputs, *self.count_files]


_KENLM_ORDERS = range(2, 7)


@dataclass(frozen=True, kw_only=True)
class ModelOutput(Part):
    """The output file of an n-gram model. The file `output` gets the model in the format `to`, or in that of its
    ending, with numbers of `quantize` bits; with `counts_only` it gets the counts."""

    output: str = "-"
    to: str | None = None
    quantize: int | None = option(None, low=2, high=16)
    counts_only: bool = False

    def check(self) -> None:
        if not self.counts_only:
            format_for_output(self.output, self.to).require_quantize(self.quantize)

    def results(self) -> list[str]:
        return [self.output]


@dataclass(frozen=True, kw_only=True)
class NgramJob(Job):
    invocation: SidecarOption = field(default_factory=SidecarOption)
    config: LmConfig = field(default_factory=LmConfig)
    source: CountedInput
    model: ModelOutput = field(default_factory=ModelOutput)

    def check(self) -> None:
        if self.source.inputs:  # --order is known later where there are counts
            self.config.check_order()
        for name in self.invocation.explicit:
            if self.source.count_files and name in _OF_TEXT:
                message = f"--counts and {flag_of(name)} cannot be used together: the words are counted already"
                raise UsageError(message)
            if self.model.counts_only and name in _OF_MODELS:
                why = "the model is made later, with --counts"
                raise UsageError(f"--counts-only and {flag_of(name)} cannot be used together: {why}")
        refuse_overwriting(self.reads(), self.model.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Counts n-grams, or sums counts; then smooths and writes the model."""
        started, config, output = time.perf_counter(), self.config, self.model.output
        vocabulary = read_words(config.limit_vocab) if config.limit_vocab is not None else None
        counts = self._counts(run)
        if self.source.count_files:
            config = replace(config, order=counts.trie.order)
        metadata: Metadata = {"output": output, "tokens": counts.tokens, "sentences": counts.sentences}
        metadata["ngrams"] = counts.trie.sizes
        if self.model.counts_only:
            save_counts(output, counts)
        else:
            made = estimate(counts, config, vocabulary)
            save(output, made.model, format=self.model.to, quantize=self.model.quantize)
            if config.order not in _KENLM_ORDERS:
                run.log(f"note: the kenlm package of PyPI reads models of order 2 to 6, not of {config.order}")
            metadata |= {"kept": made.model.trie.sizes, "discounts": made.discounts}
        metadata["seconds"] = time.perf_counter() - started
        self.finish(run, self.results(), {"config": asdict(config), **metadata})
        return None, metadata

    def _counts(self, run: Run) -> NgramCounts:
        source, output = self.source, self.model.output
        if source.count_files:
            # As long as --order says, or else as the files have them.
            order = self.config.order if "order" in self.invocation.explicit else None
            threads = self.config.threads or processors()
            parts = [load(path) for path in source.count_files]
            return sum_counts(parts, order, memory=source.memory, spool_beside=output, threads=threads)
        asked = input_texts(source.inputs, log=run.log, written=[output], reading=source.reading)
        return count(asked, self.config, memory=source.memory, spool_beside=output, progress=run.on_reading)
