"""`wv_cli.encode`: a vector for each text, as `wv vectors --sentences` makes it."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from wv_cli.cli.arguments import argument_names, read_arguments
from wv_cli.commands.parts.pooling import TextPooling
from wv_cli.config import arguments_in_errors, require
from wv_cli.encoders.config import EncoderConfig
from wv_cli.io.arguments import list_texts, path_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Case = Literal["fold-first", "lower", "none"]
_OF_WORDS = ("mean", "sif", "idf")
_OPTIONS = {**TextPooling.options(), **EncoderConfig.options()}


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
    rule = {"pooling": pooling, "counts": counts, "case": case}
    settings = {"max_length": max_length, "dim": dim, "normalize": normalize, "threads": threads}
    lines, path = list_texts(texts, "texts", "text"), path_text(model, "model")
    with arguments_in_errors(argument_names(_OPTIONS)):
        return _encode(
            path,
            lines,
            TextPooling(**read_arguments(rule, _OPTIONS, "encode")),
            EncoderConfig(**read_arguments(settings, _OPTIONS, "encode")),
        )


def _encode(path: str, lines: list[str], rule: TextPooling, config: EncoderConfig) -> "NDArray[np.float32]":
    from wv_cli.encoders import encoder_folder

    config.validate()
    folder = encoder_folder(path)
    if folder is not None:
        rule.validate()
        require(rule.counts is None, f"--counts weighs words of vectors, and {path} is the folder of an encoder")
        return _encode_by_folder(str(folder), lines, rule.pooling, config)
    for name in ("max_length", "dim", "normalize"):
        is_default = getattr(config, name) == _OPTIONS[name].default
        require(is_default, f"{_OPTIONS[name].flag} needs the folder of an encoder, and {path} is none")
    require(
        rule.pooling in (None, *_OF_WORDS),
        f"--pooling must be one of {', '.join(_OF_WORDS)} for word vectors, not {rule.pooling}",
    )
    rule.validate()
    return _encode_by_words(path, lines, rule)


def _encode_by_folder(
    folder: str, lines: list[str], pooling: str | None, config: EncoderConfig
) -> "NDArray[np.float32]":
    from wv_cli.commands.sentences import OfEncoder

    asking = OfEncoder(file=folder, config=config, pooling=pooling, precision=6, as_json=False)
    return asking.encode(asking.open(), lines).vectors


def _encode_by_words(path: str, lines: list[str], rule: TextPooling) -> "NDArray[np.float32]":
    import numpy as np

    from wv_cli.text.vocab import read_vocab
    from wv_cli.transforms.composition import composer
    from wv_cli.transforms.sentences import sentence_vectors
    from wv_cli.vectors.formats import load, open_vectors
    from wv_cli.vectors.formats.lines import require_finite
    from wv_cli.vectors.lookup import Lookup

    if rule.pooling is None:
        require(rule.counts is None, "--counts needs --pooling sif or idf")
        found = composer(open_vectors(path, mapped=True), path).lines(lines)
        require_finite(found, lines, path)
        return found
    require(rule.counts is None or rule.pooling != "mean", "--counts has no effect with --pooling mean; leave it out")
    vectors = load(path)
    vocab = read_vocab(rule.counts) if rule.counts is not None else None
    made, _ = sentence_vectors(lines, vectors, Lookup(vectors, rule.case), rule.pooling, vocab=vocab)
    return made.astype(np.float32)
