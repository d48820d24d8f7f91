"""Suite `threads`: the gain of two threads, and of two independent processes on the same two cores.

    python benchmarks/run.py wiki8.txt --suite threads --models skipgram-ns,cbow-ns,skipgram-hs --rounds 3

Words per second are of training alone, without reading and writing. The suite times one thread, two processes with one
thread each (their sum), and one process with two threads. The two processes share nothing, so their gain is what the
machine itself allows. Cores that share caches, memory or one physical core give any program less than twice as much.
The three take turns, and there are three runs in a row of two threads.

A virtual machine moves between cores that are near each other and cores that are far. Latency is measured before and
after each run, and `cores` is the result. A row is the median of its `runs`.
"""

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import train
from measure import core_latency, measure, medians
from record import Run

# Nanoseconds for a cache line to change core: cores that share a cache need less, others more.
_NEAR = 90
_TRIES = 3  # of two threads in a round


def _cores(before: int | None, after: int | None) -> str:
    if before is None or after is None:
        return "unknown"
    near = [latency <= _NEAR for latency in (before, after)]
    return "near" if all(near) else "changing" if any(near) else "far"


def _rate(job: train.Job, peers: str) -> float:
    """Words per second."""
    rate: float = json.loads(measure([*train.command("wv", job, peers), "--json"]).stdout)["words_per_second"]
    return rate


def threads(options: Any, result: Run, say: Any) -> bool:
    """Fills result["runs"] and result["summary"]."""
    result["corpus"] = train.describe(Path(options.corpus))
    with tempfile.TemporaryDirectory(dir=options.scratch) as name, ThreadPoolExecutor(2) as both:
        outputs = [Path(name) / f"{number}.bin" for number in range(2)]
        for number in range(1, options.rounds + 1):
            for model in options.models:
                job = train.asked(options, model, options.seed + number - 1, outputs[0])
                one = replace(job, threads=1)
                alone = _rate(one, options.peers)
                other = replace(one, output=str(outputs[1]))
                apart = sum(both.map(_rate, [one, other], [options.peers] * 2))
                for _ in range(_TRIES):
                    before = core_latency()
                    together = _rate(replace(job, threads=2), options.peers)
                    after = core_latency()
                    run = {
                        "round": number,
                        "task": model,
                        "cores": _cores(before, after),
                        "k_words_per_second": alone / 1e3,
                        "two_processes": apart / alone,
                        "two_threads": together / alone,
                        "threads_of_processes": together / apart,
                        "ns_before": before,
                        "ns_after": after,
                    }
                    result["runs"].append(run)
                    say(f"round {number} {model}: {run}")
    of_classes = sorted(result["runs"], key=lambda run: (options.models.index(run["task"]), run["cores"] != "near"))
    rows = medians(of_classes, "task", "cores")
    for row in rows:
        row["runs"] = sum((run["task"], run["cores"]) == (row["task"], row["cores"]) for run in result["runs"])
    result["summary"] = rows
    return True
