"""Suite `train`: whole training jobs of every program with the same settings, from text file to vector file.

    python benchmarks/run.py corpus.txt --models skipgram-ns,cbow-ns,skipgram-hs --rounds 3 --simlex EN-SIMLEX-999.txt

Each vector file is scored before its row is printed, since a speed means nothing without the quality it came with.
Scores are means over the seeds, with half their range. A score of ours is called lower if it is below a peer's by more
than the tolerance. The tolerance is the spread of three seeds, the wider one of the two programs. With fewer rounds it
is what seeds differed by elsewhere.

`--beside koan=PATH` adds koan, `pWord2Vec` or `word2vec++`, whose sources are no package. A file PATH.built says from
which commit and with which flags the program was made; the record keeps it.
"""

import hashlib
import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measure import HERE, WV, Failed, core_latency, measure, median

from wv_cli.evaluation import TASKS, Vectors
from wv_cli.vectors import formats

DATA = HERE.parent / "data"
ANALOGIES = DATA / "analogy" / "questions-words.txt"
SIMILARITY = DATA / "similarity" / "EN-WS-353-ALL.txt"

# Programs whose sources are no package: they take part when --beside NAME=PROGRAM says where theirs is.
BESIDE = ("koan", "pWord2Vec", "word2vec++")
# name: model, loss, learning rate, character n-grams, and the programs that have it. With n-grams of 3 to 6 letters the
# settings are fastText's, its own negative samples (count^0.5) included.
MODELS = {
    "skipgram-ns": ("skipgram", "ns", 0.05, False, ("wv", "word2vec", "gensim", "fasttext", *BESIDE)),
    "cbow-ns": ("cbow", "ns", 0.05, False, ("wv", "word2vec", "gensim", "fasttext", "koan", "word2vec++")),
    "skipgram-hs": ("skipgram", "hs", 0.025, False, ("wv", "word2vec", "gensim", "fasttext", "word2vec++")),
    "cbow-hs": ("cbow", "hs", 0.05, False, ("wv", "word2vec", "gensim", "fasttext", "word2vec++")),
    "skipgram-nce": ("skipgram", "nce", 0.05, False, ("wv",)),
    "skipgram-subwords": ("skipgram", "ns", 0.05, True, ("wv", "fasttext", "gensim")),
    "cbow-subwords": ("cbow", "ns", 0.05, True, ("wv", "fasttext", "gensim")),
}
PROGRAMS = ("wv", "word2vec", "gensim", "fasttext")

# Two seeds differ by about this much on 17 million words: the tolerance of runs too few to show it themselves. Where no
# program answers a tenth of the analogies the corpus is too small to tell programs apart, and quality is not judged.
NOISE = {"analogy": 1.5, "WS353": 0.03, "SimLex": 0.02}
JUDGED_FROM = 10.0


@dataclass(frozen=True)
class Job:
    corpus: str
    model: str
    loss: str
    dim: int
    window: int
    negative: int
    sample: float
    min_count: int
    lr: float
    epochs: int
    threads: int
    seed: int
    subwords: bool
    output: str


def asked(options: Any, model: str, seed: int, output: Path) -> Job:
    """A row of MODELS with the settings of the command line."""
    kind, loss, lr, subwords, _ = MODELS[model]
    return Job(
        str(options.corpus), kind, loss, options.dim, options.window, options.negative, options.sample,
        options.min_count, options.lr or lr, options.epochs, options.threads, seed, subwords, str(output),
    )  # fmt: skip


def command(program: str, job: Job, peers: str, path: str = "") -> list[str]:
    """The command line of `program`, which lies at `path` if it is one of BESIDE, for this job."""
    if program == "wv":
        names = ["model", "loss", "dim", "window", "sample", "min_count", "lr", "epochs", "threads", "seed"]
        names += ["negative"] if job.loss != "hs" else []
        options = [word for name in names for word in (f"--{name.replace('_', '-')}", f"{getattr(job, name)}")]
        options += ["--preset", "fasttext"] if job.subwords else []
        return [*WV, "train", job.corpus, "-o", job.output, *options, "-q", "--no-meta"]
    if program in ("gensim", "fasttext"):
        return [peers, str(HERE / "peer_train.py"), program, json.dumps(asdict(job))]
    if program == "word2vec":
        beside = Path(peers).parent / "word2vec"
        path = str(beside) if beside.exists() else shutil.which("word2vec") or "word2vec"
    flags = {"koan": _koan, "word2vec++": _word2vecpp}.get(program, _word2vec)(program, job)
    return [path, *flags]


def _words(dashes: str, options: dict[str, Any]) -> list[str]:
    return [word for key, value in options.items() for word in (f"{dashes}{key}", f"{value}")]


