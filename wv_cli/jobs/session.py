"""One run of a command and what all of them have in common: what is read and written, the checks made before any work,
and the end, when results have their sidecars. What trains is in training_session.py.

Prints nothing: sessions tell an observer about progress and `say` about events.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from wv_cli import formats
from wv_cli.config import refuse_idle
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome
from wv_cli.errors import WvError
from wv_cli.jobs.facts import Facts
from wv_cli.system import meta
from wv_cli.system.events import Log
from wv_cli.system.launcher import refuse_processes
from wv_cli.system.output import check_writable
from wv_cli.system.places import is_stream, refuse_folder, refuse_reading, require_different

Observe = Callable[[Progress], None]
Reading = Callable[[int, int | None], None]
# Options that are called otherwise than the session's field.
FIELDS = {"max_time": "max_seconds", "meta": "write_meta", "save_output_vectors": "output_vectors"}


def session_fields(options: dict[str, Any]) -> dict[str, Any]:
    """Options by the names of the session's fields."""
    return {FIELDS.get(name, name): value for name, value in options.items()}


class Config(Protocol):
    """Options that know what they may be."""

    def validate(self) -> None:
        """Raises UsageError."""
        ...

    @classmethod
    def conditions(cls) -> list[tuple[str, str]]:
        """See wv_cli.config.Config."""
        ...


class SidecarWarning(UserWarning):
    """The results are written, what tells how they were made is not."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """What is asked for; `argv` is the command line, recorded beside the results unless `write_meta` is false. `named`
    are the options that the user gave, whatever their values. CONDITIONS says of options that do not
    always mean something when they do (wv_cli.config.holds), besides what the fields of `config` say of themselves."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {}

    config: Config
    argv: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    write_meta: bool = True

    def validate(self) -> None:
        """Checks everything that can be checked before reading. Raises UsageError or WvError."""
        self.checked_config().validate()
        for path in self.results():
            refuse_folder(path)
        self.check_options()
        self.refuse_idle()
        for path in self.written():
            check_writable(path)
        files = [path for path in self.results() if not is_stream(path)]
        beside = [name for name in (formats.words_file(path, self.format_asked) for path in files) if name is not None]
        sidecars = [meta.sidecar_path(path) for path in files] if self.write_meta else []
        require_different([*self.written(), *beside, *sidecars])
        refuse_reading([*self.written(), *beside], self.read())

    @property
    def leads(self) -> bool:
        """Whether this process is the one that writes and talks."""
        return True

    @property
    def format_asked(self) -> str | None:
        """The format of all outputs of vectors, None where their names choose it."""
        return None

    def refuse_idle(self) -> None:
        """Raises UsageError for an option that was given and means nothing beside the others."""
        refuse_idle(self.conditions(), self.named, self.values())

    def values(self) -> Mapping[str, Any]:
        """Of options and other fields, by their names."""
        return {**vars(self.config), **vars(self)}

    def conditions(self) -> list[tuple[str, str]]:
        """(name, condition) of the options that do not always mean something."""
        return [*self.CONDITIONS.items(), *self.config.conditions()]

    def checked_config(self) -> Config:
        """The config with what other options say about it. Raises UsageError where they contradict it."""
        return self.config

    def check_options(self) -> None:
        """Raises UsageError for options that do not go together."""

    def read(self) -> list[str]:
        """The files this session reads, which no output may replace."""
        raise NotImplementedError

    def results(self) -> list[str]:
        """The files this session makes."""
        raise NotImplementedError

    def written(self) -> list[str]:
        """All files this session writes, in the end or on the way."""
        return self.results()

    def run(
        self, say: Log, observe: Observe | None = None, reading: Reading | None = None
    ) -> tuple[Outcome | None, Facts]:
        """Does the work and, unless it was stopped, writes the results. `observe` is called while a model trains,
        `reading` with (done, total or None) while a long file is gone through. Returns the outcome of the training
        (None: there was none) and the facts that are recorded beside the results.

        Raises WvError and its kin for everything the user can mend; a run stopped by a signal returns normally.
        """
        self.refuse_processes()
        self.validate()
        with self.claimed(say):
            return self.work(say, observe, reading)

    def refuse_processes(self) -> None:
        """Raises WvError where a launcher has started several that cannot share the work."""
        refuse_processes()

    @contextmanager
    def claimed(self, say: Log) -> Iterator[None]:
        """What a run needs for itself while it lasts. Raises WvError when it cannot have it."""
        yield

    def work(self, say: Log, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """What run() does once everything is checked."""
        raise NotImplementedError

    def finish(self, written: Sequence[str], facts: Mapping[str, object]) -> None:
        """After the results are written: their sidecars. One that cannot be written is a SidecarWarning."""
        for path in written:
            if self.write_meta and not is_stream(path):
                try:
                    meta.write(path, list(self.argv), facts)
                except WvError as error:
                    warnings.warn(f"{error}; {path} itself is written and whole", SidecarWarning, stacklevel=2)
