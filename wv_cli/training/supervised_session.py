"""One classifier run, from labelled lines to a fastText model file, for `wv train --model supervised`."""

import time
from dataclasses import asdict, dataclass
from typing import Any

from wv_cli import formats
from wv_cli.config import SupervisedConfig
from wv_cli.errors import UsageError
from wv_cli.formats.fasttext_write import save_model
from wv_cli.labelled import LabelledCorpus, encode_labelled
from wv_cli.models.supervised import Supervised
from wv_cli.text.output import check_writable
from wv_cli.training.run import Outcome
from wv_cli.training.session import Observe, Reading, Say, Session, training_facts


@dataclass(frozen=True, kw_only=True)
class SupervisedSession(Session):
    """`pretrained` is a vector file: the words of the text that are in it start from its vectors."""

    config: SupervisedConfig
    pretrained: str | None = None

    def check_options(self) -> None:
        for path in self.outputs:
            if path != "-" and not path.endswith(".bin"):
                message = f"{path}: a classifier is written as a fastText model: name the output NAME.bin"
                raise UsageError(message)
        if self.vocab:
            message = "--vocab has no meaning for --model supervised: words and labels are counted in the text"
            raise UsageError(message)

    def read(self) -> list[str]:
        return super().read() + ([self.pretrained] if self.pretrained else [])

    def run(self, say: Say, observe: Observe | None = None, reading: Reading | None = None) -> tuple[Outcome, Any]:
        """Trains and, when the run finishes, writes the outputs and removes the checkpoint. Returns the outcome and the
        facts recorded beside the model.

        Raises WvError and its kin for everything the user can mend; a run stopped by a signal returns normally.
        """
        self.validate()
        begin, config = time.monotonic(), self.config
        corpus = self.corpus(reading)
        words, labels, lines = corpus.kept, len(corpus.labels), corpus.lines
        say(
            f"{corpus.tokens_read:,} tokens in {lines:,} lines, {words:,} different words and {labels:,} labels "
            f"({time.monotonic() - begin:.1f} s to read)",
            tokens=corpus.tokens_read,
            lines=lines,
            vocabulary=words,
            labels=labels,
        )
        model = Supervised(config, self.vocab_config.min_count, corpus, self.vectors())
        self._tell_model(model, say)
        first_step = self.first_step(model, say)
        outcome = self.train(model, first_step, observe, f"lower --lr (now {config.lr:g})")
        facts: dict[str, Any] = {
            "config": asdict(config),
            "vocabulary_config": asdict(self.vocab_config),
            "corpus": {
                "digest": corpus.digest,
                "tokens_read": corpus.tokens_read,
                "lines": lines,
                "words": words,
                "labels": labels,
            },
            "rows": len(model.input),
            "resumed_at_step": first_step or None,
            **training_facts(outcome),
            "seconds": round(time.monotonic() - begin, 3),
        }
        if outcome.finished:
            trained = model.fasttext_model()
            for path in self.outputs:
                save_model(path, trained)
            self.finish(list(self.outputs), facts)
        return outcome, facts

    def corpus(self, reading: Reading | None) -> LabelledCorpus:
        return encode_labelled(
            self.inputs,
            self.vocab_config,
            label_prefix=self.config.label_prefix,
            min_count_label=self.config.min_count_label,
            keep_dropped=self.config.uses_buckets,
            memory=self.memory,
            spool_beside=self.beside,
            progress=reading,
        )

    def vectors(self) -> Any:
        return formats.load(self.pretrained) if self.pretrained else None

    def _tell_model(self, model: Supervised, say: Say) -> None:
        """Says what the model takes and refuses a disk that cannot hold it."""
        corpus, examples = model.corpus, model.survey["examples"]
        size = model.input.nbytes + model.output.nbytes
        left_out = corpus.lines - examples
        say(
            f"{examples:,} lines to learn from"
            + (f" ({left_out:,} have no label)" if left_out else "")
            + f"; needs {size / 1e6:,.0f} MB for the model, {4 * len(corpus.ids) / 1e6:,.0f} MB for the text",
            examples=examples,
            rows=len(model.input),
            model_bytes=size,
        )
        if self.pretrained:
            say(f"{model.words_initialised:,} of {corpus.kept:,} words start from {self.pretrained}")
        for path in (*self.outputs, self.checkpoint_path):
            if path:
                check_writable(path, size)
