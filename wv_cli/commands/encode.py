"""`wv_cli.encode`: a vector for each text, as `wv vectors --sentences` makes it."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from wv_cli.config import require
from wv_cli.encoders.config import EncoderConfig
from wv_cli.errors import UsageError
from wv_cli.io.arguments import list_texts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Case = Literal["fold-first", "lower", "none"]
_OF_WORDS = ("mean", "sif", "idf")


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
    matched by `case`; sif and idf take frequencies from the file `counts`. With the folder of an encoder it is the
    pooling of tokens (mean, cls, max, ...), and `max_length`, `dim` and `normalize` are what the folder should do
    otherwise. Texts without a known word have the zero vector. Raises TypeError, UsageError, WvError.
    """
    from wv_cli.encoders import encoder_folder

    lines, path = list_texts(texts, "texts", "text"), os.fspath(model)
    folder = encoder_folder(path)
    if folder is None:
        of_encoder = {"max_length": max_length, "dim": dim, "normalize": normalize}
        for name, value in of_encoder.items():
            require(
                value in (0, None), f"--{name.replace('_', '-')} needs the folder of an encoder, and {path} is none"
            )
        return _encode_by_words(path, lines, pooling, counts, case)
    require(counts is None, f"--counts weighs words of vectors, and {path} is the folder of an encoder")
    return _encode_by_folder(
        str(folder), lines, pooling, EncoderConfig(max_length=max_length, dim=dim, normalize=normalize, threads=threads)
    )


def _encode_by_folder(
    folder: str, lines: list[str], pooling: str | None, config: EncoderConfig
) -> "NDArray[np.float32]":
    from wv_cli.commands.sentences import OfEncoder

    config.validate()
    asking = OfEncoder(file=folder, config=config, pooling=pooling, precision=6, as_json=False)
    return asking.encode(asking.open(), lines).vectors


def _encode_by_words(
    path: str,
    lines: list[str],
    pooling: str | None,
    counts: str | os.PathLike[str] | None,
    case: Literal["fold-first", "lower", "none"],
) -> "NDArray[np.float32]":
    import numpy as np

    from wv_cli.text.vocab import read_vocab
    from wv_cli.transforms.composition import composer
    from wv_cli.transforms.sentences import sentence_vectors
    from wv_cli.vectors.formats import load, open_vectors
    from wv_cli.vectors.formats.lines import require_finite
    from wv_cli.vectors.lookup import Lookup

    if pooling is None:
        require(counts is None, "--counts needs --pooling sif or idf")
        found = composer(open_vectors(path, mapped=True), path).lines(lines)
        require_finite(found, lines, path)
        return found
    if pooling not in _OF_WORDS:
        raise UsageError(f"--pooling must be one of {', '.join(_OF_WORDS)} for word vectors, not {pooling}")
    require(counts is None or pooling != "mean", "--counts has no effect with --pooling mean; leave it out")
    vectors = load(path)
    vocab = read_vocab(os.fspath(counts)) if counts is not None else None
    made, _ = sentence_vectors(lines, vectors, Lookup(vectors, case), pooling, vocab=vocab)
    return made.astype(np.float32)
