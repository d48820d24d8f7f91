"""Suite `quantizing`: `wv quantize` beside fastText's, by size, score, squared error and CPU seconds.

    python benchmarks/run.py corpus.txt --suite quantizing --data cooking.stackexchange.txt --dim 50 --epochs 25

A classifier with word bigrams is trained once a round on text cleaned as in fastText's tutorial. Both programs
quantize that same model file. `squared error` is that of the input rows as a fraction of their squares, by one
decoder, where all rows are kept. Word vectors with subwords (five epochs, dim 100) are quantized by `wv` alone and
scored on WordSim-353: fastText quantizes classifiers only.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV, median
from record import Run
from train import SIMILARITY

BUCKETS = 200_000
SETTINGS: dict[str, dict[str, int]] = {
    "all rows": {},
    "all rows, norms apart": {"qnorm": 1},
    "cutoff 20000, norms apart": {"cutoff": 20_000, "qnorm": 1},
    "cutoff 10000, norms apart, output too": {"cutoff": 10_000, "qnorm": 1, "qout": 1},
}
PROGRAMS = ("wv", "fasttext")
# Word vectors: rows for n-grams, and the size asked for.
_WORD_BUCKETS, _WORD_SIZE = 500_000, "7M"
_BLOCK = 50_000


def _split(labeled: Path, validation: int, folder: Path) -> tuple[Path, Path]:
    """(all but the last `validation` lines, these), punctuation set apart and lower case."""
    text = re.sub(r"([.!?,'/()])", r" \1 ", labeled.read_text()).lower()
    lines = text.splitlines(keepends=True)
    train, valid = folder / "train.txt", folder / "valid.txt"
    train.write_text("".join(lines[:-validation]))
    valid.write_text("".join(lines[-validation:]))
    return train, valid


def _precision(model: Path, valid: Path) -> float:
    out = record.used([*WV, "eval", "labels", model, "-d", valid, "--json", "-q"])[1]
    return float(json.loads(out)["results"][0]["precision"])


def _quantize(program: str, options: Any, setting: dict[str, int], model: Path, out: Path, seed: int) -> Run:
    if program == "wv":
        words = ["--cutoff", setting["cutoff"]] if "cutoff" in setting else []
        words += [f"--{name}" for name in ("qnorm", "qout") if name in setting]
        argv = [
            *WV,
            "quantize",
            model,
            "-o",
            out,
            *words,
            "--threads",
            options.threads,
            "--seed",
            seed,
            "-q",
            "--no-meta",
        ]
        return record.used(argv)[0]
    job = {name: value if name == "cutoff" else bool(value) for name, value in setting.items()}
    asked = json.dumps({"model": str(model), "out": str(out), "job": job})
    return record.used([options.peers, HERE / "peer_fasttext.py", "quantize", asked])[0]


def squared_error(model: Path, quantized: Path) -> float:
    """Squares of what was lost of the input rows, as a share of their squares."""
    from wv_cli.vectors.formats.fasttext_read import load_model

    before, after = load_model(model).input, load_model(quantized).input
    lost = whole = 0.0
    for first in range(0, before.shape[0], _BLOCK):
        rows = np.arange(first, min(first + _BLOCK, before.shape[0]))
        x, y = before.take(rows).astype(np.float64), after.take(rows).astype(np.float64)
        lost, whole = lost + float(((x - y) ** 2).sum()), whole + float((x**2).sum())
    return lost / whole


def _classifier(options: Any, labeled: Path, folder: Path, seed: int) -> list[Run]:
    train, valid = _split(labeled, options.validation, folder)
    model, out = folder / "classifier.bin", folder / "classifier.ftz"
    words = [
        "--word-ngrams", 2, "--buckets", BUCKETS, "--dim", options.dim, "--epochs", options.epochs, "--lr",
        options.lr or 0.5, "--threads", options.threads, "--seed", seed,
    ]  # fmt: skip
    record.used([*WV, "train", train, "--model", "supervised", "-o", model, *words, "-q", "--no-meta"])
    before, size = _precision(model, valid), model.stat().st_size
    runs = []
    for name, setting in SETTINGS.items():
        for program in (program for program in PROGRAMS if program in options.programs):
            figures = _quantize(program, options, setting, model, out, seed)
            after = _precision(out, valid)
            run = {"task": f"classifier, {name}", "program": program, "score_before": before, "score": after}
            run |= {"bytes_before": size, "bytes": out.stat().st_size, **figures}
            runs.append(run | ({} if "cutoff" in setting else {"squared_error": squared_error(model, out)}))
    return runs


def _word_vectors(options: Any, corpus: Path, folder: Path, seed: int) -> list[Run]:
    model, out = folder / "words.bin", folder / "words.ftz"
    words = ["--preset", "fasttext", "--epochs", 5, "--dim", 100, "--buckets", _WORD_BUCKETS, "--seed", seed]
    words += ["--min-count", options.min_count, "--threads", options.threads]
    record.used([*WV, "train", corpus, "-o", model, *words, "-q", "--no-meta"])
    argv = [*WV, "quantize", model, "-o", out, "--size", _WORD_SIZE, "--qnorm", "--seed", seed, "-q", "--no-meta"]
    figures = record.used([*argv, "--threads", options.threads])[0]

    def score(vectors: Path) -> float:
        shown = record.used([*WV, "eval", "similarity", vectors, "-d", SIMILARITY, "--json", "-q"])[1]
        return float(json.loads(shown)["results"][0]["spearman"])

    run = {"task": "word vectors, WS353", "program": "wv", "score_before": score(model), "score": score(out)}
    run |= {"bytes_before": model.stat().st_size, "bytes": out.stat().st_size, **figures}
    model.unlink()
    return [run]


def quantizing(options: Any, result: Run, say: Any) -> bool:
    corpus, (labeled,) = Path(options.corpus), options.data
    result["data"] = record.inputs(corpus, labeled, SIMILARITY)
    result["buckets"] = {"classifier": BUCKETS, "word vectors": _WORD_BUCKETS}
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        for number, seed in record.rounds(options):
            made = _classifier(options, labeled, Path(name), seed) + _word_vectors(options, corpus, Path(name), seed)
            for run in made:
                runs.append({"round": number, "seed": seed, **run})
                say(f"round {number} {run['task']}, {run['program']}: {run['score']:.4f}, {run['cpu_seconds']} s CPU")
    result["runs"], result["summary"] = runs, record.summary(runs)
    for row in result["summary"]:
        row["times_smaller"] = row["bytes_before"] / row["bytes"]
        # Of the rounds, not of their medians: before and after belong together.
        pairs = [run for run in runs if (run["task"], run["program"]) == (row["task"], row["program"])]
        row["score_change"] = median([run["score"] - run["score_before"] for run in pairs])
    return True


def table(result: Run) -> list[str]:
    """Markdown: medians of the rounds; the change of the score is the median of the rounds' changes."""
    columns = ["task", "program", "score before", "after", "change", "MB before", "after", "times smaller", "CPU s"]
    columns += ["wall s", "peak MB", "squared error"]
    rows = []
    for row in result["summary"]:
        cells = [f"{row['score_before']:.4f}", f"{row['score']:.4f}", f"{row['score_change']:+.4f}"]
        cells += [f"{row['bytes_before'] / 1e6:.2f}", f"{row['bytes'] / 1e6:.2f}", f"{row['times_smaller']:.1f}"]
        cells += [f"{row['cpu_seconds']:.2f}", f"{row['wall_seconds']:.2f}", f"{row['peak_mb']:,.0f}"]
        error = f"{row['squared_error']:.4f}" if "squared_error" in row else ""
        rows.append([row["task"], row["program"], *cells, error])
    return record.markdown(columns, rows)
