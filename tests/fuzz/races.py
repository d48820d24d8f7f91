"""Every command that has threads, run with two of them on the shipped corpus, for a build under the thread sanitizer
(.ci/sanitize): `python -m tests.fuzz.races FOLDER` leaves its files in FOLDER and prints a line for each run."""

import itertools
import lzma
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tests.conftest import GOLDEN, ROOT
from wv_cli.__main__ import run

LINES = 400
_WORDS = "train text.txt --dim 16 --epochs 1 --min-count 2 --threads 2 -q -o"
_LABELS = "train labeled.txt --model supervised --dim 8 --epochs 2 --threads 2 -q -o"
# In order: later runs read what earlier ones wrote.
RUNS = [
    f"{_WORDS} words.bin",
    *(
        f"{_WORDS} {model}-{loss}.bin --model {model} --loss {loss}"
        for model in ("skipgram", "cbow")
        for loss in ["hs", "nce"]
    ),
    f"{_WORDS} cbow.bin --model cbow",
    *(
        f"{_WORDS} {model}-subwords.bin --model {model} --minn 3 --maxn 4 --buckets 2000"
        for model in ("skipgram", "cbow")
    ),
    *(f"{_LABELS} {loss}.bin --loss {loss}" for loss in ("softmax", "hs", "ns", "ova")),
    f"{_LABELS} ngrams.bin --word-ngrams 2 --minn 2 --maxn 3 --buckets 2000",
    f"{_WORDS} rounds.bin --deterministic",
    *(
        f"{_WORDS} documents-{algorithm}.d2v --model doc2vec --algorithm {algorithm} --window 3"
        for algorithm in ("dm_mean", "dm_concat")
    ),
    f"{_WORDS} documents.d2v --model doc2vec --algorithm dbow",
    *(
        f"{_WORDS} {model}-{loss}.lm --model {model} --loss {loss} --order 3"
        for model in ("nplm", "lbl")
        for loss in ("nce", "hs")
    ),
    f"{_WORDS} ivlbl.bin --model ivlbl --order 3",
    "glove text.txt -o glove.vec --dim 8 --iterations 2 --threads 2 --min-count 3 -q",
    "bioword text.txt -o bioword.codes --cells 32 --length 4 --epochs 1 --threads 2 -q",
    *(f"hash words.bin -o {method}.codes --method {method} --threads 2 -q" for method in ("lsh", "fly", "pq", "itq")),
    "hash words.bin -o kmeans.codes --method biohash --expansion 64 --length 4 --threads 2 -q",
    "hash words.bin -o sgd.codes --method biohash --rule sgd --expansion 64 --length 4 --epochs 1 --threads 2 -q",
    "convert words.bin words.vec -q",
    "convert words.vec again.bin -q",
    "nn words.bin --threads 2 the -q",
    "nn lsh.codes --threads 2 the -q",
    "analogy words.bin --threads 2 the of and -q",
    "predict softmax.bin labeled.txt --threads 2 -q",
    "quantize ngrams.bin -o small.ftz --cutoff 500 --retrain --input labeled.txt --threads 2 -q",
    "eval retrieval lsh.codes -d words.bin --threads 2 -q",
    "eval labels softmax.bin -d labeled.txt --threads 2 -q",
    "phrases text.txt -o phrases.txt -q",
    "build-vocab text.txt -o vocab.txt -q",
]


def main() -> int:
    folder = Path(sys.argv[1])
    with lzma.open(ROOT / "data" / "corpus" / "wiki8-slice.txt.xz", "rb") as packed:
        (folder / "text.txt").write_bytes(b"".join(itertools.islice(packed, LINES)))
    (folder / "labeled.txt").write_bytes(lzma.decompress((GOLDEN / "cook.valid.txt.xz").read_bytes()))
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    failed = 0
    for line in RUNS:
        code = run(line.split())
        failed += code != 0
        print(f"{code}  wv {line}", file=sys.stderr, flush=True)  # noqa: T201
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
