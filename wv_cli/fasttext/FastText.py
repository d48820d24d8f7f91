"""`fasttext.FastText`: the functions of fastText's module, and the class of its models."""

from enum import Enum
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NoReturn

from wv_cli.commands.fasttext_jobs import (
    SUPERVISED,
    TrainingFlags,
    classifier_job,
    model_size,
    search_options,
    word_vectors_job,
)
from wv_cli.commands.telling import run_job
from wv_cli.fasttext.mistakes import FastTextError, as_fasttext
from wv_cli.fasttext.model import _FastText
from wv_cli.io.host import processors
from wv_cli.vectors.fasttext import FastTextModel
from wv_cli.words import decode

EOS, BOW, EOW = "</s>", "<", ">"
_BLOG = "https://fasttext.cc/blog/2019/06/25/blog-post.html#2-you-were-using-the-unofficial-fasttext-module"


class loss_name(Enum):
    """Output layers, as `model.loss` has them."""

    hs, ns, softmax, ova = 1, 2, 3, 4


class model_name(Enum):
    """Kinds of models."""

    cbow, skipgram, supervised = 1, 2, 3


unsupervised_default: dict[str, Any] = {
    "model": "skipgram",
    "lr": 0.05,
    "dim": 100,
    "ws": 5,
    "epoch": 5,
    "minCount": 5,
    "minCountLabel": 0,
    "minn": 3,
    "maxn": 6,
    "neg": 5,
    "wordNgrams": 1,
    "loss": "ns",
    "bucket": 2000000,
    "thread": max(1, processors() - 1),
    "lrUpdateRate": 100,
    "t": 1e-4,
    "label": "__label__",
    "verbose": 2,
    "pretrainedVectors": "",
    "seed": 0,
    "autotuneValidationFile": "",
    "autotuneMetric": "f1",
    "autotunePredictions": 1,
    "autotuneDuration": 300,
    "autotuneModelSize": "",
}
_OPTIONS = [name for name in unsupervised_default if name != "model"]
_SUPERVISED = ["input", *_OPTIONS]  # in the order of arguments without a name
_UNSUPERVISED = ["input", "model", *_OPTIONS[: _OPTIONS.index("seed")]]
_OLDER_NAMES = {
    "min_count": "minCount",
    "word_ngrams": "wordNgrams",
    "lr_update_rate": "lrUpdateRate",
    "label_prefix": "label",
    "pretrained_vectors": "pretrainedVectors",
}
_FLAG_OF = {
    "autotuneValidationFile": "autotune_validation",
    "autotuneMetric": "autotune_metric",
    "autotunePredictions": "autotune_predictions",
    "autotuneDuration": "autotune_duration",
    "autotuneModelSize": "autotune_modelsize",
}
# What a search may change: the name here and that of the config.
_FOUND = {"lr": "lr", "dim": "dim", "epoch": "epochs", "minn": "minn", "maxn": "maxn", "wordNgrams": "word_ngrams"}


def read_args(
    arg_list: Any, arg_dict: dict[str, Any], arg_names: list[str], default_values: dict[str, Any]
) -> tuple[dict[str, Any], set[str]]:
    """(arguments with their defaults, the names of those that are given). Raises TypeError for an argument that is
    unknown or given twice."""
    given: dict[str, Any] = {}
    for name, value in [*zip(arg_names, arg_list, strict=False), *arg_dict.items()]:
        name = _OLDER_NAMES.get(name, name)
        if name not in arg_names:
            raise TypeError(f"unexpected keyword argument '{name}'")
        if name in given:
            raise TypeError(f"multiple values for argument '{name}'")
        given[name] = value
    return {**default_values, **given}, set(given)


def train_supervised(*kargs: Any, **kwargs: Any) -> _FastText:
    """A classifier, trained on the labeled lines of the file `input`. With `autotuneValidationFile` options that are
    not given are searched for. Raises ValueError, and RuntimeError for a training that diverges."""
    defaults = {**unsupervised_default, **SUPERVISED, "model": "supervised"}
    return _train(*read_args(kargs, kwargs, _SUPERVISED, defaults))


def train_unsupervised(*kargs: Any, **kwargs: Any) -> _FastText:
    """Word vectors, trained on the file `input` by `model`, skipgram or cbow. Raises as train_supervised."""
    return _train(*read_args(kargs, kwargs, _UNSUPERVISED, unsupervised_default))


def _train(args: dict[str, Any], given: set[str]) -> _FastText:
    kind, loss = args.pop("model"), args["loss"]
    if kind not in model_name.__members__:
        raise ValueError("Unrecognized model name")
    if loss not in loss_name.__members__:
        raise ValueError("Unrecognized loss name")
    if "input" not in args:
        raise TypeError("missing argument 'input'")
    args |= {"input": fspath(args["input"]), "autotuneModelSize": str(args["autotuneModelSize"])}
    if args["wordNgrams"] <= 1 and args["maxn"] == 0:
        args["bucket"] = 0
    flags = TrainingFlags(**{_FLAG_OF.get(name, name): value for name, value in args.items()})
    _require_files(flags)
    trained: list[FastTextModel] = []
    with as_fasttext():
        flags.require_rows()
        flags.require_vectors()
        if kind != "supervised":
            job = word_vectors_job(flags, kind, outputs=(), on_model=trained.append)
        else:
            size = model_size(flags.autotune_modelsize)
            search = search_options(flags, given, size) if flags.autotune_validation else {}
            job = classifier_job(flags, search, outputs=(), on_model=trained.append)
        metadata = run_job(job, None)
    config: Any = metadata["config"]
    found = {name: config[ours] for name, ours in _FOUND.items()} if flags.autotune_validation else {}
    return _FastText(args=_Trained({**args, **found, "loss": loss_name[loss]}, trained[0]))


def _require_files(flags: TrainingFlags) -> None:
    if flags.input == "-":
        raise FastTextError("Cannot use stdin for training!")
    if flags.autotune_validation and not Path(flags.autotune_validation).exists():
        raise FastTextError("Validation file cannot be opened!")
    if not Path(flags.input).exists():
        raise FastTextError(f"{flags.input} cannot be opened for training!")


class _Trained:
    """A model that was just trained, and its arguments as attributes."""

    def __init__(self, args: dict[str, Any], model: FastTextModel) -> None:
        vars(self).update(args)
        self.trained = model


def tokenize(text: str) -> list[str]:
    """The words of a text; every line end is the word `</s>`."""
    return [decode(word) for word in _FastText.tokens(text)]


def load_model(path: str | PathLike[str]) -> _FastText:
    """The model of a file, .bin or .ftz. Raises ValueError."""
    return _FastText(model_path=path)


def _refuse_old_name(name: str, step: str) -> NoReturn:
    raise Exception(
        f"`{name}` is not supported any more. Please use {step}. For more information please refer to {_BLOG}"
    )


def cbow(*kargs: Any, **kwargs: Any) -> NoReturn:
    """Raises Exception: the function has another name."""
    _refuse_old_name("cbow", "`train_unsupervised` with model=`cbow`")


def skipgram(*kargs: Any, **kwargs: Any) -> NoReturn:
    """Raises Exception: the function has another name."""
    _refuse_old_name("skipgram", "`train_unsupervised` with model=`skipgram`")


def supervised(*kargs: Any, **kwargs: Any) -> NoReturn:
    """Raises Exception: the function has another name."""
    _refuse_old_name("supervised", "`train_supervised`")
