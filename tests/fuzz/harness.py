"""Damages files, reads them and says what is a finding. Work is done in child processes, so that a crash is one, too.

A reader may succeed or refuse (WvError with one line that says something). Everything else is a finding: any other
exception or a warning, memory beyond the limit, more than a few seconds, the death of the process.
"""

import gc
import multiprocessing
import random
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import ANYWHERE, Mutation, mutated
from wv_cli.errors import WvError
from wv_cli.vectors.formats import FormatWarning

CHUNK = 500  # files a child reads before the next one takes over
_SILENCE = 300.0  # seconds without a file after which a child counts as hanging


@dataclass(frozen=True)
class Target:
    """A reader: whole files to begin with, and the call that reads a file and uses what it holds. The file is called
    `file`, with the files of `beside` in the same folder. `covers` names the rows of the program's tables it reads."""

    name: str
    seeds: Callable[[], Sequence[bytes]]
    use: Callable[[Path], object]
    ways: Sequence[Mutation] = ANYWHERE
    covers: tuple[str, ...] = ()
    file: str = "file"
    beside: Mapping[str, Callable[[], bytes]] = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    """`memory` in bytes beyond what a child has when it begins (0: none), `seconds` of processor time a file."""

    memory: int = 512 << 20
    seconds: float = 5.0


@dataclass(frozen=True)
class Finding:
    """`place` is where in our code it happened, `number` which file of the run it was."""

    target: str
    number: int
    kind: str
    place: str
    message: str


def file_of(target: Target, seed: int, number: int) -> bytes:
    return mutated(target.seeds(), target.ways, random.Random(f"{seed}/{target.name}/{number}"))


def attempt(target: Target, data: bytes, folder: Path, limits: Limits) -> tuple[str, str, str]:
    """("read" or "refused", "", ""), or (kind, place, message) of a finding."""
    path = folder / target.file
    path.write_bytes(data)
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", FormatWarning)
            target.use(path)
        outcome = ("read", "", "")
    except WvError as error:
        text = str(error)
        outcome = ("refused", "", "")
        if not text.strip() or "\n" in text or len(text) > 2000:
            outcome = ("message", _place(error), text[:3000])
    except Exception as error:
        outcome = (type(error).__name__, _place(error), str(error)[:300])
    seconds = time.process_time() - begin
    if seconds > limits.seconds and outcome[0] in ("read", "refused"):
        outcome = ("slow", "", f"{seconds:.1f} s of processor time")
    return outcome


def _place(error: BaseException) -> str:
    """The innermost line of ours."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "wv_cli" in frame.filename]
    return f"{'/'.join(Path(frames[-1].filename).parts[-2:])}:{frames[-1].lineno}" if frames else "tests"


def prepare(target: Target, folder: Path) -> None:
    """The files beside, and once each whole file, so that what is loaded lazily is there before memory is limited."""
    for name, content in target.beside.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content())
    for data in target.seeds():
        attempt(target, data, folder, Limits())


def limit_memory(limits: Limits) -> None:
    if limits.memory:
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + limits.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


@dataclass
class _Child:
    """A process that reads the files `first` to `last` - 1 of a target."""

    target: Target
    first: int
    last: int
    process: Any
    results: Connection
    at: Any
    seen: int = -1
    since: float = 0.0


class Run:
    """Files of a seed, over targets, in `processes` at once. `counts` has what came of them by target."""

    def __init__(self, targets: Sequence[Target], seed: int, limits: Limits, processes: int, folder: Path) -> None:
        self._seed, self._limits, self._processes, self._folder = seed, limits, processes, folder
        self.findings: list[Finding] = []
        self.counts = {target.name: {"read": 0, "refused": 0, "findings": 0} for target in targets}
        self._targets = targets
        self._context = multiprocessing.get_context("fork")

    def run(self, files: int, seconds: float | None = None) -> None:
        """`files` of every target, or as many as `seconds` allow."""
        gc.collect()
        gc.freeze()  # a child does not walk, and so copy, what it has of this process
        try:
            self._run(files, seconds)
        finally:
            gc.unfreeze()

    def _run(self, files: int, seconds: float | None) -> None:
        until = None if seconds is None else time.monotonic() + seconds
        waiting = list(self._chunks(files))[::-1]
        running: list[_Child] = []
        while running or waiting:
            out_of_time = until is not None and time.monotonic() > until
            if out_of_time:
                waiting = []
            while waiting and len(running) < self._processes:
                running.append(self._start(*waiting.pop()))
            wait([child.process.sentinel for child in running] + [child.results for child in running], 1.0)
            for child in list(running):
                self._listen(child)
                if not child.process.is_alive():
                    running.remove(child)
                    self._listen(child)
                    waiting += self._rest(child)
                elif time.monotonic() - child.since > _SILENCE:
                    child.process.kill()

    def _chunks(self, files: int) -> Iterator[tuple[Target, int, int]]:
        for first in range(0, files, CHUNK):
            for target in self._targets:
                yield target, first, min(first + CHUNK, files)

    def _start(self, target: Target, first: int, last: int) -> _Child:
        target.seeds()  # made once, here
        receive, send = self._context.Pipe(duplex=False)
        at = self._context.Value("q", first - 1, lock=False)
        process = self._context.Process(target=self._work, args=(target, first, last, send, at))
        process.start()
        send.close()
        return _Child(target, first, last, process, receive, at, since=time.monotonic())

    def _work(self, target: Target, first: int, last: int, send: Connection, at: Any) -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        folder = self._folder / f"{target.name}-{first}"
        folder.mkdir(exist_ok=True)
        prepare(target, folder)
        limit_memory(self._limits)
        for number in range(first, last):
            at.value = number
            send.send((number, *attempt(target, file_of(target, self._seed, number), folder, self._limits)))
        at.value = last

    def _listen(self, child: _Child) -> None:
        if child.at.value != child.seen:
            child.seen, child.since = child.at.value, time.monotonic()
        counts = self.counts[child.target.name]
        try:
            while child.results.poll():
                number, outcome, place, message = child.results.recv()
                child.first = number + 1
                if outcome in counts:
                    counts[outcome] += 1
                else:
                    self._found(Finding(child.target.name, number, outcome, place, message))
        except EOFError:
            pass

    def _rest(self, child: _Child) -> list[tuple[Target, int, int]]:
        """What a child that died has left to do."""
        if child.process.exitcode == 0:
            return []
        number = max(child.at.value, child.first)
        died = -child.process.exitcode
        kind = "hang" if died == signal.SIGKILL and time.monotonic() - child.since > _SILENCE else "crash"
        self._found(Finding(child.target.name, number, kind, "", f"the process ended with {child.process.exitcode}"))
        return [(child.target, number + 1, child.last)] if number + 1 < child.last else []

    def _found(self, finding: Finding) -> None:
        self.findings.append(finding)
        self.counts[finding.target]["findings"] += 1
