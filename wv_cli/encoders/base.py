"""What an encoder is to the rest of the program, and sentences -> vectors by one, in batches of like length."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError
from wv_cli.io.blas import one_thread
from wv_cli.io.events import OnProgress
from wv_cli.io.folders import Usage
from wv_cli.io.threads import run_all

# Of a batch: sentences, tokens with padding, and pairs of tokens of a sentence, of which attention has a number each.
# They bound the memory that long sentences take.
SENTENCES = 64
_TOKENS = 1 << 14
_PAIRS = 1 << 21

# The states of a batch: one (n, tokens, dim) for each of the layers asked for, and the mask (n, tokens) of real tokens.
States = tuple[list[NDArray[np.float32]], NDArray[np.bool_]]


class Encoder(Protocol):
    """`layers` stand above layer 0, the embeddings; `pooling` and `normalize` are its maker's choice. `dim`: numbers of
    its vectors, the first of those that its states have; with `scales_whole` vectors are scaled to unit length before
    these are taken. `parallel`: states() may run in several threads at once.
    `in_order`: what comes out depends on the sentences before, even on empty ones; they are encoded one at a time."""

    name: str
    dim: int
    layers: int
    pooling: str
    normalize: bool
    scales_whole: bool
    parallel: bool
    in_order: bool

    def tokens(self, texts: Sequence[str], *, prompt: str | None = None) -> tuple[list[NDArray[Any]], int]:
        """(tokens of each sentence, along the first axis; how many sentences were cut). The `prompt` stands
        before each; None: the folder's default."""

    def names(self, text: str, tokens: NDArray[Any]) -> list[str]:
        """What the tokens of one sentence are called."""

    def states(self, tokens: Sequence[NDArray[Any]], layers: Sequence[int]) -> States:
        """Of a batch of sentences that have at least one token. Raises BadFile for a network that cannot run."""


