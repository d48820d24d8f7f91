"""What every config owes, run over all of them: help, bounds that hold the default, refusals that name the flag."""

import importlib
import itertools
import math
import pickle
import re
from dataclasses import FrozenInstanceError, asdict, field, replace
from pathlib import Path
from typing import Literal

import pytest

import wv_cli
from tests.walk import for_each
from wv_cli.config import Option, Options, frozen, option
from wv_cli.config.conditions import reject_ineffective
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError

PACKAGE = Path(wv_cli.__file__).parent
ROOMS = sorted(".".join(path.parent.relative_to(PACKAGE).parts) for path in PACKAGE.glob("*/**/config.py"))
CONFIGS: list[type[Options]] = [
    found
    for room in ROOMS
    for found in vars(importlib.import_module(f"wv_cli.{room}.config")).values()
    if isinstance(found, type) and issubclass(found, Options) and found.__module__ == f"wv_cli.{room}.config"
]
FIELDS = [(config, each) for config in CONFIGS for each in config.options().values()]
# Fields a command has an option of its own for: --model names the session too, --threshold is parsed.
HIDDEN = {"Word2vecConfig.model", "NeuralConfig.model", "PhrasesConfig.thresholds"}
# Values that go with others, where one alone would be refused for their sake.
TOGETHER: dict[str, dict[str, object]] = {"cells": {"length": 1}, "length": {"cells": 1 << 16}, "maxn": {"minn": 1}}
TOGETHER["remove"] = {"method": "abtt"}
TOGETHER |= {"at": {"depth": 1_000_000}, "recall_at": {"depth": 1_000_000}, "depth": {"at": 1, "recall_at": 1}}
# What may change when a checkpoint is continued.
FREE = {
    "GloveConfig": {"threads", "vectors", "unk"},
    "BiowordConfig": {"threads", "length", "normalize_cells"},
}


def ids(value: object) -> str:
    return value.__name__ if isinstance(value, type) else value.name if isinstance(value, Option) else str(value)


EVERY_CONFIG = for_each("config", CONFIGS, ids)
EVERY_FIELD = for_each("config, field", FIELDS, ids)


def beyond(field: Option) -> list[float]:
    """The nearest values outside each bound."""
    if field.kind is int:
        low, high = field.low and field.low - 1, field.high and field.high + 1
        return [*([-1] if field.low == 0 else [low] if low is not None else []), *([high] if high else [])]
    outside = [math.nan, math.inf, -math.inf]
    outside += [math.nextafter(field.low, -math.inf)] if field.low is not None else []
    outside += [math.nextafter(field.high, math.inf)] if field.high is not None else []
    return outside + [limit for limit in (field.above, field.below) if limit is not None]


def within(field: Option) -> list[float]:
    """The outermost values inside."""
    step = {field.above: math.inf, field.below: -math.inf}
    inside = [limit for limit in (field.low, field.high) if limit is not None]
    return inside + [math.nextafter(limit, way) for limit, way in step.items() if limit is not None]


NUMBERS = [(config, each) for config, each in FIELDS if each.kind in (int, float) and not each.many]
BEYOND = [(config, each, value) for config, each in NUMBERS for value in beyond(each)]
WITHIN = [(config, each, value) for config, each in NUMBERS for value in within(each)]


def test_every_room_is_seen() -> None:
    assert {config.__name__ for config in CONFIGS} >= {"VocabConfig", "Word2vecConfig", "GloveConfig", "StsConfig"}
    assert len(BEYOND) > 100 and len(WITHIN) > 90


@EVERY_CONFIG
def test_the_defaults_are_valid(config: type[Options]) -> None:
    config().validate()


@EVERY_FIELD
def test_every_field_has_help_or_is_hidden_on_purpose(config: type[Options], field: Option) -> None:
    assert bool(field.help) != (f"{config.__name__}.{field.name}" in HIDDEN)
    assert not field.help or field.help.endswith(".")


@EVERY_FIELD
def test_the_type_is_one_that_options_have(config: type[Options], field: Option) -> None:
    assert field.kind in (int, float, bool, str)
    assert not field.choices or all(isinstance(choice, str) for choice in field.choices)


@for_each("config, field, value", BEYOND, ids)
def test_a_value_beyond_a_bound_is_refused_by_its_flag(config: type[Options], field: Option, value: float) -> None:
    with pytest.raises(UsageError) as caught:
        replace(config(), **{field.name: value}).validate()
    assert str(caught.value).startswith(f"{field.flag} ") and str(caught.value).endswith(f", not {value}")


@for_each("config, field, value", WITHIN, ids)
def test_the_bounds_themselves_are_fine(config: type[Options], field: Option, value: float) -> None:
    others = {name: other for name, other in TOGETHER.get(field.name, {}).items() if name in config.options()}
    replace(config(), **{field.name: value, **others}).validate()


@for_each("config, field", [each for each in FIELDS if each[1].choices], ids)
def test_a_word_that_is_no_choice_is_refused(config: type[Options], field: Option) -> None:
    value = ("no-such",) if field.many else "no-such"
    with pytest.raises(UsageError, match=f"{field.flag} must be one of {field.choices[0]}, .*, not 'no-such'"):
        replace(config(), **{field.name: value}).validate()


