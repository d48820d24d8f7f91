"""Suite `encoding`: sentences per second of one encoder folder, by `wv` and by sentence-transformers.

    python benchmarks/run.py --suite encoding --encoder all-MiniLM-L6-v2 --data stsb-en-test.csv --threads 1 \\
        --rounds 3 --peers PYTHON

PYTHON has sentence-transformers, torch, onnx and onnxscript. The sentences are the distinct ones of the STS
benchmark's file. `wv, NumPy` and sentence-transformers (PyTorch) read the folder's model.safetensors. `wv, ONNX` runs
the network as PyTorch exports it. Every program sorts by length and makes its own batches, in a process of its own.
Loading is a separate figure. `largest difference` is that of any number of a vector to sentence-transformers; 2e-5 is
allowed.
"""

import csv
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import record
from library import least
from measure import HERE, measure, measure_json
from record import Run

TOLERANCE = 2e-5
_REPEAT = 3


def sentences(path: Path) -> list[str]:
    """The distinct sentences of an STS benchmark file, in order of first sight."""
    with path.open(newline="", encoding="utf-8") as stream:
        rows = [row for row in csv.reader(stream) if len(row) >= 3]
    return list(dict.fromkeys(text for row in rows for text in row[:2]))


def _measured(job: Run) -> Run:
    import numpy as np

    from wv_cli.encoders import EncoderConfig, open_encoder
    from wv_cli.encoders.base import encode
    from wv_cli.encoders.pooling import Pooling

    texts = json.loads(Path(job["texts"]).read_text())
    made: list[Any] = []
    config = EncoderConfig(threads=job["threads"])
    loading = record.timed(lambda: made.append(open_encoder(job["folder"], config)))
    (encoder,) = made
    pooling = Pooling.parse(encoder.pooling, encoder.layers, encoder.name)

    def work() -> Any:
        return encode(encoder, texts, [pooling], normalize=encoder.normalize, threads=job["threads"])[0].vectors

    times = least(work, _REPEAT)
    np.save(job["output"], work())
    return {**times, "loading_cpu_seconds": loading["cpu_seconds"]}


def encoding(options: Any, result: Run, say: Any) -> bool:
    import numpy as np

    test, encoder = record.data(options), options.encoder
    texts = sentences(test)
    result["data"] = {"inputs": record.inputs(test, encoder / "model.safetensors"), "sentences": len(texts)}
    result["tolerance"] = TOLERANCE
    os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)  # of the children: NumPy's products
    peer = [options.peers, str(HERE / "peer_encoding.py")]
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        listed = folder / "sentences.json"
        listed.write_text(json.dumps(texts))
        plain, exported = folder / "plain", folder / "exported"
        for copy in (plain, exported):
            shutil.copytree(encoder, copy, ignore=shutil.ignore_patterns("*.onnx", "onnx"))
        measure([*peer, "export", str(plain), str(exported / "model.onnx")])
        (exported / "model.safetensors").unlink()
        ours = [sys.executable, str(HERE / "encoding.py")]
        ways = {
            "wv, ONNX": (ours, exported),
            "wv, NumPy": (ours, plain),
            "sentence-transformers": ([*peer, "encode"], plain),
        }
        for number, _ in record.rounds(options):
            vectors = {}
            for program, (argv, source) in ways.items():
                output = folder / "vectors.npy"
                job = {"folder": str(source), "texts": str(listed), "output": str(output), "threads": options.threads}
                times = measure_json([*argv, json.dumps({**job, "repeat": _REPEAT})])
                vectors[program] = np.load(output)
                run = {"task": f"{options.threads} threads", "program": program, "round": number, **times}
                run["sentences_per_second"] = len(texts) / times["wall_seconds"]
                run["sentences_per_cpu_second"] = len(texts) / times["cpu_seconds"]
                runs.append(run)
                say(f"round {number}, {program}: {run['sentences_per_cpu_second']:.0f} sentences per CPU second")
            for run in runs[-len(ways) :]:
                largest = np.abs(vectors[run["program"]] - vectors["sentence-transformers"]).max()
                run["largest_difference"] = float(largest)
    result["runs"], result["summary"] = runs, record.summary(runs)
    return all(run["largest_difference"] <= TOLERANCE for run in runs)


if __name__ == "__main__":
    print(json.dumps(_measured(json.loads(sys.argv[1]))))
