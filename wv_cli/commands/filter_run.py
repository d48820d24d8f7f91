"""A run of `wv filter`: one pass over records by rules; those that stay and those that do not, shard by shard."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wv_cli.commands.distribution import executor
from wv_cli.commands.parts.filtering import FilteredRecords, FilterOutput, Rules
from wv_cli.commands.run import Metadata, Run
from wv_cli.errors import UsageError, WvError
from wv_cli.filtering.clusters import Clusters
from wv_cli.filtering.duplicates import NearDuplicateRule, ParagraphRule, opened_duplicates
from wv_cli.filtering.first_texts import notes_on_words
from wv_cli.filtering.journal import Journal
from wv_cli.filtering.rules import Judge, Judged
from wv_cli.filtering.shard_pass import JudgedShard, ShardPass, ShardTask
from wv_cli.filtering.shards import Shards
from wv_cli.filtering.statistics import Totals
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.kinds import RECORDS
from wv_cli.text.source import Source
from wv_cli.vectors.formats.recognize import input_texts


@dataclass(frozen=True)
class FilterRun:
    """One run over the `records`; with `dask`, the address of a scheduler, its workers judge."""

    run: Run
    records: FilteredRecords
    rules: Rules
    kept: FilterOutput
    threads: int
    dask: str | None

    def finish(self) -> Metadata:
        """Judges all records and returns the totals, or the scores of the one that is explained."""
        run, rules = self.run, self.rules
        texts = input_texts(self.records.inputs, log=run.log, reading=ReadingConfig(**vars(self.records.reading)))
        _require_records(texts, [path for path in texts.inputs if path == "-" or Path(path).is_file()])
        source = Source(texts, progress=run.on_reading)
        _require_records(texts, source.paths)
        self.kept.require_writable(source.paths, self.rules.reads())
        explained, duplicates = self.kept.explain, rules.duplicates
        judge = Judge(rules.all_rules, rules.scoring.scorer_setting, every=explained is not None)
        rules.require_words(run.log)
        near = duplicates.near_duplicates is not None
        if near or any(rule.statistic is not None for rule in judge.rules):
            for note in notes_on_words(texts, source.paths[0], near_duplicates=near):
                run.log(note)
        if explained is not None:
            return {"explained": _explain(source, judge, explained)}
        judge.duplicates = opened_duplicates(
            duplicates.exact_duplicates,
            duplicates.near_duplicates,
            duplicates.against,
            keep_numbers=duplicates.keep_numbers,
        )
        judge.paragraphs = ParagraphRule() if duplicates.exact_duplicates == "paragraph" else None
        totals = Totals.of_rules(judge.names)
        if self.kept.output is None:
            clusters = Clusters(self.kept.clusters)
            for path, found in self._count_only(source, judge, totals):
                clusters.add(path, found)
            clusters.write()
        else:
            totals = self._write(source, judge, totals, Path(self.kept.output))
        if totals.unreadable == len(source.paths):
            raise WvError(f"none of the {totals.unreadable:,} inputs has a record that can be read")
        return totals.to_dict()

    def _count_only(self, source: Source, judge: Judge, totals: Totals) -> Iterator[tuple[str, Judged]]:
        """What a run without an output finds, file by file."""
        if self.dask is not None:
            for done in self._by_workers(self.dask, source.paths, only=len(source.paths) == 1):
                totals.add(done.totals)
            return
        shard_pass = ShardPass(judge, self.run.log, self.threads, only=len(source.paths) == 1)
        for path in source.paths:
            for found in shard_pass.count(source, path, totals):
                yield path, found

    def _write(self, source: Source, judge: Judge, totals: Totals, output: Path) -> Totals:
        journal = Journal(output, self._identity(source))
        shards = Shards(source.paths, self.kept.folders, journal, totals, overwrite=self.kept.overwrite)
        with shards.claim(), _told_how_to_go_on(self.run):
            shards.restore(judge.duplicate_rules)
            if shards.judged_before:
                self.run.log(f"going on after {shards.judged_before:,} records")
            only = len(source.paths) == 1
            if self.dask is not None:
                left = [files.source for files in shards.pending()]
                with closing(self._by_workers(self.dask, left, only=only)) as found:
                    for path, done in zip(left, found, strict=True):
                        shards.finish(path, *done)
            else:
                kept = self.kept
                shard_pass = ShardPass(judge, self.run.log, self.threads, kept.add_scores, kept.reason, only=only)
                for files in shards.pending():
                    shards.finish(files.source, *shard_pass.write(source, files))
            self._save_index(judge)  # before the journal goes: a run that is killed here goes on
        return shards.totals

    def _by_workers(self, address: str, paths: Sequence[str], *, only: bool) -> Generator[JudgedShard, None, None]:
        """The shards as the workers of the scheduler at `address` have done them, in order."""
        task = ShardTask(
            rules=tuple(rule.absolute() for rule in self.rules.all_rules),
            setting=self.rules.scoring.scorer_setting.absolute(),
            reading=self.records.reading,
            folders=tuple(str(folder.absolute()) for folder in self.kept.folders),
            threads=self.threads,
            add_scores=self.kept.add_scores,
            reason=self.kept.reason,
            only=only,
        )
        with executor(address, self.run.log, same_kernels=True) as workers:
            for done, said in workers.map("filter", task.judge_shard, [str(Path(path).absolute()) for path in paths]):
                for message in said:
                    self.run.log(message)
                yield done

    def _save_index(self, judge: Judge) -> None:
        for each in judge.duplicates:
            if isinstance(each, NearDuplicateRule) and self.kept.save_index is not None:
                each.known.save(self.kept.save_index)

    def _identity(self, source: Source) -> dict[str, Any]:
        """What must be the same for a run to go on."""
        return {
            "inputs": [_file(path) for path in source.paths],
            "rules": [rule.text for rule in self.rules.all_rules],
            "settings": [*vars(self.rules.scoring).values(), *vars(self.rules.duplicates).values()],
            "models": [_file(path) for path in self.rules.reads()],
            "--add-scores": self.kept.add_scores,
            "--rejected": self.kept.rejected,
            "--reason": self.kept.reason,
            "reading": list(self.records.reading.identity().values()),
        }


@contextmanager
def _told_how_to_go_on(run: Run) -> Iterator[None]:
    """Where the user stops the run."""
    try:
        yield
    except Exception:
        raise
    except BaseException:  # a signal, or KeyboardInterrupt
        run.log("stopped; the same command goes on from the last point, --overwrite begins anew")
        raise


def _file(path: str) -> tuple[str, int, int]:
    """Tells a file from another one that takes its name."""
    status = Path(path).stat()
    return path, status.st_size, status.st_mtime_ns


def _require_records(texts: Texts, paths: Sequence[str]) -> None:
    for path in paths:
        if path == "-":
            message = "standard input cannot be filtered, since a run must be able to go on; write it to a file"
            raise UsageError(message)
        if texts.records(path) is None:
            known = ", ".join(RECORDS)
            raise UsageError(f"{path}: expected records ({known}), found another ending; rename it, or give --field")


def _explain(source: Source, judge: Judge, number: int) -> dict[str, Any]:
    """What each rule says of one record. Raises UsageError when there are not so many."""
    before = 0
    for path in source.paths:
        for block in source.blocks(path, ()):
            if number <= before + block.count:
                text = block.each[number - before - 1]
                found = judge.score_batch([text])
                rules = [
                    {
                        "rule": rule.name,
                        "score": float(found.scores[rule.name][0]),
                        "range": rule.bounds_text,
                        "keeps": bool(rule.accepts(found.scores[rule.name])[0]),
                    }
                    for rule in judge.rules
                ]
                return {"record": number, "file": path, "text": text[:200].decode("utf-8", "replace"), "rules": rules}
            before += block.count
    raise UsageError(f"--explain {number}: the inputs have {before:,} records")
