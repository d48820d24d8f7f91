"""The model of an index's vectors: texts -> int8 vectors, and those nearest to a query."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli import _search
from wv_cli.errors import BadFile, WvError, reason
from wv_cli.io.folders import SMALL, find_folder
from wv_cli.io.memory import allocate_aligned, pad_width
from wv_cli.io.remote import is_remote, show_names
from wv_cli.vectors.neighbors.topk import NO_HIT, Hits, make_empty_hits, merge
from wv_cli.vectors.stored_index import DIGEST_BYTES

_PIECE, _PIECES = 1 << 18, 64  # bytes of a file that its digest reads, and how many such pieces
_LARGEST = 127


class Model:
    """Texts -> vectors (n, dim), zero for a text without a known word. A model is the folder of a static embedding or
    of another encoder, its name in the local hub cache, or a file of word vectors, of which a text has the mean. Raises
    BadFile, WvError."""

    def __init__(self, path: str, threads: int = 1) -> None:
        found = find_folder(_copy_here(path))
        self._path = str(found.absolute())
        # The program lies elsewhere on another machine, and after an upgrade of Python.
        is_shipped = path == SMALL and found != Path(path)
        self.name, self.digest = SMALL if is_shipped else show_names(self._path), model_digest(str(found))
        self._threads = threads
        self._encode: Callable[[Sequence[str]], NDArray[np.float32]] | None = None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._encode is None:
            from wv_cli.encoders import encoder_folder

            folder = encoder_folder(self._path) or self._path
            self._encode = _encoder(folder, self._threads) if Path(folder).is_dir() else _words(self._path)
        vectors = self._encode(texts)
        if not np.isfinite(vectors).all():
            raise BadFile(self.name, "gives nan or infinity for a text: its vectors are damaged")
        return vectors


def _copy_here(path: str) -> str:
    if not is_remote(path):
        return path
    from wv_cli.io.remote_copies import local_copy

    return local_copy(path)


def _encoder(path: str | Path, threads: int) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    from wv_cli.encoders import open_encoder
    from wv_cli.encoders.base import encode
    from wv_cli.encoders.pooling import Pooling

    encoder = open_encoder(path)
    pooling = [Pooling.parse(encoder.pooling, encoder.layers, encoder.name)]
    return lambda texts: encode(encoder, texts, pooling, threads=threads)[0].vectors


def _words(path: str) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    from wv_cli.transforms.composition import composer
    from wv_cli.vectors.formats import open_vectors

    lines = composer(open_vectors(path, mapped=True), path).lines
    return lambda texts: lines([text.replace("\n", " ") for text in texts])


def model_digest(path: str) -> str:
    """Of the names, sizes and bytes of a model's files; of large ones it reads pieces at even distances. Raises
    WvError."""
    found = hashlib.blake2b(digest_size=DIGEST_BYTES)
    root = Path(path)
    if root.exists() and not (root.is_file() or root.is_dir()):
        raise WvError(f"{path}: expected a model's file or folder, found a pipe or device")
    try:
        files = sorted(each for each in root.rglob("*") if each.is_file()) if root.is_dir() else [root]
        for file in files:
            with file.open("rb", buffering=0) as stream:
                size = os.fstat(stream.fileno()).st_size
                found.update(f"{'' if file is root else file.relative_to(root)}\0{size}\0".encode(errors="replace"))
                step = max(_PIECE, (size - _PIECE) // (_PIECES - 1))
                for start in range(0, size, step):
                    stream.seek(min(start, max(0, size - _PIECE)) if step > _PIECE else start)
                    found.update(stream.read(_PIECE))
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        message = f"{path}: cannot read the model: {why}"
        raise WvError(message) from error
    return found.hexdigest()


def to_int8(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """(rows whose largest number is 127, their lengths)."""
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    rows = np.rint(vectors / np.where(largest == 0, 1, largest) * _LARGEST).astype(np.int8)
    return rows, np.linalg.norm(rows.astype(np.float32), axis=1).astype(np.float32)


def nearest(
    rows: NDArray[np.int8], norms: NDArray[np.float32], queries: NDArray[np.float32], k: int, isa: str | None = None
) -> Hits:
    """The k rows of highest cosine for each query, none of which is zero. A row of length 0 is no answer; any other has
    a number 127, and so at least this length."""
    wide = queries.astype(np.float64)  # whose squares do not overflow
    unit = allocate_aligned((len(queries), pad_width(queries.shape[1])))
    unit[:] = 0
    unit[:, : queries.shape[1]] = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    hits, scores = make_empty_hits(len(queries), min(k, len(rows)), NO_HIT)
    _search.int8_top_k(rows, norms, _LARGEST, unit, scores, hits, isa)
    return merge([(hits, scores)], k)
