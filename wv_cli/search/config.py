"""How an index for approximate search is built, and how good it must be."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wv_cli.config import Config, option, search_threads_option, seed_option


@dataclass(frozen=True)
class IndexConfig(Config):
    """Of `wv index`. What is quicker to search finds less: how thoroughly an index is searched follows from `recall`,
    measured on words drawn from the vectors."""

    group: ClassVar[str] = "Method"

    kind: Literal["hnsw", "ivf-pq", "flat"] = option(
        "hnsw",
        "Index type: graph (fastest), product-quantized lists (smallest), or all rows (exact).",
    )
    recall: float = option(
        0.95,
        "Fraction of the nearest words to find; search effort is tuned to it.",
        above=0,
        high=1,
        only="kind=hnsw|ivf-pq",
    )
    neighbours: int = option(10, "Nearest words to find per query.", low=1, high=1000)
    queries: int = option(1000, "Words drawn to measure the recall.", low=1, high=10**6)
    links: int = option(
        32, "hnsw: links per word, twice as many in the lowest layer.", low=2, high=256, only="kind=hnsw"
    )
    ef_construction: int = option(
        100, "hnsw: candidates examined when choosing a word's links.", low=1, high=10**5, only="kind=hnsw"
    )
    lists: int = option(
        0, "ivf-pq: number of lists; 0 uses 4 x sqrt(words).", low=0, high=1 << 20, low_is="by the rows",
        only="kind=ivf-pq",
    )  # fmt: skip
    dsub: int = option(4, "ivf-pq: largest number of coordinates per byte.", low=1, high=1024, only="kind=ivf-pq")
    seed: int = seed_option("Random seed of the drawn words and of ivf-pq's training.")
    threads: int = search_threads_option()
