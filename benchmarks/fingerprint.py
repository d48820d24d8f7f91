"""What one thread and one seed write, as digests: shows that a change of the code changed no result.

    python benchmarks/fingerprint.py --wv .venv/bin/wv > before.json
    python benchmarks/fingerprint.py --wv .venv/bin/wv --compare before.json

Every case is command lines on shipped data in an empty folder; recorded is the digest of each file a line names with
-o or --save-..., and of what it prints. Digests hold for one instruction set (`isa` in the record; --isa chooses), and
files of our own binary container, whose layout may change while the numbers in it do not, are recorded by what is made
with them.
"""

import argparse
import hashlib
import json
import lzma
import os
import shlex
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"
GOLDEN = DATA.parent / "tests" / "golden"
SHARED = "--dim 40 --epochs 1 --threads 1 --seed 3"

# name -> command lines without `wv`; files they leave named OUT* are recorded, and what they print.
CASES: dict[str, list[str]] = {
    "vocab": ["build-vocab text.txt -o OUT.vocab", "build-vocab text.txt --lowercase --min-count 2 -o OUT2.vocab"],
    "phrases": ["phrases text.txt --passes 2 -o OUT.txt --save-phrases OUT.phrases"],
    "npmi": ["phrases text.txt --score npmi -o OUT.txt"],
    **{
        f"train-{model}-{loss}": [f"train text.txt -o OUT.bin --model {model} --loss {loss} {extra} {SHARED}"]
        for model in ("skipgram", "cbow")
        for loss, extra in [("ns", ""), ("hs", ""), ("nce", ""), ("softmax", "--min-count 300")]
    },
    "train-full": [f"train all.txt -o OUT.bin --save-output-vectors OUT2.bin {SHARED}"],
    "train-unshared": [f"train text.txt -o OUT.vec --no-share-negatives --no-shrink-window {SHARED}"],
    "train-sharing-cbow": [f"train text.txt -o OUT.vec --model cbow --share-positions {SHARED}"],
    "train-corrected": [f"train text.txt -o OUT.bin --model cbow --cbow-gradient corrected {SHARED}"],
    "train-sum": [f"train text.txt -o OUT.bin --model cbow --cbow-sum --lr 0.01 {SHARED}"],
    "train-classes": [f"train text.txt -o OUT.txt --classes 20 {SHARED}"],
    "train-spooled": [f"train text.txt -o OUT.bin --memory 100k {SHARED}"],
    "subwords-skipgram": [
        f"train text.txt -o OUT.bin -o OUT.vec --preset fasttext --buckets 20000 {SHARED}",
        "vectors OUT.bin king unheardof kings",
        "vectors OUT.bin --ngrams king",
        "vectors OUT.bin --sentences 'the king of france' 'no such words hereandthere'",
        "quantize OUT.bin -o OUT.ftz --qnorm --cutoff 5000 --dsub 4",
        "convert OUT.ftz OUT3.vec",
    ],
    "subwords-cbow": [f"train text.txt -o OUT.bin --model cbow --preset fasttext --buckets 20000 {SHARED}"],
    "subwords-hs": [f"train text.txt -o OUT.bin --loss hs --preset fasttext --buckets 20000 {SHARED}"],
    **{
        f"classifier-{loss}": [
            f"train labeled.txt -o OUT.bin --model supervised --loss {loss} --word-ngrams 2 --buckets 5000 {SHARED}",
            "predict OUT.bin held-out.txt -k 3 --prob",
            "eval labels OUT.bin -d held-out.txt",
        ]
        for loss in ("softmax", "hs", "ns", "ova")
    },
    "classifier-subwords": [
        f"train labeled.txt -o OUT.bin --model supervised --minn 2 --maxn 4 --buckets 5000 {SHARED}",
        "quantize OUT.bin -o OUT.ftz --cutoff 2000 --retrain --input labeled.txt --epochs 1 --qnorm --qout",
        "predict OUT.ftz held-out.txt -k 2 --json",
        "dump OUT.ftz args",
    ],
    "classifier-golden": [
        f"predict {name} held-out.txt -k 3 --prob" for name in ("cook-raw.ftz", "ft-labels.bin", "ft-labels.ftz")
    ],
    "glove": [
        "glove text.txt -o OUT.vec --dim 40 --iterations 2 --threads 1 --save-counts OUT.counts",
        "glove text.txt -o OUT2.glove --dim 20 --iterations 2 --left-only --weighting flat --window 4 --unk "
        "--vectors all --memory 70M --threads 1",
    ],
    "whiten": [
        line
        for method, extra in [("whiten", "--dim 20"), ("zca", ""), ("pca", ""), ("soft", "--beta 0.3"), ("abtt", "")]
        for line in (
            f"whiten vectors.bin -o OUT-{method}.bin --method {method} {extra} --save-transform saved-{method}",
            f"whiten vectors.bin -o OUT-{method}-again.bin --transform saved-{method}",
        )
    ],
    "moments": [
        "whiten vectors.bin --save-moments a.moments",
        "whiten other.bin --save-moments b.moments",
        "whiten vectors.bin -o OUT.bin --moments a.moments --moments b.moments",
        "whiten --merge a.moments b.moments --save-transform merged",
        "whiten vectors.bin -o OUT2.bin --transform merged",
    ],
    **{
        f"hash-{method}": [
            f"hash vectors.bin -o saved.codes -o OUT.txt -m {method} {extra} --save-hasher saved.hasher",
            "hash other.bin -o OUT2.txt --hasher saved.hasher",
            "nn saved.codes the king music",
            "nn saved.codes the king music --rerank vectors.bin -k 5",
            "eval retrieval saved.codes -d vectors.bin --queries 200",
            "convert saved.codes OUT3.vec",
        ]
        for method, extra in [
            ("lsh", "--length 64"),
            ("fly", ""),
            ("densefly", "--length 64"),
            ("randexp", "--length 16"),
            ("biohash", "--length 8"),
            ("pcah", "--threshold median"),
            ("itq", ""),
            ("sign", ""),
            ("pq", "--length 80"),
        ]
    },
    "hash-sgd": ["hash vectors.bin -o OUT.txt -m biohash --rule sgd --epochs 2 --delta 0.1 --length 8"],
    "bioword": [
        "bioword text.txt -o OUT.txt --save-hasher fly.hasher --epochs 1 --cells 100 --length 10",
        "bioword few.txt --hasher fly.hasher -o OUT2.txt",
    ],
    "queries": [
        "nn vectors.bin the king music 'new york' -k 20",
        "nn vectors.bin kinng",
        "analogy vectors.bin france paris germany",
        "analogy vectors.bin france paris germany --method 3cosmul",
        "vectors vectors.bin king queen --precision exact",
        "vectors vectors.bin --sentences --pooling sif --counts text.vocab 'the king' 'a queen of france'",
        "vectors vectors.bin --sentences --pooling mean 'the king' 'a queen of france'",
        "vectors vectors.bin --sentences --pooling idf 'the king' 'a queen of france'",
    ],
    "eval": [
        "eval similarity vectors.bin other.bin -d WS353 --json",
        "eval analogy vectors.bin other.bin -d QUESTIONS --restrict-vocab 10000 --json",
        "eval sts vectors.bin -d sts.csv --pooling mean --pooling idf --pooling sif --counts text.vocab --after whiten "
        "--after abtt --resamples 100 --json",
    ],
    "convert": [
        *(f"convert vectors.bin OUT{ending}" for ending in (".vec", ".glove", ".npy", ".tsv", "2.bin")),
        "convert vectors.bin OUT3.vec --precision exact",
        "check OUT.vec",
        "check vectors.bin --json",
        "dump ft-words.bin dict",
    ],
    "plot": ["plot vectors.bin --top 50 -o OUT.html"],
}


