"""`wv index`: builds an index of vectors for approximate search and tunes it to a recall."""

import time
from dataclasses import asdict, dataclass

from wv_cli.errors import UsageError, WvError
from wv_cli.formats.index_file import require_vectors, save_index, words_path
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.parts.vectors import VectorInput
from wv_cli.jobs.run import Metadata, Run
from wv_cli.search.approximate import Approximate, tune
from wv_cli.search.config import IndexConfig
from wv_cli.search.indexes import build, library
from wv_cli.system.places import is_stream


@dataclass(frozen=True, kw_only=True)
class IndexOutput(Part):
    """The index file; its words stand beside it."""

    output: str

    def check(self) -> None:
        if is_stream(self.output):
            message = f"-o {self.output}: an index is a file with its words in another one beside it; name a file"
            raise UsageError(message)

    def results(self) -> list[str]:
        return [self.output]

    def writes(self, beside: str | None) -> list[str]:
        return [words_path(self.output)]


@dataclass(frozen=True, kw_only=True)
class IndexJob(Job):
    config: IndexConfig
    source: VectorInput
    index: IndexOutput

    def check(self) -> None:
        library("wv index")

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Builds, tunes and writes the index; `run.on_reading` is told how many rows are in it."""
        vectors, config = self.source.load(mapped=True), self.config
        require_vectors(vectors, self.source.vectors)
        if not len(vectors):
            message = f"{self.source.vectors}: holds no vectors; there is nothing to search"
            raise WvError(message)
        exact = vectors.exact(threads=config.threads)
        begin = time.monotonic()
        index = build(exact, config, run.on_reading)
        seconds = time.monotonic() - begin
        search = Approximate(index, exact, threads=config.threads)
        found = tune(search, exact, config.neighbours, recall=config.recall, queries=config.queries, seed=config.seed)
        size = save_index(self.index.output, index, vectors.words, search.factor)
        metadata: Metadata = {
            "config": asdict(config),
            "words": len(vectors),
            "dim": vectors.dim,
            "bytes": size,
            "building_seconds": round(seconds, 3),
            "recall": found.recall,
            "searched": search.searched,
            "queries": found.queries,
            "queries_per_second": round(found.per_second),
            "exact_queries_per_second": round(found.exact_per_second),
        }
        self.finish(run, self.results(), metadata)
        what = f"{len(vectors):,} words of {vectors.dim} numbers, {config.kind}"
        speeds = f"{found.per_second:,.0f} queries/s, exact {found.exact_per_second:,.0f}"
        run.log(f"wrote {self.index.output}: {what}; recall@{config.neighbours} {found.recall:.3f}; {speeds}")
        return None, metadata
