"""The clusters of near-duplicates, as datatrove finds them: records that are connected by others belong together."""

import numpy as np

from wv_cli.filtering.near_duplicates import Keys, clusters
from wv_cli.filtering.rules import Judged
from wv_cli.io.output import open_output


class Clusters:
    """Collects the keys of all records that reach the rule, and writes a line for each record of a cluster to the file
    `path`: its file, its number there, the number of its cluster, the records in it. Without `path` it does nothing."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._keys: list[Keys] = []
        self._places: list[tuple[str, int]] = []
        self._file, self._before = "", 0

    def add(self, file: str, judged: Judged) -> None:
        """A block of records of a file."""
        if self._path is None:
            return
        self._before = self._before if file == self._file else 0
        self._file = file
        self._keys.append(judged.keys[-1])
        self._places += [(file, self._before + number) for number in (judged.alive + 1).tolist()]
        self._before += len(judged.reason)

    def write(self) -> None:
        """Raises WvError."""
        if self._path is None:
            return
        if self._keys:
            stays, sizes = (each.tolist() for each in clusters(np.concatenate(self._keys)))
        else:
            stays, sizes = [], []
        numbers: dict[int, int] = {}
        with open_output(self._path) as out:
            out.write(b"file\trecord\tcluster\tsize\n")
            for (file, record), head, size in zip(self._places, stays, sizes, strict=True):
                if size > 1:
                    number = numbers.setdefault(head, len(numbers) + 1)
                    out.write(f"{file}\t{record}\t{number}\t{size}\n".encode("utf-8", "surrogateescape"))
