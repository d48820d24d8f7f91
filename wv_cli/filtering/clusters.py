"""Which records are near-duplicates: the file of `--clusters`."""

from collections.abc import Iterable, Sequence

import numpy as np

from wv_cli.filtering.duplicates import Like
from wv_cli.filtering.judge import Judged
from wv_cli.filtering.near_duplicates import Keys, clusters
from wv_cli.io.output import open_output


class Clusters:
    """Collects near-duplicates, and writes a line for each record of a cluster to the file `path`: its file, its number
    there, the number of its cluster, the records in it. Without `path` it does nothing.

    Where near-duplicates are `verified`, a cluster is a text that stays and those that are like it, and a line ends
    with the similarity. Else clusters are datatrove's: all texts that are connected by shared keys."""

    def __init__(self, path: str | None, *, verified: bool) -> None:
        self._path, self._verified = path, verified
        self._keys: list[Keys] = []
        self._places: list[tuple[str, int]] = []
        self._like: dict[tuple[str, int], Like] = {}
        self._file, self._before = "", 0

    def add(self, file: str, judged: Judged) -> None:
        """A block of records of a file."""
        if self._path is None:
            return
        self._before = self._before if file == self._file else 0
        self._file = file
        if self._verified:
            self._like |= {(file, self._before + number + 1): like for number, like in judged.like.items()}
        else:
            self._keys.append(judged.keys[-1])
            self._places += [(file, self._before + number) for number in (judged.alive + 1).tolist()]
        self._before += len(judged.reason)

    def write(self, files: Sequence[str]) -> None:
        """Of a run over these files. Raises WvError."""
        if self._path is None:
            return
        rows = self._stars(files) if self._verified else self._components()
        with open_output(self._path) as out:
            out.write(b"file\trecord\tcluster\tsize" + b"\tsimilarity" * self._verified + b"\n")
            for row in rows:
                out.write(("\t".join(map(str, row)) + "\n").encode("utf-8", "surrogateescape"))

    def _stars(self, files: Sequence[str]) -> Iterable[tuple[object, ...]]:
        """Texts that stayed, those of indexes first, and what is like them, in their order."""
        order = {file: number for number, file in enumerate(files)}
        head = {place: (like.file, like.record) for place, like in self._like.items()}
        sizes: dict[tuple[str, int], int] = {}
        for each in head.values():
            sizes[each] = sizes.get(each, 1) + 1
        numbers: dict[tuple[str, int], int] = {}
        for place in sorted({*head, *sizes}, key=lambda place: (order.get(place[0], -1), place)):
            stays = head.get(place, place)
            number = numbers.setdefault(stays, len(numbers) + 1)
            similarity = self._like[place].similarity if place in head else 1
            yield (*place, number, sizes[stays], f"{similarity:.4g}")

    def _components(self) -> Iterable[tuple[object, ...]]:
        stays, sizes = clusters(np.concatenate(self._keys)) if self._keys else (np.zeros(0, np.int64),) * 2
        numbers: dict[int, int] = {}
        for place, head, size in zip(self._places, stays.tolist(), sizes.tolist(), strict=True):
            if size > 1:
                yield (*place, numbers.setdefault(head, len(numbers) + 1), size)
