"""`wv train`: which job trains the model that is chosen, and the options of all models as those of one command.

Options have the names they have on the command line, with underscores; one that is None is not given.
"""

import dataclasses
import functools
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wv_cli.commands.job import Job, build
from wv_cli.commands.models import DEFAULT_MODEL, MODELS, PRESETS, Model
from wv_cli.commands.parts.continuation import inherit_options, state_of
from wv_cli.config import Option, field_names, frozen, option, options_of
from wv_cli.config.wording import either, flag_of, show_default
from wv_cli.errors import UsageError
from wv_cli.models.presets import Preset

if TYPE_CHECKING:
    from wv_cli.models.training.state import StateOptions

Variants = dict[str, tuple[Mapping[str, Option], Mapping[str, Any]]]


@frozen
class TrainJob(Job):
    """Train word vectors on INPUT: text files, folders, or - for standard input, plain or compressed.

    White space separates words, line ends separate sentences. Analogy scores of a few million words peak at about
    20 epochs (2-5 with subwords).

    The ending of an output chooses its format. NAME.vec is word2vec's text; NAME.bin is word2vec's binary or, with
    subwords, a fastText model. NAME.lm is a language model, NAME.d2v a doc2vec model, and
    - is text on standard output. A second ending .gz, .bz2, .xz or .zst compresses the file.

    The preset fasttext has fastText's defaults. balanced trains two models and quality five, for about 2 and 10
    times the work; their vectors are combined to --dim numbers.

    --model pairs reads records of an anchor, its positive and hard negatives, and writes a static embedding to DIR/.

    --model pooled reads labeled lines and writes a classifier, whatever the name's ending, for wv predict. With
    several --label-field, fields of records, it answers a question for each.

    --validation takes analogies `a b c d` (among the 30,000 most frequent words) or pairs `word word score`.
    With --model pairs it takes other pairs, or lines of two texts and a score. --autotune-validation takes labeled
    lines, for a classifier. Do not report scores on such a file: it chose the epoch or the options.

    Ctrl-C, SIGTERM and --max-time save a checkpoint. --resume continues it exactly; the exit code is 130, 143 or
    124.
    """

    model: str | None = option(
        None,
        "Model to train; `wv train --model NAME -h` explains it.",
        choices=MODELS,
        shown=DEFAULT_MODEL,
        group="Model",
        common=True,
    )
    preset: str | None = option(
        None,
        "Start from this preset's defaults; explicit options override them.",
        choices=PRESETS,
        shown="word2vec (supervised fasttext)",
        group="Model",
        common=True,
    )

    @classmethod
    def command_options(cls) -> Mapping[str, Option]:
        """The options of all models. One that is not given is None: its default depends on model and preset."""
        return {**cls.options(), **_options_of_models()}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Any:
        """The training job of the model. Raises UsageError for an unknown model or preset and for an option, or a
        choice, that the model does not have; BadFile, WvError for a state that cannot be read."""
        given = {name: value for name, value in options.items() if value not in (None, ()) and name not in _ASIDE}
        given |= {"inputs": options["inputs"]} if "inputs" in options else {}  # of sentences from Python there are none
        chosen, preset = options.get("model"), options.get("preset")
        path = given.get("continue_")
        before = _state(path, preset) if path is not None else None
        model = chosen or (before.model if before is not None else DEFAULT_MODEL)
        row, meaning = MODELS.find(model), f"--model {model}"
        explicit, kind = tuple(given), row.job_type()
        changes = _preset(row, preset, meaning).changes
        if path is not None and before is not None and row.config is MODELS[before.model].config:
            given |= inherit_options(path, before, row.config, explicit)
        own, config = options_of(kind), row.config.options()
        for name, value in given.items():
            if name not in own:
                raise UsageError(_refuse_option(name, meaning, own))
            choices = own[name].choices
            if value not in choices and value in _options_of_models()[name].choices:
                possible = ", ".join(choices)
                raise UsageError(f"{flag_of(name)} {value} does not exist for {meaning}; choose from {possible}")
        every, found = field_names(kind), {**given, "model": model, "explicit": explicit}
        if "preset" in every:
            found["preset"] = preset or "word2vec"
        if "fixed" in every:
            is_chosen = chosen is not None and "model" in config
            found["fixed"] = (*(name for name in given if name in config), *(["model"] if is_chosen else []))
        known = {name: value for name, value in found.items() if name in every}
        return build(kind, {**row.vocab_defaults, **changes, **known, "argv": options.get("argv", ())})


