"""`wv_cli.load_encoder`: word vectors, a model or the folder of an encoder, opened once for texts."""

import os
import pathlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from wv_cli.cli.arguments import argument_names, read_arguments
from wv_cli.cli.text_encoder import NO_PROMPTS, OPTIONS, Pass, TextEncoder, require_cpu, unit_vectors
from wv_cli.commands.parts.pooling import TextPooling
from wv_cli.config import require
from wv_cli.config.wording import arguments_in_errors
from wv_cli.encoders.config import EncoderConfig
from wv_cli.io.arguments import path_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.encoders.base import Encoder

Case = Literal["fold-first", "lower", "none"]
Path = str | os.PathLike[str]
_OF_WORDS = ("mean", "sif", "idf")


def load_encoder(
    model: Path,
    *,
    pooling: str | None = None,
    counts: Path | None = None,
    case: Case = "fold-first",
    transform: Path | None = None,
    max_length: int = 0,
    dim: int = 0,
    normalize: bool | None = None,
    threads: int = 0,
    device: Literal["cpu"] | None = None,
    truncate_dim: int | None = None,
) -> TextEncoder:
    """The encoder of a file of vectors, a fastText or doc2vec model, or a folder of an encoder or static embedding.

    Its `encode` gives the vectors of `wv_cli.encode` with the same options. `transform` is a file of
    `wv whiten --save-transform`, which is applied to them. `truncate_dim` is that of `encode` for every call, and
    `device` can only be "cpu". A text has the same vector in every call: the poolings sif, and idf without `counts`,
    are for `wv_cli.encode` alone. Raises TypeError, UsageError, WvError.
    """
    require(
        pooling != "sif",
        "sif removes what the texts of a call share, so that calls cannot be compared; "
        "give all texts to one wv_cli.encode",
    )
    require(
        pooling != "idf" or counts is not None,
        "idf without counts weighs words by the texts of a call, so that calls cannot be compared; give counts",
    )
    return open_encoder(
        model, pooling=pooling, counts=counts, case=case, transform=transform, max_length=max_length, dim=dim,
        normalize=normalize, threads=threads, device=device, truncate_dim=truncate_dim,
    )  # fmt: skip


def open_encoder(
    model: Path,
    *,
    pooling: str | None,
    counts: Path | None,
    case: Case,
    max_length: int,
    dim: int,
    normalize: bool | None,
    threads: int,
    transform: Path | None = None,
    device: Literal["cpu"] | None = None,
    truncate_dim: int | None = None,
) -> TextEncoder:
    """That of `load_encoder`, with every pooling: what it encodes in one call belongs together."""
    rule = {"pooling": pooling, "counts": counts, "case": case}
    settings = {"max_length": max_length, "dim": dim, "normalize": normalize, "threads": threads}
    require_cpu(device)
    path = path_text(model, "model")
    affine = path_text(transform, "transform") if transform is not None else None
    with arguments_in_errors(argument_names(OPTIONS)):
        words = TextPooling(**read_arguments(rule, OPTIONS, "load_encoder"))
        config = EncoderConfig(**read_arguments(settings, OPTIONS, "load_encoder"))
        opened = _open(path, words, config)
        opened = _with_transform(opened, affine, config.threads) if affine is not None else opened
    kept = opened._require_dim(truncate_dim) if truncate_dim is not None else None
    files = {"counts": counts, "transform": affine}
    given: dict[str, Any] = {**rule, **settings, "truncate_dim": truncate_dim}
    given |= {name: _whole_path(file) for name, file in files.items() if file is not None}
    again = partial(open_encoder, _whole_path(path), **given)
    return replace(opened, _truncate_dim=kept, _open_again=again)


def _whole_path(file: Path) -> str:
    """The same from every folder: of a file, and not of a name such as wv/small."""
    whole = pathlib.Path(file).absolute()
    return os.fspath(whole if whole.exists() else file)