def _word2vec(program: str, job: Job) -> list[str]:
    """The original's options, which pWord2Vec has but for those of models it lacks."""
    options = {
        "train": job.corpus, "output": job.output, "size": job.dim, "window": job.window, "sample": job.sample,
        "negative": job.negative if job.loss == "ns" else 0, "alpha": job.lr, "iter": job.epochs,
        "min-count": job.min_count, "threads": job.threads, "binary": 1, "debug": 0,
    }  # fmt: skip
    if program == "word2vec":
        options |= {"hs": int(job.loss == "hs"), "cbow": int(job.model == "cbow")}
    return _words("-", options)


def _koan(program: str, job: Job) -> list[str]:
    """koan divides a CBOW gradient by the size of the window unless told to make word2vec's ("bad") update."""
    cbow = str(job.model == "cbow").lower()
    options = {
        "files": job.corpus, "embedding-path": job.output, "dim": job.dim, "context-size": job.window,
        "negatives": job.negative, "learning-rate": job.lr, "min-count": job.min_count, "cbow": cbow,
        "use-bad-update": "true", "downsample-threshold": job.sample, "epochs": job.epochs, "threads": job.threads,
    }  # fmt: skip
    return _words("--", options)


def _word2vecpp(program: str, job: Job) -> list[str]:
    """Words end at blanks and sentences at line ends, as in the other programs."""
    options = {
        "train-file": job.corpus, "model-file": job.output, "size": job.dim, "window": job.window,
        "sample": job.sample, "negative": job.negative, "threads": job.threads, "iter": job.epochs,
        "min-word-freq": job.min_count, "alpha": job.lr, "word-delimiter": " \t\n", "end-of-sentence": "\n",
    }  # fmt: skip
    flags = ["--with-hs"] * (job.loss == "hs") + ["--with-skip-gram"] * (job.model == "skipgram")
    return [*_words("--", options), *flags]


def describe(corpus: Path) -> dict[str, Any]:
    words = lines = 0
    digest = hashlib.sha256()
    with corpus.open("rb") as stream:
        for line in stream:
            words += len(line.split())
            lines += 1
            digest.update(line)
    size = corpus.stat().st_size
    return {"name": corpus.name, "words": words, "lines": lines, "bytes": size, "sha256": digest.hexdigest()}


def built(program: Path) -> str:
    """Commit and compiler flags of a program built from its sources: the text of the file PROGRAM.built beside it."""
    return program.with_name(f"{program.name}.built").read_text(encoding="utf-8").strip()


def score(vectors: Path, simlex: Path | None) -> dict[str, float]:
    """Google analogies among the 30,000 most frequent words in percent; Spearman on the word pair files."""

    def one(task: str, data: Path, **protocol: int) -> float:
        row = TASKS[task]
        config = row.config(**protocol)
        report = row.run([Vectors(vectors.name, lambda: formats.load(vectors))], [str(data)], config)
        return float(report.scores[0][1])

    scores = {"analogy": one("analogy", ANALOGIES, restrict_vocab=30_000), "WS353": one("similarity", SIMILARITY)}
    if simlex is not None:
        scores["SimLex"] = one("similarity", simlex)
    return scores


