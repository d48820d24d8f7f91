"""The outputs of one shard of a filter run while it is judged: part files for the records that stay, and for the
others."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wv_cli.filtering.journal import Point
from wv_cli.filtering.label_files import LabelFiles, open_label_files
from wv_cli.filtering.part_files import PartFile, Saved
from wv_cli.filtering.report import PLACES
from wv_cli.filtering.slices import Slice
from wv_cli.filtering.statistics import Totals
from wv_cli.io.compression import inner_name
from wv_cli.io.threads import Backlog
from wv_cli.text.records.kinds import RECORDS, record_kind, written_kind
from wv_cli.text.records.reading import BadRecord, Sink
from wv_cli.text.records.writing import open_sink

SAVE_BYTES = 64 << 20  # of records, after which a point is saved


class ShardFiles:
    """The outputs of the shard `slice`, which goes on from the `byte` of its text up to which it is judged, with the
    totals `counted`: those of the `point`, which is in it. The first records that were `skipped` have their places.
    open() is a context: what is open is closed, and what no point names is removed where it failed. `save` brings a
    point to the disk; without it the shard is begun anew. Where the labels of --split have files of their own, `beside`
    is where the part files of these stand, and `outputs` has none for the records that stay."""

    def __init__(
        self,
        shard: Slice,
        outputs: Sequence[Path],
        point: Point | None = None,
        keys: Sequence[PartFile] = (),
        save: "Callable[[ShardFiles, Totals], None] | None" = None,
        number: int = 0,
        beside: Path | None = None,
    ) -> None:
        self.number = number  # among the shards of the run or part
        self.slice, self._outputs, self._keys, self._save = shard, outputs, keys, save
        self._kind = written_kind(record_kind(inner_name(shard.path)) or "jsonl")
        # A table is whole when its end is written, so it begins anew. So do files with a header for each label.
        self._resumes = not RECORDS[self._kind].table and (beside is None or RECORDS[self._kind].divisible)
        begun = point if point is not None and self._resumes else Point()
        begin = shard.span.begin if shard.span is not None and not RECORDS[self._kind].table else 0
        self.byte, self._parts, self.skipped = begun.byte or begin, begun.parts, [*begun.skipped]
        self._bad: deque[BadRecord] = deque()  # some may be behind the records that are judged
        self.counted = Totals.from_json(begun.counted) if begun.counted else None
        self.damage: list[BadRecord] = []
        self._since = 0
        self._beside = beside

    @property
    def rejects(self) -> bool:
        """Whether what does not stay is written."""
        return len(self._outputs) > (self._beside is None)

    @contextmanager
    def open(self, threads: int = 1) -> "Iterator[ShardFiles]":
        """With more than one thread another one writes."""
        self._files: list[PartFile] = []
        self._sinks: list[Sink] = []
        self._labels: LabelFiles | None = None
        self._backlog = Backlog(threads)
        try:
            if self._beside is not None:
                others = {name: saved for name, saved in self._parts.items() if Path(name) not in self._outputs}
                self._labels = open_label_files(self._kind, self.slice.name, self._beside, others)
            for path in self._outputs:
                self._files.append(PartFile(path, self._parts.get(str(path))))
            self._sinks = [open_sink(self._kind, file) for file in self._files]  # type: ignore[arg-type]
            yield self
        except BaseException:
            self._close()
            if self._labels is not None:
                self._labels.discard()
            saved = {each.part for each in self._parts.values()}
            for file in self._files:
                if str(file.part) not in saved:
                    file.part.unlink(missing_ok=True)
            raise
        self._close()

    def _close(self) -> None:
        self._backlog.close()
        for sink in self._sinks:
            sink.discard()
        for file in self._files:
            file.close()

    def write_kept(self, make: Callable[[], Any], label: str = "") -> None:
        """Writes the records that `make` makes, now or soon."""
        if self._labels is not None:
            labels = self._labels
            self._backlog.call(lambda: labels.write(label, make()))
        else:
            self._backlog.call(lambda: self._sinks[0].write(make()))

    def write_rejected(self, make: Callable[[], Any]) -> None:
        self._backlog.call(lambda: self._sinks[-1].write(make()))

    def keep_keys(self, kept: Sequence[bytes]) -> None:
        """What each rule of duplicates knows from now on. A worker has decisions, and keeps nothing."""
        for file, keys in zip(self._keys, kept, strict=False):
            file.write(keys)

    def note_bad(self, record: BadRecord) -> None:
        """A record cannot be read."""
        self._bad.append(record)

    def note_damage(self, problem: str) -> None:
        """The file is left out."""
        self.damage.append(BadRecord(None, None, problem))

    def leave_out(self) -> dict[str, Saved]:
        """Gives up the outputs. Returns none."""
        self._backlog.wait()
        for file in self._files:
            file.part.unlink(missing_ok=True)
        return {}

    def count_skipped(self, totals: Totals, *, every: bool = False) -> None:
        """Counts the records that cannot be read, up to those that are judged or `every` one."""
        while self._bad and (every or (self._bad[0].byte is not None and self._bad[0].byte < self.byte)):
            record = self._bad.popleft()  # another thread may be adding some
            self.skipped += [record][: PLACES - len(self.skipped)]
            totals.skipped += 1

    def count_judged(self, size: int, totals: Totals) -> None:
        """Another `size` bytes are judged and written, with which the shard has these totals."""
        self.byte += size
        self._since += size
        self.count_skipped(totals)
        if self._since < SAVE_BYTES or not totals.records:
            return
        self._since = 0
        if self._save is not None and self._resumes:
            self._save(self, totals)
        elif self._labels is not None:
            self._backlog.call(self._labels.flush)

    def save(self) -> dict[str, Saved]:
        """Brings all that was written to the disk: the part file of each output."""
        self._backlog.wait()
        labels = self._labels.save() if self._labels is not None else {}
        self._parts = labels | {str(file.path): file.save() for file in self._files}
        return self._parts

    def finish(self) -> dict[str, Saved]:
        """The shard is whole. Returns what save() does."""
        self._backlog.wait()
        for sink, file in zip(self._sinks, self._files, strict=True):
            sink.close()
            file.finish()
        if self._labels is not None:
            self._labels.finish()
        return self.save()
