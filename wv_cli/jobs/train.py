"""Training by options alone: what `wv train` and `wv_cli.train` share. Knows no command line and prints nothing.

Options have the names they have on the command line, with underscores; one that is None is not given.
"""

import dataclasses
import os
from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from wv_cli.config import flag_of
from wv_cli.engine.state import StateOptions
from wv_cli.errors import UsageError
from wv_cli.jobs import DEFAULT_MODEL, MODELS, PRESETS, Model
from wv_cli.jobs.growing import continued, state_of
from wv_cli.jobs.session import FIELDS, session_fields
from wv_cli.models.presets import Preset
from wv_cli.text.config import PhraseLearning, VocabConfig

if TYPE_CHECKING:
    from wv_cli.jobs.phrases import PhrasesSession
    from wv_cli.jobs.session import Observe
    from wv_cli.jobs.training_session import TrainingConfig
    from wv_cli.system.events import Log as Say

Path = str | os.PathLike[str]
Options = dict[str, Any]

_OPTION = {field: option for option, field in FIELDS.items()}
# Fields of sessions that are no options: facts about a run, and what the originals' command lines ask for.
_NOT_OPTIONS = {
    "inputs",
    "outputs",
    "config",
    "vocab_config",
    "phrase_learning",
    "given",
    "named",
    "argv",
    "resumable",
} | {
    "line_ends",
    "fasttext_files",
    "marked",
    "preset",
}


def session(
    inputs: Path | Iterable[Path],
    outputs: Path | Iterable[Path],
    model: str | None = None,
    preset: str | None = None,
    *,
    argv: tuple[str, ...] = (),
    **options: Any,
) -> "PhrasesSession":
    """The session that trains `model` (skipgram, or the one it goes on with) on `inputs` and writes `outputs`.
    `argv` is recorded beside them.

    Raises UsageError for an unknown model or preset and for an option, or a choice, that the model does not have;
    whether the values can be is for the session to say. Raises BadFile, WvError for a state that cannot be read.
    """
    path = _plain(options.get("continue_"))
    before = _state(path, preset) if path is not None else None
    chosen, model = model, model or (before.model if before is not None else DEFAULT_MODEL)
    row, meaning = MODELS.find(model), f"--model {model}"
    chosen_preset = _preset(row, preset, meaning)
    kind = row.session_type()
    names = {field.name for field in dataclasses.fields(kind)}
    named = tuple(name for name, value in options.items() if value is not None)
    if before is not None and row.config is MODELS[before.model].config:
        options = {**options, **continued(path, before, row.config, named)}
    own = {_OPTION.get(name, name) for name in names - _NOT_OPTIONS}
    homes: list[Container[str]] = [row.config.options(), VocabConfig.options(), PhraseLearning.options(), own]
    choices = {name: each.choices for name, each in row.config.options().items() if each.choices}
    config, vocab, learning, rest = _fitting(options, homes, choices, meaning)
    if "preset" in names:
        rest["preset"] = preset or "word2vec"
    if "given" in names:
        rest["given"] = (*config, *(["model"] if chosen is not None and "model" in row.config.options() else []))
    config = {**chosen_preset.changes, **config}
    if "model" in row.config.options():
        config["model"] = model
    return kind(
        inputs=_paths(inputs),
        outputs=_paths(outputs),
        config=cast("TrainingConfig", row.config(**config)),
        vocab_config=VocabConfig(**{**row.vocab_defaults, **vocab}),
        phrase_learning=PhraseLearning(**learning),
        argv=argv,
        named=named,
        **session_fields(rest),
    )


def train(
    inputs: Path | Iterable[Path],
    output: Path | Iterable[Path],
    *,
    model: str | None = None,
    preset: str | None = None,
    say: "Say | None" = None,
    observe: "Observe | None" = None,
    **options: Any,
) -> dict[str, Any]:
    """Trains a model and writes it, as `wv train` does. Returns the facts that are recorded beside it.

    `inputs` and `output` are a file each or several. `say(message, **facts)` is told what happens, `observe(progress)`
    how far it is. `continue_` is --continue, a word that Python has for itself. Sizes (`memory`) are in bytes, times
    (`max_time`) in seconds.

    Raises UsageError, WvError and its kin for what cannot be done; Interrupted and TimedOut for a run that a signal or
    `max_time` stopped, which `resume=True` continues.
    """
    made = session(inputs, output, model, preset, **options)
    outcome, facts = made.run(say or _silent, observe)
    if outcome is not None and not outcome.finished:
        # What is saved is the checkpoint, or in a search for options its log.
        raise outcome.ended_early("go on with resume=True" if made.checkpoint_path else "nothing was saved")
    return facts


def _state(path: str, preset: str | None) -> StateOptions:
    """What the state says that a run goes on with."""
    if preset is not None:
        message = "--preset has no meaning with --continue: the options are the state's"
        raise UsageError(message)
    return state_of(path, MODELS)


def _preset(row: Model, name: str | None, meaning: str) -> Preset:
    """The preset of a model, its first when none is named. Raises UsageError for one that there is not."""
    if row.presets is None:
        if name is not None:
            raise UsageError(f"--preset has no meaning for {meaning}; its defaults are {row.own_defaults}")
        return Preset({})
    if name in PRESETS and name not in row.presets:
        choices = ", ".join(row.presets)
        raise UsageError(f"--preset {name} has no meaning for {meaning}; choose from {choices}")
    return row.presets.find(name or next(iter(row.presets)))


def _fitting(
    options: Options, homes: Sequence[Container[str]], choices: dict[str, tuple[str, ...]], meaning: str
) -> list[Options]:
    """For each of `homes`, which are names, the options given that it has. Raises UsageError for one that has none and
    for a value that is none of its `choices`; `meaning` names what the user chose instead: "--model supervised"."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        flag = flag_of(name)
        if not any(name in home for home in homes):
            raise UsageError(f"{flag} has no meaning for {meaning}")
        if value not in choices.get(name, (value,)):
            raise UsageError(f"{flag} {value} has no meaning for {meaning}; choose from {', '.join(choices[name])}")
    return [{name: _plain(value) for name, value in given.items() if name in home} for home in homes]


def _plain(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _paths(given: Path | Iterable[Path]) -> tuple[str, ...]:
    several = (given,) if isinstance(given, str | os.PathLike) else given
    return tuple(os.fspath(path) for path in several)


def _silent(message: str, **facts: object) -> None:
    """Tells nobody."""
