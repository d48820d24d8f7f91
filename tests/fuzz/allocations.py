"""Every allocation of 32 KB or more of every command fails once: `python -m tests.fuzz.allocations [--record FILE]`;
with --reads every read of an input, and all reads of that file after it, as on a broken disk.

Allowed: the command does its work all the same, to the byte, or ends with exit code 1 and one line, and what was there
before is as it was. Anything else is a finding: a traceback, a death, other bytes, silence.
"""

import argparse
import sys
from collections import Counter

from tests.fuzz.faults import COMMANDS, Command, Done, chosen, contents, preloaded, run, workplace


def verdict(command: Command, done: Done, now: dict[str, bytes | None], new: dict[str, bytes | None]) -> str:
    """What came of a run that began without any output."""
    if done.signal:
        return f"died of signal {done.signal}"
    if "Traceback" in done.said or done.code in (98, 99):
        return f"traceback: {done.said.strip().splitlines()[-1] if done.said.strip() else ''}"
    if done.code == 0:
        return "did its work" if now == new else "other bytes with exit code 0"
    if "(run `wv --debug" in done.said and "out of memory" not in done.said:
        return f"names no file: {done.said[:200]!r}"
    if done.code != 1 or done.said.count("\n") != 1 or not done.said.startswith("wv "):
        return f"exit code {done.code}, said {done.said[:200]!r}"
    if any(data not in (None, new[name]) for name, data in now.items()):
        return "left part of a file"
    return "refused in one line"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.allocations", description=__doc__.partition("\n")[0])
    parser.add_argument("--most", type=int, default=1000, metavar="N", help="of a command, at most")
    parser.add_argument("--reads", action="store_true", help="reads fail, not allocations")
    parser.add_argument("--output", action="append", metavar="NAME", help="only the command that writes NAME; repeat")
    parser.add_argument("--record", metavar="FILE", help="append the figures, a line of JSON")
    given = parser.parse_args()
    kind = "read" if given.reads else "allocation"
    preloaded()
    commands = [each for each in COMMANDS if not given.output or set(given.output) & {*each.outputs}]
    from tests.fuzz.__main__ import about, append

    counts: dict[str, dict[str, int]] = {}
    bad = 0
    with workplace() as folder:
        for command in commands:
            run(command.line, folder)  # what is imported late
            command.clear(folder)
            whole = run(command.line, folder)
            assert whole.code == 0, whole.said
            new, found = contents(folder, command.outputs), Counter[str]()
            for number in chosen(whole.reads if given.reads else whole.allocations, given.most, command.name):
                command.clear(folder)
                done = run(command.line, folder, **{"break_at" if given.reads else "fail_at": number})
                what = verdict(command, done, contents(folder, command.outputs), new)
                if what not in ("did its work", "refused in one line"):
                    bad += 1
                    print(f"wv {command.line}\n    {kind} {number}: {what}", flush=True)  # noqa: T201
                    what = "findings"
                found[what] += 1
            counts[command.name] = dict(found)
            command.clear(folder)
            run(command.line, folder)  # what later commands read
    print(f"{sum(sum(found.values()) for found in counts.values()):,} failed {kind}s, {bad} findings")  # noqa: T201
    if given.record:
        what = "every read of an input" if given.reads else "every allocation of 32 KB or more"
        facts = about(f"{what} failing once", "fuzz.allocations")
        facts["runs"] = [{"command": name, **found} for name, found in counts.items()]
        append(given.record, facts)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
