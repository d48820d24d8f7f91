"""`wv_cli.train` and `wv_cli.train_glove`: the training commands as calls of Python. They print nothing but a bar."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Unpack

from wv_cli.config import flag_of
from wv_cli.errors import UsageError
from wv_cli.jobs.keywords import GloveOptions, TrainOptions
from wv_cli.jobs.telling import require_functions, run_job
from wv_cli.jobs.train import ModelName, Path, glove_job, paths_of, training_job
from wv_cli.system.pipes import kept_pipes
from wv_cli.text.sentences import Sentences, spool_sentences

if TYPE_CHECKING:
    from wv_cli.engine.progress import Progress
    from wv_cli.jobs.job import Job
    from wv_cli.jobs.run import OnTraining
    from wv_cli.system.events import Log

Inputs = Path | Iterable[Path | Iterable[str]]  # files, or sentences as lists of tokens
_BAR = "{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"


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
    require_functions(log=log, on_progress=on_progress)
    paths, spoken = _told_apart(inputs, sentences)
    with kept_pipes(), ExitStack() as stack:
        outputs = paths_of(output, "output")
        if spoken is not None:
            make((), outputs, **options)  # refuses what it can before the sentences are read
            options |= {"force_text": _as_text(options)}
            paths = (stack.enter_context(spool_sentences(spoken, outputs[0] if outputs else None)),)
        job = make(paths, outputs, **options)
        return run_job(job, log, stack.enter_context(progress_bar(on_progress, progress=progress)))


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
    for name in ("field", "no_header", "tsv_quotes", "bad_records", "force_text"):
        if options.get(name) is not None:
            raise UsageError(f"{flag_of(name)} has no effect on sentences; leave it out")
    return True


@contextlib.contextmanager
def progress_bar(on_progress: "OnTraining | None", *, progress: bool) -> Iterator["OnTraining | None"]:
    """`on_progress`, which with `progress` moves a bar of tqdm, too; in a notebook its widget."""
    if not progress:
        yield on_progress
        return
    from tqdm.auto import tqdm

    with tqdm(total=1.0, bar_format=_BAR) as bar:

        def tell(moment: "Progress") -> None:
            bar.update(moment.fraction - bar.n)
            facts: dict[str, Any] = {"epoch": f"{moment.epoch}/{moment.epochs}", "words/s": f"{moment.rate:,.0f}"}
            if moment.loss is not None:
                facts["loss"] = f"{moment.loss:.3f}"
            bar.set_postfix(facts)
            if on_progress is not None:
                on_progress(moment)

        yield tell
