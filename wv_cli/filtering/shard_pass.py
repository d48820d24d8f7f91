"""The pass over the records of one shard: judged by rules, counted, and written to the files of those that stay and of
the others."""

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wv_cli.errors import WvError
from wv_cli.filtering.decisions import Decisions
from wv_cli.filtering.duplicates import Like
from wv_cli.filtering.judge import Judge, Judged
from wv_cli.filtering.judged_blocks import End, JudgedBlock, Reading, judge_block, read_blocks
from wv_cli.filtering.label_files import require_few
from wv_cli.filtering.part_files import Saved
from wv_cli.filtering.progress import OnJudged
from wv_cli.filtering.rule_set import RuleSet
from wv_cli.filtering.shard_files import ShardFiles
from wv_cli.filtering.shards import outputs_of
from wv_cli.filtering.slices import Slice
from wv_cli.filtering.statistics import Totals
from wv_cli.io.threads import in_order, read_ahead
from wv_cli.text.reading_config import ReadingConfig, RecordsConfig
from wv_cli.text.record_files import RecordFiles
from wv_cli.text.records.kinds import record_kind
from wv_cli.text.records.reading import BadRecord, Column, Sink
from wv_cli.text.records.spans import Span
from wv_cli.vectors.recognize import input_texts


class JudgedShard(NamedTuple):
    """A shard that is judged: its totals, the part file of each output, and the first records that were skipped."""

    totals: Totals
    parts: dict[str, Saved]
    skipped: list[BadRecord]


@dataclass(frozen=True)
class PassOptions:
    """How shards are judged, by `threads`. With `add_scores` records get the score of each rule. Those that go get the
    rule that rejects them as the field `reason`. A near-duplicate gets FILE:RECORD of the one that stays as REASON_of,
    a contaminated record that of the item, and both REASON_similarity. A shard without a record that can be read counts
    as empty, unless it is the `only` one. With `replace_pii` the addresses in texts that stay are replaced. With
    `split`, a field or a rule, these go to a file for each label. With `skips_damage` a damaged file is left out,
    unless it is the `only` one: each is read once before it is judged."""

    threads: int = 1
    add_scores: bool = False
    reason: str = ""
    only: bool = False
    replace_pii: bool = False
    split: str | None = None
    skips_damage: bool = False


