"""Suite `kernels`: cycles, flops and bytes of the training kernels, by instruction set and by size of the matrices.

    python benchmarks/run.py --suite kernels --dim 100 --name kernels

Every kernel trains on random words, each as frequent as the others, in one thread. The two matrices together fit the L1
cache, the L2 cache, or no cache. A unit is a position of a text, a line of a classifier, or a record of GloVe. Its time
is the least CPU time of many calls, divided by the units of a call. It includes what surrounds the arithmetic: windows,
drawn negatives, rows fetched ahead.

`flops` are those of the formulas, 2 for a multiply-add. `bytes` are those of the rows that a unit is the first to use,
read and written once. Later units find these rows in the L1 cache.

The roof of a row is the smaller of two limits. One is the peak of the multiply-adds. The other is flops / bytes, times
the bandwidth of a plain loop over as much memory. peak.c measures both, and the clock, with the compiler's flags of the
instruction set.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from measure import machine_peak
from record import cell, markdown

SIZES = {"L1": 24 << 10, "L2": 256 << 10, "memory": 512 << 20}
SECONDS = 0.25  # of calls, for each row
LABELS, LINE_WORDS = 16, 20
_UNITS = {"L1": 20_000, "L2": 20_000, "memory": 100_000}  # of a call

Array = Any
Row = dict[str, Any]


class Call(NamedTuple):
    """`run()` trains; `units` of a call, and the flops and the rows of the matrices that are new for each."""

    run: Callable[[], object]
    units: int
    flops: float
    rows: float


class Matrices(NamedTuple):
    """(rows, stride) each, small random numbers; `size` is one of SIZES, `stride` at least dim."""

    size: str
    dim: int
    input: Array
    output: Array


def matrices(size: str, dim: int) -> Matrices:
    from wv_cli.io.memory import pad_width, zeros

    rows = max(LABELS, SIZES[size] // (8 * pad_width(dim)))
    some = np.random.default_rng(1).normal(0, 0.1 / dim**0.5, (min(rows, 4096), dim)).astype(np.float32)
    pair = [zeros(rows, pad_width(dim)) for _ in range(2)]
    for matrix in pair:
        for first in range(0, rows, len(some)):
            part = matrix[first : first + len(some), :dim]
            part[:] = some[: len(part)]
    return Matrices(size, dim, *pair)


def word2vec(isa: str, of: Matrices, model: str, loss: str, **options: Any) -> Call:
    """A skip-gram tile has the window's rows as inputs, one of CBOW their mean."""
    from wv_cli import _word2vec
    from wv_cli.models.config import Word2vecConfig

    words, window, negative = len(of.input), 5, 5
    config = Word2vecConfig(
        model=model, loss=loss, dim=of.dim, window=window, negative=negative, sample=0, lr=1e-3, **options
    )
    ids = np.random.default_rng(2).integers(0, words, _UNITS[of.size], np.int32)
    ids[999::1000] = -1
    tables: dict[str, Any] = {"sampler": _word2vec.alias_table(np.ones(words))}
    # Of equally likely words a negative is drawn twice now and then, and counts once.
    outputs = 1 + (words - 1) * (1 - (1 - 1 / words) ** negative)
    output = of.output
    if loss == "hs":
        start, *_ = tables["path"] = _word2vec.huffman(np.ones(words, np.int64))
        del tables["sampler"]
        outputs, output = float(start[-1]) / words, output[:-1]
    worker = _word2vec.Run(config, ids=ids, input=of.input, output=output, isa=isa, **tables).worker()
    context, units = window + 1, len(ids) - len(ids) // 1000
    inputs = context if model == "skipgram" else 1
    flops = 6 * of.dim * outputs * inputs + (2 * of.dim * context if model == "cbow" else 0)
    return Call(lambda: worker.block(0, len(ids), 0), units, flops, 1 + outputs)


