"""`wv filter`: one pass over records by rules; those that stay and those that do not, shard by shard."""

import itertools
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wv_cli.config import require
from wv_cli.errors import UsageError
from wv_cli.filtering.clusters import Clusters
from wv_cli.filtering.duplicates import NearDuplicateRule, opened_duplicates
from wv_cli.filtering.flattening import FLATTENINGS
from wv_cli.filtering.journal import Journal
from wv_cli.filtering.near_duplicates import Banding
from wv_cli.filtering.rules import Judge, Judged, Rule, merge_statistics, parse_rules, require_different_names
from wv_cli.filtering.setting import Setting
from wv_cli.filtering.shards import ShardFiles, Shards
from wv_cli.filtering.statistics import RuleCounts, Totals
from wv_cli.filtering.units import UNITS
from wv_cli.formats.recognise import input_texts
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.threads import in_order
from wv_cli.text.config import ReadingConfig, RecordsConfig
from wv_cli.text.inputs import Texts
from wv_cli.text.records.kinds import RECORDS
from wv_cli.text.records.reading import Block, Column
from wv_cli.text.source import Source

BY_LABEL = ("language", "classifier")  # the scorers that ask a classifier
REASON = "filter"  # the field of rejected records that names the rule


@dataclass(frozen=True, kw_only=True)
class FilteredRecords(Part):
    """The records that are judged."""

    inputs: tuple[str, ...]
    reading: RecordsConfig = field(default_factory=RecordsConfig)

    def reads(self) -> list[str]:
        return [*self.inputs]


@dataclass(frozen=True, kw_only=True)
class Rules(Part):
    """The rules, each as the option of its scorer has it, and what scorers share. `near_duplicates` is the similarity
    from which records are near-duplicates, of which the first stays; `against` is an index of an older corpus."""

    CONDITIONS: ClassVar[dict[str, str]] = {"against": "near_duplicates", "perplexity_of": "tokenizer"}

    given: tuple[tuple[str, str], ...] = ()
    flatten: str = "space"
    unit: str = "document"
    tokenizer: str | None = None
    perplexity_of: str = "ccnet"
    exact_duplicates: bool = False
    near_duplicates: float | None = None
    against: str | None = None

    @property
    def rules(self) -> list[Rule]:
        return merge_statistics([rule for scorer, text in self.given for rule in parse_rules(scorer, text)])

    def check(self) -> None:
        some = self.given or self.exact_duplicates or self.near_duplicates is not None
        require(bool(some), "no rule is given; name one, such as --words 50..100000, or a file of --rules")
        if self.near_duplicates is not None:
            Banding.nearest(self.near_duplicates)
        asked = any(scorer == "perplexity" for scorer, _ in self.given)
        require(asked or self.tokenizer is None, "--tokenizer needs --perplexity")
        require(not asked or self.tokenizer is not None, "--perplexity needs --tokenizer FILE, a sentencepiece model")
        require_different_names(self.rules)
        FLATTENINGS.find(self.flatten)
        UNITS.find(self.unit)
        by_label = any(scorer in BY_LABEL for scorer, _ in self.given)
        require(by_label or self.unit == "document", f"--unit {self.unit} needs --language or --classifier")

    def reads(self) -> list[str]:
        more = [path for path in (self.tokenizer, self.against) if path is not None]
        return [*(path for rule in self.rules for path in rule.files), *more]

    def setting(self) -> Setting:
        return Setting(self.flatten, self.unit, self.tokenizer, self.perplexity_of)


@dataclass(frozen=True, kw_only=True)
class FilterOutput(Part):
    """The folder `output` gets the records that stay, in a file for each input; `rejected` those that do not, with the
    rule that rejects them as the field REASON. With `add_scores` records get the score of each rule. `dry_run` writes
    nothing, but the `clusters` of near-duplicates; `explain` shows the scores of one record, by its number.
    `save_index` gets the near-duplicates that are known in the end."""

    CONDITIONS: ClassVar[dict[str, str]] = {
        "rejected": "not dry_run and not explain",
        "add_scores": "not dry_run and not explain",
        "overwrite": "not dry_run and not explain",
        "save_index": "not dry_run and not explain",
        "clusters": "dry_run and near_duplicates",
    }

    output: str | None = None
    rejected: str | None = None
    add_scores: bool = False
    dry_run: bool = False
    explain: int | None = None
    save_index: str | None = None
    clusters: str | None = None
    overwrite: bool = False

    def results(self) -> list[str]:
        return [path for path in (self.save_index, self.clusters) if path is not None]

    def check(self) -> None:
        writes = not self.dry_run and self.explain is None
        require(writes == (self.output is not None), "give -o FOLDER, or --dry-run or --explain N instead of it")
        require(self.save_index is None or self.save_index != "-", "--save-index needs a file")
        require(self.rejected is None or self.rejected != self.output, "--rejected needs a folder of its own")
        for folder in (self.output, self.rejected):
            if folder is not None and Path(folder).is_file():
                raise UsageError(f"{folder}: is a file; name a folder, which gets a file for each input")