def _open(path: str, rule: TextPooling, config: EncoderConfig) -> TextEncoder:
    from wv_cli.encoders import encoder_folder

    config.validate()
    folder = encoder_folder(path)
    if folder is not None:
        rule.validate()
        require(rule.counts is None, f"--counts weighs words of vectors, and {path} is the folder of an encoder")
        return _of_folder(str(folder), rule.pooling, config)
    for name in ("max_length", "dim", "normalize"):
        is_default = getattr(config, name) == OPTIONS[name].default
        require(is_default, f"{OPTIONS[name].flag} needs the folder of an encoder, and {path} is none")
    require(
        rule.pooling in (None, *_OF_WORDS),
        f"--pooling must be one of {', '.join(_OF_WORDS)} for word vectors, not {rule.pooling}",
    )
    rule.validate()
    if rule.pooling is None:
        require(rule.counts is None, "--counts needs --pooling sif or idf")
        return _of_model(path)
    needs = "sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
    require(rule.counts is not None or rule.pooling != "sif", needs)
    require(rule.counts is None or rule.pooling != "mean", "--counts has no effect with --pooling mean; leave it out")
    return _of_words(path, rule, rule.pooling)


def _of_folder(folder: str, pooling: str | None, config: EncoderConfig) -> TextEncoder:
    from wv_cli.commands.sentences import OfEncoder
    from wv_cli.encoders.base import encode
    from wv_cli.io.folders import Usage

    asking = OfEncoder(file=folder, config=config, pooling=pooling, precision=6, as_json=False)
    source: Encoder = asking.open()
    chosen, own = asking.require_pooling(source), config.normalize
    unit = source.normalize if own is None else own

    def vectors(texts: list[str], how: Pass) -> "NDArray[np.float32]":
        (encoded,) = encode(
            source, texts, [chosen], normalize=unit or how.unit, threads=config.threads, batch_size=how.batch_size,
            prompt=how.prompt, progress=how.on_progress,
        )  # fmt: skip
        return encoded.vectors

    usage = Usage.from_folder(pathlib.Path(folder))
    return TextEncoder(folder, source.dim, vectors, {**NO_PROMPTS, **usage.prompts}, usage.similarity)


def _of_model(path: str) -> TextEncoder:
    """By the own rule of a model or of vectors."""
    from wv_cli.transforms.composition import composer
    from wv_cli.vectors.formats import open_vectors
    from wv_cli.vectors.formats.lines import require_finite

    source = composer(open_vectors(path, mapped=True), path)

    def vectors(texts: list[str], how: Pass) -> "NDArray[np.float32]":
        found = source.lines(how.add_prompt(texts))
        require_finite(found, texts, path)
        return unit_vectors(found) if how.unit else found

    return TextEncoder(path, source.dim, vectors)


def _of_words(path: str, rule: TextPooling, pooling: str) -> TextEncoder:
    """By another rule for words."""
    import numpy as np

    from wv_cli.text.vocab import read_vocab
    from wv_cli.transforms.sentences import sentence_vectors
    from wv_cli.vectors.formats import load
    from wv_cli.vectors.lookup import Lookup

    words = load(path)
    lookup = Lookup(words, rule.case)
    vocab = read_vocab(rule.counts) if rule.counts is not None else None

    def vectors(texts: list[str], how: Pass) -> "NDArray[np.float32]":
        made, _ = sentence_vectors(how.add_prompt(texts), words, lookup, pooling, vocab=vocab)
        found = made.astype(np.float32)
        return unit_vectors(found) if how.unit else found

    return TextEncoder(path, words.dim, vectors)


def _with_transform(source: TextEncoder, path: str, threads: int) -> TextEncoder:
    """Raises BadFile, WvError for a file that is no transform of such vectors."""
    from wv_cli.transforms.whiten import Transform
    from wv_cli.vectors.formats.lines import require_finite

    affine = Transform.load(path)
    affine.require_dim(source.dim, source.name)

    def vectors(texts: list[str], how: Pass) -> "NDArray[np.float32]":
        found = affine.apply(source._vectors(texts, replace(how, unit=False)), threads=threads)
        require_finite(found, texts, path)
        return unit_vectors(found) if how.unit else found

    return replace(source, dim=affine.new_dim, _vectors=vectors)
