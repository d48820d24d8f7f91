"""Suite `duplicates`: what goes as a near-duplicate, beside the exact similarity of all pairs.

    python benchmarks/run.py corpus.txt --suite duplicates --data debian.jsonl --peers PYTHON

Two sets are made of paragraphs of the corpus. `copies`: a thousand paragraphs and three copies of each, in which 0 to
8 % of the words are others. `templates`: forty paragraphs and fifty fillings of each, in which two words in 14 to 27
are others; hardly any two are similar by .7. Similarity is that of the sets of 5-word shingles.

The third, `debian`, has as many templates of licenses, changelogs and manual pages, from a file of
`python benchmarks/debian_texts.py debian.jsonl`. A filling is about one package: the
same two of its name, version and maintainer stand in every slot, and slots are 14 to 27 words apart.

A removal is false where the text is similar enough to no other one. Precision is the share of true removals, and false
removals are a share of all texts. Recall counts texts that stay though an earlier one that stays is similar. Which one
of several stays does not matter. `--no-verify` is datatrove's rule. With --peers, PYTHON has datatrove with spacy,
regex, orjson, tokenizers and xxhash<4, text-dedup, datasketch and rensa.
"""

import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV
from record import Run

COPIES, TEMPLATES, FILLINGS, WIDTH = 1000, 40, 50, 5
THRESHOLDS = (0.7, 0.8, 0.9)
PEERS = ("datatrove", "text-dedup", "datasketch", "rensa")


def duplicates(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(Path(options.corpus))
    with Path(options.corpus).open(encoding="utf-8") as stream:
        words = stream.read(40_000_000).split()
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        sets = {"copies": copied(words), "templates": filled(words)}
        if options.data:
            debian = record.data(options, "debian")
            result["data"] += record.inputs(debian)
            sets["debian"] = filled_by_packages(debian)
        for called, texts in sets.items():
            file = Path(name) / f"{called}.jsonl"
            lines = (json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts))
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
            similar = pairs([shingles(text) for text in texts])
            for threshold in THRESHOLDS:
                wanted, any_other = decided(similar, len(texts), threshold)
                for program in ("wv", "wv --no-verify", *(PEERS if options.peers != sys.executable else ())):
                    seconds, gone = removed(program, options.peers, file, threshold, Path(name))
                    run: Run = {"set": called, "similarity": threshold, "program": program, "removed": len(gone)}
                    run["false_percent"] = 100 * len(gone - any_other) / len(texts)
                    run["precision_percent"] = 100 * len(gone & any_other) / len(gone) if gone else None
                    missed = still_similar(similar, gone, threshold)
                    run["recall_percent"] = 100 - 100 * missed / len(wanted) if wanted else None
                    runs.append({**run, "round": 1, "cpu_seconds": seconds})
                    say(f"{called} {threshold} {program}: {run}")
    result["runs"] = result["summary"] = runs
    return True


def paragraphs(words: Sequence[str], count: int, chosen: random.Random) -> list[list[str]]:
    """Stretches of 100 to 400 words that do not overlap."""
    found, at = [], 0
    for _ in range(count):
        size = chosen.randrange(100, 400)
        found.append([*words[at : at + size]])
        at += size
    return found


def copied(words: Sequence[str]) -> list[str]:
    chosen = random.Random(1)
    texts = []
    for paragraph in paragraphs(words, COPIES, chosen):
        texts.append(" ".join(paragraph))
        for _ in range(3):
            rate = chosen.choice((0, 0.01, 0.02, 0.03, 0.05, 0.08))
            texts.append(" ".join(chosen.choice(words) if chosen.random() < rate else word for word in paragraph))
    chosen.shuffle(texts)
    return texts


def filled(words: Sequence[str]) -> list[str]:
    chosen = random.Random(2)
    texts = []
    for paragraph in paragraphs(words[len(words) // 2 :], TEMPLATES, chosen):
        between = chosen.randrange(12, 26)
        for _ in range(FILLINGS):
            text = [*paragraph]
            for at in range(0, len(text) - 1, between + 2):
                text[at : at + 2] = chosen.choice(words), chosen.choice(words)
            texts.append(" ".join(text))
    chosen.shuffle(texts)
    return texts


def filled_by_packages(file: Path) -> list[str]:
    """Set debian, of the texts and packages of debian_texts.py."""
    chosen = random.Random(3)
    found: dict[str, list[str]] = defaultdict(list)
    for each in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        found[each["source"]].append(each["text"])
    packages, texts = found.pop("packages"), []
    for number in range(TEMPLATES):
        words = chosen.choice([*found.values()][number % len(found)]).split()
        size, between = chosen.randrange(100, 400), chosen.randrange(12, 26)
        first = chosen.randrange(len(words) - size)
        for package in chosen.sample(packages, FILLINGS):
            name, version, maintainer = package.split("\t")
            text = words[first : first + size]
            for place, at in enumerate(range(0, size - 1, between + 2)):
                text[at : at + 2] = (name, version) if place % 2 else (name, maintainer.split()[0])
            texts.append(" ".join(text))
    chosen.shuffle(texts)
    return texts


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[at : at + WIDTH]) for at in range(len(words) - WIDTH + 1)}


def pairs(sets: Sequence[set[tuple[str, ...]]]) -> dict[int, list[tuple[int, float]]]:
    """For each text the earlier ones that share a shingle, with their similarity."""
    having: dict[tuple[str, ...], list[int]] = defaultdict(list)
    found: dict[int, list[tuple[int, float]]] = {}
    for number, own in enumerate(sets):
        shared = Counter(other for each in own for other in having[each])
        found[number] = [(other, n / (len(own) + len(sets[other]) - n)) for other, n in shared.items()]
        for each in own:
            having[each].append(number)
    return found


def decided(similar: dict[int, list[tuple[int, float]]], count: int, threshold: float) -> tuple[set[int], set[int]]:
    """What goes by the exact rule, and what is similar to any other text."""
    gone: set[int] = set()
    any_other: set[int] = set()
    for number in range(count):
        near = [other for other, similarity in similar[number] if similarity >= threshold]
        any_other |= {number, *near} if near else set()
        if any(other not in gone for other in near):
            gone.add(number)
    return gone, any_other


def still_similar(similar: dict[int, list[tuple[int, float]]], gone: set[int], threshold: float) -> int:
    """How many of the texts that stay are similar to an earlier one that does."""
    stay = similar.keys() - gone
    return sum(any(each >= threshold and other in stay for other, each in similar[number]) for number in stay)


def removed(program: str, python: str, file: Path, threshold: float, folder: Path) -> tuple[float, set[int]]:
    """CPU seconds, and the texts that went."""
    kept = folder / "kept"
    if program in PEERS:
        out = folder / "kept.txt"
        argv: list[object] = [python, HERE / "peer_duplicates.py", program, threshold, file, out]
        seconds = record.used(argv)[0]["cpu_seconds"]
        left = set(map(int, out.read_text().split()))
    else:
        more = program.split()[1:]
        call = ["filter", file, "-o", kept, "--near-duplicates", threshold, "--keep-numbers", "--overwrite"]
        seconds = record.used([*WV, *call, "--threads", "1", "-q", *more])[0]["cpu_seconds"]
        left = {int(json.loads(line)["id"]) for line in (kept / file.name).read_text(encoding="utf-8").splitlines()}
    return seconds, set(range(sum(1 for _ in file.open("rb")))) - left
