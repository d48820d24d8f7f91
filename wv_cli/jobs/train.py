"""Training by options alone, shared by `wv train` and `wv_cli.train`. It knows no command line and prints nothing.

Options have the names they have on the command line, with underscores; one that is None is not given.
"""

import difflib
import os
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, Unpack

from wv_cli.config import either, flag_of, read_hint
from wv_cli.engine.state import StateOptions
from wv_cli.errors import UsageError
from wv_cli.jobs.job import build, option_hints, option_names
from wv_cli.jobs.keywords import GloveOptions, TrainOptions
from wv_cli.jobs.models import DEFAULT_MODEL, MODELS, PRESETS, Model
from wv_cli.jobs.parts.continuation import inherit_options, state_of
from wv_cli.jobs.telling import logged, shown
from wv_cli.models.presets import Preset
from wv_cli.system.arguments import list_texts, real_number, require_type, whole_number
from wv_cli.system.pipes import kept_pipes
from wv_cli.system.synonyms import SYNONYMS, plain
from wv_cli.text.sentences import Sentences, spooled

if TYPE_CHECKING:
    from wv_cli.jobs.job import Job
    from wv_cli.jobs.run import OnTraining
    from wv_cli.system.events import Log

Path = str | os.PathLike[str]
Inputs = Path | Iterable[Path | Iterable[str]]  # files, or sentences as lists of tokens
ModelName = Literal["skipgram", "cbow", "supervised", "nplm", "lbl", "ivlbl", "sent2vec", "doc2vec", "pairs"]


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
    path = _plain(options.get("continue_"))
    before = _state(path, preset) if path is not None else None
    chosen, model = model, model or (before.model if before is not None else DEFAULT_MODEL)
    row, meaning = MODELS.find(model), f"--model {model}"
    chosen_preset = _preset(row, preset, meaning)
    kind = row.job_type()
    given = {name: _plain(value) for name, value in options.items() if value is not None}
    explicit = tuple(given)
    if before is not None and row.config is MODELS[before.model].config:
        given |= inherit_options(path, before, row.config, explicit)
    hints = option_hints(kind)
    choices = {name: each.choices for name, each in row.config.options().items() if each.choices}
    for name, value in given.items():
        if name not in hints:
            raise UsageError(_unknown(name, meaning))
        given[name] = value = _typed(value, name, hints[name])
        if value not in choices.get(name, (value,)):
            possible = ", ".join(choices[name])
            raise UsageError(f"{flag_of(name)} {value} does not exist for {meaning}; choose from {possible}")
    config = {name: value for name, value in given.items() if name in row.config.options()}
    every = option_names(kind, every=True)
    rest = {name: value for name, value in given.items() if name not in config}
    rest |= {"inputs": _paths(inputs, "inputs"), "outputs": _paths(outputs, "output")}
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

    given = {name: _plain(value) for name, value in options.items() if value is not None}
    explicit = tuple(given)
    if path := given.get("continue_"):
        given |= inherit_options(path, state_of(path, (MODEL,)), GloveConfig, explicit)
    hints = option_hints(GloveJob)
    for name in given:
        if name not in hints:
            near = difflib.get_close_matches(name, hints, n=1)
            hint = f"did you mean {near[0]}?" if near else "`wv glove -h` shows the options"
            raise UsageError(f"no such option {name}; {hint}")
    typed = {name: _typed(value, name, hints[name]) for name, value in given.items()}
    files = {"inputs": _paths(inputs, "inputs"), "outputs": _paths(outputs, "output")}
    return build(GloveJob, {**typed, **files, "explicit": explicit})


def train(
    inputs: Inputs | None = None,
    output: Path | Iterable[Path] = (),
    *,
    sentences: Sentences | None = None,
    model: ModelName | None = None,
    preset: str | None = None,
    log: "Log | None" = None,
    on_progress: "OnTraining | None" = None,
    progress: bool = False,
    **options: Unpack[TrainOptions],
) -> dict[str, Any]:
    """Trains a model and writes it, like the command `wv train`. Returns the metadata that is recorded beside it.

    `inputs` and `output` are a file each or several. Instead of files `inputs` may be sentences that are lists of
    tokens; `sentences` may be lists of tokens or lines as str. Both are any iterable, which is read once.
    `log(message, **facts)` is told what happens, and so is the logger "wv_cli"; `on_progress(progress)` how far it is,
    which a bar shows with `progress=True`. `continue_` is --continue, a word that Python has for itself. Sizes
    (`memory`) are in bytes, times (`max_time`) in seconds.

    Raises TypeError for an argument of another type, UsageError, WvError and its kin for what cannot be done;
    Interrupted and TimedOut for a run that a signal or `max_time` stopped, which `resume=True` continues.
    """
    made = partial(training_job, model=model, preset=preset)
    if inputs is None and sentences is None:
        message = "train: expected inputs or sentences, found neither"
        raise TypeError(message)
    return _run(made, inputs, sentences, output, dict(options), log, on_progress, progress=progress)


