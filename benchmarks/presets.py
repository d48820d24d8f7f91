"""Suite `presets`: which options make the best vectors in which time, chosen by one half of the data and tested on the
other.

    python benchmarks/run.py corpus.txt --suite presets --trials trials.txt --data questions-words.txt \\
        --data EN-WS-353-ALL.txt --data EN-MTurk-287.txt --data EN-SIMLEX-999.txt --name presets-search

A line of `--trials` holds options of `wv train`. Several sets of options with ` ++ ` between them are trained one by
one, and their vectors are joined (`joined`, wv_cli/transforms/ensemble.py). A set that begins with `with contexts: `
adds the context vectors (`sum`). `PROGRAM: MODEL` runs another program with the settings of the command line or of the
line: `word2vec: skipgram-ns, epochs 20, lr 0.025`. The record is a log of trials: another run with the same `--name`
adds the missing ones.

A search scores the analogies of every other first pair of a section. With `--held-out` trials are scored on the other
half, and on test sets that no search used. Use it for the few options that a search has chosen. `rare` is the
percentage right of analogies with a word beyond the first 30,000, answered among all words. STS-B is scored by means
of word vectors.
"""

import hashlib
import shlex
import string
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import record
from measure import WV, Failed, measure
from numpy.typing import NDArray
from train import asked, command, describe

from wv_cli.evaluation import TASKS, Report, Vectors
from wv_cli.evaluation.config import AnalogyConfig
from wv_cli.models.presets import WORD_PRESETS
from wv_cli.transforms.ensemble import concatenate, plus_contexts
from wv_cli.vectors import formats
from wv_cli.vectors.embeddings import Embeddings

Matrix = NDArray[np.float32]
Scores = dict[str, float]
AMONG = 30_000  # words: as word2vec's demo scripts ask the analogies
TOGETHER = " ++ "
WITH_CONTEXTS = "with contexts: "
# Values of options that leave no context vectors: trees, and presets of several models.
WITHOUT_CONTEXTS = {"hs", "hs_ns", *(name for name, preset in WORD_PRESETS.items() if preset.members)}


def halves(path: Path) -> tuple[list[str], list[str]]:
    """The lines of a file of analogies in two: a section's questions that begin with its first, third, ... pair of
    words, and the others. No first pair is in both."""
    parts: tuple[list[str], list[str]] = ([], [])
    pairs: dict[tuple[str, ...], int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(":"):
            pairs = {}
            for part in parts:
                part.append(line)
        else:
            first = tuple(line.split()[:2])
            parts[pairs.setdefault(first, len(pairs)) % 2].append(line)
    return parts


def unit(rows: Matrix) -> Matrix:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)


def centered(rows: Matrix) -> Matrix:
    """Without the mean of the unit vectors."""
    return unit(rows) - unit(rows).mean(axis=0)


def without_top(rows: Matrix, directions: int) -> Matrix:
    """All but the top directions (Mu & Viswanath 2018)."""
    moved = rows - rows.mean(axis=0)
    axes = np.linalg.eigh(moved.T @ moved)[1][:, -directions:]
    return moved - moved @ axes @ axes.T


# What may be done to trained vectors afterwards: of the word vectors and the context vectors.
AFTER = {
    "": lambda words, contexts: words,
    "sum": lambda words, contexts: words + contexts,
    "joined": lambda words, contexts: np.hstack([words, contexts]),
    "centered": lambda words, contexts: centered(words),
    "without top 2": lambda words, contexts: without_top(words, 2),
    "to 100 axes": lambda words, contexts: concatenate([words], 100),
}
OF_CONTEXTS = ("sum", "joined")
# What may be done to several models: (dim, 0 for all of their numbers, the square of the last one's weight).
JOINED = {
    f"joined{f', the last x {square**0.5:.1f}' if square != 1 else ''}{f', to {dim} axes' if dim else ''}": (
        dim,
        square,
    )
    for dim in (0, 100)
    for square in (0.5, 1, 2)
}


def weighted(rows: list[Matrix], square: float) -> list[Matrix]:
    """The last one twice, or the others: of unit rows as if it weighed sqrt 2 or sqrt .5."""
    return rows if square == 1 else [*rows, rows[-1]] if square > 1 else [*rows[:-1], *rows]


