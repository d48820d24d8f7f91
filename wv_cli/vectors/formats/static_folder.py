"""Writes the folder of a static embedding, so that as many programs as can be read it.

    model.safetensors, tokenizer.json   the table and how text becomes tokens (wv_cli/vectors/formats/static.py)
    config.json                         for model2vec
    modules.json                        for sentence-transformers from 3.4 on, which know these names of modules
    README.md                           the model card that hubs show; one that is there stays as it is

modules.json is renamed first and model.safetensors last. Both hold a digest of the settings in between, so that readers
see where a kill left files of two models together. Who edits settings by hand keeps the digest, and is not refused.

A model that counts the row of the unknown token, as sentence-transformers does, has no config.json.

Words are written as they are, one token each. Text is cut at blanks (or where letters and punctuation meet), and made
lower case if no word has a capital. A zero row stands for all unknown words: model2vec leaves those out,
sentence-transformers takes the row into the mean, and since sentence vectors are made of unit length both come to the
same.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.errors import WvError
from wv_cli.io.folders import NO_USAGE, USAGE, Usage
from wv_cli.io.output import commit_together, open_output, withdraw_on_failure
from wv_cli.io.places import make_folder
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import Dtype, Split
from wv_cli.vectors.formats import safetensors
from wv_cli.vectors.formats.beside import MODEL, digest
from wv_cli.vectors.formats.escape import require_utf8
from wv_cli.vectors.formats.static import FOLDER_MARK, MODULES, TOKENS_MARK, StaticModel, Table
from wv_cli.vectors.formats.tokenizer_file import TOKENIZER, tokens_digest
from wv_cli.words import WordList, decode

CARD = "README.md"
INT8_READERS = "int8 is read by wv and model2vec, not by sentence-transformers"
_UNKNOWN = "[UNK]"
_SPLITS = {"blanks": "WhitespaceSplit", "punctuation": "Whitespace"}


@dataclass(frozen=True)
class Written:
    """What save_folder did: tokens in all, words left out because an earlier row has them, words with blanks, which no
    text can hold after it was cut, whether text is made lower case."""

    tokens: int
    repeated: int
    unreachable: int
    lowercase: bool


def save_folder(
    path: str | os.PathLike[str],
    embeddings: Embeddings,
    *,
    lowercase: bool | None = None,
    split: Split = "blanks",
    weights: NDArray[np.floating] | None = None,
    dtype: Dtype = "float32",
    max_length: int | None = None,
) -> Written:
    """Writes the folder, all files or none, making it if need be. `lowercase` None: if no word has a capital;
    the rows are multiplied by their `weights` (rows,); `max_length` tokens of a text are read.
    Raises WvError, also for a word that is not UTF-8 and for nan or infinity."""
    require_words(path, embeddings.words)
    words = [embeddings.words.bytes_at(row) for row in range(len(embeddings))]
    if (bad := first_not_finite(np.ascontiguousarray(embeddings.matrix))) is not None:
        message = f"{path}: row {bad[0] + 1}: expected finite numbers, found {embeddings.matrix[bad]}"
        raise WvError(message)
    first: dict[str, int] = {}
    for row, word in enumerate(words):
        first.setdefault(decode(word), row)
    lower = all(word == word.lower() for word in first) if lowercase is None else lowercase
    unknown = _UNKNOWN
    while unknown in first:
        unknown = f"[{unknown}]"
    rows = np.fromiter(first.values(), np.int64, len(first))
    matrix = np.concatenate([np.zeros((1, embeddings.dim), np.float32), embeddings.matrix[rows]])
    if weights is not None:
        matrix[1:] *= weights[rows, None]
    vocabulary = {unknown: 0, **{word: id for id, word in enumerate(first, 1)}}
    tokenizer = _tokenizer(vocabulary, unknown, lower, split)
    model = StaticModel(Table(str(path), matrix), tokenizer, max_length=max_length)
    save_model(path, model, dtype=dtype)
    unreachable = sum(1 for word in first if len(word.split()) != 1)
    return Written(len(first), len(words) - len(first), unreachable, lower)


def require_words(path: str | os.PathLike[str], words: WordList) -> None:
    """Raises WvError for a word that the folder cannot keep."""
    require_utf8(words, "a tokenizer.json", path)


def save_model(
    path: str | os.PathLike[str],
    model: StaticModel,
    *,
    dtype: Dtype = "float32",
    settings: Mapping[str, object] | None = None,
    usage: Usage = NO_USAGE,
) -> None:
    """Writes the files, all or none, making the folder if need be, and a model card unless there is one. `settings` are
    more of config.json. Raises WvError, also for numbers that the type cannot hold."""
    table, folder = model.table, Path(path)
    if model.counts_unknown and (folder / "config.json").exists():
        message = f"{path}: has a config.json, by which others would read a model of sentence-transformers differently"
        raise WvError(f"{message}; name another folder")
    name = "embedding.weight" if model.counts_unknown else "embeddings"
    arrays: dict[str, NDArray[Any]] = {name: as_dtype(table.matrix, dtype, path)}
    quantized = {}
    if table.weights is not None:
        arrays["weights"] = table.weights
    if table.mapping is not None:
        arrays["mapping"] = table.mapping.astype(np.int32)
        quantized = {"vocabulary_quantization": len(table.matrix)}
    old = "sentence_transformers.models"
    modules: list[dict[str, object]] = [{"idx": 0, "name": "0", "path": ".", "type": f"{old}.StaticEmbedding"}]
    if model.normalize:
        modules.append({"idx": 1, "name": "1", "path": "1_Normalize", "type": f"{old}.Normalize"})
    truncation = {"direction": "Right", "max_length": model.max_length, "strategy": "LongestFirst", "stride": 0}
    texts: dict[str, object] = {
        # sentence-transformers has no other limit, and model2vec sets its own
        TOKENIZER: {**model.tokenizer, "truncation": truncation if model.max_length is not None else None},
    }
    if not model.counts_unknown:
        texts["config.json"] = {
            "model_type": "model2vec",
            "architectures": ["StaticModel"],
            **(settings or {}),
            "normalize": model.normalize,
            "hidden_dim": table.matrix.shape[1],
            "max_length": model.max_length,
            "embedding_dtype": dtype,
            **quantized,
        }
    if usage != NO_USAGE or (folder / USAGE).exists():  # the prompt of another model
        texts[USAGE] = {
            "prompts": {**usage.prompts},
            "default_prompt_name": usage.default_prompt_name,
            "truncate_dim": usage.truncate_dim,
            "similarity_fn_name": usage.similarity,
        }
    written = {name: _json(facts) for name, facts in texts.items()}
    mark = digest(_json(modules) + b"".join(written.values()))
    modules[0][FOLDER_MARK] = mark
    with open_folder(folder), commit_together():
        card = {} if (folder / CARD).exists() else {CARD: model_card(of_model2vec=not model.counts_unknown)}
        for name, text in {MODULES: _json(modules), **written, **card}.items():
            with open_output(folder / name) as stream:
                stream.write(text)
        with open_output(folder / MODEL) as stream:
            safetensors.write(stream, arrays, {TOKENS_MARK: tokens_digest(model.tokenizer), FOLDER_MARK: mark})


def model_card(*, of_model2vec: bool) -> bytes:
    """README.md as hubs read it: what programs load the folder, and what its author has to add."""
    libraries = ["model2vec"] * of_model2vec + ["sentence-transformers"]
    model2vec = """
