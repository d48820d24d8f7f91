"""Encoders of sentences: folders of models that other programs made, asked for the vectors of lines of text.

The table ENCODERS has a row for every kind of folder. Nothing is downloaded and nothing in a folder is run: what is
read is settings, a tokenizer and arrays of numbers; a pickle never.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.folder import is_elmo, is_static, is_transformer
from wv_cli.errors import BadFile, WvError
from wv_cli.io.folders import find_folder, static_root
from wv_cli.registry import Registry, load

if TYPE_CHECKING:
    from wv_cli.encoders.base import Encoder

__all__ = ["ENCODERS", "EncoderConfig", "Kind", "encoder_folder", "open_encoder"]


@dataclass(frozen=True)
class Kind:
    """`is_one` tells such a folder. `module` has the class `encoder`, which takes the path, an EncoderConfig and the
    names of the poolings that will be asked for."""

    name: str
    summary: str
    is_one: Callable[[Path], bool]
    module: str
    encoder: str

    def open(self, path: Path, config: EncoderConfig, poolings: Sequence[str]) -> "Encoder":
        make: Callable[..., Encoder] = load(f"{self.module}:{self.encoder}")
        return make(path, config, poolings)


_HOLDS = "a folder holds config.json, the vocabulary (vocab.txt or tokenizer.json) and model.safetensors or model.onnx"

# In the order in which a folder is looked at.
ENCODERS: Registry[Kind] = Registry(
    "kind of encoder",
    [
        (kind.name, kind)
        for kind in [
            Kind(
                "elmo",
                "an ELMo: options.json and weights.hdf5, whatever stands before these names",
                is_elmo,
                "wv_cli.encoders.elmo",
                "Elmo",
            ),
            Kind(
                "static",
                "a static embedding: modules.json or config.json that says so, tokenizer.json, model.safetensors",
                is_static,
                "wv_cli.encoders.static",
                "Static",
            ),
            Kind(
                "bert",
                "a BERT-like encoder: config.json, tokenizer.json, model.onnx or model.safetensors",
                is_transformer,
                "wv_cli.encoders.transformer",
                "Transformer",
            ),
        ]
    ],
)


def encoder_folder(path: str | os.PathLike[str]) -> Path | None:
    """The folder, or that of the matrix, from which sentences are encoded: it has a tokenizer or is an ELMo. Given by
    its path or by the name in the local hub cache; None for a file of vectors or a model, and where nothing is. Raises
    BadFile for settings that cannot be read."""
    from wv_cli.vectors.formats.beside import MODEL  # which knows arrays, as no command does before it works

    folder = find_folder(path)
    if folder.name == MODEL and folder.is_file():
        folder = folder.parent
    if not folder.is_dir():
        return None
    root = static_root(folder) or folder
    if not is_elmo(folder) and not any((root / name).is_file() for name in ("tokenizer.json", "vocab.txt")):
        return None
    return folder if any(kind.is_one(folder) for kind in ENCODERS.values()) else None


def open_encoder(
    path: str | os.PathLike[str], config: EncoderConfig | None = None, poolings: Sequence[str] = ()
) -> "Encoder":
    """The encoder of a folder, or of a model's name in the local hub cache, which is going to be asked for these
    poolings, none: for its own. Raises WvError when a package is missing that it needs, BadFile for a folder that is
    none of an encoder or is damaged, UsageError for options that it cannot fulfil."""
    config = config or EncoderConfig()
    config.validate()
    folder = find_folder(path)
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing; wv downloads no encoder"
        raise WvError(f"{folder}: expected the folder of an encoder, found {found}; {_HOLDS}")
    for kind in ENCODERS.values():
        if kind.is_one(folder):
            return kind.open(folder, config, poolings)
    kinds = "; or ".join(kind.summary for kind in ENCODERS.values())
    raise BadFile(folder, f"expected {kinds}; found none of these")