@runtime_checkable
class WithMeans(Protocol):
    """An encoder that makes the means of layer 0 without its states."""

    def means(self, tokens: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """(n, numbers of a state): of sentences that have at least one token."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """(sentences, dim) vectors; `empty` marks sentences without any token, which are zero; `cut` counts those that were
    longer than is read, `tokens` all that were read."""

    vectors: NDArray[np.float32]
    empty: NDArray[np.bool_]
    cut: int
    tokens: int


def encode(
    encoder: Encoder,
    texts: Sequence[str],
    poolings: Sequence[Pooling],
    *,
    normalize: bool = False,
    threads: int = 1,
    batch_size: int = SENTENCES,
    prompt: str | None = None,
    progress: OnProgress | None = None,
) -> list[Encoded]:
    """One for each of the poolings, of one pass through the encoder, which takes at most `batch_size` sentences at
    once. `progress` is told of sentences, `prompt` is that of Encoder.tokens. Raises BadFile for an encoder whose
    numbers overflow."""
    tokens, cut = encoder.tokens(texts, prompt=prompt)
    vectors = encode_ids(
        encoder, tokens, poolings, normalize=normalize, threads=threads, batch_size=batch_size, progress=progress
    )
    lengths = np.array([len(each) for each in tokens], np.int64)
    return [Encoded(each, lengths == 0, cut, int(lengths.sum())) for each in vectors]


def encode_ids(
    encoder: Encoder,
    tokens: Sequence[NDArray[Any]],
    poolings: Sequence[Pooling],
    *,
    normalize: bool = False,
    threads: int = 1,
    batch_size: int = SENTENCES,
    progress: OnProgress | None = None,
    nan_to_zero: bool = False,
) -> list[NDArray[np.float32]]:
    """The vectors alone, of sentences given by their `tokens`. Raises BadFile, with `nan_to_zero` for infinity only."""
    lengths = np.array([len(each) for each in tokens], np.int64)
    layers = sorted({layer for pooling in poolings for layer in pooling.layers})
    results = [np.zeros((len(tokens), encoder.dim), np.float32) for _ in poolings]
    lock, done = threading.Lock(), 0
    only_means = isinstance(encoder, WithMeans) and all(pooling.is_mean_of(0) for pooling in poolings)

    def join_all(batch: list[NDArray[Any]]) -> list[NDArray[np.float64]]:
        if only_means and isinstance(encoder, WithMeans):
            return [encoder.means(batch) for _ in poolings]
        states, mask = encoder.states(batch, layers)
        return [pooling.join([states[layers.index(layer)] for layer in pooling.layers], mask) for pooling in poolings]

    def work(rows: NDArray[np.int64]) -> None:
        nonlocal done
        for joined, result in zip(join_all([tokens[row] for row in rows.tolist()]), results, strict=True):
            pooled = joined if encoder.scales_whole else joined[:, : encoder.dim]
            if nan_to_zero:
                pooled[np.isnan(pooled)] = 0
            _require_finite(encoder, pooled)
            result[rows] = (unit_rows(pooled) if normalize else pooled)[:, : encoder.dim]
        with lock:
            done += len(rows)
            if progress is not None and done < len(tokens):
                progress(done, len(tokens))

    with one_thread():
        run_all(
            work, _batches(encoder, lengths, batch_size), threads if encoder.parallel and not encoder.in_order else 1
        )
    if progress is not None:
        progress(len(tokens), len(tokens))
    return results


def encode_tokens(encoder: Encoder, texts: Sequence[str], pooling: Pooling) -> list[NDArray[np.float32]]:
    """(tokens, dim) of each sentence: every token's own vector, of the layers of `pooling`. Raises BadFile."""
    tokens, _ = encoder.tokens(texts)
    found = [np.zeros((0, encoder.dim), np.float32) for _ in texts]
    for rows in _batches(encoder, np.array([len(each) for each in tokens], np.int64)):
        states, mask = encoder.states([tokens[row] for row in rows.tolist()], pooling.layers)
        combined = pooling.combine(states, mask)[:, :, : encoder.dim]
        for row, vectors, real in zip(rows.tolist(), combined, mask, strict=True):
            found[row] = vectors[real]
            _require_finite(encoder, found[row])
    return found


def kept_dim(config: EncoderConfig, dim: int, name: str, usage: Usage) -> tuple[int, bool]:
    """(numbers of a vector that are kept of `dim`, whether they are taken after scaling, as the folder says and not
    `config`). Raises UsageError for more, BadFile for a folder that says more."""
    if config.dim > dim:
        message = f"--dim {config.dim} is more than the {dim} numbers of {name}"
        raise UsageError(message)
    if config.dim or usage.truncate_dim is None:
        return config.dim or dim, False
    return min(usage.truncate_dim, dim), True


def _require_finite(encoder: Encoder, vectors: NDArray[np.floating]) -> None:
    if not np.isfinite(vectors).all():
        raise BadFile(encoder.name, "gives nan or infinity for a sentence: its weights are damaged")


def _batches(encoder: Encoder, lengths: NDArray[np.int64], batch_size: int = SENTENCES) -> list[NDArray[np.int64]]:
    return [np.array([row]) for row in range(len(lengths))] if encoder.in_order else batches(lengths, batch_size)


def batches(lengths: NDArray[np.int64], batch_size: int = SENTENCES) -> list[NDArray[np.int64]]:
    """Rows of sentences of at least one token, the longest first, so that too little memory shows at once."""
    order = np.argsort(-lengths, kind="stable")
    order = order[: np.count_nonzero(lengths)]
    starts = [0]
    while starts[-1] < len(order):
        longest = int(lengths[order[starts[-1]]])
        count = max(1, min(batch_size, _TOKENS // longest, _PAIRS // longest**2))
        starts.append(min(len(order), starts[-1] + count))
    return [order[first:last] for first, last in pairwise(starts)]


def unit_rows(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of length 1; zero rows stay."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms == 0, 1, norms)


def pad_batch(tokens: Sequence[NDArray[Any]], padding: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """((n, tokens) ids, (n, tokens) mask) of a batch, sentences begun at the left."""
    lengths = np.array([len(each) for each in tokens])
    mask = np.arange(lengths.max())[None, :] < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.concatenate(tokens)
    return ids, mask
