"""Rules as they are written, in options and in files."""

import difflib
import functools
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from wv_cli.errors import UsageError
from wv_cli.filtering.conditions import parse_condition
from wv_cli.filtering.heuristics import HEURISTICS, RECIPES, WORD_STATISTICS, recipe_bounds
from wv_cli.filtering.languages import rules_of_language
from wv_cli.filtering.rules import Rule
from wv_cli.filtering.scorer_types import split_subject
from wv_cli.filtering.scorers import SCORERS

_COMPARED = re.compile(r"(?s)(?P<subject>.*?)(?P<sign>>=|<=|>|<)(?P<bound>[-+.\deE]+)")
_RANGE = re.compile(r"(?s)(?:(?P<subject>.*)=)?(?P<low>[-+.\deE]*?)\.\.(?P<high>[-+.\deE]*)")


_ELSEWHERE = re.compile(r"[a-z][a-z0-9+]+://[^/:=\s]*(?::\d+)?(?:/[^:=\s]*)?")  # a model on another machine


def parse_rules(scorer: str, text: str) -> list[Rule]:
    """The rules of the option --SCORER TEXT: one, or those of a recipe. Raises UsageError."""
    if scorer == "where":
        parse_condition(text)
        return [Rule(scorer, scorer, text, 1, np.inf, False, f"--where {text}")]
    if scorer == "blocked-hosts":
        name, path = _split_name(text) or (scorer, text)
        return [Rule(name, scorer, path, 1, np.inf, False, f"--blocked-hosts {text}")]
    if scorer != "heuristic" or "=" in text or ">" in text or "<" in text:
        return [parse_rule(scorer, text)]
    recipe, _, language = text.partition(":")
    if recipe not in RECIPES:
        known = ", ".join(RECIPES)
        raise UsageError(f"--heuristic {text}: expected NAME=LOW..HIGH, or a recipe ({known})")
    found: dict[str, Rule] = {}
    with _about(text):
        bounds = recipe_bounds(recipe, language)
    _require_language(text, language, {bound.heuristic for bound in bounds})
    for bound in bounds:
        name = bound.heuristic
        rule = found.get(name, Rule(name, scorer, name, -np.inf, np.inf, False, f"--heuristic {text}", False, language))
        is_low = bound.comparison == ">="
        found[name] = replace(rule, low=bound.bound if is_low else rule.low, high=rule.high if is_low else bound.bound)
    texts = {name: f"--heuristic {text} ({name}={_range_text(rule)})" for name, rule in found.items()}
    return [replace(rule, text=texts[name], of_recipe=True) for name, rule in found.items()]


