"""Suite `filtering`: how fast documents are judged, one rule at a time, in MB of JSON lines by CPU time.

    python benchmarks/run.py documents.jsonl --suite filtering --data kenlm.bin --data sp.model --data lid.176.ftz \\
        --data quality.ftz --rounds 3 --peers PYTHON

The language model is of pieces, in KenLM's binary file, and the other file is its sentencepiece model. The two .ftz are
classifiers that answer in one pass. Each run is a process of its own with one thread. The start, which is the same run
on one document, is taken off. `tokenize` reads the texts of the same documents.

A loop in Python counts the words of the same documents, too (peer_filtering.py): json and str.split. With --peers,
others do the rest: orjson with fasttext, kenlm with sentencepiece, and datatrove's signatures. PYTHON has orjson,
fasttext-predict, kenlm, sentencepiece, spacy and datatrove with regex, tokenizers and xxhash<4. With
`--beside before=old/bin/wv` another version of wv runs beside this one.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

RECIPES = ("gopher-quality", "gopher-repetition", "c4", "fineweb")
IN_PYTHON = ("words", "near-duplicates", "perplexity", "classify")
RULES: dict[str, list[object]] = {
    "words": ["--words", "1..1000000000"],
    **{name: ["--heuristic", name] for name in RECIPES},
    "near-duplicates": ["--near-duplicates", "0.72"],
    "perplexity": [],
}


def filtering(options: Any, result: Run, say: Any) -> bool:
    documents, model = Path(options.corpus), record.data(options, "bin")
    pieces = record.data(options, "model")
    classifiers = [path for path in options.data if Path(path).suffix == ".ftz"]
    result["data"] = record.inputs(documents, model, pieces, *map(Path, classifiers))
    rules: dict[str, list[object]] = {
        **RULES,
        "perplexity": ["--perplexity", f"{model}=..1000000", "--tokenizer", pieces],
    }
    if classifiers:
        rules["classify"] = [word for each in classifiers for word in ("--classifier", _scored(str(each)))]
    job = {"model": str(model), "pieces": str(pieces), "classifiers": list(map(str, classifiers))}
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        one = Path(name) / "one.jsonl"
        with documents.open("rb") as stream:
            one.write_bytes(stream.readline())
        megabytes = (documents.stat().st_size - one.stat().st_size) / 1e6
        ours = {task: ["filter", "--dry-run", "-q", "--threads", "1", *rule] for task, rule in rules.items()}
        ours["tokenize"] = ["tokenize", "-q"]

        programs: dict[str, list[object]] = {"wv": [*WV], **{name: [path] for name, path in options.beside}}

        def command(task: str, program: str, path: Path) -> list[object]:
            if program in programs:
                return [*programs[program], *ours[task], path]
            return [options.peers, HERE / "peer_filtering.py", task, json.dumps({**job, "documents": str(path)})]

        asked = [(task, program) for task in ours for program in programs]
        in_python = IN_PYTHON if options.peers != sys.executable else IN_PYTHON[:1]
        asked += [(task, "Python") for task in rules if task in in_python]
        for number, _ in record.rounds(options):
            for task, program in asked:
                start, whole = (
                    record.used(command(task, program, path))[0]["cpu_seconds"] for path in (one, documents)
                )
                runs.append({"task": task, "program": program, "round": number, "cpu_seconds": whole - start})
                rate = megabytes / (whole - start)
                say(f"round {number} {task}, {program}: {rate:.1f} MB/s beside a start of {start:.2f} s")
    result["runs"], result["summary"] = runs, record.summary(runs)
    for row in result["summary"]:
        row["mb_per_cpu_second"] = megabytes / row["cpu_seconds"]
    return True


def _scored(path: str) -> str:
    """The rule that scores a label of a classifier."""
    from wv_cli.models.classifier import Classifier
    from wv_cli.vectors.formats.fasttext_bin import load_model

    label = Classifier(load_model(path), path).labels[0]
    return f"{Path(path).stem.replace('.', '-')}={path}:{label}>=0"
