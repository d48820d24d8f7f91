"""Suite `ratings`: numbers for texts, learned from labels that are numbers, by Spearman's correlation.

    python benchmarks/run.py --suite ratings --data FOLDER --few 200 --few 1000 --rounds 3 --peers PYTHON

FOLDER has `NAME.train.txt` and `NAME.test.txt` of every set: lines of `__label__3` and text, words and punctuation
separated by blanks. With --few, programs also learn from so many random lines. The programs of `wv` and fastText are
classifiers, which answer with the expected number: the mean of all labels, weighted by their probabilities.
`wv-pooled` and `wv-quality` have their defaults, as in suite `judging`. `ridge-tfidf` is ridge regression on tf-idf
of words and word pairs, `ridge-vectors` on wv/small's vectors of sentences. fastText gets the best of six settings,
and each regression the best of six penalties, on the last tenth of the training lines. PYTHON has fasttext and
scikit-learn.
"""

import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import judging
import record
from measure import HERE, WV, median
from record import Run

# Learning rate, passes and longest word n-gram of fastText; penalties of the regressions.
SETTINGS: dict[str, Sequence[object]] = {
    "fasttext": ((0.1, 10, 1), (0.1, 25, 2), (0.5, 5, 1), *judging.GRID),
    "ridge-tfidf": (0.03, 0.1, 0.3, 1, 3, 10),
    "ridge-vectors": (0.03, 0.1, 1, 10, 100, 1000),
}


def ratings(options: Any, result: Run, say: Any) -> bool:
    folder = options.data[0] if len(options.data) == 1 else None
    if folder is None or not folder.is_dir():
        sys.exit("--suite ratings needs one --data FOLDER")
    files = sorted(folder.glob("*.train.txt"))
    result["data"] = record.inputs(*files, *(judging.test_of(file) for file in files))
    programs = [*judging.OURS, *(SETTINGS if options.peers != sys.executable else ())]
    runs: list[Run] = result["runs"]
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        scratch = Path(name)
        for file in files:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            for count in (0, *(few for few in options.few if few < len(lines))):
                for number, seed in record.rounds(options):
                    chosen = lines if not count else random.Random(seed).sample(lines, count)
                    train = judging.write(scratch / "train.txt", chosen)
                    for program in programs:
                        run = {"set": file.name.split(".")[0], "labels": count or len(lines), "few": count}
                        run |= {"program": program, "round": number, "seed": seed}
                        run |= rate(program, options, seed, train, judging.test_of(file))
                        runs.append(run)
                        say(f"{run}")
    result["summary"] = summary(runs)
    return True


def rate(program: str, options: Any, seed: int, train: Path, test: Path) -> Run:
    """Scores of one program, and its setting."""
    if program in judging.OURS:
        return score(ask_wv(program, options, seed, train, test), test)
    lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
    held = max(len(lines) // 10, 1)
    part = judging.write(train.with_name("part.txt"), lines[:-held])
    valid = judging.write(train.with_name("valid.txt"), lines[-held:])
    scores = {
        setting: score(ask_peer(program, options, seed, setting, part, valid), valid)["spearman"]
        for setting in SETTINGS[program]
    }
    setting = max(scores, key=lambda each: scores[each])
    return {**score(ask_peer(program, options, seed, setting, train, test), test), "setting": setting}


def ask_wv(program: str, options: Any, seed: int, train: Path, test: Path) -> list[float]:
    model, texts = train.with_name("model.bin"), plain(test, train.with_name("texts.txt"))
    common: list[object] = ["--threads", options.threads, "--seed", seed, "--overwrite", "-q", "--no-meta"]
    record.used([*WV, "train", train, "-o", model, *judging.OURS[program], *common])
    _, text = record.used([*WV, "predict", model, texts, "--number"])
    return [float(line or "nan") for line in text.splitlines()]


def ask_peer(program: str, options: Any, seed: int, setting: object, train: Path, test: Path) -> list[float]:
    job = {"train": str(train), "setting": setting, "seed": seed, "threads": options.threads}
    job["texts"] = str(plain(test, train.with_name("texts.txt")))
    if program == "ridge-vectors":
        job["vectors"] = str(judging.vectors(train, train.with_name("train.npy")))
        job["texts"] = str(judging.vectors(test, train.with_name("texts.npy")))
    _, text = record.used([options.peers, HERE / "peer_ratings.py", program, json.dumps(job)])
    return [float(line) for line in text.splitlines()]


def plain(lines: Path, path: Path) -> Path:
    """The same lines without labels."""
    return judging.write(path, [judging.text_of(line) + "\n" for line in lines.read_text("utf-8").splitlines()])


def score(found: Sequence[float], test: Path) -> Run:
    """A line without an answer has the mean of the answers."""
    import numpy as np

    from wv_cli.vectors.correlation import spearman

    lines = test.read_text(encoding="utf-8").splitlines()
    gold = np.array([float(line.split()[0].removeprefix(judging.LABEL)) for line in lines])
    answers = np.array(found)
    answers = np.where(np.isnan(answers), np.nanmean(answers), answers)
    difference = answers - gold
    return {
        "spearman": spearman(gold, answers),
        "mean_absolute_error": float(np.abs(difference).mean()),
        "mean_squared_error": float(np.square(difference).mean()),
    }


def summary(runs: Sequence[Run]) -> list[Run]:
    """A row for each program, set and number of labels: means over the rounds, and the range of correlations."""
    rows: list[Run] = []
    for key in dict.fromkeys((run["set"], run["few"], run["program"]) for run in runs):
        own = [run for run in runs if (run["set"], run["few"], run["program"]) == key]
        row: Run = {"set": key[0], "program": key[2], "labels": f"{int(median([run['labels'] for run in own])):,}"}
        for name in ("spearman", "mean_absolute_error", "mean_squared_error"):
            row[name] = sum(run[name] for run in own) / len(own)
        found = sorted(run["spearman"] for run in own)
        rows.append({**row, "lowest": found[0], "highest": found[-1]})
    return rows
