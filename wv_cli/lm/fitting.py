"""The weights of a mixture that make a held-out text most probable."""

from collections.abc import Sequence

import numpy as np

from wv_cli.errors import WvError
from wv_cli.lm.mixing import fitted_weights
from wv_cli.lm.model import NgramModel
from wv_cli.lm.scoring import Scorer
from wv_cli.text.source import Source
from wv_cli.vectors.formats.recognize import input_texts


def fit_weights(models: Sequence[NgramModel], path: str) -> list[float]:
    """Of the events of the text at `path` whose words all models list. Raises WvError for a text without such words."""
    scores, known = [], np.ones(1, np.bool_)
    for model in models:
        parts = list(Scorer(model).read(Source(input_texts([path], log=lambda message: None, written=()))))
        scores.append(np.concatenate([part.scores for part in parts]))
        known = known & ~np.concatenate([part.oov for part in parts])
    if not known.any() or not len(scores[0]):
        message = f"{path}: no text: expected lines of words that all models list, found none"
        raise WvError(message)
    return [float(weight) for weight in fitted_weights(np.array(scores)[:, known])]
