"""Suite `bigmodel`: reading one word's vector from a fastText model of many gigabytes.

    python benchmarks/run.py corpus.txt --suite bigmodel --gigabytes 7.2 --dim 300 --rounds 3

The suite makes the model from the first lines of the corpus and enough n-gram buckets to fill `--gigabytes`. Most rows
are zero, but a program that reads them reads as many bytes. The model stands in `--scratch` and is deleted at the end.
The programs take turns, so the file is in the system's cache for both or for neither. Both must give the same vector.
"""

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV, Failed, machine
from record import Run

TEXT_BYTES = 20_000_000
_ROOM = 1.1  # of the model's size: on the disk for the file, in memory for fastText


def _make(options: Any, folder: Path) -> Path:
    size = options.gigabytes * 1e9
    free, memory = shutil.disk_usage(folder).free, machine()["memory_gb"] * 1e9
    if free < _ROOM * size or memory < _ROOM * size:
        message = f"a model of {options.gigabytes} GB needs {_ROOM} times as much disk and memory: {free / 1e9:.1f} GB "
        message += f"of disk are free in --scratch, {memory / 1e9:.1f} GB of memory are there; give less --gigabytes"
        raise Failed(message)
    text, model = folder / "text", folder / "model.bin"
    with Path(options.corpus).open("rb") as stream:
        head = stream.read(TEXT_BYTES)
    text.write_bytes(head[: head.rfind(b"\n") + 1])
    buckets = int(size / 4 / options.dim)
    words = ["--preset", "fasttext", "--epochs", 1, "--dim", options.dim, "--buckets", buckets, "--seed", options.seed]
    record.used([*WV, "train", text, "-o", model, *words, "-q", "--no-meta"])
    return model


def bigmodel(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(Path(options.corpus))
    runs: list[Run] = []
    answers: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        model = _make(options, Path(name))
        result["model_bytes"] = model.stat().st_size
        say(f"a model of {result['model_bytes']:,} bytes")
        # A word that is listed and one that is not.
        for number, _ in record.rounds(options):
            for word in ("king", "kinglessnesses"):
                job = json.dumps({"model": str(model), "word": word})
                asked = {
                    "wv": [*WV, "vectors", model, word, "--precision", "9"],
                    "fasttext": [options.peers, HERE / "peer_fasttext.py", "vector", job],
                }
                for program in (program for program in asked if program in options.programs):
                    figures, out = record.used(asked[program])
                    numbers = json.loads(out) if program == "fasttext" else [*map(float, out.split()[1:])]
                    answers[f"{word} {program}"] = numbers
                    runs.append({"task": f"vector of {word}", "program": program, "round": number, **figures})
                    say(f"round {number} {word} {program}: {figures}")
    result["runs"], result["summary"] = runs, record.summary(runs)
    return all(_same(answers, word) for word in ("king", "kinglessnesses"))


def _same(answers: dict[str, list[float]], word: str) -> bool:
    found = [numbers for name, numbers in answers.items() if name.startswith(f"{word} ")]
    return all(abs(a - b) < 1e-5 for other in found[1:] for a, b in zip(found[0], other, strict=True))
