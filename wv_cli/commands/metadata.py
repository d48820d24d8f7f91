"""Facts of a run about its text and its training, for the event log and the sidecar."""

import time
from collections.abc import Mapping
from dataclasses import asdict

from wv_cli.commands.run import Metadata
from wv_cli.io.events import Log
from wv_cli.models.training.run import Outcome
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus


def number_of(count: int, thing: str) -> str:
    """A number with its noun: `1 line`, `2,000 lines`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def tell_corpus(corpus: Corpus, log: Log, seconds: float) -> None:
    words = len(corpus.vocab)
    log(
        f"{number_of(corpus.tokens, 'word')} in {number_of(corpus.lines, 'line')}, {words:,} different ones "
        f"({seconds:.1f} s to read)" + (f"; {number_of(corpus.left_out, 'line')} left out" if corpus.left_out else ""),
        tokens=corpus.tokens,
        lines=corpus.lines,
        vocabulary=words,
        vocabulary_tokens=corpus.vocab.tokens,
        line_ends=corpus.vocab.lines,
        lines_left_out=corpus.left_out,
        tokens_read=corpus.vocab.tokens_read,
    )


def corpus_metadata(corpus: Corpus) -> Metadata:
    """The sidecar's facts about the text."""
    return {
        "digest": corpus.digest,
        "tokens": corpus.tokens,
        "lines": corpus.lines,
        "tokens_read": corpus.vocab.tokens_read,
        "words": len(corpus.vocab),
        "lines_left_out": corpus.left_out,
    }


def training_metadata(outcome: Outcome) -> Metadata:
    """The sidecar's facts about the training."""
    totals = outcome.totals
    return {
        "training_seconds": round(outcome.seconds, 3),
        "words_per_second": round(totals.tokens / outcome.seconds) if outcome.seconds else None,
        "examples": totals.examples,
        "mean_loss": totals.loss / totals.examples if totals.examples else None,
    }


def run_metadata(
    config: Mapping[str, object],
    words: VocabConfig,
    text: Metadata,
    outcome: Outcome,
    *,
    begin: float,
    **own: object,
) -> Metadata:
    """What the sidecar says about a run of `config` that began at `begin` (time.monotonic) and learnt from `text`, with
    the job's `own` metadata."""
    return {
        "config": config,
        "vocabulary_config": asdict(words),
        "corpus": text,
        **own,
        "resumed_at_step": outcome.first_step or None,
        **training_metadata(outcome),
        "seconds": round(time.monotonic() - begin, 3),
    }
