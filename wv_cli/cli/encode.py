"""`wv_cli.encode`: a vector for each text, as `wv vectors --sentences` makes it."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from wv_cli.cli.load_encoder import Case, open_encoder
from wv_cli.io.arguments import list_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def encode(
    model: str | os.PathLike[str],
    texts: str | Iterable[str],
    *,
    pooling: str | None = None,
    counts: str | os.PathLike[str] | None = None,
    case: Case = "fold-first",
    max_length: int = 0,
    dim: int = 0,
    normalize: bool | None = None,
    threads: int = 0,
) -> "NDArray[np.float32]":
    """Vectors of texts, (texts, dim) float32.

    `model` is a file of vectors, a fastText or doc2vec model, or the folder of an encoder or a static embedding.
    Without `pooling` texts get the model's own rule. With vectors it may be mean, sif or idf over words that are
    matched by `case`; sif and idf take frequencies from the file `counts`, and sif removes what these texts share.
    With the folder of an encoder it is the pooling of tokens (mean, cls, max, ...), and `max_length`, `dim` and
    `normalize` are what the folder should do otherwise. Texts without a known word have the zero vector. Raises
    TypeError, UsageError, WvError.
    """
    lines = list_texts(texts, "texts", "text")
    encoder = open_encoder(
        model, pooling=pooling, counts=counts, case=case, max_length=max_length, dim=dim, normalize=normalize,
        threads=threads,
    )  # fmt: skip
    return encoder.encode(lines)