def supervised(isa: str, of: Matrices, loss: str) -> Call:
    from wv_cli import _supervised, _word2vec
    from wv_cli.models.config import SupervisedConfig

    words, lines, random = len(of.input), _UNITS[of.size] // LINE_WORDS, np.random.default_rng(2)
    ids = random.integers(0, words, (lines, LINE_WORDS + 2), np.int32)
    ids[:, 0], ids[:, -1] = -2 - random.integers(0, LABELS, lines), -1
    flat = ids.reshape(-1)
    rules = _supervised.Rules(ids=words, words=words, end_of_line=-1)
    tree = {"path": _word2vec.huffman(np.ones(LABELS, np.int64))} if loss == "hs" else {}
    outputs = tree["path"][0][-1] / LABELS if tree else LABELS
    run = _supervised.Run(
        SupervisedConfig(loss=loss, dim=of.dim, lr=1e-3, epochs=1),
        rules=rules,
        survey=rules.survey(flat, words),
        ids=flat,
        input=of.input,
        output=of.output[: LABELS - len(tree)],
        labels=LABELS,
        isa=isa,
        **tree,
    )
    worker = run.worker()
    flops = 2 * of.dim * LINE_WORDS + 6 * of.dim * outputs
    return Call(lambda: worker.block(0, len(flat), 0), lines, flops, LINE_WORDS)