def prepare(folder: Path, wv: list[str]) -> None:
    """The inputs of all cases."""
    with lzma.open(DATA / "corpus" / "wiki8-slice.txt.xz") as packed:
        lines = list(packed)
    (folder / "all.txt").write_bytes(b"".join(lines))
    (folder / "text.txt").write_bytes(b"".join(lines[:8000]))
    (folder / "few.txt").write_bytes(b"".join(lines[9000:9100]))
    with lzma.open(GOLDEN / "cook.valid.txt.xz") as packed:
        labeled = list(packed)
    (folder / "labeled.txt").write_bytes(b"".join(labeled[:700]))
    (folder / "held-out.txt").write_bytes(b"".join(labeled[700:]))
    for name in ("cook-raw.ftz", "ft-labels.bin", "ft-labels.ftz", "ft-words.bin"):
        (folder / name).symlink_to(GOLDEN / name)
    (folder / "WS353").symlink_to(DATA / "similarity" / "EN-WS-353-ALL.txt")
    (folder / "QUESTIONS").symlink_to(DATA / "analogy" / "questions-words.txt")
    pairs = zip(islice(lines, 0, 400, 2), islice(lines, 1, 400, 2), strict=True)
    rows = [f"{a[:60].decode().strip()},{b[:60].decode().strip()},{i * 7 % 51 / 10}" for i, (a, b) in enumerate(pairs)]
    (folder / "sts.csv").write_text("\n".join(rows) + "\n")
    for line in (
        "build-vocab text.txt -o text.vocab -q",
        f"train text.txt -o vectors.bin {SHARED} -q",
        f"train text.txt -o other.bin --model cbow {SHARED} -q",
    ):
        subprocess.run([*wv, *shlex.split(line)], cwd=folder, check=True)


