"""One `wv hash` run: vectors to codes, by a hasher fitted on them or made before. Prints nothing: `say` is told."""

import importlib
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from wv_cli import formats
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import resume, train_saving
from wv_cli.errors import UsageError
from wv_cli.formats.codes import save as save_codes
from wv_cli.hashing import HASHERS, TEXT_HASHERS
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.linear import LinearHasher, prepared
from wv_cli.hashing.product import ProductHasher, product_length
from wv_cli.hashing.saved import Hasher, load_hasher
from wv_cli.system import meta
from wv_cli.system.output import check_writable, remove_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.quantizer import ProductQuantizer

Say = Callable[..., None]
DENSE_LENGTH, SPARSE_LENGTH = 128, 32


@dataclass(frozen=True)
class HashSession:
    """What to read, what to write; the method's options are in `config`."""

    vectors: str
    outputs: tuple[str, ...]
    config: HashConfig
    method: str | None = None
    hasher: str | None = None
    save_hasher: str | None = None
    from_format: str | None = None
    limit: int | None = None
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    resume: bool = False
    max_seconds: float | None = None
    write_meta: bool = True
    argv: tuple[str, ...] = field(default=())

    def validate(self) -> None:
        """Checks everything that can be checked before reading. Raises UsageError or WvError."""
        self.config.validate()
        if bool(self.hasher) == bool(self.method):
            message = "give either --method, to fit a hasher on VECTORS, or --hasher FILE, one made before"
            raise UsageError(message)
        if not self.outputs and not self.save_hasher:
            message = "-o FILE is missing (or --save-hasher FILE alone, to fit and not to encode)"
            raise UsageError(message)
        if self.method in TEXT_HASHERS:
            message = f"{self.method} learns from a text, not from vectors: see `wv {self.method} --help`"
            raise UsageError(message)
        if self.method:
            HASHERS.find(self.method)
        written = [path for path in (*self.outputs, self.save_hasher, self.checkpoint_path) if path]
        for path in written:
            check_writable(path)
            if path != "-" and os.path.realpath(path) in {
                os.path.realpath(p) for p in (self.vectors, self.hasher or "-")
            }:
                message = f"{path}: is both read and written; choose another output"
                raise UsageError(message)

    @property
    def checkpoint_path(self) -> str | None:
        """None for what is fitted in one go."""
        if self.method != "biohash" or self.config.rule != "sgd":
            return None
        target = next((path for path in (*self.outputs, self.save_hasher) if path and path != "-"), None)
        return self.checkpoint or (f"{target}.checkpoint" if target else None)


def filled(config: HashConfig, method: str, dim: int) -> HashConfig:
    """`config` with the method's own choices for what is 0 or auto. Raises UsageError for what does not fit."""
    row = HASHERS.find(method)
    length = config.length or (SPARSE_LENGTH if row.sparse else dim if method == "sign" else DENSE_LENGTH)
    if method in ("pcah", "itq") and not config.length:
        length = min(length, dim)
    if row.kind == "product":
        length = product_length(config.length, dim, DENSE_LENGTH)
        if config.centre not in ("auto", "none") or config.threshold != "zero":
            message = f"--centre and --threshold are for codes of bits; {method} keeps the vector itself, nearly"
            raise UsageError(message)
    expansion = 0
    if row.sparse:
        expansion = config.expansion or (20 * length if method == "biohash" else 10 * dim)
        if length >= expansion:
            message = f"--length {length} active bits of --expansion {expansion}: the expansion must be larger"
            raise UsageError(message)
    elif config.expansion:
        message = (
            f"--expansion is for sparse codes ({', '.join(n for n, r in HASHERS.items() if r.sparse)}), not {method}"
        )
        raise UsageError(message)
    centre: Any = row.centre if config.centre == "auto" else config.centre
    return replace(config, length=length, expansion=expansion, centre=centre)


