"""What a program used: CPU seconds, wall seconds and peak memory of one child process and all it waited for.

CPU seconds are user + system time from wait4(2), so waiting for a busy machine does not count; wall time beside them
shows what threads bought.
"""

import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
WV = [sys.executable, "-P", "-m", "wv_cli"]


class Failed(Exception):
    """A measured program did not exit with 0."""


@dataclass(frozen=True)
class Usage:
    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    stdout: str
    stderr: str


# A process of its own starts what is measured: the peak memory of a child is never said to be less than what its parent
# had when it started it, and this one has much when it has scored vectors.
_WAITING = """
import json, os, subprocess, sys, time
begin = time.monotonic()
child = subprocess.Popen(sys.argv[2:])
_, status, used = os.wait4(child.pid, 0)
figures = [used.ru_utime + used.ru_stime, time.monotonic() - begin, used.ru_maxrss / 1024]
os.write(int(sys.argv[1]), json.dumps([*figures, os.waitstatus_to_exitcode(status)]).encode())
"""


def measure(argv: list[str], stdin: int = subprocess.DEVNULL, cwd: str | None = None) -> Usage:
    """Runs argv to its end, in the folder `cwd`. Its messages are shown only when it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as used:
        waiting = [sys.executable, "-I", "-S", "-c", _WAITING, str(used.fileno()), *argv]
        files = {"stdin": stdin, "stdout": out, "stderr": err, "pass_fds": [used.fileno()], "cwd": cwd}
        subprocess.run(waiting, check=True, **files)  # type: ignore[call-overload]
        used.seek(0)
        *figures, code = json.loads(used.read())
        out.seek(0)
        err.seek(0)
        text, told = (stream.read().decode(errors="replace") for stream in (out, err))
        if code:
            message = f"{' '.join(argv)}\nexit code {code}\n{text[-2000:]}{told[-2000:]}"
            raise Failed(message)
    return Usage(*figures, text, told)


def measure_json(argv: list[str], cwd: str | None = None) -> Any:
    """Runs a child that measures itself and prints one JSON value last."""
    return json.loads(measure(argv, cwd=cwd).stdout.splitlines()[-1])


def _run_c(source: str, flags: Sequence[str], arguments: Sequence[object]) -> str | None:
    """What a C program of this folder prints; None without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        build = [compiler, "-O2", *flags, "-o", str(program), str(HERE / source)]
        if subprocess.run(build, check=False, capture_output=True).returncode:
            return None
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def core_latency() -> int | None:
    """Nanoseconds for a cache line to change core; None without a C compiler or with one core."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return None
    found = _run_c("pingpong.c", ["-pthread"], cores[:2])
    return None if found is None else int(found)


def machine_peak(flags: Sequence[str], *arguments: object) -> float | None:
    """The best of three runs of peak.c, compiled with `flags`; None without a C compiler."""
    found = [_run_c("peak.c", flags, arguments) for _ in range(3)]
    return max(map(float, filter(None, found)), default=None)


def machine() -> dict[str, Any]:
    """The machine, without its name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return {
        "processor": model,
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "kernel": platform.release(),
        "load_at_start": round(os.getloadavg()[0], 2),
    }


def versions(peers: str) -> dict[str, str]:
    """Ours (with the instruction set in use) and what the peers' Python has installed."""
    names = [
        "numpy",
        "gensim",
        "fasttext",
        "word2vec",
        "kenlm",
        "datatrove",
        "ray",
        "pyspark",
        "dask",
        "s3fs",
        "text-dedup",
        "datasketch",
        "rensa",
        "fasttext-predict",
        "orjson",
        "sentencepiece",
        "scipy",
        "sentence-transformers",
        "torch",
        "model2vec",
        "scikit-learn",
    ]
    if peers == sys.executable:
        found = {name: _version(name) for name in names}
    else:
        found = measure_json([peers, __file__, "versions", *names])
    ours = measure([*WV, "--version"]).stdout.strip()
    return {"wv": ours, "python": platform.python_version(), **{k: v for k, v in found.items() if v}}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def header(suite: str, peers: str) -> dict[str, Any]:
    """What every raw result begins with. Paths in the command are cut to their last part."""
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    return {
        "suite": suite,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": " ".join(["python benchmarks/run.py", *words]),
        "machine": machine(),
        "versions": versions(peers),
        "runs": [],
    }


def median(values: list[float]) -> float:
    return statistics.median(values)


def medians(runs: list[dict[str, Any]], *keys: str) -> list[dict[str, Any]]:
    """One row for each combination of `keys`, in order of first sight: the median of every number of its runs."""
    groups: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for run in runs:
        groups.setdefault(tuple(run[key] for key in keys), []).append(run)
    rows = []
    for values, found in groups.items():
        row: dict[str, Any] = dict(zip(keys, values, strict=True))
        for name, value in found[0].items():
            if isinstance(value, int | float) and name not in (*keys, "round", "seed"):
                row[name] = median([run[name] for run in found])
        rows.append(row)
    return rows


if __name__ == "__main__" and sys.argv[1:2] == ["versions"]:
    print(json.dumps({name: _version(name) for name in sys.argv[2:]}))
