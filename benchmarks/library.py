"""The child process that times one piece of a library from inside: `library.py TASK PROGRAM JSON`.

Prints {"cpu_seconds", "wall_seconds", ...} of the least of `repeat` runs, imports and preparation left out. One process
per task and program, so that no cache or heap of one helps another.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Job = dict[str, Any]


def least(work: Callable[[], object], repeat: int) -> dict[str, float]:
    best = {"cpu_seconds": float("inf"), "wall_seconds": float("inf")}
    for _ in range(repeat):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        used = {"cpu_seconds": time.process_time() - cpu, "wall_seconds": time.perf_counter() - wall}
        best = min(best, used, key=lambda times: times["cpu_seconds"])
    return best


def load_wv(job: Job) -> dict[str, float]:
    from wv_cli.vectors import formats

    # The sum touches every number: a file that is only mapped into memory has not been read yet.
    return least(lambda: formats.load(job["file"]).matrix.sum(), job["repeat"])


def load_gensim(job: Job) -> dict[str, float]:
    from gensim.models import KeyedVectors

    binary = job["file"].endswith(".bin")
    return least(lambda: KeyedVectors.load_word2vec_format(job["file"], binary=binary).vectors.sum(), job["repeat"])


def save_wv(job: Job) -> dict[str, float]:
    from wv_cli.vectors import formats

    vectors = formats.load(job["source"])
    return least(lambda: formats.save(job["file"], vectors), job["repeat"])


def save_gensim(job: Job) -> dict[str, float]:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(job["source"], binary=True)
    binary = job["file"].endswith(".bin")
    return least(lambda: vectors.save_word2vec_format(job["file"], binary=binary), job["repeat"])


def search_wv(job: Job) -> dict[str, float]:
    from wv_cli.vectors import formats
    from wv_cli.vectors.neighbors.exact import Neighbors

    index = Neighbors(formats.load(job["source"]).matrix, threads=job["threads"])
    queries = np.arange(job["queries"])
    return least(
        lambda: index.top_k(index.unit_rows(queries), 10, exclude=[[query] for query in queries.tolist()]),
        job["repeat"],
    )


def search_numpy(job: Job) -> dict[str, float]:
    """A matrix product and a partial sort over batches of 256 queries: what a careful NumPy user writes."""
    matrix = np.fromfile(job["matrix"], np.float32).reshape(-1, job["dim"])
    unit = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)

    return least(lambda: _nearest(unit, job["queries"]), job["repeat"])


def _nearest(unit: np.ndarray, queries: int) -> None:
    for start in range(0, queries, 256):
        rows = np.arange(start, min(start + 256, queries))
        scores = unit[rows] @ unit.T
        scores[np.arange(len(rows)), rows] = -1
        best = np.argpartition(-scores, 10, axis=1)[:, :10]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        np.take_along_axis(best, order, axis=1)


def search_gensim(job: Job) -> dict[str, float]:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(job["source"], binary=True)
    vectors.fill_norms()
    words = vectors.index_to_key[: job["queries"]]

    def work() -> None:
        for word in words:
            vectors.most_similar(word, topn=10)

    return least(work, job["repeat"])


def search_gensim_batch(job: Job) -> dict[str, float]:
    """The same from gensim's own normalized vectors, all queries as one product: what its one-by-one calls cost."""
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(job["source"], binary=True)
    unit = vectors.get_normed_vectors()
    return least(lambda: _nearest(unit, job["queries"]), job["repeat"])


VECTORS = (load_wv, load_gensim, save_wv, save_gensim)
SEARCH = (search_wv, search_numpy, search_gensim, search_gensim_batch)
TASKS = {function.__name__: function for function in (*VECTORS, *SEARCH)}

if __name__ == "__main__":
    print(json.dumps(TASKS[f"{sys.argv[1]}_{sys.argv[2]}"](json.loads(sys.argv[3]))))
