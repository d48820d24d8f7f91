"""`wv train` of a neural language model: a text in, the model or its word vectors out."""

import time
from dataclasses import asdict, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import TrainingJob, Writer
from wv_cli.commands.part import Part
from wv_cli.commands.parts.outputs import Outputs
from wv_cli.commands.parts.reading import Reading, SavedVocabulary
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.compression import inner_name
from wv_cli.io.output import open_output
from wv_cli.models.config import NeuralConfig
from wv_cli.models.training.run import Outcome

if TYPE_CHECKING:
    from wv_cli.models.neural import NeuralLm

_ENDING = ".lm"


@frozen
class Tree(Part):
    """The source of a clustered tree: the predictions of the neural model `tree_from`."""

    tree_from: str | None = option(
        None,
        "Neural language model (NAME.lm) whose predictions make the clustered tree.",
        role="read",
        group="Language model",
        only="loss=hs and tree=clustered",
    )


@frozen
class NeuralJob(TrainingJob):
    """Training of a neural language model. Outputs named NAME.lm get the model; others get its word vectors in the
    format of their ending."""

    READS_AS_IS: ClassVar[bool] = True

    config: NeuralConfig
    reading: Reading
    outputs: Outputs
    vocabulary: SavedVocabulary = field(default_factory=SavedVocabulary)
    resume: Resume = field(default_factory=Resume)
    tree: Tree = field(default_factory=Tree)

    def check(self) -> None:
        from wv_cli.vectors import formats

        if self.config.loss == "hs" and self.config.tree == "clustered" and not self.tree.tree_from:
            message = (
                "--tree clustered needs --tree-from NAME.lm, a neural model that was trained before (--tree random)"
            )
            raise UsageError(message)
        for path in self.outputs.outputs:
            if not _is_model(path):
                formats.format_for_output(path, None)
            elif self.config.model == "ivlbl":
                message = (
                    f"{path}: ivlbl predicts from one word at a time and is no language model; name its vectors "
                    "NAME.vec or NAME.bin (language models: --model lbl or nplm)"
                )
                raise UsageError(message)

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, trains, saves."""
        from wv_cli.commands.metadata import corpus_metadata, run_metadata, tell_corpus
        from wv_cli.lm.files import load_neural
        from wv_cli.lm.sentences import encode_sentences
        from wv_cli.lm.vocabulary import SPECIAL
        from wv_cli.models.neural import NeuralLm
        from wv_cli.text.vocab import write_vocab

        begin, config, reading = time.monotonic(), self.config, self.reading
        corpus = encode_sentences(
            reading.texts(run.log, written=self.writes(), advise=not run.is_resuming),
            reading.words,
            vocab=reading.vocabulary(),
            memory=reading.memory,
            spool_beside=self.beside,
            progress=run.on_reading,
        )
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        if self.vocabulary.save_vocab:
            write_vocab(self.vocabulary.save_vocab, corpus.vocab)
        needed = NeuralLm.bytes_needed(config, len(corpus.vocab) + len(SPECIAL))
        run.log(f"needs {needed / 1e6:,.0f} MB for the model and as much disk for a checkpoint", model_bytes=needed)
        self.require_disk_space(needed)
        model = NeuralLm(config, corpus, load_neural(self.tree.tree_from) if self.tree.tree_from else None)
        outcome = run.train(model, threads=config.threads, advice=f"lower --lr (now {config.lr:g})")
        metadata = run_metadata(asdict(config), reading.words, corpus_metadata(corpus), outcome, begin=begin)
        if outcome.is_finished:
            self.finish(run, self.results(), metadata, [_writer(model, path) for path in self.outputs.outputs])
        return outcome, metadata


def _is_model(path: str) -> bool:
    return inner_name(path).endswith(_ENDING)


def _writer(model: "NeuralLm", path: str) -> Writer:
    from wv_cli.vectors import formats

    save = partial(_save_model, model) if _is_model(path) else partial(formats.save, embeddings=model.embeddings())
    return path, save


def _save_model(model: "NeuralLm", path: str) -> None:
    from wv_cli.lm import neural_files

    with open_output(path) as stream:
        neural_files.write(stream, model.model())