class Sets:
    """The data that scores are made of: analogies, pairs of words, pairs of sentences (CSV). `held_out`: the second
    half of analogies."""

    def __init__(self, paths: list[Path], folder: Path, *, held_out: bool) -> None:
        self._rare = folder / "rare.txt"
        self.tasks: list[tuple[str, str, Path]] = []
        for path in paths:
            if path.suffix == ".csv":
                self.tasks.append(("sts", path.stem, path))
            elif any(line.startswith(":") for line in path.read_text(encoding="utf-8").splitlines()):
                half = folder / path.name
                half.write_text("\n".join(halves(path)[held_out]) + "\n", encoding="utf-8")
                self.tasks.append(("analogy", path.stem, half))
            else:
                self.tasks.append(("similarity", path.stem, path))

    def score(self, vectors: Embeddings) -> Scores:
        """Analogies in percent, in all, by kind and of rare words, the others as Spearman's correlation."""
        scores: Scores = {}
        for task, name, path in self.tasks:
            protocol = {"restrict_vocab": AMONG, "threads": 1} if task == "analogy" else {}
            report = TASKS[task].run([Vectors("trial", lambda: vectors)], [str(path)], TASKS[task].config(**protocol))
            scores[name] = round(float(report.scores[0][1]), 4)
            scores |= {f"{name}, {kind}": round(value, 2) for kind, value in kinds(report)}
            if task == "analogy" and self._rare_of(path, vectors):
                report = TASKS[task].run([Vectors("trial", lambda: vectors)], [str(self._rare)], AnalogyConfig())
                scores[f"{name}, rare"] = round(float(report.scores[0][1]), 2)
        return scores

    def _rare_of(self, path: Path, vectors: Embeddings) -> int:
        """How many questions have a word that is not among the first AMONG, and vectors of all: in the file _rare."""
        rank = {word.lower(): number for number, word in enumerate(vectors.words)}
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(":")]
        places = [[rank.get(word.lower(), -1) for word in line.split()] for line in lines]
        rare = [line for line, each in zip(lines, places, strict=True) if min(each) >= 0 and max(each) >= AMONG]
        self._rare.write_text("".join(f"{line}\n" for line in (": rare", *rare)), encoding="utf-8")
        return len(rare)


def kinds(report: Report) -> Iterator[tuple[str, float]]:
    for row in report.rows:
        if row.get("section") in ("semantic", "syntactic"):
            yield str(row["section"]), float(row["accuracy"] or 0)


class Trained:
    """Models by their options: what was trained once is kept in `folder` and not trained again, so that joining models
    of earlier trials costs nothing."""

    def __init__(self, options: Any, result: dict[str, Any], folder: Path) -> None:
        """`result` says what the text is before the first model is asked for."""
        self.options, self.result, self.folder = options, result, folder

    def argv(self, options: str, seed: int, words: Path, contexts: Path) -> list[str]:
        """The command that makes these files."""
        program, _, model = options.partition(": ")
        if model:
            model, *settings = model.split(", ")
            job = asked(self.options, model, seed, words)
            own = {name: type(getattr(job, name))(value) for name, value in (each.split() for each in settings)}
            return command(program, replace(job, **own), self.options.peers)
        argv = [*WV, "train", self.options.corpus, "-o", str(words), *shlex.split(options), "--seed", str(seed)]
        argv += ["--to", "word2vec-binary", "-q", "--no-meta", "--overwrite"]
        return argv if WITHOUT_CONTEXTS & set(argv) else [*argv, "--save-output-vectors", str(contexts)]

    def model(self, options: str, seed: int) -> tuple[Embeddings, Matrix | None, float]:
        """(word vectors, context vectors of the same words, CPU seconds of the whole job)."""
        name = hashlib.sha256(f"{self.result['corpus']['sha256']} {options} {seed}".encode()).hexdigest()[:16]
        words, contexts, used = (self.folder / f"{name}.{end}" for end in ("bin", "contexts.bin", "seconds"))
        if not used.exists():
            seconds = measure(self.argv(options, seed, words, contexts)).cpu_seconds
            used.write_text(f"{seconds}\n", encoding="utf-8")
        made = formats.load(words)
        rows = np.array(formats.load(contexts).matrix) if contexts.exists() else None
        return Embeddings(made.words, np.array(made.matrix)), rows, float(used.read_text(encoding="utf-8"))


def trial(models: Trained, line: str, seed: int, sets: Sets, after: list[str]) -> dict[str, Any]:
    """CPU seconds, and the scores of the variants `after` of AFTER, or of JOINED for several sets of options."""
    members = [options.strip() for options in line.split(TOGETHER)]
    parts = [models.model(options.removeprefix(WITH_CONTEXTS), seed) for options in members]
    words, contexts, _ = parts[0]
    if len(parts) > 1:
        rows = [
            plus_contexts(part[0].matrix, part[1]) if options.startswith(WITH_CONTEXTS) else part[0].matrix
            for options, part in zip(members, parts, strict=True)
        ]
        wide = sum(part.shape[1] for part in rows)
        variants = {name: concatenate(weighted(rows, square), dim or wide) for name, (dim, square) in JOINED.items()}
    else:
        chosen = {name: change for name, change in AFTER.items() if name in ("", *after)}
        if contexts is None:
            chosen = {name: change for name, change in chosen.items() if name not in OF_CONTEXTS}
        variants = {name: change(words.matrix, contexts) for name, change in chosen.items()}
    scores = {name: sets.score(Embeddings(words.words, rows)) for name, rows in variants.items()}
    return {"cpu_seconds": round(sum(part[2] for part in parts), 2), "scores": scores}