@for_each("config, field, value", [(*each, value) for each in FIELDS for value in ({}, [], math.nan, object())], ids)
def test_a_value_of_another_type_is_refused(config: type[Options], field: Option, value: object) -> None:
    """As a file may hold, which says true of its options."""
    given = (value,) if field.many else value
    if field.many and not field.choices:
        return  # read by the command
    with pytest.raises(UsageError, match=re.escape(field.flag)):
        replace(config(), **{field.name: given}).validate()


def values_of(name: str, condition: str, option: Option | None) -> set[object]:
    """Some values of an option that a condition names: every choice, every word of the condition, both bools, numbers
    around the least. Without an option the name is an argument of the command: given or not."""
    words = {word for found in re.findall(rf"\b{name}!?=([\w|-]+)", condition) for word in found.split("|")}
    if option is not None and (option.choices or words):
        assert not option.choices or words & {*option.choices} or not words, f"{condition}: no choice of --{name}"
        return {*option.choices, *words, None}
    return {option.low or 0, 1, 2} if option is not None and option.kind in (int, float) else {False, True}


@for_each("config, field", [each for each in FIELDS if each[1].only], ids)
def test_a_condition_can_hold_and_can_fail(config: type[Options], field: Option) -> None:
    """Over every combination of what it names: where it fails, the option is refused by its flag, and only if given."""
    options = config.options()
    names = list(dict.fromkeys(re.findall(r"(?:^| (?:or|and) )(?:not )?(\w+)", field.only)))
    refused = set()
    for row in itertools.product(*(values_of(name, field.only, options.get(name)) for name in names)):
        values = dict(zip(names, row, strict=True))
        reject_ineffective([(field.name, field.only)], (), values)
        try:
            reject_ineffective([(field.name, field.only)], [field.name], values)
            refused.add(False)
        except UsageError as error:
            assert str(error).startswith(f"{flag_of(field.name)} ")
            refused.add(True)
    assert refused == {True, False}


@EVERY_CONFIG
def test_the_identity_is_the_fields_in_their_order(config: type[Options]) -> None:
    left_out = FREE.get(config.__name__, {"threads", "force_text", "bad_records"})
    assert list(config().identity().items()) == [(k, v) for k, v in asdict(config()).items() if k not in left_out]


@frozen
class Example(Options):
    whole: int = option(5, "Whole.", low=0, high=9, low_is="off")
    top: int = option(1, low=1, high=2**31 - 1, unit="rows")
    open: float = option(0.5, above=0, below=1)
    half: float = option(0.5, low=0, below=1, what="a share of --top")
    rate: float = option(0.1, above=0, high=10)
    many_rows: int = option(3, low=0, low_is="all", flag="rows")
    some: int = option(3, low=3)
    soft: float = option(0.5, low=0, high=1, low_is="pca", high_is="whiten")
    least: float = option(1.0, low=0)
    words: tuple[Literal["a", "b"], ...] = option(("a",))
    maybe: str | None = option(None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"whole": -1}, "--whole must be between 0 (off) and 9, not -1"),
        ({"top": 0}, "--top must be between 1 and 2^31 - 1 rows, not 0"),
        ({"open": 1.0}, "--open must be above 0 and below 1, not 1"),
        ({"half": 1.0}, "--half is a share of --top at least 0 and below 1, not 1"),
        ({"rate": 0}, "--rate must be above 0 and at most 10, not 0"),
        ({"many_rows": -2}, "--rows must be 0 (all) or more, not -2"),
        ({"some": 2}, "--some must be at least 3, not 2"),
        ({"soft": 2}, "--soft must be between 0 (pca) and 1 (whiten), not 2"),
        ({"least": math.inf}, "--least must be a finite number, not inf"),
        ({"whole": 2.5}, "--whole must be a whole number, not 2.5"),
        ({"whole": True}, "--whole must be a whole number, not True"),
        ({"rate": "fast"}, "--rate must be a number, not 'fast'"),
        ({"words": ("a", "c")}, "--words must be one of a, b, not 'c'"),
    ],
)
def test_messages(changes: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        replace(Example(), **changes).validate()  # type: ignore[arg-type]
    assert str(caught.value) == message


@frozen
class Needy(Options):
    needed: int
    words: list[str] = field(default_factory=list)


def test_a_class_of_options_is_a_frozen_dataclass_of_keywords() -> None:
    """As `dataclass(frozen=True, kw_only=True)` would make it."""
    one, same, other = Needy(needed=1), Needy(needed=1), Needy(needed=1, words=["a"])
    assert one == same != other and one != Example() and one.words is not same.words
    assert repr(other) == "Needy(needed=1, words=['a'])" and asdict(other) == {"needed": 1, "words": ["a"]}
    assert replace(one, needed=2) == Needy(needed=2) and pickle.loads(pickle.dumps(other)) == other
    assert hash(Example()) == hash(Example()) != hash(Example(top=2))
    for wrong in ({}, {"needed": 1, "other": 2}):
        with pytest.raises(TypeError, match=r"Needy (needs needed|has no other)"):
            Needy(**wrong)
    with pytest.raises(FrozenInstanceError):
        one.needed = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del one.needed
