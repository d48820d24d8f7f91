"""The report of a filter run that is finished: _filter.report in the folder of the records that stay.

It says by which rules and models the run has filtered, and has counts and percentiles for each shard and for all. The
next run in that folder reads it: the same run has nothing to do, and one with other rules replaces no file.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wv_cli import __version__
from wv_cli.errors import BadFile, WvError, cannot_read
from wv_cli.filtering.journal import seal
from wv_cli.filtering.part_files import require_outputs
from wv_cli.filtering.parts import ENDING, REPORT, Part, corpus_digest, files_of_other_deals, files_of_runs
from wv_cli.filtering.slices import Slice
from wv_cli.filtering.statistics import Totals
from wv_cli.io import meta
from wv_cli.io.output import remove_output
from wv_cli.io.remote import is_remote, status
from wv_cli.text.records.reading import BadRecord

PLACES = 1000  # of records that cannot be read, in the report of a shard
_PERCENTILES = (1, 10, 50, 90, 99)  # of each shard; those of all shards are whole
_OF_PART = ("inputs", "part")  # differ between the parts of a run
_SAMPLE = 1 << 16  # bytes of a shard at its begin, middle and end that tell it from another one


@dataclass(frozen=True)
class Report:
    """The report, in `folder`, of a run or `part` that `identity` tells from others, and that writes the `files`
    besides."""

    folder: Path
    identity: Mapping[str, Any]
    files: Sequence[str] = ()
    part: Part | None = None

    @property
    def path(self) -> Path:
        return self.folder / (self.part.report if self.part is not None else REPORT)

    def require_same_run(self) -> None:
        """Raises WvError where another part that is finished had other rules, or other shards to deal."""
        count = self.part.count if self.part is not None else 0
        for number in range(1, count + 1):
            path = self.folder / Part(number, count).report
            if (saved := read_report(path)) is not None:
                _require_same_run(path, saved, json.loads(json.dumps(self.identity)))

    def recorded_outputs(self, names: Collection[str], rejected: Sequence[Path]) -> list[str]:
        """The files in the folder that its reports tell of, of the shards with these names, and those of the same
        shards in the folders of `rejected` records. Those of damaged reports are not known."""
        paths = [self.path, *(path for path in files_of_other_deals(self.folder, self.part) if path.suffix == ENDING)]
        return [output for path in paths for output in _recorded_outputs(path, names, rejected)]

    def outputs_of_others(self, names: Collection[str]) -> list[str]:
        """The files in the folder that its report tells of and that are there, of shards with other names."""
        with suppress(WvError, LookupError, TypeError):
            saved = read_report(self.path) or {"shards": []}
            others = {shard["shard"] for shard in saved["shards"]} - {*names}
            return [path for path in _recorded_outputs(self.path, others, []) if Path(path).exists()]
        return []

    def refuse_labels_of_other_deals(self) -> None:
        """Raises WvError for a part where a run in another number of parts has split: it does not know the labels of
        all shards that the others replace."""
        for path in files_of_other_deals(self.folder, self.part) if self.part is not None else ():
            if path.suffix == ENDING and (saved := read_report(path)) and saved["identity"].get("--split") is not None:
                problem = "a run in another number of parts wrote folders of labels"
                raise WvError(f"{path}: {problem}; remove {self.folder}, or name another folder")

    def find_finished(self, names: Collection[str], outputs: "Callable[..., list[Path]]") -> dict[str, Any] | None:
        """The report of this run where it is finished already; None where it is not. Its shards have these `names`;
        `outputs` tells the files of a name and its labels. Raises WvError for files that a run with other rules has
        written, BadFile for those that were changed."""
        if (saved := read_report(self.path)) is None or saved["wv"] != __version__:
            return None
        before, now = saved["identity"], json.loads(json.dumps(self.identity))
        if before == now and all(Path(each).exists() for each in self.files):
            for shard in saved["shards"]:
                left_out = not shard["output_bytes"]
                paths = [] if left_out else map(str, outputs(shard["shard"], shard.get("labels", ())))
                require_outputs(dict(zip(paths, shard["output_bytes"], strict=True)), "finished")
            return saved
        other = [name for name, value in now.items() if name != "inputs" and before.get(name) != value]
        replaced = [shard["shard"] for shard in saved["shards"] if shard["shard"] in names]
        if other and replaced:
            problem = f"a finished run with other {', '.join(other)} wrote {replaced[0]}"
            raise WvError(f"{self.path}: {problem}; name another folder, or --overwrite to replace it")
        return None

    def write(self, argv: Sequence[str], totals: Totals, shards: Iterable[bytes]) -> None:
        """Writes the report on `shards`, each described by describe_shard(). Raises WvError."""
        figures = {"totals": totals.to_dict(), "scores": totals.scores_to_json()}
        found = {"identity": self.identity, **figures, "shards": [*map(json.loads, shards)]}
        meta.write_record(self.path, [*argv], {**found, "sha256": seal(found)})

    def remove(self) -> None:
        remove_output(self.path)


def _recorded_outputs(path: Path, names: Collection[str], rejected: Sequence[Path]) -> list[str]:
    with suppress(WvError, LookupError, TypeError):
        saved = read_report(path) or {"shards": []}
        return [
            os.path.realpath(folder / shard["shard"])
            for shard in saved["shards"]
            for labels in [[""] if saved["identity"].get("--split") is None else shard.get("labels", ())]
            for folder in (*(path.parent / label for label in labels), *rejected)
            if shard["shard"] in names
        ]
    return []


def describe_shard(name: str, totals: Totals, output_bytes: Sequence[int], bad: Iterable[BadRecord]) -> dict[str, Any]:
    """A shard in the report: its counts, percentiles, and where its first records are that cannot be read."""
    figures = totals.to_dict()
    for rule in figures["rules"].values():
        points = rule["percentiles"]
        rule["percentiles"] = {str(at): points[at] for at in _PERCENTILES} if points else {}
    places = [{"line": each.line, "byte": each.byte, "problem": each.problem} for each in bad]
    return {"shard": name, "output_bytes": [*output_bytes], **figures, "skipped_at": places}


def _require_same_run(path: Path, saved: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    before = saved["identity"]
    if other := [name for name, value in identity.items() if name not in _OF_PART and before.get(name) != value]:
        problem = f"expected the {', '.join(other)} of the other parts, found others"
        raise WvError(f"{path}: {problem}; name another folder, or --overwrite all parts")


def sum_reports(folder: Path) -> Totals:
    """The totals of a finished run, all of whose parts must be there. Raises WvError."""
    parts = {path: part for path, part in files_of_runs(folder).items() if path.suffix == ENDING}
    if not parts:
        raise WvError(f"{folder}: no report of wv filter in this folder ({REPORT}); name the folder of its -o")
    paths, counts = [*parts], {part.count if part is not None else 0 for part in parts.values()}
    if len(counts) > 1:
        problem = f"expected the reports of one run, found {paths[0].name} and {paths[-1].name}"
        raise WvError(f"{folder}: {problem}; remove those of the older one")
    count = counts.pop()
    there = {part.number for part in parts.values() if part is not None}
    if missing := [number for number in range(1, count + 1) if number not in there]:
        found = f"expected the reports of {count:,} parts, found {len(there):,}"
        raise WvError(f"{folder}: {found}; give the command of the run with --part {missing[0]}/{count}, too")
    reports = {path: saved for path in paths if (saved := read_report(path)) is not None}
    identity = reports[paths[0]]["identity"]
    for path, saved in reports.items():
        _require_same_run(path, saved, identity)
    shards = [(name, size) for saved in reports.values() for name, size, _ in saved["identity"]["inputs"]]
    if count and corpus_digest(shards) != identity["corpus"]:
        raise WvError(f"{folder}: expected each file in one part, found others; give --overwrite to all parts")
    totals = Totals.from_report(reports[paths[0]])
    for path in paths[1:]:
        totals.add(Totals.from_report(reports[path]))
    return totals


def read_report(path: Path) -> dict[str, Any] | None:
    """The report, None where there is none. Raises WvError, BadFile for a damaged one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot_read(path, error) from error
    try:
        saved: dict[str, Any] = json.loads(data)
        if saved["sha256"] == seal({name: saved[name] for name in ("identity", "totals", "scores", "shards")}):
            return saved
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    raise BadFile(path, "expected the report of a wv filter, found something else; --overwrite begins anew")


def identify_inputs(slices: Iterable[Slice]) -> list[tuple[str, int, str]]:
    """(name, size, digest of the file) of what a run reads. A copy elsewhere is the same, and so is a file that was
    only touched. The digest is of 192 KB of a long file. Raises WvError."""
    slices = [*slices]
    files = {path: _identify(path) for path in {each.path for each in slices}}
    return [
        (each.name, each.size if each.span is not None else files[each.path][0], files[each.path][1]) for each in slices
    ]


def _identify(path: str) -> tuple[int, str]:
    """(size, digest) of a file; of one on another machine the version that its server tells."""
    if is_remote(path):
        found = status(path)
        return found.size or 0, found.version
    return Path(path).stat().st_size, _sample_digest(Path(path))


def _sample_digest(path: Path) -> str:
    """Of the begin, the middle and the end of a file; nothing of a pipe, which can be read once."""
    if not path.is_file():
        return ""
    size, digest = path.stat().st_size, hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            for place in sorted({0, max(0, size // 2 - _SAMPLE // 2), max(0, size - _SAMPLE)}):
                file.seek(place)
                digest.update(file.read(_SAMPLE))
    except OSError as error:
        raise cannot_read(path, error) from error
    return digest.hexdigest()
