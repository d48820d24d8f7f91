"""Suite `predicting`: the labels of very many lines by a classifier with word bigrams and a large table.

    python benchmarks/run.py labeled.txt --suite predicting --data text.txt --queries 1000000 --rounds 3

The model is fastText's own (`--peers`), trained on the labeled text with 2 million buckets, all in use. The lines
have 8 to 24 words each and are cut one after another from `--data`, which is repeated if it ends. Both programs must
give each line the same label. Each run is a process of its own, and loading is included. Models given
as `--data` (.bin, .ftz) answer the same lines. `--beside NAME=PROGRAM` adds fastText's own C++ program, or a Python
that has one of its successors.
"""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

BUCKETS, BIGRAMS, LEAST_WORDS, MOST_WORDS = 2_000_000, 2, 8, 24


def _lines(text: Path, count: int, seed: int, target: Path) -> None:
    words, drawn, at = text.read_text(errors="replace").split(), random.Random(seed), 0
    with target.open("w") as stream:
        for _ in range(count):
            size = drawn.randint(LEAST_WORDS, MOST_WORDS)
            stream.write(" ".join(words[at : at + size]) + "\n")
            at = (at + size) % max(1, len(words) - MOST_WORDS)


def predicting(options: Any, result: Run, say: Any) -> bool:
    corpus, models = Path(options.corpus), [path for path in options.data if path.suffix in (".bin", ".ftz")]
    [text] = [path for path in options.data if path not in models]
    result["data"] = record.inputs(corpus, text, *models)
    runs: list[Run] = []
    same = True
    peer = [options.peers, HERE / "peer_classifier.py"]
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        folder = Path(scratch)
        model, lines, out = folder / "model.bin", folder / "lines", folder / "out"
        _lines(text, options.queries, options.seed, lines)
        job = {"input": str(corpus), "wordNgrams": BIGRAMS, "bucket": BUCKETS, "dim": options.dim, "thread": 1}
        record.used([*peer, "train", json.dumps({"model": str(model), "job": job})])
        result["model_bytes"], result["lines_bytes"] = model.stat().st_size, lines.stat().st_size
        for task in (model, *models):
            named = f"{options.queries:,} lines" + (f", {task.name}" if task != model else "")
            asked = {
                "wv": [*WV, "predict", task, lines, "--prob", "--threads", options.threads],
            }
            job = json.dumps({"model": str(task), "lines": str(lines), "out": str(out)})
            for name, program in {"fasttext": options.peers, **dict(options.beside)}.items():
                child = [program, HERE / "peer_classifier.py", "predict", job]
                asked[name] = child if "python" in Path(program).name else [program, "predict-prob", task, lines]
            answers: dict[str, list[str]] = {}
            for number, _ in record.rounds(options):
                for program in (program for program in asked if program in {*options.programs, *dict(options.beside)}):
                    out.unlink(missing_ok=True)
                    figures, printed = record.used(asked[program])
                    found = out.read_text() if out.exists() else printed
                    answers[program] = [line.split()[0] for line in found.splitlines()]
                    runs.append({"task": named, "program": program, "round": number, **figures})
                    say(f"{named}, round {number} {program}: {figures}")
            first, *others = answers.values()
            same = same and all(other == first for other in others)
    result["runs"], result["summary"] = runs, record.summary(runs)
    return same
