"""The log of a search for options: a header, a line of JSON for each trial, and a last one when the search is over.

Every line is on the disk before the next trial begins. A line that a kill cut short is dropped, with a note; the log of
a search that is not over is only discarded when the user says so; that of one that is over gives way to the next.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from wv_cli.commands.autotune_space import DSUBS
from wv_cli.commands.metadata import number_of
from wv_cli.config import Options
from wv_cli.errors import BadFile, WvError, reason
from wv_cli.io import host
from wv_cli.io.events import Log
from wv_cli.io.json_text import to_json
from wv_cli.io.lock import hold_lock
from wv_cli.io.output import open_output

_LONGEST = 1e12  # seconds of a search
_OVER: Mapping[str, Any] = {"over": True}
_ADVICE = "go on with --resume, or begin anew with --overwrite"


@dataclass(frozen=True)
class Trial:
    """One trial of a search. `score` is None for a trial that failed; `why` says how. `elapsed` is the time used when
    it ended, `dsub` that of quantizing the model."""

    number: int
    config: dict[str, Any]
    dsub: int
    score: float | None
    why: str
    elapsed: float

    def metadata(self) -> dict[str, Any]:
        """The facts of the trial for the event log and the sidecar."""
        return asdict(self)


@contextmanager
def claim_log(path: str, *, discard: bool) -> Iterator[None]:
    """Context manager in which this search alone writes the log at `path`. Raises WvError at its begin when another
    search writes it, or, unless `discard`, when it holds an unfinished search."""
    with hold_lock(path, "another search writes this log; wait for it, or choose another --autotune-log"):
        with _explain_errors(path):
            lines = _lines(path)
        if lines and not discard and not _is_over(lines):
            trials = number_of(max(len(lines) - 1, 0), "trial")
            raise WvError(f"{path}: the log of an earlier search is there, of {trials}; {_ADVICE}")
        yield


class TrialLog:
    """The log file of a search. The log at `path` ("": none is kept) of the search that `header` describes, which
    starts from `first`."""

    def __init__(self, path: str, header: Mapping[str, Any], first: Options) -> None:
        self._path, self._header, self._first = path, header, first
        self._stream: BinaryIO | None = None

    def begin(self, log: Log, *, resume: bool) -> list[Trial]:
        """The trials to go on from, with `resume` those of the log; it is open for more. Raises WvError, BadFile for a
        log that is damaged or belongs to another search."""
        trials: list[Trial] = []
        if not self._path:
            return trials
        with _explain_errors(self._path):
            kept = self._drop_unfinished(_lines(self._path), log) if resume else []
            if kept:
                trials = self._trials(kept)
                log(f"{self._path}: {len(trials)} trials done before")
            else:
                with open_output(self._path) as stream:
                    stream.write(_line(self._header))
            self._stream = Path(self._path).open("r+b")  # noqa: SIM115, open as long as the search
            if kept:
                self._stream.truncate(sum(map(len, kept)))
            self._stream.seek(0, os.SEEK_END)
        return trials

    def add(self, trial: Trial) -> None:
        """Raises WvError."""
        self._write(trial.metadata())

    def close(self, *, over: bool) -> None:
        """`over`: the search is, nothing is left to continue. Raises WvError."""
        if over:
            self._write(_OVER)
        if self._stream is not None:
            self._stream.close()

    def discard(self) -> None:
        """Removes the log."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
            Path(self._path).unlink(missing_ok=True)

    def _write(self, metadata: Mapping[str, Any]) -> None:
        if self._stream is None:
            return
        with _explain_errors(self._path):
            self._stream.write(_line(metadata))
            self._stream.flush()
            host.sync(self._stream.fileno())

    def _drop_unfinished(self, lines: list[bytes], log: Log) -> list[bytes]:
        """The lines but for one at the end that was cut short, and for that of a search that is over."""
        if lines and not lines[-1].endswith(b"\n"):
            log(f"{self._path}:{len(lines)}: cut short; this trial is made again")
            lines = lines[:-1]
        return lines[:-1] if _is_over(lines) else lines

    def _trials(self, lines: list[bytes]) -> list[Trial]:
        trials: list[Trial] = []
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                if not isinstance(found, dict):
                    raise ValueError
                if number > 1:
                    trials.append(self._check_trial(Trial(**found), len(trials)))
            except (ValueError, TypeError, RecursionError, WvError) as error:
                problem = "expected a trial in JSON; begin anew with --overwrite"
                raise BadFile(self._path, problem, line=number) from error
            if number == 1 and found != (header := json.loads(_line(self._header))):
                keys = sorted(key for key in {*found, *header} if found.get(key) != header.get(key))
                message = f"the log belongs to another search ({', '.join(keys)} differ); begin anew with --overwrite"
                raise BadFile(self._path, message, line=1)
        return trials

    def _check_trial(self, trial: Trial, number: int) -> Trial:
        """A trial of the log. Raises ValueError, TypeError or WvError when it is none of this search."""
        score, numeric = trial.score, (int, float)
        if not (
            type(trial.number) is int
            and trial.number == number
            and type(trial.dsub) is int
            and trial.dsub in DSUBS
            and (score is None or (type(score) in numeric and 0 <= score <= 1))
            and isinstance(trial.why, str)
            and type(trial.elapsed) in numeric
            and 0 <= trial.elapsed < _LONGEST
        ):
            raise ValueError
        replace(self._first, **trial.config).validate()
        return trial


@contextmanager
def _explain_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WvError(f"{path}: cannot write the log: {reason(error)}") from error


def _lines(path: str) -> list[bytes]:
    return Path(path).read_bytes().splitlines(keepends=True) if Path(path).exists() else []


def _is_over(lines: list[bytes]) -> bool:
    return bool(lines) and lines[-1] == _line(_OVER)


def _line(metadata: Mapping[str, Any]) -> bytes:
    return to_json(metadata).encode() + b"\n"
