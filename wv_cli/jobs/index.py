"""One run of `wv index`: vectors to an index for approximate search, as good as asked for."""

import time
from dataclasses import asdict, dataclass

from wv_cli import formats
from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError, WvError
from wv_cli.formats.index_file import require_vectors, save_index, words_path
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.session import Observe, Reading, Session
from wv_cli.search.approximate import Approximate, tune
from wv_cli.search.config import IndexConfig
from wv_cli.search.indexes import build, library
from wv_cli.system.events import Log as Say
from wv_cli.system.places import is_stream


@dataclass(frozen=True, kw_only=True)
class IndexSession(Session):
    """`output` is the index; its words stand beside it."""

    config: IndexConfig
    vectors: str
    output: str
    from_format: str | None = None
    limit: int | None = None

    def check_options(self) -> None:
        if is_stream(self.output):
            message = f"-o {self.output}: an index is a file with its words in another one beside it; name a file"
            raise UsageError(message)
        library("wv index")

    def read(self) -> list[str]:
        return [self.vectors]

    def results(self) -> list[str]:
        return [self.output]

    def written(self) -> list[str]:
        return [self.output, words_path(self.output)]

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: builds, sets and writes an index; `reading` is told how many rows are in it."""
        vectors = formats.load(self.vectors, format=self.from_format, limit=self.limit, mapped=True)
        require_vectors(vectors, self.vectors)
        if not len(vectors):
            message = f"{self.vectors}: holds no vectors; there is nothing to search"
            raise WvError(message)
        exact, config = vectors.exact(threads=self.config.threads), self.config
        begin = time.monotonic()
        index = build(exact, config, reading)
        seconds = time.monotonic() - begin
        search = Approximate(index, exact, threads=config.threads)
        found = tune(search, exact, config.neighbours, recall=config.recall, queries=config.queries, seed=config.seed)
        size = save_index(self.output, index, vectors.words, search.factor)
        facts: Facts = {
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
        self.finish(self.results(), facts)
        return None, facts
