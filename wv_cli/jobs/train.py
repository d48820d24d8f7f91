"""Training by options alone, shared by `wv train` and `wv_cli.train`. It knows no command line and prints nothing.

Options have the names they have on the command line, with underscores; one that is None is not given.
"""

import difflib
import os
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any, Literal

from wv_cli.config import either, flag_of, read_hint, words_for_numbers
from wv_cli.engine.state import StateOptions
from wv_cli.errors import UsageError
from wv_cli.jobs.job import build, option_hints, option_names
from wv_cli.jobs.models import DEFAULT_MODEL, MODELS, PRESETS, Model
from wv_cli.jobs.parts.continuation import inherit_options, state_of
from wv_cli.models.presets import Preset
from wv_cli.system.arguments import list_texts, real_number, require_type, whole_number
from wv_cli.system.synonyms import SYNONYMS, plain

if TYPE_CHECKING:
    from wv_cli.jobs.job import Job

Path = str | os.PathLike[str]
ModelName = Literal["skipgram", "cbow", "supervised", "nplm", "lbl", "ivlbl", "doc2vec", "pairs"]


def training_job(
    inputs: Path | Iterable[Path],
    outputs: Path | Iterable[Path],
    model: str | None = None,
    preset: str | None = None,
    *,
    argv: tuple[str, ...] = (),
    **options: Any,
) -> "Job":
    """The training job of `model` (default: skipgram, or the model of the state) on `inputs`, writing `outputs`.
    `argv` is recorded beside them.

    Raises UsageError for an unknown model or preset and for an option, or a choice, that the model does not have;
    whether the values can be is for the job to say. Raises BadFile, WvError for a state that cannot be read.
    """
    path = plain_value(options.get("continue_"))
    before = _state(path, preset) if path is not None else None
    chosen, model = model, model or (before.model if before is not None else DEFAULT_MODEL)
    row, meaning = MODELS.find(model), f"--model {model}"
    chosen_preset = _preset(row, preset, meaning)
    kind = row.job_type()
    given = {name: plain_value(value) for name, value in options.items() if value is not None}
    explicit = tuple(given)
    if before is not None and row.config is MODELS[before.model].config:
        given |= inherit_options(path, before, row.config, explicit)
    hints = option_hints(kind)
    choices = {name: each.choices for name, each in row.config.options().items() if each.choices}
    for name, value in given.items():
        if name not in hints:
            raise UsageError(_unknown(name, meaning))
        given[name] = value = typed_value(value, name, hints[name])
        if value not in choices.get(name, (value,)):
            possible = ", ".join(choices[name])
            raise UsageError(f"{flag_of(name)} {value} does not exist for {meaning}; choose from {possible}")
    config = {name: value for name, value in given.items() if name in row.config.options()}
    every = option_names(kind, every=True)
    rest = {name: value for name, value in given.items() if name not in config}
    rest |= {"inputs": paths_of(inputs, "inputs"), "outputs": paths_of(outputs, "output")}
    rest |= {"argv": argv, "explicit": explicit}
    if "preset" in every:
        rest["preset"] = preset or "word2vec"
    if "fixed" in every:
        rest["fixed"] = (*config, *(["model"] if chosen is not None and "model" in row.config.options() else []))
    config = {**chosen_preset.changes, **config}
    if "model" in row.config.options():
        config["model"] = model
    return build(kind, {**row.vocab_defaults, **rest}, config=row.config(**config))


def glove_job(inputs: Path | Iterable[Path], outputs: Path | Iterable[Path], **options: Any) -> "Job":
    """The job of `wv glove` on `inputs`, writing `outputs`. Raises as training_job."""
    from wv_cli.glove.config import MODEL, GloveConfig
    from wv_cli.jobs.glove import GloveJob

    given = {name: plain_value(value) for name, value in options.items() if value is not None}
    explicit = tuple(given)
    if path := given.get("continue_"):
        given |= inherit_options(path, state_of(path, (MODEL,)), GloveConfig, explicit)
    hints = option_hints(GloveJob)
    for name in given:
        if name not in hints:
            near = difflib.get_close_matches(name, hints, n=1)
            hint = f"did you mean {near[0]}?" if near else "`wv glove -h` shows the options"
            raise UsageError(f"no such option {name}; {hint}")
    typed = {name: typed_value(value, name, hints[name]) for name, value in given.items()}
    files = {"inputs": paths_of(inputs, "inputs"), "outputs": paths_of(outputs, "output")}
    return build(GloveJob, {**typed, **files, "explicit": explicit})


def _unknown(name: str, meaning: str) -> str:
    """The message about an option that the chosen model does not have, or no model has."""
    names = {model: option_names(row.job_type()) for model, row in MODELS.items()}
    models = [model for model, own in names.items() if name in own]
    if models:
        return f"{flag_of(name)} has no effect with {meaning}; it needs --model {either(models)}"
    known = {"model", "preset"}.union(*names.values())
    near = [*_meant(name, known), *difflib.get_close_matches(name, known, n=1)]
    return f"no such option {name}; " + (
        f"did you mean {near[0]}?" if near else "`wv train --help-all` shows the options"
    )


def _meant(name: str, known: Container[str]) -> list[str]:
    """The options of `known`, with their values, that other programs call `name`."""
    ways = [way.split(maxsplit=1) for way in SYNONYMS.get(plain(name), ()) if way.startswith("--")]
    named = [(flag.removeprefix("--").replace("-", "_"), value) for flag, *value in ways]
    return [
        option + "".join("=" + " or ".join(map(repr, each.split(" or "))) for each in value)
        for option, value in named
        if option in known
    ]


def _state(path: str, preset: str | None) -> StateOptions:
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


def typed_value(value: Any, name: str, hint: Any) -> Any:
    """The value of an option; several in any iterable become a tuple. Raises TypeError for one of another type."""
    kind, _, many, _ = read_hint(hint)
    if value in words_for_numbers(hint):
        return value
    if many:
        several = value if isinstance(value, Iterable) else (value,)
        if kind in (int, float):
            return tuple(typed_value(each, name, kind) for each in several)
        return tuple(list_texts(value, name, "value")) if kind is str else tuple(several)
    if kind is int:
        return whole_number(value, name)
    if kind is float:
        return real_number(value, name)
    if kind in (bool, str):
        require_type(value, kind, name, "True or False" if kind is bool else "text as str")
    return value


def plain_value(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def paths_of(given: Path | Iterable[Path], name: str) -> tuple[str, ...]:
    """The paths of one file or of several. Raises TypeError that names the argument for what is no path."""
    if isinstance(given, os.PathLike):
        return (os.fspath(given),)
    several = given if given is None or isinstance(given, str | int | bytes) else map(plain_value, given)
    return tuple(list_texts(several, name, "path"))
