"""Commands are killed (SIGKILL) at one of their calls that change files: `python -m tests.fuzz.kills --kills N`.

Before each kill the outputs of another run are there and, where the command trains by steps, its checkpoint from the
middle of a run, which the command goes on with. Afterwards every output is whole, that of yesterday or that of today,
the checkpoint can be gone on with, and the command, run again with --resume, ends with the bytes of a run that was
never killed (one thread, one seed). Anything else is a finding. `--moments N`: `wv filter` at any moment.
"""

import argparse
import os
import random
import re
import shutil
import signal
import sys
import time
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tests.fuzz.faults import COMMANDS, Command, contents, preloaded, run, workplace
from wv_cli.errors import WvError
from wv_cli.vectors.formats import load

_SLICE = re.compile(r"-\d{5}-of-\d{5}(?=\.)")
# Runs of wv filter: threads, parts, more options.
SPREAD = (
    ("1 thread", 1, 0, ()),
    ("2 threads", 2, 0, ()),
    ("3 parts", 1, 3, ()),
    ("--split", 2, 0, ("--split", "language")),
    ("--split, 3 parts", 1, 3, ("--split", "language")),
)


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
        self.command.clear(folder)
        for name, data in {**self.old, self.command.checkpoint: self.checkpoint}.items():
            if data is not None:
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(data)


def prepared(command: Command, folder: Path) -> Scene:
    checkpoint = folder / command.checkpoint
    saved = None
    run(command.line, folder)  # what is imported late
    command.clear(folder)
    if command.resumes:
        saved = in_the_middle(command, folder, checkpoint)
        checkpoint.unlink()
    done = run(command.line, folder)
    assert done.code == 0, done.said
    new = contents(folder, command.outputs)
    old = {name: None if command.fresh else b"of yesterday " + name.encode() for name in command.outputs}
    if command.before:
        done = run(command.before, folder)
        assert done.code == 0, done.said
        old = contents(folder, command.outputs)
    line = command.line + (" --resume --checkpoint-every 0.001" if command.resumes else "")
    scene = Scene(command, line, old, new, saved, 0)
    scene.set(folder)
    done = run(line, folder)
    assert done.code == 0 and contents(folder, command.outputs) == new, done.said
    return Scene(command, line, old, new, saved, done.file_calls)


def in_the_middle(command: Command, folder: Path, checkpoint: Path) -> bytes:
    """A checkpoint from the middle of a run, which --max-time stopped."""
    command.clear(folder)
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
    torn += [name for name in now if name.endswith("/model.safetensors") and is_mixture(scene, folder / name, now)]
    if torn:
        return f"torn: {', '.join(torn)}"
    again = run(scene.line, folder)
    if again.code != 0:
        return f"run again: {again.said.strip()[:300]}"
    if contents(folder, command.outputs) != scene.new:
        return "run again: other bytes"
    if left := [path.name for path in folder.rglob(".*") if path.name.endswith(("wv-tmp", "wv-part", "json"))]:
        return f"run again: {left[0]} is left"
    return "whole" if done.signal else "ended before"


def is_mixture(scene: Scene, model: Path, now: dict[str, bytes | None]) -> bool:
    """Whether the folder of a static embedding has files of both runs and is read all the same."""
    files = [name for name in now if name.startswith(f"{model.parent.name}/")]
    if any(all(now[name] == whole[name] for name in files) for whole in (scene.old, scene.new)):
        return False
    try:
        load(model.parent)
    except WvError:
        return False
    return True


def filtered(
    folder: Path, threads: int, kills: int, chance: random.Random, parts: int = 0, options: tuple[str, ...] = ()
) -> Counter[str]:
    """What came of kills at random moments of `wv filter`, over small blocks with a point every few of them. What has
    its name must be whole after each; each run ends with the bytes of one that was not killed. In `parts`, which cut
    the largest shard into slices, one part is killed at a time, and all end with the bytes of a run without parts."""
    from tests.cli import test_filter as filters

    folder.mkdir()
    inputs, found = filters.corpus(folder / "in", 3000), Counter[str]()
    out, begin = folder / "whole", time.monotonic()
    assert _filter(filters.arguments(inputs, out, "--threads", "1", *options), None) == 0
    most, whole = (time.monotonic() - begin) / 3, filters.contents(out)
    out = folder / "out"
    most /= max(parts, 1)
    begun = {*range(parts)}
    while found.total() < kills:
        more = ["--threads", str(threads), *options]
        if parts:
            number = chance.choice([*begun])
            more += ["--part", f"{number + 1}/{parts}"]
        if _filter(filters.arguments(inputs, out, *more), chance.uniform(0, most)) != 0:
            now = {name: data for name, data in filters.contents(out).items() if "/." not in name}
            torn = [name for name, data in now.items() if name in whole and data != whole[name]]
            torn += [name for name, data in now.items() if _SLICE.search(name) and data not in whole[_whole(name)]]
            found["findings" if torn else "whole"] += 1
        elif parts and len(begun) > 1:
            begun.remove(number)
        elif _joined(filters.contents(out)) != whole:
            found["findings"] += 1
            print(f"wv filter --threads {threads}: other bytes", flush=True)  # noqa: T201
            shutil.rmtree(out)
            begun = {*range(parts)}
        else:
            shutil.rmtree(out)
            begun = {*range(parts)}
    shutil.rmtree(folder)
    return found


def _whole(name: str) -> str:
    return _SLICE.sub("", name)


def _joined(found: dict[str, bytes]) -> dict[str, bytes]:
    """The outputs of all parts, slices one after the other."""
    names = sorted(name for name in found if not name.endswith(".report"))
    assert any(map(_SLICE.search, names)) == any(".part-" in name for name in found)
    return {whole: b"".join(found[name] for name in group) for whole, group in groupby(names, _whole)}


def _filter(arguments: list[str], seconds: float | None) -> int:
    """The exit code in a child that is killed after `seconds`."""
    child = os.fork()
    if child == 0:
        from wv_cli.__main__ import run as run_line
        from wv_cli.filtering import shard_files, slices
        from wv_cli.io import compression
        from wv_cli.text import record_files

        record_files.CHUNK = compression.CHUNK = 1500
        shard_files.SAVE_BYTES = 4000
        slices.LARGE = 0
        os._exit(run_line(arguments))
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.kills", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="over all commands")
    parser.add_argument("--moments", type=int, default=0, metavar="N", help="also as many of wv filter, at any moment")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", action="append", metavar="NAME", help="only the command that writes NAME; repeat")
    parser.add_argument("--record", metavar="FILE", help="append the figures, a line of JSON")
    given = parser.parse_args()
    preloaded()
    commands = [each for each in COMMANDS if not given.output or set(given.output) & {*each.outputs}]
    from tests.fuzz.__main__ import about, append

    chance, counts, bad = random.Random(given.seed), {}, 0
    with workplace() as folder:
        for number, command in enumerate(commands if given.kills else ()):
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
            (folder / command.checkpoint).unlink(missing_ok=True)
        for name, threads, parts, options in SPREAD if given.moments else ():
            found = filtered(folder / "filter", threads, -(-given.moments // len(SPREAD)), chance, parts, options)
            bad += found["findings"]
            counts[f"filter at any moment, {name}"] = dict(found)
    total = sum(sum(found.values()) for found in counts.values())
    print(f"{total:,} kills, {bad} findings")  # noqa: T201
    if given.record:
        facts = {**about("commands killed at a call that changes files", "fuzz.kills"), "seed": given.seed}
        facts["runs"] = [{"command": name, **found} for name, found in counts.items()]
        append(given.record, facts)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
