"""Suite `sentences`: sentence vectors made of word vectors on the STS benchmark, plain, whitened and all-but-the-top.

    python benchmarks/run.py corpus.txt --suite sentences --epochs 5 --rounds 3 \\
        --data stsb-en-train.csv --data stsb-en-test.csv

Scores are Spearman x 100 on the test sentences. Transforms and SIF's common component are fitted without the scores,
in two ways. `wv eval sts --after` fits on the test sentences themselves. A user who answers for new sentences must fit
on the training split. The second is computed with the library. Fitted on the test sentences, the same code must give
the result of the command, or the run ends with exit code 1.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import WV, median
from record import Run
from train import Job, command

from wv_cli.evaluation.sts_data import SentencePairs, read_sentence_pairs
from wv_cli.text.stop_words import read_stop_words
from wv_cli.text.vocab import Vocab, read_vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.sentences import SIF_A, Counts, Sentences, common_component, pool_rows, without_component
from wv_cli.transforms.whiten import fit
from wv_cli.vectors import formats
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup

POOLINGS, AFTER, STOP_WORDS = ("mean", "sif"), ("-", "whiten", "abtt"), ("keep", "drop")
_SAME = 1e-6  # of 100


def _texts(pairs: SentencePairs) -> list[str]:
    return [pair[side] for side in (0, 1) for pair in pairs.texts]


def _pooled(texts: list[str], embeddings: Embeddings, vocab: Vocab, pooling: str, stop: str) -> tuple[Any, Any]:
    """(vectors (texts, dim), lengths), SIF's without the removal of the common component."""
    lookup = Lookup(embeddings, "fold-first", subwords=False)
    drop = read_stop_words(None) if stop == "drop" else frozenset[str]()
    sentences = Sentences.from_texts(texts, lookup, drop)
    weights = np.ones(len(embeddings))
    if pooling == "sif":
        weights = SIF_A / (SIF_A + Counts(vocab, lookup).of_rows(len(embeddings)) / vocab.tokens)
    return pool_rows(sentences, embeddings.matrix, weights), sentences.lengths


def _correlations(
    test: SentencePairs, fitted_on: SentencePairs, embeddings: Embeddings, vocab: Vocab
) -> dict[tuple[str, str, str], float]:
    """Spearman x 100 on `test` by (stop words, pooling, after); everything that is fitted is so on `fitted_on`."""
    found = {}
    for stop in STOP_WORDS:
        for pooling in POOLINGS:
            x, lengths = _pooled(_texts(test), embeddings, vocab, pooling, stop)
            other, other_lengths = _pooled(_texts(fitted_on), embeddings, vocab, pooling, stop)
            if pooling == "sif":
                component = common_component(other)
                x, other = without_component(x, component), without_component(other, component)
            moments = Moments.none(x.shape[1]).with_rows(other[other_lengths > 0])
            for after in AFTER:
                made = x
                if after != "-":
                    transform = fit(moments, WhitenConfig(method=after))  # type: ignore[arg-type]
                    made = np.where(lengths[:, None] > 0, (x - transform.mean) @ transform.matrix, 0)
                norms = np.linalg.norm(made, axis=1, keepdims=True)
                unit = made / np.where(norms == 0, 1, norms)
                cosines = np.einsum("ij,ij->i", unit[: len(test.texts)], unit[len(test.texts) :])
                found[stop, pooling, after] = float(100 * spearman(np.round(cosines, 12), test.gold))
    return found


def _of_command(vectors: Path, counts: Path, test: Path) -> list[Run]:
    options = ["--pooling", "sif", "--after", "whiten", "--after", "abtt", "--stop-words", "both", "--counts", counts]
    out = record.used([*WV, "eval", "sts", vectors, "-d", test, *options, "--json", "-q"])[1]
    rows: list[Run] = json.loads(out)["results"]
    return rows


def sentences(options: Any, result: Run, say: Any) -> bool:
    corpus, train, test = Path(options.corpus), record.data(options, "train"), record.data(options, "test")
    result["data"] = record.inputs(corpus, train, test)
    sets = {"test": read_sentence_pairs(str(test)), "train": read_sentence_pairs(str(train))}
    result["fitted_on"] = {name: f"{2 * len(pairs.texts)} sentences" for name, pairs in sets.items()}
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        counts = Path(name) / "counts"
        record.used([*WV, "build-vocab", corpus, "-o", counts, "--min-count", options.min_count, "-q"])
        vocab = read_vocab(str(counts))
        for number, seed in record.rounds(options):
            vectors = Path(name) / "vectors.bin"
            job = Job(
                str(corpus), "skipgram", "ns", options.dim, options.window, options.negative, options.sample,
                options.min_count, options.lr or 0.05, options.epochs, options.threads, seed, False, str(vectors),
            )  # fmt: skip
            record.used(command("wv", job, options.peers))
            embeddings = formats.load(vectors)
            found = {on: _correlations(sets["test"], pairs, embeddings, vocab) for on, pairs in sets.items()}
            for row in _of_command(vectors, counts, test):
                key = row["stop_words"], row["pooling"], row["after"]
                run = {
                    "task": " ".join(key), "program": "wv", "round": number, "seed": seed, "stop_words": key[0],
                    "pooling": key[1], "after": key[2], "spearman": row["spearman"], "train": found["train"][key],
                    "library": found["test"][key], "gain": row["gain"], "gain_low": row["gain_low"],
                    "gain_high": row["gain_high"], "zero_vectors": row["zero_vectors"], "used": row["used"],
                }  # fmt: skip
                runs.append(run)
            say(f"seed {seed}: {[round(run['spearman'], 1) for run in runs if run['round'] == number]}")
    result["runs"], result["summary"] = runs, _summary(runs)
    return all(abs(run["spearman"] - run["library"]) < _SAME for run in runs)


def _summary(runs: list[Run]) -> list[Run]:
    """Medians over the seeds; the plain mean has no gain over itself."""
    rows = []
    for task in dict.fromkeys(run["task"] for run in runs):
        found = [run for run in runs if run["task"] == task]
        row = {name: found[0][name] for name in ("task", "program", "stop_words", "pooling", "after", "zero_vectors")}
        for name in ("spearman", "train", "gain", "gain_low", "gain_high"):
            known = [run[name] for run in found if run[name] is not None]
            row[name] = median(known) if known else None
        rows.append(row | {"seeds": len(found)})
    return rows


def table(result: Run) -> list[str]:
    """Markdown: Spearman x 100, medians over the seeds, by what the transform was fitted on."""
    columns = ["stop words", "sentence vector", "fitted on the test sentences", "gain over the mean", "its 95 %"]
    columns += ["fitted on the training split", "test sentences without a word"]
    rows = []
    for row in result["summary"]:
        after = "" if row["after"] == "-" else f", {row['after']}"
        fitted = row["pooling"] == "sif" or after
        gain = "" if row["gain"] is None else f"{row['gain']:+.2f}"
        interval = "" if row["gain"] is None else f"{row['gain_low']:.2f} to {row['gain_high']:.2f}"
        train = f"{row['train']:.2f}" if fitted else "nothing to fit"
        cells = [row["stop_words"], f"{row['pooling']}{after}", f"{row['spearman']:.2f}", gain, interval, train]
        rows.append([*cells, f"{row['zero_vectors']}"])
    seeds = max((row["seeds"] for row in result["summary"]), default=0)
    return [*record.markdown(columns, rows), "", f"Medians of {seeds} seeds; intervals by paired bootstrap."]
