"""The files of `wv filter`: the records that it judges, and what it writes of them."""

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from wv_cli.commands.part import Part
from wv_cli.config import argument, frozen, option, require
from wv_cli.errors import UsageError
from wv_cli.filtering.parts import JOURNAL, REPORT, parse_part
from wv_cli.filtering.parts import Part as RunPart
from wv_cli.io.output import check_writable
from wv_cli.io.places import is_below, is_stream, refuse_reading, require_different
from wv_cli.text.reading_config import RecordsConfig

_WORKS = "not dry_run and not explain"
_WRITES = f"{_WORKS} and output"
_IN_FOLDER = f"{_WRITES} and output!=-"


@frozen
class FilteredRecords(Part):
    """The records that are judged."""

    inputs: tuple[str, ...] = argument("[INPUT]...", (), role="read")
    reading: RecordsConfig = field(default_factory=RecordsConfig)
    bad_files: str = option(
        "error",
        "Damaged files: stop, or leave them out, for which each file is read twice.",
        choices=("error", "skip"),
        group="Input",
        only="not explain",
    )


@frozen
class CorpusPart(Part):
    """The part of a corpus that a run filters, and what finds duplicates in all parts."""

    part: str | None = option(
        None,
        "Filter part I of N of the files; slurm takes both from the job array.",
        metavar="I/N",
        only=f"{_WORKS} and output!=-",
    )
    keys: str | None = option(
        None,
        "Folder of keys, by which duplicates are found in all parts; without -o, write these.",
        metavar="FOLDER",
        role="own",
        only=f"near_duplicates and {_WORKS} and output!=- or exact_duplicates=document and {_WORKS} and output!=-",
    )

    @property
    def run_part(self) -> RunPart | None:
        return parse_part(self.part) if self.part is not None else None

    @property
    def keys_folder(self) -> Path | None:
        return Path(self.keys) if self.keys is not None else None

    def check(self) -> None:
        if self.part is not None:
            parse_part(self.part)


@frozen
class FilterOutput(Part):
    """The folders of the records that stay and of the others, and what else is written or shown."""

    output: str | None = option(
        None,
        "Folder for the records that stay, in files named as INPUT; - is stdout.",
        short="o",
        metavar="FOLDER",
        role="result",
    )
    rejected: str | None = option(
        None,
        "Also write the other records, each with its rule's name.",
        metavar="FOLDER",
        role="result",
        only=_IN_FOLDER,
    )
    reason: str = option("filter", "Field of --rejected for the rule's name.", metavar="NAME", only="rejected")
    split: str | None = option(
        None,
        "Write a folder for each value of this field, or each label of this rule.",
        metavar="FIELD",
        only=_IN_FOLDER,
    )
    replace_pii: bool = option(
        False, "Replace mail and public IP addresses in the texts that stay.", off=None, only=_WRITES
    )
    add_scores: bool = option(False, "Add the score of each rule to the records.", off=None, only=_WRITES)
    dry_run: bool = option(False, "Write no records; show what each rule would reject.", off=None, only="not explain")
    explain: int | None = option(None, "Show the scores of record N only.", low=1)
    save_index: str | None = option(
        None,
        "Also save an index of the records that passed --near-duplicates, for --against.",
        role="result",
        only=f"near_duplicates and {_WORKS}",
    )
    clusters: str | None = option(
        None,
        "With --dry-run: write which records are near-duplicates.",
        role="result",
        only="dry_run and near_duplicates",
    )
    cut: CorpusPart = field(default_factory=CorpusPart)
    overwrite: bool = option(
        False,
        "Begin anew, and replace what is there, instead of going on with an unfinished run.",
        off=None,
        only=_IN_FOLDER,
    )

    @property
    def folders(self) -> list[Path]:
        folders = (None if self.streams else self.output, self.rejected)
        return [Path(folder) for folder in folders if folder is not None]

    @property
    def record_folders(self) -> list[Path]:
        """The folders below which outputs have the names of inputs."""
        if self.split is None:
            return self.folders
        kept, *others = self.folders
        return [*(each for each in (sorted(kept.iterdir()) if kept.is_dir() else []) if each.is_dir()), *others]

    @property
    def streams(self) -> bool:
        """Whether the records that stay go to standard output, or to another stream."""
        return self.output is not None and is_stream(self.output)

    @property
    def shows_scores(self) -> bool:
        """Whether a rule that rejects nothing says something."""
        return self.add_scores or self.dry_run or self.explain is not None

    def results(self) -> list[str]:
        stream = self.output if self.streams else None
        return [path for path in (self.save_index, self.clusters, stream) if path is not None]

    def check(self) -> None:
        writes = not self.dry_run and self.explain is None
        writes = writes and (self.cut.keys is None or self.output is not None)
        require(not writes or self.output is not None, "give -o FOLDER, or --dry-run or --explain N")
        require(writes or self.output is None, "--dry-run and --explain write no records; leave -o out")
        message = "--save-index: the step that decides about the keys of all parts saves it; leave --part and -o out"
        require(self.save_index is None or self.cut.keys is None or (self.cut.part is self.output is None), message)
        require(self.save_index is None or self.save_index != "-", "--save-index needs a file")
        require(self.rejected is None or self.rejected != self.output, "--rejected needs a folder of its own")
        require(self.rejected != "-", "--rejected needs a folder, which gets a file for each input")
        if self.split is not None and self.rejected is not None:
            message = "--rejected needs a folder outside that of --output, which has the folders of --split"
            require(not is_below(self.rejected, str(self.output)), message)
        for folder in self.folders:
            if folder.is_file():
                raise UsageError(f"{folder}: is a file; name a folder, which gets a file for each input")

    def require_writable(self, names: Sequence[str], reads: Sequence[str]) -> None:
        """Raises UsageError, WvError where what is written, by the `names` of outputs, could not be, or is something
        else of the run: one of the files that it `reads`, or another output."""
        part = self.cut.run_part
        journal, report = (part.journal, part.report) if part is not None else (JOURNAL, REPORT)
        named = self.folders if self.split is None else self.folders[1:]
        writes = [str(folder / name) for folder in named for name in names]
        writes += [str(folder / journal) for folder in self.folders]
        if self.split is not None and (
            read := next((each for each in reads if is_below(each, str(self.output))), None)
        ):
            message = f"{read}: lies in the folder of --output, where --split may write anywhere; name another folder"
            raise UsageError(message)
        writes += [str(folder / report) for folder in self.folders[:1]]
        require_different([*self.results(), *writes])
        refuse_reading(writes, reads)
        for path in writes:
            if Path(path).parent.is_dir():  # others are made
                check_writable(path)
