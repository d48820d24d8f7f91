"""`wv filter`: one pass over records by rules; those that stay and those that do not, shard by shard."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from wv_cli.config import MOST_THREADS, option, require
from wv_cli.errors import UsageError, WvError
from wv_cli.filtering.clusters import Clusters
from wv_cli.filtering.duplicates import NearDuplicateRule, ParagraphRule, opened_duplicates
from wv_cli.filtering.first_texts import notes_on_words
from wv_cli.filtering.flattening import FLATTENINGS, UNITS
from wv_cli.filtering.journal import JOURNAL, Journal
from wv_cli.filtering.rule_files import read_rules
from wv_cli.filtering.rules import Judge, Judged, Rule, merge_statistics, parse_rules, require_different_names
from wv_cli.filtering.scorers import SCORERS
from wv_cli.filtering.scoring import recipe_of_classifier
from wv_cli.filtering.setting import Setting
from wv_cli.filtering.shard_pass import JudgedShard, ShardPass, ShardTask
from wv_cli.filtering.shards import Shards
from wv_cli.filtering.statistics import Totals
from wv_cli.formats.recognize import input_texts
from wv_cli.jobs.distribution import executor, refuse_with_dask
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.run import Metadata, Run
from wv_cli.system.output import check_writable
from wv_cli.system.places import refuse_reading, require_different
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import OF_MODEL, ReadingConfig, RecordsConfig, read_recipe
from wv_cli.text.records.kinds import RECORDS
from wv_cli.text.source import Source

BY_LABEL = ("language", "classifier")  # the scorers that ask a classifier
REASON = "filter"
DUPLICATES = ("document", "paragraph")


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
    from which records are near-duplicates, of which the first stays, and with `keep_numbers` not all numbers are one;
    `against` is an index of an older corpus."""

    CONDITIONS: ClassVar[dict[str, str]] = {
        "against": "near_duplicates",
        "keep_numbers": "near_duplicates",
        "perplexity_of": "tokenizer",
    }

    given: tuple[tuple[str, str], ...] = ()
    flatten: str = "space"
    tokenize: str | None = None
    unit: str = "document"
    tokenizer: str | None = None
    perplexity_of: str = "ccnet"
    exact_duplicates: str | None = None
    near_duplicates: float | None = option(None, above=0, below=1)
    keep_numbers: bool = False
    against: str | None = None

    @property
    def rules(self) -> list[Rule]:
        return merge_statistics([rule for scorer, text in self.given for rule in parse_rules(scorer, text)])

    def check(self) -> None:
        some = self.given or self.exact_duplicates is not None or self.near_duplicates is not None
        require(bool(some), "no rule is given; name one, such as --words 50..100000, or a file of --rules")
        asked = any(scorer == "perplexity" for scorer, _ in self.given)
        require(asked or self.tokenizer is None, "--tokenizer needs --perplexity")
        require(not asked or self.tokenizer is not None, "--perplexity needs --tokenizer FILE, a sentencepiece model")
        require_different_names(self.rules)
        message = f"--exact-duplicates is {' or '.join(DUPLICATES)}, not {self.exact_duplicates}"
        require(self.exact_duplicates in (None, *DUPLICATES), message)
        FLATTENINGS.find(self.flatten)
        UNITS.find(self.unit)
        by_label = any(scorer in BY_LABEL for scorer, _ in self.given)
        require(by_label or self.unit == "document", f"--unit {self.unit} needs --language or --classifier")
        require(by_label or self.tokenize is None, "--tokenize needs --language or --classifier")
        if self.tokenize not in (None, OF_MODEL):
            settings = read_recipe(str(self.tokenize))
            require(
                not settings.sentences, "--tokenize: a text has one score, so sentences has no effect; leave it out"
            )

    def reads(self) -> list[str]:
        more = [path for path in (self.tokenizer, self.against) if path is not None]
        return [*(path for rule in self.rules for path in rule.files), *more]

    def scorer_setting(self) -> Setting:
        return Setting(self.flatten, self.tokenize, self.unit, self.tokenizer, self.perplexity_of)

    def require_words(self, log: Callable[[str], None]) -> None:
        """Tells of classifiers that were trained on other words than they get. Raises UsageError."""
        from wv_cli.text.tokenizing import recipe_for

        models = [path for rule in self.rules if rule.scorer in BY_LABEL for path in rule.files]
        if self.tokenize is None:
            recipe_for(models, None, log)
        none = f"--tokenize {OF_MODEL}: no sidecar of {', '.join(models)} names settings; name them, such as unicode"
        some = any(recipe_of_classifier(path, OF_MODEL) is not None for path in models)
        require(self.tokenize != OF_MODEL or some, none)


