"""Suite `quantising`: what a smaller model costs, by `wv quantize` and by fastText.

    python benchmarks/run.py cooking.stackexchange.txt --suite quantising --epochs 25 --rounds 3 --data corpus.txt

A classifier of the labelled corpus (the last --validation lines held out, P@1 on them) and a model of word vectors with
subwords of the text in --data (Spearman on WordSim-353), each quantised in several ways. fastText's quantisation of
the same classifier file stands beside ours; of word vectors it has none. Sizes in MB, CPU seconds of the whole command.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV, measure_json
from record import Run
from train import SIMILARITY, describe

LABELLED = {
    "--qnorm": ["--qnorm"],
    "--cutoff 20000 --qnorm": ["--cutoff", 20000, "--qnorm"],
    "--cutoff 10000 --qnorm --qout": ["--cutoff", 10000, "--qnorm", "--qout"],
}
WORDS = {"--qnorm": ["--qnorm"], "--cutoff 100000 --qnorm": ["--cutoff", 100000, "--qnorm"]}


def _precision(model: Path, held_out: Path) -> float:
    _, out = record.used([*WV, "eval", "labels", model, "-d", held_out, "--json"])
    return float(json.loads(out)["results"][0]["precision"])


def _similarity(model: Path) -> float:
    _, out = record.used([*WV, "eval", "similarity", model, "-d", SIMILARITY, "--json"])
    return float(json.loads(out)["results"][0]["spearman"])


def quantising(options: Any, result: Run, say: Any) -> bool:
    corpus, text = Path(options.corpus), Path(options.data[0])
    result["corpus"], result["data"] = describe(corpus), [describe(text), *record.inputs(SIMILARITY)]

    def add(number: int, task: str, program: str, **figures: float | None) -> None:
        result["runs"].append({"round": number, "task": task, "program": program, **figures})
        say(f"{result['runs'][-1]}")

    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        lines = corpus.read_bytes().splitlines(keepends=True)
        train, held_out = folder / "train.txt", folder / "held-out.txt"
        train.write_bytes(b"".join(lines[: -options.validation]))
        held_out.write_bytes(b"".join(lines[-options.validation :]))
        for number, seed in record.rounds(options):
            model, small = folder / "model.bin", folder / "small.ftz"
            job = ["--model", "supervised", "--word-ngrams", 2, "--dim", 50, "--buckets", 200_000, "--lr", 0.5]
            ran = [*WV, "train", train, "-o", model, *job, "--epochs", options.epochs, "--seed", seed, "--overwrite"]
            record.used([*ran, "-q", "--no-meta"])
            size, before = model.stat().st_size / 1e6, _precision(model, held_out)
            add(number, "classifier", "as trained", mb=size, score=before, smaller=1.0)
            for how, words in LABELLED.items():
                used, _ = record.used([*WV, "quantize", model, "-o", small, *words, "-q", "--no-meta"])
                mb = small.stat().st_size / 1e6
                score = _precision(small, held_out)
                add(number, "classifier", f"wv {how}", mb=mb, score=score, smaller=size / mb, **used)
                asked = {"model": str(model), "out": str(small), "options": how}
                found = measure_json(
                    [options.peers, str(HERE / "peer_classifier.py"), "quantize_as", json.dumps(asked)]
                )
                mb = small.stat().st_size / 1e6
                score = _precision(small, held_out)
                add(number, "classifier", f"fastText {how}", mb=mb, score=score, smaller=size / mb, **found)
            record.used([*WV, "train", text, "-o", model, "--preset", "fasttext", "--epochs", 3, "--seed", seed,
                         "--overwrite", "-q", "--no-meta"])  # fmt: skip
            size, before = model.stat().st_size / 1e6, _similarity(model)
            add(number, "word vectors with subwords", "as trained", mb=size, score=before, smaller=1.0)
            for how, words in WORDS.items():
                used, _ = record.used([*WV, "quantize", model, "-o", small, *words, "-q", "--no-meta"])
                mb = small.stat().st_size / 1e6
                score = _similarity(small)
                add(number, "word vectors with subwords", f"wv {how}", mb=mb, score=score, smaller=size / mb, **used)
    result["summary"] = record.summary(result["runs"])
    return True
