"""The outputs of a filter run: for each input a file of the same name with what stays, and one with what does not.

A file keeps its place below an input that is a folder.
"""

import contextlib
import json
import os
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wv_cli.errors import UsageError, WvError
from wv_cli.filtering.duplicates import Deduplicator
from wv_cli.filtering.journal import Journal, Point
from wv_cli.filtering.label_files import require_few
from wv_cli.filtering.part_files import (
    PartFile,
    Saved,
    files_there,
    publish,
    remove_others,
    remove_parts,
    require_outputs,
    require_part,
)
from wv_cli.filtering.parts import Part, files_of_other_deals, refuse_other_deals
from wv_cli.filtering.report import Report, describe_shard
from wv_cli.filtering.shard_files import ShardFiles
from wv_cli.filtering.slices import Slice
from wv_cli.filtering.statistics import Totals
from wv_cli.io.lock import hold_lock
from wv_cli.io.places import make_folder
from wv_cli.io.remote import is_remote, path_below
from wv_cli.text.records.kinds import written_name
from wv_cli.text.records.reading import BadRecord

BUSY = "another wv filter is at work in this folder; wait for it, or name another one"


def name_outputs(inputs: Sequence[str], paths: Sequence[str]) -> dict[str, str]:
    """The name of each of the files `paths`, which `inputs` are or hold, in a folder of outputs. A file of a folder
    keeps its path below that folder. Where names are equal, all begin at the folder that the inputs share. Raises
    UsageError for a file that is given twice."""
    folders = sorted((each for each in inputs if Path(each).is_dir()), key=len, reverse=True)
    elsewhere = [each for each in inputs if is_remote(each)]
    names = [_name_below(path, elsewhere if is_remote(path) else folders) for path in paths]
    if len({*names}) < len(names):
        whole = [path if is_remote(path) else os.path.normpath(Path(path).absolute()) for path in paths]
        if twice := next((path for path in whole if whole.count(path) > 1), None):
            raise UsageError(f"{twice} is given twice; name it once")
        shared = os.path.commonpath([Path(path).parent for path in whole])
        names = [os.path.relpath(path, shared) for path in whole]
    names = [*map(written_name, names)]
    if (twice := next((name for name, count in Counter(names).items() if count > 1), None)) is not None:
        both = " and ".join(path for path, name in zip(paths, names, strict=True) if name == twice)
        raise UsageError(f"{both} would both be written to {twice}; filter them into different folders")
    return dict(zip(paths, names, strict=True))


def _name_below(path: str, folders: Sequence[str]) -> str:
    if is_remote(path):
        return next(filter(None, (path_below(path, each) for each in folders)), path.rpartition("/")[2])
    folder = next((each for each in folders if Path(path).is_relative_to(each)), None)
    return Path(path).name if folder is None else os.fspath(Path(path).relative_to(folder))


def outputs_of(name: str, folders: Sequence[Path], labels: Iterable[str] | None = None) -> list[Path]:
    """The files of this name that the records of an input go to, behind links. With `labels`, which are names of
    folders, each has a file for what stays."""
    kept = [folders[0]] if labels is None else [folders[0] / label for label in labels]
    outputs = sorted(os.path.realpath(folder / name) for folder in kept)
    return [Path(path) for path in (*outputs, *(os.path.realpath(folder / name) for folder in folders[1:]))]


@contextlib.contextmanager
def _made_folders(folders: Sequence[Path], *, keep: bool) -> Iterator[None]:
    """Folders, made with those they stand in; those made here go again where the block fails and they are empty, unless
    others may need them (`keep`)."""
    missing = {each for folder in folders for each in (folder, *folder.parents) if not each.exists()}
    try:
        for folder in folders:
            make_folder(folder, parents=True)
        yield
    except BaseException:
        for each in [] if keep else sorted(missing, key=lambda folder: len(folder.parts), reverse=True):
            with contextlib.suppress(OSError):
                each.rmdir()
        raise


