"""Suites `vectors` and `search`: pieces of the library against the same piece of a peer, timed in process."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, measure_json

REPEAT = 3


def _timed(options: Any, task: str, program: str, job: dict[str, Any]) -> dict[str, float]:
    """One run in a fresh process."""
    python = options.peers if program.startswith("gensim") else sys.executable
    return measure_json([python, str(HERE / "library.py"), task, program, json.dumps({"repeat": REPEAT, **job})])


def _make_vectors(options: Any, folder: Path) -> dict[str, Any]:
    """Normal random rows as word2vec binary (`source`) and as a bare matrix."""
    import numpy as np

    matrix = np.random.default_rng(1).normal(0, 0.3, (options.rows, options.dim)).astype(np.float32)
    source = folder / "source.bin"
    with source.open("wb") as stream:
        stream.write(b"%d %d\n" % matrix.shape)
        for number, row in enumerate(matrix):
            stream.write(b"word%d " % number + row.tobytes() + b"\n")
    matrix.tofile(folder / "source.f32")
    return {"source": str(source), "matrix": str(folder / "source.f32"), "dim": options.dim}


def vectors(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Suite `vectors`: loading and saving `--rows` x `--dim` random vectors as word2vec text and binary.

        python benchmarks/run.py --suite vectors --rounds 3

    Times are in process. `wv` reads and writes `.vec` with two threads if the machine has them; CPU seconds are of
    both.
    """
    sizes: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        made = _make_vectors(options, folder)
        pieces = [
            (task, suffix, program)
            for task in ("save", "load")
            for suffix in ("vec", "bin")
            for program in ("wv", "gensim")
            if program in options.programs
        ]
        for number in range(1, options.rounds + 1):
            for task, suffix, program in pieces:
                file = folder / f"wv.{suffix}" if task == "load" else folder / f"{program}.{suffix}"
                times = _timed(options, task, program, {**made, "file": str(file)})
                sizes[f"{task} .{suffix}"] = file.stat().st_size / 1e6
                result["runs"].append({"round": number, "task": f"{task} .{suffix}", "program": program, **times})
                say(f"{task} .{suffix} {program}: {sizes[f'{task} .{suffix}'] / times['cpu_seconds']:.0f} MB/s")
    result["data"] = {"rows": options.rows, "dim": options.dim, "numbers": "normal, NumPy's default_rng(1)"}
    result["summary"] = record.summary(result["runs"])
    for row in result["summary"]:
        row["mb_per_cpu_second"] = sizes[row["task"]] / row["cpu_seconds"]
    return True


def search(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Suite `search`: the 10 exact nearest neighbors of `--queries` words among `--rows` vectors.

        python benchmarks/run.py --suite search --rows 400000 --dim 300 --queries 256 --rounds 3

    Times are in process. gensim answers one query a call. `gensim_batch` is one product of its own normalized matrix
    and all queries.
    """
    programs = ["wv", "numpy", *(("gensim", "gensim_batch") if "gensim" in options.programs else ())]
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        made = _make_vectors(options, Path(name))
        job = {**made, "queries": options.queries, "threads": options.threads}
        for number in range(1, options.rounds + 1):
            for program in programs:
                times = _timed(options, "search", program, job)
                result["runs"].append({"round": number, "task": "10 nearest", "program": program, **times})
                say(f"search {program}: {options.queries / times['wall_seconds']:.0f} queries/s")
    result["data"] = {"rows": options.rows, "dim": options.dim, "queries": options.queries}
    result["summary"] = record.summary(result["runs"])
    for row in result["summary"]:
        row["queries_per_cpu_second"] = options.queries / row["cpu_seconds"]
    return True
