"""Static embeddings: the folder that model2vec and sentence-transformers load, and plain safetensors as vectors.

    model.safetensors   `embeddings` (vocabulary, dim), or `embedding.weight`; if there are, `weights` (tokens,), which
                        multiply the rows, and `mapping` (tokens,), the row of each token; int8 numbers of
                        model2vec are read as they stand, since their common factor changes no cosine
    tokenizer.json      which token has which row, how text becomes tokens
    config.json         whether sentence vectors are made of unit length; no limit of length
    modules.json        the same for sentence-transformers

Read: the rows of the tokens, weights in them, called as tokenizer.json beside calls them; the row of the unknown token
is left out where it is zero. Any other safetensors file with one matrix of floats is read, too; without tokenizer.json
its rows are called 0, 1, 2, ...

Written: words as they are, one token each. Text is cut at blanks (or where letters and punctuation meet), and made
lower case if no word has a capital. A zero row stands for all unknown words: model2vec leaves those out,
sentence-transformers takes the row into the mean, and since sentence vectors are made of unit length both come to the
same.
"""

import contextlib
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli.errors import BadFile, WvError, reason
from wv_cli.formats import safetensors
from wv_cli.formats.base import Format, FormatWarning, ReadOptions, Split
from wv_cli.formats.beside import MODEL
from wv_cli.formats.header import MAX_DIM
from wv_cli.formats.npy import number_words
from wv_cli.formats.report import Report
from wv_cli.formats.safetensors import Tensors
from wv_cli.formats.skipping import WAY_OUT
from wv_cli.system.input import Input
from wv_cli.system.output import commit_together, open_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList, decode

TOKENIZER = "tokenizer.json"
_NAMES = ("embeddings", "embedding.weight")
_UNKNOWN = "[UNK]"
_SPLITS = {"blanks": "WhitespaceSplit", "punctuation": "Whitespace"}


def matrix_of(tensors: Tensors, *, finite: bool = True) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """((tokens, dim), the weight of each token or None), rows by token. Raises BadFile for a file without a matrix of
    vectors, or with several, or, if they must be `finite`, with nan or infinity."""
    names = [name for name in _NAMES if name in tensors]
    names = names or [name for name in tensors.names if len(tensors.shape(name)) == 2]
    if len(names) != 1:
        found = ", ".join(tensors.names[:5]) + ", ..." * (len(tensors.names) > 5)
        problem = f"expected one matrix of vectors, called {' or '.join(_NAMES)}, found {found or 'nothing'}"
        raise BadFile(tensors.path, problem)
    matrix = tensors.floats(names[0], (None, None), or_int8=True, finite=finite)
    if not 1 <= matrix.shape[1] <= MAX_DIM:
        raise BadFile(tensors.path, f"expected a dimension of 1 to {MAX_DIM}, found {matrix.shape[1]}")
    if "mapping" in tensors:
        rows = tensors.integers("mapping", *tensors.shape("mapping")[:1])
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(matrix)):
            raise BadFile(tensors.path, f"mapping: expected rows from 0 to {len(matrix) - 1}, found others")
        matrix = matrix[rows]
    weights = tensors.floats("weights", (len(matrix),)) if "weights" in tensors else None
    return matrix, weights


def read(source: Input, options: ReadOptions) -> Embeddings:
    beside = Path(source.name).with_name(TOKENIZER)
    judged_later = options.limit is not None or options.bad_rows == "skip"
    matrix, weights = matrix_of(Tensors.of(source), finite=not judged_later)
    if weights is not None:
        with np.errstate(over="ignore"):
            matrix = matrix * weights[:, None]
        if not judged_later and not np.isfinite(matrix).all():
            raise BadFile(source.name, "expected weights of rows, found one that makes its row infinite")
    if Path(source.name).name != MODEL or not beside.is_file():
        words = number_words(0, len(matrix))
    else:
        tokens, unknown = _tokens(beside, len(matrix))
        matrix = matrix[: len(tokens)]
        if unknown is not None and not matrix[unknown].any():
            matrix, tokens = np.delete(matrix, unknown, axis=0), tokens[:unknown] + tokens[unknown + 1 :]
        words = WordList.of(tokens)
    count = len(matrix) if options.limit is None else min(options.limit, len(matrix))
    matrix = np.ascontiguousarray(matrix[:count])
    if options.bad_rows == "error" and (bad := first_not_finite(matrix)) is not None:
        raise BadFile(source.name, f"row {bad[0] + 1}: expected finite numbers, found {matrix[bad]}{WAY_OUT}")
    return Embeddings(words[:count], matrix)


