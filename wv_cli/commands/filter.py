"""`wv filter`: keeps the records of a corpus that pass rules. commands/parts/filtering.py has the rules,
commands/filter_run.py the work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from wv_cli.commands.distribution import dask_option, refuse_with_dask
from wv_cli.commands.job import Job, build
from wv_cli.commands.parts.filtering import FilteredRecords, FilterOutput, Rules
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import threads_option
from wv_cli.errors import UsageError
from wv_cli.filtering.rule_files import read_rules

_LONGEST = 1_000_000  # a whole number of fewer digits is shown whole


@dataclass(frozen=True, kw_only=True)
class FilterJob(Job):
    """Keep the records of INPUT that pass every rule: JSON lines, CSV, TSV or Parquet, plain or compressed.

    \b
    A rule is a scorer with a range, or with a comparison in quotes:
      --words 50..100000
      --language lid.176.ftz:en,de=0.65..
      --classifier 'quality=model.bin:hq>=0.5'

    Each file of INPUT gives a file of the same name in FOLDER. Records stay as they are, byte for byte, and in their
    order. Cheap rules run first. A table of what each rule rejected ends the run; --json prints it as an object.

    A run that was killed goes on from its last point when the same command is given again.
    """

    READING: ClassVar[tuple[str, str]] = ("B", "filtering")

    kept: FilterOutput = field(default_factory=FilterOutput)
    rules: Rules = field(default_factory=Rules)
    records: FilteredRecords
    threads: int = threads_option("Threads")
    dask: str | None = dask_option()

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "FilterJob":
        """Rules of files come first; other options of a file hold unless they are explicit."""
        found, of_files = dict(options), []
        for name in options.get("rules", ()):
            some, others = read_rules(name, Rules.settings())
            of_files += some
            found |= {key: value for key, value in others.items() if key not in options.get("explicit", ())}
        return build(cls, {**found, "of_files": tuple(of_files)})

    def check(self) -> None:
        refuse_with_dask(
            self.dask,
            near_duplicates=self.rules.duplicates.near_duplicates is not None,
            exact_duplicates=self.rules.duplicates.exact_duplicates,
            explain=self.kept.explain,
        )
        if (
            self.kept.add_scores
            and self.kept.rejected
            and self.kept.reason in {each.name for each in self.rules.all_rules}
        ):
            message = f"--reason {self.kept.reason} is the name of a score of --add-scores, too; choose another name"
            raise UsageError(message)

    def work(self, run: Run) -> tuple[None, Metadata]:
        from wv_cli.commands.filter_run import FilterRun

        return None, FilterRun(run, self.records, self.rules, self.kept, self.threads, self.dask).finish()

    @property
    def is_verdict(self) -> bool:
        return not self.kept.dry_run and self.kept.explain is None

    def show(self, metadata: Mapping[str, Any]) -> str:
        """How many records each rule saw and rejected, and percentiles of its scores; for --explain the scores of one
        record."""
        found = metadata.get("explained")
        if found is not None:
            return _explained(found)
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
        return "\n".join([*lines, f"kept {kept:,} of {records:,} records{share}{shortened}\n"])


def _explained(found: Mapping[str, Any]) -> str:
    lines = [f"record {found['record']} of {found['file']}: {found['text']}"]
    for rule in found["rules"]:
        verdict = "keeps" if rule["keeps"] else "rejects"
        lines.append(f"{rule['rule']}\t{rule['score']:.6g}\t{verdict}\t({rule['range']})")
    return "".join(f"{line}\n" for line in lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() and abs(value) < _LONGEST else f"{value:.4g}"
