"""Suite `classifier-options`: which options make the best classifier, chosen on training lines and tested on held-out
ones.

    python benchmarks/run.py cooking.clean.txt --suite classifier-options --trials trials.txt --epochs 25 --rounds 3 \\
        --name classifier-search

A line of `--trials` holds options of `wv train --model supervised`. The line `fasttext` is fastText with the last
settings of its tutorial. The last `--validation` lines are held out, and a search sees none of them. In each round a
search trains on 3/4 of the other lines and scores the last quarter. Every round holds out another quarter and uses
another seed. With `--held-out`, trials train on all other lines and are scored on the held-out ones. Use it for the
few options that a search has chosen.

`gain` is the difference of P@1 to the baseline: the first options in a search, and fastText in a test on held-out
lines. The record is a log of trials: another run with the same `--name` adds the missing ones.
"""

import shlex
import tempfile
from pathlib import Path
from typing import Any

import classifier
import numpy as np
import record
from measure import WV, measure
from trials import run_missing

FASTTEXT = "fasttext"
TUTORIAL = classifier.Setting("softmax", 1.0, 2, 0)
FOLDS = 4


def split(options: Any, number: int, folder: Path) -> tuple[Path, Path]:
    """The files that round `number`, from 1, learns from and is scored on."""
    lines = Path(options.corpus).read_bytes().splitlines(keepends=True)
    learnt, scored = lines[: -options.validation], lines[-options.validation :]
    if not options.held_out:
        fold = (number - 1) % FOLDS
        scored = learnt[fold::FOLDS]
        learnt = [line for place, line in enumerate(learnt) if place % FOLDS != fold]
    paths = folder / "train.txt", folder / "valid.txt"
    for path, part in zip(paths, (learnt, scored), strict=True):
        path.write_bytes(b"".join(part))
    return paths


def trial(line: str, options: Any, seed: int, train: Path, valid: Path) -> dict[str, float]:
    """CPU seconds of the training and P@1."""
    model = train.with_name("model.bin")
    if line == FASTTEXT:
        used = classifier.train_model(FASTTEXT, TUTORIAL, options, train, model, seed)
    else:
        argv = [*WV, "train", str(train), "--model", "supervised", "-o", str(model), *shlex.split(line)]
        argv += ["--seed", str(seed), "--threads", str(options.threads), "-q", "--no-meta", "--overwrite"]
        used = measure(argv).cpu_seconds
    program = FASTTEXT if line == FASTTEXT else "wv"
    precision = classifier.precision(program, options, model, valid)
    return {"cpu_seconds": round(used, 2), "p_at_1": round(100 * precision, 2)}


def classifier_options(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Runs what the record lacks: every trial with every seed."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:

        def one(line: str, number: int, seed: int) -> dict[str, float]:
            return trial(line, options, seed, *split(options, number, Path(name)))

        run_missing(options, result, one, say)
    result["summary"] = summary(result["runs"])
    return True


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per text and trial, the best first: the median of times, the mean of P@1 and, round by round, how far it
    is above the first trial's of the same text: mean, least and most."""
    groups: dict[tuple[Any, ...], dict[tuple[int, int], dict[str, Any]]] = {}
    for run in runs:
        found = groups.setdefault((run["text"], run["held_out"], run["trial"]), {})
        found[run["round"], run["seed"]] = run
    first: dict[tuple[Any, ...], dict[tuple[int, int], dict[str, Any]]] = {}
    rows = []
    for (text, held_out, line), found in groups.items():
        base = first.setdefault((text, held_out), found)
        gains = [run["p_at_1"] - base[place]["p_at_1"] for place, run in found.items() if place in base]
        rows.append({
            "text": text, "held_out": held_out, "trial": line, "rounds": len(found),
            "cpu_seconds": float(np.median([run["cpu_seconds"] for run in found.values()])),
            "p_at_1": round(float(np.mean([run["p_at_1"] for run in found.values()])), 2),
            "gain": round(float(np.mean(gains)), 2) if gains else None,
            "least": round(min(gains), 2) if gains else None,
            "most": round(max(gains), 2) if gains else None,
        })  # fmt: skip
    return sorted(rows, key=lambda row: (row["text"], row["held_out"], -row["p_at_1"]))


def table(result: dict[str, Any]) -> list[str]:
    """Markdown: `gain` is over the text's first trial, which gains nothing."""
    cells = []
    for row in summary(result["runs"]):
        gain = "" if row["gain"] is None else f"{row['gain']:+.1f} ({row['least']:+.1f} to {row['most']:+.1f})"
        cells.append([
            row["text"], f"`{row['trial']}`", str(row["rounds"]), f"{row['cpu_seconds']:.1f}", f"{row['p_at_1']:.1f}",
            gain,
        ])  # fmt: skip
    return record.markdown(["text", "options", "rounds", "CPU s", "P@1, %", "gain"], cells)
