"""Draws the learning curves of the guide `word-vectors`: loss and analogy accuracy after every epoch of one run.

    wv train ... --validation questions-words.txt --json 2> events.jsonl
    python benchmarks/learning_curves.py events.jsonl wv_cli/guides/learning.svg

The events are the records that `wv train --json` writes to standard error. Needs matplotlib.
"""

import argparse
import json
from pathlib import Path


def curves(events: list[dict[str, float]]) -> tuple[list[float], list[float], list[float]]:
    """The loss by the part of the run that is done, in epochs, and the score after each epoch."""
    progress = [event for event in events if "loss" in event]
    scores = [event["score"] for event in events if "best" in event]
    epochs = [event["fraction"] * event["epochs"] for event in progress]
    return epochs, [event["loss"] for event in progress], scores


def draw(events: list[dict[str, float]], output: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "wv"  # the same events give the same file
    from matplotlib import pyplot as plt

    epochs, losses, scores = curves(events)
    figure, left = plt.subplots(figsize=(6, 3.2), layout="constrained")
    right = left.twinx()
    left.plot(epochs, losses, color="tab:gray", label="loss (left)")
    right.plot(range(1, len(scores) + 1), scores, "o-", color="tab:blue", markersize=3, label="analogies, % (right)")
    left.set_xlabel("epoch")
    left.set_ylabel("loss")
    right.set_ylabel("analogies answered, %")
    right.set_ylim(bottom=0)
    figure.legend(loc="upper center", bbox_to_anchor=(0.5, 0.9), frameon=False)
    figure.savefig(output, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("events", type=Path, metavar="EVENTS.jsonl")
    parser.add_argument("output", type=Path, metavar="OUTPUT.svg")
    asked = parser.parse_args()
    draw([json.loads(line) for line in asked.events.read_text().splitlines()], asked.output)


if __name__ == "__main__":
    main()
