"""Suite `scale`: how each part grows with the text, and an extrapolation to texts that this machine cannot read.

    python benchmarks/run.py --suite scale --sizes 1e6,3e6,1e7

A generator is piped in: 20 words a line by Zipf's law with exponent 1.3. Different words grow with the power 1 / 1.3
of the text. `python benchmarks/scale.py TOKENS` prints the same text. Every part has `--memory 200M` for the process.
`build-vocab on disk` has so little memory that most of its work is on disk. `written MB` is all that a part wrote,
temporary files included.

The second table extrapolates CPU time by the growth between the two largest sizes, but at least in proportion to the
text. A lower power would only show the cost of the start. Memory is not extrapolated, since `--memory` bounds it
except for words and matrices. Written bytes are not either: texts of these sizes leave the word ids in memory.
"""

import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import WV, measure, medians
from record import Run

EXPONENT, LINE, AT_ONCE, SEED = 1.3, 20, 1 << 18, 1
_MEMORY = "200M"
PARTS = {
    "build-vocab": f"build-vocab - -o OUT --min-count 1 --memory {_MEMORY} -q",
    "build-vocab on disk": "build-vocab - -o OUT --min-count 1 --memory 60M -q",
    "train": f"train - -o OUT.bin --dim 50 --epochs 1 --threads 1 --memory {_MEMORY} -q --no-meta",
    "glove counts": f"glove - --counts-only --save-counts OUT --threads 1 --memory {_MEMORY} -q",
    "phrases": f"phrases - -o OUT --memory {_MEMORY} -q",
}
_FIGURES = ("cpu_seconds", "peak_mb", "written_mb")
_ID_BYTES = 4
_FAR = (10**9, 10**12)


def generate(tokens: int) -> None:
    """Writes the text to standard output."""
    import numpy as np

    random = np.random.default_rng(SEED)
    for begin in range(0, tokens, AT_ONCE):
        words = random.zipf(EXPONENT, min(AT_ONCE, tokens - begin)).tolist()
        lines = (words[at : at + LINE] for at in range(0, len(words), LINE))
        sys.stdout.write("".join(" ".join(f"w{word:x}" for word in line) + "\n" for line in lines))


def _run(part: str, tokens: int, folder: Path) -> Run:
    """What a part used on a text of so many tokens, without the generator."""
    argv = [*WV, *PARTS[part].replace("OUT", str(folder / "out")).split()]
    with subprocess.Popen([sys.executable, __file__, str(tokens)], stdout=subprocess.PIPE) as text:
        assert text.stdout is not None
        used = measure(argv, stdin=text.stdout.fileno())
    return {"part": part, "tokens": tokens, **used.figures()}


def scale(options: Any, result: Run, say: Any) -> bool:
    """Fills result["runs"] and result["summary"]."""
    sizes = sorted(int(float(size)) for size in options.sizes.split(","))
    result["data"] = {"text": f"Zipf, exponent {EXPONENT}, NumPy's default_rng({SEED})", "tokens": sizes}
    result["parts"] = PARTS
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        for number in range(1, options.rounds + 1):
            for tokens in sizes:
                for part in PARTS:
                    run = {"round": number, **_run(part, tokens, Path(name))}
                    result["runs"].append(run)
                    say(f"{part}, {tokens:,} tokens: {run}")
    result["summary"] = medians(result["runs"], "part", "tokens")
    return True


def _power(rows: list[Run]) -> float:
    """With which power of the text CPU time grew between the two largest sizes, 1 at least."""
    small, large = rows[-2:]
    grown = math.log(large["cpu_seconds"] / small["cpu_seconds"])
    return max(grown / math.log(large["tokens"] / small["tokens"]), 1.0)


def _carried(part: str, rows: list[Run]) -> list[str]:
    """The CPU seconds of a part for the texts of _FAR, and how they are made."""
    power, last = _power(rows), rows[-1]
    far = [last["cpu_seconds"] * (tokens / last["tokens"]) ** power for tokens in _FAR]
    arithmetic = f"{last['cpu_seconds']:.3g} * (n / {last['tokens']:.0e})^{power:.2f}"
    return [f"{part}, CPU s", arithmetic, *(f"{value:.2g}" for value in far)]


def table(result: Run) -> list[str]:
    """The figures of every size, then those carried on, with the arithmetic."""
    parts = {part: [row for row in result["summary"] if row["part"] == part] for part in PARTS}
    measured = [
        [part, f"{row['tokens']:,}", *(record.cell(float(row[name])) for name in _FIGURES)]
        for part, rows in parts.items()
        for row in rows
    ]
    carried = [_carried(part, rows) for part, rows in parts.items()]
    ids = [f"{_ID_BYTES * tokens / 1e6:.2g}" for tokens in _FAR]
    carried.append(["ids of train, glove and phrases, MB of disk", f"{_ID_BYTES} * n / 1e6", *ids])
    return [
        *record.markdown(["part", "tokens", "CPU s", "peak MB", "written MB"], measured, 1),
        "",
        *record.markdown(["figure", "arithmetic", "n = 10^9", "n = 10^12"], carried),
    ]


if __name__ == "__main__":
    generate(int(float(sys.argv[1])))
