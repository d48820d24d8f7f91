"""Suites `ngrams` and `ngrams-large`: language models of n-grams beside KenLM, and a text that needs the disk."""

import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run

ORDER = 5
BITS = (8, 10)
HELD_OUT = 5000  # lines
MEMORY = "1G"
KILLS = 10
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


def _disk(pid: int) -> int:
    """Bytes of the files without a name that a process has."""
    taken = 0
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            status = entry.stat()
            taken += status.st_blocks * 512 if " (deleted)" in str(entry.readlink()) else 0
        except OSError:  # closed meanwhile
            continue
    return taken


def _watched(argv: list[str]) -> Run:
    """What a run takes, the most disk among it."""
    begin, disk = time.monotonic(), 0
    child = subprocess.Popen(argv)
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        try:
            disk = max(disk, _disk(child.pid))
        except OSError:  # it ends
            continue
        time.sleep(0.05)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, argv)
    return {
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "wall_seconds": round(time.monotonic() - begin, 2),
        "peak_mb": round(used.ru_maxrss / 1024, 1),
        "disk_mb": round(disk / 1e6, 1),
    }


def _killed(argv: list[str], seconds: float) -> bool:
    """Whether the run had not ended when it was killed."""
    with subprocess.Popen(argv) as child:
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            return True
    return False


def ngrams_large(options: Any, result: Run, say: Any) -> bool:
    """Suite `ngrams-large`: estimating n-grams of a text that do not fit in `--memory`, then the same killed at ten
    moments.

        python benchmarks/run.py wiki8.txt --suite ngrams-large --threads 1

    The model has order 5 and is trained with `--memory 1G` on the text without its last lines. Perplexity is on these
    lines. `disk mb` includes files without a name. After each of the 10 kills the output must be as before, or
    complete. A repeated run must give the same bytes.
    """
    corpus = Path(options.corpus)
    result["data"] = record.inputs(corpus)
    chance, good = random.Random(options.seed), True
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        text, test, out = folder / "train.txt", folder / "test.txt", folder / "out"
        out.mkdir()
        lines = corpus.read_bytes().splitlines(keepends=True)
        text.write_bytes(b"".join(lines[:-HELD_OUT]))
        test.write_bytes(b"".join(lines[-HELD_OUT:]))
        del lines
        model = out / "model.lm"
        argv = _train(text, model, "--memory", MEMORY, "--threads", options.threads)
        for number in range(1, options.rounds + 1):
            runs.append({"task": f"train in {MEMORY}", "program": "wv", "round": number} | _watched(argv))
            runs[-1] |= {"model_mb": model.stat().st_size / 1e6, "perplexity": _perplexity(test, model)[0]}
            say(f"round {number}: {runs[-1]}")
        whole, wall = model.read_bytes(), runs[-1]["wall_seconds"]
        left: dict[str, int] = {}
        for number in range(KILLS):
            # Half of them with the file of yesterday, half with none.
            model.unlink(missing_ok=True)
            if number % 2:
                model.write_bytes(b"yesterday")
            killed = _killed(argv, chance.uniform(0, wall))
            found = model.read_bytes() if model.exists() else None
            kept = found == (b"yesterday" if number % 2 else None)
            outcome = "kept" if kept else "whole" if found == whole else "broken"
            left[outcome] = left.get(outcome, 0) + 1
            # What a killed run had begun has a name of its own, and goes with the next run.
            others = [path.name for path in out.iterdir() if path != model and not path.name.startswith(".")]
            good = good and outcome != "broken" and not others
            say(f"kill {number + 1}: {'killed' if killed else 'had ended'}, {outcome}, beside it {others}")
        record.used(argv)
        same = model.read_bytes() == whole
        runs.append({"task": f"{KILLS} kills", "program": "wv", "same_bytes_again": int(same), **left})
    result["runs"], result["summary"] = runs, record.summary(runs)
    return good and same
