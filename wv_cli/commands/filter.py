"""`wv filter`: keeps the records of a corpus that pass rules. commands/parts/filtering.py has the
rules."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.distribution import dask_option, executor, refuse_with_dask
from wv_cli.commands.job import Job, build
from wv_cli.commands.parts.filtering import FilteredRecords, FilterOutput, Rules
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import flag_of, option, require, threads_option
from wv_cli.errors import UsageError, WvError
from wv_cli.text.input_files import refuse_overwriting

if TYPE_CHECKING:
    from wv_cli.filtering.duplicates import Deduplicator
    from wv_cli.filtering.keyed_run import KeyedRun
    from wv_cli.filtering.rules import Judge, Judged
    from wv_cli.filtering.shard_pass import JudgedShard
    from wv_cli.filtering.statistics import Totals
    from wv_cli.text.inputs import Texts
    from wv_cli.text.source import Source


_LONGEST = 1_000_000  # a whole number of fewer digits is shown whole


@dataclass(frozen=True, kw_only=True)
class FilterJob(Job):
    """Keep the records of INPUT that pass every rule: JSON lines, CSV, TSV or Parquet, plain or compressed.

    \b
    A rule is a scorer with a range, or with a comparison in quotes:
      --words 50..100000
      --language lid.176.ftz:en,de=0.65..
      --classifier 'quality=model.bin:hq>=0.5'

    Each file of INPUT gives a file of the same name in FOLDER; those of a folder keep their path below it. Records stay
    as they are, byte for byte, and in their order. Cheap rules run first. A table of what each rule rejected ends the
    run; --json prints it as an object. INPUT may be - (JSON lines) with -o -, which writes the records to stdout.

    A run that was killed goes on from its last point when the same command is given again.
    """

    READING: ClassVar[tuple[str, str]] = ("B", "filtering")

    kept: FilterOutput = field(default_factory=FilterOutput)
    rules: Rules = field(default_factory=Rules)
    records: FilteredRecords
    threads: int = threads_option("Threads")
    dask: str | None = dask_option()
    summary: str | None = option(
        None, "Show the report of the run in this folder, all parts together; filter nothing.", metavar="FOLDER",
        group="Output",
    )  # fmt: skip

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "FilterJob":
        return build(cls, Rules.with_files(options, options.get("explicit", ())))

    def validate(self) -> None:
        if self.summary is None:
            require(bool(self.records.inputs), "no input; name files or folders, or - for standard input")
            super().validate()
            return
        require(not self.records.inputs, "--summary reads a folder of reports and no INPUT; leave INPUT out")
        for name in self.command_options().keys() & {*self.invocation.explicit}:
            require(name == "summary", f"{flag_of(name)} has no effect with --summary; leave it out")

    def check(self) -> None:
        if not self.kept.replace_pii:
            self.rules.require_some()
        near, exact = self.rules.duplicates.near_duplicates, self.rules.duplicates.exact_duplicates
        keys, one_run = self.kept.keys is not None, "find duplicate paragraphs in one run over their output"
        if (self.kept.part is not None or keys) and exact == "paragraph":
            raise UsageError(f"--exact-duplicates paragraph: parts have no keys of paragraphs; {one_run}")
        if self.kept.part is not None and not keys and (near is not None or exact is not None):
            name = "--near-duplicates" if near is not None else "--exact-duplicates"
            message = f"{name}: a part sees no records of the other parts (--part)"
            raise UsageError(f"{message}; give --keys FOLDER, as wv help many-machines shows")
        refuse_with_dask(
            self.dask,
            part=self.kept.part,
            keys=keys and self.kept.output is None,
            near_duplicates=near is not None and not keys,
            exact_duplicates=exact is not None and not keys,
            explain=self.kept.explain,
        )
        streams = "-" in self.records.inputs or self.kept.streams
        require(not streams or self.dask is None, "--dask needs files and a folder, not standard input or output")
        if "-" in self.records.inputs and self.kept.folders:
            message = f"standard input has no name for a file in {self.kept.output}; give -o -, or write it to a file"
            raise UsageError(message)
        if self.kept.streams:
            refuse_overwriting(self.records.inputs, str(self.kept.output))
        for rule in () if self.kept.shows_scores else self.rules.all_rules:
            message = f"{rule.text}: rejects no record; give other bounds, or --add-scores to see its scores"
            require(not rule.only_scores, message)
        if (
            self.kept.add_scores
            and self.kept.rejected
            and self.kept.reason in {each.name for each in self.rules.all_rules}
        ):
            message = f"--reason {self.kept.reason} is the name of a score of --add-scores, too; choose another name"
            raise UsageError(message)

    def work(self, run: Run) -> tuple[None, Metadata]:
        if self.summary is not None:
            from wv_cli.filtering.report import sum_reports

            return None, sum_reports(Path(self.summary)).to_dict()
        argv = self.invocation.argv
        return None, FilterRun(run, self.records, self.rules, self.kept, self.threads, self.dask, argv).finish()

    @property
    def is_verdict(self) -> bool:
        return not self.kept.dry_run and self.kept.explain is None and self.summary is None

    def show(self, metadata: Mapping[str, Any]) -> str:
        """How many records each rule saw and rejected, and percentiles of its scores; for --explain the scores of one
        record."""
        found = metadata.get("explained")
        if found is not None:
            return _explanation(found)
        if (found := metadata.get("keys")) is not None:
            return (
                f"{found['file']} has the keys of {found['texts']:,} texts; decide when all parts have written theirs\n"
            )
        rows = [["rule", "records", "rejected", "p1", "p10", "median", "p90", "p99"]]
        for name, rule in metadata["rules"].items():
            points = rule["percentiles"]
            shown = [_number(points[at]) for at in (1, 10, 50, 90, 99)] if points else ["-"] * 5
            rows.append([name, f"{rule['seen']:,}", f"{rule['rejected']:,}", *shown])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
            )
            for row in rows
        ]
        kept, records = metadata["kept"], metadata["records"]
        share = f" ({kept / records:.1%})" if records else ""
        shortened = f", {metadata['shortened']:,} of them without some paragraphs" if metadata["shortened"] else ""
        replaced = f", {metadata['replaced']:,} of them with other addresses" if metadata["replaced"] else ""
        skipped = f"; skipped {metadata['skipped']:,} that cannot be read" if metadata["skipped"] else ""
        return "\n".join([*lines, f"kept {kept:,} of {records:,} records{share}{shortened}{replaced}{skipped}\n"])


def _explanation(found: Mapping[str, Any]) -> str:
    lines = [f"record {found['record']} of {found['file']}: {found['text']}"]
    for rule in found["rules"]:
        verdict = "keeps" if rule["keeps"] else "rejects"
        lines.append(f"{rule['rule']}\t{rule['score']:.6g}\t{verdict}\t({rule['range']})")
    return "".join(f"{line}\n" for line in lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() and abs(value) < _LONGEST else f"{value:.4g}"


@dataclass(frozen=True)
class FilterRun:
    """One run over the `records`; with `dask`, the address of a scheduler, its workers judge."""

    run: Run
    records: FilteredRecords
    rules: Rules
    kept: FilterOutput
    threads: int
    dask: str | None
    argv: tuple[str, ...]

    def finish(self) -> Metadata:
        """Judges all records and returns the totals, or the scores of the one that is explained."""
        from wv_cli.filtering.clusters import Clusters
        from wv_cli.filtering.duplicates import ParagraphRule
        from wv_cli.filtering.first_texts import notes_on_fields, notes_on_words
        from wv_cli.filtering.parts import deal_files
        from wv_cli.filtering.rules import Judge
        from wv_cli.filtering.shard_pass import ShardPass
        from wv_cli.filtering.shards import name_outputs
        from wv_cli.filtering.statistics import Totals
        from wv_cli.text.reading_config import ReadingConfig
        from wv_cli.text.records.reading import DEFAULT_FIELD
        from wv_cli.text.source import Source
        from wv_cli.vectors.formats.recognize import input_texts

        run, rules = self.run, self.rules
        reading = ReadingConfig(**vars(self.records.reading))
        if "-" in self.records.inputs and reading.field is None:
            reading = replace(reading, field=DEFAULT_FIELD)
        written = self.kept.results()
        texts = input_texts(self.records.inputs, log=run.log, reading=reading, written=written)
        _require_records(texts, [path for path in texts.inputs if Path(path).is_file()])
        source = Source(texts, progress=run.on_reading)
        _require_records(texts, source.paths)
        names = name_outputs(self.records.inputs, source.paths)
        only, part, corpus = len(names) == 1, self.kept.run_part, None
        keyed = self._open_keyed(names)
        if part is not None:
            all_names, (names, corpus) = names, deal_files(names, part)
            source.select([*names])
            run.log(f"part {part} has {len(names):,} of {len(all_names):,} files")
        self.kept.require_writable(names, self.rules.reads())
        if keyed is not None and part is None and self.kept.output is None:
            return self._decide(keyed, source.paths)
        explained, duplicates = self.kept.explain, rules.duplicates
        judge = Judge(rules.all_rules, rules.scoring.scorer_setting, every=explained is not None)
        rules.require_words(run.log)
        near = duplicates.near_duplicates is not None
        words, tokenize = any(rule.statistic is not None for rule in judge.rules), rules.scoring.tokenize_words
        for path in source.paths[:1]:
            if near or words:
                for note in notes_on_words(texts, path, tokenize, words=words, near_duplicates=near):
                    run.log(note)
            for note in notes_on_fields(texts, path, judge.fields):
                run.log(note)
        if explained is not None:
            return {"explained": _explain(source, judge, explained)}
        if keyed is not None and part is not None and self.kept.output is None:
            shard_pass = ShardPass(judge, run.log, self.threads, only=only)
            path, count = keyed.write_keys(part, [*names], source, shard_pass, duplicates.open_rules([], tokenize))
            return {"keys": {"file": path, "texts": count}}
        if keyed is not None:
            judge.duplicates = [*keyed.open_decisions([*names])]
        else:
            judge.duplicates = duplicates.open_rules(source.paths, tokenize)
        judge.paragraphs = ParagraphRule() if duplicates.exact_duplicates == "paragraph" else None
        totals = Totals.of_rules(judge.names)
        if self.kept.output is None:
            clusters = Clusters(self.kept.clusters, verified=judge.verifies)
            for path, found in self._count_only(source, judge, totals, only=only):
                clusters.add(path, found)
            clusters.write(source.paths)
        elif self.kept.streams:
            self._write_stream(source, texts, judge, totals, self.kept.output)
        else:
            identity = {**self._identity(names), "part": self.kept.part and str(part), "corpus": corpus}
            totals = self._write(source, names, judge, totals, identity, only=only)
        if part is None and totals.unreadable == len(source.paths):
            raise WvError(f"none of the {totals.unreadable:,} inputs has a record that can be read")
        return totals.to_dict()

    def _open_keyed(self, names: Mapping[str, str]) -> "KeyedRun | None":
        """The duplicates of all parts, by --keys."""
        from wv_cli.filtering.keyed_run import KeyedRun
        from wv_cli.filtering.parts import Part, deal_files

        folder = self.kept.keys_folder
        if folder is None:
            return None
        identity = {name: self._identity({})[name] for name in ("rules", "settings", "models", "reading")}
        return KeyedRun(folder, names, {**identity, "corpus": deal_files(names, Part(1, 1))[1]})

    def _decide(self, keyed: "KeyedRun", paths: Sequence[str]) -> Metadata:
        """Which texts of all parts are duplicates."""
        parts, duplicates = keyed.open_keys(), self.rules.duplicates
        rules = duplicates.open_rules(paths, self.rules.scoring.tokenize_words)
        verified = duplicates.near_duplicates is not None and duplicates.verify
        sparse = verified and not duplicates.against and self.kept.save_index is None
        totals = keyed.decide(parts, rules, sparse=sparse)
        self._save_index(rules)
        return totals.to_dict()

    def _count_only(
        self, source: "Source", judge: "Judge", totals: "Totals", *, only: bool
    ) -> "Iterator[tuple[str, Judged]]":
        """What a run without an output finds, file by file."""
        from wv_cli.filtering.shard_pass import ShardPass

        if self.dask is not None:
            for done in self._by_workers(self.dask, source.paths, {}, only=only):
                totals.add(done.totals)
            return
        shard_pass = ShardPass(judge, self.run.log, self.threads, only=only)
        for path in source.paths:
            for found in shard_pass.count(source, path, totals):
                yield path, found

    def _write_stream(self, source: "Source", texts: "Texts", judge: "Judge", totals: "Totals", output: str) -> None:
        """Writes the records of all files, one after the other."""
        from wv_cli.filtering.shard_pass import ShardPass
        from wv_cli.io.output import open_output
        from wv_cli.text.records.writing import common_kind, open_sink

        kind = common_kind(texts, source.paths, output, f"--output {output}")
        only = len(source.paths) == 1
        shard_pass = ShardPass(
            judge, self.run.log, self.threads, self.kept.add_scores, only=only, replace_pii=self.kept.replace_pii
        )
        with open_output(output) as file:
            sink = open_sink(kind, file)
            try:
                for path in source.paths:
                    shard_pass.stream(source, path, sink, totals)
                sink.close()
            finally:
                sink.discard()
        self._save_index(judge.duplicates)

    def _write(
        self,
        source: "Source",
        names: Mapping[str, str],
        judge: "Judge",
        totals: "Totals",
        identity: Mapping[str, Any],
        *,
        only: bool,
    ) -> "Totals":
        from wv_cli.filtering.journal import Journal
        from wv_cli.filtering.parts import JOURNAL
        from wv_cli.filtering.report import Report
        from wv_cli.filtering.shard_pass import ShardPass
        from wv_cli.filtering.shards import Shards

        kept, part, output = self.kept, self.kept.run_part, self.kept.folders[0]
        journal = Journal(output, identity, JOURNAL if part is None else part.journal)
        report = Report(output, identity, kept.results(), part)
        shards = Shards(names, kept.folders, journal, report, totals, overwrite=kept.overwrite, part=part)
        with shards.claim(), _told_how_to_go_on(self.run):
            if shards.finished is not None:
                self.run.log(f"finished at {shards.finished['finished']}; --overwrite filters again")
                return shards.totals
            shards.restore(judge.duplicate_rules)
            if shards.judged_before:
                self.run.log(f"going on after {shards.judged_before:,} records")
            if self.dask is not None:
                left = [files.source for files in shards.pending()]
                with closing(self._by_workers(self.dask, left, names, only=only)) as found:
                    for path, done in zip(left, found, strict=True):
                        shards.finish(path, *done)
            else:
                shard_pass = ShardPass(
                    judge, self.run.log, self.threads, kept.add_scores, kept.reason, only, kept.replace_pii
                )
                for files in shards.pending():
                    shards.finish(files.source, *shard_pass.write(source, files))
            self._save_index(judge.duplicates)  # before the journal goes: a run that is killed here goes on
            shards.write_report(self.argv)
        return shards.totals

    def _by_workers(
        self, address: str, paths: Sequence[str], names: Mapping[str, str], *, only: bool
    ) -> "Generator[JudgedShard, None, None]":
        """The shards as the workers of the scheduler at `address` have done them, in order. `names` are those of their
        outputs."""
        from wv_cli.filtering.shard_pass import ShardTask
        from wv_cli.text.raw_files import whole_name

        task = ShardTask(
            rules=self.rules.rule_set,
            reading=self.records.reading,
            folders=tuple(str(folder.absolute()) for folder in self.kept.folders),
            threads=self.threads,
            add_scores=self.kept.add_scores,
            reason=self.kept.reason,
            replace_pii=self.kept.replace_pii,
            only=only,
            decisions=None if self.kept.keys is None else str(Path(self.kept.keys).absolute()),
        )
        with executor(address, self.run.log, same_kernels=True) as workers:
            asked = [(whole_name(path), names.get(path, "")) for path in paths]
            for done, said in workers.map("filter", task.judge_shard, asked):
                for message in said:
                    self.run.log(message)
                yield done

    def _save_index(self, rules: "Sequence[Deduplicator]") -> None:
        from wv_cli.filtering.duplicates import NearDuplicateRule
        from wv_cli.filtering.known_texts import VerifiedDuplicates

        for each in rules:
            if isinstance(each, NearDuplicateRule | VerifiedDuplicates) and self.kept.save_index is not None:
                each.save(self.kept.save_index)

    def _identity(self, names: Mapping[str, str]) -> dict[str, Any]:
        """What must be the same for a run to go on. Inputs and models may lie elsewhere meanwhile."""
        from wv_cli.filtering.report import identify_inputs
        from wv_cli.filtering.rule_set import file_digest

        settings = {**vars(self.rules.scoring), **vars(self.rules.duplicates)}
        return {
            "inputs": identify_inputs(names),
            "rules": [rule.staged_text for rule in self.rules.all_rules],
            "settings": {name: value for name, value in settings.items() if name not in ("tokenizer", "against")},
            "models": [(Path(path).name, file_digest(path)) for path in self.rules.reads()],
            "--add-scores": self.kept.add_scores,
            "--rejected": self.kept.rejected,
            "--reason": self.kept.reason,
            "--replace-pii": self.kept.replace_pii,
            "reading": self.records.reading.identity(),
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


def _require_records(texts: "Texts", paths: Sequence[str]) -> None:
    from wv_cli.text.records.opening import no_records

    for path in paths:
        if texts.records(path) is None:
            raise no_records(path)


def _explain(source: "Source", judge: "Judge", number: int) -> dict[str, Any]:
    """What each rule says of one record. Raises UsageError when there are not so many."""
    from wv_cli.text.records.field_values import read_fields

    before = 0
    for path in source.paths:
        for block in source.blocks(path, ()):
            if number <= before + block.count:
                text = block.each[number - before - 1]
                fields = read_fields(block, judge.fields, source.field, path)
                own = {name: [values[number - before - 1]] for name, values in fields.items()}
                found = judge.score_batch([text], own)
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
