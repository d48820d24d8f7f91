"""Suite `index`: approximate search beside exact search and beside faiss used directly.

    python benchmarks/run.py --suite index --data vectors.bin --rows 400000 --queries 1000 --rounds 3

For each kind of index the suite builds it and finds the 10 nearest of `--queries` rows. It searches exactly, through
the index at a recall of 0.95, and with faiss itself at the same setting. faiss does not re-rank the results of product
codes. Building is given in seconds, memory beyond that of the vectors, and size of the file.

The vectors are those of `--data`. If there are fewer than `--rows`, the others are drawn between a vector and one of
its 10 nearest. They are about as hard to search. Each kind is a process of its own. The three searches take turns in
it, and the best of three passes counts.
"""

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from library import least
from measure import HERE, measure_json
from record import Run

KINDS = ("hnsw", "ivf-pq", "flat")
_NEAREST, _RECALL, _REPEAT = 10, 0.95, 3


def enlarged(matrix: Any, rows: int, seed: int) -> Any:
    """(rows, dim) float32: `matrix`, or its first rows, and behind it rows between two of it."""
    from wv_cli.search.neighbours import Neighbours

    if len(matrix) >= rows:
        return np.ascontiguousarray(matrix[:rows])
    random = np.random.default_rng(seed)
    exact, parts, missing = Neighbours(matrix), [matrix], rows - len(matrix)
    near = exact.nearest([[row] for row in range(len(matrix))], _NEAREST)[0]
    first = random.integers(0, len(matrix), missing)
    second = near[first, random.integers(0, _NEAREST, missing)]
    share = random.uniform(0.2, 0.8, (missing, 1)).astype(np.float32)
    parts.append(share * matrix[first] + (1 - share) * matrix[second])
    return np.concatenate(parts)


def _measured(job: Run) -> Run:
    from wv_cli.formats.index_file import save_index
    from wv_cli.search.approximate import Approximate, tune
    from wv_cli.search.config import IndexConfig
    from wv_cli.search.indexes import build, use_threads
    from wv_cli.search.neighbours import Neighbours
    from wv_cli.words import WordList

    exact = Neighbours(np.load(job["vectors"], mmap_mode="r"), threads=job["threads"])
    config = IndexConfig(kind=job["kind"], threads=job["threads"], seed=job["seed"], recall=_RECALL)
    exact.unit_rows(np.arange(len(exact)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    made: list[Any] = []
    building = record.timed(lambda: made.append(build(exact, config)))
    building["more_peak_mb"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    (index,) = made
    search = Approximate(index, exact, threads=job["threads"])
    tune(search, exact, _NEAREST, recall=_RECALL, queries=job["queries"], seed=job["seed"])
    with tempfile.TemporaryDirectory() as folder:
        words = WordList.of([b"%d" % row for row in range(len(exact))])
        building["file_mb"] = save_index(str(Path(folder) / "index"), index, words, search.factor) / 1e6
    drawn = np.sort(np.random.default_rng(job["seed"] + 1).choice(len(exact), job["queries"], replace=False))
    asked = [[int(row)] for row in drawn]
    truth = exact.nearest(asked, _NEAREST)[1][:, -1:]
    queries = exact.unit_rows(drawn)

    def by_faiss() -> Any:
        use_threads(job["threads"])
        return index.search(queries, _NEAREST + 1)[1]

    unit = exact.unit_rows(by_faiss().reshape(-1)).reshape(len(drawn), _NEAREST + 1, exact.dim)
    cosines = np.einsum("qkd,qd->qk", unit, queries)
    own = by_faiss() == drawn[:, None]
    right = ((cosines >= truth - 1e-5) & ~own).sum() / (_NEAREST * len(drawn))
    ways = {
        "wv, exact": (lambda: exact.nearest(asked, _NEAREST), 1.0),
        "wv, index": (
            lambda: search.nearest(asked, _NEAREST),
            float((search.nearest(asked, _NEAREST)[1] >= truth - 1e-5).mean()),
        ),
        "faiss itself": (by_faiss, min(1.0, float(right))),
    }
    found = {}
    for name, (work, recall) in ways.items():
        times = least(work, _REPEAT)
        found[name] = {
            **times,
            "queries_per_second": len(drawn) / times["wall_seconds"],
            "queries_per_cpu_second": len(drawn) / times["cpu_seconds"],
            "recall": recall,
        }
    return {"building": building, "searching": found, "searched": search.searched}


def index(options: Any, result: Run, say: Any) -> bool:
    from wv_cli.formats import load

    given = record.data(options)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        matrix = load(given).matrix
        vectors = Path(folder) / "vectors.npy"
        large = enlarged(matrix, options.rows, options.seed)
        np.save(vectors, large)
        result["data"] = {
            "inputs": record.inputs(given),
            "rows": len(large),
            "dim": large.shape[1],
            "rows_between_two": max(0, len(large) - len(matrix)),
            "queries": options.queries,
        }
        for number, seed in record.rounds(options):
            for kind in KINDS:
                job = {"vectors": str(vectors), "kind": kind, "queries": options.queries, "threads": options.threads}
                found = measure_json([sys.executable, str(HERE / "indexes.py"), json.dumps({**job, "seed": seed})])
                runs.append({"task": f"{kind}, building", "program": "wv index", "round": number, **found["building"]})
                for program, figures in found["searching"].items():
                    runs.append({"task": f"{kind}, {_NEAREST} nearest", "program": program, "round": number, **figures})
                    rate = f"{figures['queries_per_second']:,.0f} queries/s, recall {figures['recall']:.3f}"
                    say(f"round {number} {kind}, {program}: {rate}")
                say(f"round {number} {kind}: {found['searched']}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True


if __name__ == "__main__":
    print(json.dumps(_measured(json.loads(sys.argv[1]))))
