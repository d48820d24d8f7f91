"""Suite `judging`: text classifiers that learn from a few thousand labels, by the fraction of right answers.

    python benchmarks/run.py --suite judging --data FOLDER --few 200 --few 1000 --rounds 3 --peers PYTHON

FOLDER has `NAME.train.txt` and `NAME.test.txt` of every set: lines of `__label__X` and text, words and punctuation
separated by blanks. P@1 is on the test lines: whether the best answer is one of a line's labels. With --few, `wv` and
fastText also learn from so many random lines of each set that has more. fastText gets, for each set, the best of
three settings on the last tenth of its training lines. `wv-quality` is --model supervised with --preset quality;
`ridge` learns from wv/small's vectors of sentences, `svm` from tf-idf of words and word pairs, and `model2vec` is
its own classifier, from wv/small. PYTHON has fasttext, model2vec[train] and scikit-learn. Times include the start of
each program; a prediction reads the test lines until they are `--queries` lines.
"""

import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV, measure, median
from record import Run
from train import PROGRAMS as OTHERS

LABEL = "__label__"
# Learning rate, passes and longest word n-gram of fastText.
GRID = ((0.5, 25, 1), (0.5, 25, 2), (1.0, 25, 2))
OURS: dict[str, list[object]] = {
    # Chosen on a tenth of the training lines of these sets.
    "wv-pooled": ["--model", "pooled", "--init", "wv/small"],
    "wv-quality": ["--model", "supervised", "--preset", "quality"],
}
PEERS = ("fasttext", "ridge", "svm", "model2vec")
PROGRAMS = (*OURS, *PEERS)
DEFAULT = list(OTHERS)
FEW_PROGRAMS = ("wv-pooled", "wv-quality", "fasttext")


def judging(options: Any, result: Run, say: Any) -> bool:
    folder = options.data[0] if len(options.data) == 1 else None
    if folder is None or not folder.is_dir():
        sys.exit("--suite judging needs one --data FOLDER")
    files = sorted(folder.glob("*.train.txt"))
    result["data"] = record.inputs(*files, *(test_of(file) for file in files))
    # The default of --programs is that of other suites, and means all.
    named = [each for each in PROGRAMS if each in options.programs and options.programs != DEFAULT]
    programs = named or [*OURS, *(PEERS if options.peers != sys.executable else ())]
    runs: list[Run] = result["runs"]
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        scratch = Path(name)
        for file in files:
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            many = repeat(test_of(file), options.queries, scratch / "many.txt")
            for count in (0, *(few for few in options.few if few < len(lines))):
                for number, seed in record.rounds(options):
                    chosen = lines if not count else random.Random(seed).sample(lines, count)
                    train = write(scratch / "train.txt", chosen)
                    for program in programs if not count else [each for each in programs if each in FEW_PROGRAMS]:
                        run = {"set": file.name.split(".")[0], "labels": count or len(lines), "few": count}
                        run |= {"program": program, "round": number, "seed": seed}
                        run |= judge(program, options, seed, train, test_of(file), many if not count else None)
                        runs.append(run)
                        say(f"{run}")
    result["summary"] = summary(runs)
    return True


def test_of(train: Path) -> Path:
    return train.with_name(train.name.replace(".train.", ".test."))


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(lines), encoding="utf-8")
    return path


