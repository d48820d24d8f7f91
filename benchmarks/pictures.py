"""Draws records of results/ as results/NAME.svg, which RESULTS.md shows.

    python benchmarks/pictures.py             draws all of PICTURES; needs matplotlib (pip install matplotlib)
    python benchmarks/pictures.py --check     says which picture is not of the record that is there; needs nothing

A picture holds the digest of the record that it was drawn of.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
EPOCHS = r"(?:, | ?--)epochs (\d+)"  # of a trial of suite presets


def lm(axes: Any, record: dict[str, Any]) -> None:
    """Perplexity of every model with its interval, alone and mixed with the n-grams of order 5."""
    models = [run for run in record["runs"] if run["task"] == "model"]
    for kind, prefix, place, color in (
        ("alone", "", -0.15, "#4c72b0"),
        ("mixed with KN5", "with_KN5_", 0.15, "#dd8452"),
    ):
        rows = [(at + place, run) for at, run in enumerate(models) if f"{prefix}low" in run]
        values = [run["with_KN5" if prefix else "perplexity"] for _, run in rows]
        spans = [
            [value - run[f"{prefix}low"] for value, (_, run) in zip(values, rows, strict=True)],
            [run[f"{prefix}high"] - value for value, (_, run) in zip(values, rows, strict=True)],
        ]
        axes.errorbar(values, [at for at, _ in rows], xerr=spans, fmt="o", capsize=3, color=color, label=kind)
    axes.set_yticks(range(len(models)), [run["program"] for run in models])
    axes.invert_yaxis()
    axes.set_xlabel("perplexity of wiki.test, 10,000 words, 95 % by resampling its sentences")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()


def curves(axes: Any, record: dict[str, Any]) -> None:
    """Analogies against CPU seconds: a line for each program and its options but the epochs, which are written at the
    points."""
    lines: dict[str, list[tuple[float, float, str]]] = {}
    for row in record["summary"]:
        if row["variant"]:
            continue
        name, epochs = re.sub(EPOCHS, "", row["trial"]), re.search(EPOCHS, row["trial"])
        point = (row["cpu_seconds"], row["scores"]["questions-words"], epochs[1] if epochs else "")
        lines.setdefault(name if ": " in name else f"wv train {name}", []).append(point)
    for name, points in lines.items():
        seconds, scores, epochs = zip(*sorted(points), strict=True)
        axes.plot(seconds, scores, marker="o", markersize=3, label=name)
        for at in zip(seconds, scores, epochs, strict=True):
            axes.annotate(at[2], at[:2], textcoords="offset points", xytext=(3, -8), fontsize=6)
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds of the whole job; the numbers are epochs")
    axes.set_ylabel("Google analogies among 30,000 words, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


def pairs(axes: Any, record: dict[str, Any]) -> None:
    """NDCG@10 against CPU seconds of training: a color for each set, a mark for each model, filled alone and hollow
    with the scores of BM25. The dashed line is BM25 itself, which trains nothing."""
    seconds: dict[str, float] = {}
    for row in record["summary"]:
        if row["task"] in ("train", "distil"):
            name = "small" if row["program"] == "float" else row["program"]  # which it becomes, as int8
            seconds[name] = seconds.get(name, 0) + row["cpu_seconds"]
    scores = {(row["task"], row["program"]): row["ndcg"] for row in record["summary"] if "ndcg" in row}
    sets = list(dict.fromkeys(task for task, _ in scores))
    for color, task in zip(("#4c72b0", "#dd8452", "#55a868", "#c44e52"), sets, strict=False):
        axes.axhline(scores[task, "bm25"], color=color, linestyle="--", linewidth=1)
        for mark, (name, at) in zip("os^Dv", sorted(seconds.items()), strict=False):
            first = task == sets[0]
            axes.plot(at, scores[task, name], mark, color=color, label=name if first else None)
            if (fused := scores.get((task, f"{name} + bm25"))) is not None:
                axes.plot(at, fused, mark, color=color, markerfacecolor="none")
        axes.annotate(f"{task}, BM25", (1, scores[task, "bm25"]), xycoords=("axes fraction", "data"),
                      xytext=(-4, 3), textcoords="offset points", ha="right", fontsize=8, color=color)  # fmt: skip
    axes.set_xlim(0, 1.3 * max(seconds.values()))
    axes.set_ylim(0, 0.85)
    axes.set_xlabel("CPU seconds of training; filled: vectors alone, hollow: their scores and BM25's")
    axes.set_ylabel("NDCG@10 of the test")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)


PICTURES: dict[str, Callable[[Any, dict[str, Any]], None]] = {"lm": lm, "curves": curves, "pairs": pairs}


def digest(name: str) -> str:
    """What the picture of a record carries, so that it can be told from another record's."""
    return "record " + hashlib.sha256((RESULTS / f"{name}.json").read_bytes()).hexdigest()


def draw(name: str) -> None:
    """Writes results/NAME.svg, the same bytes for the same record and matplotlib."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": name, "svg.fonttype": "none"})
    figure = Figure(figsize=(8, 5), layout="constrained")
    PICTURES[name](figure.add_subplot(), json.loads((RESULTS / f"{name}.json").read_bytes()))
    figure.savefig(RESULTS / f"{name}.svg", metadata={"Date": None, "Description": digest(name)})


def main() -> int:
    if "--check" not in sys.argv:
        for name in PICTURES:
            draw(name)
        return 0
    stale = [name for name in PICTURES if digest(name) not in (RESULTS / f"{name}.svg").read_text(encoding="utf-8")]
    for name in stale:
        print(f"results/{name}.svg is not of results/{name}.json: python benchmarks/pictures.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