def run(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Fills result["runs"] and result["summary"]; False when a score of ours is below a peer's by more than noise."""
    corpus = Path(options.corpus)
    result["corpus"] = describe(corpus)
    beside = dict(options.beside)
    result["versions"] |= {name: built(Path(program)) for name, program in options.beside}
    words = result["corpus"]["words"] * options.epochs
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        for number in range(1, options.rounds + 1):
            for name in options.models:
                for program in (program for program in [*options.programs, *beside] if program in MODELS[name][-1]):
                    if number > 1 and program in options.once:
                        continue
                    job = asked(options, name, options.seed + number - 1, Path(folder) / f"{program}.bin")
                    latency = core_latency() if options.threads > 1 else None
                    try:
                        used = measure(command(program, job, options.peers, beside.get(program, "")))
                        scores = score(Path(job.output), options.simlex)
                    except Failed as error:
                        say(f"{name} {program}: failed, left out: {error}")
                        result["runs"].append({"round": number, "model": name, "program": program, "failed": True})
                        continue
                    row = {
                        "round": number,
                        "model": name,
                        "program": program,
                        "seed": job.seed,
                        "lr": job.lr,
                        "cpu_seconds": round(used.cpu_seconds, 3),
                        "wall_seconds": round(used.wall_seconds, 3),
                        "peak_mb": round(used.peak_mb, 1),
                        "words_per_cpu_second": round(words / used.cpu_seconds),
                        "words_per_second": round(words / used.wall_seconds),
                        "core_latency_ns": latency,
                        "scores": scores,
                    }
                    result["runs"].append(row)
                    say(f"round {number} {name} {program}: {scores} {used.cpu_seconds:.1f} s CPU")
    result["summary"] = summary(result["runs"])
    return not any(row["lower"] for row in result["summary"])


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Medians of times and means of scores over the rounds, CPU and wall time as a multiple of ours on the same model,
    and for our rows which scores are lower than a peer's by more than the tolerance."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in runs:
        if "failed" not in row:
            groups.setdefault((row["model"], row["program"]), []).append(row)
    numbers = ("cpu_seconds", "wall_seconds", "peak_mb", "words_per_cpu_second", "words_per_second")
    rows: list[dict[str, Any]] = []
    for (model, program), found in groups.items():
        row: dict[str, Any] = {"model": model, "program": program, "rounds": len(found)}
        row |= {name: median([run[name] for run in found]) for name in numbers}
        scores = {name: [run["scores"][name] for run in found] for name in found[0]["scores"]}
        row["scores"] = {name: round(sum(values) / len(values), 4) for name, values in scores.items()}
        row["spread"] = {name: round(max(values) - min(values), 4) for name, values in scores.items()}
        latencies = [run["core_latency_ns"] for run in found if run["core_latency_ns"]]
        row["core_latency_ns"] = median(latencies) if latencies else None
        rows.append(row)
    for row in rows:
        ours = next((other for other in rows if (other["model"], other["program"]) == (row["model"], "wv")), None)
        row["cpu_ratio"] = round(row["cpu_seconds"] / ours["cpu_seconds"], 2) if ours else None
        row["wall_ratio"] = round(row["wall_seconds"] / ours["wall_seconds"], 2) if ours else None
        peers = [other for other in rows if other["model"] == row["model"] and other["program"] != "wv"]
        row["quality_judged"] = any(other["scores"]["analogy"] >= JUDGED_FROM for other in [row, *peers])
        row["lower"] = lower(row, peers) if row["program"] == "wv" and row["quality_judged"] else {}
    return rows


def lower(ours: dict[str, Any], peers: list[dict[str, Any]]) -> dict[str, str]:
    """The scores of ours that are below a peer's by more than the tolerance, and by how much. The tolerance is the
    spread of the seeds, the wider of both programs' and of ours, and NOISE where neither was run with three."""
    found = {}
    for name, score in ours["scores"].items():
        for peer in peers:
            spreads = [row["spread"][name] for row in (ours, peer) if row["rounds"] > 2]
            tolerance = max(spreads, default=NOISE[name])
            if score < peer["scores"][name] - tolerance:
                gap = peer["scores"][name] - score
                found[name] = f"{peer['program']} {gap:.{DIGITS[name]}f} higher, tolerance {tolerance:.{DIGITS[name]}f}"
    return found


DIGITS = {"analogy": 1, "WS353": 3, "SimLex": 3}


def table(result: dict[str, Any]) -> list[str]:
    """Markdown. Scores are means, +- half their range over the seeds; what is lower than a peer's is listed below."""
    rows = summary(result["runs"])
    names = list(rows[0]["scores"]) if rows else []
    threaded = any(row["core_latency_ns"] for row in rows)
    columns = ["model", "program", *names, "CPU s", "x ours", "wall s", "x ours", "k words/CPU s", "peak MB"]
    columns += ["core to core ns"] * threaded
    lines = ["| " + " | ".join(columns) + " |", "|---|---|" + "--:|" * (len(columns) - 2)]
    for row in rows:
        scores = [_score(row, name) for name in names]
        speeds = [
            f"{row['cpu_seconds']:.1f}", f"{row['cpu_ratio']}", f"{row['wall_seconds']:.1f}", f"{row['wall_ratio']}",
            f"{row['words_per_cpu_second'] / 1000:,.0f}",
        ]  # fmt: skip
        cells = [row["model"], row["program"], *scores, *speeds, f"{row['peak_mb']:,.0f}"]
        cells += [f"{row['core_latency_ns']}"] * threaded
        lines.append("| " + " | ".join(cells) + " |")
    unjudged = sorted({row["model"] for row in rows if not row["quality_judged"]})
    if unjudged:
        why = f"no program answers {JUDGED_FROM:g} % of the analogies after so few words and epochs"
        lines += ["", f"Quality not judged for {', '.join(unjudged)}: {why}."]
    for row in rows:
        if row["lower"]:
            what = "; ".join(f"{name} ({gap})" for name, gap in row["lower"].items())
            lines += ["", f"Lower than a peer's, {row['model']}: {what}."]
    return lines


def _score(row: dict[str, Any], name: str) -> str:
    spread = f" ± {row['spread'][name] / 2:.{DIGITS[name]}f}" if row["rounds"] > 1 else ""
    return f"{row['scores'][name]:.{DIGITS[name]}f}{spread}"
