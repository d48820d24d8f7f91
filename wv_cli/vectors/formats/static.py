"""Static embeddings: the folder that model2vec and sentence-transformers load, and plain safetensors as vectors.

    model.safetensors   `embeddings` (vocabulary, dim), or `embedding.weight`; if there are, `weights` (tokens,), which
                        multiply the rows, and `mapping` (tokens,), the row of each token; int8 numbers of
                        model2vec are read as they stand, since their common factor changes no cosine
    tokenizer.json      which token has which row, how text becomes tokens
    config.json         model2vec: whether sentence vectors are made of unit length, how many tokens are read
    modules.json        sentence-transformers: where the first two are, and whether Normalize follows

Read: the rows of the tokens, weights in them, called as tokenizer.json beside calls them; the row of the unknown token
is left out where it is zero. Any other safetensors file with one matrix of floats is read, too; without tokenizer.json
its rows are called 0, 1, 2, ...

wv_cli/vectors/formats/static_folder.py writes them.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli._floattext import first_not_finite
from wv_cli._subwords import weighted_means
from wv_cli.errors import BadFile, FormatWarning, show_value
from wv_cli.io import memory
from wv_cli.io.folders import Settings, modules, read_json, static_root
from wv_cli.io.input import Input
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import safetensors
from wv_cli.vectors.formats.base import Format, ReadOptions
from wv_cli.vectors.formats.beside import MODEL
from wv_cli.vectors.formats.header import MAX_DIM
from wv_cli.vectors.formats.npy import number_words
from wv_cli.vectors.formats.report import Report
from wv_cli.vectors.formats.safetensors import Tensors
from wv_cli.vectors.formats.skipping import WAY_OUT
from wv_cli.vectors.formats.tokenizer_file import (
    TOKENIZER,
    tokenizer_settings,
    tokens_digest,
    truncation,
    unknown_token,
)
from wv_cli.words import WordList

TOKENS_MARK = "tokens"  # metadata of model.safetensors: digest of the tokens, so that halves of two folders are noticed
FOLDER_MARK = "folder"  # there and in the first module of modules.json: digest of the settings of one run
MODULES = "modules.json"
_MAX_LENGTH = 512  # tokens, where config.json says nothing: model2vec's
_NAMES = ("embeddings", "embedding.weight")


@dataclass(frozen=True, eq=False)
class Table:
    """The vectors of tokens: that of token t is matrix[mapping[t]] * weights[t], each where there is one."""

    path: str
    matrix: NDArray[np.float32]
    mapping: NDArray[np.int64] | None = None
    weights: NDArray[np.float32] | None = None

    @classmethod
    def from_tensors(cls, tensors: Tensors, *, finite: bool = True) -> "Table":
        """Raises BadFile for a file without a matrix of vectors, or with several, for a mapping or weights that do not
        fit it, or, if the numbers must be `finite`, for nan or infinity."""
        names = [name for name in _NAMES if name in tensors]
        names = names or [name for name in tensors.names if len(tensors.shape(name)) == 2]
        if len(names) != 1:
            found = ", ".join(tensors.names[:5]) + ", ..." * (len(tensors.names) > 5)
            problem = f"expected one matrix of vectors, called {' or '.join(_NAMES)}, found {found or 'nothing'}"
            raise BadFile(tensors.path, problem)
        matrix = tensors.floats(names[0], (None, None), or_int8=True, finite=finite)
        if not 1 <= matrix.shape[1] <= MAX_DIM:
            raise BadFile(tensors.path, f"expected a dimension of 1 to {MAX_DIM}, found {matrix.shape[1]}")
        mapping = None
        if "mapping" in tensors:
            mapping = tensors.integers("mapping")
            if len(mapping) and not (mapping.min() >= 0 and mapping.max() < len(matrix)):
                raise BadFile(tensors.path, f"mapping: expected rows from 0 to {len(matrix) - 1}, found others")
        tokens = len(matrix) if mapping is None else len(mapping)
        weights = tensors.floats("weights", (tokens,)) if "weights" in tensors else None
        return cls(tensors.path, matrix, mapping, weights)

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.matrix) if self.mapping is None else len(self.mapping)

    def rows(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """(ids.shape, dim): the vectors of tokens. A weight may make numbers infinite."""
        rows: NDArray[np.float32] = self.matrix[ids if self.mapping is None else self.mapping[ids]]
        if self.weights is None:
            return rows
        with np.errstate(over="ignore"):
            return rows * self.weights[ids][..., None]

    def means(self, texts: Sequence[NDArray[np.integer]]) -> NDArray[np.float64]:
        """(texts, dim): the mean of the vectors of each text's tokens."""
        ids = np.concatenate(texts)
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=starts[1:])
        rows = ids if self.mapping is None else self.mapping[ids]
        weights = None if self.weights is None else self.weights[ids]
        out = np.empty((len(texts), self.matrix.shape[1]))
        octets = np.ascontiguousarray(self.matrix).view(np.uint8)
        weighted_means(octets, starts, rows.astype(np.int32, copy=False), weights, out)
        return out

    def whole(self) -> NDArray[np.float32]:
        """(tokens, dim). Raises WvError when there is no memory for it."""
        if self.mapping is None and self.weights is None:
            return self.matrix
        memory.require(8 * len(self) * self.matrix.shape[1], f"{self.path}: the table", "free some memory")
        return self.rows(np.arange(len(self)))