def run_missing(options: Any, result: dict[str, Any], try_line: Callable[[str, int], dict[str, Any]], say: Any) -> None:
    """Fills result["runs"] with those of the newest record of this name and with what it lacks: each line of the file
    `options.trials`, in every round, on `options.corpus`. A trial that fails is said and left out. Ctrl-C ends the
    search, and what it has found is recorded."""
    result["corpus"] = described = describe(Path(options.corpus))
    earlier = record.newest().get(result["name"], {})
    result["runs"] = [*earlier.get("runs", [])]
    text = {"text": described["name"], "sha256": described["sha256"], "words": described["words"]}
    done = {(run["sha256"], run["held_out"], run["trial"], run["seed"]) for run in result["runs"]}
    lines = [line.split("#")[0].strip() for line in options.trials.read_text(encoding="utf-8").splitlines()]
    for number, seed in record.rounds(options):
        for line in filter(None, lines):
            if (text["sha256"], options.held_out, line, seed) in done:
                continue
            try:
                found = try_line(line, seed)
            except KeyboardInterrupt:
                say("stopped")
                return
            except Failed as error:
                say(f"{line}: failed, left out: {error}")
                continue
            place = {"round": number, "trial": line, "seed": seed, "held_out": options.held_out}
            result["runs"].append({**place, **text, **found})
            say(f"{line}: {found}")


def presets(options: Any, result: dict[str, Any], say: Any) -> bool:
    """Runs what the record lacks: every trial with every seed."""
    result["inputs"] = record.inputs(*options.data)
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        sets = Sets(options.data, Path(name), held_out=options.held_out)
        models = Trained(options, result, options.keep or Path(name))
        run_missing(options, result, lambda line, seed: trial(models, line, seed, sets, options.after), say)
    result["summary"] = summary(result["runs"])
    return True


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per text, trial and variant: medians of times, means of scores over the seeds and half their range."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for run in runs:
        for variant in run["scores"]:
            groups.setdefault((run["words"], run["trial"], variant, run["held_out"]), []).append(run)
    rows = []
    for (words, line, variant, held_out), found in groups.items():
        scores = {name: [run["scores"][variant][name] for run in found] for name in found[0]["scores"][variant]}
        rows.append({
            "words": words, "trial": line, "variant": variant, "held_out": held_out, "rounds": len(found),
            "cpu_seconds": float(np.median([run["cpu_seconds"] for run in found])),
            "scores": {name: round(float(np.mean(each)), 4) for name, each in scores.items()},
            "spread": {name: round((max(each) - min(each)) / 2, 4) for name, each in scores.items()},
        })  # fmt: skip
    return rows


def table(result: dict[str, Any]) -> list[str]:
    """Markdown: the options, a letter each, then the scores, the best first for every size of text."""
    rows = summary(result["runs"])
    names = list(dict.fromkeys(name for row in rows for name in row["scores"]))
    options = list(dict.fromkeys(part.strip() for row in rows for part in row["trial"].split(TOGETHER)))
    letter = dict(zip(options, string.ascii_uppercase, strict=False))
    cells = []
    for row in sorted(rows, key=lambda row: (row["words"], -row["scores"].get(names[0], 0))):
        scores = [shown(row["scores"].get(name), row["spread"].get(name), row["rounds"]) for name in names]
        what = " + ".join(letter[part.strip()] for part in row["trial"].split(TOGETHER))
        after = f", {row['variant']}" if row["variant"] else ""
        cells.append([f"{row['words'] / 1e6:.1f}", what + after, f"{row['cpu_seconds']:.0f}", *scores])
    legend = [f"* {letter[each]}: `{each}`" for each in options]
    return [*legend, "", *record.markdown(["million words", "options", "CPU s", *names], cells)]


def shown(value: float | None, spread: float | None, rounds: int) -> str:
    if value is None or spread is None:
        return ""
    digits = 1 if abs(value) > 1 else 3
    return f"{value:.{digits}f}" + (f" ± {spread:.{digits}f}" if rounds > 1 else "")
