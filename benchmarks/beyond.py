"""Suite `beyond`: counting, phrases, co-occurrences and training on a text of more tokens than 32 bits count.

    python benchmarks/run.py wiki8-slice.txt --suite beyond --words 3000000000

The corpus is piped in repeatedly until it has at least `--words` words. `exact` is 1 if all counts are those of the
corpus times the number of repetitions. Words must agree to the unit and co-occurrences to 1 part in 10^9. Phrase
scores do not grow with the text and must agree to 1 part in 10^5. `--min-count` is multiplied too, so the same words
and phrases are kept. The training is small and skips the most frequent words. It must report the right number of
words. `python benchmarks/beyond.py FILE TIMES` prints the text.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import record
from measure import WV, measure
from record import Run
from train import describe, score

_MIN_COUNT = 5
_MEMORY = "2G"
_TOLERANCE = 1e-9
_TRAINING = "--dim 32 --window 3 --negative 3 --sample 1e-6 --epochs 1"
PARTS = {
    "build-vocab": "build-vocab - -o OUT",
    "build-vocab on disk": "build-vocab - -o OUT --memory 60M",
    "phrases": f"phrases - -o /dev/null --save-phrases OUT --memory {_MEMORY}",
    "glove counts": f"glove - --counts-only --save-counts OUT --window 5 --threads 1 --memory {_MEMORY}",
    "train": f"train - -o OUT.bin {_TRAINING} --threads 1 --memory {_MEMORY} --no-meta --json",
}


def generate(path: Path, times: int) -> None:
    """Writes the text `times` times to standard output."""
    text = path.read_bytes()
    # Buffered whatever the environment says: a write to a pipe may be of a part only.
    with open(sys.stdout.fileno(), "wb", closefd=False) as stream:
        for _ in range(times):
            stream.write(text)


def _fields(path: Path) -> Iterator[list[str]]:
    return (line.split() for line in path.read_text(encoding="utf-8").splitlines())


def _words(path: Path) -> dict[str, int]:
    return {word: int(count) for word, count in _fields(path)}


def _same_words(once: Path, often: Path, times: int) -> bool:
    return _words(often) == {word: count * times for word, count in _words(once).items()}


def _phrases(path: Path) -> dict[str, float]:
    return {phrase: float(score) for phrase, score, *_ in _fields(path)}


def _same_phrases(once: Path, often: Path, _: int) -> bool:
    """Both have the same scores but for rounding: written with six digits, of numbers as large as float32 has."""
    one, many = _phrases(once), _phrases(often)
    return one.keys() == many.keys() and all(math.isclose(one[each], many[each], rel_tol=1e-5) for each in one)


def _same_records(once: Path, often: Path, times: int) -> bool:
    import numpy as np

    kind = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
    one, many = (np.fromfile(path, kind) for path in (once, often))
    pairs = len(one) == len(many) and all(np.array_equal(one[name], many[name]) for name in ("row", "column"))
    return pairs and bool(np.allclose(many["value"], times * one["value"], rtol=_TOLERANCE, atol=0))


_SAME: dict[str, Callable[[Path, Path, int], bool]] = {
    "build-vocab": _same_words,
    "build-vocab on disk": _same_words,
    "phrases": _same_phrases,
    "glove counts": _same_records,
}


def _run(part: str, corpus: Path, times: int, out: Path) -> tuple[Run, str]:
    """What a part used of a corpus that comes so many times, without the generator, and what it printed."""
    options = PARTS[part].replace("OUT", str(out)).split()
    argv = [*WV, *options, "--min-count", str(_MIN_COUNT * times), "-q"]
    with subprocess.Popen([sys.executable, __file__, str(corpus), str(times)], stdout=subprocess.PIPE) as text:
        assert text.stdout is not None
        used = measure(argv, stdin=text.stdout.fileno())
    return used.figures(), used.stdout


def beyond(options: Any, result: Run, say: Any) -> bool:
    """Fills result["runs"] and result["summary"]; whether every count is what it must be."""
    corpus = Path(options.corpus)
    result["corpus"] = describe(corpus)
    tokens = result["corpus"]["words"]
    times = math.ceil(options.words / tokens)
    good = True
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        once, often = Path(name) / "once", Path(name) / "often"
        for part in PARTS:
            figures, printed = _run(part, corpus, times, often)
            run: Run = {"task": part, "program": "wv", "tokens": times * tokens, **figures}
            if part in _SAME:
                _run(part, corpus, 1, once)
                run["exact"] = int(_SAME[part](once, often, times))
            else:
                told = json.loads(printed)
                run |= score(often.with_suffix(".bin"), options.simlex)
                run["exact"] = int(told["corpus"]["tokens_read"] == times * tokens)
            good = good and bool(run["exact"])
            result["runs"].append(run)
            say(f"{part}: {run}")
    result["summary"] = record.summary(result["runs"])
    return good


if __name__ == "__main__":
    generate(Path(sys.argv[1]), int(sys.argv[2]))
