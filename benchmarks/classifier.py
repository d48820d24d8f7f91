"""Suite `classifier`: the supervised mode of fastText and ours, from labeled text to model file.

    python benchmarks/run.py labeled.txt --suite classifier --epochs 25 --rounds 3

The last `--validation` lines are held out, and P@1 is on those lines. Each program predicts the labels of `--queries`
lines with its own model and quantizes that model. The start of each program is included.

With `--train-only` the models are neither asked nor quantized. `--beside NAME=PROGRAM` then adds fastText's own C++
program, which writes the vectors of the words as text, too.
"""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import HERE, WV, Usage, measure, measure_json, medians
from train import describe


@dataclass(frozen=True)
class Setting:
    """`loss`, learning rate, word n-grams and character n-grams of a model."""

    loss: str
    lr: float
    word_ngrams: int
    maxn: int


# The settings of fastText's tutorial, and the loss it recommends for many labels.
SETTINGS = {
    "softmax": Setting("softmax", 0.5, 1, 0),
    "softmax-bigrams": Setting("softmax", 0.5, 2, 0),
    "hs-bigrams": Setting("hs", 0.5, 2, 0),
    "ova": Setting("ova", 0.5, 1, 0),
    "softmax-subwords": Setting("softmax", 0.5, 1, 6),
}
PROGRAMS = ("wv", "fasttext")


def split(options: Any, folder: Path) -> tuple[Path, Path, Path]:
    """Training lines, held-out lines, and the held-out lines repeated to `--queries` lines."""
    lines = Path(options.corpus).read_bytes().splitlines(keepends=True)
    train, valid, many = folder / "train.txt", folder / "valid.txt", folder / "many.txt"
    held_out = lines[-options.validation :]
    train.write_bytes(b"".join(lines[: -options.validation]))
    valid.write_bytes(b"".join(held_out))
    unlabeled = [b" ".join(word for word in line.split() if not word.startswith(b"__label__")) for line in held_out]
    repeated = (unlabeled * (options.queries // len(held_out) + 1))[: options.queries]
    many.write_bytes(b"\n".join(repeated) + b"\n")
    return train, valid, many


def train_command(setting: Setting, options: Any, train: Path, model: Path, seed: int) -> list[str]:
    """`wv train` of a classifier."""
    words = [
        "--loss", setting.loss, "--lr", setting.lr, "--word-ngrams", setting.word_ngrams, "--dim", options.dim,
        "--epochs", options.epochs, "--threads", options.threads, "--seed", seed,
    ]  # fmt: skip
    words += ["--minn", 3, "--maxn", setting.maxn] if setting.maxn else []
    return [*WV, "train", str(train), "--model", "supervised", "-o", str(model), "-q", *map(str, words)]


def _program_command(program: str, setting: Setting, options: Any, train: Path, stem: Path, seed: int) -> list[str]:
    """Training by fastText's own program."""
    words = [
        "-loss", setting.loss, "-lr", setting.lr, "-wordNgrams", setting.word_ngrams, "-dim", options.dim,
        "-epoch", options.epochs, "-thread", options.threads, "-seed", seed, "-verbose", 0,
    ]  # fmt: skip
    words += ["-minn", 3, "-maxn", setting.maxn] if setting.maxn else []
    return [program, "supervised", "-input", str(train), "-output", str(stem), *map(str, words)]


def train_model(program: str, setting: Setting, options: Any, train: Path, model: Path, seed: int) -> Usage:
    if program == "wv":
        return measure([*train_command(setting, options, train, model, seed), "--no-meta"])
    if program in dict(options.beside):
        stem = model.with_suffix("")
        return measure(_program_command(dict(options.beside)[program], setting, options, train, stem, seed))
    minn = 3 if setting.maxn else 0
    job = {
        "input": str(train), "loss": setting.loss, "lr": setting.lr, "wordNgrams": setting.word_ngrams, "minn": minn,
        "maxn": setting.maxn, "dim": options.dim, "epoch": options.epochs, "thread": options.threads, "verbose": 0,
        "seed": seed,
    }  # fmt: skip
    return measure(_peer(options, "train", {"model": str(model), "job": job}))


def _peer(options: Any, task: str, job: dict[str, Any]) -> list[str]:
    return [options.peers, str(HERE / "peer_classifier.py"), task, json.dumps(job)]


def precision(program: str, options: Any, model: Path, valid: Path) -> float:
    if program == "wv":
        report = json.loads(measure([*WV, "eval", "labels", str(model), "-d", str(valid), "--json"]).stdout)
        return float(report["results"][0]["precision"])
    return float(measure_json(_peer(options, "test", {"model": str(model), "valid": str(valid)})))


def _predict(program: str, options: Any, model: Path, many: Path, out: Path) -> float:
    if program == "wv":
        argv = [*WV, "predict", str(model), str(many), "-k", "1", "--prob", "--threads", str(options.threads)]
        return measure(argv).cpu_seconds
    return measure(_peer(options, "predict", {"model": str(model), "lines": str(many), "out": str(out)})).cpu_seconds


def _quantize(program: str, options: Any, model: Path, out: Path) -> float:
    if program == "wv":
        argv = [*WV, "quantize", str(model), "-o", str(out), "--qnorm", "--threads", str(options.threads), "-q"]
        return measure(argv).cpu_seconds
    return measure(_peer(options, "quantize", {"model": str(model), "out": str(out)})).cpu_seconds


def classifier(options: Any, result: dict[str, Any], say: Any) -> bool:
    result["corpus"] = describe(Path(options.corpus))
    programs = [program for program in PROGRAMS if program in options.programs]
    programs += dict(options.beside) if options.train_only else ()
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        train, valid, many = split(options, folder)
        for number in range(1, options.rounds + 1):
            for setting_name in options.settings:
                for program in programs:
                    model, small = folder / f"{program}.bin", folder / f"{program}.ftz"
                    model.unlink(missing_ok=True)  # else the system frees its pages in the time of the next
                    seed = options.seed + number - 1
                    run: dict[str, Any] = {"round": number, "setting": setting_name, "program": program, "seed": seed}
                    used = train_model(program, SETTINGS[setting_name], options, train, model, seed)
                    run["train_cpu_s"], run["train_wall_s"], run["train_mb"] = (
                        used.cpu_seconds, used.wall_seconds, used.peak_mb,
                    )  # fmt: skip
                    run["size_mb"] = model.stat().st_size / 1e6
                    if options.train_only:
                        run["p_at_1"] = precision("wv", options, model, valid)
                    else:
                        run |= _use_model(program, options, model, small, valid, many)
                    result["runs"].append(run)
                    say(f"{run}")
    result["summary"] = medians(result["runs"], "setting", "program")
    return True


def _use_model(program: str, options: Any, model: Path, small: Path, valid: Path, many: Path) -> dict[str, float]:
    """What a program does with its model, and P@1 before and after it is quantized."""
    return {
        "predict_cpu_s": _predict(program, options, model, many, model.with_name("answers")),
        "quantize_cpu_s": _quantize(program, options, model, small),
        "p_at_1": precision(program, options, model, valid),
        "quantized_p_at_1": precision(program, options, small, valid),
        "quantized_mb": small.stat().st_size / 1e6,
    }