@dataclass(frozen=True)
class ShardPass:
    """Judges the shards of a run by `judge`. `log` is told of those that count as empty or are left out, `on_judged`
    how many more records are judged, and how many of them stay."""

    judge: Judge
    log: Callable[[str], None]
    options: PassOptions
    on_judged: OnJudged | None = None

    def write(self, source: RecordFiles, shards: Sequence[ShardFiles]) -> Generator[JudgedShard, None, None]:
        """Judges each shard of `shards`, from where its files go on."""
        rejects = any(files.rejects for files in shards)
        evidence = self._evidence_fields if rejects and self.judge.has_evidence else ()
        added = (*self._score_kinds, *([self.options.reason, *evidence] if rejects else []))
        to_read = [Reading(each.slice.path, each.slice.span, each.byte, each.note_bad) for each in shards]
        with closing(self._judge_blocks(source, to_read, added)) as judged:
            for files in shards:
                totals = Totals.of_rules(self.judge.ranges)  # in their order, which a journal does not keep
                if files.counted is not None:
                    totals.add(files.counted)
                with files.open(self.options.threads):
                    for block in self._next_shard(judged, totals, files.note_damage):
                        files.keep_keys(self.judge.reject_duplicates(block.found, files.number, totals.records))
                        self._count(block, totals)
                        require_few(totals.labels, self.options.split)
                        self._write_block(files, block, evidence)
                        files.count_judged(block.block.size, totals)
                    if totals.damaged:
                        self._require_not_begun(files)
                        done = JudgedShard(totals, files.leave_out(), files.damage)
                    else:
                        files.count_skipped(totals, every=True)
                        done = JudgedShard(totals, files.finish(), files.skipped)
                yield done

    def _require_not_begun(self, files: ShardFiles) -> None:
        """Raises WvError where a run without --bad-files skip has filtered the beginning of a damaged file, and its
        records have made others duplicates."""
        if files.counted is not None:
            problem = "is damaged, and an earlier run has filtered its beginning"
            raise WvError(f"{files.slice.path}: {problem}; --overwrite begins anew")

    def _write_block(self, files: ShardFiles, judged: JudgedBlock, evidence: Sequence[str]) -> None:
        stays = judged.found.reason < 0
        columns = self._columns(judged)
        for label, some in judged.by_label():
            files.write_kept(partial(judged.block.to_write, columns, some.tolist(), judged.new_texts()), label)
        if files.rejects:
            reasons = [self.judge.names[i] if i >= 0 else None for i in judged.found.reason.tolist()]
            columns = {**columns, self.options.reason: Column("text", reasons)}
            if evidence:
                columns |= _evidence(evidence, judged.found.like, len(stays))
            files.write_rejected(partial(judged.block.to_write, columns, (~stays).tolist()))

    @property
    def _score_kinds(self) -> dict[str, bool]:
        """The rules whose scores are added, and whether these are whole numbers."""
        shown = [rule for rule in self.judge.rules if self.options.add_scores and not rule.reads_fields]
        return {rule.name: rule.is_count for rule in shown}

    def _columns(self, judged: JudgedBlock) -> dict[str, Column]:
        return {name: _column(judged.found.scores[name], is_count) for name, is_count in self._score_kinds.items()}

    def stream(self, source: RecordFiles, sink: Sink, totals: Totals) -> None:
        """Judges all shards, counts in `totals` and writes the records that stay to `sink`."""
        bad: list[BadRecord] = []
        to_read = [Reading(path, on_bad=bad.append) for path in source.paths]
        with closing(self._judge_blocks(source, to_read, tuple(self._score_kinds))) as judged:
            for shard in range(len(to_read)):
                before = totals.records
                for block in self._next_shard(judged, totals):
                    self.judge.reject_duplicates(block.found, shard, totals.records - before)
                    self._count(block, totals)
                    stays = (block.found.reason < 0).tolist()
                    sink.write(block.block.to_write(self._columns(block), stays, block.new_texts()))
        totals.skipped += len(bad)

    @property
    def _evidence_fields(self) -> tuple[str, str]:
        return f"{self.options.reason}_of", f"{self.options.reason}_similarity"

    def count(
        self, source: RecordFiles, shards: Sequence[tuple[str, Span | None]], totals: Totals
    ) -> Generator[Iterator[Judged], None, None]:
        """Judges shards, each a path and perhaps a span of it, counts in `totals` and writes nothing. What is found in
        one is asked for before the next."""
        bad: list[BadRecord] = []
        to_read = [Reading(path, span, on_bad=bad.append) for path, span in shards]
        with closing(self._judge_blocks(source, to_read, ())) as judged:
            for path, _ in shards:
                yield self._count_shard(judged, source.paths.index(path), totals)
        totals.skipped += len(bad)

    def _count_shard(self, judged: Iterator[JudgedBlock | End], shard: int, totals: Totals) -> Iterator[Judged]:
        before = totals.records
        for block in self._next_shard(judged, totals):
            self.judge.reject_duplicates(block.found, shard, totals.records - before)
            self._count(block, totals)
            yield block.found

    def _judge_blocks(
        self, source: RecordFiles, shards: Sequence[Reading], added: Sequence[str]
    ) -> Generator[JudgedBlock | End, None, None]:
        """The judged blocks of all shards, those of each with an End behind them. With more than one thread another one
        reads, and a shard is judged while the one before is finished."""
        judge = partial(judge_block, self.judge, source.field, self.options.replace_pii, self.options.split)
        blocks = read_blocks(source, shards, added, self.options.skips_damage and not self.options.only)
        if self.options.threads <= 1:
            yield from map(judge, blocks)
            return
        with closing(read_ahead(blocks, "read")) as ahead:
            yield from in_order(judge, ahead, self.options.threads)

    def _next_shard(
        self, judged: Iterator[JudgedBlock | End], totals: Totals, on_damage: Callable[[str], None] | None = None
    ) -> Iterator[JudgedBlock]:
        """The blocks up to the next End."""
        for each in judged:
            if isinstance(each, JudgedBlock):
                yield each
                continue
            if each.damage is not None:
                totals.damaged += 1
                self.log(f"{each.damage}; this file is left out")
                if on_damage is not None:
                    on_damage(each.damage)
            if each.error is not None:
                if self.options.only:
                    raise each.error
                totals.unreadable += 1
                self.log(f"{each.error}; this file counts as empty")
            return

    def _count(self, judged: JudgedBlock, totals: Totals) -> None:
        sizes, reason = judged.sizes.copy(), judged.found.reason
        stays = reason < 0
        totals.records += len(stays)
        totals.kept += int(stays.sum())
        totals.count_labels(judged.labels[stays] if judged.labels is not None else ())
        if self.on_judged is not None:
            self.on_judged(len(stays), int(stays.sum()))
        totals.read_bytes += int(sizes.sum())
        for number, text in judged.new_texts().items():
            sizes[number] = len(text)
        totals.replaced += sum(bool(stays[number]) for number in judged.replaced)
        totals.shortened += len(judged.found.shortened)
        totals.kept_bytes += int(sizes[stays].sum())
        none = np.full(len(stays), np.nan, np.float32)
        for number, name in enumerate(self.judge.names):
            asked = (reason < 0) | (reason >= number)
            totals.rules[name].add(judged.found.scores.get(name, none)[asked], reason[asked] != number)


