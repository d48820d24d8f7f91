"""The outputs of a filter run: for each input a file of the same name with what stays, and one with what does not."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from wv_cli.errors import UsageError, WvError
from wv_cli.filtering.duplicates import Deduplicator, Keys
from wv_cli.filtering.journal import Journal, PartFile, Point, drop, publish
from wv_cli.filtering.statistics import Totals
from wv_cli.system.compression import inner_name
from wv_cli.system.lock import hold_lock
from wv_cli.text.records.kinds import record_kind
from wv_cli.text.records.reading import Sink
from wv_cli.text.records.writing import open_sink

SAVE_BYTES = 64 << 20  # of records, after which a point is saved


class Saver(Protocol):
    """What brings a point to the disk: a journal."""

    def write(self, point: Point, /) -> None: ...


class NoJournal:
    """Of a shard that is begun anew where its process is killed."""

    def write(self, point: Point) -> None:
        pass


class Shards:
    """The shards of a run, `paths`, in the folders `kept` and `rejected`, and what of them the journal says is done."""

    def __init__(
        self, paths: Sequence[str], kept: Path, rejected: Path | None, journal: Journal, *, overwrite: bool
    ) -> None:
        self._paths, self._folders, self._journal = paths, [kept, *([rejected] if rejected else [])], journal
        self._overwrite = overwrite
        self._keys: list[PartFile] = []
        self.point = Point()
        names = [Path(path).name for path in paths]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"two inputs are called {twice}, and their outputs would be; give them one by one")
        for path in paths:
            for folder in self._folders:
                if (folder / Path(path).name).resolve() == Path(path).resolve():
                    raise UsageError(f"{path}: the output would replace the input; name another folder")

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Keeps other runs out of the folder while it lasts. Raises WvError for one that is at work, and for the
        journal of another run."""
        for folder in self._folders:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"{folder}: cannot make this folder: {error.strerror}"
                raise WvError(message) from error
        with contextlib.ExitStack() as locks:
            for folder in self._folders:
                locks.enter_context(hold_lock(folder / self._journal.path.name, "another wv filter"))
            if self._overwrite:
                self._journal.remove()
                for path in self._paths:
                    for folder in self._folders:
                        drop(folder / Path(path).name)
            self.point = self._journal.read() or Point()
            try:
                yield
            finally:
                for keys in self._keys:
                    keys.close()
            self._journal.remove()
            for keys in self._keys:
                drop(keys.path)

    def restore(self, duplicates: Sequence[Deduplicator]) -> None:
        """Opens the files of their keys, and makes known what stayed before."""
        for each in duplicates:
            path = self._folders[0] / f"wv-filter-{each.name}"
            size = self.point.sizes.get(str(path), 0)
            keys = PartFile(path, size)
            each.insert(np.frombuffer(keys.read(size), "<u8").astype(np.uint64).reshape(-1, each.width))
            self._keys.append(keys)

    @property
    def judged_before(self) -> bool:
        return bool(self.point.totals)

    def totals(self, new: Totals) -> Totals:
        """Those of the journal, or `new` ones."""
        return Totals.of(self.point.totals) if self.point.totals else new

    def finish(self, path: str, totals: Totals) -> None:
        """Another process has written the outputs of the shard, and they have their names."""
        self.point.totals = totals.saved()
        _close(path, [folder / Path(path).name for folder in self._folders], self.point, self._journal)

    def left(self) -> "Iterator[ShardFiles]":
        """What is still to be done."""
        for path in self._paths:
            name = Path(path).name
            if path in self.point.done:
                continue
            outputs = [folder / name for folder in self._folders]
            if self.point.at == path and self.point.closing:
                _close(path, outputs, self.point, self._journal)
                continue
            yield ShardFiles(path, outputs, self.point, self._journal, self._keys)


def _close(source: str, outputs: list[Path], point: Point, journal: "Saver") -> None:
    """Gives whole outputs their names."""
    for output in outputs:
        publish(output)
    point.done.append(source)
    point.at, point.blocks, point.closing = "", 0, False
    for output in outputs:
        point.sizes.pop(str(output), None)
    journal.write(point)


class ShardFiles:
    """The outputs of the shard `source`, of which the first `blocks` are judged. A context: what is open is closed."""

    def __init__(self, source: str, outputs: list[Path], point: Point, journal: "Saver", keys: list[PartFile]) -> None:
        self._keys = keys
        self.source, self._outputs, self._point, self._journal = source, outputs, point, journal
        self._kind = record_kind(inner_name(source)) or "jsonl"
        # Parquet is whole when its end is written, so it begins anew.
        going_on = point.at == source and self._kind != "parquet"
        self.blocks = point.blocks if going_on else 0
        self._sizes = point.sizes if going_on else {}
        self._since = 0

    @property
    def rejects(self) -> bool:
        """Whether what does not stay is written."""
        return len(self._outputs) > 1

    def __enter__(self) -> "ShardFiles":
        self._files: list[PartFile] = []
        try:
            for path in self._outputs:
                self._files.append(PartFile(path, self._sizes.get(str(path), 0)))
            self._sinks: list[Sink] = [open_sink(self._kind, file) for file in self._files]  # type: ignore[arg-type]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def write_kept(self, written: Any) -> None:
        self._sinks[0].write(written)

    def write_rejected(self, written: Any) -> None:
        self._sinks[1].write(written)

    def keep_keys(self, kept: Sequence[Keys]) -> None:
        """Those of duplicates that are known from now on."""
        for file, keys in zip(self._keys, kept, strict=True):
            file.write(keys.astype("<u8").tobytes())

    def judged(self, size: int, totals: Totals) -> None:
        """A block of `size` bytes is judged and written."""
        self.blocks += 1
        self._since += size
        if self._since >= SAVE_BYTES and self._kind != "parquet":
            self._save(totals, closing=False)

    def finish(self, totals: Totals) -> None:
        """The shard is whole."""
        for sink, file in zip(self._sinks, self._files, strict=True):
            sink.close()
            file.finish()
        self._save(totals, closing=True)
        _close(self.source, self._outputs, self._point, self._journal)

    def _save(self, totals: Totals, *, closing: bool) -> None:
        self._since = 0
        self._point.at, self._point.blocks, self._point.closing = self.source, self.blocks, closing
        self._point.sizes = {str(file.path): file.save() for file in [*self._files, *self._keys]}
        self._point.totals = totals.saved()
        self._journal.write(self._point)
