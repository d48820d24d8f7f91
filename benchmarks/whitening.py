"""Suite `whitening`: whitening `--rows` x `--dim` vectors in memory and from file to file, beside NumPy.

    python benchmarks/run.py --suite whitening --rows 1000000 --dim 300 --rounds 3

NumPy's rows are the obvious code. The moments are X.T @ X without the mean, in float32 and in float64. Applying is one
product, and the whole job adds np.load and np.save. Each run is a process of its own. Work in memory is timed inside
it, whole jobs from outside.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV, measure_json
from record import Run

PIECES = {"moments": ("wv", "numpy float32", "numpy float64"), "apply": ("wv", "numpy float32")}


def _numpy_transform(x: Any, kind: type) -> tuple[Any, Any]:
    """(mean, matrix) by the textbook, all in `kind`."""
    mean = x.mean(axis=0, dtype=kind)
    scatter = x.astype(kind, copy=False).T @ x.astype(kind, copy=False)
    values, vectors = np.linalg.eigh(scatter / len(x) - np.outer(mean, mean))
    return mean, (vectors / np.sqrt(values)).astype(np.float32)


def _piece(task: str, program: str, path: str) -> Run:
    from wv_cli.transforms.config import WhitenConfig
    from wv_cli.transforms.moments import Moments
    from wv_cli.transforms.whiten import fit

    x = np.load(path)
    kind = np.float64 if program.endswith("64") else np.float32
    if task == "moments" and program == "wv":
        return record.timed(lambda: Moments.none(x.shape[1]).with_rows(x))
    if task == "moments":
        # The change of type is part of the work: the rows are float32.
        return record.timed(lambda: x.astype(kind, copy=False).T @ x.astype(kind, copy=False))
    transform = fit(Moments.none(x.shape[1]).with_rows(x), WhitenConfig())
    if program == "wv":
        return record.timed(lambda: transform.apply(x))
    mean, matrix = transform.mean.astype(np.float32), transform.matrix.astype(np.float32)
    return record.timed(lambda: (x - mean) @ matrix)


def _whole(source: str, target: str) -> None:
    x = np.load(source)
    mean, matrix = _numpy_transform(x, np.float64)
    np.save(target, (x - mean.astype(np.float32)) @ matrix)


def whitening(options: Any, result: Run, say: Any) -> bool:
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        source, text, target = (Path(name) / file for file in ("source.npy", "source.vec", "target.npy"))
        random = np.random.default_rng(options.seed)
        mix = random.normal(0, 1 / np.sqrt(options.dim), (options.dim, options.dim)).astype(np.float32)
        rows = np.lib.format.open_memmap(source, "w+", np.float32, (options.rows, options.dim))
        for first in range(0, options.rows, 50_000):
            part = rows[first : first + 50_000]
            part[:] = random.standard_normal(part.shape, np.float32) @ mix + 0.1
        rows.flush()
        del rows
        result["data"] = record.inputs(source)
        record.used([*WV, "convert", source, text, "-q"])
        child = [sys.executable, HERE / "whitening.py"]
        jobs = {
            "wv": [*WV, "whiten", source, "-o", target, "-q"],
            "numpy float64": [*child, json.dumps({"source": str(source), "target": str(target)})],
        }
        for number, _ in record.rounds(options):
            for task, programs in PIECES.items():
                for program in programs:
                    job = {"task": task, "program": program, "source": str(source)}
                    times = measure_json([*map(str, child), json.dumps(job)])
                    runs.append({"task": f"{task}, in memory", "program": program, "round": number, **times})
            for program, argv in jobs.items():
                times = record.used(argv)[0]
                runs.append({"task": ".npy to .npy", "program": program, "round": number, **times})
                target.unlink()
            times = record.used([*WV, "whiten", text, "-o", target, "-q"])[0]
            runs.append({"task": ".vec to .npy", "program": "wv", "round": number, **times})
            target.unlink()
            say(f"round {number}: {[(run['task'], round(run['cpu_seconds'], 2)) for run in runs[-len(jobs) - 6 :]]}")
    result["rows"], result["dim"], result["runs"] = options.rows, options.dim, runs
    result["summary"] = record.summary(runs)
    return True


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    if "task" in asked:
        print(json.dumps(_piece(asked["task"], asked["program"], asked["source"])))
    else:
        _whole(asked["source"], asked["target"])
