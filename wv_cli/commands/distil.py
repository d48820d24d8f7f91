"""`wv distil`: a sentence encoder made into a static embedding, which needs no network.

Without a vocabulary the table has a row for each piece of the encoder's tokenizer, as model2vec makes it: each is
encoded between the tokens that the encoder puts around a text, the vectors are turned to their directions of largest
variance, and rare pieces weigh more. wv_cli/transforms/distillation.py has the formulas.

With a vocabulary the rows are those of its words, each encoded as a sentence, reduced and weighted by its counts.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.parts.vectors import STATIC, files_beside, folder_name, names_folder, static_file
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.encoders.config import DistilConfig, FitConfig
from wv_cli.errors import UsageError
from wv_cli.io.places import refuse_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.io.events import OnProgress
    from wv_cli.text.vocab import Vocab
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats.base import Format


@frozen
class DistilInput(Part):
    """The folder of the `encoder`, and the words of the file `vocab`; without it, the encoder's own pieces."""

    vocab: str | None = argument("[VOCAB]", None, role="read")
    encoder: str = option(help="Folder of the encoder, as for wv vectors.", metavar="DIR", role="read")


@frozen
class PieceOptions(Part):
    """What concerns pieces only. The file `words` has own words, one a line, `counts` the counts of words that weigh
    the pieces. `variance` chooses the dimensions, `clusters` are rows that pieces share."""

    words: str | None = option(None, "Add these words, one a line, to the pieces.", role="read")
    counts: str | None = option(
        None, "Weigh pieces by these `word count` lines, not by their ranks.", role="read", group="Input"
    )
    variance: float | None = option(
        None,
        "Keep the dimensions that explain this fraction of the variance, instead of --dim.",
        above=0, below=1, metavar="P",
    )  # fmt: skip
    clusters: int | None = option(None, "Let pieces share N rows, found by k-means.", low=1)


@frozen
class EmbeddingOutput(Part):
    """The folder of a static embedding, or a file of vectors where `to_format` or the ending says so."""

    group: ClassVar[str] = "Output"

    output: str = option(help="Folder or vector file to write.", short="o", metavar="OUT", role="result")
    to_format: str | None = option(
        None, "Output format: static or a vector format; by default OUT's ending chooses.", metavar="FORMAT"
    )

    @property
    def row(self) -> "Format | None":
        """The format of the file, None for a folder. Raises UsageError."""
        from wv_cli.vectors.formats import format_for_output

        if self.to_format == STATIC or (self.to_format is None and names_folder(self.output)):
            return None
        return format_for_output(self.output, self.to_format)

    def check(self) -> None:
        if self.row is None:
            refuse_file(folder_name(self.output))

    def results(self) -> list[str]:
        return [self.output if self.row else static_file(self.output)]

    def also_writes(self, beside: str | None) -> list[str]:
        return [] if self.row else files_beside(self.output)


