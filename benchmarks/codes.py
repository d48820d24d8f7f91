"""Suite `codes`: Hamming search over packed codes beside exact search of dense vectors.

    python benchmarks/run.py --suite codes --rows 200000 --dim 300 --rounds 3

Two figures are taken: the rate at which one query scans `--codes` codes, and the 10 nearest neighbors of `--queries`
rows among `--rows`. Queries come one at a time and in batches. Codes are random bits and vectors are normal, since a
scan does the same work for any bits. Each run is a process of its own and reports the best of three passes.
"""

import json
import sys
from typing import Any

import numpy as np
import record
from library import least
from measure import HERE, measure_json
from record import Run

SCANNED, SEARCHED = (64, 128, 256, 512, 1024), (64, 128)
BATCHES = {"one at a time": 1, "batches of 256": 256}
_REPEAT, _SCANS = 3, 20


def _codes(rows: int, bits: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    return random.integers(0, 1 << 64, (rows, bits // 64), np.uint64)


def _scan(job: Run) -> Run:
    from wv_cli.vectors.neighbors.codes import CodeNeighbors

    codes = _codes(job["rows"], job["bits"], job["seed"])
    index = CodeNeighbors(job["bits"], 0, codes, threads=job["threads"])
    index.top_k(codes[:1], 10)  # packs the codes
    times = least(lambda: [index.top_k(codes[row : row + 1], 10) for row in range(_SCANS)], _REPEAT)
    size = _SCANS * codes.nbytes / 1e9
    return {
        **times,
        "gb_per_second": size / times["wall_seconds"],
        "queries_per_second": _SCANS / times["wall_seconds"],
    }


def _search(job: Run) -> Run:
    from wv_cli.vectors.neighbors.codes import CodeNeighbors
    from wv_cli.vectors.neighbors.exact import Neighbors

    asked, batch = job["queries"], job["batch"]
    if job["bits"]:
        rows = _codes(job["rows"], job["bits"], job["seed"])
        index: Any = CodeNeighbors(job["bits"], 0, rows, threads=job["threads"])
    else:
        random = np.random.default_rng(job["seed"])
        index = Neighbors(random.standard_normal((job["rows"], job["dim"]), np.float32), threads=job["threads"])
        rows = index.unit_rows(np.arange(max(asked, 1)))
    index.top_k(rows[:1], 10)
    times = least(
        lambda: [index.top_k(rows[at : min(at + batch, asked)], 10) for at in range(0, asked, batch)], _REPEAT
    )
    return {**times, "queries_per_second": asked / times["wall_seconds"]}


def codes(options: Any, result: Run, say: Any) -> bool:
    runs: list[Run] = []
    child = [sys.executable, str(HERE / "codes.py")]

    def run(kind: str, task: str, program: str, number: int, job: Run) -> None:
        job = {"threads": options.threads, "seed": options.seed, **job}
        figures = measure_json([*child, kind, json.dumps(job)])
        runs.append({"task": task, "program": program, "round": number, **figures})
        say(f"round {number} {task}, {program}: {figures['queries_per_second']:.0f} queries/s")

    for number, _ in record.rounds(options):
        for bits in SCANNED:
            run(
                "scan",
                f"one query over {options.codes:,}",
                f"{bits} bits",
                number,
                {"rows": options.codes, "bits": bits},
            )
        for how, batch in BATCHES.items():
            for bits in (0, *SEARCHED):
                # A batch is only one where there are enough queries; the fast ones need more to be timed at all.
                queries = options.queries if bits else max(batch, options.queries // 10)
                job = {"rows": options.rows, "dim": options.dim, "bits": bits, "batch": batch, "queries": queries}
                name = f"{bits} bits" if bits else f"dense {options.dim}"
                run("search", f"{options.rows:,} rows, {how}", name, number, job)
    result["rows"], result["dim"], result["codes"], result["queries"] = (
        options.rows, options.dim, options.codes, options.queries,
    )  # fmt: skip
    result["data"] = f"random bits and normal vectors, numpy default_rng({options.seed})"
    result["runs"], result["summary"] = runs, record.summary(runs)
    for row in result["summary"]:
        dense = [other for other in result["summary"] if other["task"] == row["task"] and "dense" in other["program"]]
        if dense:
            row["x_dense"] = row["queries_per_second"] / dense[0]["queries_per_second"]
    return True


if __name__ == "__main__":
    print(json.dumps({"scan": _scan, "search": _search}[sys.argv[1]](json.loads(sys.argv[2]))))
