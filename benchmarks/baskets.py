"""Suite `baskets`: vectors of films that people have rated, by `wv --whole-line` and by gensim with a window to match.

    python benchmarks/run.py --suite baskets --data ml-100k --epochs 10 --lr 0.05 --sample 1e-3 --rounds 3

ml-100k is MovieLens 100k as the package recbole has it (recbole/dataset_example/ml-100k). A line has the films of one
person in order of time, without the last. `genre` is the share, in %, of the 10 nearest films that have a genre in
common. `recall` is the share, in %, of persons whose last film is among the 20 unseen films nearest to the mean of the
10 before. gensim's window is as long as the longest line, and not shortened at random. `popular` names the 20 unseen
films that most persons have rated; its genres are those of any 10 films.
"""

import csv
import json
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run

from wv_cli.vectors import formats

WINDOWS = (5, 20, 50)
NEAREST, FOUND, RECENT, LEAST = 10, 20, 10, 5


def _baskets(path: Path) -> list[list[str]]:
    """The films of each person who has rated LEAST at least, in order of time."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [row[:4] for row in csv.reader(stream, delimiter="\t")][1:]
    rows.sort(key=lambda row: (row[0], float(row[3]), int(row[1])))
    lines = [[film for _, film, *_ in group] for _, group in groupby(rows, key=lambda row: row[0])]
    return [line for line in lines if len(line) >= LEAST]


def _genres(path: Path) -> dict[str, set[str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return {row[0]: set(row[3].split()) for row in csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)}


def _scores(words: list[str], vectors: Any, lines: list[list[str]], genres: dict[str, set[str]]) -> dict[str, float]:
    """`genre` and `recall`."""
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    row = {word: number for number, word in enumerate(words)}
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2)
    near = np.argsort(-cosines, axis=1)[:, :NEAREST]
    shared = [
        bool(genres[word] & genres[words[other]]) for word, each in zip(words, near, strict=True) for other in each
    ]
    hits = []
    for *seen, last in lines:
        known = [row[film] for film in seen if film in row]
        scores = unit @ unit[known[-RECENT:]].mean(axis=0)
        scores[known] = -np.inf
        hits.append(last in {words[number] for number in np.argsort(-scores)[:FOUND]})
    return {"genre": 100 * float(np.mean(shared)), "recall": 100 * float(np.mean(hits))}


def _popular(words: list[str], lines: list[list[str]], genres: dict[str, set[str]]) -> dict[str, float]:
    """The same of the most popular films; `words` are in their order."""
    hits = [
        last in [word for word in words[: len(seen) + FOUND] if word not in set(seen)][:FOUND] for *seen, last in lines
    ]
    pairs = [bool(genres[a] & genres[b]) for a in words for b in words if a != b]
    return {"genre": 100 * float(np.mean(pairs)), "recall": 100 * float(np.mean(hits))}


def baskets(options: Any, result: Run, say: Any) -> bool:
    if len(options.data) != 1:
        sys.exit("--suite baskets needs one --data FOLDER with ml-100k.inter and ml-100k.item in it")
    files = [options.data[0] / f"ml-100k.{ending}" for ending in ("inter", "item")]
    result["data"] = record.inputs(*files)
    lines, genres = _baskets(files[0]), _genres(files[1])
    longest = max(map(len, lines))
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        text, output = Path(name, "baskets.txt"), Path(name, "films.bin")
        text.write_text("".join(" ".join(line[:-1]) + "\n" for line in lines))
        names = ("dim", "negative", "sample", "min_count", "lr", "epochs", "threads")
        same = {key: getattr(options, key) for key in names}
        flags = [word for key, value in same.items() for word in (f"--{key.replace('_', '-')}", value)]
        for number, seed in record.rounds(options):
            ours = [*WV, "train", text, "-o", output, *flags, "--seed", seed, "--no-meta", "-q", "--overwrite"]
            theirs = {**same, "model": "skipgram", "loss": "ns", "subwords": False, "window": longest, "shrink": False}
            job = json.dumps({**theirs, "seed": seed, "corpus": str(text), "output": str(output)})
            whole = {f"wv, window {window}": [*ours, "--whole-line", "--window", window] for window in WINDOWS}
            programs = {
                "wv, in order": [*ours, "--window", WINDOWS[0]],
                **whole,
                f"gensim, window {longest}": [options.peers, HERE / "peer_train.py", "gensim", job],
            }
            for program, argv in programs.items():
                figures, _ = record.used(argv)
                found = formats.load(output)
                scores = _scores(list(found.words), found.matrix, lines, genres)
                runs.append({"task": "films", "program": program, "round": number, **scores, **figures})
                say(f"round {number}, {program}: {scores}, {figures['cpu_seconds']:.1f} s")
        popular = _popular(list(found.words), lines, genres)
        runs.append({"task": "films", "program": "popular", "round": 1, **popular})
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True