@dataclass(frozen=True, kw_only=True)
class FilterOutput(Part):
    """The folder `output` gets the records that stay, in a file for each input; `rejected` those that do not, with the
    rule that rejects them as the field `reason`. With `add_scores` records get the score of each rule. `dry_run` writes
    nothing, but the `clusters` of near-duplicates; `explain` shows the scores of one record, by its number.
    `save_index` gets the near-duplicates that are known in the end."""

    CONDITIONS: ClassVar[dict[str, str]] = {
        "rejected": "not dry_run and not explain",
        "reason": "rejected",
        "add_scores": "not dry_run and not explain",
        "overwrite": "not dry_run and not explain",
        "save_index": "near_duplicates and not dry_run and not explain",
        "clusters": "dry_run and near_duplicates",
    }

    output: str | None = None
    rejected: str | None = None
    reason: str = REASON
    add_scores: bool = False
    dry_run: bool = False
    explain: int | None = option(None, low=1)
    save_index: str | None = None
    clusters: str | None = None
    overwrite: bool = False

    @property
    def folders(self) -> list[Path]:
        return [Path(folder) for folder in (self.output, self.rejected) if folder is not None]

    def results(self) -> list[str]:
        return [path for path in (self.save_index, self.clusters) if path is not None]

    def check(self) -> None:
        writes = not self.dry_run and self.explain is None
        require(writes == (self.output is not None), "give -o FOLDER, or --dry-run or --explain N instead of it")
        require(self.save_index is None or self.save_index != "-", "--save-index needs a file")
        require(self.rejected is None or self.rejected != self.output, "--rejected needs a folder of its own")
        for name, given in (("--output", self.output), ("--rejected", self.rejected)):
            require(given not in ("", "-"), f"{name} needs a folder, which gets a file for each input")
        for folder in self.folders:
            if folder.is_file():
                raise UsageError(f"{folder}: is a file; name a folder, which gets a file for each input")

    def require_writable(self, paths: Sequence[str], reads: Sequence[str]) -> None:
        """Raises UsageError, WvError where what is written for the inputs at `paths` could not be, or is something else
        of the run: one of the files that it `reads`, or another output."""
        names = [Path(path).name for path in paths]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"two inputs are called {twice}, and their outputs would be; give them one by one")
        writes = [str(folder / name) for folder in self.folders for name in (*names, JOURNAL)]
        require_different([*self.results(), *writes])
        refuse_reading(writes, [*paths, *reads])
        for path in writes:
            if Path(path).parent.is_dir():  # others are made
                check_writable(path)


