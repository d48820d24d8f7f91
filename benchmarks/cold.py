"""Suite `cold`: one question to a file of vectors, by a process that first has to open the file.

    python benchmarks/run.py --suite cold --rows 400000 --dim 300 --rounds 5

A figure covers the process, its imports, the file and the answer. The file is in the system's cache for every program.
The files are random vectors in word2vec's binary format, 70,000 x 100 and `--rows` x `--dim`, and product codes of the
larger one. `wv` maps a binary file and searches it in place, and it searches product codes as codes.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run

SMALL = (70_000, 100)
CODE_BITS = 128
_RUNS = 13  # of a round
QUESTIONS = {"nn": ["word5"], "similarity": ["word5", "word7"], "analogy": ["word5", "word7", "word9"]}


def _make(path: Path, rows: int, dim: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    with path.open("wb") as stream:
        stream.write(b"%d %d\n" % (rows, dim))
        for number in range(rows):
            row = random.standard_normal(dim, np.float32)
            stream.write(b"word%d " % number + row.tobytes() + b"\n")


def cold(options: Any, result: Run, say: Any) -> bool:
    runs: list[Run] = []
    answers: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        files = {}
        for rows, dim in (SMALL, (options.rows, options.dim)):
            files[f"{rows:,} x {dim}"] = path = folder / f"{rows}x{dim}.bin"
            _make(path, rows, dim, options.seed)
        codes = folder / "codes"
        record.used([*WV, "hash", path, "-o", codes, "--method", "pq", "--length", CODE_BITS, "-q"])
        for number, _ in record.rounds(options):
            for size, path in files.items():
                for question, words in QUESTIONS.items():
                    job = json.dumps({"source": str(path), "question": question, "words": words})
                    asked = {
                        "wv": [*WV, question, path, *words],
                        "gensim": [options.peers, HERE / "peer_cold.py", job],
                    }
                    for program in (program for program in asked if program in options.programs):
                        figures, out = record.used(asked[program])
                        runs.append({"task": f"{question}, {size}", "program": program, "round": number, **figures})
                        # The first word, or the number, which programs round in another order.
                        first = out.split()[0]
                        answer = f"{float(first):.4f}" if question == "similarity" else first
                        answers.setdefault(f"{question}, {size}", set()).add(answer)
            figures, _ = record.used([*WV, "nn", codes, "word5"])
            task = f"nn, {size}, as {CODE_BITS} bits of pq"
            runs.append({"task": task, "program": "wv", "round": number, **figures})
            say(f"round {number}: {[(run['task'], run['program'], run['wall_seconds']) for run in runs[-_RUNS:]]}")
    result["data"] = f"normal numbers, numpy default_rng({options.seed})"
    result["runs"], result["summary"] = runs, record.summary(runs)
    return all(len(found) == 1 for found in answers.values())
