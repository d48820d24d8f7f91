"""fastText's trainings as jobs: its options by its own names, for its command line and for its Python module."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.errors import UsageError

if TYPE_CHECKING:
    from wv_cli.commands.job import Job

_UNITS = {"": 1, "k": 1000, "K": 1000, "m": 10**6, "M": 10**6, "g": 10**9, "G": 10**9}
_LOSSES = {"one-vs-all": "ova"}  # all others have our names
_LEAST_SECONDS = 1e-9
# Options that are searched for unless they are given -> our names, if the search can leave them alone.
SEARCHED = {
    "bucket": "buckets",
    "dim": "dim",
    "dsub": None,
    "epoch": "epochs",
    "loss": "loss",
    "lr": "lr",
    "maxn": "maxn",
    "minn": "minn",
    "wordNgrams": "word_ngrams",
}


@dataclass
class TrainingFlags:
    """fastText's options, and the defaults of skipgram, cbow and quantize."""

    input: str = ""
    output: str = ""
    verbose: int = 2
    minCount: int = 5
    minCountLabel: int = 0
    wordNgrams: int = 1
    bucket: int = 2_000_000
    minn: int = 3
    maxn: int = 6
    t: float = 1e-4
    label: str = "__label__"
    lr: float = 0.05
    lrUpdateRate: int = 100
    dim: int = 100
    ws: int = 5
    epoch: int = 5
    neg: int = 5
    loss: str = "ns"
    thread: int = 12
    pretrainedVectors: str = ""
    saveOutput: bool = False
    seed: int = 0
    autotune_validation: str = ""
    autotune_metric: str = "f1"
    autotune_predictions: int = 1
    autotune_duration: int = 300
    autotune_modelsize: str = ""
    cutoff: int = 0
    retrain: bool = False
    qnorm: bool = False
    qout: bool = False
    dsub: int = 2

    def require_rows(self) -> None:
        """Raises UsageError for an output layer or for n-grams that would have no row."""
        if self.loss == "ns" and self.neg < 1:
            raise UsageError(f"-neg {self.neg}: negative sampling needs negatives; give more, or another -loss")
        if self.bucket < 1 and (self.maxn > 0 or self.wordNgrams > 1):
            raise UsageError("-bucket 0: there is no row for n-grams; give more, or -maxn 0 and -wordNgrams 1")

    @property
    def threads(self) -> int:
        """Threads that train: no more than there are processors."""
        from wv_cli.io.host import processors

        return max(1, min(self.thread, processors()))

    @property
    def vectors(self) -> str | None:
        """The file of the pretrained vectors, if it is there."""
        return self.pretrainedVectors if Path(self.pretrainedVectors).is_file() else None

    def require_vectors(self) -> None:
        """Raises UsageError, in fastText's words, for pretrained vectors that are not there or do not fit."""
        path = self.pretrainedVectors
        if not path:
            return
        from wv_cli.vectors import formats

        if self.vectors is None:
            raise UsageError(f"{path} cannot be opened for loading!")
        dim = formats.load(path, limit=1).dim
        if dim != self.dim:
            raise UsageError(f"Dimension of pretrained vectors ({dim}) does not match dimension ({self.dim})!")


SUPERVISED: dict[str, Any] = {"loss": "softmax", "minCount": 1, "minn": 0, "maxn": 0, "lr": 0.1}  # other defaults


def model_size(text: str) -> int:
    """The bytes of an autotuned model, such as 2M; 0 for an empty text. Raises UsageError."""
    found = re.fullmatch(r"(\d+)(\w?)", text or "0")
    if found is None or found[2] not in _UNITS:
        raise UsageError(f"Unable to parse model size {text}")
    return int(found[1]) * _UNITS[found[2]]


def search_options(flags: TrainingFlags, given: Collection[str], size: int) -> dict[str, Any]:
    """The options of a SupervisedJob that searches for all that is not `given`."""
    return {
        "autotune_validation": flags.autotune_validation,
        "autotune_duration": max(float(flags.autotune_duration), _LEAST_SECONDS),
        "autotune_metric": flags.autotune_metric,
        "autotune_predictions": flags.autotune_predictions,
        "autotune_size": size or None,
        # fastText has no dropout: what is found must be options of its own.
        "fixed": ("dropout", *(name for flag, name in SEARCHED.items() if name and flag in given)),
        "logged": False,
    }


def classifier_job(flags: TrainingFlags, search: dict[str, Any], **others: Any) -> "Job":
    """The training of a classifier; `search` are its search_options, `others` are fields of the job."""
    from wv_cli.commands.job import build
    from wv_cli.commands.supervised import SupervisedJob
    from wv_cli.models.config import SupervisedConfig

    config = SupervisedConfig(
        word_ngrams=max(flags.wordNgrams, 1),
        min_count_label=flags.minCountLabel,
        label_prefix=flags.label,
        **_model_options(flags),
    )
    options = {"pretrained": flags.vectors, **search, **_job_options(flags), **others}
    return build(SupervisedJob, options, config=config)


def word_vectors_job(flags: TrainingFlags, model: str, **others: Any) -> "Job":
    """The training of word vectors by `model`, skipgram or cbow; `others` are fields of the job."""
    from wv_cli.commands.job import build
    from wv_cli.commands.word2vec import Word2vecJob
    from wv_cli.models.config import Word2vecConfig
    from wv_cli.models.presets import WORD_PRESETS
    from wv_cli.text.config import Marked

    asked = {"model": model, "window": flags.ws, "sample": flags.t, **_model_options(flags)}
    marked = Marked(flags.label, flags.minCountLabel)
    options = {"init": flags.vectors, "marked": marked, **_job_options(flags), **others}
    config = Word2vecConfig(**{**WORD_PRESETS["fasttext"].changes, **asked})
    return build(Word2vecJob, options, config=config)


def _model_options(flags: TrainingFlags) -> dict[str, Any]:
    """What the configs of classifiers and of word vectors have in common. Of n-grams none has less than a letter."""
    return {
        "loss": _LOSSES.get(flags.loss, flags.loss),
        "dim": flags.dim,
        "lr": flags.lr or 1.0,
        "epochs": flags.epoch if flags.lr else 0,  # what learns at rate 0 learns nothing
        "minn": max(flags.minn, 1) if flags.maxn else flags.minn,
        "maxn": flags.maxn,
        "buckets": max(flags.bucket, 1),
        "seed": flags.seed,
        "threads": flags.threads,
        **({"negative": flags.neg} if flags.loss == "ns" else {}),
    }


def _job_options(flags: TrainingFlags) -> dict[str, Any]:
    """The same of the jobs."""
    return {
        "inputs": (flags.input,),
        "min_count": max(flags.minCount, 1),  # no word occurs less than once
        "keep_words": True,
        "fasttext_files": True,
        "force_text": True,
        "resumable": False,
        "meta": False,
    }