@dataclass(frozen=True, eq=False)
class StaticModel:
    """A static embedding as a folder holds it: the `table`, the settings of the `tokenizer` without padding and
    truncation, whether sentence vectors are made of unit length, and how many tokens are read (None: all). Without
    `counts_unknown` unknown tokens are left out, and so many characters are read as that many tokens have, as model2vec
    does; sentence-transformers counts the unknown token's row and cuts nothing before."""

    table: Table
    tokenizer: dict[str, Any]
    normalize: bool = True
    max_length: int | None = None
    counts_unknown: bool = False

    @classmethod
    def open(cls, path: Path) -> "StaticModel":
        """A folder with model2vec's config.json is read as model2vec reads it, one with modules.json alone as
        sentence-transformers, whose limit is that of tokenizer.json. Raises BadFile, WvError."""
        root = static_root(path) or path
        settings = Settings(root / "config.json", required=False)
        # model2vec goes by config.json, sentence-transformers by modules.json; an edited config.json is followed
        listed = any(kind == "Normalize" for kind, _ in modules(path))
        normalize = settings.yes("normalize") if "normalize" in settings.facts else listed
        tensors = Tensors.open(root / MODEL)
        _require_one_run(tensors, root / MODULES)
        table, tokenizer = Table.from_tensors(tensors), tokenizer_settings(root / TOKENIZER)
        _require_same_tokens(tensors, tokenizer, root / TOKENIZER)
        if modules(path) and not settings.facts:
            return cls(table, tokenizer, normalize, truncation(root / TOKENIZER), counts_unknown=True)
        has_limit = settings.facts.get("max_length", _MAX_LENGTH) is not None
        most = settings.number("max_length", 1, 1 << 30, _MAX_LENGTH) if has_limit else None
        return cls(table, tokenizer, normalize, most)

    @property
    def unknown(self) -> str | None:
        """The token that stands for unknown words."""
        return unknown_token(self.tokenizer["model"])

    @property
    def unknown_id(self) -> int | None:
        """Its number; None where no token stands for them."""
        model = self.tokenizer["model"]
        vocabulary = model["vocab"]
        found = model.get("unk_id") if isinstance(vocabulary, list) else vocabulary.get(self.unknown)
        return found if type(found) is int and 0 <= found < len(self.table) else None


def _require_same_tokens(tensors: Tensors, tokenizer: dict[str, Any], path: Path) -> None:
    """Raises BadFile when `path`, the tokenizer, has other tokens than the table was written with."""
    mark = tensors.metadata.get(TOKENS_MARK)
    if mark is not None and mark != tokens_digest(tokenizer):
        raise BadFile(path, f"its tokens are not those {tensors.path} was written with; write the folder again")


