"""The rules by which `wv filter` judges records."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.part import Part, internal
from wv_cli.config import Option, frozen, option, require
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError, show_value
from wv_cli.filtering.rule_files import read_rules, shipped_recipes
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorers import SCORERS
from wv_cli.text.reading_config import OF_MODEL, read_recipe

if TYPE_CHECKING:
    from wv_cli.filtering.duplicates import Deduplicator
    from wv_cli.filtering.rule_set import RuleSet
    from wv_cli.filtering.rules import Rule


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
        False, "Tell numbers from each other; by default all numbers are equal.", off=None, only="near_duplicates"
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
        role="read",
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
    rules: tuple[str, ...] = option((), "Rules from a TOML file, or from a shipped recipe.", role="read")
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

    @property
    def by_option(self) -> dict[str, list[str]]:
        """The rules of each option, those of files, too."""
        return {each.replace("-", "_"): [rule for scorer, rule in self.texts if scorer == each] for each in SCORERS}

    @classmethod
    def settings(cls) -> dict[str, Option]:
        """The options that are no rules: a file of rules may have them, too."""
        return {**ScorerOptions.options(), **Duplicates.options()}

    @classmethod
    def with_files(cls, options: Mapping[str, Any], explicit: Collection[str]) -> dict[str, Any]:
        """The options with those of the files `rules`: their rules come first, and their other options hold unless they
        are `explicit`, as they are then. Raises UsageError for one that two files say differently, and what read_rules
        raises."""
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
        return {**found, "of_files": tuple(of_files), "explicit": (*explicit, *said)}

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
        scoring = self.scoring
        require(by_model or scoring.tokenize != OF_MODEL, f"--tokenize {OF_MODEL} needs {models}")
        require(by_words or scoring.tokenize is None, f"--tokenize needs a rule about words, or {models}")
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
        return [*(name for name in self.rules if name not in shipped_recipes()), *self.models]

    @property
    def models(self) -> list[str]:
        """The files that decide about records: those of the rules, and those that scorers and duplicates have."""
        scoring, duplicates = self.scoring.reads(), self.duplicates.reads()
        return [*(path for rule in self.all_rules for path in rule.files), *scoring, *duplicates]

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