@dataclass(frozen=True, kw_only=True)
class FilterJob(Job):
    """The job of `wv filter`."""

    records: FilteredRecords
    rules: Rules = field(default_factory=Rules)
    kept: FilterOutput = field(default_factory=FilterOutput)
    threads: int = 1

    def work(self, run: Run) -> tuple[None, Metadata]:
        texts = input_texts(self.records.inputs, log=run.log, reading=ReadingConfig(**vars(self.records.reading)))
        source = Source(texts, progress=run.on_reading)
        _require_records(texts, source.paths)
        explained = self.kept.explain
        rules = self.rules
        judge = Judge(rules.rules, rules.setting(), every=explained is not None)
        if explained is None:
            judge.duplicates = opened_duplicates(rules.exact_duplicates, rules.near_duplicates, rules.against)
        totals = Totals({name: RuleCounts() for name in judge.names})
        if explained is not None:
            return None, {"explained": _explained(source, judge, explained)}
        if self.kept.dry_run:
            clusters = Clusters(self.kept.clusters)
            for path in source.paths:
                for judged in in_order(partial(_judged, judge), source.blocks(path, ()), self.threads):
                    judge.settle(judged.found)
                    _count(totals, judge, judged)
                    clusters.add(path, judged.found)
            clusters.write()
            return None, totals.shown()
        assert self.kept.output is not None
        with ExitStack() as stack:
            shards = Shards(
                source.paths,
                Path(self.kept.output),
                Path(self.kept.rejected) if self.kept.rejected else None,
                Journal(Path(self.kept.output), self._identity(source)),
                overwrite=self.kept.overwrite,
            )
            stack.enter_context(shards.claimed())
            totals = shards.totals(totals)
            shards.restore(judge.duplicates)
            if shards.judged_before:
                run.log(f"going on after {totals.records:,} records")
            for files in shards.left():
                self._filter(source, judge, totals, files)
            self._save_index(judge)  # before the journal goes: a run that is killed here goes on
        return None, totals.shown()

    def _filter(self, source: Source, judge: Judge, totals: Totals, files: ShardFiles) -> None:
        """One shard."""
        names = tuple(rule.name for rule in judge.rules) if self.kept.add_scores else ()
        added = (*names, *([REASON] if files.rejects else []))
        blocks = itertools.islice(source.blocks(files.source, added), files.blocks, None)
        with files:
            for judged in in_order(partial(_judged, judge), blocks, self.threads):
                files.keep_keys(judge.settle(judged.found))
                _count(totals, judge, judged)
                stays = judged.found.reason < 0
                columns = {name: _column(judged.found.scores[name]) for name in names}
                files.write_kept(judged.block.written(columns, stays.tolist()))
                if files.rejects:
                    reasons = [judge.names[i] if i >= 0 else None for i in judged.found.reason.tolist()]
                    columns = {**columns, REASON: Column("text", reasons)}
                    files.write_rejected(judged.block.written(columns, (~stays).tolist()))
                files.judged(judged.block.size, totals)
            files.finish(totals)

    def _save_index(self, judge: Judge) -> None:
        for each in judge.duplicates:
            if isinstance(each, NearDuplicateRule) and self.kept.save_index is not None:
                each.known.save(self.kept.save_index)

    def _identity(self, source: Source) -> dict[str, Any]:
        """What must be the same for a run to go on."""
        return {
            "inputs": [_file(path) for path in source.paths],
            "rules": [rule.text for rule in self.rules.rules],
            "settings": [value for name, value in vars(self.rules).items() if name != "given"],
            "models": [_file(path) for path in self.rules.reads()],
            "--add-scores": self.kept.add_scores,
            "--rejected": self.kept.rejected,
            "reading": list(self.records.reading.identity().values()),
        }


def _file(path: str) -> tuple[str, int, int]:
    """Tells a file from another one that takes its name."""
    status = Path(path).stat()
    return path, status.st_size, status.st_mtime_ns


class _JudgedBlock(NamedTuple):
    block: Block
    found: Judged
    bytes: list[int]  # of the texts


def _judged(judge: Judge, block: Block) -> _JudgedBlock:
    texts = block.each
    return _JudgedBlock(block, judge.judged(texts), [len(text) for text in texts])


def _count(totals: Totals, judge: Judge, judged: _JudgedBlock) -> None:
    sizes, stays = np.array(judged.bytes, np.int64), judged.found.reason < 0
    totals.records += len(stays)
    totals.kept += int(stays.sum())
    totals.read_bytes += int(sizes.sum())
    totals.kept_bytes += int(sizes[stays].sum())
    none = np.full(len(stays), np.nan, np.float32)
    for number, name in enumerate(judge.names):
        reason = judged.found.reason
        asked = (reason < 0) | (reason >= number)
        totals.rules[name].add(judged.found.scores.get(name, none)[asked], reason[asked] != number)


def _column(scores: Any) -> Column:
    return Column("number", [None if np.isnan(score) else score for score in scores])


def _require_records(texts: Texts, paths: Sequence[str]) -> None:
    for path in paths:
        if texts.records(path) is None:
            known = ", ".join(RECORDS)
            raise UsageError(f"{path}: expected records ({known}), found another ending; rename it, or give --field")
        if path == "-":
            message = "standard input cannot be filtered, since a run must be able to go on; write it to a file"
            raise UsageError(message)


def _explained(source: Source, judge: Judge, number: int) -> dict[str, Any]:
    """What each rule says of one record. Raises UsageError when there are not so many."""
    before = 0
    for path in source.paths:
        for block in source.blocks(path, ()):
            if number <= before + block.count:
                text = block.each[number - before - 1]
                found = judge.judged([text])
                rules = [
                    {
                        "rule": rule.name,
                        "score": float(found.scores[rule.name][0]),
                        "range": rule.shown,
                        "keeps": bool(rule.kept(found.scores[rule.name])[0]),
                    }
                    for rule in judge.rules
                ]
                return {"record": number, "file": path, "text": text[:200].decode("utf-8", "replace"), "rules": rules}
            before += block.count
    raise UsageError(f"--explain {number}: the inputs have {before:,} records")
