"""The run of `wv filter`: records judged file by file, here or by the workers of a cluster, and written."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.commands.distribution import executor
from wv_cli.commands.filter_corpus import Corpus, open_corpus
from wv_cli.commands.metadata import number_of
from wv_cli.commands.parts.filter_files import FilteredRecords, FilterOutput
from wv_cli.commands.parts.filter_rules import Rules
from wv_cli.commands.run import Metadata, Run
from wv_cli.errors import WvError
from wv_cli.io.remote import show_names_in

if TYPE_CHECKING:
    from wv_cli.filtering.duplicates import Deduplicator
    from wv_cli.filtering.judge import Judge, Judged
    from wv_cli.filtering.keyed_run import KeyedRun
    from wv_cli.filtering.parts import Part as RunPart
    from wv_cli.filtering.shard_pass import JudgedShard, PassOptions, ShardPass
    from wv_cli.filtering.slices import Slice
    from wv_cli.filtering.statistics import Totals
    from wv_cli.text.inputs import Texts
    from wv_cli.text.record_files import RecordFiles


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
        corpus = open_corpus(self.run, self.records, self.kept)
        keyed = self._open_keyed(corpus.wholes)
        self.kept.require_writable([each.name for each in corpus.mine], [*corpus.source.paths, *self.rules.reads()])
        if keyed is not None and self.kept.cut.part is None and self.kept.output is None:
            return self._decide(keyed)
        judge = self._open_judge(corpus)
        if self.kept.explain is not None:
            return {"explained": self._explain(corpus, judge, self.kept.explain)}
        if keyed is not None and self.kept.cut.run_part is not None and self.kept.output is None:
            return {"keys": self._write_keys(corpus, judge, keyed, self.kept.cut.run_part)}
        return self._filter(corpus, judge, keyed).to_dict()

    def _open_judge(self, corpus: Corpus) -> "Judge":
        """The judge of all rules but those of duplicate records. What the first texts show is told."""
        from wv_cli.filtering.duplicates import ParagraphRule
        from wv_cli.filtering.first_texts import notes_on_fields, notes_on_words
        from wv_cli.filtering.judge import Judge
        from wv_cli.filtering.judged_blocks import split_fields

        judge = Judge(self.rules.all_rules, self.rules.scoring)
        judge.paragraphs = ParagraphRule() if self.rules.duplicates.exact_duplicates == "paragraph" else None
        self.rules.require_words(self.run.log)
        near = self.rules.duplicates.near_duplicates is not None
        words, tokenize = any(rule.statistic is not None for rule in judge.rules), self.rules.scoring.tokenize_words
        for path in corpus.source.paths[:1]:
            if near or words:
                for note in notes_on_words(corpus.texts, path, tokenize, words=words, near_duplicates=near):
                    self.run.log(note)
            labels = split_fields(judge, self.kept.split)
            fields = [*dict.fromkeys([*judge.fields, *labels])]
            for note in notes_on_fields(corpus.texts, path, fields, labels, judge.words):
                self.run.log(note)
        return judge

    def _explain(self, corpus: Corpus, judge: "Judge", number: int) -> Metadata:
        """The scores of the record of this `number`."""
        from wv_cli.filtering.explanation import explain

        duplicates, tokenize = self.rules.duplicates, self.rules.scoring.tokenize_words
        opened, numbers = duplicates.open_rules(corpus.source.paths, tokenize), duplicates.keep_numbers
        return explain(corpus.source, judge, number, opened, tokenize=tokenize, keep_numbers=numbers)

    def _write_keys(self, corpus: Corpus, judge: "Judge", keyed: "KeyedRun", part: "RunPart") -> Metadata:
        """Writes the keys of a part, by which duplicates are found in all parts."""
        shard_pass = self._open_pass(judge, corpus.source, only=corpus.has_one)
        opened = self.rules.duplicates.open_rules([], self.rules.scoring.tokenize_words)
        path, count = keyed.write_keys(part, corpus.every, corpus.mine, corpus.source, shard_pass, opened)
        return {"file": path, "texts": count}

    def _filter(self, corpus: Corpus, judge: "Judge", keyed: "KeyedRun | None") -> "Totals":
        """Judges by all rules, and writes what the options ask for."""
        from wv_cli.filtering.clusters import Clusters
        from wv_cli.filtering.statistics import Totals

        source, duplicates = corpus.source, self.rules.duplicates
        if keyed is not None:
            judge.duplicates = [*keyed.open_decisions(corpus.mine)]
        else:
            judge.duplicates = duplicates.open_rules(source.paths, self.rules.scoring.tokenize_words)
        totals = Totals.of_rules(judge.ranges)
        if self.kept.output is None:
            clusters = Clusters(self.kept.clusters, verified=judge.verifies)
            for path, found in self._count_only(source, judge, totals, only=corpus.has_one):
                clusters.add(path, found)
            _require_readable(totals, source)
            clusters.write(source.paths)
        elif self.kept.streams:
            self._write_stream(source, corpus.texts, judge, totals, self.kept.output)
        else:
            part = self.kept.cut.part and str(self.kept.cut.run_part)
            identity = {**self._identity(corpus.mine), "part": part, "corpus": corpus.digest}
            totals = self._write(source, corpus.mine, judge, totals, identity, only=corpus.has_one)
        return totals

    def _open_keyed(self, slices: "Sequence[Slice]") -> "KeyedRun | None":
        """The duplicates of all parts, by --keys."""
        from wv_cli.filtering.keyed_run import KeyedRun
        from wv_cli.filtering.parts import corpus_digest

        folder = self.kept.cut.keys_folder
        if folder is None:
            return None
        identity = {name: self._identity([])[name] for name in ("rules", "settings", "models", "reading")}
        corpus = corpus_digest((each.name, each.size) for each in slices)
        return KeyedRun(folder, {**identity, "corpus": corpus})

    def _decide(self, keyed: "KeyedRun") -> Metadata:
        """Which texts of all parts are duplicates."""
        from wv_cli.filtering.decisions import decide

        parts, duplicates = keyed.open_keys(), self.rules.duplicates
        paths = [shard.path for shard in sorted(shard for part in parts for shard in part.shards)]
        rules = duplicates.open_rules(paths, self.rules.scoring.tokenize_words)
        verified = duplicates.near_duplicates is not None and duplicates.verify
        sparse = verified and not duplicates.against and self.kept.save_index is None
        totals = decide(parts, rules, keyed.folder, sparse=sparse)
        self._save_index(rules)
        return totals.to_dict()

    def _count_only(
        self, source: "RecordFiles", judge: "Judge", totals: "Totals", *, only: bool
    ) -> "Iterator[tuple[str, Judged]]":
        """What a run without an output finds, file by file."""
        from wv_cli.filtering.slices import Slice

        if self.dask is not None:
            for done in self._by_workers(self.dask, [Slice(path, "") for path in source.paths], only=only):
                totals.add(done.totals)
            return
        shard_pass = self._open_pass(judge, source, only=only)
        with closing(shard_pass.count(source, [(path, None) for path in source.paths], totals)) as shards:
            for path, found in zip(source.paths, shards, strict=True):
                for judged in found:
                    yield path, judged

    def _write_stream(
        self, source: "RecordFiles", texts: "Texts", judge: "Judge", totals: "Totals", output: str
    ) -> None:
        """Writes the records of all files, one after the other."""
        from wv_cli.io.output import open_output
        from wv_cli.text.records.writing import common_kind, open_sink

        kind = common_kind(texts, source.paths, output, f"--output {output}")
        only = len(source.paths) == 1
        shard_pass = self._open_pass(judge, source, only=only)
        with open_output(output) as file:
            sink = open_sink(kind, file)
            try:
                shard_pass.stream(source, sink, totals)
                sink.close()
            finally:
                sink.discard()
        _require_readable(totals, source)
        self._save_index(judge.duplicates)

    def _write(
        self,
        source: "RecordFiles",
        slices: "Sequence[Slice]",
        judge: "Judge",
        totals: "Totals",
        identity: Mapping[str, Any],
        *,
        only: bool,
    ) -> "Totals":
        from wv_cli.filtering.journal import Journal
        from wv_cli.filtering.parts import JOURNAL
        from wv_cli.filtering.report import Report
        from wv_cli.filtering.shards import Shards

        kept, part, output = self.kept, self.kept.cut.run_part, self.kept.folders[0]
        journal = Journal(output, identity, JOURNAL if part is None else part.journal)
        report = Report(output, identity, kept.results(), part)
        shards = Shards(
            slices, kept.folders, journal, report, totals, overwrite=kept.overwrite, part=part, split=kept.split
        )
        others = report.outputs_of_others([each.name for each in slices])
        with shards.claim(), _told_how_to_go_on(self.run):
            if others and shards.finished is None:
                stay = f"{number_of(len(others), 'file')} of the run before, such as {Path(others[0]).name}"
                self.run.log(f"{output}: holds {stay}, whose inputs are not given now; they stay")
            if shards.finished is not None:
                if shards.totals.damaged and self.records.bad_files == "error":
                    problem = f"{shards.totals.damaged:,} of the files were damaged, and left out"
                    raise WvError(f"{report.path}: {problem}; get them again, or give --bad-files skip")
                self.run.log(f"finished at {shards.finished['finished']}; --overwrite filters again")
                return shards.totals
            shards.restore(judge.duplicate_rules)
            if shards.judged_before:
                self.run.log(f"going on after {shards.judged_before:,} records")
            if self.dask is not None:
                left = [files.slice for files in shards.pending()]
                with closing(self._by_workers(self.dask, left, only=only)) as found:
                    for each, done in zip(left, found, strict=True):
                        shards.finish(each.name, *done)
            else:
                source.consumed += sum(each.size for each in slices if each.name in shards.finished_names)
                shard_pass = self._open_pass(judge, source, only=only)
                pending = [*shards.pending()]
                with closing(shard_pass.write(source, pending)) as judged:
                    for files, done in zip(pending, judged, strict=True):
                        shards.finish(files.slice.name, *done)
            if part is None:
                with shards.discarded_on_error():
                    _require_readable(shards.totals, source)
            self._save_index(judge.duplicates)  # before the journal goes: a run that is killed here goes on
            shards.write_report(self.argv)
        return shards.totals

    def _open_pass(self, judge: "Judge", source: "RecordFiles", *, only: bool) -> "ShardPass":
        """What judges files of `source`, and tells how far it is."""
        from wv_cli.filtering.progress import Progress
        from wv_cli.filtering.shard_pass import ShardPass

        on_judged = Progress(source, self.run.log, self.run.on_reading).add
        return ShardPass(judge, self.run.log, self._pass_options(only), on_judged)

    def _pass_options(self, only: bool) -> "PassOptions":
        from wv_cli.filtering.shard_pass import PassOptions

        return PassOptions(
            self.threads,
            self.kept.add_scores,
            self.kept.reason,
            only,
            self.kept.replace_pii,
            self.kept.split,
            self.records.bad_files == "skip",
        )

    def _by_workers(
        self, address: str, slices: "Sequence[Slice]", *, only: bool
    ) -> "Generator[JudgedShard, None, None]":
        """The shards as the workers of the scheduler at `address` have done them, in order."""
        from wv_cli.filtering.shard_pass import ShardTask
        from wv_cli.text.raw_files import whole_name

        task = ShardTask(
            rules=self.rules.rule_set,
            reading=self.records.reading,
            folders=tuple(str(folder.absolute()) for folder in self.kept.folders),
            options=self._pass_options(only),
            decisions=None if self.kept.cut.keys is None else str(Path(self.kept.cut.keys).absolute()),
        )
        with executor(address, self.run.log, same_kernels=True) as workers:
            asked = [(whole_name(each.path), each.name) for each in slices]
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

    def _identity(self, slices: "Sequence[Slice]") -> dict[str, Any]:
        """What must be the same for a run to go on. Inputs and models may lie elsewhere meanwhile."""
        from wv_cli.filtering.report import identify_inputs
        from wv_cli.filtering.rule_set import file_digest

        settings = {**vars(self.rules.scoring), **vars(self.rules.duplicates)}
        found = {
            "inputs": identify_inputs(slices),
            "rules": [rule.staged_text for rule in self.rules.all_rules],
            "settings": {name: value for name, value in settings.items() if name not in ("tokenizer", "against")},
            "models": [(Path(path).name, file_digest(path)) for path in self.rules.models],
            "--add-scores": self.kept.add_scores,
            "--rejected": self.kept.rejected,
            "--reason": self.kept.reason,
            "--replace-pii": self.kept.replace_pii,
            "--split": self.kept.split,
            "reading": self.records.reading.identity(),
        }
        named: dict[str, Any] = show_names_in(found)
        return named


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


def _require_readable(totals: "Totals", source: "RecordFiles") -> None:
    """Raises WvError where no input of the whole run has a record."""
    if totals.unreadable + totals.damaged == len(source.paths):
        problem = "has a record that can be read; notes say why, without -q"
        raise WvError(f"none of the {len(source.paths):,} inputs {problem}")