@dataclass(frozen=True)
class ShardTask:
    """The pass over a shard as a task for another process, with paths that begin at the root. In `folders` are part
    files for the records that stay and the others, which the process that asked gives their names; without any nothing
    is written. Duplicates are those of the `decisions` in this folder."""

    rules: RuleSet
    reading: RecordsConfig
    folders: tuple[str, ...]
    options: PassOptions
    decisions: str | None = None

    def judge_shard(self, shard: tuple[str, str]) -> tuple[JudgedShard, list[str]]:
        """The shard, a path and the name of its outputs, and messages."""
        path, name = shard
        said: list[str] = []
        judge = self.rules.open_judge()
        if self.decisions is not None:
            judge = judge.with_duplicates(Decisions(Path(self.decisions)).rules([name]))
        reading = ReadingConfig(**vars(self.reading))
        if record_kind(path) != "tsv":  # others of the run are
            reading = replace(reading, tsv_quotes=False)
        source = RecordFiles(input_texts([path], log=said.append, reading=reading))
        shard_pass = ShardPass(judge, said.append, self.options)
        if self.folders:
            folders, labels = [*map(Path, self.folders)], () if self.options.split is not None else None
            beside = Path(os.path.realpath(folders[0])) / "wv-filter-split" if self.options.split is not None else None
            files = ShardFiles(Slice(path, name), outputs_of(name, folders, labels), beside=beside)
            [judged] = shard_pass.write(source, [files])
            return judged, said
        totals = Totals.of_rules(judge.ranges)
        for found in shard_pass.count(source, [(path, None)], totals):
            for _ in found:
                pass
        return JudgedShard(totals, {}, []), said


def _evidence(fields: Sequence[str], like: Mapping[int, Like], count: int) -> dict[str, Column]:
    """The columns of a block that say which record near-duplicates are like, and how much."""
    found = [like.get(number) for number in range(count)]
    names = [each and f"{each.file}:{each.record}".encode("utf-8", "replace").decode() for each in found]
    scores = [each and np.float32(each.similarity) for each in found]
    return dict(zip(fields, (Column("text", names), Column("number", scores)), strict=True))


def _column(scores: Any, is_count: bool) -> Column:
    kind = int if is_count else np.float32
    values = [None if np.isnan(score) else kind(score) for score in scores]
    return Column("count" if is_count else "number", values)
