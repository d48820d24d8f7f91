"""`wv filter`: keeps the records of a corpus that pass rules. parts/filter_rules.py has the rules,
parts/filter_files.py the files."""

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

from wv_cli.commands.distribution import dask_option, refuse_with_dask
from wv_cli.commands.job import Job, build
from wv_cli.commands.parts.filter_files import FilteredRecords, FilterOutput
from wv_cli.commands.parts.filter_rules import Rules
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option, require, threads_option
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.text.folder_files import is_read_with
from wv_cli.text.input_files import refuse_overwriting

_FOLDERS = 10  # that are shown
_LONGEST = 1_000_000  # a whole number of fewer digits is shown whole


@frozen
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
        None, "Show the report of the run in this folder, all parts together; filter nothing.",
        metavar="FOLDER", role="read", group="Output",
    )  # fmt: skip

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "FilterJob":
        return build(cls, Rules.with_files(options, options.get("explicit", ())))

    def values(self) -> dict[str, Any]:
        return {**super().values(), **self.rules.by_option}

    def validate(self) -> None:
        if self.summary is None:
            require(bool(self.records.inputs), "no input; name files or folders, or - for standard input")
            super().validate()
            return
        require(not self.records.inputs, "--summary reads a folder of reports and no INPUT; leave INPUT out")
        for name in self.command_options().keys() & {*self.invocation.explicit}:
            require(name == "summary", f"{flag_of(name)} has no effect with --summary; leave it out")

    def check(self) -> None:
        if self.kept.rejected is not None or not self.kept.replace_pii:
            self.rules.require_some()
        scores = any(not rule.reads_fields for rule in self.rules.all_rules)
        require(scores or not self.kept.add_scores, "--add-scores needs a rule that has a score, such as --words 50..")
        near, exact = self.rules.duplicates.near_duplicates, self.rules.duplicates.exact_duplicates
        keys, one_run = self.kept.cut.keys is not None, "find duplicate paragraphs in one run over their output"
        if (self.kept.cut.part is not None or keys) and exact == "paragraph":
            raise UsageError(f"--exact-duplicates paragraph: parts have no keys of paragraphs; {one_run}")
        if self.kept.cut.part is not None and not keys and (near is not None or exact is not None):
            name = "--near-duplicates" if near is not None else "--exact-duplicates"
            message = f"{name}: a part sees no records of the other parts (--part)"
            raise UsageError(f"{message}; give --keys FOLDER, as wv help duplicates shows")
        refuse_with_dask(
            self.dask,
            part=self.kept.cut.part,
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
        if "-" in self.records.inputs and self.records.bad_files == "skip":
            raise UsageError("--bad-files skip reads each file twice, which standard input cannot be; leave it out")
        if self.kept.streams:
            refuse_overwriting(self.records.inputs, str(self.kept.output))
        for path in [*map(str, self.kept.folders), *self.kept.results(), *filter(None, [self.kept.cut.keys])]:
            if whole := next((each for each in self.records.inputs if is_read_with(path, each)), None):
                message = f"{path}: lies in {whole}, so that the same command given again would read what it wrote"
                raise UsageError(f"{message}; choose a place outside, or a name that begins with _")
        for rule in () if self.kept.shows_scores else self.rules.all_rules:
            message = f"{rule.text}: rejects no record; give other bounds, or --add-scores to see its scores"
            require(not rule.only_scores or rule.name == self.kept.split, message)
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
        from wv_cli.commands.filter_run import FilterRun

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
        damaged = f"; {metadata['damaged']:,} damaged files left out" if metadata["damaged"] else ""
        labels = _folders(metadata.get("labels", {}))
        return "\n".join(
            [*lines, f"kept {kept:,} of {records:,} records{share}{shortened}{replaced}{skipped}{damaged}{labels}\n"]
        )


def _folders(labels: Mapping[str, int]) -> str:
    """The largest folders of --split."""
    largest = sorted(labels, key=lambda label: (-labels[label], label))
    shown = [f"{label} {labels[label]:,}" for label in largest[:_FOLDERS]]
    more = [f"{len(largest) - _FOLDERS:,} more"] if len(largest) > _FOLDERS else []
    return f"\nin folders: {', '.join([*shown, *more])}" if shown else ""


def _explanation(found: Mapping[str, Any]) -> str:
    lines = [f"record {found['record']} of {found['file']}: {found['text']}"]
    for rule in found["rules"]:
        verdict, score = {True: "keeps", False: "rejects", None: "-"}[rule["keeps"]], rule["score"]
        lines.append(f"{rule['rule']}\t{'-' if score is None else f'{score:.6g}'}\t{verdict}\t({rule['range']})")
        if "in_both" in rule:
            lines.append(f"  both have: {rule['in_both']}")
    return "".join(f"{line}\n" for line in lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() and abs(value) < _LONGEST else f"{value:.4g}"
