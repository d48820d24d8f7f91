"""A record that is a log of trials: saved after each, so that a search can be stopped, continued and asked more."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import record
from measure import HERE, Failed
from train import describe

Trial = Callable[[str, int, int], dict[str, Any]]


def run_missing(options: Any, result: dict[str, Any], trial: Trial, say: Any) -> None:
    """Adds to result["runs"] what the record called `options.name` lacks: each line of the file `options.trials`, in
    every round, on `options.corpus`. `trial` takes (line, round, seed) and returns what it found; one that fails is
    said and left out."""
    result["corpus"] = described = describe(Path(options.corpus))
    path = HERE / "results" / f"{options.name}.json"
    if path.exists():
        result["runs"] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    text = {"text": described["name"], "sha256": described["sha256"], "words": described["words"]}
    done = {(run["sha256"], run["held_out"], run["trial"], run["seed"]) for run in result["runs"]}
    lines = [line.split("#")[0].strip() for line in options.trials.read_text(encoding="utf-8").splitlines()]
    for number, seed in record.rounds(options):
        for line in filter(None, lines):
            if (text["sha256"], options.held_out, line, seed) in done:
                continue
            try:
                found = trial(line, number, seed)
            except Failed as error:
                say(f"{line}: failed, left out: {error}")
                continue
            place = {"round": number, "trial": line, "seed": seed, "held_out": options.held_out}
            result["runs"].append({**place, **text, **found})
            say(f"{line}: {found}")
            path.write_text(record.as_lines(result), encoding="utf-8")