@dataclass(frozen=True, kw_only=True)
class FilterJob(Job):
    """The job of `wv filter`."""

    records: FilteredRecords
    rules: Rules = field(default_factory=Rules)
    kept: FilterOutput = field(default_factory=FilterOutput)
    threads: int = option(1, low=1, high=MOST_THREADS)
    dask: str | None = None

    def check(self) -> None:
        refuse_with_dask(
            self.dask,
            near_duplicates=self.rules.near_duplicates is not None,
            exact_duplicates=self.rules.exact_duplicates,
            explain=self.kept.explain,
        )
        if self.kept.add_scores and self.kept.rejected and self.kept.reason in {each.name for each in self.rules.rules}:
            message = f"--reason {self.kept.reason} is the name of a score of --add-scores, too; choose another name"
            raise UsageError(message)

    def work(self, run: Run) -> tuple[None, Metadata]:
        texts = input_texts(self.records.inputs, log=run.log, reading=ReadingConfig(**vars(self.records.reading)))
        _require_records(texts, [path for path in texts.inputs if path == "-" or Path(path).is_file()])
        source = Source(texts, progress=run.on_reading)
        _require_records(texts, source.paths)
        self.kept.require_writable(source.paths, self.rules.reads())
        explained, rules = self.kept.explain, self.rules
        judge = Judge(rules.rules, rules.scorer_setting(), every=explained is not None)
        rules.require_words(run.log)
        near = rules.near_duplicates is not None
        if near or any(rule.statistic is not None for rule in judge.rules):
            for note in notes_on_words(texts, source.paths[0], near_duplicates=near):
                run.log(note)
        if explained is not None:
            return None, {"explained": _explain(source, judge, explained)}
        judge.duplicates = opened_duplicates(
            rules.exact_duplicates, rules.near_duplicates, rules.against, keep_numbers=rules.keep_numbers
        )
        judge.paragraphs = ParagraphRule() if rules.exact_duplicates == "paragraph" else None
        totals = Totals.of_rules(judge.names)
        if self.kept.output is None:
            clusters = Clusters(self.kept.clusters)
            for path, found in self._count_only(source, judge, totals, run):
                clusters.add(path, found)
            clusters.write()
        else:
            totals = self._write(source, judge, totals, run, Path(self.kept.output))
        if totals.unreadable == len(source.paths):
            raise WvError(f"none of the {totals.unreadable:,} inputs has a record that can be read")
        return None, totals.to_dict()

    def _count_only(self, source: Source, judge: Judge, totals: Totals, run: Run) -> Iterator[tuple[str, Judged]]:
        """What a run without an output finds, file by file."""
        if self.dask is not None:
            for done in self._by_workers(self.dask, source.paths, run, only=len(source.paths) == 1):
                totals.add(done.totals)
            return
        shard_pass = ShardPass(judge, run.log, self.threads, only=len(source.paths) == 1)
        for path in source.paths:
            for found in shard_pass.count(source, path, totals):
                yield path, found

    def _write(self, source: Source, judge: Judge, totals: Totals, run: Run, output: Path) -> Totals:
        journal = Journal(output, self._identity(source))
        shards = Shards(source.paths, self.kept.folders, journal, totals, overwrite=self.kept.overwrite)
        with shards.claim(), _told_how_to_go_on(run):
            shards.restore(judge.duplicate_rules)
            if shards.judged_before:
                run.log(f"going on after {shards.judged_before:,} records")
            only = len(source.paths) == 1
            if self.dask is not None:
                left = [files.source for files in shards.pending()]
                with closing(self._by_workers(self.dask, left, run, only=only)) as found:
                    for path, done in zip(left, found, strict=True):
                        shards.finish(path, *done)
            else:
                kept = self.kept
                shard_pass = ShardPass(judge, run.log, self.threads, kept.add_scores, kept.reason, only=only)
                for files in shards.pending():
                    shards.finish(files.source, *shard_pass.write(source, files))
            self._save_index(judge)  # before the journal goes: a run that is killed here goes on
        return shards.totals

    def _by_workers(
        self, address: str, paths: Sequence[str], run: Run, *, only: bool
    ) -> Generator[JudgedShard, None, None]:
        """The shards as the workers of the scheduler at `address` have done them, in order."""
        task = ShardTask(
            rules=tuple(rule.absolute() for rule in self.rules.rules),
            setting=self.rules.scorer_setting().absolute(),
            reading=self.records.reading,
            folders=tuple(str(folder.absolute()) for folder in self.kept.folders),
            threads=self.threads,
            add_scores=self.kept.add_scores,
            reason=self.kept.reason,
            only=only,
        )
        with executor(address, run.log, same_kernels=True) as workers:
            for done, said in workers.map("filter", task.judge_shard, [str(Path(path).absolute()) for path in paths]):
                for message in said:
                    run.log(message)
                yield done

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


def with_rules(options: Mapping[str, Any], explicit: Collection[str]) -> dict[str, Any]:
    """The options of a FilterJob where each scorer has its rules under its name, and `rules` are files of them.

    Those of files come first. Other options of a file hold unless they are `explicit`. Raises BadFile, WvError.
    """
    found, rules = dict(options), []
    for name in found.pop("rules", ()):
        some, others = read_rules(name)
        rules += some
        found |= {key: value for key, value in others.items() if key not in explicit}
    rules += [(scorer, rule) for scorer in SCORERS for rule in found.pop(scorer, ())]
    return {**found, "given": tuple(rules)}


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
