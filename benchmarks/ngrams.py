"""Suite `ngrams`: estimating and scoring n-grams of order 5, with KenLM's Python module beside `wv`.

    python benchmarks/run.py wiki.train.txt --suite ngrams --data wiki.test.txt --data queries.txt --rounds 3

Files are given in bytes per n-gram and perplexity, exact and quantized. Scoring is of the lines of `queries` by
one core. The last row is the largest difference between KenLM's score of any word and ours.

KenLM from PyPI reads our ARPA file into its hash tables. It has no program to estimate or to query. `kenlm` calls
`score` for each line. `kenlm-words` calls `full_scores`, which gives the score of each word, as `wv` does.

`--beside NAME=PROGRAM` adds whole runs of KenLM's own `query`, compiled from its source, on a probing binary.
`wv lm score` reads this, and its own binary of the same model. The two are `--data` with `probing` and `.lm` in the
name. A run prints the score of each line; starting and loading are included.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run

ORDER = 5
BITS = (8, 10)
CLOSE = 1e-6


def _train(text: Path, model: Path, *words: object) -> list[str]:
    argv = [*WV, "lm", "train", text, "-o", model, "--order", ORDER, "-q", "--no-meta", *words]
    return [str(word) for word in argv]


def _perplexity(text: Path, *models: Path) -> list[float]:
    argv = [*WV, "eval", "perplexity", *models, "-d", text, "--json", "-q", "--resamples", 0]
    return [row["perplexity"] for row in json.loads(record.used(argv)[1])["results"]]


def _ngrams(arpa: Path) -> int:
    with arpa.open("rb") as stream:
        head = [line for line, _ in zip(stream, range(ORDER + 1), strict=False)]
    return sum(int(line.partition(b"=")[2]) for line in head if line.startswith(b"ngram "))


def _whole_runs(options: Any, queries: Path, number: int) -> list[Run]:
    if not options.beside:
        return []
    probing, own = record.data(options, "probing"), record.data(options, ".lm")
    argv = {f"wv, {kind}": [*WV, "lm", "score", path, queries] for kind, path in (("own", own), ("probing", probing))}
    for name, program in options.beside:
        argv[f"{name}, probing"] = ["sh", "-c", 'exec "$0" -v sentence "$1" < "$2"', program, probing, queries]
    return [
        {"task": "whole run of scoring", "program": name, "round": number, **record.used(words)[0]}
        for name, words in argv.items()
    ]


def ngrams(options: Any, result: Run, say: Any) -> bool:
    test, queries = record.data(options, "test"), record.data(options, "queries")
    corpus = Path(options.corpus)
    result["data"] = record.inputs(corpus, test, queries)
    runs: list[Run] = []
    worst = 0.0
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        model, arpa = folder / "exact.lm", folder / "model.arpa"
        quantized = [folder / f"{bits}.lm" for bits in BITS]
        for number in range(1, options.rounds + 1):
            figures = record.used(_train(corpus, model, "--threads", options.threads))[0]
            runs.append({"task": "train", "program": "wv", "round": number} | figures)
            if number == 1:
                record.used([*WV, "lm", "convert", model, arpa])
                for bits, path in zip(BITS, quantized, strict=True):
                    record.used([*WV, "lm", "convert", model, path, "--quantize", bits])
                found = _perplexity(test, model, *quantized)
                for path, perplexity in zip((model, *quantized), found, strict=True):
                    size = path.stat().st_size / _ngrams(arpa)
                    runs.append({"task": f"file {path.name}", "program": "wv", "bytes_an_ngram": size})
                    runs[-1] |= {"perplexity": perplexity, "percent_more": 100 * (perplexity / found[0] - 1)}
            for task, path in (("wv", model), ("wv", quantized[0]), ("kenlm", arpa), ("kenlm-words", arpa)):
                scores = folder / f"{task}.npy"
                python = options.peers if task.startswith("kenlm") else WV[0]
                child = [
                    python,
                    HERE / "lm_scores.py",
                    task,
                    path,
                    queries,
                    *([scores] if path != quantized[0] else []),
                ]
                took = json.loads(record.used(child)[1].splitlines()[-1])["cpu_seconds"]
                runs.append({"task": f"score by {path.name}", "program": task, "round": number, "cpu_seconds": took})
                say(f"round {number}: {runs[-1]}")
            runs += _whole_runs(options, queries, number)
            ours, theirs = np.load(folder / "wv.npy"), np.load(folder / "kenlm-words.npy")
            worst = max(worst, float(np.abs(ours - theirs).max()))
            for run in runs:
                if run["task"].startswith("score"):
                    run["million_words_a_cpu_second"] = len(ours) / 1e6 / run["cpu_seconds"]
    runs.append({"task": "largest difference of a score", "program": "wv to kenlm", "log10": worst})
    result["runs"], result["summary"] = runs, record.summary(runs)
    return worst <= CLOSE
