"""A GloVe run as GloVe's own program has it: from its records and vocabulary to its files, text and raw numbers.

NAME.txt, NAME.bin            the vectors in the end; NAME.001.txt, ... after iteration 1; NAME.000.txt, ... before it
GRADSQ.txt, GRADSQ.bin, ...   the squared gradients, where they are asked for
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from wv_cli.engine.progress import Totals
from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError, WvError
from wv_cli.formats import default_threads, glove_text, require_finite
from wv_cli.formats.base import WORD2VEC_PRECISION, WriteOptions
from wv_cli.glove.model import UNKNOWN, Glove
from wv_cli.glove.record_files import Counts, CountsFile
from wv_cli.glove.record_runs import Records
from wv_cli.glove.state import GloveState
from wv_cli.jobs.glove import GloveSession
from wv_cli.jobs.session import Reading
from wv_cli.system.events import Log as Say
from wv_cli.system.output import apart, open_output, write_together
from wv_cli.text.config import VocabConfig
from wv_cli.text.vocab import Vocab, read_ranked_vocab
from wv_cli.vectors.embeddings import Embeddings

_VECTORS, _SQUARES = 0, 1  # the model's layers


@dataclass(frozen=True, kw_only=True)
class GloveFilesSession(GloveSession):
    """`counts` is one file of records, `vocab` the vocabulary whose line numbers are their words. What is written has
    names that begin with `save_file` and, if the squared gradients are wanted, `gradsq_file`: as `text` (`header`: with
    their number and dimension), as raw numbers (`binary`), or both; before training if `save_start` (raw numbers in
    any case), and after every `checkpoint_iterations`. An `untrained` run writes what it begins with.

    Iterations end one after the other, and `say` is told of each with its cost, of every file on the way, and with
    `prepared` of the moment before the first.
    """

    CLIP_BIASES: ClassVar[bool] = False

    save_file: str
    gradsq_file: str | None = None
    text: bool = True
    binary: bool = False
    header: bool = False
    save_start: bool = False
    checkpoint_iterations: int = 0
    untrained: bool = False

    def check_options(self) -> None:
        if self.ranks is not None:
            raise UsageError(f"GloVe's command line is for one process, not for {self.ranks.size}; use `wv glove`")

    def read(self) -> list[str]:
        # Not what the run begins with: it may be what an earlier run has written and this one writes anew.
        return [*self.counts, str(self.vocab)]

    def results(self) -> list[str]:
        every, last = self.checkpoint_iterations, 0 if self.untrained else self.config.iterations
        saved = range(every, last + 1, every) if every > 0 else ()
        stages = [None, *([0] if self.save_start else []), *saved]
        return [path for stage in stages for path, _, _ in self._files(stage)]

    def _files(self, iteration: int | None) -> Iterator[tuple[str, int, bool]]:
        """The files written after `iteration` (None: in the end), each with its layer and whether it is raw."""
        stage = "" if iteration is None else f".{iteration:03d}"
        for layer, name in ((_VECTORS, self.save_file), (_SQUARES, self.gradsq_file)):
            if name and (self.binary or iteration == 0):
                yield f"{name}{stage}.bin", layer, True
            if name and self.text:
                yield f"{name}{stage}.txt", layer, False

    def _records(
        self, say: Say, reading: Reading | None, state: GloveState | None, stack: ExitStack
    ) -> tuple[Vocab, Iterator[Records], str]:
        vocab = read_ranked_vocab(str(self.vocab))
        if self.text and vocab.words.find(UNKNOWN) >= 0:
            message = (
                f"{self.vocab}: holds the word <unk>, which is the name of a row of its own in the text that is "
                "written; give the word another name, there and in the text that was counted"
            )
            raise WvError(message)
        # Nothing is cut: the words have no counts here.
        counts = Counts([CountsFile(self.counts[0], vocab)], VocabConfig(min_count=1), vocab)
        return vocab, counts.stream(self._buffer_memory(), self.beside), counts.digest

    def _train(self, model: Glove, say: Say) -> Outcome:
        if self.save_start:
            self._save_after(0, model)
        say("prepared", prepared=True)
        outcome = Outcome(0, Totals(), 0.0)
        advice = f"lower -eta (now {self.config.eta:g}) or -grad-clip"
        every, last = self.checkpoint_iterations, 0 if self.untrained else self.config.iterations
        for done in range(1, last + 1):
            outcome = self.train(model.until(done), (done - 1) * model.epoch_steps, None, advice)
            if not outcome.finished:
                break
            cost = model.costs[done - 1] / model.store.records
            say(f"iteration {done}/{last}  cost {cost:.6f}", iteration=done, cost=cost)
            if every > 0 and done % every == 0:
                say(f"saving what there is after iteration {done}", saving=done)
                self._save_after(done, model)
                say("saved", saved=done)
        return outcome

    def _save(self, model: Glove) -> None:
        self._save_after(None, model)

    def _save_after(self, iteration: int | None, model: Glove) -> None:
        files = [(path, partial(self._write, model, layer, raw)) for path, layer, raw in self._files(iteration)]
        with apart():
            write_together(files)

    def _write(self, model: Glove, layer: int, raw: bool, path: str) -> None:
        with open_output(path) as stream:
            if raw:
                model.write_raw(stream, layer)
                return
            rows = model.embeddings() if layer == _VECTORS else Embeddings(model.vocab.words, model.side_by_side(layer))
            require_finite(rows, path)
            if self.header and layer == _VECTORS:  # <unk> is not counted, and neither are biases
                stream.write(b"%d %d\n" % (len(model.vocab), self.config.dim))
            glove_text.write_block(stream, rows, WriteOptions(WORD2VEC_PRECISION, default_threads()))
