"""Suite `filtering`: how fast documents are judged, one rule at a time, in MB of JSON lines by CPU time.

    python benchmarks/run.py documents.jsonl --suite filtering --data kenlm.bin --data sp.model --rounds 3

The language model is of pieces, in KenLM's binary file, and the other file is its sentencepiece model. Each run is a
process of its own with one thread. The start, which is the same run on one document, is taken off. `tokenize` reads the
texts of the same documents.
"""

import tempfile
from pathlib import Path
from typing import Any

import record
from measure import WV
from record import Run

RULES: dict[str, list[object]] = {
    "words": ["--words", "1..1000000000"],
    "near-duplicates": ["--near-duplicates", "0.72"],
    "perplexity": [],
}


def filtering(options: Any, result: Run, say: Any) -> bool:
    documents, model = Path(options.corpus), record.data(options, "bin")
    pieces = record.data(options, "model")
    result["data"] = record.inputs(documents, model, pieces)
    rules: dict[str, list[object]] = {
        **RULES,
        "perplexity": ["--perplexity", f"{model}=..1000000", "--tokenizer", pieces],
    }
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        one = Path(name) / "one.jsonl"
        with documents.open("rb") as stream:
            one.write_bytes(stream.readline())
        megabytes = (documents.stat().st_size - one.stat().st_size) / 1e6
        asked = {task: ["filter", "--dry-run", "-q", "--threads", "1", *rule] for task, rule in rules.items()}
        asked["tokenize"] = ["tokenize", "-q"]
        for number, _ in record.rounds(options):
            for task, command in asked.items():
                start, whole = (record.used([*WV, *command, path])[0]["cpu_seconds"] for path in (one, documents))
                runs.append({"task": task, "program": "wv", "round": number, "cpu_seconds": whole - start})
                say(f"round {number} {task}: {megabytes / (whole - start):.1f} MB/s beside a start of {start:.2f} s")
    result["runs"], result["summary"] = runs, record.summary(runs)
    for row in result["summary"]:
        row["mb_per_cpu_second"] = megabytes / row["cpu_seconds"]
    return True