def untimed(printed: bytes) -> bytes:
    """A table in tab-separated columns without the columns that hold times."""
    rows = [line.split(b"\t") for line in printed.split(b"\n")]
    timed = [column for column, title in enumerate(rows[0]) if title.endswith(b"per_second")]
    return b"\n".join(b"\t".join(cell for i, cell in enumerate(row) if i not in timed) for row in rows)


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


def fingerprint(wv: list[str], chosen: list[str], isa: str) -> dict[str, dict[str, str]]:
    """Case -> what was recorded -> digest."""
    found: dict[str, dict[str, str]] = {}
    os.environ["WV_ISA"] = isa
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, wv)
        inputs = {path.name for path in folder.iterdir()}
        for case in chosen:
            record = found[case] = {}
            for line in CASES[case]:
                done = subprocess.run([*wv, *shlex.split(line)], cwd=folder, capture_output=True, check=False)
                print(f"{case}: wv {line}: {done.returncode}", file=sys.stderr)
                record[line] = f"{done.returncode} {digest(untimed(done.stdout))}"
            for path in sorted(folder.iterdir()):
                if path.name.startswith("OUT") and not path.name.endswith(".meta.json"):
                    record[path.name] = digest(path.read_bytes())
                if path.name not in inputs:
                    path.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wv", default="wv", help="the program, perhaps with arguments")
    parser.add_argument("--isa", default="avx2", help="instruction set the digests hold for")
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these cases")
    parser.add_argument("--compare", type=Path, help="an earlier record; exit code 1 where results differ")
    options = parser.parse_args()
    program = shlex.split(options.wv)
    wv = [str(Path(program[0]).absolute()) if "/" in program[0] else program[0], *program[1:]]
    found = fingerprint(wv, options.case or list(CASES), options.isa)
    if options.compare is None:
        print(json.dumps({"isa": options.isa, "cases": found}, indent=1))
        return
    before = json.loads(options.compare.read_text())
    if before["isa"] != options.isa:
        parser.error(f"{options.compare} was recorded with --isa {before['isa']}")
    differing = 0
    for case, record in found.items():
        for what in sorted({*record, *before["cases"].get(case, {})}):
            if record.get(what) != before["cases"].get(case, {}).get(what):
                differing += 1
                print(f"{case}: differs: {what}")
    compared = sum(map(len, found.values()))
    print(f"{compared} digests of {len(found)} cases compared, {differing} differ")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
