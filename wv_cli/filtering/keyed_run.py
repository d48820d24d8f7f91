"""Duplicates of a run in parts, in three steps: each part writes the keys of its texts to a folder, one process decides
about all of them, and each part filters by the decisions. The bytes are those of one run without parts."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wv_cli.errors import BadFile
from wv_cli.filtering.decisions import DecidedDuplicates, Decisions
from wv_cli.filtering.duplicates import Deduplicator
from wv_cli.filtering.part_keys import KeyWriter, StoredKeys, StoredShard, keys_path, open_parts, require_same
from wv_cli.filtering.parts import Part
from wv_cli.filtering.report import identify_inputs
from wv_cli.filtering.shard_pass import ShardPass
from wv_cli.filtering.slices import Slice
from wv_cli.filtering.statistics import Totals
from wv_cli.io.output import check_writable
from wv_cli.io.places import make_folder
from wv_cli.text.record_files import RecordFiles


@dataclass(frozen=True)
class KeyedRun:
    """A run with keys in `folder`; its rules and files are told from those of other runs by `identity`."""

    folder: Path
    identity: Mapping[str, Any]

    def write_keys(
        self,
        part: Part,
        every: Sequence[Slice],
        mine: Sequence[Slice],
        source: RecordFiles,
        shard_pass: ShardPass,
        rules: Sequence[Deduplicator],
    ) -> tuple[str, int]:
        """Writes the keys of the texts in the slices `mine`, of `every` one, that pass all other rules. (path, texts)
        Raises WvError."""
        path, identity = keys_path(self.folder, part), json.loads(json.dumps(self.identity))
        make_folder(self.folder, parents=True)
        check_writable(path)
        numbers = {each: number for number, each in enumerate(every)}
        inputs = identify_inputs(mine)
        with suppress(BadFile):  # which is written again
            before = StoredKeys(path) if path.exists() else None
            if before is not None and before.identity == identity and [each[2:5] for each in before.shards] == inputs:
                return before.path, before.texts
        writer = KeyWriter(self.folder, rules)
        shard_pass.judge.duplicates = [*writer.rules]
        totals, shards = Totals.of_rules(shard_pass.judge.ranges), []
        with closing(shard_pass.count(source, [(each.path, each.span) for each in mine], totals)) as counted:
            for each, known, found in zip(mine, inputs, counted, strict=True):
                records, texts = totals.records, writer.texts
                for _ in found:
                    pass
                counts = totals.records - records, writer.texts - texts
                shards.append(StoredShard(numbers[each], each.path, *known, *counts))
        writer.save(path, identity, shards, [rule.name for rule in rules])
        return str(path), writer.texts

    def open_keys(self) -> list[StoredKeys]:
        """The keys of all parts. Raises WvError where they are not those of this run."""
        parts = open_parts(self.folder)
        require_same(parts[0].path, parts[0].identity, json.loads(json.dumps(self.identity)), "this run")
        check_writable(self.folder / "decisions")
        return parts

    def open_decisions(self, mine: Sequence[Slice]) -> list[DecidedDuplicates]:
        """The rules of duplicates for the shards `mine`. Raises WvError where these have changed."""
        decisions = Decisions(self.folder)
        decisions.require_same_run(json.loads(json.dumps(self.identity)), identify_inputs(mine))
        return decisions.rules([each.name for each in mine])
