"""One `wv hash` run: vectors to codes, by a hasher fitted on them or made before."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from wv_cli import formats
from wv_cli.config import flag_of
from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome, Worker
from wv_cli.engine.saved_run import Savable
from wv_cli.errors import UsageError, shown
from wv_cli.formats.codes import save as save_codes
from wv_cli.hashing import HASHERS
from wv_cli.hashing.base import VectorHasher
from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.fit import fit
from wv_cli.hashing.saved import load_hasher
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.session import Observe, Reading
from wv_cli.jobs.training_session import TrainingSession
from wv_cli.system.events import Log as Say
from wv_cli.system.output import write_together
from wv_cli.vectors.embeddings import Embeddings


@dataclass(frozen=True, kw_only=True)
class HashSession(TrainingSession):
    """What to read, what to write; the method's options are in `config`."""

    # A saved hasher is applied as it is.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(HashConfig.options().keys() - {"threads"}, "not hasher")

    config: HashConfig
    vectors: str
    method: str | None = None
    hasher: str | None = None
    save_hasher: str | None = None
    from_format: str | None = None
    limit: int | None = None

    def check_options(self) -> None:
        if bool(self.hasher) == bool(self.method):
            message = "give either --method, to fit a hasher on VECTORS, or --hasher FILE, one made before"
            raise UsageError(message)
        if not self.outputs and not self.save_hasher:
            message = "-o FILE is missing (or --save-hasher FILE alone, to fit and not to encode)"
            raise UsageError(message)
        if self.method and HASHERS.find(self.method).learns_from == "text":
            message = f"{self.method} learns from a text, not from vectors: see `wv {self.method} --help`"
            raise UsageError(message)

    def refuse_idle(self) -> None:
        if self.method is not None:
            self._refuse_of_other_methods(self.method)
        super().refuse_idle()

    def _refuse_of_other_methods(self, chosen: str) -> None:
        for name in self.named:
            used = [method for method, row in HASHERS.items() if row.config is HashConfig and name in row.used]
            if used and chosen not in used:
                message = f"{flag_of(name)} has no meaning for --method {chosen}; it goes with {', '.join(used)}"
                raise UsageError(message)

    def read(self) -> list[str]:
        return [self.vectors, *([self.hasher] if self.hasher else [])]

    def results(self) -> list[str]:
        return super().results() + ([self.save_hasher] if self.save_hasher else [])

    @property
    def by_steps(self) -> bool:
        return self.method is not None and HASHERS.find(self.method).by_steps(self.config)

    @property
    def workers(self) -> int:
        """One: a step trains a batch of rows."""
        return 1

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: fits or loads a hasher, saves it and the codes. Not `observe` but `say` is told how a
        training goes, once an epoch; `reading` is told how many rows are encoded."""
        begin = time.monotonic()
        hasher = load_hasher(self.hasher) if self.hasher else None
        embeddings = formats.load(self.vectors, format=self.from_format, limit=self.limit)
        zero = embeddings.zero_rows()
        if len(zero):
            rows = "1 row is" if len(zero) == 1 else f"{len(zero):,} rows are"
            first = shown(embeddings.words.bytes_at(int(zero[0])))
            say(
                f"{rows} zero, the first row {zero[0] + 1}, the word {first}: such codes mean nothing",
                zero_rows=len(zero),
            )
        outcome = None
        if hasher is None:
            hasher, outcome = self._fitted(embeddings, say)
        if hasher is None:
            return outcome, {}
        facts: Facts = {
            "method": hasher.method,
            "bits": hasher.units,
            "active": hasher.active,
            "words": len(embeddings),
            "parameters": hasher.parameters,
            "fitting_seconds": round(time.monotonic() - begin, 3),
        }
        writers: list[tuple[str, Callable[[str], None]]]
        writers = [(self.save_hasher, hasher.save)] if self.save_hasher else []
        if self.outputs:
            begin = time.monotonic()
            tell = (lambda done: reading(done, len(embeddings))) if reading else None
            codes = hasher.encode(embeddings, name=self.vectors, threads=self.config.threads, progress=tell)
            facts["encoding_seconds"] = round(time.monotonic() - begin, 3)
            facts["bits_per_word"] = codes.bits_per_word
            writers += [(path, lambda path: save_codes(path, codes)) for path in self.outputs]
        write_together(writers)
        self.finish(self.outputs, facts)
        return outcome, facts

    def _fitted(self, embeddings: Embeddings, say: Say) -> tuple[VectorHasher | None, Outcome | None]:
        """The hasher, None when its training was stopped; the outcome of the training, if there was one."""
        outcomes: list[Outcome] = []

        def train(model: Savable[Worker]) -> Outcome:
            advice = f"lower --lr (now {self.config.lr:g})"
            outcomes.append(self.train(model, self.first_step(model, say), _Epochs(say), advice))
            return outcomes[-1]

        assert self.method is not None, "checked by validate()"
        hasher = fit(embeddings, self.method, self.config, name=self.vectors, train=train)
        return hasher, outcomes[-1] if outcomes else None


class _Epochs:
    """Observes a run and reports the energy of the last epoch that is complete."""

    def __init__(self, say: Say) -> None:
        self._say, self._told = say, 0

    def __call__(self, now: Progress) -> None:
        done = int(now.fraction * now.epochs + 1e-9)
        if done > self._told and now.loss is not None:
            self._told = done
            self._say(f"epoch {done}/{now.epochs}  energy {now.loss:.5f}", epoch=done, energy=now.loss)
