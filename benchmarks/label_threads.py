"""Suite `classifier-threads`: the gain of two threads in training a classifier, and P@1.

    python benchmarks/run.py cooking.txt --suite classifier-threads --epochs 25 --rounds 3 --settings softmax,ova

Words per second are of the training alone. The last `--validation` lines are held out, for P@1 in percent. The latency
from core to core is measured before each training of two threads. Seeds go up with the rounds. With softmax an example
changes every label's row, so each thread has its own copy of these rows (wv_cli/models/label_updates.py).
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import classifier
import record
import train
from measure import core_latency, measure
from record import Run


def classifier_threads(options: Any, result: Run, say: Any) -> bool:
    result["corpus"] = train.describe(Path(options.corpus))
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        learnt, held_out, _ = classifier.split(options, Path(folder))
        model = Path(folder) / "model.bin"
        for number, seed in record.rounds(options):
            for name in options.settings:
                for threads in (1, 2):
                    own = argparse.Namespace(**{**vars(options), "threads": threads})
                    argv = classifier.train_command(classifier.SETTINGS[name], own, learnt, model, seed)
                    run: Run = {"round": number, "seed": seed, "task": name, "program": f"{threads} threads"}
                    run["core_to_core_ns"] = core_latency() if threads > 1 else None
                    facts = json.loads(measure([*argv, "--json"]).stdout)
                    run["k_words_per_second"] = facts["words_per_second"] / 1e3
                    run["P@1"] = round(100 * classifier.precision("wv", own, model, held_out), 2)
                    result["runs"].append(run)
                    say(f"{name}: {run}")
    result["summary"] = record.summary(result["runs"])
    return True