def glove(isa: str, of: Matrices) -> Call:
    """A row is twice as long as elsewhere: the sums of the squared gradients follow the vector."""
    from wv_cli import _glove
    from wv_cli.io.memory import pad_width, zeros

    half, records = pad_width(of.dim + 2), np.zeros(_UNITS[of.size], _glove.TILE_RECORD)
    words = max(1, of.input.size // (2 * half))
    pair = [zeros(words, 2 * half) for _ in range(2)]
    for matrix in pair:
        matrix[:, half:] = 1
    random = np.random.default_rng(2)
    for name in ("row", "column"):
        records[name] = random.integers(0, min(words, 1 << 16), len(records))
    records["count"] = 5
    run = _glove.Run(words=pair[0], contexts=pair[1], eta=1e-3, clip=100.0, x_max=100.0, alpha=0.75, seed=1, isa=isa)
    scratch = zeros(1, -(-run.scratch_bytes(len(records)) // 4))[0]
    # For each number: its part of the product; in each matrix gradient, rate, root, step, and the sum of squares.
    return Call(lambda: run.chunk(records, 0, 0, 0, 0, scratch), len(records), (2 + 2 * 7) * of.dim, 4)


KERNELS: dict[str, tuple[str, Callable[[str, Matrices], Call]]] = {
    "skip-gram, negative sampling": ("position", lambda isa, of: word2vec(isa, of, "skipgram", "ns")),
    "skip-gram, hierarchical softmax": ("position", lambda isa, of: word2vec(isa, of, "skipgram", "hs")),
    "CBOW, negative sampling": ("position", lambda isa, of: word2vec(isa, of, "cbow", "ns")),
    "CBOW, shared positions": ("position", lambda isa, of: word2vec(isa, of, "cbow", "ns", share_positions=True)),
    "CBOW, hierarchical softmax": ("position", lambda isa, of: word2vec(isa, of, "cbow", "hs")),
    "classifier, softmax": ("line", lambda isa, of: supervised(isa, of, "softmax")),
    "classifier, hierarchical softmax": ("line", lambda isa, of: supervised(isa, of, "hs")),
    "GloVe": ("record", glove),
}


def least(call: Call) -> tuple[float, int]:
    """The least CPU seconds of a unit, and of how many calls."""
    call.run()  # the first call fills the caches
    taken: list[float] = []
    while sum(taken) < SECONDS or len(taken) < 3:
        begin = time.thread_time()
        call.run()
        taken.append(time.thread_time() - begin)
    return min(taken) / call.units, len(taken)


def roofs(isa: str) -> tuple[float, float, dict[str, float]]:
    """GHz, GFLOP/s, and GB/s for every size."""
    from wv_cli import _cpu

    flags = [flag for flag in _cpu.flags()[isa].split() if flag.startswith("-m")]
    found = [machine_peak(flags, *what) for what in ([], ["clock"], *([size] for size in SIZES.values()))]
    flops, clock, *bandwidths = (float("nan") if each is None else each for each in found)
    return clock, flops, dict(zip(SIZES, bandwidths, strict=True))


def rows_of(isa: str, of: Matrices) -> Iterator[Row]:
    for name, (unit, prepare) in KERNELS.items():
        call = prepare(isa, of)
        seconds, calls = least(call)
        traffic = call.rows * 8 * of.input.shape[1]
        yield {
            "isa": isa,
            "kernel": name,
            "unit": unit,
            "size": of.size,
            "calls": calls,
            "ns": 1e9 * seconds,
            "flops": call.flops,
            "bytes": traffic,
            "gflops": call.flops / seconds / 1e9,
            "gb_per_s": traffic / seconds / 1e9,
        }


def kernels(options: Any, result: dict[str, Any], say: Callable[[str], None]) -> bool:
    from wv_cli import _cpu

    result["data"] = [{"name": "random words", "dim": options.dim, "sizes": SIZES}]
    result["roofs"], result["summary"] = [], []
    for isa in _cpu.usable():
        clock, peak, bandwidth = roofs(isa)
        result["roofs"].append({"isa": isa, "ghz": clock, "gflops": peak, "gb_per_s": bandwidth})
        say(f"{isa}: {clock} GHz, {peak} GFLOP/s, GB/s {bandwidth}")
        for size in SIZES:
            for row in rows_of(isa, matrices(size, options.dim)):
                roof = min(peak, row["flops"] / row["bytes"] * bandwidth[size])
                row["cycles"] = row["ns"] * clock
                row["percent_of_peak"], row["percent_of_roof"] = (100 * row["gflops"] / each for each in (peak, roof))
                result["runs"].append({"round": 1, **row})
                result["summary"].append(row)
                say(f"{isa}, {row['kernel']}, {size}: {row['ns']:.0f} ns, {row['percent_of_roof']:.0f} % of the roof")
    return True


def table(result: dict[str, Any]) -> list[str]:
    """The roofs by instruction set, then a row for every kernel and size."""
    found = result["roofs"]
    columns = ["instruction set", "GHz", "GFLOP/s", *(f"GB/s, {size}" for size in SIZES)]
    values = [[one["isa"], *map(cell, (one["ghz"], one["gflops"], *one["gb_per_s"].values()))] for one in found]
    names = ("isa", "kernel", "unit", "size", "ns", "cycles", "flops", "bytes", "gflops", "gb_per_s")
    shares = ("percent_of_peak", "percent_of_roof")
    lines = [[cell(row[name]) for name in (*names, *shares)] for row in result["summary"]]
    heads = ["instruction set", *names[1:-2], "GFLOP/s", "GB/s", *("% of " + name.split("_")[-1] for name in shares)]
    return [*markdown(columns, values, labels=1), "", *markdown(heads, lines, labels=4)]


def roofline(result: dict[str, Any]) -> str:
    """csrc/README's table: what each kernel reaches with the best instruction set."""
    best = result["roofs"][-1]
    rows = [row for row in result["summary"] if row["isa"] == best["isa"]]
    lines = []
    for name, (unit, _) in KERNELS.items():
        own = {row["size"]: row for row in rows if row["kernel"] == name}
        facts = [cell(own["memory"][field]) for field in ("flops", "bytes")]
        reached = [cell(own[size][field]) for size in SIZES for field in ("cycles", "percent_of_roof")]
        lines.append([name, unit, *facts, *reached])
    columns = ["kernel", "unit", "flops", "bytes", *(f"{size}, {what}" for size in SIZES for what in ("cycles", "%"))]
    figures = ", ".join(f"{value:.0f} GB/s {size}" for size, value in best["gb_per_s"].items())
    head = f"{result['machine']['processor']}, `{best['isa']}`: {best['gflops']:.0f} GFLOP/s, {figures}."
    return "\n".join([head, "", *markdown(columns, lines)]) + "\n"
