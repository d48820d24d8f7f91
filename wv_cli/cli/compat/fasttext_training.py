"""fastText's commands that train: supervised, skipgram, cbow."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.cli.compat import abort
from wv_cli.cli.compat.fasttext_args import Args
from wv_cli.cli.compat.fasttext_progress import Telling
from wv_cli.commands.fasttext_jobs import classifier_job, word_vectors_job
from wv_cli.errors import UsageError, WvError

if TYPE_CHECKING:
    from wv_cli.cli.compat.fasttext_search import Searching
    from wv_cli.commands.job import Job


def supervised(words: Sequence[str]) -> int:
    args = _parse("supervised", words)
    searching = _search_options(args)
    paths = _require_files(args, ".ftz" if searching is not None and searching.size else ".bin")
    search = searching.options() if searching is not None else {}
    return _train(args, classifier_job(args, search, outputs=paths), searching)


def skipgram(words: Sequence[str]) -> int:
    return _words("skipgram", words)


def cbow(words: Sequence[str]) -> int:
    return _words("cbow", words)


def _words(model: str, words: Sequence[str]) -> int:
    args = _parse(model, words)
    if args.autotune_validation:
        raise UsageError(
            f"-autotune-validation has no effect with {model}: word vectors have no labels to score; leave it out"
        )
    return _train(args, word_vectors_job(args, model, outputs=_require_files(args, ".bin")), None)


def _parse(command: str, words: Sequence[str]) -> Args:
    args = Args.parse(command, words)
    args.require_rows()
    return args


def _search_options(args: Args) -> "Searching | None":
    if not args.autotune_validation:
        return None
    from wv_cli.cli.compat.fasttext_search import Searching

    return Searching(args)


def _require_files(args: Args, ending: str) -> tuple[str, ...]:
    """The files to be written. Aborts as fastText where one cannot be written or read."""
    from wv_cli.io.output import check_writable

    model = args.output + ending
    try:
        check_writable(model)
    except WvError:
        abort(f"{model} cannot be opened for saving.")
    if args.autotune_validation and not Path(args.autotune_validation).exists():
        abort("Validation file cannot be opened!")
    if args.input == "-":
        abort("Cannot use stdin for training!")
    if not Path(args.input).exists():
        abort(f"{args.input} cannot be opened for training!")
    return (model, args.output + ".vec", *([args.output + ".output"] if args.saveOutput else []))


def _train(args: Args, job: "Job", searching: "Searching | None") -> int:
    from wv_cli.models.training.trainer import Diverged
    from wv_cli.text.vocab import EmptyVocabulary

    telling = Telling(args.verbose, args.thread, args.threads)
    text: dict[str, Any] = {}

    def on_event(message: str, **facts: Any) -> None:
        if "labels" in facts:
            text.update(facts)
        if searching is not None:
            searching.on_event(facts)
        # A search reads the text before it begins; fastText tells of it when the best options are trained with.
        if ("labels" if searching is None else "best") in facts:
            telling.read(text["tokens"], text["vocabulary"], text["labels"])
            try:
                args.require_vectors()
            except UsageError as error:
                abort(str(error))

    try:
        with contextlib.nullcontext() if searching is None else searching.translate_errors():
            outcome, _ = job.run(on_event, telling.show_progress)
    except EmptyVocabulary:
        telling.read(0, 0, 0)
        abort("Empty vocabulary. Try a smaller -minCount value.")
    except WvError as error:
        if isinstance(error.__cause__, Diverged):
            abort("Encountered NaN.")
        raise
    if outcome is not None and not outcome.is_finished:
        raise outcome.ended_early("nothing was saved")
    telling.finish_bar()
    return 0