@frozen
class DistilJob(Job):
    """Make a static embedding of a sentence encoder: a folder that wv, model2vec and sentence-transformers load.

    Without VOCAB it has a row for each piece of the encoder's tokenizer, as model2vec makes it. Any text then has
    pieces. With VOCAB (lines of `word count`) it has a row for each of these words. Text is then split at punctuation,
    and lower-cased if no word of VOCAB has a capital.

    --train fits the rows of the pieces to the encoder's vectors of your texts, as tokenlearn does. It costs one run of
    the encoder over the texts.

    The vectors are reduced, and rare pieces and words weigh more. A sentence is the mean of its rows, hundreds of times
    as fast as the encoder. If OUT has the ending of a vector file, it becomes one.
    """

    READING: ClassVar[tuple[str, str]] = (" texts", "encoding")
    FUNCTION_ARGUMENTS: ClassVar[tuple[str, ...]] = ("encoder", "output")

    source: DistilInput
    output: EmbeddingOutput
    pieces: PieceOptions = field(default_factory=PieceOptions)
    config: DistilConfig = field(default_factory=DistilConfig)
    fit: FitConfig = field(default_factory=FitConfig)

    @property
    def output_format(self) -> str | None:
        return None if self.output.to_format == STATIC else self.output.to_format

    def replaceable(self) -> list[str]:
        return [*filter(None, [self.source.vocab])]

    def check(self) -> None:
        explicit = self.invocation.explicit
        for name in ("words", "counts", "variance", "clusters", "train"):
            if name in explicit and self.source.vocab is not None:
                raise UsageError(
                    f"--{name} has no effect with VOCAB: it is for the encoder's own pieces; leave one out"
                )
        if self.output.row is not None:
            for name in ("dtype", "clusters"):
                if name in explicit:
                    message = f"--{name} has no effect on a file of vectors; write a folder"
                    raise UsageError(message)
        if self.fit.train is not None and self.pieces.clusters:
            raise UsageError("--train and --clusters cannot be used together: pieces that share a row cannot be fitted")
        if self.fit.train is not None and self.config.method == "none":
            raise UsageError("--train and --method none cannot be used together: the vectors to fit are reduced, too")
        if self.pieces.variance and "dim" in explicit:
            raise UsageError("--variance and --dim cannot be used together: both choose the dimensions")
        if self.pieces.variance and self.config.method == "none":
            raise UsageError("--variance has no effect with --method none; it needs --method pca or whiten")

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Encodes words or pieces and writes what is made of their vectors; `run.on_reading` is told how many."""
        from wv_cli.text.vocab import read_vocab
        from wv_cli.vectors.formats import save
        from wv_cli.vectors.formats.static_folder import INT8_READERS, save_folder

        row, output, dtype = self.output.row, self.output.output, self.config.dtype
        if self.source.vocab is None:
            count, from_dim, dim = self._pieces(run)
            what = "pieces"
        else:
            vocab, what = read_vocab(self.source.vocab), "words"
            made = distil(self.source.encoder, vocab, self.config, run.on_reading)
            if row is None:
                save_folder(output, made.vectors, weights=made.weights, split="punctuation", dtype=dtype)
            else:
                save(output, made.apply_weights(), format=row.name)
            count, from_dim, dim = len(vocab.words), made.from_dim, made.vectors.dim
        name = row.name if row else STATIC
        run.log(f"{output}: {count:,} {what}, {from_dim} -> {dim} numbers, {name}")
        if dtype == "int8":
            run.log(f"{output}: {INT8_READERS}")
        return None, {what: count, "from_dim": from_dim, "dim": dim, "format": name}

    def _pieces(self, run: Run) -> tuple[int, int, int]:
        """(pieces, numbers of the encoder's vectors, numbers of these)."""
        from wv_cli.commands.distil_pieces import distil_pieces
        from wv_cli.vectors.embeddings import Embeddings
        from wv_cli.vectors.formats import save
        from wv_cli.vectors.formats.static_folder import save_model
        from wv_cli.words import WordList

        row, output = self.output.row, self.output.output
        pieces, model, from_dim, settings = distil_pieces(
            self.source.encoder, self.pieces, self.config, run.log, run.on_reading, self.fit
        )
        if row is None:
            save_model(output, model, dtype=self.config.dtype, settings=settings)
        else:
            save(output, Embeddings(WordList.from_words(pieces.tokens), model.table.whole()), format=row.name)
        return len(pieces.tokens), from_dim, model.table.matrix.shape[1]


@dataclass(frozen=True, eq=False)
class Distilled:
    """The vectors of a distilled encoder. `weights` (words,) are not in the vectors; None: there are none. `from_dim`:
    numbers of the encoder's vectors."""

    vectors: "Embeddings"
    weights: "NDArray[np.float64] | None"
    from_dim: int

    def apply_weights(self) -> "Embeddings":
        """The vectors, each times its weight: for formats that have no other place for it."""
        import numpy as np

        from wv_cli.vectors.embeddings import Embeddings

        if self.weights is None:
            return self.vectors
        matrix = (self.vectors.matrix * self.weights[:, None]).astype(np.float32)
        return Embeddings(self.vectors.words, matrix)


def distil(encoder: str, vocab: "Vocab", config: DistilConfig, progress: "OnProgress | None" = None) -> Distilled:
    """The vectors of all words of `vocab`. Raises what open_encoder raises, UsageError for a config that makes no
    sense, WvError for a vocabulary too small for what is to be fitted on it."""
    from wv_cli.encoders import EncoderConfig, open_encoder
    from wv_cli.encoders.base import encode
    from wv_cli.encoders.pooling import Pooling
    from wv_cli.transforms.config import WhitenConfig
    from wv_cli.transforms.moments import Moments
    from wv_cli.transforms.sentences import SIF_A, sif_weights
    from wv_cli.transforms.whiten import fit
    from wv_cli.vectors.embeddings import Embeddings

    config.validate()
    names = (config.pooling,) if config.pooling is not None else ()
    source = open_encoder(encoder, EncoderConfig(threads=config.threads), names)
    pooling = Pooling.parse(config.pooling or source.pooling, source.layers, source.name)
    texts = [vocab.words[row] for row in range(len(vocab.words))]
    (made,) = encode(source, texts, [pooling], threads=config.threads, progress=progress)
    matrix = made.vectors
    if config.method != "none":
        moments = Moments.none(source.dim).with_rows(matrix[~made.empty])
        whitening = WhitenConfig(method=config.method, dim=config.dim)
        matrix = fit(moments, whitening, f"the {moments.rows:,} words").apply(matrix)
        matrix[made.empty] = 0
    a = SIF_A if config.sif_a is None else config.sif_a
    weights = sif_weights(vocab.words, vocab, a) if a else None
    return Distilled(Embeddings(vocab.words, matrix), weights, source.dim)