_SIMILAR = {"tokenizer": "tokenize"}  # options of one model that are taken for those of another
_ASIDE = ("model", "preset", "argv", "explicit")


@functools.cache
def _options_of_models() -> Mapping[str, Option]:
    merged = merge_options(_variants(MODELS))
    for name in ("inputs", "outputs"):  # alone must be given
        merged[name] = merged[name]._replace(default=dataclasses.MISSING)
    return merged


def options_of_model(model: str) -> dict[str, Option]:
    """The options of one model, with its own help, bounds and defaults."""
    return merge_options(_variants({model: MODELS[model]}))


def _variants(rows: Mapping[str, Model]) -> Variants:
    """The options of models by preset or model, with what each changes of their defaults."""
    found: dict[str, tuple[Mapping[str, Option], Mapping[str, Any]]] = {}
    first_with = {id(row.presets): name for name, row in reversed([*rows.items()])}
    for name, row in rows.items():
        if row.presets and name != first_with[id(row.presets)]:
            continue  # the same options, as cbow has those of skipgram
        options = options_of(row.job_type())
        for number, (preset, made) in enumerate((row.presets or {"": Preset({})}).items()):
            called = preset if name == next(iter(rows)) else name if number == 0 else f"{name} {preset}"
            found[called] = (options, {**row.vocab_defaults, **made.changes})
    return found


def merge_options(variants: Variants) -> dict[str, Option]:
    """Options of several jobs as those of one command, where each may be missing. The help is that of the first variant
    with the option; it shows the default of that one, and of the others where they differ. A second variant with the
    same options is named only where it changes something."""
    tables = [options for options, _ in variants.values()]
    first_with = {id(options): variant for variant, (options, _) in reversed(variants.items())}
    merged = {}
    for name in _merge_names(tables):
        found = {variant: options[name] for variant, (options, _) in variants.items() if name in options}
        first = next((each for each in found.values() if each.help or each.positional), None)
        if first is None:
            continue
        defaults = {
            variant: variants[variant][1].get(name, each.default)
            for variant, each in found.items()
            if name in variants[variant][1] or variant in first_with.values()
        }
        merged[name] = first._replace(
            choices=tuple(dict.fromkeys(choice for each in found.values() for choice in each.choices)),
            shown=_show_defaults(first, defaults),
            default=None,
            optional=True,
        )
    return merged


def _merge_names(tables: Sequence[Mapping[str, Option]]) -> list[str]:
    """The names in all, in the order of the first; one that it has not stands before the name it is followed by."""
    names: list[str] = []
    for fields in tables:
        place = len(names)
        for name in reversed([*fields]):
            if name in names:
                place = names.index(name)
            else:
                names.insert(place, name)
    return names


def _show_defaults(option: Option, defaults: Mapping[str, object]) -> str:
    """The first of the defaults, then in parentheses those of other variants where they differ."""
    first, *others = defaults.items()
    own = option.shown or option._replace(default=first[1]).default_text
    differ = ", ".join(f"{variant} {show_default(value)}" for variant, value in others if value != first[1])
    if not differ:
        return own
    return f"{own[:-1]}, {differ})" if own.endswith(")") else f"{own} ({differ})"


def _refuse_option(name: str, meaning: str, own: Container[str]) -> str:
    """The message about an option that the chosen model does not have."""
    models = [model for model, row in MODELS.items() if name in options_of(row.job_type())]
    near = _SIMILAR.get(name)
    meant = f"; did you mean {flag_of(near)}?" if near is not None and near in own else ""
    return f"{flag_of(name)} has no effect with {meaning}; it needs --model {either(models)}{meant}"


def _state(path: str, preset: str | None) -> "StateOptions":
    """What the state says that a run goes on with."""
    if preset is not None:
        message = "--preset has no effect with --continue, which takes the options of the state; leave it out"
        raise UsageError(message)
    return state_of(path, MODELS)


def _preset(row: Model, name: str | None, meaning: str) -> Preset:
    """The preset of a model, its first when none is named. Raises UsageError for one that there is not."""
    if row.presets is None:
        if name is not None:
            raise UsageError(
                f"--preset has no effect with {meaning}, whose defaults are {row.own_defaults}; leave it out"
            )
        return Preset({})
    if name in PRESETS and name not in row.presets:
        choices = ", ".join(row.presets)
        raise UsageError(f"--preset {name} does not exist for {meaning}; choose from {choices}")
    return row.presets.find(name or next(iter(row.presets)))
