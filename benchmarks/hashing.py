"""Suite `hashing`: how well codes find neighbors, by hash length and by storage.

    python benchmarks/run.py --suite hashing --data data/hashing/glove50_4k.txt.xz --data vectors.bin --rounds 3

For each vector file of `--data` and each method the suite records retrieval, correlation, bits per word and CPU
seconds. Retrieval is mAP and recall@100 against the 100 nearest neighbors by exact cosine (`wv eval retrieval`).
Correlation is Spearman's on word similarity. CPU seconds are those of fitting and encoding.

One comparison is by hash length, as in the papers: bits of dense codes, active bits of sparse ones. The other is by
storage: each method has its longest code that fits, and `bits per word` is what it took. BioHash is its paper's
learning rule with our defaults. k-means is the spherical k-means of `--rule kmeans`, the default. `--plot FILE` draws
both comparisons and needs matplotlib.
"""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import record
from measure import HERE, median
from record import Run

from wv_cli.errors import UsageError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.fit import fit
from wv_cli.hashing.product import longest as longest_product
from wv_cli.vectors import formats
from wv_cli.vectors.codes import CodeVectors
from wv_cli.vectors.embeddings import Embeddings

LENGTHS = (4, 8, 16, 32, 64, 128)
STORAGE = (32, 64, 128, 256, 512)
SIMILARITY = HERE.parent / "data" / "similarity" / "EN-WS-353-ALL.txt"
# name in the tables: method, options. BioHash is its paper's learning rule; spherical k-means finds the same kind of
# centers, faster.
METHODS: dict[str, tuple[str, Run]] = {
    "lsh": ("lsh", {}),
    "densefly": ("densefly", {}),
    "itq": ("itq", {}),
    "pcah": ("pcah", {}),
    "pq": ("pq", {}),
    "fly": ("fly", {}),
    "randexp": ("randexp", {}),
    "BioHash": ("biohash", {"rule": "sgd"}),
    "k-means": ("biohash", {"rule": "kmeans"}),
}
SPARSE = ("fly", "randexp", "biohash")
ROTATIONS = ("itq", "pcah")  # have no more bits than the vectors have directions
FIGURES = {
    "map": "mAP %",
    "recall": "recall@100 %",
    "spearman": "Spearman",
    "bits": "bits per word",
    "cpu_seconds": "CPU seconds to fit and encode",
}


def longest(method: str, bits: int, dim: int) -> int:
    """The length of the longest code that takes at most so many bits; 0: none does."""
    if method == "pq":  # has bytes for equal blocks of coordinates: not every number of them
        return longest_product(dim, bits)
    if method not in SPARSE:
        return min(bits, dim) if method in ROTATIONS else bits
    fits = (
        active for active in range(1, bits + 1)
        if active * math.ceil(math.log2(20 * active if method == "biohash" else 10 * dim)) <= bits
    )  # fmt: skip
    return max(fits, default=0)


def judged(name: str, path: str, embeddings: Embeddings | CodeVectors, options: Any) -> Run:
    source = Vectors(name, lambda: embeddings)
    retrieval, similarity = TASKS["retrieval"], TASKS["similarity"]
    settings = retrieval.config(queries=options.queries, threads=options.threads, restrict_vocab=options.limit)
    found = retrieval.run([source], [path], settings).rows[0]
    pairs = similarity.run([source], [str(SIMILARITY)], similarity.config()).rows[0]
    return {"map": found["map"], "recall": found["recall"], "spearman": pairs["spearman"], "pairs": pairs["used"]}


def asked(dim: int) -> Iterator[tuple[str, int, str, int]]:
    """(axis, value on it, name of the method, length)."""
    for name, (method, _) in METHODS.items():
        if method != "pq":
            yield from (("length", length, name, length) for length in LENGTHS)
        for bits in STORAGE:
            if length := longest(method, bits, dim):
                yield "bits", bits, name, length


def hashing(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(*options.data, SIMILARITY)
    for path in options.data:
        embeddings = formats.load(path, limit=options.limit or None)
        facts = {"vectors": path.name, "words": len(embeddings), "dim": embeddings.dim}
        plain = Embeddings(embeddings.words, embeddings.matrix.copy())
        result["runs"].append({**facts, "round": 1, "axis": "dense", **judged("dense", str(path), plain, options)})
        for number, seed in record.rounds(options):
            for axis, value, name, length in asked(embeddings.dim):
                method, choices = METHODS[name]
                begin = time.process_time()
                try:
                    hasher = fit(embeddings, method, HashConfig(length=length, seed=seed, **choices))
                except UsageError:
                    continue  # more bits than the method has directions
                assert hasher is not None
                codes = hasher.encode(embeddings)
                run = {**facts, "round": number, "seed": seed, "axis": axis, "value": value, "method": name}
                run |= {"cpu_seconds": time.process_time() - begin, "bits": codes.bits_per_word}
                result["runs"].append(run | judged(name, str(path), CodeVectors(codes), options))
                say(f"round {number} {path.name} {axis} {value} {name}: mAP {result['runs'][-1]['map']:.1f}")
    result["summary"] = []
    if options.plot:
        plot(result, options.plot)
    return True


def _cells(result: Run, vectors: str, axis: str, figure: str) -> dict[tuple[str, int], float]:
    found: dict[tuple[str, int], list[float]] = {}
    for run in result["runs"]:
        if run["vectors"] == vectors and run["axis"] == axis:
            found.setdefault((run["method"], run["value"]), []).append(run[figure])
    return {key: median(values) for key, values in found.items()}


def table(result: Run) -> list[str]:
    """Markdown: for each vector file and axis a table a figure, medians over the rounds."""
    lines = []
    for run in (run for run in result["runs"] if run["axis"] == "dense"):
        what = f"{run['words']:,} words of {run['dim']} numbers; Spearman of the vectors {run['spearman']:.3f}"
        lines += ["", f"**{run['vectors']}**, {what} on {run['pairs']} pairs"]
        for axis, values, by in (("length", LENGTHS, "hash length"), ("bits", STORAGE, "at most so many bits a word")):
            for figure, title in FIGURES.items():
                digits = {"spearman": 3, "bits": 0, "cpu_seconds": 2}.get(figure, 1)
                cells = _cells(result, run["vectors"], axis, figure)
                rows = [
                    [name, *(f"{cells[name, value]:.{digits}f}" if (name, value) in cells else "" for value in values)]
                    for name in METHODS
                    if any((name, value) in cells for value in values)
                ]
                lines += ["", f"{title}, by {by}", "", *record.markdown(["method", *map(str, values)], rows, labels=1)]
    return lines[1:]


def plot(result: Run, path: Path) -> None:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise SystemExit("--plot needs matplotlib: pip install matplotlib") from error
    names = list(dict.fromkeys(run["vectors"] for run in result["runs"]))
    figure, axes = pyplot.subplots(len(names), 2, figsize=(12, 4.5 * len(names)), squeeze=False)
    for row, vectors in zip(axes, names, strict=True):
        for axis, (kind, label) in zip(row, (("length", "hash length"), ("bits", "bits a word")), strict=True):
            cells = _cells(result, vectors, kind, "map")
            for name in METHODS:
                points = sorted((value, found) for (method, value), found in cells.items() if method == name)
                if points:
                    axis.plot(*zip(*points, strict=True), marker="o", label=name)
            axis.set(title=vectors, xlabel=label, ylabel="mAP %", xscale="log")
            axis.set_xticks(LENGTHS if kind == "length" else STORAGE)
            axis.set_xticklabels(map(str, LENGTHS if kind == "length" else STORAGE))
            axis.minorticks_off()
            axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