def repeat(test: Path, count: int, path: Path) -> Path:
    """The test lines without their labels, again and again."""
    texts = [text_of(line) + "\n" for line in test.read_text(encoding="utf-8").splitlines()]
    return write(path, (texts * (count // len(texts) + 1))[:count])


def text_of(line: str) -> str:
    return " ".join(word for word in line.split() if not word.startswith(LABEL))


def judge(program: str, options: Any, seed: int, train: Path, test: Path, many: Path | None) -> Run:
    """P@1, and with `many` the figures of a training and a prediction."""
    folder = train.parent
    if program in OURS:
        model = folder / "model.bin"
        common: list[object] = ["--threads", options.threads, "--seed", seed, "--overwrite", "-q", "--no-meta"]
        learnt, _ = record.used([*WV, "train", train, "-o", model, *OURS[program], *common])
        asked: list[object] = [*WV, "predict", model]
    else:
        own = [options.peers, HERE / "peer_judging.py", program]
        asked, model = [*own, "predict", folder / "peer"], folder / "peer"
        job: dict[str, Any] = {"train": str(train), "seed": seed, "threads": options.threads}
        if program == "fasttext":
            job["setting"] = choose(own, folder, train, job)
        if program == "ridge":
            job["vectors"] = str(vectors(train, folder / "train.npy"))
        learnt, _ = record.used([*own, "train", model, json.dumps(job)])
    answers, _ = ask(program, asked, test, folder)
    run: Run = {"p_at_1": precision(answers, test)}
    if many is not None:
        run |= {"train_cpu_s": learnt["cpu_seconds"], "train_mb": learnt["peak_mb"]}
        _, used = ask(program, asked, many, folder)
        run |= {"predict_mb_per_cpu_s": many.stat().st_size / 1e6 / used["cpu_seconds"], "predict_mb": used["peak_mb"]}
    return run


def ask(program: str, argv: Sequence[object], lines: Path, folder: Path) -> tuple[list[str], Run]:
    """The best label of every line, without labels, and what that took."""
    texts = write(folder / "texts.txt", [text_of(line) + "\n" for line in lines.read_text("utf-8").splitlines()])
    extra: list[object] = [texts]
    used: Run = {"cpu_seconds": 0.0, "peak_mb": 0.0}
    if program == "ridge":
        extra = [vectors(texts, folder / "texts.npy", used)]
    found, text = record.used([*argv, *extra])
    found["cpu_seconds"] += used["cpu_seconds"]
    found["peak_mb"] = max(found["peak_mb"], used["peak_mb"])
    return text.split("\n")[:-1], found


def vectors(lines: Path, out: Path, used: Run | None = None) -> Path:
    """wv/small's vectors of lines, without their labels."""
    texts = write(lines.with_suffix(".plain"), [text_of(each) + "\n" for each in lines.read_text("utf-8").splitlines()])
    with texts.open() as stream:
        found = measure([*WV, "vectors", "wv/small", "-", "--sentences", "-o", str(out)], stdin=stream.fileno())
    if used is not None:
        used.update(cpu_seconds=found.cpu_seconds, peak_mb=found.peak_mb)
    return out


def choose(own: Sequence[object], folder: Path, train: Path, job: dict[str, Any]) -> tuple[float, int, int]:
    """fastText's setting that is best on the last tenth of the training lines."""
    lines = train.read_text(encoding="utf-8").splitlines(keepends=True)
    held = max(len(lines) // 10, 1)
    part, valid = write(folder / "part.txt", lines[:-held]), write(folder / "valid.txt", lines[-held:])
    scores = {}
    for setting in GRID:
        record.used([*own, "train", folder / "peer", json.dumps({**job, "train": str(part), "setting": setting})])
        answers, _ = ask("fasttext", [*own, "predict", folder / "peer"], valid, folder)
        scores[setting] = precision(answers, valid)
    return max(scores, key=lambda setting: scores[setting])


def precision(answers: Sequence[str], test: Path) -> float:
    """P@1 of one answer a line; a line without an answer is wrong."""
    lines = test.read_text(encoding="utf-8").splitlines()
    right = sum(bool(answer) and answer.split()[0] in line.split() for answer, line in zip(answers, lines, strict=True))
    return right / len(lines)


def summary(runs: Sequence[Run]) -> list[Run]:
    """A row for each program and number of labels: the medians of its sets, their mean, and its costs."""
    rows: list[Run] = []
    for few in dict.fromkeys(run["few"] for run in runs):
        for program in dict.fromkeys(run["program"] for run in runs):
            own = [run for run in runs if (run["few"], run["program"]) == (few, program)]
            if not own:
                continue
            row: Run = {"program": program, "labels": f"{few:,}" if few else "all"}
            scores = {
                each: median([run["p_at_1"] for run in own if run["set"] == each])
                for each in dict.fromkeys(run["set"] for run in own)
            }
            row |= scores
            row["mean"] = sum(scores.values()) / len(scores)
            if not few:
                for name in ("train_cpu_s", "train_mb", "predict_mb_per_cpu_s", "predict_mb"):
                    row[name] = median([run[name] for run in own])
            rows.append(row)
    return rows
