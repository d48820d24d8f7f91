"""Suite `network`: predicted traffic and words per second of many machines that train one model.

    python benchmarks/run.py wiki8.txt --suite network

The prediction is for `nodes` ranks of 32 threads that train skip-gram with negative sampling on a long text. The
vocabulary is that of the corpus. Two rates are measured: words per second of one thread, and the program's own
exchange (wv_cli/cluster/exchange.py). The exchange takes this process for one of the ranks, between two rounds:

    bytes       sent in a round; the program chooses the rows that are due, and the changes of rare rows are drawn
    stopped     seconds in which no thread trains
    summing     seconds of computing with received rows, while the threads train

The rest is arithmetic. A ring of n ranks sends every byte 2 (n - 1) / n times. A thread is assumed to keep 0.4 of the
rate that one thread has alone, which is less than notes.md predicts:

    training    words of a thread in a round / (rate x 0.4)
    network     bytes x 2 (n - 1) / n / bandwidth
    words/s     32 n x words of a thread in a round / (stopped + max(training, network + summing))

More threads per rank mean more words between two exchanges, and less traffic per word.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import record
import train
from measure import measure, measure_json, median
from numpy.typing import NDArray
from record import Run

from wv_cli.cluster.exchange import Exchange
from wv_cli.cluster.trainer import ROUND_WORDS
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode

NODES, THREADS, KEPT = (2, 4, 8, 16, 32, 64), 32, 0.4
NETWORKS = {"1 Gbit/s": 1.25e8, "10 Gbit/s": 1.25e9, "100 Gbit/s": 1.25e10}
_TEXT = 10**10
_ROUNDS, _WARM = 24, 16  # the moments of rows are taken in every one of the first rounds
# Words per second that others have published, with the machine; neither is ours to check.
PUBLISHED = [
    ["pWord2Vec (Ji et al. 2016, arXiv 1611.06172)", "32 nodes of 36 cores, dim 300", "110 million words/s"],
    ["GraphWord2Vec (Gill et al. 2021)", "32 hosts of 48 cores", "12 times one host"],
]


class _Complete:
    def done(self) -> bool:
        return True

    def wait(self) -> None:
        """It is complete."""


class _OneOf:
    """A rank among `size` that all have changed the same: sums are complete at once."""

    def __init__(self, size: int) -> None:
        self.rank, self.size, self.bytes_sent = 0, size, 0

    def start_all_reduce(self, buffer: NDArray[np.float32]) -> _Complete:
        self.bytes_sent += buffer.nbytes
        buffer *= self.size
        return _Complete()

    def start_all_or(self, bits: NDArray[np.uint8]) -> _Complete:
        self.bytes_sent += bits.nbytes
        return _Complete()

    def broadcast_array(self, array: NDArray[Any]) -> None:
        """All have the same."""


def rounds_of(corpus: str, nodes: int, seed: int, min_count: int, **options: Any) -> Run:
    """Medians of a round once the first are over."""
    model = Word2vec(Word2vecConfig(**options), encode([corpus], VocabConfig(min_count=min_count)))
    dim = model.config.dim
    model.output[:, :dim] = 0.1 * np.random.default_rng(seed).standard_normal((len(model.output), dim), np.float32)
    ranks, words = _OneOf(nodes), float(ROUND_WORDS * THREADS)
    shared = model.shared()
    most = max(1, int(_TEXT / nodes / words / 2))
    exchange = Exchange(ranks, shared, words=words, most_rounds=most, lr=model.lr)  # type: ignore[arg-type]
    random, notes = np.random.default_rng(seed), np.zeros(1, np.float32)
    rows: list[tuple[int, float, float]] = []
    for number in range(_ROUNDS):
        for array, updates in shared:
            array[random.random(len(array)) < -np.expm1(-updates * words)] += np.float32(1e-4)
        before, begin = ranks.bytes_sent, time.perf_counter()
        exchange.meet(number, notes)
        stopped = time.perf_counter()
        exchange.poll()
        rows.append((ranks.bytes_sent - before, stopped - begin, time.perf_counter() - stopped))
    sent, stopped_seconds, summing = (median(list(column)) for column in zip(*rows[_WARM:], strict=True))
    return {"round_mb": sent / 1e6, "bytes_a_word": sent / words, "stopped_s": stopped_seconds, "summing_s": summing}


def _predicted(row: Run, rate: float) -> dict[str, float]:
    """Million words per second for every network."""
    nodes = row["nodes"]
    training = ROUND_WORDS / (rate * KEPT)
    ring = row["round_mb"] * 1e6 * 2 * (nodes - 1) / nodes
    return {
        name: nodes * THREADS * ROUND_WORDS / (row["stopped_s"] + max(training, ring / width + row["summing_s"])) / 1e6
        for name, width in NETWORKS.items()
    }


def network(options: Any, result: Run, say: Any) -> bool:
    """Fills result["runs"] and result["summary"]."""
    result["corpus"] = train.describe(Path(options.corpus))
    asked = {name: getattr(options, name) for name in ("dim", "window", "negative", "sample", "min_count", "seed")}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        job = train.asked(options, "skipgram-ns", options.seed, Path(name) / "vectors.bin")
        told = json.loads(measure([*train.command("wv", job, options.peers), "--json"]).stdout)
    rate = result["words_per_second_of_one_thread"] = told["words_per_second"]
    # As ranks do: one thread for products of matrices.
    child = ["env", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", sys.executable, __file__]
    for nodes in NODES:
        row: Run = {"round": 1, "nodes": nodes}
        row |= measure_json([*child, str(options.corpus), str(nodes), json.dumps(asked)])
        row |= {f"million words/s, {name}": value for name, value in _predicted(row, rate).items()}
        result["runs"].append(row)
        say(f"{nodes} nodes: {row}")
    result["summary"] = result["runs"]
    return True


def table(result: Run) -> list[str]:
    """The rows, then what others have published."""
    columns = [name for name in result["summary"][0] if name != "round"]
    rows = [[record.cell(row[name]) for name in columns] for row in result["summary"]]
    return [
        f"One thread trains {result['words_per_second_of_one_thread'] / 1e6:.2f} million words a second.",
        "",
        *record.markdown(columns, rows, 0),
        "",
        *record.markdown(["published", "machine", "figure"], PUBLISHED, 3),
    ]


if __name__ == "__main__":
    print(json.dumps(rounds_of(sys.argv[1], int(sys.argv[2]), **json.loads(sys.argv[3]))))
