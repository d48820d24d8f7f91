"""What every training session has in common: what is read and written, the checks made before any work, the checkpoint,
and the end, when results are saved and the checkpoint is removed.

Prints nothing: sessions tell an observer about progress and `say` about events.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from wv_cli.engine.progress import Progress
from wv_cli.engine.run import Outcome
from wv_cli.engine.saved_run import Savable, resume, train_saving
from wv_cli.errors import UsageError
from wv_cli.system import meta
from wv_cli.system.output import check_writable, remove_output
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus

Say = Callable[..., None]
Observe = Callable[[Progress], None]
Reading = Callable[[int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class Session:
    """What to read, what to write and how to watch; the model's options are in `config`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    config: Any
    vocab_config: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    memory: int | None = None
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    resume: bool = False
    max_seconds: float | None = None
    write_meta: bool = True
    argv: tuple[str, ...] = ()

    def validate(self) -> None:
        """Checks everything that can be checked before reading. Raises UsageError or WvError."""
        self.config.validate()
        self.vocab_config.validate()
        self.check_options()
        if (self.resume or self.checkpoint_every) and self.checkpoint_path is None:
            message = "a run that writes no file needs --checkpoint FILE to save and resume"
            raise UsageError(message)
        for path in self.written():
            check_writable(path)
        sources = {os.path.realpath(path) for path in self.read() if path != "-"}
        for path in self.written():
            if path != "-" and os.path.realpath(path) in sources:
                message = f"{path}: is both read and written; choose another output"
                raise UsageError(message)

    def check_options(self) -> None:
        """Raises UsageError for options that do not go together."""

    def read(self) -> list[str]:
        """The files this session reads."""
        return [path for path in (*self.inputs, self.vocab) if path]

    def written(self) -> list[str]:
        """The files this session writes."""
        return [path for path in (*self.outputs, self.checkpoint_path) if path]

    @property
    def checkpoint_path(self) -> str | None:
        if self.checkpoint:
            return self.checkpoint
        return f"{self.outputs[0]}.checkpoint" if self.outputs and self.outputs[0] != "-" else None

    @property
    def workers(self) -> int:
        """How many steps run at once."""
        threads: int = self.config.threads
        return threads

    @property
    def beside(self) -> str | None:
        """The file beside which temporary files go."""
        return next((path for path in self.outputs if path != "-"), None)

    def first_step(self, model: Savable, say: Say) -> int:
        """The step to begin with: 0, or with `resume` where the checkpoint, now loaded, was saved. Raises WvError."""
        path = self.checkpoint_path
        return resume(path, model, say) if self.resume and path else 0

    def train(self, model: Savable, first_step: int, observe: Observe | None, advice: str) -> Outcome:
        """Trains on, saving as the options say. Raises WvError; after a divergence its message ends with `advice`."""
        return train_saving(
            self.checkpoint_path,
            model,
            first_step=first_step,
            threads=self.workers,
            save_every=self.checkpoint_every,
            max_seconds=self.max_seconds,
            observe=observe,
            advice=advice,
        )

    def finish(self, written: list[str], facts: dict[str, Any]) -> None:
        """After the results are written: the sidecars, and the checkpoint goes."""
        for path in written:
            if self.write_meta and path != "-":
                meta.write(path, list(self.argv), facts)
        if self.checkpoint_path:
            remove_output(self.checkpoint_path)


def tell_corpus(corpus: Corpus, say: Say, seconds: float) -> None:
    words = len(corpus.vocab)
    say(
        f"{corpus.tokens:,} words in {corpus.lines:,} lines, {words:,} different ones ({seconds:.1f} s to read)",
        tokens=corpus.tokens,
        lines=corpus.lines,
        vocabulary=words,
    )


def corpus_facts(corpus: Corpus) -> dict[str, Any]:
    """What the sidecar says about the text."""
    return {
        "digest": corpus.digest,
        "tokens": corpus.tokens,
        "lines": corpus.lines,
        "tokens_read": corpus.vocab.tokens_read,
        "words": len(corpus.vocab),
    }


def training_facts(outcome: Outcome) -> dict[str, Any]:
    """What the sidecar says about the training."""
    totals = outcome.totals
    return {
        "training_seconds": round(outcome.seconds, 3),
        "words_per_second": round(totals.tokens / outcome.seconds) if outcome.seconds else None,
        "examples": totals.examples,
        "mean_loss": totals.loss / totals.examples if totals.examples else None,
    }
