"""A file without a name for what does not fit in memory: it is gone when the process ends, however it ends."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from wv_cli.errors import WvError
from wv_cli.system.output import reason


class Spool:
    """A file for ids in the folder of `beside` (None or `-`: the current folder), made when it is first needed."""

    def __init__(self, beside: str | None) -> None:
        self.folder = "." if beside in (None, "-") else str(Path(os.path.realpath(str(beside))).parent)
        self._file: BinaryIO | None = None

    @property
    def is_open(self) -> bool:
        return self._file is not None

    @property
    def descriptor(self) -> int:
        if self._file is None:
            # Opened and unlinked at once, or never named at all where the file system can do that.
            self._file = tempfile.TemporaryFile(dir=self.folder, buffering=0)  # noqa: SIM115 (closed by __exit__)
        assert self._file is not None
        return self._file.fileno()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turns an OSError into a WvError that names the folder."""
        try:
            yield
        except OSError as error:
            message = f"{self.folder}: cannot keep the word ids in a file here: {reason(error)}"
            raise WvError(message) from error

    def __enter__(self) -> "Spool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
