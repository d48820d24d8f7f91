"""Suite `chinese`: a segmented Chinese text with subwords of one and two characters, by `wv` and by fastText.

    python benchmarks/run.py peoples-daily.txt --suite chinese --epochs 5 --rounds 3 --data zh-wordsim-240.txt \\
        --data zh-wordsim-297.txt --data zh-CA8-morphological.txt --data zh-CA8-semantic.txt

Both programs run the whole job from text to model file with fastText's settings. `wv eval` scores both models on the
words they list, and the number of scored items stands beside each test's name. Files of `--data` with `CA8` in their
name are analogies. fastText's Python library takes no seed for word vectors, so with one thread its rounds are the
same run.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

MINN, MAXN = 1, 2
PROGRAMS = ("wv", "fasttext")


def _train(program: str, options: Any, text: Path, model: Path, seed: int) -> Run:
    lr = options.lr or 0.05
    if program == "wv":
        words: list[object] = [
            "--preset", "fasttext", "--minn", MINN, "--maxn", MAXN, "--epochs", options.epochs, "--dim", options.dim,
            "--window", options.window, "--negative", options.negative, "--sample", options.sample, "--min-count",
            options.min_count, "--lr", lr, "--threads", options.threads, "--seed", seed,
        ]  # fmt: skip
        return record.used([*WV, "train", text, "-o", model, *words, "-q", "--no-meta"])[0]
    job = {
        "input": str(text), "model": "skipgram", "minn": MINN, "maxn": MAXN, "epoch": options.epochs,
        "dim": options.dim, "ws": options.window, "neg": options.negative, "t": options.sample,
        "minCount": options.min_count, "lr": lr, "thread": options.threads, "verbose": 0,
    }  # fmt: skip
    child = [options.peers, HERE / "peer_fasttext.py", "train"]
    return record.used([*child, json.dumps({"model": str(model), "job": job})])[0]


def scores(model: Path, *data: Path) -> Run:
    """Figures named after the data files, with the items used and all items."""
    figures: dict[str, float] = {}
    for path in data:
        task = "analogy" if "CA8" in path.name else "similarity"
        argv = [*WV, "eval", task, model, "-d", path, "--no-subwords", "--json", "-q"]
        rows = json.loads(record.used(argv)[1])["results"]
        row = max(rows, key=lambda row: row["total"])  # of analogies the sum of the sections
        score, used = ("accuracy", "answered") if task == "analogy" else ("spearman", "used")
        figures |= {path.stem: row[score], f"{path.stem}_used": row[used], f"{path.stem}_of": row["total"]}
    return figures


def chinese(options: Any, result: Run, say: Any) -> bool:
    corpus = Path(options.corpus)
    result["data"] = record.inputs(corpus, *options.data)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        text, model = record.plain(corpus, Path(name)), Path(name) / "model.bin"
        for number, seed in record.rounds(options):
            for program in (program for program in PROGRAMS if program in options.programs):
                figures = _train(program, options, text, model, seed)
                found = scores(model, *options.data)
                run = {"task": corpus.name, "program": program, "round": number, "seed": seed if program == "wv" else 0}
                runs.append(run | figures | found)
                model.unlink()
                say(f"round {number} {program}: {figures['cpu_seconds']} s CPU, {found}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True


def table(result: Run) -> list[str]:
    """Markdown: the scores with their coverage, medians, and the lowest and highest of the rounds."""
    sets = [name.removesuffix("_used") for name in result["summary"][0] if name.endswith("_used")]
    first = result["summary"][0]
    covered = [f"{name} ({first[f'{name}_used']:,.0f} of {first[f'{name}_of']:,.0f})" for name in sets]
    rows = []
    for row in result["summary"]:
        cells = [row["program"]]
        for name in sets:
            values = sorted(run[name] for run in result["runs"] if run["program"] == row["program"])
            cells.append(f"{row[name]:.4g} [{values[0]:.4g}, {values[-1]:.4g}]")
        rows.append([*cells, *(record.cell(float(row[name])) for name in ("cpu_seconds", "wall_seconds", "peak_mb"))])
    return record.markdown(["program", *covered, "CPU s", "wall s", "peak MB"], rows, labels=1)
