"""Suite `glove`: the stages of `wv glove` beside GloVe's own programs and one epoch of word2vec C.

    python benchmarks/run.py corpus.txt --suite glove --glove-programs GloVe/build --epochs 10 --rounds 3

GloVe is not on PyPI: build stanfordnlp/GloVe and name the folder of its programs with `--glove-programs`. Both get the
same window, dim and minimum count, with x-max 100 and eta 0.05. The time of one iteration is that of four iterations
minus that of one, divided by 3. With `--epochs N` both are trained N iterations and scored.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from measure import WV, measure, medians
from train import Job, command, describe, score

ITERATIONS = (1, 4)
WINDOW = 10


def _run_to(argv: list[str], source: Path, target: Path) -> float:
    """CPU seconds of a filter from file to file."""
    line = 'exec "$0" "$@" < "$WV_SOURCE" > "$WV_TARGET"'
    return measure(["env", f"WV_SOURCE={source}", f"WV_TARGET={target}", "bash", "-c", line, *argv]).cpu_seconds


class Original:
    """GloVe's programs on one corpus, in one folder."""

    def __init__(self, programs: Path, corpus: Path, folder: Path, options: Any) -> None:
        self._programs, self._corpus, self._folder, self._options = programs, corpus, folder, options

    def _call(self, name: str, *words: object) -> list[str]:
        return [str(self._programs / name), *map(str, words), "-verbose", "0"]

    def count(self) -> dict[str, float]:
        """CPU seconds of counting and of ordering; leaves vocabulary and records in the folder."""
        vocabulary, records = self._folder / "vocab", self._folder / "records"
        words = _run_to(self._call("vocab_count", "-min-count", self._options.min_count), self._corpus, vocabulary)
        window = [
            "-window-size",
            WINDOW,
            "-vocab-file",
            vocabulary,
            "-memory",
            4,
            "-overflow-file",
            self._folder / "over",
        ]
        pairs = _run_to(self._call("cooccur", *window), self._corpus, records)
        shuffling = ["-memory", 4, "-temp-file", self._folder / "temp"]
        order = _run_to(self._call("shuffle", *shuffling), records, self._folder / "shuffled")
        return {"count": words + pairs, "order": order}

    def train(self, iterations: int, vectors: Path) -> float:
        words = [
            "-input-file", self._folder / "shuffled", "-vocab-file", self._folder / "vocab", "-save-file",
            vectors.with_suffix(""), "-vector-size", self._options.dim, "-iter", iterations, "-threads",
            self._options.threads, "-x-max", 100, "-eta", 0.05, "-binary", 0, "-seed", self._options.seed,
        ]  # fmt: skip
        return measure(self._call("glove", *words)).cpu_seconds


def glove(options: Any, result: dict[str, Any], say: Any) -> bool:
    """CPU seconds of counting with ordering (text to ordered records or tiles), and of one iteration over them."""
    corpus = Path(options.corpus)
    result["corpus"] = describe(corpus)
    common = [
        f"--threads={options.threads}",
        f"--min-count={options.min_count}",
        f"--window={WINDOW}",
        "-q",
        "--no-meta",
    ]
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        vectors = folder / "vectors.bin"

        def ours(*words: object) -> float:
            return measure([*WV, "glove", *map(str, words), *common]).cpu_seconds

        def add(number: int, program: str, stage: str, seconds: float) -> None:
            result["runs"].append({"round": number, "program": program, "stage": stage, "cpu_seconds": seconds})
            say(f"round {number} {program} {stage}: {seconds:.2f} s CPU")

        original = Original(options.glove_programs, corpus, folder, options) if options.glove_programs else None
        for number in range(1, options.rounds + 1):
            text = [ours(corpus, "-o", vectors, f"--dim={options.dim}", f"--iterations={n}") for n in ITERATIONS]
            iteration = (text[1] - text[0]) / (ITERATIONS[1] - ITERATIONS[0])
            add(number, "wv", "count and order", text[0] - ITERATIONS[0] * iteration)
            add(number, "wv", "one iteration", iteration)
            add(number, "wv", "count and save GloVe's records",
                ours(corpus, "--counts-only", "--save-counts", folder / "counts"))  # fmt: skip
            if original is not None:
                seconds = original.count()
                add(number, "GloVe", "count and order", seconds["count"] + seconds["order"])
                add(number, "GloVe", "count and save GloVe's records", seconds["count"])
                times = [original.train(n, folder / "original.txt") for n in ITERATIONS]
                add(number, "GloVe", "one iteration", (times[1] - times[0]) / (ITERATIONS[1] - ITERATIONS[0]))
            if "word2vec" in options.programs:
                job = Job(
                    str(corpus), "skipgram", "ns", options.dim, options.window, options.negative, options.sample,
                    options.min_count, 0.05, 1, options.threads, 1, False, str(vectors),
                )  # fmt: skip
                add(number, "word2vec", "one epoch of skip-gram",
                    measure(command("word2vec", job, options.peers)).cpu_seconds)  # fmt: skip
        if options.epochs > 1:
            result["scores"] = _scores(options, corpus, folder, original, common)
    result["summary"] = medians(result["runs"], "stage", "program")
    for row in result["summary"]:
        same = [other for other in result["summary"] if (other["stage"], other["program"]) == (row["stage"], "wv")]
        row["x_ours"] = row["cpu_seconds"] / same[0]["cpu_seconds"] if same else ""
    return True


def _scores(
    options: Any, corpus: Path, folder: Path, original: Original | None, common: list[str]
) -> list[dict[str, Any]]:
    """Scores after options.epochs iterations: ours with as many seeds as rounds, GloVe's once."""
    rows = []
    for seed in range(1, options.rounds + 1):
        vectors = folder / "scored.bin"
        train = [f"--iterations={options.epochs}", f"--dim={options.dim}", f"--seed={seed}", *common]
        subprocess.run([*WV, "glove", str(corpus), "-o", str(vectors), *train], check=True)
        rows.append({"program": "wv", "seed": seed, **score(vectors, options.simlex)})
    if original is not None:
        original.train(options.epochs, folder / "original.txt")
        rows.append({"program": "GloVe", "seed": options.seed, **score(folder / "original.txt", options.simlex)})
    return rows


def table(result: dict[str, Any]) -> list[str]:
    lines = ["| stage | program | CPU s | x ours |", "|---|---|--:|--:|"]
    for row in result["summary"]:
        ratio = f"{row['x_ours']:.2f}" if row["x_ours"] != "" else ""
        lines.append(f"| {row['stage']} | {row['program']} | {row['cpu_seconds']:.2f} | {ratio} |")
    if "scores" in result:
        names = [name for name in result["scores"][0] if name not in ("program", "seed")]
        lines += ["", f"| program | seed | {' | '.join(names)} |", "|---|--:|" + "--:|" * len(names)]
        for row in result["scores"]:
            lines.append(f"| {row['program']} | {row['seed']} | {' | '.join(f'{row[name]:.3f}' for name in names)} |")
    return lines
