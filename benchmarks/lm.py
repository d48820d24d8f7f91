"""Suite `lm`: n-gram and neural language models of one text with a closed vocabulary, alone and mixed with KN5.

    python benchmarks/run.py wiki.train.txt.xz --suite lm --name lm --data wiki.valid.txt --data wiki.test.txt \\
        --data wiki.vocab9999.txt.xz

The text has 1 million words of Wikipedia and the vocabulary 10,000 with UNK, which replaces all other words.
Perplexities are of the test text, with 95 % intervals by bootstrap over its lines. The weights of mixtures are fitted
on the validation text, on which the settings in lm.py were chosen too. Words per second are of whole jobs by CPU time:
training, and `wv lm score` of the test text four times over, less its start. The second table compares with a plain
NumPy step per word.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import record
import train
from measure import WV
from record import Run

NGRAMS = {
    "KN3": "--order 3",
    "KN5": "--order 5",
    "Katz 3": "--order 3 --smoothing katz --discount-fallback",
}
_NPLM, _LBL = "--model nplm --hidden 200 --order 6 --dropout 0.2", "--model lbl --order 6 --dropout 0.2"
_CLUSTERED = f"{_LBL} --loss hs --tree clustered --tree-from LBL_nce.lm"
NEURAL = {
    "NPLM nce": f"{_NPLM} --loss nce --lr 0.01 --epochs 6",
    "LBL nce": f"{_LBL} --loss nce --lr 0.01 --epochs 6",
    "LBL class": f"{_LBL} --loss class --lr 0.02 --epochs 6",
    "HLBL huffman": f"{_LBL} --loss hs --lr 0.02 --epochs 6",
    "HLBL random": f"{_LBL} --loss hs --tree random --lr 0.02 --epochs 6",
    "HLBL clustered": f"{_CLUSTERED} --lr 0.02 --epochs 6",
    "HLBL clustered, 3 codes": f"{_CLUSTERED} --codes 3 --lr 0.02 --epochs 6",
}
SKIPGRAM = "--model skipgram --dim 100 --epochs 6 --min-count 1"
REPEATS = 4  # of the test text while scoring is timed
NUMPY_WORDS = 2000
BEYOND = "KN5"
MOST_MIXED = 0.88  # of KN5's perplexity, at most, for the best mixture
MOST_UNNORMALIZED = 1.03


def _closed(options: Any, folder: Path) -> dict[str, Path]:
    """The texts with UNK for words that are not listed."""
    words = set(record.plain(record.data(options, "vocab"), folder).read_text().split())
    texts = {
        "train": Path(options.corpus),
        "valid": record.data(options, "valid"),
        "test": record.data(options, "test"),
    }
    made = {}
    for name, path in texts.items():
        made[name] = folder / f"closed.{name}.txt"
        lines = record.plain(path, folder).read_text().splitlines()
        closed = (" ".join(word if word in words else "UNK" for word in line.split()) for line in lines)
        made[name].write_text("".join(f"{line}\n" for line in closed))
    return made


def _eval(models: list[Path], texts: dict[str, Path], *options: str) -> list[Run]:
    """The rows of `wv eval perplexity` on the test text."""
    _, out = record.used([*WV, "eval", "perplexity", *models, "-d", texts["test"], "--json", *options])
    rows: list[Run] = json.loads(out)["results"]
    return rows


def _model(name: str, folder: Path, texts: dict[str, Path], big: Path, arguments: list[str]) -> Run:
    """Trains, scores and mixes one model."""
    path, vectors = folder / f"{name.replace(' ', '_')}.lm", folder / "vectors.vec"
    words = len(texts["train"].read_text().split())
    if name in NGRAMS:
        spent, _ = record.used([*WV, "lm", "train", texts["train"], "-o", path, *arguments, "-q", "--no-meta"])
    else:
        arguments = [str(folder / each) if each.endswith(".lm") else each for each in arguments]
        outputs = ["-o", path, "-o", vectors, "-q", "--no-meta", "--overwrite"]
        spent, _ = record.used([*WV, "train", texts["train"], *outputs, *arguments])
    scoring, _ = record.used([*WV, "lm", "score", path, big])
    start, _ = record.used([*WV, "lm", "score", path, folder / "line.txt"])
    epochs = int(arguments[arguments.index("--epochs") + 1]) if "--epochs" in arguments else 1
    found: Run = {"task": "model", "program": name, "cpu_seconds": spent["cpu_seconds"]}
    found["train_words_per_cpu_s"] = words * epochs / spent["cpu_seconds"]
    seconds = scoring["cpu_seconds"] - start["cpu_seconds"]
    found["score_words_per_cpu_s"] = len(big.read_text().split()) / max(seconds, 1e-3)
    mixing = _eval([folder / f"{BEYOND}.lm", path], texts, "--mix", str(texts["valid"]))
    own, mixed = mixing[1], mixing[2]
    found |= {"perplexity": own["perplexity"], "low": own["low"], "high": own["high"]}
    if name != BEYOND:
        found |= {"with_KN5": mixed["perplexity"], "with_KN5_low": mixed["low"], "with_KN5_high": mixed["high"]}
    if own.get("log_z") is not None:
        raw = _eval([path], texts, "--unnormalized", "--resamples", "0")
        found |= {"unnormalized": raw[0]["perplexity"], "ln_z": own["log_z"], "ln_z_spread": own["log_z_spread"]}
    if name in NEURAL:
        found |= train.score(vectors, None)
    return found


def _numpy_step(nplm: bool) -> float:
    """Words per CPU second of stochastic gradient descent with a full softmax over 10,000 words, one at a time."""
    random = np.random.default_rng(1)
    words, dim, hidden, context, lr = 10_000, 100, 200 if nplm else 100, 5, np.float32(0.01)
    c, u = (random.normal(0, 0.1, (words, n)).astype(np.float32) for n in (dim, hidden))
    h, b, d = random.normal(0, 0.1, (hidden, context * dim)).astype(np.float32), np.zeros(words, np.float32), 0
    begin = time.process_time()
    for _ in range(NUMPY_WORDS):
        history, target = random.integers(0, words, context), int(random.integers(0, words))
        x = c[history].ravel()
        a = np.tanh(d + h @ x) if nplm else h @ x
        y = u @ a + b
        p = np.exp(y - y.max())
        p /= p.sum()
        p[target] -= 1
        da = u.T @ p
        if nplm:
            da *= 1 - a**2
            d = d - lr * da
        dx = h.T @ da
        u -= lr * np.outer(p, a)
        b -= lr * p
        h -= lr * np.outer(da, x)
        np.add.at(c, history, -lr * dx.reshape(context, dim))
    return NUMPY_WORDS / (time.process_time() - begin)


def _against_numpy(folder: Path, texts: dict[str, Path], name: str, arguments: str) -> Run:
    """The full softmax, and noise contrast with the same shapes, on a twentieth of the text, beside NumPy's."""
    part = folder / "part.txt"
    lines = texts["train"].read_text().splitlines()
    part.write_text("".join(f"{line}\n" for line in lines[: len(lines) // 20]))
    (folder / "words").write_text("".join(f"{word} 1\n" for word in sorted(set(texts["train"].read_text().split()))))
    speeds = {"numpy_words_per_cpu_s": _numpy_step(name == "NPLM")}
    tokens = len(part.read_text().split())
    for loss in ("softmax", "nce"):
        call = [
            *WV,
            "train",
            part,
            "-o",
            folder / "part.lm",
            "--vocab",
            folder / "words",
            "-q",
            "--no-meta",
            "--overwrite",
        ]
        seconds = []
        for epochs in ("0", "1"):
            spent, _ = record.used([*call, *arguments.split(), "--dropout", "0", "--loss", loss, "--epochs", epochs])
            seconds.append(spent["cpu_seconds"])
        speeds[f"{loss}_words_per_cpu_s"] = tokens / (seconds[1] - seconds[0])
    return {"task": "beside numpy", "program": name, **speeds}


def lm(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(Path(options.corpus), *options.data)
    result["settings_of_models"] = {**NGRAMS, **NEURAL, "skip-gram": SKIPGRAM}
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        folder = Path(name)
        texts = _closed(options, folder)
        big = folder / "big.txt"
        big.write_text(texts["test"].read_text() * REPEATS)
        (folder / "line.txt").write_text(texts["test"].read_text().partition("\n")[0] + "\n")
        order = [BEYOND, *(each for each in (*NGRAMS, *NEURAL) if each != BEYOND)]
        for each in order:
            found = _model(each, folder, texts, big, {**NGRAMS, **NEURAL}[each].split())
            result["runs"].append({"round": 1, **found})
            say(f"{each}: {json.dumps(found)}")
        spent, _ = record.used([*WV, "train", texts["train"], "-o", folder / "sg.vec", "-q", *SKIPGRAM.split()])
        scores = train.score(folder / "sg.vec", None)
        result["runs"].append({"round": 1, "task": "vectors", "program": "skip-gram", **spent, **scores})
        for each, arguments in (("NPLM", _NPLM), ("LBL", _LBL)):
            found = _against_numpy(folder, texts, each, arguments)
            result["runs"].append({"round": 1, **found})
            say(f"{each}: {json.dumps(found)}")
    result["summary"] = record.summary(result["runs"])
    missed = _missed(result["summary"])
    for line in missed:
        say(line)
    return not missed


def _missed(summary: list[Run]) -> list[str]:
    """What a neural model owes and does not pay: a line each."""
    rows = {row["program"]: row for row in summary if row["task"] == "model"}
    bar = rows[BEYOND]["perplexity"]
    neural = [rows[name] for name in NEURAL]
    found = []
    if min(row["perplexity"] for row in neural) > bar:
        found.append(f"no neural model reaches {BEYOND}'s {bar:.1f} alone")
    if min(row["with_KN5"] for row in neural) > MOST_MIXED * bar:
        found.append(f"no mixture is {1 - MOST_MIXED:.0%} below {BEYOND}'s {bar:.1f}")
    for row in neural:
        if "unnormalized" in row and row["unnormalized"] > MOST_UNNORMALIZED * row["perplexity"]:
            found.append(f"{row['program']}: {row['unnormalized']:.1f} without its sums, {row['perplexity']:.1f} with")
    fast, slow = rows["HLBL huffman"], rows["LBL nce"]
    if fast["score_words_per_cpu_s"] < 20 * slow["score_words_per_cpu_s"]:
        found.append("HLBL scores less than 20 x as fast as the softmax of the same size")
    return found


_COLUMNS = {
    "perplexity": "perplexity",
    "interval": "95 %",
    "with_KN5": "with KN5",
    "interval_with_KN5": "95 %",
    "unnormalized": "without sums",
    "ln_z": "ln Z",
    "ln_z_spread": "its spread",
    "train_words_per_cpu_s": "training, words/CPU s",
    "score_words_per_cpu_s": "scoring, words/CPU s",
    "analogy": "analogies, %",
    "WS353": "WS353",
}
_BESIDE = {
    "numpy_words_per_cpu_s": "NumPy, words/CPU s",
    "softmax_words_per_cpu_s": "softmax",
    "nce_words_per_cpu_s": "nce",
}


def table(result: Run) -> list[str]:
    """Two tables: the models, and training beside NumPy's."""
    models, beside = [], []
    for row in result["summary"]:
        if "low" in row:
            row["interval"] = f"{row['low']:.1f} .. {row['high']:.1f}"
        if "with_KN5_low" in row:
            row["interval_with_KN5"] = f"{row['with_KN5_low']:.1f} .. {row['with_KN5_high']:.1f}"
        kind, columns = (beside, _BESIDE) if row["task"] == "beside numpy" else (models, _COLUMNS)
        kind.append([row["program"], *(_cell(name, row.get(name)) for name in columns)])
    return [
        *record.markdown(["model", *_COLUMNS.values()], models, labels=1),
        "",
        *record.markdown(["training: NumPy a word at a time, wv sixteen", *_BESIDE.values()], beside, labels=1),
    ]


def _cell(name: str, value: object) -> str:
    if value is None:
        return ""
    if name in ("perplexity", "with_KN5", "unnormalized", "analogy"):
        return f"{value:.1f}"
    return f"{value:.3f}" if name in ("ln_z", "ln_z_spread", "WS353") else record.cell(value)
