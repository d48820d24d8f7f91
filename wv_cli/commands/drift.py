"""`wv drift`: the words that changed most between two files of vectors. wv_cli/transforms/drift.py has the scores."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from wv_cli.commands.align import TwoInputs
from wv_cli.commands.job import Job
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen
from wv_cli.transforms.config import DriftConfig

_FREQUENT = 2000  # words that are frequent in most texts


@frozen
class DriftJob(Job):
    """Show which words of both A and B changed most between the two files: vectors of two times, or of two kinds of
    text.

    A word is printed as `word TAB neighbors TAB cosine`, below a header of these names. The number `neighbors` is the
    fraction of the nearest words that A and B share. The cosine compares the two vectors of the word after A was
    aligned to B by all common words. Rare words change most, by chance; --restrict-vocab leaves them out. For one
    word, look for its row with --top 0, or show its neighbors in both by `wv nn A WORD --beside B`.
    """

    config: DriftConfig = field(default_factory=DriftConfig)
    source: TwoInputs

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Compares the words."""
        from wv_cli.transforms.drift import drift

        found = drift(*self.source.load(), self.config)
        rows = zip(found.words, found.shared.tolist(), found.cosine.tolist(), strict=True)
        words = [{"word": word, "neighbors": shared, "cosine": cosine} for word, shared, cosine in rows]
        return None, {"compared": found.compared, "words": words}

    def show(self, metadata: Mapping[str, Any]) -> str:
        rows = (f"{each['word']}\t{each['neighbors']:.4f}\t{each['cosine']:.4f}\n" for each in metadata["words"])
        return "".join(["word\tneighbors\tcosine\n", *rows])

    def report(self, metadata: Mapping[str, Any]) -> str:
        compared = f"{metadata['compared']:,} words compared"
        if metadata["compared"] <= self.config.neighbors + 1:
            return f"{compared}, so few that each is a neighbor of all others; compare more, or lower --neighbors"
        if self.config.restrict_vocab or metadata["compared"] <= _FREQUENT:
            return compared
        return f"{compared}, rare ones too, which change by chance; --restrict-vocab {_FREQUENT} leaves them out"