@contextmanager
def _about(heuristic: str) -> Iterator[None]:
    """Puts the option in front of an error."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"--heuristic {heuristic}: {error}") from None


def _require_language(text: str, language: str, statistics: AbstractSet[str]) -> None:
    """Raises UsageError for an unknown language, or one that none of the statistics depends on."""
    if not language and not text.partition("=")[0].endswith(":"):
        return
    with _about(text):
        rules_of_language(language)
        if statistics.isdisjoint(WORD_STATISTICS):
            raise UsageError(f"is the same in every language; leave out :{language}")


def _range_text(rule: Rule) -> str:
    low, high = (f"{bound:g}" if np.isfinite(bound) else "" for bound in (rule.low, rule.high))
    return f"{low}..{high}"


_EXAMPLES = {"contamination": "questions.jsonl:question<=0.5", "perplexity": "MODEL<=800"}
_LANGUAGES = "https://fasttext.cc/docs/en/language-identification.html"


_BOUND = re.compile(r"(?P<sign>>=|<=|>|<|=\.\.|=)(?P<bound>[^<>=]*)$")


def _advise_comparison(scorer: str, text: str) -> str:
    """What to write for a rule without > or <: a shell has taken it, = stands in its place (alone, or as == and !=),
    or no number follows."""
    kind = SCORERS.find(scorer)
    sign, quotes = "<=" if kind.high_is_bad else ">=", "(in quotes: a shell takes > and < for itself)"
    example = 0.5 if kind.highest == 1 else 800
    found = _BOUND.search(text)
    if found is None or (found["sign"] == "=" and ":" in found["bound"]):  # = of NAME=FILE:FIELD
        return f"a comparison, such as '{text}{sign}{example}' {quotes}"
    subject, bound = text[: found.start()].rstrip("=!"), found["bound"]
    if not re.fullmatch(r"[-+]?[.\d]+([eE][-+]?\d+)?", bound):  # float() takes nan, too
        scores = "a number from 0 to 1" if kind.highest == 1 else "a number"
        return f"{scores} behind {found['sign']}, such as {example}; found {bound!r}"
    return f"a comparison, found =; write '{subject}{sign}{bound}' {quotes}"


@functools.cache
def _copy_once(name: str) -> str:
    from wv_cli.io.remote_copies import local_copy

    return local_copy(name)


def _copy_model(found: re.Match[str]) -> str:
    """The copy here of a model on another machine, made once a process."""
    return _copy_once(found[0])


def parse_rule(scorer: str, text: str) -> Rule:
    """The rule of the option --SCORER TEXT. Raises UsageError.

    NAME=MODEL:LABEL>=0.5, MODEL:en,de>=0.65, MODEL<=800, 50..100000: a name that may be left out, the subject, and a
    comparison or a range of which one end may be left out.
    """
    low, high, is_open, language = -np.inf, np.inf, False, ""
    if found := _COMPARED.fullmatch(text):
        bound, sign = _number(found["bound"], text), found["sign"]
        low, high = (bound, high) if sign[0] == ">" else (low, bound)
        is_open = len(sign) == 1
    elif found := _RANGE.fullmatch(text):
        low = _number(found["low"], text) if found["low"] else low
        high = _number(found["high"], text) if found["high"] else high
        if low > high:
            raise UsageError(f"--{scorer} {text}: the range is empty; the lower number comes first")
    else:
        if SCORERS.find(scorer).has_file and ":" in text:
            raise UsageError(f"--{scorer} {text}: expected {_advise_comparison(scorer, text)}")
        example = _EXAMPLES.get(scorer, "lid.176.ftz:en>=0.65" if SCORERS.find(scorer).has_file else "50..100000")
        source = f"; {_LANGUAGES} has that model" if scorer == "language" else ""
        raise UsageError(f"--{scorer} {text}: expected a rule such as {example}{source}")
    subject = found["subject"] or ""
    if SCORERS.find(scorer).has_file:
        subject = _ELSEWHERE.sub(_copy_model, subject)
    name, subject = _split_name(subject) or (scorer, subject)
    if not SCORERS.find(scorer).opener:
        subject, _, language = (subject or scorer).partition(":")
        name = subject
        if subject not in HEURISTICS:
            near = difflib.get_close_matches(subject, HEURISTICS, n=3) or [*HEURISTICS][:5]
            raise UsageError(f"--{scorer} {text}: unknown statistic {subject!r}; did you mean {', '.join(near)}?")
        _require_language(text, language, {subject})
    return Rule(name, scorer, subject, float(low), float(high), is_open, f"--{scorer} {text}", False, language)


def _split_name(subject: str) -> tuple[str, str] | None:
    """(NAME, FILE) of NAME=FILE, unless that is a file."""
    name, given, rest = subject.partition("=")
    is_file = Path(split_subject(subject)[0]).is_file()
    return (name, rest) if given and re.fullmatch(r"[^\W\d][\w-]*", name) and not is_file else None


def _number(text: str, rule: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{rule}: expected a number, found {text!r}") from None


def merge_rules(rules: Sequence[Rule]) -> list[Rule]:
    """The same rules, where those about one statistic are one: what each of them keeps. So are conditions. Raises
    UsageError for two languages, and for a bound without effect beside another rule's, unless it is a recipe's."""
    _require_one_language(rules)
    conditions = [rule for rule in rules if rule.scorer == "where"]
    merged = conditions[:1]
    if len(conditions) > 1:
        subject = " and ".join(f"({rule.subject})" for rule in conditions)
        merged = [replace(conditions[0], subject=subject, text=f"--where {subject}")]
    for rule in rules:
        if rule.scorer == "where":
            continue
        same = [i for i, other in enumerate(merged) if rule.statistic is not None and other.statistic == rule.statistic]
        if same and merged[same[0]].open == rule.open:
            other = merged[same[0]]
            low, high = max(other.low, rule.low), min(other.high, rule.high)
            text, language = f"{other.text} {rule.text}", other.language or rule.language
            merged[same[0]] = replace(other, low=low, high=high, text=text, language=language)
        else:
            merged.append(rule)
    for rule in rules:
        if rule.statistic is not None and not rule.of_recipe:
            _require_effect(rule, next(each for each in merged if each.name == rule.name))
    return merged


def _require_one_language(rules: Sequence[Rule]) -> None:
    languages = dict.fromkeys(rule.language for rule in rules if rule.language)
    if len(languages) > 1:
        first, second, *_ = languages
        problem = f"all rules hold for every record, and another one is for {first}"
        advice = f"filter each language alone, such as with --where lang={second}"
        raise UsageError(f"--heuristic: expected one language, found {second}: {problem}; {advice}")


def _require_effect(rule: Rule, merged: Rule) -> None:
    if rule.open != merged.open:  # two rules, whose names are refused
        return
    for bound, kept, ends in ((rule.low, merged.low, "lower"), (rule.high, merged.high, "upper")):
        if np.isfinite(bound) and bound != kept:
            problem = f"the {ends} bound has no effect: all rules hold, and another one about {rule.name} has {kept:g}"
            raise UsageError(f"{rule.text}: {problem}; leave it out, or give the bounds of a recipe one by one")


def require_different_names(rules: Sequence[Rule]) -> None:
    """Raises UsageError for two rules of one name."""
    seen: dict[str, Rule] = {}
    for rule in rules:
        if rule.name in seen:
            raise UsageError(
                f"two rules are called {rule.name}; give one a name: --{rule.scorer} NAME={rule.subject}..."
            )
        seen[rule.name] = rule
