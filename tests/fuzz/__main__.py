"""Runs the harness: `python -m tests.fuzz --files N [--target X ...] [--seed S] [--record FILE]`.

Files are spread evenly over the targets and depend on the seed alone. A finding is kept as a file, and the command that
reads it again is printed. Exit code 1 when there was one.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MALLOC_ARENA_MAX", "2")

import tests.conftest  # noqa: F401  # settles which wv_cli is meant


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=5000, metavar="N", help="damaged files in all")
    parser.add_argument("--target", action="append", default=[], metavar="X", help="only this reader; repeat for more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, metavar="S", help="begin nothing new after S seconds")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--memory", type=int, default=512, metavar="MB", help="of a process beyond its start; 0: any")
    parser.add_argument("--patience", type=float, default=5.0, metavar="S", help="processor time a file may take")
    parser.add_argument("--record", metavar="FILE", help="append the figures, a line of JSON")
    parser.add_argument("--keep", default="build/fuzz", metavar="FOLDER", help="where findings go")
    parser.add_argument("--file", metavar="FILE", help="read this file as --target does, and nothing else")
    return parser.parse_args()


def main() -> int:
    given = options()
    from tests.fuzz.harness import Limits, Run
    from tests.fuzz.targets import TARGETS

    unknown = [name for name in given.target if name not in TARGETS]
    if unknown:
        sys.exit(f"no target {unknown[0]}; there are: {', '.join(TARGETS)}")
    targets = [TARGETS[name] for name in given.target] or list(TARGETS.values())
    if given.file:
        return again(targets[0], given.file)
    each, begin = -(-given.files // len(targets)), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(targets, given.seed, Limits(given.memory << 20, given.patience), given.processes, Path(folder))
        run.run(each, given.seconds)
    if run.findings:
        keep(run.findings, given.seed, Path(given.keep))
    totals = {what: sum(counts[what] for counts in run.counts.values()) for what in ("read", "refused", "findings")}
    print(f"{sum(totals.values()):,} files: {', '.join(f'{count:,} {what}' for what, count in totals.items())}")  # noqa: T201
    if given.record:
        limits = {"seed": given.seed, "memory_mb": given.memory, "processes": given.processes}
        facts = {**about("damaged files read, and used when they could be"), **limits, **totals}
        facts["runs"] = [{"target": name, **counts} for name, counts in run.counts.items()]
        facts["seconds"] = round(time.monotonic() - begin, 1)
        facts["found"] = [vars(finding) for finding in run.findings]
        append(given.record, facts)
    return int(bool(run.findings))


def about(what: str, suite: str = "fuzz") -> dict[str, object]:
    """Facts that every record begins with: its name, subject, command, date, machine and versions."""
    import numpy

    from wv_cli import __version__, _cpu

    return {
        "name": suite.replace(".", "-"),
        "suite": suite,
        "data": what,
        "command": " ".join([f"python -m tests.{suite}", *(Path(word).name for word in sys.argv[1:])]),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}",
        "versions": {"wv": __version__, "kernels": _cpu.name(), "python": platform.python_version()}
        | {"numpy": numpy.__version__},
    }


def append(path: str, facts: dict[str, object]) -> None:
    """Adds a record to a file of benchmarks/results: a line of JSON."""
    with Path(path).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(facts) + "\n")


def keep(findings: list, seed: int, folder: Path) -> None:  # type: ignore[type-arg]
    """Saves a file of each sort of finding and says how to read it again."""
    from tests.fuzz.harness import file_of
    from tests.fuzz.targets import TARGETS

    sorts: dict[tuple[str, ...], list] = {}  # type: ignore[type-arg]
    for finding in findings:
        sorts.setdefault((finding.target, finding.kind, finding.place), []).append(finding)
    folder.mkdir(parents=True, exist_ok=True)
    for (target, kind, place), found in sorts.items():
        path = folder / f"{target}-{seed}-{found[0].number}"
        path.write_bytes(file_of(TARGETS[target], seed, found[0].number))
        print(f"{target}: {len(found):,} x {kind} {place}: {found[0].message[:200]!r}")  # noqa: T201
        print(f"    python -m tests.fuzz --target {target} --file {path}")  # noqa: T201


def again(target, file: str) -> int:  # type: ignore[no-untyped-def]
    """One file, with the traceback of what it raises."""
    import warnings

    from tests.fuzz.harness import Limits, limit_memory, prepare
    from wv_cli.errors import WvError

    with tempfile.TemporaryDirectory() as folder:
        prepare(target, Path(folder))
        path = Path(folder) / target.file
        path.write_bytes(Path(file).read_bytes())
        limit_memory(Limits())
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", category=__import__("wv_cli.vectors.formats").formats.FormatWarning)
        try:
            target.use(path)
        except WvError as error:
            print(f"refused: {error}")  # noqa: T201
            return 0
    print("read")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
