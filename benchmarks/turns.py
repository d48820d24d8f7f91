"""Suites `turns` and `deterministic`: what ways to train learn beside one thread that runs free."""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import record
from record import Run
from train import MODELS, describe, score

from wv_cli import _word2vec
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.deterministic import DeterministicWord2vec
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode
from wv_cli.vectors import formats

THREADS = (1, 2, 4, 8, 16, 32)
TURN = 500  # words
UNMOVED = 1e-9  # a learning rate that leaves all as it is, within what a float32 holds
# What the mean loss, analogies and WordSim-353 of many threads may be worse by than those of one that runs free.
WORSE = {"loss": 0.005, "analogy": 1.0, "WS353": 0.03}

# trained(corpus, name in MODELS, seed, vectors) trains, and saves the vectors; what it returns has the loss.
Trained = Callable[[Corpus, str, int, Path], Run]
Beside = Callable[[Run, Run], Run]


def configured(options: Any, name: str, **more: Any) -> Word2vecConfig:
    """The model `name` of MODELS, as the options of the command line have it."""
    model, loss, lr, subwords, _ = MODELS[name]
    ngrams = {"minn": 3, "maxn": 6} if subwords else {}
    return Word2vecConfig(
        model=model, loss=loss, lr=options.lr or lr, epochs=options.epochs, dim=options.dim, window=options.window,
        negative=options.negative, sample=options.sample, **ngrams, **more,
    )  # fmt: skip


def _trained(corpus: Corpus, config: Word2vecConfig, vectors: Path) -> float:
    model = Word2vec(config, corpus)
    model.starts = _word2vec.block_starts(corpus.ids, TURN, config.max_sentence)
    workers = [model.worker() for _ in range(config.threads)]
    for step in range(model.steps):
        model.train_step(step, workers[step % config.threads])
    for worker in workers:
        model.flush(worker)
    formats.save(vectors, model.embeddings())
    return finished_loss(corpus, config, model)


def timed(corpus: Corpus, config: Word2vecConfig, kind: type[Word2vec], vectors: Path) -> Run:
    """Trains by one thread and saves the vectors: the processor time of training alone, and the loss."""
    model = kind(config, corpus)
    worker = model.worker()
    begin = time.process_time()
    for step in range(model.steps):
        model.train_step(step, worker)
    seconds = time.process_time() - begin
    model.flush(worker)
    formats.save(vectors, model.embeddings())
    return {"cpu_seconds": seconds, "loss": finished_loss(corpus, config, model)}


def finished_loss(corpus: Corpus, config: Word2vecConfig, trained: Word2vec) -> float:
    """The mean over every fourth block of the text, with draws of its own."""
    still = Word2vec(replace(config, threads=1, epochs=1, seed=config.seed + 1000, lr=UNMOVED), corpus)
    for name, array in still.arrays().items():
        array[:] = trained.arrays()[name]
    worker, totals = still.worker(), np.zeros(2)
    for step in range(0, still.steps, 4):
        loss, examples, _, _ = still.train_step(step, worker)
        totals += loss, examples
    return float(totals[0] / totals[1])


def turns(options: Any, result: Run, say: Any) -> bool:
    """Suite `turns`: what many threads learn, simulated on a machine with any number of cores.

        python benchmarks/run.py corpus.txt --suite turns --models skipgram-ns,cbow-ns,skipgram-hs --epochs 2 --rounds 3

    With fewer cores than threads, threads take turns of milliseconds and hardly ever see an old value. Here the workers
    of the threads (csrc/kernels/word2vec/replica.h) are called in turn, each for 500 words. The others see what one
    learns after its next exchange, as on a machine with that many cores. `loss` is that of the finished model over the
    text. Results count as equal within 1.0 (analogies, %), 0.03 (WS353) and 0.5 % of the loss.
    """

    def by(threads: int) -> Trained:
        def trained(corpus: Corpus, name: str, seed: int, vectors: Path) -> Run:
            return {"loss": _trained(corpus, configured(options, name, seed=seed, threads=threads), vectors)}

        return trained

    return compared(options, result, say, {f"{threads} threads": by(threads) for threads in THREADS})


def deterministic(options: Any, result: Run, say: Any) -> bool:
    """Suite `deterministic`: the cost of `--deterministic` beside a free-running thread, and what is learnt.

        python benchmarks/run.py corpus.txt --suite deterministic --models skipgram-ns,cbow-ns --epochs 5 --rounds 3

    `cpu seconds` are of training alone, by one thread, without encoding and output. `times cpu` divides the
    deterministic run by the free one of the same round; it is the median over the rounds. `loss` is that of the
    finished model over the text, with the same draws for both runs. `loss percent` is the difference to the free run.
    Suite `turns` says which differences count as equal.
    """

    def by(kind: type[Word2vec]) -> Trained:
        def trained(corpus: Corpus, name: str, seed: int, vectors: Path) -> Run:
            config = configured(options, name, seed=seed, threads=1, deterministic=kind is DeterministicWord2vec)
            return timed(corpus, config, kind, vectors)

        return trained

    def beside(found: Run, free: Run) -> Run:
        times, loss = (found[key] / free[key] for key in ("cpu_seconds", "loss"))
        return {"times_cpu": times, "loss_percent": 100 * (loss - 1)}

    return compared(options, result, say, {"free": by(Word2vec), "deterministic": by(DeterministicWord2vec)}, beside)


def compared(
    options: Any, result: Run, say: Any, ways: Mapping[str, Trained], beside: Beside = lambda found, first: {}
) -> bool:
    """Fills result["runs"] and result["summary"]; whether no way to train is worse than the first, in medians. Of each
    run and that of the first way with the same seed `beside` makes more figures."""
    result["corpus"] = describe(Path(options.corpus))
    corpus = encode([options.corpus], VocabConfig(min_count=options.min_count))
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        vectors = Path(folder) / "vectors.bin"
        for number, seed in record.rounds(options):
            for name in options.models:
                first: Run = {}
                for way, trained in ways.items():
                    found = trained(corpus, name, seed, vectors)
                    first = first or found
                    found = found | beside(found, first) | score(vectors, options.simlex)
                    result["runs"].append({"round": number, "task": name, "program": way, **found})
                    say(f"{name}, {way}: {found}")
    result["summary"] = record.summary(result["runs"])
    return not _worse(result["summary"], next(iter(ways)), say)


def _worse(rows: list[Run], first: str, say: Any) -> bool:
    """Whether a way to train is worse by more than WORSE than the one named `first`."""
    found = False
    for row in rows:
        one = next(each for each in rows if (each["task"], each["program"]) == (row["task"], first))
        less = {key: one[key] - row[key] for key in ("analogy", "WS353")} | {"loss": row["loss"] / one["loss"] - 1}
        for key, bound in WORSE.items():
            if less[key] > bound:
                say(f"{row['task']}, {row['program']}: {key} is worse than {first} by {less[key]:.3g}")
                found = True
    return found
