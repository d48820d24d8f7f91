"""Errors in the words and of the types of fastText's module, which are errors of this library, too."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from wv_cli.config.wording import name_arguments
from wv_cli.errors import Interrupted, TimedOut, UsageError, WvError

# Our names of options that messages name -> fastText's.
_NAMES = {
    "lr": "lr",
    "dim": "dim",
    "window": "ws",
    "epochs": "epoch",
    "min-count": "minCount",
    "min-count-label": "minCountLabel",
    "negative": "neg",
    "word-ngrams": "wordNgrams",
    "buckets": "bucket",
    "sample": "t",
    "threads": "thread",
    "label-prefix": "label",
    "pretrained": "pretrainedVectors",
    "init": "pretrainedVectors",
    "autotune-validation": "autotuneValidationFile",
    "autotune-metric": "autotuneMetric",
    "autotune-predictions": "autotunePredictions",
    "autotune-duration": "autotuneDuration",
    "autotune-size": "autotuneModelSize",
}
_FLAG = re.compile(r"(?<![\w-])-(?=[a-zA-Z])")


class FastTextError(UsageError, ValueError):
    """What fastText's module raises as ValueError."""


@contextmanager
def as_fasttext() -> Iterator[None]:
    """Around calls of this library: raises FastTextError for what it refuses, RuntimeError for a training that
    diverges."""
    from wv_cli.models.training.trainer import Diverged
    from wv_cli.text.vocab import EmptyVocabulary

    try:
        yield
    except (FastTextError, Interrupted, TimedOut):
        raise
    except EmptyVocabulary as error:
        raise FastTextError("Empty vocabulary. Try a smaller -minCount value.") from error
    except WvError as error:
        if isinstance(error.__cause__, Diverged):
            raise RuntimeError("Encountered NaN.") from error
        raise FastTextError(_FLAG.sub("", name_arguments(str(error), _NAMES))) from error
