"""Suite `contamination`: which copies of a benchmark's items are found in documents.

    python benchmarks/run.py corpus.txt --suite contamination --peers PYTHON

Items are stretches of the corpus, half of them of 6 to 12 words and half of 13 to 60. Every kind of copy stands in a
document of 300 other words: as it is, wrapped at 8 words, in capitals, with other punctuation, with one word in twenty
changed. The documents of `clean` hold none. `wv` rejects what holds more than .5, or .25, of an item. With --peers,
PYTHON has datatrove with spacy, regex, orjson and xxhash<4; its rule is one common run of 12 words. `decon's rule` is
our reading of its description (peer_contamination.py); its time is not that program's.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

ITEMS, AROUND = 500, 300
OURS = {"wv, .5": "<=0.5", "wv, .25": "<=0.25"}
Words = Sequence[str]


def edited(item: Words, chosen: random.Random, words: Words) -> str:
    return " ".join(chosen.choice(words) if chosen.random() < 0.05 else word for word in item)


COPIES: dict[str, Callable[[Words, random.Random, Words], str]] = {
    "as it is": lambda item, *_: " ".join(item),
    "wrapped": lambda item, *_: "\n".join(" ".join(item[at : at + 8]) for at in range(0, len(item), 8)),
    "in capitals": lambda item, *_: " ".join(item).upper(),
    "punctuated": lambda item, *_: ", ".join(item) + "!",
    "edited": edited,
    "clean": lambda *_: "",
}


def contamination(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(Path(options.corpus))
    with Path(options.corpus).open(encoding="utf-8") as stream:
        words = stream.read(20_000_000).split()
    chosen = random.Random(1)
    half = len(words) // 2
    lengths = [chosen.randrange(6, 13) if number % 2 else chosen.randrange(13, 61) for number in range(ITEMS)]
    starts = [chosen.randrange(half - 60) for _ in lengths]
    items = [words[start : start + length] for start, length in zip(starts, lengths, strict=True)]
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        questions = Path(name) / "questions.jsonl"
        write(questions, [" ".join(item) for item in items])
        for kind, copy in COPIES.items():
            file = Path(name) / "documents.jsonl"
            write(file, [around(copy(item, chosen, words), words[half:], chosen) for item in items])
            for program in (*OURS, "decon's rule", *(["datatrove"] if options.peers != sys.executable else [])):
                seconds, kept = judged(program, options.peers, questions, file, Path(name))
                gone = [number not in kept for number in range(ITEMS)]
                run: Run = {"copy": kind, "program": program}
                run["short_percent"] = 100 * sum(gone[1::2]) / (ITEMS // 2)
                run["long_percent"] = 100 * sum(gone[::2]) / (ITEMS // 2)
                runs.append({**run, "round": 1, "cpu_seconds": seconds})
                say(f"{kind}, {program}: {run}")
    result["runs"] = result["summary"] = runs
    return True


def around(item: str, words: Words, chosen: random.Random) -> str:
    start = chosen.randrange(len(words) - AROUND)
    at = chosen.randrange(AROUND)
    return " ".join([*words[start : start + at], item, *words[start + at : start + AROUND]])


def write(file: Path, texts: Sequence[str]) -> None:
    lines = (json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def judged(program: str, python: str, questions: Path, file: Path, folder: Path) -> tuple[float, set[int]]:
    """CPU seconds, and the documents that stay."""
    kept = folder / program
    if program in OURS:
        call = ["filter", file, "-o", kept, "--contamination", f"{questions}{OURS[program]}"]
        argv: list[object] = [*WV, *call, "--overwrite", "-q", "--threads", "1"]
    else:
        rule = program.removesuffix("'s rule")
        argv = [python, HERE / "peer_contamination.py", rule, questions, file, kept]
    seconds = record.used(argv)[0]["cpu_seconds"]
    lines = (kept / file.name).read_text(encoding="utf-8").splitlines()
    return seconds, {int(json.loads(line)["id"]) for line in lines}
