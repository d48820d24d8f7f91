"""Suite `sts-table`: every kind of sentence vector of `wv` on the STS benchmark's test split.

    python benchmarks/run.py wiki8-slice.txt --suite sts-table --epochs 5 --encoder all-MiniLM-L6-v2 \\
        --data stsb-en-train.csv --data stsb-en-test.csv

Transforms are fitted on the training split, without its scores. SIF's common component is fitted on the sentences of
both splits, as `wv eval sts` does. The learnt models see the corpus alone. doc2vec gets twice the `--epochs` of
the word vectors.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import WV
from record import Run
from train import Job, command

_DOCUMENT_TIMES = 2  # epochs of doc2vec for one of word vectors
_DISTILLED = 10_000  # words


def _scored(test: Path, *options: object) -> list[Run]:
    rows: list[Run] = json.loads(record.used([*WV, "eval", "sts", *options, "-d", test, "--json", "-q"])[1])["results"]
    return rows


def sts_table(options: Any, result: Run, say: Any) -> bool:
    corpus, train, test = Path(options.corpus), record.data(options, "train"), record.data(options, "test")
    encoder = options.encoder
    result["data"] = record.inputs(corpus, train, test, encoder / "model.safetensors")
    fit = ["--after", "whiten", "--fit", "train", "--fit-data", train]
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        counts, small = folder / "counts", folder / "small"
        record.used([*WV, "build-vocab", corpus, "-o", counts, "--min-count", options.min_count, "-q"])
        record.used([*WV, "build-vocab", corpus, "-o", small, "--max-vocab", _DISTILLED, "-q"])
        record.used([*WV, "distil", small, "--encoder", encoder, "-o", folder / "distilled", "-q"])
        of_encoder = _scored(test, "--encoder", encoder, "--encoder", folder / "distilled", *fit)
        say(f"encoder and distilled: {[round(row['spearman'], 1) for row in of_encoder]}")
        for number, seed in record.rounds(options):
            found = []
            words, documents = folder / "words.bin", folder / "model.d2v"
            job = Job(
                str(corpus), "skipgram", "ns", options.dim, options.window, options.negative, options.sample,
                options.min_count, options.lr or 0.05, options.epochs, options.threads, seed, False, str(words),
            )  # fmt: skip
            used = {"words.bin": record.used(command("wv", job, options.peers))[0]}
            same = [
                "--dim",
                options.dim,
                "--min-count",
                options.min_count,
                "--seed",
                seed,
                "--threads",
                options.threads,
            ]
            train_it = [*WV, "train", corpus, "-o", documents, "--model", "doc2vec"]
            train_it += ["--epochs", _DOCUMENT_TIMES * options.epochs, *same, "--no-meta", "-q"]
            used[documents.name] = record.used(train_it)[0]
            found += _scored(test, words, "--pooling", "sif", "--counts", counts, *fit)
            found += _scored(test, documents, *fit)
            say(f"seed {seed}: {[round(row['spearman'], 1) for row in found]}")
            for row in [*found, *(of_encoder if number == 1 else [])]:
                source = Path(row["vectors"]).name
                figures = (
                    "spearman",
                    "low",
                    "high",
                    "pearson",
                    "gain",
                    "gain_low",
                    "gain_high",
                    "zero_vectors",
                    "used",
                )
                run = {figure: row[figure] for figure in figures}
                kind = {"words.bin": "word2vec", "model.d2v": "doc2vec"}.get(source, source)
                kind = "encoder" if source == encoder.name else kind
                task = " ".join(part for part in (kind, row["pooling"], row["after"]) if part not in ("-", "own"))
                cpu = used[source]["cpu_seconds"] if source in used else None
                runs.append({"task": task, "program": "wv", "seed": seed, **run, "training_cpu_seconds": cpu})
    result["runs"], result["summary"] = runs, record.summary(runs)
    return True


def table_of_sts(result: Run) -> list[str]:
    """Markdown: Spearman x 100 with its interval; the gain over the same source's first row, by paired bootstrap."""
    rows = []
    for row in result["summary"]:
        gain, interval = row.get("gain"), ""
        if gain is not None:
            interval = f"{row['gain_low']:.1f} to {row['gain_high']:.1f}"
        cells = [row["task"], f"{row['spearman']:.1f}", f"{row['low']:.1f} to {row['high']:.1f}"]
        rows.append([*cells, "" if gain is None else f"{gain:+.1f}", interval])
    return record.markdown(["sentence vector", "Spearman x 100", "95 %", "gain", "its 95 %"], rows, labels=1)