```python
from model2vec import StaticModel

vectors = StaticModel.from_pretrained("FOLDER").encode(["a text"])
```
"""
    return f"""\
---
library_name: {libraries[0]}
pipeline_tag: feature-extraction
tags:
- embeddings
- static-embeddings
- sentence-transformers
# Add these before you publish the folder:
# license: cc-by-sa-4.0
# language: en
# base_model: the encoder that was distilled, if there is one
---

# A static embedding

A table with one vector for each token. The vector of a text is the mean of its tokens' vectors. `wv` wrote this folder.

## Use
{model2vec * of_model2vec}
```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("FOLDER").encode(["a text"])
```

```sh
echo 'a text' | wv vectors --sentences --encoder FOLDER
```

## Training

Write here which text the vectors were trained on, the license of that text, how they were made, and their scores.
""".encode()


def _json(facts: object) -> bytes:
    return json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n"


def as_dtype(matrix: NDArray[np.floating], dtype: Dtype, path: object) -> NDArray[Any]:
    """The numbers in this type; int8 as model2vec rounds them, with one scale for all, which is not kept. Raises
    WvError for numbers beyond float16 if that is the type."""
    if dtype == "int8":
        largest = np.abs(matrix).max(initial=0)
        if not 2**-6 < largest < 2**15:  # float16 does not hold all of them; a power of two changes no rounding
            power = np.frexp(largest)[1]
            matrix, largest = np.ldexp(matrix, -power), np.ldexp(largest, -power)
        scale = largest / 127.0 or 1.0
        rounded = matrix.astype(np.float16)
        np.divide(rounded, scale, out=rounded)
        return np.clip(np.rint(rounded), -127, 127).astype(np.int8)
    if dtype == "float16" and np.abs(matrix).max(initial=0) > np.finfo(np.float16).max:
        message = f"{path}: numbers beyond {np.finfo(np.float16).max:g} do not fit float16; write float32"
        raise WvError(message)
    return matrix.astype(dtype)


def without_mapping(model: StaticModel) -> StaticModel:
    """The same vectors without mapping and weights, which older readers ignore or refuse, and with a zero row for
    unknown words where these do not count."""
    whole = replace(model, table=Table(model.table.path, model.table.whole().copy()))
    return whole if model.counts_unknown else without_unknown(whole)


def without_unknown(model: StaticModel) -> StaticModel:
    """The same with zero for unknown words, its matrix or weights changed: libraries that count them and those that do
    not then have the same direction."""
    table, place = model.table, model.unknown_id
    if place is not None and table.mapping is None:
        table.matrix[place] = 0
    elif place is not None and table.weights is not None:
        table.weights[place] = 0
    return model


@contextlib.contextmanager
def open_folder(folder: Path) -> Iterator[None]:
    """The folder is there in this block; one that was made for it goes when the block fails. Raises WvError."""
    is_new = not folder.exists()
    make_folder(folder)
    try:
        with withdraw_on_failure():
            yield
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # not empty: another process writes there
                folder.rmdir()
        raise


def _tokenizer(vocabulary: dict[str, int], unknown: str, lowercase: bool, split: Split) -> dict[str, Any]:
    """The settings of one that knows whole words only."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"} if lowercase else None,
        "pre_tokenizer": {"type": _SPLITS[split]},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": unknown},
    }
