"""Scores the lines of a text by a language model, in one process on one core: what suite `lm` times and compares.

    python benchmarks/lm_scores.py TASK MODEL TEXT [SCORES.npy]

TASK is wv (lines read and scored together), kenlm (Model.score for each line) or kenlm-words (Model.full_scores: each
word's score). Prints one JSON object; SCORES gets log10 p of every event where the task knows them.
"""

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np


def _wv(model: str, text: str) -> tuple[float, Iterable[float], bool]:
    from wv_cli.lm.files import load
    from wv_cli.lm.scoring import Scorer
    from wv_cli.text.source import Source

    loaded = load(model)
    _ = loaded.scorer
    begin = time.process_time()
    parts = [part.scores for part in Scorer(loaded).read(Source([text]))]
    return time.process_time() - begin, np.concatenate(parts), True


def _kenlm(model: str, text: str, *, words: bool) -> tuple[float, Iterable[float], bool]:
    import kenlm

    loaded = kenlm.Model(model)
    lines = Path(text).read_text(encoding="utf-8").splitlines()
    begin = time.process_time()
    if words:
        scores = [score for line in lines for score, _, _ in loaded.full_scores(line)]
    else:
        scores = [loaded.score(line) for line in lines]
    return time.process_time() - begin, scores, words


def main() -> None:
    task, model, text, *out = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    runs = [_wv(model, text) if task == "wv" else _kenlm(model, text, words=task == "kenlm-words") for _ in range(3)]
    seconds, (_, scores, each) = min(run[0] for run in runs), runs[0]
    scores = np.asarray(scores, np.float64)
    if out and each:
        np.save(out[0], scores)
    print(json.dumps({"cpu_seconds": seconds, "log10": float(scores.sum())}))


if __name__ == "__main__":
    main()
