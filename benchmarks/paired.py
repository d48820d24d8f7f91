"""Two versions of `wv` on the same jobs, turn by turn: shows whether a change lost speed.

    python benchmarks/paired.py corpus.txt labeled.txt --before old/bin/wv --after new/bin/wv --rounds 7 --name house

Each round runs every job with both programs, one right after the other, so a machine that grows slower slows both. The
ratio of a pair is before / after in CPU seconds of the whole process: above 1 the new version is faster. The start is
a large part of such short jobs. The record keeps every single run.
"""

import argparse
import os
import shlex
import statistics
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import machine, measure
from record import append
from train import describe

TREE = "--dim 100 --window 5 --sample 1e-4 --lr 0.05 --epochs 1 --threads 1 --no-meta -q"
TRAIN = f"{TREE} --negative 5"
# name -> command line; files made by an earlier job may be read by later ones.
JOBS = {
    "skip-gram, negative sampling": f"train corpus.txt -o sg.bin {TRAIN}",
    "skip-gram, negative sampling, two threads": f"train corpus.txt -o sg2.bin {TRAIN} --threads 2",
    "CBOW, negative sampling": f"train corpus.txt -o cbow.bin --model cbow {TRAIN}",
    "skip-gram, hierarchical softmax": f"train corpus.txt -o hs.bin --loss hs {TREE}",
    "CBOW, hierarchical softmax": f"train corpus.txt -o cbow-hs.bin --model cbow --loss hs {TREE}",
    "skip-gram, NCE": f"train corpus.txt -o nce.bin --loss nce {TRAIN}",
    "skip-gram with subwords": f"train corpus.txt -o subwords.vec --minn 3 --maxn 6 {TRAIN}",
    "CBOW with subwords": f"train corpus.txt -o subwords-cbow.vec --model cbow --minn 3 --maxn 6 {TRAIN}",
    "classifier, softmax": "train labeled.txt -o labels.bin --model supervised --epochs 10 --no-meta -q",
    "classifier, bigrams": "train labeled.txt -o bigrams.bin --model supervised --word-ngrams 2 --buckets 100000 "
    "--epochs 10 --no-meta -q",
    "classifier, hierarchical softmax": "train labeled.txt -o tree.bin --model supervised --loss hs --epochs 25 "
    "--no-meta -q",
    "GloVe: count, order, two iterations": "glove corpus.txt -o glove.bin --iterations 2 --no-meta -q",
    "predict": "predict labels.bin many.txt",
    "nearest neighbors": "nn sg.bin -k 10 --threads 1 < queries.txt",
    "analogies": "analogy sg.bin -k 10 --threads 1 < questions.txt",
    "vectors of words": "vectors sg.bin < queries.txt",
    "text to binary": "convert sg.bin back.vec -q",
    "hash: biohash, k-means": "hash sg.bin -o codes.codes --method biohash --length 8 --epochs 5 --no-meta -q",
    "bioword, one epoch": "bioword corpus.txt -o words.codes --epochs 1 --no-meta -q",
    "whiten": "whiten sg.bin -o white.bin -q",
    "quantize": "quantize bigrams.bin -o bigrams.ftz --no-meta -q",
    "build-vocab": "build-vocab corpus.txt -o words.vocab -q",
    "phrases": "phrases corpus.txt -o phrases.txt -q",
}


def prepare(folder: Path, corpus: Path, labeled: Path) -> None:
    (folder / "corpus.txt").symlink_to(corpus.resolve())
    (folder / "labeled.txt").symlink_to(labeled.resolve())
    lines = labeled.read_bytes().splitlines(keepends=True)
    (folder / "many.txt").write_bytes(b"".join(lines) * max(1, 200_000 // len(lines)))
    counted = [word for word, _ in Counter(corpus.read_bytes().split()).most_common(4000)]
    (folder / "queries.txt").write_bytes(b"\n".join(counted) + b"\n")
    questions = zip(counted, counted[1:], counted[2:], strict=False)
    (folder / "questions.txt").write_bytes(b"".join(b" ".join(words) + b"\n" for words in questions))


def run(program: str, line: str) -> float:
    command, _, standard_input = line.partition(" < ")
    argv = [*shlex.split(program), *shlex.split(command)]
    if standard_input:
        argv = ["sh", "-c", f'exec "$@" < {shlex.quote(standard_input)}', "sh", *argv]
    return measure(argv).cpu_seconds


def table(result: dict[str, Any]) -> list[str]:
    """Markdown: medians of each program, the median of the ratios of pairs, and their range."""
    lines = ["| job | before, CPU s | after, CPU s | before / after | range |", "|---|--:|--:|--:|---|"]
    for job in dict.fromkeys(run["job"] for run in result["runs"]):
        runs = [run for run in result["runs"] if run["job"] == job]
        before, after = (statistics.median(run[which] for run in runs) for which in ("before", "after"))
        ratios = [run["before"] / run["after"] for run in runs]
        middle, low, high = statistics.median(ratios), min(ratios), max(ratios)
        lines.append(f"| {job} | {before:.2f} | {after:.2f} | {middle:.3f} | {low:.3f}-{high:.3f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="plain text, one paragraph a line")
    parser.add_argument("labeled", type=Path, help="lines with __label__ words")
    parser.add_argument("--before", required=True, help="the old program, perhaps with arguments")
    parser.add_argument("--after", required=True, help="the new one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--job", action="append", choices=list(JOBS), help="only these (and what they read)")
    parser.add_argument("--name", default="paired", help="of the record, a line of results/paired.jsonl")
    options = parser.parse_args()
    programs = {"before": options.before, "after": options.after}
    result: dict[str, Any] = {
        "name": options.name,
        "suite": "paired",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"python benchmarks/paired.py {options.corpus.name} {options.labeled.name} --before OLD/wv "
        f"--after NEW/wv --rounds {options.rounds} --name {options.name}",
        "machine": machine(),
        "versions": {
            which: measure([*shlex.split(program), "--version"]).stdout.strip() for which, program in programs.items()
        },
        "corpus": describe(options.corpus),
        "labeled": describe(options.labeled),
        "runs": [],
    }
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name), options.corpus, options.labeled)
        os.chdir(name)
        for job in options.job or list(JOBS):
            for which in programs:  # not counted: caches, files that later jobs read
                run(programs[which], JOBS[job])
            for number in range(1, options.rounds + 1):
                order = list(programs) if number % 2 else list(reversed(programs))
                seconds = {which: run(programs[which], JOBS[job]) for which in order}
                result["runs"].append({"round": number, "job": job, **seconds})
            print(table(result)[-1], flush=True)
    append(result)


if __name__ == "__main__":
    main()