def _require_one_run(tensors: Tensors, path: Path) -> None:
    """Raises BadFile when `path`, modules.json, is not of the run that wrote the table. It is the first file of a
    folder to be replaced, the table the last one."""
    listed = read_json(path) if path.is_file() else None
    first = listed[0] if isinstance(listed, list) and listed else None
    found, expected = first.get(FOLDER_MARK) if isinstance(first, dict) else None, tensors.metadata.get(FOLDER_MARK)
    if first is not None and found != expected:
        wanted = f"no `{FOLDER_MARK}`" if expected is None else f'"{FOLDER_MARK}": {show_value(expected)}'
        problem = (
            f"is not of the run that wrote {tensors.path} (expected {wanted} in its first module, found "
            f"{'none' if found is None else show_value(found)}): a run was interrupted while it wrote the folder, or "
            "files of two folders stand together; write the folder again, or put there what is expected"
        )
        raise BadFile(path, problem)


def read(source: Input, options: ReadOptions) -> Embeddings:
    beside = Path(source.name).with_name(TOKENIZER)
    judged_later = options.limit is not None or options.bad_rows == "skip"
    tensors = Tensors.from_open_file(source)
    table = Table.from_tensors(tensors, finite=not judged_later)
    matrix = table.whole()
    if table.weights is not None and not judged_later and not np.isfinite(matrix).all():
        raise BadFile(source.name, "expected weights of rows, found one that makes its row infinite")
    if Path(source.name).name == MODEL and not beside.is_file() and TOKENS_MARK in tensors.metadata:
        problem = f"expected this file beside {source.name}, which was written with it; copy it, too"
        raise BadFile(beside, problem)
    if Path(source.name).name != MODEL or not beside.is_file():
        words = number_words(0, len(matrix))
    else:
        _require_one_run(tensors, beside.with_name(MODULES))
        tokenizer = tokenizer_settings(beside)
        tokens, unknown = _tokens(beside, tokenizer, len(matrix))
        _require_same_tokens(tensors, tokenizer, beside)
        matrix = matrix[: len(tokens)]
        if unknown is not None and not matrix[unknown].any():
            matrix, tokens = np.delete(matrix, unknown, axis=0), tokens[:unknown] + tokens[unknown + 1 :]
        words = WordList.from_words(tokens)
    count = len(matrix) if options.limit is None else min(options.limit, len(matrix))
    matrix = np.ascontiguousarray(matrix[:count])
    if options.bad_rows == "error" and (bad := first_not_finite(matrix)) is not None:
        raise BadFile(source.name, f"row {bad[0] + 1}: expected finite numbers, found {matrix[bad]}{WAY_OUT}")
    return Embeddings(words[:count], matrix)


def _tokens(path: Path, facts: dict[str, Any], rows: int) -> tuple[list[str], int | None]:
    """(the token of every row, which of them stands for unknown ones). `facts`: what the file `path` holds. Raises
    BadFile."""
    model = facts["model"]
    vocabulary: Any = model["vocab"]
    found: list[str | None] = [None] * rows
    if isinstance(vocabulary, dict):
        pairs = list(vocabulary.items())
    else:  # Unigram: [token, score] in the order of their ids
        pairs = [(each[0] if isinstance(each, list) and each else None, id) for id, each in enumerate(vocabulary)]
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
    unknown = unknown_token(model)
    return tokens, tokens.index(unknown) if unknown in tokens else None


def check(source: Input, report: Report) -> None:
    vectors = read(source, ReadOptions())
    report.promised_rows, report.dim, report.rows = len(vectors), vectors.dim, len(vectors)
    for row in np.flatnonzero(~vectors.matrix.any(axis=1)).tolist():
        report.add("zero vector", f"row {row + 1}: all numbers are 0", note=True)


FORMAT = Format(
    name="safetensors",
    summary="a model's matrix; the words in tokenizer.json beside it (a static embedding's folder), or numbers from 0",
    text=False,
    loses="is only read; `wv convert --to static` writes the folder",
    sniff=safetensors.sniff,
    read=read,
    check=check,
    skips=True,
    what="a safetensors file",
)
