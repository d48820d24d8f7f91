"""The comparison the papers make: hash length against method, on any vectors, by one command.

    python benchmarks/hashing.py data/hashing/glove50_4k.txt.xz vectors.bin
    python benchmarks/hashing.py vectors.bin --codes bioword-16.codes --plot hashing.png

For every vector file, method and hash length (bits of dense codes, active bits of sparse ones): retrieval (mAP and
recall@100 against the 100 exact nearest neighbours, see `wv eval retrieval`), Spearman's correlation on word
similarity, bits per word, CPU seconds to fit and encode. Writes a Markdown table and the figures as JSON beside it;
--plot needs matplotlib (`pip install 'wv-cli[plot]'`). Codes made elsewhere join by --codes, at the length they have.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import machine

from wv_cli import formats
from wv_cli.errors import UsageError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.hashing import HASHERS
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.fit import fit
from wv_cli.vectors.codes import Codes, CodeVectors
from wv_cli.vectors.embeddings import Embeddings

HERE = Path(__file__).resolve().parent
LENGTHS = (4, 8, 16, 32, 64, 128)
METHODS = ("lsh", "fly", "densefly", "randexp", "biohash", "itq", "pcah")
FIGURES = {
    "map": "mAP %",
    "recall": "recall@100 %",
    "spearman": "Spearman",
    "bits": "bits per word",
    "cpu_seconds": "CPU seconds to fit and encode",
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="+", type=Path)
    parser.add_argument("--lengths", type=lambda text: [int(part) for part in text.split(",")], default=LENGTHS)
    parser.add_argument("--methods", type=lambda text: text.split(","), default=METHODS)
    parser.add_argument(
        "--codes", action="append", default=[], type=Path, help="codes of the same words, made elsewhere"
    )
    parser.add_argument("--centre", choices=["auto", "none", "mean", "row"], default="auto")
    parser.add_argument("--limit", type=int, help="use only the first so many vectors")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--similarity", type=Path, default=HERE.parent / "data" / "similarity" / "EN-WS-353-ALL.txt")
    parser.add_argument("-o", "--output", type=Path, default=HERE / "results" / "hashing.md")
    parser.add_argument("--plot", type=Path, help="a picture of mAP against hash length")
    return parser.parse_args()


def score(path: str, name: str, embeddings: Embeddings, options: argparse.Namespace) -> dict[str, float]:
    source = Vectors(name, lambda: embeddings)
    retrieval, similarity = TASKS["retrieval"], TASKS["similarity"]
    settings = retrieval.config(queries=options.queries, threads=1, restrict_vocab=options.limit or 0)
    found = retrieval.run([source], [path], settings).rows[0]
    judged = similarity.run([source], [str(options.similarity)], similarity.config()).rows[0]
    return {"map": found["map"], "recall": found["recall"], "spearman": judged["spearman"], "pairs": judged["used"]}


def hashed(embeddings: Embeddings, options: argparse.Namespace) -> Iterator[tuple[str, int, Codes, float]]:
    """(method, length, codes, CPU seconds); what a method cannot do is left out."""
    for method in options.methods:
        for length in options.lengths:
            begin = time.process_time()
            try:
                hasher = fit(embeddings, method, HashConfig(length=length, centre=options.centre))
            except UsageError:
                continue
            assert hasher is not None
            yield method, length, hasher.encode(embeddings), time.process_time() - begin
    for path in options.codes:
        read = formats.load(path)
        assert isinstance(read, CodeVectors), f"{path} holds no codes"
        yield read.codes.method, read.codes.active or read.codes.bits, read.codes, float("nan")


def compare(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    embeddings = formats.load(path, limit=options.limit)
    dense = score(str(path), "dense", Embeddings(embeddings.words, embeddings.matrix.copy()), options)
    runs = []
    for method, length, codes, seconds in hashed(embeddings, options):
        figures = score(str(path), method, CodeVectors(codes), options)
        facts = {"units": codes.bits, "bits": codes.bits_per_word, "cpu_seconds": seconds, **figures}
        runs.append({"method": method, "length": length, **facts})
        print(f"{path.name} {method} {length}: mAP {figures['map']:.1f}", file=sys.stderr)
    return {"vectors": path.name, "words": len(embeddings), "dim": embeddings.dim, "dense": dense, "runs": runs}


def tables(result: dict[str, Any]) -> Iterator[str]:
    lengths = sorted({run["length"] for run in result["runs"]})
    methods = list(dict.fromkeys(run["method"] for run in result["runs"]))
    cells = {(run["method"], run["length"]): run for run in result["runs"]}
    dense = result["dense"]
    yield f"\n## {result['vectors']}: {result['words']:,} words of {result['dim']} numbers\n"
    yield f"The vectors themselves: Spearman {dense['spearman']:.3f} on {dense['pairs']} pairs.\n"
    for figure, title in FIGURES.items():
        digits = {"spearman": 3, "bits": 0, "cpu_seconds": 2}.get(figure, 1)
        yield f"{title}\n"
        yield f"| method | {' | '.join(map(str, lengths))} |"
        yield f"|---|{'---:|' * len(lengths)}"
        for method in methods:
            row = [cells.get((method, length)) for length in lengths]
            yield f"| {method} | {' | '.join('' if run is None else f'{run[figure]:.{digits}f}' for run in row)} |"
        yield ""


def plot(results: list[dict[str, Any]], path: Path) -> None:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise SystemExit("--plot needs matplotlib: pip install 'wv-cli[plot]'") from error
    figure, axes = pyplot.subplots(1, len(results), figsize=(6 * len(results), 4.5), squeeze=False)
    for axis, result in zip(axes[0], results, strict=True):
        for method in dict.fromkeys(run["method"] for run in result["runs"]):
            runs = [run for run in result["runs"] if run["method"] == method]
            axis.plot([run["length"] for run in runs], [run["map"] for run in runs], marker="o", label=method)
        axis.set(title=result["vectors"], xlabel="hash length", ylabel="mAP %", xscale="log")
        axis.set_xticks(LENGTHS, [str(length) for length in LENGTHS])
        axis.minorticks_off()
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> int:
    options = arguments()
    for method in options.methods:
        HASHERS.find(method)
    results = [compare(path, options) for path in options.vectors]
    words = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
    facts = {
        "command": " ".join(["python benchmarks/hashing.py", *words]),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": machine(),
        "results": results,
    }
    lines = ["# Hashing", "", f"`{facts['command']}`, {facts['date']}, {facts['machine']['processor']}.", ""]
    lines += ["Hash length: bits of dense codes, active bits of sparse ones (whose bits per word are k log2 units)."]
    for result in results:
        lines += tables(result)
    options.output.write_text("\n".join(lines).rstrip() + "\n")
    options.output.with_suffix(".json").write_text(json.dumps(facts, indent=1) + "\n")
    if options.plot:
        plot(results, options.plot)
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