def _tokens(path: Path, rows: int) -> tuple[list[str], int | None]:
    """(the token of every row, which of them stands for unknown ones). Raises BadFile, WvError."""
    try:
        facts = json.loads(path.read_bytes())
    except OSError as error:
        message = f"{path}: cannot read: {reason(error)}"
        raise WvError(message) from error
    except (ValueError, RecursionError):
        raise BadFile(path, "expected the settings of a tokenizer in JSON, found something else") from None
    model: Any = facts.get("model") if isinstance(facts, dict) else None
    vocabulary: Any = model.get("vocab") if isinstance(model, dict) else None
    found: list[str | None] = [None] * rows
    if isinstance(vocabulary, dict):
        pairs = list(vocabulary.items())
    elif isinstance(vocabulary, list):  # Unigram: [token, score] in the order of their ids
        pairs = [(each[0] if isinstance(each, list) and each else None, id) for id, each in enumerate(vocabulary)]
    else:
        raise BadFile(path, "expected a tokenizer with a vocabulary, found none")
    added: Any = facts.get("added_tokens")
    pairs += [(each.get("content"), each.get("id")) for each in added or [] if isinstance(each, dict)]
    for token, id in pairs:
        if not isinstance(token, str) or type(id) is not int or not 0 <= id < rows:
            problem = (
                f"expected tokens numbered from 0 to {rows - 1}, as many as there are vectors, found {token!r}: {id}"
            )
            raise BadFile(path, problem)
        found[id] = token
    named = len(pairs) and 1 + max(id for _, id in pairs)
    if rows < 2 * named < 2 * rows:
        message = f"{path}: {rows - named:,} of {rows:,} vectors stand behind the last token's; they are left out"
        warnings.warn(message, FormatWarning, stacklevel=3)
        del found[named:]
    if None in found:
        raise BadFile(
            path, f"expected a token for each of the {rows:,} vectors, found none for row {found.index(None)}"
        )
    tokens = [token for token in found if token is not None]
    unknown: Any = model.get("unk_token")
    unknown = (
        tokens[unknown_id]
        if type(unknown_id := model.get("unk_id")) is int and 0 <= unknown_id < len(tokens)
        else unknown
    )
    return tokens, tokens.index(unknown) if isinstance(unknown, str) and unknown in tokens else None


def check(source: Input, report: Report) -> None:
    vectors = read(source, ReadOptions())
    report.promised_rows, report.dim, report.rows = len(vectors), vectors.dim, len(vectors)
    for row in np.flatnonzero(~vectors.matrix.any(axis=1)).tolist():
        report.add("zero vector", f"row {row + 1}: all numbers are 0", note=True)


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
) -> Written:
    """Writes the four files, all or none, making the folder if need be. `lowercase` None: if no word has a capital;
    `weights` (rows,) of the words. Raises WvError, also for a word that is not UTF-8 and for nan or infinity."""
    words = [embeddings.words.bytes_at(row) for row in range(len(embeddings))]
    for row, word in enumerate(words):
        try:
            word.decode()
        except UnicodeDecodeError:
            message = f"{path}: row {row + 1}: the word {word!r} is not UTF-8, which a tokenizer.json cannot keep"
            raise WvError(message) from None
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
    arrays = {"embeddings": matrix}
    if weights is not None:
        arrays["weights"] = np.concatenate([[1], weights[rows]]).astype(np.float32)
    vocabulary = {unknown: 0, **{word: id for id, word in enumerate(first, 1)}}
    texts = {
        TOKENIZER: _tokenizer(vocabulary, unknown, lower, split),
        "config.json": {
            "model_type": "model2vec",
            "architectures": ["StaticModel"],
            "normalize": True,
            "hidden_dim": embeddings.dim,
            "max_length": None,
            "embedding_dtype": "float32",
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": ".", "type": "sentence_transformers.models.StaticEmbedding"},
            {"idx": 1, "name": "1", "path": "1_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
    }
    folder = Path(path)
    with _made(folder), commit_together():
        for name, facts in texts.items():
            with open_output(folder / name) as stream:
                stream.write(json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n")
        with open_output(folder / MODEL) as stream:
            safetensors.write(stream, arrays, {})
    unreachable = sum(1 for word in first if len(word.split()) != 1)
    return Written(len(first), len(words) - len(first), unreachable, lower)


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The folder is there in this block; one that was made for it goes when the block fails. Raises WvError."""
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        message = f"{folder}: cannot make the folder: {reason(error)}"
        raise WvError(message) from error
    try:
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


FORMAT = Format(
    name="safetensors",
    summary="a model's matrix; the words in tokenizer.json beside it (a static embedding's folder), or numbers from 0",
    suffixes=(),
    text=False,
    loses="is only read; `wv convert --to static` writes the folder",
    sniff=safetensors.sniff,
    read=read,
    check=check,
    skips=True,
    what="a safetensors file",
)
