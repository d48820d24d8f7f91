"""Suite `bio`: BioWord and BioHash beside their definitions in NumPy, and what BioWord learns.

    python benchmarks/run.py corpus.txt --suite bio --rounds 3 --data EN-MTurk-287.txt

The NumPy programs are the reference implementations in tests/reference, not the authors' programs. They compute the
same minibatch updates: BioWord's dense update of windows and BioHash's update of rows. Times are of one thread. Scores
are Spearman correlations on WordSim-353 and on the files of `--data`, for codes with 16 and 32 active cells. `before`
is one epoch with a learning rate of almost 0; the other rows are after four epochs.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import HERE, WV
from record import Run
from train import describe

from wv_cli.hashing.bioword import Bioword, start_weights
from wv_cli.hashing.config import BiowordConfig
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode

BATCHES = 5
ROWS, DIM, LENGTH = 20_000, 100, 16
TRAINING = {"before": ["--epochs", 1, "--lr", 1e-30], "4 epochs": ["--epochs", 4]}
WORDS = ["--max-vocab", 20_000, "--lowercase"]


def _cpu(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _bioword(text: Path) -> tuple[float, float]:
    """Seconds of the kernel and of NumPy for the same minibatches of whole windows."""
    from tests.reference.bioword import Straight

    full = encode([str(text)], VocabConfig(max_vocab=20_000, lowercase=True))
    config = BiowordConfig()
    words, size = full.ids[full.ids >= 0][: BATCHES * config.batch + 10], 2 * config.window + 1
    model = Bioword(config, Corpus(np.append(words, -1).astype(np.int32), full.vocab, len(words), 1, full.digest))
    (worker,), _ = model.worker()
    kernel = min(_cpu(lambda: worker.train(model.starts[: BATCHES + 1], 0.1)) for _ in range(3))
    straight = Straight(start_weights(config, len(full.vocab))[:, : config.cells], full.vocab.counts)
    inputs = np.lib.stride_tricks.sliding_window_view(words, size)[: BATCHES * config.batch].astype(np.int64)
    inputs[:, config.window] += len(full.vocab)

    def numpy() -> None:
        for first in range(0, len(inputs), config.batch):
            straight.batch(inputs[first : first + config.batch], 0.1)

    return kernel, _cpu(numpy)


def _biohash(seed: int) -> tuple[float, float]:
    """Seconds of an epoch of BioHash's rule, by ours and by NumPy, on random rows."""
    from tests.reference.codes import biohash_batch
    from wv_cli.hashing.config import HashConfig
    from wv_cli.hashing.fit import fit
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.words import WordList

    x = np.random.default_rng(seed).standard_normal((ROWS, DIM)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    embeddings = Embeddings(WordList.from_words([b"%d" % row for row in range(ROWS)]), x)
    epochs = [
        _cpu(lambda n=n: fit(embeddings, "biohash", HashConfig(length=LENGTH, rule="sgd", epochs=n, seed=seed)))
        for n in (1, 3)
    ]
    weights = np.random.default_rng(seed).standard_normal((20 * LENGTH, DIM)).astype(np.float32)
    config = HashConfig(rule="sgd")

    def numpy() -> None:
        for first in range(0, ROWS, config.batch):
            biohash_batch(weights, x[first : first + config.batch], config.rank, config.delta, config.p, config.lr)

    return (epochs[1] - epochs[0]) / 2, _cpu(numpy)


def bio(options: Any, result: Run, say: Any) -> bool:
    sys.path.insert(0, str(record.PROJECT))  # the reference implementations stand beside the tests
    text = Path(options.corpus)
    judged = [HERE.parent / "data" / "similarity" / "EN-WS-353-ALL.txt", *options.data]
    result["corpus"], result["data"] = describe(text), record.inputs(*judged)

    def add(number: int, task: str, program: str, **figures: float) -> None:
        result["runs"].append({"round": number, "task": task, "program": program, **figures})
        say(f"{result['runs'][-1]}")

    for number, seed in record.rounds(options):
        for task, seconds in (("BioWord's update", _bioword(text)), ("an epoch of BioHash's rule", _biohash(seed))):
            for program, value in zip(("wv", "NumPy"), seconds, strict=True):
                add(number, task, program, cpu_seconds=value)
        with tempfile.TemporaryDirectory(dir=options.scratch) as name:
            for when, how in TRAINING.items():
                for length in (16, 32):
                    codes = Path(name) / "words.codes"
                    argv = [*WV, "bioword", text, "-o", codes, *WORDS, *how, "--length", length, "--seed", seed]
                    used, _ = record.used([*argv, "--threads", options.threads, "-q", "--no-meta"])
                    scores = {path.stem: _score(codes, path) for path in judged}
                    add(number, f"BioWord, {length} active cells", when, **used, **scores)
    result["summary"] = record.summary(result["runs"])
    return True


def _score(codes: Path, pairs: Path) -> float:
    _, out = record.used([*WV, "eval", "similarity", codes, "-d", pairs, "--json"])
    return float(json.loads(out)["results"][0]["spearman"])
