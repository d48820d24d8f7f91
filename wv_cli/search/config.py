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
        "hnsw: a graph of near words (Malkov & Yashunin 2020), quickest; ivf-pq: lists of product codes (Jegou et al. "
        "2011), smallest; flat: every row, exact.",
    )
    recall: float = option(
        0.95,
        "Share of a word's nearest that must be found: searched as little as that allows.",
        above=0,
        high=1,
        only="kind=hnsw|ivf-pq",
    )
    neighbours: int = option(10, "How many nearest words of a query are to be found.", low=1, high=1000)
    queries: int = option(1000, "Words drawn to measure the recall.", low=1, high=10**6)
    links: int = option(32, "hnsw: links of a word, twice as many at the bottom.", low=2, high=256, only="kind=hnsw")
    ef_construction: int = option(
        100, "hnsw: words looked at to choose a word's links.", low=1, high=10**5, only="kind=hnsw"
    )
    lists: int = option(
        0, "ivf-pq: lists of rows; 0: 4 x the root of their number.", low=0, high=1 << 20, low_is="by the rows",
        only="kind=ivf-pq",
    )  # fmt: skip
    dsub: int = option(4, "ivf-pq: coordinates that a byte stands for, at most.", low=1, high=1024, only="kind=ivf-pq")
    seed: int = seed_option("Of the words drawn, and of what ivf-pq learns.")
    threads: int = search_threads_option()
