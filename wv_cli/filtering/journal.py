"""The journal of a filter run: how far it is, so that a killed run goes on from its last point to the same bytes.

Outputs grow in part files (wv_cli.filtering.part_files). From time to time all that was written is brought to the disk,
and then the journal says so, in a file that is replaced as a whole. What was written after that is cut off again by the
run that goes on. A shard is finished in two steps, the journal's word and the renames: both may be repeated.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wv_cli import __version__
from wv_cli.errors import BadFile, WvError, cannot_read
from wv_cli.filtering.part_files import Saved
from wv_cli.filtering.parts import JOURNAL
from wv_cli.io.output import open_output, remove_output
from wv_cli.text.records.reading import BadRecord


@dataclass
class Point:
    """Where a run is: the shards that are `done`, by their names, each with the bytes of its outputs, and their
    `totals`; the one `at` work, with the `byte` of its text up to which records are judged, the totals `counted` in it,
    places of records that were `skipped`, and the `parts` of its outputs. `whole`: these are, and get their names.
    `keys` are the part files of duplicates, and that of the reports on shards. `before` are outputs of the run that
    this one replaces."""

    done: dict[str, dict[str, int]] = field(default_factory=dict)
    totals: dict[str, Any] = field(default_factory=dict)
    at: str = ""
    byte: int = 0
    counted: dict[str, Any] = field(default_factory=dict)
    skipped: list[BadRecord] = field(default_factory=list)
    parts: dict[str, Saved] = field(default_factory=dict)
    whole: bool = False
    keys: dict[str, Saved] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)


class Journal:
    """The journal of the name `name` in the folder of a run's output. `identity` is what must be the same for a run to
    go on."""

    def __init__(self, folder: Path, identity: Mapping[str, Any], name: str = JOURNAL) -> None:
        self.path = folder / name
        self._identity = json.loads(json.dumps(identity))

    def read(self) -> Point | None:
        """The last point; None when there is no journal. Raises BadFile for a damaged one, WvError for that of another
        run or of another version of wv."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise cannot_read(self.path, error) from error
        saved = _whole(data)
        if saved is None:
            problem = "expected the journal of a wv filter that was stopped, found damage; --overwrite begins anew"
            raise BadFile(self.path, problem)
        identity = saved["identity"]
        if saved["wv"] != __version__:
            differs = f"wv {saved['wv']}; go on with that version"
        elif names := [name for name, value in self._identity.items() if identity.get(name) != value]:
            which = _changed_file(identity.get(names[0]), self._identity[names[0]])
            differs = f"a run with other {', '.join(names)}{which}; give the same ones to go on"
        else:
            point = Point(**saved["point"])
            for files in (point.parts, point.keys):
                files.update({name: Saved(*each) for name, each in files.items()})
            point.skipped = [BadRecord(*each) for each in point.skipped]
            return point
        message = f"{self.path}: belongs to {differs}, or --overwrite to begin anew"
        raise WvError(message)

    def recorded_outputs(self) -> list[str]:
        """Those of shards that are done; none where there is no journal, or a damaged one."""
        with suppress(OSError, LookupError, TypeError, AttributeError):
            saved = _whole(self.path.read_bytes()) or {"point": {"done": {}, "whole": False}}
            point = saved["point"]
            done = [*point["done"].values(), *([point["parts"]] if point["whole"] else [])]
            return [*point.get("before", []), *(path for outputs in done for path in outputs)]
        return []

    def write(self, point: Point) -> None:
        """Brings the point to the disk. Raises WvError."""
        # The totals have up to some 100,000 scores, so they are neither copied nor encoded twice.
        text = _encode({"wv": __version__, "identity": self._identity, "point": vars(point)})
        with open_output(self.path) as file:
            file.write(text[:-1] + b', "sha256": "' + hashlib.sha256(text).hexdigest().encode() + b'"}')

    def remove(self) -> None:
        remove_output(self.path)


def _changed_file(before: Any, now: Any) -> str:
    """The first of the files, told by (name, size, digest), that has the name of another one before."""
    try:
        sizes = {name: (size, digest) for name, size, digest in before}
        for name, size, digest in now:
            if (was := sizes.get(name)) not in (None, (size, digest)):
                assert was is not None
                what = f"has {size:,} bytes, had {was[0]:,}" if size != was[0] else "has other contents"
                return f" ({name} {what})"
    except (TypeError, ValueError):
        pass
    return ""


def _whole(data: bytes) -> dict[str, Any] | None:
    """What the journal says, None for one that is not as it was written."""
    try:
        saved: dict[str, Any] = json.loads(data)
        return saved if saved.pop("sha256") == seal(saved) else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def seal(saved: Mapping[str, Any]) -> str:
    """The digest by which a journal or report is known to be as it was written."""
    return hashlib.sha256(_encode(saved)).hexdigest()


def _encode(saved: Mapping[str, Any]) -> bytes:
    return json.dumps(saved, sort_keys=True).encode()
