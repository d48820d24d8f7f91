"""Suites `text`, `vectors` and `search`: single pieces of the library against the same piece of a peer."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import HERE, measure, measure_json, median
from train import Job, command, describe

REPEAT = 3


def _timed(options: Any, task: str, program: str, job: dict[str, Any]) -> dict[str, float]:
    """Median over the rounds, each a fresh process."""
    python = options.peers if program in ("gensim",) else sys.executable
    argv = [python, str(HERE / "library.py"), task, program, json.dumps({"repeat": REPEAT, **job})]
    rounds = [measure_json(argv) for _ in range(options.rounds)]
    return {name: median([used[name] for used in rounds]) for name in rounds[0]}


def text(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Reading a text: MB of CPU time per second. `encode` also makes the stream of word ids."""
    corpus = Path(options.corpus)
    result["corpus"] = describe(corpus)
    megabytes = result["corpus"]["bytes"] / 1e6
    rows = []
    for task, program in (("encode", "wv"), ("count", "wv"), ("count", "gensim"), ("count", "word2vec")):
        if program not in options.programs:
            continue
        if program == "word2vec":
            job = Job(str(corpus), "skipgram", "ns", 1, 5, 5, 0, 5, 0.05, 1, 1, 1, False, "")
            argv = command("word2vec", job, options.peers)
            at = argv.index("-output")  # without an output it stops after the vocabulary
            used = min((measure(argv[:at] + argv[at + 2 :]) for _ in range(REPEAT)), key=lambda used: used.cpu_seconds)
            times = {"cpu_seconds": used.cpu_seconds, "wall_seconds": used.wall_seconds}
        else:
            times = _timed(options, task, program, {"corpus": str(corpus)})
        rows.append({"task": task, "program": program, **times, "mb_per_cpu_second": megabytes / times["cpu_seconds"]})
        say(f"{task} {program}: {rows[-1]['mb_per_cpu_second']:.0f} MB/s")
    result["summary"] = rows
    return True


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
    """Loading and saving vector files: MB of file per second of CPU time."""
    rows = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        made = _make_vectors(options, folder)
        for task in ("save", "load"):
            for suffix in ("vec", "bin"):
                for program in (program for program in ("wv", "gensim") if program in options.programs):
                    file = folder / f"wv.{suffix}" if task == "load" else folder / f"{program}.{suffix}"
                    times = _timed(options, task, program, {**made, "file": str(file)})
                    megabytes = file.stat().st_size / 1e6
                    row = {"task": f"{task} .{suffix}", "program": program, **times}
                    rows.append({**row, "mb_per_cpu_second": megabytes / times["cpu_seconds"]})
                    say(f"{task} .{suffix} {program}: {rows[-1]['mb_per_cpu_second']:.0f} MB/s")
    result["rows"], result["dim"], result["summary"] = options.rows, options.dim, rows
    return True


def search(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Exact ten nearest neighbours of many words."""
    rows = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        made = _make_vectors(options, Path(name))
        for program in (program for program in ("wv", "numpy", "gensim") if program in (*options.programs, "numpy")):
            job = {**made, "queries": options.queries, "threads": options.threads}
            times = _timed(options, "search", program, job)
            rows.append({"task": "10 nearest", "program": program, **times})
            rows[-1]["queries_per_second"] = options.queries / times["wall_seconds"]
            say(f"search {program}: {rows[-1]['queries_per_second']:.0f} queries/s")
    result["rows"], result["dim"], result["queries"], result["summary"] = (
        options.rows,
        options.dim,
        options.queries,
        rows,
    )
    return True


def table(result: dict[str, Any]) -> list[str]:
    """Markdown: the measured columns as they are named in the raw result."""
    columns = list(result["summary"][0]) if result["summary"] else []
    lines = ["| " + " | ".join(columns).replace("_", " ") + " |", "|---|---|" + "--:|" * (len(columns) - 2)]
    for row in result["summary"]:
        cells = [f"{row[name]:,.3g}" if isinstance(row[name], float) else f"{row[name]}" for name in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return lines
