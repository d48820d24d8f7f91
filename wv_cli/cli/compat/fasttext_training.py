"""fastText's commands that train: supervised, skipgram, cbow."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.cli.compat import abort
from wv_cli.cli.compat.fasttext_args import Args
from wv_cli.cli.compat.fasttext_progress import Telling
from wv_cli.errors import UsageError, WvError

if TYPE_CHECKING:
    from wv_cli.cli.compat.fasttext_search import Searching
    from wv_cli.commands.job import Job

_LOSSES = {"one-vs-all": "ova"}  # all others have our names


def supervised(words: Sequence[str]) -> int:
    args = _parse("supervised", words)
    searching = _search_options(args)
    paths = _require_files(args, ".ftz" if searching is not None and searching.size else ".bin")
    return _train(args, _classifier(args, paths, searching), searching)


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
    return _train(args, _word_vectors(args, model, _require_files(args, ".bin")), None)


def _parse(command: str, words: Sequence[str]) -> Args:
    args = Args.parse(command, words)
    if args.loss == "ns" and args.neg < 1:
        raise UsageError(f"-neg {args.neg}: negative sampling needs negatives; give more, or another -loss")
    if args.bucket < 1 and (args.maxn > 0 or args.wordNgrams > 1):
        raise UsageError("-bucket 0: there is no row for n-grams; give more, or -maxn 0 and -wordNgrams 1")
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


def _threads(args: Args) -> int:
    from wv_cli.io.host import processors

    return max(1, min(args.thread, processors()))


def _options(args: Args) -> dict[str, Any]:
    """What the configs of classifiers and of word vectors have in common. Of n-grams none has less than a letter."""
    return {
        "loss": _LOSSES.get(args.loss, args.loss),
        "dim": args.dim,
        "lr": args.lr or 1.0,
        "epochs": args.epoch if args.lr else 0,  # what learns at rate 0 learns nothing
        "minn": max(args.minn, 1) if args.maxn else args.minn,
        "maxn": args.maxn,
        "buckets": max(args.bucket, 1),
        "seed": args.seed,
        "threads": _threads(args),
        **({"negative": args.neg} if args.loss == "ns" else {}),
    }


def _job_options(args: Args, paths: tuple[str, ...]) -> dict[str, Any]:
    """The same of the jobs."""
    return {
        "inputs": (args.input,),
        "outputs": paths,
        "min_count": max(args.minCount, 1),  # no word occurs less than once
        "keep_words": True,
        "fasttext_files": True,
        "force_text": True,
        "resumable": False,
        "meta": False,
    }


def _classifier(args: Args, paths: tuple[str, ...], searching: "Searching | None") -> "Job":
    from wv_cli.commands.job import build
    from wv_cli.commands.supervised import SupervisedJob
    from wv_cli.models.config import SupervisedConfig

    config = SupervisedConfig(
        word_ngrams=max(args.wordNgrams, 1),
        min_count_label=args.minCountLabel,
        label_prefix=args.label,
        **_options(args),
    )
    search = {**searching.options(), "logged": False} if searching is not None else {}
    options = {"pretrained": _vectors(args), **search, **_job_options(args, paths)}
    return build(SupervisedJob, options, config=config)


def _word_vectors(args: Args, model: str, paths: tuple[str, ...]) -> "Job":
    from wv_cli.commands.job import build
    from wv_cli.commands.word2vec import Word2vecJob
    from wv_cli.models.config import Word2vecConfig
    from wv_cli.models.presets import WORD_PRESETS
    from wv_cli.text.config import Marked

    asked = {"model": model, "window": args.ws, "sample": args.t, **_options(args)}
    marked = Marked(args.label, args.minCountLabel)
    options = {"init": _vectors(args), "marked": marked, **_job_options(args, paths)}
    config = Word2vecConfig(**{**WORD_PRESETS["fasttext"].changes, **asked})
    return build(Word2vecJob, options, config=config)


def _vectors(args: Args) -> str | None:
    """Those that are not there are told of once the text is read, as in fastText."""
    return args.pretrainedVectors if Path(args.pretrainedVectors).is_file() else None


def _require_vectors(args: Args) -> None:
    """Aborts as fastText when -pretrainedVectors is not there or does not fit."""
    path = args.pretrainedVectors
    if not path:
        return
    from wv_cli.vectors import formats

    if _vectors(args) is None:
        abort(f"{path} cannot be opened for loading!")
    dim = formats.load(path, limit=1).dim
    if dim != args.dim:
        abort(f"Dimension of pretrained vectors ({dim}) does not match dimension ({args.dim})!")


def _train(args: Args, job: "Job", searching: "Searching | None") -> int:
    from wv_cli.models.training.trainer import Diverged
    from wv_cli.text.vocab import EmptyVocabulary

    telling = Telling(args.verbose, args.thread, _threads(args))
    text: dict[str, Any] = {}

    def on_event(message: str, **facts: Any) -> None:
        if "labels" in facts:
            text.update(facts)
        if searching is not None:
            searching.on_event(facts)
        # A search reads the text before it begins; fastText tells of it when the best options are trained with.
        if ("labels" if searching is None else "best") in facts:
            telling.read(text["tokens"], text["vocabulary"], text["labels"])
            _require_vectors(args)

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
