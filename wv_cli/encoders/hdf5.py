"""Arrays of an HDF5 file, through h5py. What a file may hold besides numbers of its own is refused: links to other
files, numbers stored outside, virtual arrays."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import BadFile
from wv_cli.io import memory
from wv_cli.io.extra import foreign, require
from wv_cli.io.kinds import refuse_other_file


class Arrays:
    """The arrays of an open file."""

    def __init__(self, path: Path, package: Any, file: Any) -> None:
        self.path, self._package, self._file = path, package, file

    def __contains__(self, name: str) -> bool:
        with foreign(self.path, f"{name}: cannot be read"):
            return name in self._file

    def floats(self, name: str, *shape: int) -> NDArray[np.float32]:
        """Raises BadFile when it is not there, not of this shape, no floats, or holds nan or infinity; WvError when it
        does not fit in memory."""
        with foreign(self.path, f"{name}: expected an array of floats"):
            found = self._plain(name)
            if found is None:
                raise BadFile(self.path, f"expected an array {name!r} in the file itself, found none")
            if found.shape != shape or found.dtype.kind != "f":
                wanted = " x ".join(map(str, shape))
                problem = f"{name}: expected floats, {wanted}, found {found.dtype}, {' x '.join(map(str, found.shape))}"
                raise BadFile(self.path, problem)
            memory.require(8 * int(np.prod(shape, dtype=np.float64)), f"{self.path}: {name}", "use a smaller model")
            with np.errstate(over="ignore"):
                values = np.ascontiguousarray(found[()], np.float32)
        if not np.isfinite(values).all():
            raise BadFile(self.path, f"{name}: expected finite numbers, found nan or infinity")
        return values

    def _plain(self, name: str) -> Any:
        """The array, None when there is none or its numbers are elsewhere."""
        at = self._file
        for part in name.split("/"):
            if not isinstance(at, self._package.Group) or part not in at:
                return None
            if not isinstance(at.get(part, getlink=True), self._package.HardLink):
                return None
            at = at[part]
        plain = isinstance(at, self._package.Dataset) and not at.external and not at.is_virtual
        return at if plain else None


@contextlib.contextmanager
def open_arrays(path: Path, what: str) -> Iterator[Arrays]:
    """Raises BadFile for a file that is none, WvError naming the extra when h5py is not installed."""
    package = require("h5py", what)
    refuse_other_file(path, "an HDF5 file")
    with foreign(path, "expected an HDF5 file"):
        file = package.File(path, "r")
    with file:
        yield Arrays(path, package, file)