def fit(
    embeddings: Embeddings,
    method: str,
    config: HashConfig,
    *,
    place: str = "the vectors",
    train: Callable[[Any], Outcome] | None = None,
) -> Hasher | None:
    """A hasher fitted on the rows of `embeddings`. `train` runs what trains by steps (engine.run.train by default);
    None when that stopped early. Raises UsageError and WvError."""
    config = filled(config, method, embeddings.dim)
    row = HASHERS.find(method)
    every = slice(None)
    x = prepared(embeddings, every, config.normalize, "row" if config.centre == "row" else "none", place=place)
    mean = np.zeros(embeddings.dim, np.float32)
    if config.centre == "mean":
        mean = x.mean(axis=0, dtype=np.float64).astype(np.float32)
        x -= mean
    fitted = importlib.import_module(row.module).fit(method, x, config, *([train] if train else []))
    if fitted is None:
        return None
    options = {key: value for key, value in asdict(config).items() if key in _USED[method] or key in _COMMON}
    parameters = {**options, "dim": embeddings.dim, "fitted_on": len(embeddings)}
    if isinstance(fitted, ProductQuantizer):
        return ProductHasher(method, config.normalize, fitted, parameters)
    thresholds = fitted.thresholds
    if thresholds is None:
        thresholds = np.zeros(len(fitted.weights), np.float32)
    if config.threshold == "median":
        if row.sparse:
            message = f"--threshold median is for dense codes; {method} chooses the highest units"
            raise UsageError(message)
        for unit, weights in enumerate(fitted.weights):
            thresholds[unit] = np.median(x @ weights)
    return LinearHasher(
        method=method,
        active=config.length if row.sparse else 0,
        normalise=config.normalize,
        centre=config.centre,
        mean=mean,
        weights=np.ascontiguousarray(fitted.weights),
        thresholds=np.ascontiguousarray(thresholds),
        parameters=parameters,
    )


_COMMON = {"length", "normalize", "centre", "seed"}
_SGD = {"rule", "p", "rank", "delta", "lr", "epochs", "batch", "normalize_weights", "expansion"}
_USED = {
    "lsh": {"threshold", "orthogonal"},
    "fly": {"expansion", "sampling"},
    "densefly": {"threshold", "sampling"},
    "randexp": {"expansion"},
    "biohash": _SGD,
    "pcah": {"threshold"},
    "itq": {"threshold", "iterations"},
    "sign": {"threshold"},
    "pq": set(),
}


def run(
    session: HashSession, say: Say, progress: Callable[[int, int], None] | None = None
) -> tuple[Outcome | None, dict[str, Any]]:
    """Fits or loads a hasher, writes it and the codes. Returns the outcome of a training that stopped early (else None)
    and the facts recorded beside the codes. Raises WvError and its kin for everything the user can mend."""
    session.validate()
    begin = time.monotonic()
    hasher = load_hasher(session.hasher) if session.hasher else None
    embeddings = formats.load(session.vectors, format=session.from_format, limit=session.limit)
    stopped: list[Outcome] = []

    def train(model: Any) -> Outcome:
        outcome = _train(session, model, say)
        if not outcome.finished:
            stopped.append(outcome)
        return outcome

    if session.method:
        by_steps = session.method == "biohash" and session.config.rule == "sgd"
        hasher = fit(
            embeddings, session.method, session.config, place=session.vectors, train=train if by_steps else None
        )
    if hasher is None:
        return stopped[0], {}
    facts: dict[str, Any] = {
        "method": hasher.method,
        "bits": hasher.units,
        "active": hasher.active,
        "words": len(embeddings),
        "parameters": hasher.parameters,
        "fitting_seconds": round(time.monotonic() - begin, 3),
    }
    if session.save_hasher:
        hasher.save(session.save_hasher)
    if session.outputs:
        tell = (lambda done: progress(done, len(embeddings))) if progress else None
        begin = time.monotonic()
        codes = hasher.encode(embeddings, place=session.vectors, threads=session.config.threads, progress=tell)
        facts["encoding_seconds"] = round(time.monotonic() - begin, 3)
        facts["bits_per_word"] = codes.bits_per_word
        for path in session.outputs:
            save_codes(path, codes)
            if session.write_meta and path != "-":
                meta.write(path, list(session.argv), facts)
    if session.checkpoint_path:
        remove_output(session.checkpoint_path)
    return None, facts


def _train(session: HashSession, model: Any, say: Say) -> Outcome:
    told = 0

    def observe(now: Progress) -> None:
        nonlocal told
        done = int(now.fraction * model.epochs + 1e-9)
        if done > told and now.loss is not None:
            told = done
            say(f"epoch {done}/{model.epochs}  energy {now.loss:.5f}", epoch=done, energy=now.loss)

    path = session.checkpoint_path
    return train_saving(
        path,
        model,
        first_step=resume(path, model, say) if session.resume and path else 0,
        threads=1,
        save_every=session.checkpoint_every,
        max_seconds=session.max_seconds,
        observe=observe,
        advice=f"lower --lr (now {session.config.lr:g})",
    )
