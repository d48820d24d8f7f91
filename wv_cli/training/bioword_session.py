"""One BioWord run for `wv hash --method bioword`: text to a hasher and codes, or a saved hasher to the codes of a text.

Prints nothing: `say` is told about events.
"""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from wv_cli import meta
from wv_cli.codes import Codes
from wv_cli.config import BiowordConfig, VocabConfig
from wv_cli.corpus import encode
from wv_cli.errors import UsageError
from wv_cli.formats.codes import save as save_codes
from wv_cli.models.bioword import Bioword, BiowordHasher, load_hasher
from wv_cli.text.output import check_writable, remove_output
from wv_cli.training.progress import Progress
from wv_cli.training.run import Outcome
from wv_cli.training.saved_run import resume, train_saving
from wv_cli.vocab import read_vocab

Say = Callable[..., None]


@dataclass(frozen=True)
class BiowordSession:
    """What to read and write; with `hasher` nothing is trained and the codes are those of the text's words in place."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    config: BiowordConfig
    vocab_config: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    hasher: str | None = None
    save_hasher: str | None = None
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
        for wrong, message in [
            (not self.outputs and not self.save_hasher, "-o FILE is missing (or --save-hasher FILE)"),
            (
                bool(self.hasher) and bool(self.save_hasher or self.vocab or self.resume or self.checkpoint),
                "--hasher trains nothing; leave --save-hasher, --vocab, --resume and --checkpoint out",
            ),
            (
                (self.resume or bool(self.checkpoint_every)) and self.checkpoint_path is None,
                "a run that writes to standard output needs --checkpoint FILE to save and resume",
            ),
        ]:
            if wrong:
                raise UsageError(message)
        read = {os.path.realpath(path) for path in (*self.inputs, self.vocab, self.hasher) if path and path != "-"}
        for path in (*self.outputs, self.save_hasher, self.checkpoint_path):
            if path is None:
                continue
            check_writable(path)
            if path != "-" and os.path.realpath(path) in read:
                message = f"{path}: is both read and written; choose another output"
                raise UsageError(message)

    @property
    def checkpoint_path(self) -> str | None:
        if self.hasher:
            return None
        target = next((path for path in (*self.outputs, self.save_hasher) if path and path != "-"), None)
        return self.checkpoint or (f"{target}.checkpoint" if target else None)


def run(
    session: BiowordSession,
    say: Say,
    observe: Callable[[Progress], None] | None = None,
    reading: Callable[[int, int | None], None] | None = None,
) -> tuple[Outcome | None, dict[str, Any]]:
    """Trains, or applies a hasher, and writes. Returns the outcome of the training (None without one) and the facts
    recorded beside the codes. Raises WvError and its kin for everything the user can mend."""
    session.validate()
    begin = time.monotonic()
    hasher = load_hasher(session.hasher) if session.hasher else None
    vocab = hasher.vocab if hasher else read_vocab(session.vocab) if session.vocab else None
    config = VocabConfig(1, 0, session.vocab_config.lowercase) if hasher else session.vocab_config
    beside = next((path for path in (*session.outputs, session.save_hasher) if path and path != "-"), None)
    corpus = encode(session.inputs, config, vocab=vocab, spool_beside=beside, progress=reading)
    say(
        f"{corpus.tokens:,} known words in {corpus.lines:,} lines, vocabulary of {len(corpus.vocab):,}",
        tokens=corpus.tokens,
        lines=corpus.lines,
        vocabulary=len(corpus.vocab),
    )
    outcome = None
    if hasher is None:
        model = Bioword(session.config, corpus)
        path = session.checkpoint_path
        outcome = train_saving(
            path,
            model,
            first_step=resume(path, model, say) if session.resume and path else 0,
            threads=1,
            save_every=session.checkpoint_every,
            max_seconds=session.max_seconds,
            observe=observe,
            advice=f"lower --lr (now {session.config.lr:g})",
        )
        if not outcome.finished:
            return outcome, {}
        hasher = model.hasher()
        codes = hasher.static()
    else:
        codes = hasher.dynamic(corpus)
    facts: dict[str, Any] = {
        "method": codes.method,
        "bits": codes.bits,
        "active": codes.active,
        "words": len(codes),
        "bits_per_word": codes.bits_per_word,
        "config": asdict(hasher.config),
        "corpus": {"digest": corpus.digest, "tokens": corpus.tokens, "lines": corpus.lines},
        "training_seconds": round(outcome.seconds, 3) if outcome else None,
        "energy": outcome.totals.loss / outcome.totals.examples if outcome and outcome.totals.examples else None,
        "seconds": round(time.monotonic() - begin, 3),
    }
    _save(session, hasher, codes, facts)
    return outcome, facts


def _save(session: BiowordSession, hasher: BiowordHasher, codes: Codes, facts: dict[str, Any]) -> None:
    if session.save_hasher:
        hasher.save(session.save_hasher)
    for path in session.outputs:
        save_codes(path, codes)
        if session.write_meta and path != "-":
            meta.write(path, list(session.argv), facts)
    if session.checkpoint_path:
        remove_output(session.checkpoint_path)