def train_glove(
    inputs: Inputs | None = None,
    output: Path | Iterable[Path] = (),
    *,
    sentences: Sentences | None = None,
    log: "Log | None" = None,
    on_progress: "OnTraining | None" = None,
    progress: bool = False,
    **options: Unpack[GloveOptions],
) -> dict[str, Any]:
    """Trains GloVe vectors and writes them, like the command `wv glove`. All else is as for train; `counts`, files of
    co-occurrences, may stand instead of inputs."""
    return _run(glove_job, inputs, sentences, output, dict(options), log, on_progress, progress=progress)


def _run(
    make: "Callable[..., Job]",
    inputs: Inputs | None,
    sentences: Sentences | None,
    output: Path | Iterable[Path],
    options: dict[str, Any],
    log: "Log | None",
    on_progress: "OnTraining | None",
    *,
    progress: bool,
) -> dict[str, Any]:
    """Runs the job that `make` makes of paths, outputs and options. Returns its metadata."""
    for name, function in {"log": log, "on_progress": on_progress}.items():
        if not (function is None or callable(function)):
            raise TypeError(f"{name}: expected a function, found {type(function).__name__}")
    paths, spoken = _told_apart(inputs, sentences)
    with kept_pipes(), ExitStack() as stack:
        outputs = _paths(output, "output")
        if spoken is not None:
            make((), outputs, **options)  # refuses what it can before the sentences are read
            options |= {"force_text": _as_text(options)}
            paths = (stack.enter_context(spooled(spoken, outputs[0] if outputs else None)),)
        made = make(paths, outputs, **options)
        outcome, metadata = made.run(logged(log), stack.enter_context(shown(on_progress, progress=progress)))
    if outcome is not None and not outcome.finished:
        # What is saved is the checkpoint, or in a search for options its log.
        raise outcome.ended_early("go on with resume=True" if made.checkpoint_path else "nothing was saved")
    return metadata


def _told_apart(inputs: Any, sentences: Any) -> tuple[Any, Any]:
    """(paths, sentences), one of which is None: `inputs` whose first item is no path are sentences."""
    if inputs is not None and sentences is not None:
        message = "expected inputs or sentences, found both"
        raise TypeError(message)
    if inputs is None:
        return (), sentences
    if not isinstance(inputs, Iterable) or isinstance(inputs, str | bytes):
        return inputs, None
    each = iter(inputs)
    first = list(islice(each, 1))
    whole = chain(first, each)
    are_sentences = bool(first) and isinstance(first[0], Iterable) and not isinstance(first[0], str | bytes)
    return (None, whole) if are_sentences else (whole, None)


def _as_text(options: Mapping[str, Any]) -> bool:
    """True. Raises UsageError for options about records, which sentences are not."""
    for name in ("field", "no_header", "bad_records", "force_text"):
        if options.get(name) is not None:
            raise UsageError(f"{flag_of(name)} has no effect on sentences; leave it out")
    return True


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


def _typed(value: Any, name: str, hint: Any) -> Any:
    """The value of an option; several in any iterable become a tuple. Raises TypeError for one of another type."""
    kind, _, many, _ = read_hint(hint)
    if many:
        return tuple(list_texts(value, name, "value")) if kind is str else tuple(value)
    if kind is int:
        return whole_number(value, name)
    if kind is float:
        return real_number(value, name)
    if kind in (bool, str):
        require_type(value, kind, name, "True or False" if kind is bool else "text as str")
    return value


def _plain(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _paths(given: Path | Iterable[Path], name: str) -> tuple[str, ...]:
    if isinstance(given, os.PathLike):
        return (os.fspath(given),)
    several = given if given is None or isinstance(given, str | int | bytes) else map(_plain, given)
    return tuple(list_texts(several, name, "path"))
