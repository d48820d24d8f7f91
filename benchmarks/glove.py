"""Suite `glove`: what `wv glove` costs, stage by stage, as a share of one epoch of word2vec C on the same text.

GloVe's own program is not on PyPI. Its figures for the same settings (window 10, dim 100) are known as shares of
word2vec C (skip-gram, negative sampling, -O3 -march=native) on one machine: 0.16 to count and shuffle, 0.65 a pass.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

from measure import WV, measure, median
from train import Job, command, describe, score

ITERATIONS = (1, 4)


def glove(options: Any, result: dict[str, Any], say: Any) -> bool:
    """CPU seconds of counting with ordering (text to ordered tiles), and of one iteration over them."""
    corpus = Path(options.corpus)
    result["corpus"] = describe(corpus)
    common = [f"--threads={options.threads}", f"--min-count={options.min_count}", "-q", "--no-meta"]
    rows: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)

        def used(*words: object) -> float:
            return measure([*WV, "glove", *map(str, words), *common]).cpu_seconds

        for _ in range(options.rounds):
            vectors = folder / "vectors.bin"
            text = [used(corpus, "-o", vectors, f"--dim={options.dim}", f"--iterations={n}") for n in ITERATIONS]
            iteration = (text[1] - text[0]) / (ITERATIONS[1] - ITERATIONS[0])
            rows.setdefault("count and order", []).append(text[0] - ITERATIONS[0] * iteration)
            rows.setdefault("one iteration", []).append(iteration)
            counts = folder / "counts"
            rows.setdefault("count and save GloVe's records", []).append(
                used(corpus, "--counts-only", "--save-counts", counts)
            )
            if "word2vec" in options.programs:
                job = Job(
                    str(corpus), "skipgram", "ns", options.dim, options.window, options.negative, options.sample,
                    options.min_count, 0.05, 1, options.threads, 1, False, str(vectors),
                )  # fmt: skip
                rows.setdefault("word2vec C, one epoch", []).append(
                    measure(command("word2vec", job, options.peers)).cpu_seconds
                )
        measured = {stage: median(seconds) for stage, seconds in rows.items()}
        if options.epochs > 1:
            done = measure([*WV, "glove", str(corpus), "-o", str(vectors), f"--iterations={options.epochs}",
                            f"--dim={options.dim}", *common[:2], "--json"])  # fmt: skip
            result["records"] = json.loads(done.stdout)["counts"]["records"]
            result["scores"] = score(vectors, options.simlex)
            say(f"after {options.epochs} iterations: {result['scores']}")
    whole = measured.get("word2vec C, one epoch")
    result["summary"] = [
        {"stage": stage, "program": "word2vec" if stage.startswith("word2vec") else "wv", "cpu_seconds": seconds}
        | ({"share_of_word2vec": seconds / whole} if whole else {})
        for stage, seconds in measured.items()
    ]
    for row in result["summary"]:
        say(f"{row['stage']}: {row['cpu_seconds']:.2f} s CPU")
    return True
