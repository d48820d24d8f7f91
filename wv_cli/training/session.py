"""One training run from text to files, shared by `wv train` and `wv demo`: encode, train, checkpoint, save.

Prints nothing: it tells an Observer about progress and `say` about events.
"""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from wv_cli import formats, meta
from wv_cli.config import VocabConfig, Word2vecConfig
from wv_cli.corpus import Corpus, encode
from wv_cli.errors import UsageError
from wv_cli.models.clusters import word_classes
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.output import check_writable, open_output, remove_output
from wv_cli.training.progress import Progress
from wv_cli.training.run import Outcome
from wv_cli.training.saved_run import resume, train_saving
from wv_cli.vocab import read_vocab
from wv_cli.words import encode as encode_word

_BYTES_PER_TEXT_FLOAT = 10


@dataclass(frozen=True)
class Session:
    """What to read, what to write and how to watch; the model's options are in `config`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    config: Word2vecConfig
    vocab_config: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    init: str | None = None
    output_vectors: str | None = None
    classes: int = 0
    memory: int | None = None
    checkpoint: str | None = None
    checkpoint_every: float | None = None
    resume: bool = False
    max_seconds: float | None = None
    write_meta: bool = True
    argv: tuple[str, ...] = ()

    def validate(self) -> None:
        """Checks everything that can be checked before reading the text. Raises UsageError or WvError."""
        self.config.validate()
        self.vocab_config.validate()
        if self.output_vectors and self.config.loss == "hs":
            message = "--save-output-vectors: with --loss hs the output rows are tree nodes, not words; use --loss ns"
            raise UsageError(message)
        if self.classes < 0 or (self.classes and len(self.outputs) != 1):
            message = "--classes takes a positive number and exactly one -o, which gets the classes"
            raise UsageError(message)
        if (self.resume or self.checkpoint_every) and self.checkpoint_path is None:
            message = "a run that writes to standard output needs --checkpoint FILE to save and resume"
            raise UsageError(message)
        for path in self._written():
            check_writable(path)
            if not self.classes and path != self.checkpoint_path:
                formats.format_for_output(path)
        sources = {os.path.realpath(path) for path in (*self.inputs, self.vocab, self.init) if path and path != "-"}
        for path in self._written():
            if path != "-" and os.path.realpath(path) in sources:
                message = f"{path}: is both read and written; choose another output"
                raise UsageError(message)

    @property
    def checkpoint_path(self) -> str | None:
        if self.checkpoint:
            return self.checkpoint
        return f"{self.outputs[0]}.checkpoint" if self.outputs[0] != "-" else None

    def _written(self) -> list[str]:
        paths = [*self.outputs, self.output_vectors, self.checkpoint_path]
        return [path for path in paths if path is not None]


Say = Callable[..., None]


def run(
    session: Session,
    say: Say,
    observe: Callable[[Progress], None] | None = None,
    reading: Callable[[int, int | None], None] | None = None,
) -> tuple[Outcome, dict[str, Any]]:
    """Trains and, when the run finishes, writes the outputs and removes the checkpoint. Returns the outcome and the
    facts recorded beside the model.

    Raises WvError and its kin for everything the user can mend; a run stopped by a signal returns normally.
    """
    session.validate()
    begin = time.monotonic()
    vocab = read_vocab(session.vocab) if session.vocab else None
    beside = session.outputs[0] if session.outputs[0] != "-" else None
    corpus = encode(
        session.inputs,
        session.vocab_config,
        vocab=vocab,
        memory=session.memory,
        spool_beside=beside,
        progress=reading,
    )
    words = len(corpus.vocab.words)
    say(
        f"{corpus.tokens:,} words in {corpus.lines:,} lines, {words:,} different ones "
        f"({time.monotonic() - begin:.1f} s to read)",
        tokens=corpus.tokens,
        lines=corpus.lines,
        vocabulary=words,
    )
    _predict(session, corpus, say)
    init = formats.load(session.init) if session.init else None
    model = Word2vec(session.config, corpus, init)
    if init is not None:
        say(f"{model.words_initialised:,} of {words:,} words start from {session.init}")
    path, config = session.checkpoint_path, session.config
    first_step = resume(path, model, say) if session.resume and path else 0
    outcome = train_saving(
        path,
        model,
        first_step=first_step,
        threads=config.threads,
        save_every=session.checkpoint_every,
        max_seconds=session.max_seconds,
        observe=observe,
        advice=f"lower --lr (now {config.start_lr:g})" + ("" if config.cbow_mean else " or use --cbow-mean"),
    )
    facts: dict[str, Any] = {
        "config": {**asdict(session.config), "lr": session.config.start_lr},
        "vocabulary_config": asdict(session.vocab_config),
        "corpus": {
            "digest": corpus.digest,
            "tokens": corpus.tokens,
            "lines": corpus.lines,
            "tokens_read": corpus.vocab.tokens_read,
            "words": words,
        },
        "resumed_at_step": first_step or None,
        "training_seconds": round(outcome.seconds, 3),
        "words_per_second": round(outcome.totals.tokens / outcome.seconds) if outcome.seconds else None,
        "examples": outcome.totals.examples,
        "mean_loss": outcome.totals.loss / outcome.totals.examples if outcome.totals.examples else None,
        "seconds": round(time.monotonic() - begin, 3),
    }
    if outcome.finished:
        _save(session, model, facts)
    return outcome, facts


def _predict(session: Session, corpus: Corpus, say: Say) -> None:
    """Says what the run will need and refuses what cannot work, before the matrices are allocated."""
    words, dim = len(corpus.vocab.words), session.config.dim
    matrices = Word2vec.bytes_needed(session.config, words)
    saved = words * dim * 8
    say(
        f"needs {matrices / 1e6:,.0f} MB for the model and {4 * len(corpus.ids) / 1e6:,.0f} MB for the text, "
        f"{saved / 1e6:,.0f} MB of disk for a checkpoint",
        model_bytes=matrices,
        text_bytes=4 * len(corpus.ids),
        checkpoint_bytes=saved,
    )
    for path in session.outputs:
        check_writable(path, words * (dim * _BYTES_PER_TEXT_FLOAT + 8))
    if session.checkpoint_path:
        check_writable(session.checkpoint_path, saved)


def _save(session: Session, model: Word2vec, facts: dict[str, Any]) -> None:
    embeddings = model.embeddings()
    if session.classes:
        assigned = word_classes(embeddings, session.classes)
        with open_output(session.outputs[0]) as stream:
            for word, number in zip(embeddings.words, assigned, strict=True):
                stream.write(encode_word(word) + b" %d\n" % number)
    else:
        for path in session.outputs:
            formats.save(path, embeddings)
    written = list(session.outputs)
    if session.output_vectors:
        formats.save(session.output_vectors, model.output_embeddings())
        written.append(session.output_vectors)
    for path in written:
        if session.write_meta and path != "-":
            meta.write(path, list(session.argv), facts)
    if session.checkpoint_path:
        remove_output(session.checkpoint_path)
