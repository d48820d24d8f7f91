"""`wv phrases`: joins the phrases of a text, found in it or saved from another. commands/phrases_run.py has the
work."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from wv_cli.commands.distribution import refuse_with_dask
from wv_cli.commands.job import Job
from wv_cli.commands.parts.joining import Passes, PhraseInput, PhraseOutput
from wv_cli.commands.run import Metadata, Run
from wv_cli.text.config import PhrasesConfig, all_thresholds
from wv_cli.text.input_files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
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
        from wv_cli.commands.phrases_run import PhraseRun

        started = time.perf_counter()
        metadata = PhraseRun(run, self.full_config, self.source, self.out).finish()
        return None, {**metadata, "seconds": time.perf_counter() - started}

    def report(self, metadata: Mapping[str, Any]) -> str:
        """How many words there were, and how many are left."""
        from wv_cli.commands.metadata import number_of

        counts = f"{metadata['tokens_read']:,} words in, {metadata['tokens']:,} out, "
        return f"{counts}{number_of(metadata['lines'], 'line')}; {metadata['seconds']:.1f} s"
