"""What `wv filter` judges, by which rules, and what it writes."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.part import Part, internal
from wv_cli.config import Option, argument, frozen, option, require
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError, show_value
from wv_cli.filtering.parts import JOURNAL, REPORT, parse_part
from wv_cli.filtering.parts import Part as RunPart
from wv_cli.filtering.rule_files import read_rules
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorers import SCORERS
from wv_cli.io.output import check_writable
from wv_cli.io.places import is_below, is_stream, refuse_reading, require_different
from wv_cli.text.reading_config import OF_MODEL, RecordsConfig, read_recipe

if TYPE_CHECKING:
    from wv_cli.filtering.duplicates import Deduplicator
    from wv_cli.filtering.rule_set import RuleSet
    from wv_cli.filtering.rules import Rule

_WORKS = "not dry_run and not explain"
_WRITES = f"{_WORKS} and output"
_IN_FOLDER = f"{_WRITES} and output!=-"


@frozen
class FilteredRecords(Part):
    """The records that are judged."""

    inputs: tuple[str, ...] = argument("[INPUT]...", ())
    reading: RecordsConfig = field(default_factory=RecordsConfig)
    bad_files: str = option(
        "error",
        "Damaged files: stop, or leave them out, for which each file is read twice.",
        choices=("error", "skip"),
        group="Input",
        only="not explain",
    )

    def reads(self) -> list[str]:
        return [*self.inputs]


@frozen
class Duplicates(Part):
    """Records that go because an earlier one is the same, or similar."""

    group: ClassVar[str] = "Rules"

    exact_duplicates: str | None = option(
        None, "Keep the first of equal texts, or of equal lines in all texts.", choices=("document", "paragraph")
    )
    near_duplicates: float | None = option(
        None,
        "Keep the first of records whose texts are similar: 0.72 is FineWeb's threshold.",
        above=0, below=1, metavar="S",
    )  # fmt: skip
    keep_numbers: bool = option(
        False, "Texts that differ in a number are no near-duplicates.", off=None, only="near_duplicates"
    )
    verify: bool = option(
        True,
        "Compare near-duplicates with what stayed, or take equal keys for enough, as datatrove does.",
        only="near_duplicates",
    )
    against: tuple[str, ...] = option(
        (),
        "Also reject near-duplicates of the records in this index of --save-index.",
        metavar="INDEX",
        only="near_duplicates",
    )

    def open_rules(self, shards: Sequence[str], tokenize: str | None = None) -> "list[Deduplicator]":
        """The rules of duplicate documents in these files, the cheap one first. Raises BadFile, WvError."""
        from wv_cli.filtering.duplicates import ExactDuplicates, NearDuplicateRule
        from wv_cli.filtering.known_texts import VerifiedDuplicates

        rules: list[Deduplicator] = [ExactDuplicates()] if self.exact_duplicates == "document" else []
        near, numbers = self.near_duplicates, self.keep_numbers
        if near is not None and self.verify:
            rules.append(VerifiedDuplicates(near, shards, self.against, keep_numbers=numbers, tokenize=tokenize))
        elif near is not None:
            rules.append(NearDuplicateRule(near, self.against, keep_numbers=numbers, tokenize=tokenize))
        return rules


@frozen
class Rules(Part):
    """The rules, in a field for each row of the table SCORERS, and what scorers share. `of_files` are those of the
    files `rules`."""

    group: ClassVar[str] = "Rules"

    where: tuple[str, ...] = option(
        (),
        "Keep records by a condition on their fields, such as 'score>=3 and lang=de'.",
        metavar="CONDITION",
    )
    blocked_hosts: tuple[str, ...] = option(
        (), "Reject records whose URL has one of the hosts in this file.", metavar="[NAME=]FILE"
    )
    words: tuple[str, ...] = option((), "Keep records whose number of words is in this range.", metavar="LOW..HIGH")
    heuristic: tuple[str, ...] = option(
        (),
        "Keep records by a statistic of the text, or by a recipe of several.",
        metavar="NAME[:LANG]=LOW..HIGH | RECIPE[:LANG]",
    )
    contamination: tuple[str, ...] = option(
        (),
        "Keep records that hold at most this share of each item of a benchmark.",
        metavar="[NAME=]FILE:FIELD=..SHARE",
    )
    language: tuple[str, ...] = option(
        (), "Keep records in these languages, by fastText's language identifier.", metavar="MODEL:en,de=P.."
    )
    classifier: tuple[str, ...] = option(
        (),
        "Keep records to which a classifier gives this label, or a number in this range.",
        metavar="[NAME=]MODEL[:LABEL]=LOW..",
    )
    perplexity: tuple[str, ...] = option(
        (), "Keep records with this perplexity under a language model of words, or of pieces.", metavar="MODEL=..PP"
    )
    rules: tuple[str, ...] = option((), "Rules from a TOML file, or from a shipped recipe.", metavar="FILE")
    of_files: tuple[tuple[str, str], ...] = internal(())
    scoring: ScorerOptions = field(default_factory=ScorerOptions)
    duplicates: Duplicates = field(default_factory=Duplicates)

    @property
    def texts(self) -> list[tuple[str, str]]:
        """(scorer, rule), those of files first."""
        return [
            *self.of_files,
            *((scorer, rule) for scorer in SCORERS for rule in getattr(self, scorer.replace("-", "_"))),
        ]

    @classmethod
    def settings(cls) -> dict[str, Option]:
        """The options that are no rules: a file of rules may have them, too."""
        return {**ScorerOptions.options(), **Duplicates.options()}

    @classmethod
    def with_files(cls, options: Mapping[str, Any], explicit: Container[str]) -> dict[str, Any]:
        """The options with those of the files `rules`: their rules come first, and their other options hold unless they
        are explicit. Raises UsageError for one that two files say differently, and what read_rules raises."""
        found, of_files, said = dict(options), [], dict[str, str]()
        for name in options.get("rules", ()):
            some, others = read_rules(name, cls.settings())
            of_files += some
            for key in others:
                if key in explicit:
                    continue
                if key in said and found[key] != others[key]:
                    flag = flag_of(key)
                    problem = f"{flag[2:]}: {said[key]} says {show_value(found[key])}, {name} {show_value(others[key])}"
                    raise UsageError(f"{problem}; give {flag} itself, which holds for both")
                found[key], said[key] = others[key], name
        return {**found, "of_files": tuple(of_files)}

    @property
    def rule_set(self) -> "RuleSet":
        """The same for any process."""
        from wv_cli.filtering.rule_set import RuleSet

        return RuleSet(tuple(self.all_rules), self.scoring).absolute()

    @property
    def all_rules(self) -> "list[Rule]":
        from wv_cli.filtering.parsing import merge_rules, parse_rules

        return merge_rules([rule for scorer, text in self.texts for rule in parse_rules(scorer, text)])

    def check(self) -> None:
        from wv_cli.filtering.heuristics import WORD_STATISTICS
        from wv_cli.filtering.parsing import require_different_names

        asked = any(scorer == "perplexity" for scorer, _ in self.texts)
        require(asked or self.scoring.tokenizer is None, "--tokenizer needs --perplexity")
        require_different_names(self.all_rules)
        for rule in self.all_rules:
            rule.require_possible()
        models = "--language, --classifier, or --perplexity without --tokenizer"
        by_model = bool(self._models_of_words())
        by_words = by_model or self.duplicates.near_duplicates is not None
        by_words = by_words or any(rule.statistic in WORD_STATISTICS for rule in self.all_rules)
        require(by_model or self.scoring.unit == "document", f"--unit {self.scoring.unit} needs {models}")
        require(by_model or self.scoring.tokenize != OF_MODEL, f"--tokenize {OF_MODEL} needs {models}")
        require(by_words or self.scoring.tokenize is None, f"--tokenize needs a rule about words, or {models}")
        self._require_segmenter()
        if self.scoring.tokenize not in (None, OF_MODEL):
            settings = read_recipe(str(self.scoring.tokenize))
            require(
                not settings.sentences, "--tokenize: a text has one score, so sentences has no effect; leave it out"
            )

    def _require_segmenter(self) -> None:
        """Raises UsageError where words of a language without blanks are asked for, and nothing cuts them."""
        from wv_cli.filtering.languages import SEGMENTERS, UNSEGMENTED

        language = next((rule.language for rule in self.all_rules if rule.language), "")
        script = language.rpartition("_")[2]
        if script in UNSEGMENTED and self.scoring.tokenize is None:
            cutter = SEGMENTERS.get(script, "blanks, on texts that have blanks between words")
            raise UsageError(f"--heuristic: {language} has no blanks between words; add --tokenize {cutter}")

    def require_some(self) -> None:
        """Raises UsageError without any rule."""
        some = self.texts or self.duplicates.exact_duplicates is not None or self.duplicates.near_duplicates is not None
        require(bool(some), "no rule is given; name one, such as --words 50..100000, or a file of --rules")

    def _models_of_words(self) -> list[str]:
        """Those that get the words of a text, which --tokenize makes."""
        kinds = [name for name, kind in SCORERS.items() if kind.are_probabilities]
        kinds += ["perplexity"] if self.scoring.tokenizer is None else []
        return [path for rule in self.all_rules if rule.scorer in kinds for path in rule.files]

    def reads(self) -> list[str]:
        tokenizer = [self.scoring.tokenizer] if self.scoring.tokenizer is not None else []
        return [*(path for rule in self.all_rules for path in rule.files), *tokenizer, *self.duplicates.against]

    def require_words(self, log: Callable[[str], None]) -> None:
        """Tells of models that were trained on other words than they get. Raises UsageError."""
        from wv_cli.filtering.cutting import recipe_of_model
        from wv_cli.text.tokenizing import recipe_for

        models = self._models_of_words()
        if self.scoring.tokenize is None:
            recipe_for(models, None, log)
        none = f"--tokenize {OF_MODEL}: no sidecar of {', '.join(models)} names settings; name them, such as unicode"
        some = any(recipe_of_model(path, OF_MODEL) is not None for path in models)
        require(self.scoring.tokenize != OF_MODEL or some, none)


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
        None, "Folder for the records that stay, in files named as INPUT; - is stdout.", short="o", metavar="FOLDER"
    )
    rejected: str | None = option(
        None, "Also write the other records, each with its rule's name.", metavar="FOLDER", only=_IN_FOLDER
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
    dry_run: bool = option(False, "Write no records; show what each rule would reject.", off=None)
    explain: int | None = option(None, "Show the scores of record N only.", low=1)
    save_index: str | None = option(
        None,
        "Also save an index of the records that passed --near-duplicates, for --against.",
        metavar="FILE",
        only=f"near_duplicates and {_WORKS}",
    )
    clusters: str | None = option(
        None,
        "With --dry-run: write which records are near-duplicates.",
        metavar="FILE",
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
