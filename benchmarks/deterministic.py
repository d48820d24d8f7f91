"""Suite `deterministic`: what `--deterministic` costs beside a thread that runs free, and what is learnt.

    python benchmarks/run.py corpus.txt --suite deterministic --models skipgram-ns,cbow-ns --epochs 5 --rounds 3

`cpu seconds` are of training alone, by one thread, without encoding and the output; `times cpu` is the median over the
rounds of what the deterministic run took, in those of the free one of the same round. `loss` is that of the finished
model over the text, with the same draws for both (benchmarks/turns.py, which says how much worse is no worse), and
`loss percent` what it is above the free one's.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import record
from record import Run
from train import describe, score
from turns import configured, finished_loss, worse

from wv_cli import formats
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.rounds import DeterministicWord2vec
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode

WAYS: dict[str, type[Word2vec]] = {"free": Word2vec, "deterministic": DeterministicWord2vec}


def _trained(corpus: Corpus, config: Word2vecConfig, way: str, vectors: Path) -> Run:
    model = WAYS[way](config, corpus)
    worker = model.worker()
    begin = time.process_time()
    for step in range(model.steps):
        model.train_step(step, worker)
    seconds = time.process_time() - begin
    model.settle(worker)
    formats.save(vectors, model.embeddings())
    return {"cpu_seconds": seconds, "loss": finished_loss(corpus, config, model)}


def deterministic(options: Any, result: Run, say: Any) -> bool:
    """Whether a deterministic run is no worse, in medians."""
    result["corpus"] = describe(Path(options.corpus))
    corpus = encode([options.corpus], VocabConfig(min_count=options.min_count))
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        vectors = Path(folder) / "vectors.bin"
        for number, seed in record.rounds(options):
            for name in options.models:
                free: Run = {}
                for way in WAYS:
                    config = configured(options, name, seed=seed, threads=1, deterministic=way == "deterministic")
                    found = _trained(corpus, config, way, vectors) | score(vectors, options.simlex)
                    free = free or found
                    found["times_cpu"] = found["cpu_seconds"] / free["cpu_seconds"]
                    found["loss_percent"] = 100 * (found["loss"] / free["loss"] - 1)
                    result["runs"].append({"round": number, "task": name, "program": way, **found})
                    say(f"{name}, {way}: {found}")
    result["summary"] = record.summary(result["runs"])
    return not worse(result["summary"], "free", say)
