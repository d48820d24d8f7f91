"""A GloVe run as GloVe's own program has it: from its records and vocabulary to its files, text and raw numbers.

NAME.txt, NAME.bin            the vectors in the end; NAME.001.txt, ... after iteration 1; NAME.000.txt, ... before it
GRADSQ.txt, GRADSQ.bin, ...   the squared gradients, where they are asked for
"""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen
from wv_cli.errors import WvError
from wv_cli.io import memory
from wv_cli.io.output import commit_separately, commit_together, open_output, write_together
from wv_cli.models.glove import cooccurrence
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.model import UNKNOWN, Glove
from wv_cli.models.glove.record_files import Counts, CountsFile
from wv_cli.models.glove.tiles import ORDERING_BYTES, TileStore
from wv_cli.models.training.progress import Totals
from wv_cli.models.training.run import Outcome
from wv_cli.text.config import VocabConfig
from wv_cli.text.vocab import Vocab, read_ranked_vocab
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.file_options import WORD2VEC_PRECISION
from wv_cli.vectors.formats import default_threads, glove_text, require_finite
from wv_cli.vectors.formats.base import WriteOptions

_VECTORS, _SQUARES = 0, 1  # the model's layers


@frozen
class GloveInput(Part):
    """The input files of GloVe's program. `counts` is a file of records, `vocab` the vocabulary whose line numbers are
    their words. Training begins with the numbers in `init` and the squared gradients in `init_gradsq`."""

    counts: str
    vocab: str
    init: str | None = None
    init_gradsq: str | None = None

    def reads(self) -> list[str]:
        """Not what the run begins with: an earlier run may have written it, and this one writes it anew."""
        return [self.counts, self.vocab]


@frozen
class GloveFiles(Part):
    """The output files of GloVe's program. What is written has names that begin with `save_file` and, if the squared
    gradients are wanted, `gradsq_file`: as `text` (`header`: with their number and dimension), as raw numbers
    (`binary`), or both; before training if `save_start` (raw numbers in any case), and after every
    `checkpoint_iterations` of so many `iterations`."""

    save_file: str
    gradsq_file: str | None = None
    text: bool = True
    binary: bool = False
    header: bool = False
    save_start: bool = False
    checkpoint_iterations: int = 0
    iterations: int

    def results(self) -> list[str]:
        every = self.checkpoint_iterations
        saved = range(every, self.iterations + 1, every) if every > 0 else ()
        moments = [None, *([0] if self.save_start else []), *saved]
        return [path for moment in moments for path, _, _ in self.files(moment)]

    def files(self, iteration: int | None) -> Iterator[tuple[str, int, bool]]:
        """The files written after `iteration` (None: in the end), each with its layer and whether it is raw."""
        moment = "" if iteration is None else f".{iteration:03d}"
        for layer, name in ((_VECTORS, self.save_file), (_SQUARES, self.gradsq_file)):
            if name and (self.binary or iteration == 0):
                yield f"{name}{moment}.bin", layer, True
            if name and self.text:
                yield f"{name}{moment}.txt", layer, False

    def save(self, model: Glove, iteration: int | None) -> None:
        """Writes the files after `iteration` (None: in the end)."""
        files = [(path, partial(self._write, model, layer, raw)) for path, layer, raw in self.files(iteration)]
        with commit_separately():
            write_together(files)

    def _write(self, model: Glove, layer: int, raw: bool, path: str) -> None:
        with open_output(path) as stream:
            if raw:
                model.write_raw(stream, layer)
                return
            rows = model.embeddings() if layer == _VECTORS else Embeddings(model.vocab.words, model.side_by_side(layer))
            require_finite(rows, path)
            if self.header and layer == _VECTORS:  # <unk> is not counted, and neither are biases
                stream.write(b"%d %d\n" % (len(model.vocab), model.config.dim))
            glove_text.write_block(stream, rows, WriteOptions(WORD2VEC_PRECISION, default_threads()))


@frozen
class GloveFilesJob(Job):
    """A run of GloVe's program. Iterations end one after the other. The log is told of each with its cost, of every
    file on the way, and with `prepared` of the moment before the first."""

    config: GloveConfig
    source: GloveInput
    files: GloveFiles

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: orders the records, trains, saves. There is no metadata."""
        vocab = self._vocabulary()
        limit = cooccurrence.DEFAULT_MEMORY
        # Nothing is cut: the words have no counts here.
        counts = Counts([CountsFile(self.source.counts, vocab)], VocabConfig(min_count=1), vocab)
        with commit_together(), ExitStack() as stack:
            buffers, beside = memory.for_buffers(limit - limit // 4 - ORDERING_BYTES), self.beside
            store = stack.enter_context(TileStore(counts.stream(buffers, beside), len(vocab), beside, limit // 4))
            model = Glove(self.config, vocab, store, counts.digest, clip_biases=False)
            if self.source.init or self.source.init_gradsq:
                model.load_raw(self.source.init, self.source.init_gradsq)
            outcome = self._train(model, run)
            if outcome.is_finished:
                self.files.save(model, None)
        return outcome, {}

    def _vocabulary(self) -> Vocab:
        """Raises WvError for a word that the text written in the end cannot hold."""
        vocab = read_ranked_vocab(self.source.vocab)
        if self.files.text and vocab.words.find(UNKNOWN) >= 0:
            message = (
                f"{self.source.vocab}: holds the word <unk>, which is the name of a row of its own in the text that is "
                "written; give the word another name, there and in the text that was counted"
            )
            raise WvError(message)
        return vocab

    def _train(self, model: Glove, run: Run) -> Outcome:
        if self.files.save_start:
            self.files.save(model, 0)
        run.log("prepared", prepared=True)
        outcome = Outcome(0, Totals(), 0.0)
        every, last, threads = self.files.checkpoint_iterations, self.files.iterations, self.config.threads
        advice = f"lower -eta (now {self.config.eta:g}) or -grad-clip"
        for done in range(1, last + 1):
            first_step = (done - 1) * model.epoch_steps
            outcome = run.train(model.until(done), threads=threads, advice=advice, first_step=first_step)
            if not outcome.is_finished:
                break
            cost = model.costs[done - 1] / model.store.records
            run.log(f"iteration {done}/{last}  cost {cost:.6f}", iteration=done, cost=cost)
            if every > 0 and done % every == 0:
                run.log(f"saving what there is after iteration {done}", saving=done)
                self.files.save(model, done)
                run.log("saved", saved=done)
        return outcome
