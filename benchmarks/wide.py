"""Suite `wide`: training with many millions of different words, with matrices in memory and in a file.

    python benchmarks/run.py wiki8-slice.txt --suite wide --words 20000000 --dim 50

Words that occur once each are put into the corpus, the same number in every line, and `--min-count 1` keeps all of
them. `predicted mb` is what the training announces before it takes the matrices: matrices, text and words. The peak
must not be above it. `python benchmarks/wide.py FILE WORDS` prints the text.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import record
from measure import WV, measure
from record import Run
from train import describe, score

# A limit that the matrices do not fit in: they are in a file then.
_LITTLE = "1G"
PARTS = {"matrices in memory": "", "matrices in a file": f"--memory {_LITTLE}"}


def generate(path: Path, words: int) -> None:
    """Writes the text with `words` words more to standard output."""
    lines = path.read_bytes().splitlines()
    with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
        for number, line in enumerate(lines):
            own = range(words * number // len(lines), words * (number + 1) // len(lines))
            stream.write(line + b"".join(b" w%d" % each for each in own) + b"\n")


def wide(options: Any, result: Run, say: Any) -> bool:
    """Fills result["runs"] and result["summary"]; whether all words are there and memory is what was said."""
    corpus = Path(options.corpus)
    result["corpus"] = describe(corpus)
    good = True
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        text, out = Path(name) / "text", Path(name) / "out.bin"
        with text.open("wb") as stream:
            subprocess.run([sys.executable, __file__, str(corpus), str(options.words)], stdout=stream, check=True)
        for part, limit in PARTS.items():
            train = f"--dim {options.dim} --negative 5 --sample 1e-4 --epochs 1 --threads 1 --min-count 1 --json"
            used = measure([*WV, "train", str(text), "-o", str(out), *train.split(), *limit.split(), "--overwrite"])
            facts: dict[str, Any] = {}
            for line in used.stderr.splitlines():
                facts |= json.loads(line)
            run: Run = {"task": part, "program": "wv", "different_words": facts["vocabulary"]}
            run["predicted_mb"] = round((facts["model_bytes"] + facts["text_bytes"]) / 2**20, 1)
            run |= used.figures() | score(out, options.simlex)
            good = good and run["different_words"] > options.words and run["peak_mb"] <= run["predicted_mb"]
            result["runs"].append(run)
            say(f"{part}: {run}")
    result["summary"] = record.summary(result["runs"])
    return good


if __name__ == "__main__":
    generate(Path(sys.argv[1]), int(sys.argv[2]))
