"""One run of a neural language model from text to files, for `wv train`: encode, train, checkpoint, save."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import ClassVar

from wv_cli import formats
from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError
from wv_cli.jobs.facts import Facts, corpus_facts, run_facts, tell_corpus
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.session import Observe, Reading
from wv_cli.jobs.training_session import VocabularySession
from wv_cli.lm import neural_files
from wv_cli.lm.files import load_neural
from wv_cli.lm.sentences import encode_sentences
from wv_cli.lm.vocabulary import SPECIAL
from wv_cli.models.config import NeuralConfig
from wv_cli.models.neural import NeuralLm
from wv_cli.system.compression import inner_name
from wv_cli.system.events import Log as Say
from wv_cli.system.output import open_output, write_together
from wv_cli.text.vocab import read_vocab, write_vocab

_ENDING = ".lm"


@dataclass(frozen=True, kw_only=True)
class NeuralSession(VocabularySession, PhrasesSession):
    """Outputs that are called NAME.lm are the model, others its word vectors in the format that their name says. A
    clustered tree is made of what the neural model `tree_from` predicts."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {"tree_from": "loss=hs and tree=clustered"}

    config: NeuralConfig
    tree_from: str | None = None

    def check_options(self) -> None:
        if self.joins:
            flag = "--phrases" if self.phrases else "--learn-phrases"
            message = (
                f"{flag}: a language model learns from sentences as they stand; join the phrases with `wv phrases`"
            )
            raise UsageError(message)
        if self.config.loss == "hs" and self.config.tree == "clustered" and not self.tree_from:
            message = (
                "--tree clustered needs --tree-from NAME.lm, a neural model that was trained before (--tree random)"
            )
            raise UsageError(message)
        for path in self.outputs:
            if not _is_model(path):
                formats.format_for_output(path, None)
            elif self.config.model == "ivlbl":
                message = (
                    f"{path}: ivlbl predicts from one word at a time and is no language model; name its vectors "
                    "NAME.vec or NAME.bin (language models: --model lbl or nplm)"
                )
                raise UsageError(message)

    def read(self) -> list[str]:
        return super().read() + ([self.tree_from] if self.tree_from else [])

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, trains, saves."""
        begin, config = time.monotonic(), self.config
        corpus = encode_sentences(
            self.texts(say),
            self.vocab_config,
            vocab=read_vocab(self.vocab) if self.vocab else None,
            memory=self.memory,
            spool_beside=self.beside,
            progress=reading,
        )
        tell_corpus(corpus, say, time.monotonic() - begin)
        if self.save_vocab:
            write_vocab(self.save_vocab, corpus.vocab)
        needed = NeuralLm.bytes_needed(config, len(corpus.vocab) + len(SPECIAL))
        say(f"needs {needed / 1e6:,.0f} MB for the model and as much disk for a checkpoint", model_bytes=needed)
        self.require_room(needed)
        model = NeuralLm(config, corpus, load_neural(self.tree_from) if self.tree_from else None)
        first_step = self.first_step(model, say)
        outcome = self.train(model, first_step, observe, f"lower --lr (now {config.lr:g})")
        text = corpus_facts(corpus)
        facts = run_facts(self, asdict(config), text, outcome, first_step=first_step, begin=begin)
        if outcome.finished:
            write_together([(path, self._writer(model, path)) for path in self.outputs])
            self.finish(self.results(), facts)
        return outcome, facts

    def _writer(self, model: NeuralLm, path: str) -> Callable[[str], None]:
        return partial(_save_model, model) if _is_model(path) else partial(formats.save, embeddings=model.embeddings())


def _is_model(path: str) -> bool:
    return inner_name(path).endswith(_ENDING)


def _save_model(model: NeuralLm, path: str) -> None:
    with open_output(path) as stream:
        neural_files.write(stream, model.model())
