"""`wv hash`: vectors to codes, by a hasher fitted on them or made before."""

import time
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import TrainingJob, Writer
from wv_cli.commands.part import Part
from wv_cli.commands.parts.outputs import CodeOutputs
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.parts.vectors import VectorInput
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option
from wv_cli.config.wording import either, flag_of
from wv_cli.errors import UsageError, show_bytes
from wv_cli.hashing import HASHERS
from wv_cli.hashing.config import HashConfig
from wv_cli.io.events import Log
from wv_cli.io.output import write_together
from wv_cli.models.training.progress import Progress
from wv_cli.models.training.run import Outcome
from wv_cli.models.training.trainer import Worker
from wv_cli.vectors.file_options import NO_BITS

if TYPE_CHECKING:
    from wv_cli.hashing.base import VectorHasher
    from wv_cli.models.training.saved_run import Savable
    from wv_cli.vectors.embeddings import Embeddings


def _name_methods(kind: str) -> str:
    return ", ".join(name for name, row in HASHERS.items() if row.kind == kind and row.learns_from == "vectors")


@frozen
class Hasher(Part):
    """The hasher of a run: fitted by `method`, or read from the file `hasher`; `save_hasher` gets a fitted one."""

    # A saved hasher is applied as it is.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(HashConfig.options().keys() - {"threads"}, "not hasher")

    method: str | None = option(
        None,
        "Hasher to fit on VECTORS; for text see wv bioword.",
        short="m",
        choices=HASHERS,
        group="Method",
    )
    hasher: str | None = option(None, "Apply this saved hasher instead of fitting one.", role="read", group="Input")
    save_hasher: str | None = option(None, "Save the fitted hasher, for --hasher.", role="result", group="Output")

    def check(self) -> None:
        if self.hasher and self.method:
            message = "--method and --hasher cannot be used together: a saved hasher has its method; leave one out"
            raise UsageError(message)
        if not (self.hasher or self.method):
            message = "--method is missing, the hasher to fit on VECTORS (or --hasher FILE, a saved one)"
            raise UsageError(message)
        if self.method and HASHERS.find(self.method).learns_from == "text":
            message = f"--method {self.method} learns from a text, not from vectors; see `wv {self.method} --help`"
            raise UsageError(message)


@frozen
class HashJob(TrainingJob):
    __doc__ = f"""Turn VECTORS into binary codes, which take less memory and are compared faster.

    Dense codes ({_name_methods("dense")}) are the signs of projections. Sparse codes ({_name_methods("sparse")}) are
    the few most active of many units. Both are compared by counting bits. Codes of {_name_methods("product")} are bytes
    that name centroids; they are compared by the vectors that they stand for.

    `wv bioword` learns codes of words from a text.
    """

    READING: ClassVar[tuple[str, str]] = ("rows", "encoding")
    SHOWS_TRAINING: ClassVar[bool] = False

    config: HashConfig
    vectors: VectorInput
    outputs: CodeOutputs = field(default_factory=CodeOutputs)
    hasher: Hasher = field(default_factory=Hasher)
    resume: Resume = field(default_factory=Resume)

    def check(self) -> None:
        if not self.outputs.outputs and not self.hasher.save_hasher:
            message = "-o FILE is missing (or --save-hasher FILE alone, to fit and not to encode)"
            raise UsageError(message)
        chosen = self.hasher.method
        if chosen is not None and self.outputs.packed and HASHERS.find(chosen).kind == "product":
            message = f"--packed and --method {chosen} cannot be used together: {NO_BITS}"
            raise UsageError(message)
        for name in self.invocation.explicit if chosen is not None else ():
            used = [
                method for method, row in HASHERS.items() if row.config is HashConfig and name in row.effective_options
            ]
            if used and chosen not in used:
                message = f"{flag_of(name)} has no effect with --method {chosen}; it needs --method {either(used)}"
                raise UsageError(message)

    def figures(self, metadata: Mapping[str, Any]) -> str:
        bits = f"{metadata['bits']} bits"
        kind = f"{metadata['active']} of {bits}" if metadata["active"] else bits
        return f": {metadata['words']:,} words, {metadata['method']}, {kind}"

    @property
    def trains(self) -> bool:
        method = self.hasher.method
        return method is not None and HASHERS.find(method).by_steps(self.config)

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: fits or loads a hasher, saves it and the codes. The log is told how a training goes, once an
        epoch; `on_reading` is told how many rows are encoded."""
        from wv_cli.hashing.fit import load_hasher

        begin = time.monotonic()
        hasher = load_hasher(self.hasher.hasher) if self.hasher.hasher else None
        embeddings, name = self.vectors.load(), self.vectors.vectors
        zero = embeddings.zero_rows()
        if len(zero):
            rows = "1 row is" if len(zero) == 1 else f"{len(zero):,} rows are"
            first = show_bytes(embeddings.words.bytes_at(int(zero[0])))
            run.log(
                f"{rows} zero, the first row {zero[0] + 1}, the word {first}: such codes mean nothing",
                zero_rows=len(zero),
            )
        outcome = None
        if hasher is None:
            hasher, outcome = self._fit_hasher(embeddings, run)
        if hasher is None:
            return outcome, {}
        metadata: Metadata = {
            "method": hasher.method,
            "bits": hasher.units,
            "active": hasher.active,
            "words": len(embeddings),
            "parameters": hasher.parameters,
            "fitting_seconds": round(time.monotonic() - begin, 3),
        }
        writers: list[Writer] = [(path, hasher.save) for path in self.hasher.results()]
        if self.outputs.outputs:
            begin, on_reading = time.monotonic(), run.on_reading
            tell = (lambda done: on_reading(done, len(embeddings))) if on_reading else None
            codes = hasher.encode(embeddings, name=name, threads=self.config.threads, progress=tell)
            metadata["encoding_seconds"] = round(time.monotonic() - begin, 3)
            metadata["bits_per_word"] = codes.bits_per_word
            writers += self.outputs.writers(codes)
        write_together(writers)
        self.finish(run, self.outputs.outputs, metadata)
        return outcome, metadata

    def _fit_hasher(self, embeddings: "Embeddings", run: Run) -> "tuple[VectorHasher | None, Outcome | None]":
        """The hasher, None when its training was stopped; the outcome of the training, if there was one."""
        from wv_cli.hashing.fit import fit

        outcomes: list[Outcome] = []

        def train(model: "Savable[Worker]") -> Outcome:
            advice = f"lower --lr (now {self.config.lr:g})"
            # A step trains a batch of rows.
            outcomes.append(run.train(model, threads=1, advice=advice, on_progress=_Epochs(run.log)))
            return outcomes[-1]

        method = self.hasher.method
        assert method is not None, "checked by validate()"
        hasher = fit(embeddings, method, self.config, name=self.vectors.vectors, train=train)
        return hasher, outcomes[-1] if outcomes else None


class _Epochs:
    """Observes a run and reports the energy of the last epoch that is complete."""

    def __init__(self, log: Log) -> None:
        self._log, self._told = log, 0

    def __call__(self, now: Progress) -> None:
        done = int(now.fraction * now.epochs + 1e-9)
        if done > self._told and now.loss is not None:
            self._told = done
            self._log(f"epoch {done}/{now.epochs}  energy {now.loss:.5f}", epoch=done, energy=now.loss)