class Shards:
    """The shards of a run, the `slices`, with outputs in `folders`: of the records that stay and, where they are
    wanted, of the others. `totals` are those of what the journal says is done, and of what is done since then, or of
    the `finished` run that the report tells of. Of a `part` other ones may be at work in the folders. With `split`, a
    field or rule, records that stay go to a folder for each label."""

    def __init__(
        self,
        slices: Sequence[Slice],
        folders: Sequence[Path],
        journal: Journal,
        report: Report,
        totals: Totals,
        *,
        overwrite: bool,
        part: Part | None = None,
        split: str | None = None,
    ) -> None:
        self._split = split
        self._slices, self._folders, self._journal, self.totals = slices, folders, journal, totals
        self._names = [each.name for each in slices]
        self._report, self._overwrite, self._part = report, overwrite, part
        self.finished: Mapping[str, Any] | None = None
        self._keys: list[PartFile] = []
        self._described: PartFile | None = None  # a line of the report for each shard that is done
        self._point = Point()
        self._named: dict[str, Path] = {}  # outputs and folders, by their names without case

    @contextlib.contextmanager
    def claim(self) -> Iterator[None]:
        """Keeps other runs out of the folders while it lasts. Raises WvError for one that is at work, for the journal
        of another run, for files of a finished run with other rules, and for files that are of no run."""
        beside = self._folders if self._split is None else self._folders[1:]  # the folders of labels are made later
        every = [*self._folders, *(folder / Path(name).parent for folder in beside for name in self._names)]
        with _made_folders(every, keep=self._part is not None), contextlib.ExitStack() as locks:
            for folder in self._folders:
                locks.enter_context(hold_lock(folder / self._journal.path.name, BUSY))
            before = self._report.recorded_outputs(self._names, self._folders[1:])
            if self._overwrite:
                self._report.refuse_labels_of_other_deals()
                before += self._journal.recorded_outputs()
                self._journal.remove()
                self._report.remove()
                for path in files_of_other_deals(self._folders[0], self._part):
                    path.unlink(missing_ok=True)
            refuse_other_deals(self._folders[0], self._part)
            if not self._overwrite:
                self._report.require_same_run()
            if (point := self._journal.read()) is None:
                self.finished = self._report.find_finished(self._names, self._outputs)
            if self.finished is not None:
                self.totals = Totals.from_report(self.finished)
                self._remove_parts()  # a run that was killed after it had removed its journal
                yield
                return
            if point is None and not self._overwrite:
                self._refuse_others({*before})
            self._point = point or Point(before=before)
            if point is None and before:  # a run that is killed now still knows what is its own
                self._journal.write(self._point)
            self._report.remove()
            if self._point.totals:
                self.totals.add(Totals.from_json(self._point.totals))
            for done in self._point.done.values():
                require_outputs(done, "stopped")
            self._remove_parts({each.part for each in [*self._point.parts.values(), *self._point.keys.values()]})
            try:
                yield
            except BaseException:
                self._close_keys()
                self._remove_parts({each.part for each in [*self._point.parts.values(), *self._point.keys.values()]})
                raise
            self._close_keys()
            self._journal.remove()
            self._remove_parts()

    def _refuse_others(self, ours: Collection[str]) -> None:
        """Raises WvError where an output is there that is none of `ours`, which runs before have written."""
        for number, folder in enumerate(self._folders):
            for path in files_there(folder, self._names, in_labels=not number and self._split is not None):
                if os.path.realpath(path) not in ours:
                    problem = "is there, and no report says that wv filter wrote it"
                    raise WvError(f"{path}: {problem}; name another folder, or --overwrite to replace it")

    @contextlib.contextmanager
    def discarded_on_error(self) -> Iterator[None]:
        """Where the block fails, the run can neither finish nor go on: its outputs and its journal are removed."""
        try:
            yield
        except WvError:
            for output in (output for done in self._point.done.values() for output in done):
                Path(output).unlink(missing_ok=True)
            self._journal.remove()
            self._close_keys()
            self._point = Point()  # claim() removes the part files
            raise

    def _close_keys(self) -> None:
        for file in self._side_files:
            file.close()

    @property
    def _side_files(self) -> list[PartFile]:
        return [*self._keys, *([self._described] if self._described is not None else [])]

    def _remove_parts(self, but: Collection[str] = ()) -> None:
        folders = [Path(os.path.realpath(folder)) for folder in self._folders]
        outputs = [output for name in self._names for output in self._outputs(name)]
        outputs += map(self._side_path, ("report", "exact-duplicates", "near-duplicates", "split"))
        remove_parts(folders if self._part is None else [], outputs, but)

    def _outputs(self, name: str, labels: Iterable[str] = ()) -> list[Path]:
        """The files of a shard. Those of --split have the labels that occur."""
        return outputs_of(name, self._folders, labels if self._split is not None else None)

    def restore(self, duplicates: Sequence[Deduplicator]) -> None:
        """Opens the files of their keys and of the report's lines, and makes known what stayed before. Outputs that are
        whole get their names."""
        self._described = self._open_side_file("report")
        for each in duplicates:
            keys = self._open_side_file(each.name)
            self._keys.append(keys)
            each.restore(keys)
        if self._point.whole:
            name = self._point.at
            self._publish()
            require_outputs(self._point.done[name], "stopped")

    def _side_path(self, name: str) -> Path:
        own = self._journal.path.name.strip(".").removesuffix(".json")
        return Path(os.path.realpath(self._folders[0])) / f"{own}-{name}"

    def _open_side_file(self, name: str) -> PartFile:
        path = self._side_path(name)
        return PartFile(path, self._point.keys.get(str(path)), read_again=True)

    def write_report(self, argv: Sequence[str]) -> None:
        """All shards are done. Raises WvError."""
        assert self._described is not None
        remove_others(
            self._folders[0], {*self._point.before} - {path for done in self._point.done.values() for path in done}
        )
        self._report.write(argv, self.totals, b"".join(self._described.read_saved()).splitlines())

    @property
    def judged_before(self) -> int:
        """Records that were judged when the run before was stopped."""
        return self.totals.records + int(self._point.counted.get("records", 0))

    @property
    def finished_names(self) -> Collection[str]:
        """Of what was done when the run before was stopped, and since then."""
        return self._point.done.keys()

    def pending(self) -> Iterator[ShardFiles]:
        """What is still to be done, each followed by finish()."""
        for number, each in enumerate(self._slices):
            if each.name in self._point.done:
                continue
            point = self._point if self._point.at == each.name else None
            beside = self._side_path("split") if self._split is not None else None
            yield ShardFiles(each, self._outputs(each.name), point, self._keys, self._save, number, beside)

    def _save(self, files: ShardFiles, totals: Totals) -> None:
        self._point.byte, self._point.skipped, self._point.whole = files.byte, files.skipped, False
        self._write(files.slice.name, totals, files.save())

    def finish(self, name: str, totals: Totals, parts: Mapping[str, Saved], skipped: Sequence[BadRecord]) -> None:
        """The outputs of this shard are whole, in `parts`, with its `totals` and its first `skipped` records: they get
        their names. Raises WvError."""
        for output, saved in parts.items():
            require_part(Path(output), saved)
        assert self._described is not None
        report = describe_shard(name, totals, [saved.size for saved in parts.values()], skipped)
        self._described.write(f"{json.dumps(report)}\n".encode())
        self._point.byte, self._point.skipped, self._point.whole = 0, [], True
        self._write(name, totals, parts)
        self._publish()

    def _write(self, name: str, totals: Totals, parts: Mapping[str, Saved]) -> None:
        before = self._point
        keys = {str(file.path): file.save() for file in self._side_files}
        self._point = replace(before, at=name, counted=totals.to_json(), parts={**parts}, keys=keys)
        try:
            self._journal.write(self._point)
        except WvError:
            self._point = before  # claim() keeps only the part files that the journal names
            raise

    def _publish(self) -> None:
        """Gives whole outputs their names. The journal says so with its next point; a run that is killed before does
        this again."""
        point = self._point
        for output, saved in point.parts.items():
            make_folder(Path(output).parent, parents=True)  # that of a label
            self._require_apart(Path(output))
            publish(Path(output), saved)
        self.totals.add(Totals.from_json(point.counted))
        require_few(self.totals.labels, self._split)
        point.done[point.at] = {output: saved.size for output, saved in point.parts.items()}
        point.totals = self.totals.to_json()
        point.at, point.counted, point.parts, point.whole = "", {}, {}, False

    def _require_apart(self, output: Path) -> None:
        """Raises WvError where an output, or its folder, is one of this run with another name, as where the file system
        ignores case or how accents are encoded."""
        self._named = self._named or {
            _name_without_case(each): each for done in self._point.done.values() for each in _with_folders(done)
        }
        for each in _with_folders([output]):
            other = self._named.setdefault(_name_without_case(each), each)
            if other != each and each.exists() and other.exists() and each.samefile(other):
                problem = f"is {other} on this file system, which ignores case"
                raise WvError(f"{each}: {problem}; write to one that does not, or choose other names or labels")


def _with_folders(outputs: Iterable[str | Path]) -> Iterator[Path]:
    """Outputs and their folders."""
    for each in map(Path, outputs):
        yield from (each, each.parent)


def _name_without_case(path: Path) -> str:
    return unicodedata.normalize("NFC", str(path)).casefold()
