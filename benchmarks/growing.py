"""Suite `growing`: a model of the first part of a text is trained further on the second, by `wv` and by gensim.

    python benchmarks/run.py wiki8.txt --suite growing --epochs 3 --rounds 3 --simlex EN-SIMLEX-999.txt --peers PYTHON

The models are skip-gram with negative sampling, and our GloVe. The parts are halves; with `--parts N` the second is
1/N of the text, such as one day's addition.

* `first` is trained on the first part alone, and `both` in one run over the whole text.
* `next` continues `first` with the second part, in each program's own way. `wv` lets the learning rate fall further,
  and gensim (`build_vocab(update=True)`) starts it again. GloVe adds the counts of both parts and starts from the old
  rows.
* `kept absent` is for words that only the first part has: the fraction of their 10 nearest neighbors that stay. Only
  words of the first part count as neighbors.
* `kept frequent` is the same for the 2,000 most frequent words.
* `moved` is the mean over those words of 1 minus the cosine of a word's two vectors, in one space, as in `wv drift`.
"""

import json
import statistics
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import record
import train
from measure import HERE, WV
from record import Run

from wv_cli.vectors import formats

K, FREQUENT = 10, 2000
_GLOVE_ITERATIONS = 15  # as in GloVe's own demonstration


def _parts(corpus: Path, parts: int, folder: Path) -> tuple[Path, Path]:
    """The text without its last `parts`-th, and that, cut after a line."""
    data = corpus.read_bytes()
    at = data.index(b"\n", len(data) - len(data) // parts) + 1
    paths = folder / "first.txt", folder / "second.txt"
    paths[0].write_bytes(data[:at])
    paths[1].write_bytes(data[at:])
    return paths


def _ours(options: Any, job: train.Job, texts: tuple[Path, Path], folder: Path) -> dict[str, tuple[Path, Run]]:
    """name -> (vectors, what making them took)."""
    state, found = folder / "wv.state", {}
    for name, text in (("first", texts[0]), ("next", texts[1]), ("both", options.corpus)):
        output = folder / f"wv-{name}.bin"
        argv = train.command("wv", replace(job, corpus=str(text), output=str(output)), options.peers)
        if name == "first":
            argv += ["--save-state", str(state)]
        elif name == "next":
            argv = [*WV, "train", str(text), "-o", str(output), "--continue", str(state), "-q", "--no-meta"]
        found[name] = output, record.used(argv)[0]
    return found


def _gloves(options: Any, job: train.Job, texts: tuple[Path, Path], folder: Path) -> dict[str, tuple[Path, Run]]:
    state, found = folder / "glove.state", {}
    common = ["--iterations", _GLOVE_ITERATIONS, "--threads", job.threads, "--seed", job.seed, "-q", "--no-meta"]
    new = ["--dim", job.dim, "--min-count", job.min_count]
    ways = {"first": [*new, "--save-state", state], "next": ["--continue", state], "both": new}
    for (name, options_of_it), text in zip(ways.items(), (*texts, options.corpus), strict=True):
        output = folder / f"glove-{name}.bin"
        found[name] = output, record.used([*WV, "glove", text, "-o", output, *common, *options_of_it])[0]
    return found


def _gensims(options: Any, job: train.Job, texts: tuple[Path, Path], folder: Path) -> dict[str, tuple[Path, Run]]:
    outputs = {name: folder / f"gensim-{name}.bin" for name in ("first", "next", "both")}
    child = [options.peers, HERE / "peer_growing.py"]

    def made(texts: list[object], names: list[str]) -> Run:
        corpora, paths = [str(text) for text in texts], [str(outputs[name]) for name in names]
        return record.used([*child, json.dumps({**asdict(job), "corpora": corpora, "outputs": paths})])[0]

    two, one = made([*texts], ["first", "next"]), made([options.corpus], ["both"])
    return {"first": (outputs["first"], {}), "next": (outputs["next"], two), "both": (outputs["both"], one)}


def _kept(vectors: dict[str, Path], absent: set[str]) -> Run:
    """What `wv drift` says of the words of the first part; see above."""
    argv = [*WV, "drift", vectors["first"], vectors["next"], "--neighbors", K, "--top", 0, "--json", "-q"]
    words = json.loads(record.used(argv)[1])["words"]
    order = {word: rank for rank, word in enumerate(formats.load(str(vectors["first"])).words)}
    groups = {
        "absent": [each for each in words if each["word"] in absent],
        "frequent": [each for each in words if order[each["word"]] < FREQUENT],
    }
    shares = {f"kept_{name}": statistics.fmean(each["neighbors"] for each in found) for name, found in groups.items()}
    return {**shares, "moved": 1 - statistics.fmean(each["cosine"] for each in groups["frequent"])}


def growing(options: Any, result: Run, say: Any) -> bool:
    """Fills result["runs"] and result["summary"]; False when going on loses more than noise against gensim's."""
    result["corpus"] = train.describe(Path(options.corpus))
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        texts = _parts(Path(options.corpus), options.parts, folder)
        second = set(texts[1].read_text(encoding="utf-8").split())
        absent = set(texts[0].read_text(encoding="utf-8").split()) - second
        result["data"] = {"parts": options.parts, "texts": [train.describe(text) for text in texts]}
        for number, seed in record.rounds(options):
            job = train.Job(
                "", "skipgram", "ns", options.dim, options.window, options.negative, options.sample,
                options.min_count, options.lr or 0.05, options.epochs, options.threads, seed, False, "",
            )  # fmt: skip
            for program, make in (("wv", _ours), ("wv glove", _gloves), ("gensim", _gensims)):
                if program.split()[0] not in options.programs:
                    continue
                made = make(options, job, texts, folder)
                kept = _kept({task: path for task, (path, _) in made.items()}, absent)
                for task, (path, took) in made.items():
                    scores = train.score(path, options.simlex)
                    run = {"round": number, "seed": seed, "task": task, "program": program, **scores, **took}
                    result["runs"].append(run | (kept if task == "next" else {}))
                    say(f"round {number} {task} {program}: {result['runs'][-1]}")
    result["summary"] = record.summary(result["runs"])
    scores = {
        row["program"]: row for row in result["summary"] if row["task"] == "next" and row["program"] != "wv glove"
    }
    noise = {name: value for name, value in train.NOISE.items() if name in scores["wv"]}
    return all(scores["wv"][name] >= row[name] - value for row in scores.values() for name, value in noise.items())
