"""`wv lm train`: from text, or n-gram counts, to an n-gram model or to counts."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part, SidecarOption
from wv_cli.commands.parts.ngrams import NgramFormat, NgramOutput
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.lm.config import CountConfig, LmConfig
from wv_cli.text.input_files import refuse_overwriting
from wv_cli.text.reading_config import ReadingConfig

if TYPE_CHECKING:
    from wv_cli.lm.counts import NgramCounts

# The options that make a model of counts.
_OF_MODELS = {*LmConfig.options(), *NgramFormat.options()} - {*CountConfig.options()}
# Those that say how text is read.
_OF_TEXT = {"lowercase", "skip_symbols", *ReadingConfig.options()}


@frozen
class CountedInput(Part):
    """The input of n-gram counting: texts, or counts of n-grams."""

    inputs: tuple[str, ...] = argument("[INPUT]...", (), role="read")
    count_files: tuple[str, ...] = option(
        (),
        "Sum these --counts-only files instead of reading INPUT; --order may be lower.",
        role="read", flag="counts",
    )  # fmt: skip
    memory: int | None = option(
        None,
        "Memory of the process (1G); what exceeds it, words aside, goes to the output's disk.",
        metavar="SIZE", low=1, shown="2G", group="Run",
    )  # fmt: skip
    reading: ReadingConfig = field(default_factory=ReadingConfig)

    def check(self) -> None:
        if self.inputs and self.count_files:
            message = "INPUT and --counts cannot be used together: --counts trains on earlier counts; leave one out"
            raise UsageError(message)
        if not (self.inputs or self.count_files):
            message = "INPUT is missing (or --counts FILE)"
            raise UsageError(message)


_KENLM_ORDERS = range(2, 7)


@frozen
class NgramJob(Job):
    """Train an n-gram model on INPUT: text files, folders, or - for standard input, plain or compressed.

    Each line is a sentence, also a blank one. A large text can be counted in parts with --counts-only; --counts then
    trains on the sum.

    \b
    Smoothing methods:
      kneser-ney   modified and interpolated (Chen & Goodman 1998), equal to KenLM's lmplz
      absolute     one discount per order, interpolated
      katz         Good-Turing discounts with back-off
      witten-bell  interpolated; for little text
      add-k        --add-k more of every n-gram, with back-off
      mle          relative frequencies without smoothing
    """

    READS_AS_IS: ClassVar[bool] = True
    READING: ClassVar[tuple[str, str]] = ("B", "reading")

    invocation: SidecarOption = field(default_factory=SidecarOption)
    config: LmConfig = field(default_factory=LmConfig)
    source: CountedInput
    model: NgramOutput = field(default_factory=NgramOutput)
    counts_only: bool = option(
        False, "Write the counts of all n-grams to OUTPUT instead of a model.", off=None, group="Output"
    )

    def check(self) -> None:
        numbers = [each for each in self.source.inputs if each.isdigit() and not Path(each).exists()]
        if numbers and "prune" in self.invocation.explicit:  # as lmplz takes them
            raise UsageError(f"--prune takes one word; write --prune {','.join([self.config.prune, *numbers])}")
        if not self.counts_only:
            self.model.format.require_fitting(self.model.output)
        if self.source.inputs:  # --order is known later where there are counts
            self.config.check_order()
        for name in self.invocation.explicit:
            if self.source.count_files and name in _OF_TEXT:
                message = f"--counts and {flag_of(name)} cannot be used together: the words are counted already"
                raise UsageError(message)
            if self.counts_only and name in _OF_MODELS:
                why = "the model is made later, with --counts"
                raise UsageError(f"--counts-only and {flag_of(name)} cannot be used together: {why}")
        refuse_overwriting(self.source.reads(), self.model.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Counts n-grams, or sums counts; then smooths and writes the model."""
        from wv_cli.lm.count_files import save
        from wv_cli.lm.estimate import estimate
        from wv_cli.lm.vocabulary import read_limit

        started, config, output = time.perf_counter(), self.config, self.model.output
        vocabulary = read_limit(config.limit_vocab) if config.limit_vocab is not None else None
        counts = self._counts(run)
        if self.source.count_files:
            config = replace(config, order=counts.trie.order)
        metadata: Metadata = {"output": output, "tokens": counts.tokens, "sentences": counts.sentences}
        metadata["ngrams"] = counts.trie.sizes
        if self.counts_only:
            save(output, counts)
        else:
            made = estimate(counts, config, vocabulary)
            self.model.format.save(output, made.model)
            if config.order not in _KENLM_ORDERS:
                run.log(f"note: the kenlm package of PyPI reads models of order 2 to 6, not of {config.order}")
            metadata |= {"kept": made.model.trie.sizes, "discounts": made.discounts}
        metadata["seconds"] = time.perf_counter() - started
        self.finish(run, self.results(), {"config": asdict(config), **metadata})
        return None, metadata

    def _counts(self, run: Run) -> "NgramCounts":
        from wv_cli.lm.count_files import load, sum_counts
        from wv_cli.lm.counts import count
        from wv_cli.vectors.recognize import input_texts

        source, output = self.source, self.model.output
        if source.count_files:
            # As long as --order says, or else as the files have them.
            order = self.config.order if "order" in self.invocation.explicit else None
            threads = self.config.threads
            parts = [load(path) for path in source.count_files]
            return sum_counts(parts, order, memory=source.memory, spool_beside=output, threads=threads)
        asked = input_texts(source.inputs, log=run.log, written=[output], reading=source.reading)
        return count(asked, self.config, memory=source.memory, spool_beside=output, progress=run.on_reading)

    def report(self, metadata: Mapping[str, Any]) -> str:
        """How many n-grams of each length there were, and what was made of them."""
        lines = [f"{metadata['tokens']:,} words in {metadata['sentences']:,} sentences; {metadata['seconds']:.1f} s"]
        sizes = metadata["ngrams"]
        for length, (counted, kept) in enumerate(zip(sizes, metadata.get("kept", sizes), strict=True), 1):
            found = metadata["discounts"][length - 1] if "discounts" in metadata else ()
            discounts = f"; discounts {' '.join(f'{each:.6g}' for each in found)}" if found else ""
            pruned = f", kept {kept:,}" if kept < counted else ""
            lines.append(f"{length}-grams: {counted:,}{pruned}{discounts}")
        return "\n".join(lines)
