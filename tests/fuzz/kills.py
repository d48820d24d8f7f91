"""Commands are killed (SIGKILL) at one of their calls that change files: `python -m tests.fuzz.kills --kills N`.

Before each kill the outputs of another run are there and, where the command trains by steps, its checkpoint from the
middle of a run, which the command goes on with. Afterwards every output is whole, that of yesterday or that of today,
the checkpoint can be gone on with, and the command, run again with --resume, ends with the bytes of a run that was
never killed (one thread, one seed). Anything else is a finding.
"""

import argparse
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.faults import COMMANDS, Command, contents, preloaded, run, workplace


@dataclass(frozen=True)
class Scene:
    """A command with what was there before it (`old` outputs, perhaps a checkpoint) and what it makes (`new`)."""

    command: Command
    line: str
    old: dict[str, bytes | None]
    new: dict[str, bytes | None]
    checkpoint: bytes | None
    file_calls: int

    def set(self, folder: Path) -> None:
        for path in folder.glob(".*wv-tmp"):
            path.unlink()
        for name, data in {**self.old, f"{self.command.outputs[0]}.checkpoint": self.checkpoint}.items():
            if data is None:
                (folder / name).unlink(missing_ok=True)
            else:
                (folder / name).write_bytes(data)


def prepared(command: Command, folder: Path) -> Scene:
    checkpoint = folder / f"{command.outputs[0]}.checkpoint"
    saved = None
    if command.resumes:
        saved = in_the_middle(command, folder, checkpoint)
        checkpoint.unlink()
    done = run(command.line, folder)
    assert done.code == 0, done.said
    new = contents(folder, command.outputs)
    old: dict[str, bytes | None] = {name: b"of yesterday " + name.encode() for name in command.outputs}
    line = command.line + (" --resume --checkpoint-every 0.001" if command.resumes else "")
    scene = Scene(command, line, old, new, saved, 0)
    scene.set(folder)
    done = run(line, folder)
    assert done.code == 0 and contents(folder, command.outputs) == new, done.said
    return Scene(command, line, old, new, saved, done.file_calls)


def in_the_middle(command: Command, folder: Path, checkpoint: Path) -> bytes:
    """A checkpoint from the middle of a run, which --max-time stopped."""
    for name in (*command.outputs, checkpoint.name):
        (folder / name).unlink(missing_ok=True)
    run(f"{command.line} --max-time 1e-9", folder)
    assert checkpoint.exists(), f"{command.line}: no checkpoint"
    return checkpoint.read_bytes()


def killed(scene: Scene, folder: Path, at: int) -> str:
    """What came of a kill at file call `at`."""
    scene.set(folder)
    command = scene.command
    done = run(scene.line, folder, kill_at=at)
    now = contents(folder, command.outputs)
    if done.signal not in (0, 9):
        return f"died of signal {done.signal}"
    torn = [name for name, data in now.items() if data not in (scene.old[name], scene.new[name])]
    if torn:
        return f"torn: {', '.join(torn)}"
    again = run(scene.line, folder)
    if again.code != 0:
        return f"run again: {again.said.strip()[:300]}"
    if contents(folder, command.outputs) != scene.new:
        return "run again: other bytes"
    if list(folder.glob(".*wv-tmp")):
        return "run again: a temporary file is left"
    return "whole" if done.signal else "ended before"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="over all commands")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", action="append", metavar="NAME", help="only the command that writes NAME; repeat")
    parser.add_argument("--record", metavar="FILE", help="write the figures as JSON")
    given = parser.parse_args()
    preloaded()
    commands = [each for each in COMMANDS if not given.output or set(given.output) & {*each.outputs}]
    from tests.fuzz.__main__ import about

    chance, counts, bad = random.Random(given.seed), {}, 0
    with workplace() as folder:
        for number, command in enumerate(commands):
            scene = prepared(command, folder)
            found = Counter[str]()
            for _ in range(given.kills // len(commands) + (number < given.kills % len(commands))):
                at, what = scene.file_calls + 1, "ended before"
                while what == "ended before":  # how often a checkpoint is saved depends on the clock
                    at = chance.randint(1, at - 1) if at > 2 else 1
                    what = killed(scene, folder, at)
                if what != "whole":
                    bad += 1
                    print(f"wv {scene.line}\n    killed at file call {at} of {scene.file_calls}: {what}", flush=True)  # noqa: T201
                    what = "findings"
                found[what] += 1
            counts[command.name] = dict(found)
            for path in folder.glob("*.checkpoint"):
                path.unlink()
    total = sum(sum(found.values()) for found in counts.values())
    print(f"{total:,} kills, {bad} findings")  # noqa: T201
    if given.record:
        facts = {**about("commands killed at a call that changes files", "fuzz.kills"), "seed": given.seed}
        facts["runs"] = [{"command": name, **found} for name, found in counts.items()]
        Path(given.record).write_text(json.dumps(facts, indent=1) + "\n")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
