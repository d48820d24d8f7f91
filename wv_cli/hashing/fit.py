"""A hasher of any method that learns from vectors: fitted on them, or read back from a file of `wv hash --save-hasher`.

bioword, which codes texts, has files of its own (bioword.py).
"""

import os
from dataclasses import asdict, replace

import numpy as np

from wv_cli.errors import BadFile, UsageError, WvError, show_value
from wv_cli.hashing import HASHERS
from wv_cli.hashing.base import Fit, ReadHasher, Train, VectorHasher, prepare_rows
from wv_cli.hashing.config import HashConfig
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.models.training import run
from wv_cli.models.training.threads import Threads
from wv_cli.models.training.trainer import Trainable, Worker
from wv_cli.registry import load
from wv_cli.vectors.codes import MAX_BITS
from wv_cli.vectors.embeddings import Embeddings


def fill_config(config: HashConfig, method: str, dim: int) -> HashConfig:
    """`config` with the method's own choices for what is 0 or auto; `expansion` is 0 unless codes are sparse. Raises
    UsageError for what does not fit."""
    row = HASHERS.find(method)
    length, expansion = config.length or row.length(dim), 0
    if row.expansion is not None:
        expansion = config.expansion or row.expansion(length, dim)
        if length >= expansion:
            message = f"--length {length} active bits of --expansion {expansion}: the expansion must be larger"
            raise UsageError(message)
        if config.rank > expansion:
            raise UsageError(f"--rank {config.rank}: expected at most the {expansion} units of --expansion; lower it")
        if expansion > MAX_BITS:
            message = f"--length {length}: codes of {expansion:,} bits; expected at most {MAX_BITS:,}; lower --length"
            raise UsageError(message)
    elif config.expansion:
        sparse = ", ".join(name for name, other in HASHERS.items() if other.expansion is not None)
        message = f"--expansion is for sparse codes ({sparse}), not {method}"
        raise UsageError(message)
    if row.kind == "product" and (config.center not in ("auto", "none") or config.threshold != "zero"):
        message = f"--center and --threshold are for codes of bits; {method} keeps the vector itself, nearly"
        raise UsageError(message)
    if row.sparse and config.threshold == "median":
        message = f"--threshold median is for dense codes; {method} chooses the highest units"
        raise UsageError(message)
    center = row.center if config.center == "auto" else config.center
    return replace(config, length=length, expansion=expansion, center=center)


def train_to_the_end(model: Trainable[Worker]) -> run.Outcome:
    """Trains by one thread and saves nothing."""
    return run.train(Threads(model))


def fit(
    embeddings: Embeddings,
    method: str,
    config: HashConfig,
    *,
    name: str = "the vectors",
    train: Train = train_to_the_end,
) -> VectorHasher | None:
    """A hasher fitted on the rows of `embeddings`, called `name` in messages. `train` runs what trains by steps; None
    when that stopped early. Raises UsageError and WvError."""
    config, row = fill_config(config, method, embeddings.dim), HASHERS.find(method)
    if not len(embeddings):
        raise WvError(f"{name}: there are no vectors to fit on")
    x = prepare_rows(embeddings, slice(None), config.normalize, "row" if config.center == "row" else "none", name=name)
    mean = np.zeros(embeddings.dim, np.float32)
    if config.center == "mean":
        mean = x.mean(axis=0, dtype=np.float64).astype(np.float32)
        x -= mean
    fit_rows: Fit = load(row.learner)
    fitted = fit_rows(method, x, config, train)
    if fitted is None:
        return None
    options = {key: value for key, value in asdict(config).items() if key in row.options}
    return fitted.hasher(method, x, mean, config, {**options, "dim": embeddings.dim, "fitted_on": len(embeddings)})


def load_hasher(path: str | os.PathLike[str]) -> VectorHasher:
    """Raises BadFile, WvError."""
    with open_input(path, "a hasher") as source:
        if source.peek(9) == b"wv codes ":
            problem = "these are codes, not the hasher that made them (`wv hash --save-hasher FILE` writes one)"
            raise BadFile(source.name, problem, byte=0)
        reader = container.Reader(source, "hasher", advice="make it again with --save-hasher")
        method = reader.fact("method", str)
        known = [name for name, row in HASHERS.items() if row.learns_from == "vectors"]
        if method not in known:
            reader.refuse(f"expected a hasher of one of the methods {', '.join(known)}, found {show_value(method)}")
        read: ReadHasher = load(f"{HASHERS[method].loader}:read_hasher")
        return read(reader)
