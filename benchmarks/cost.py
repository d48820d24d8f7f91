"""Suite `cost`: words per second against dim, window, negatives, vocabulary and threads.

    python benchmarks/run.py wiki8-slice.txt --suite cost --words 4000000 --rounds 2

One row is one `wv train` (skip-gram, negative sampling) on the first `--words` words of the corpus. The rows on the
vocabulary use a synthetic text with Zipf's law. `percent of peak` is the fraction of the processor's arithmetic that
the training reaches.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from measure import WV, core_latency, machine_peak, measure, median
from train import describe

DEFAULTS = {"dim": 100, "window": 5, "negative": 5, "threads": 1}
SWEEPS = {
    "dim": [50, 100, 200, 300, 400, 600],
    "window": [2, 5, 10, 20],
    "negative": [1, 2, 5, 10, 20],
    "threads": [1, 2],
}
VOCABULARIES = [10_000, 100_000, 500_000, 2_000_000]


def zipf_text(path: Path, vocabulary: int, words: int) -> None:
    """Writes lines of 50 words w0, w1, ... with P(rank) ~ 1 / rank."""
    import numpy as np

    random = np.random.default_rng(1)
    cumulative = np.cumsum(1 / np.arange(1, vocabulary + 1))
    with path.open("w") as stream:
        for _ in range(0, words, 1_000_000):
            ranks = np.searchsorted(cumulative, random.random(1_000_000) * cumulative[-1])
            for line in ranks.reshape(-1, 50).tolist():
                stream.write(" ".join(f"w{rank}" for rank in line) + "\n")


def head(corpus: Path, path: Path, words: int) -> None:
    """The first lines of the corpus with at least so many words."""
    with corpus.open("rb") as source, path.open("wb") as target:
        for line in source:
            target.write(line)
            words -= line.count(b" ") + 1
            if words <= 0:
                return


def train(text: Path, folder: Path, settings: dict[str, int], rounds: int, *more: str) -> dict[str, Any]:
    """Median words per second of training alone, examples included."""
    options = [f"--{name}={value}" for name, value in settings.items()]
    argv = [*WV, "train", str(text), "-o", str(folder / "vectors.bin"), *options, *more]
    argv += ["--epochs=1", "--sample=1e-4", "--lr=0.05", "--no-meta", "--json"]
    runs = [json.loads(measure(argv).stdout) for _ in range(rounds)]
    rates = [run["words_per_second"] for run in runs]
    return {
        "rates": rates,
        "rate": median(rates),
        "examples": runs[0]["examples"],
        "words": runs[0]["corpus"]["words"],
        "tokens": runs[0]["corpus"]["tokens"],
    }


def cost(options: Any, result: dict[str, Any], say: Any) -> bool:
    rows: list[dict[str, Any]] = []
    peak = machine_peak(["-march=native"])
    result["peak_gflops"] = peak
    result["corpus"] = describe(Path(options.corpus))

    def add(varied: str, value: int, settings: dict[str, int], run: dict[str, Any]) -> None:
        # Per (context, center) pair: 1 + negatives dot products and twice as many row updates, 6 dim operations each.
        work = run["examples"] / run["tokens"] * (1 + settings["negative"]) * 6 * settings["dim"] * run["rate"]
        share = 100 * work / 1e9 / peak / settings["threads"] if peak else float("nan")
        rows.append({"varied": varied, "value": f"{value:,}", "vocabulary": f"{run['words']:,}"})
        result["runs"] += [
            {"round": number, **rows[-1], "words_per_second": rate} for number, rate in enumerate(run["rates"], 1)
        ]
        rows[-1] |= {"k_words_per_second": run["rate"] / 1e3, "gflops": work / 1e9, "percent_of_peak": share}
        if settings["threads"] > 1:
            rows[-1]["value"] += f" ({core_latency()} ns core to core)"
        say(f"{varied} {value:,}: {run['rate'] / 1e6:.2f} M words/s, {share:.0f} % of the arithmetic limit")

    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        text = folder / "text.txt"
        head(Path(options.corpus), text, options.words)
        for varied, values in SWEEPS.items():
            for value in values:
                settings = {**DEFAULTS, varied: value}
                add(varied, value, settings, train(text, folder, settings, options.rounds))
        for vocabulary in VOCABULARIES:
            zipf_text(text, vocabulary, options.words)
            run = train(text, folder, DEFAULTS, options.rounds, "--min-count=1")
            add("vocabulary (Zipf)", vocabulary, DEFAULTS, run)
    result["summary"] = rows
    return True
