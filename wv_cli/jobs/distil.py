"""`wv distil`: an encoder's vectors of the words of a vocabulary, made smaller, as a static embedding.

Each word is encoded as a sentence of its own (as model2vec does with the tokens of an encoder), the vectors are
centred and turned to their directions of largest variance (pca), or whitened, too; rare words weigh more, by SIF's
a / (a + p). What comes out needs no network: a sentence is the weighted mean of its words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.config import DistilConfig
from wv_cli.encoders.pooling import Pooling
from wv_cli.formats import format_for_output, save
from wv_cli.formats.base import Format
from wv_cli.formats.static_folder import save_folder
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.parts.vectors import STATIC, static_file
from wv_cli.jobs.run import Metadata, Run
from wv_cli.text.vocab import Vocab, read_vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.sentences import sif_weights
from wv_cli.transforms.whiten import fit
from wv_cli.vectors.embeddings import Embeddings


@dataclass(frozen=True, kw_only=True)
class DistilInput(Part):
    """The words of the file `vocab`, and the folder of the `encoder`."""

    vocab: str
    encoder: str

    def reads(self) -> list[str]:
        return [self.vocab, self.encoder]


@dataclass(frozen=True, kw_only=True)
class EmbeddingOutput(Part):
    """The folder of a static embedding, or a file of vectors where `to_format` or the ending says so."""

    output: str
    to_format: str | None = None

    @property
    def row(self) -> Format | None:
        """The format of the file, None for a folder. Raises UsageError."""
        unnamed = self.to_format is None and self.output != "-" and not Path(self.output).suffix
        if unnamed or self.to_format == STATIC:
            return None
        return format_for_output(self.output, self.to_format)

    def results(self) -> list[str]:
        return [self.output if self.row else static_file(self.output)]


@dataclass(frozen=True, kw_only=True)
class DistilJob(Job):
    """The job of `wv distil`. It writes no sidecars."""

    REPLACES_INPUT: ClassVar[bool] = True

    config: DistilConfig = field(default_factory=DistilConfig)
    source: DistilInput
    output: EmbeddingOutput

    @property
    def output_format(self) -> str | None:
        return self.output.to_format

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Encodes the words and writes what is made of their vectors; `run.on_reading` is told how many are encoded."""
        vocab, row, output = read_vocab(self.source.vocab), self.output.row, self.output.output
        made = distil(self.source.encoder, vocab, self.config, run.on_reading)
        if row is None:
            save_folder(output, made.vectors, weights=made.weights, split="punctuation")
        else:
            save(output, made.weighted(), format=row.name)
        words, dim, name = len(vocab.words), made.vectors.dim, row.name if row else STATIC
        run.log(f"{output}: {words:,} words, {made.from_dim} -> {dim} numbers, {name}")
        return None, {"words": words, "from_dim": made.from_dim, "dim": dim, "format": name}


@dataclass(frozen=True, eq=False)
class Distilled:
    """The vectors of a distilled encoder. `weights` (words,) are not in the vectors; None: there are none. `from_dim`:
    numbers of the encoder's vectors."""

    vectors: Embeddings
    weights: NDArray[np.float64] | None
    from_dim: int

    def weighted(self) -> Embeddings:
        """The vectors, each times its weight: for formats that have no other place for it."""
        if self.weights is None:
            return self.vectors
        matrix = (self.vectors.matrix * self.weights[:, None]).astype(np.float32)
        return Embeddings(self.vectors.words, matrix)


def distil(
    encoder: str, vocab: Vocab, config: DistilConfig, progress: Callable[[int, int | None], None] | None = None
) -> Distilled:
    """The vectors of all words of `vocab`. Raises what open_encoder raises, UsageError for a config that makes no
    sense, WvError for a vocabulary too small for what is to be fitted on it."""
    config.validate()
    names = (config.pooling,) if config.pooling is not None else ()
    source = open_encoder(encoder, EncoderConfig(threads=config.threads), names)
    pooling = Pooling.of(config.pooling or source.pooling, source.layers, source.name)
    texts = [vocab.words[row] for row in range(len(vocab.words))]
    (made,) = encode(source, texts, [pooling], threads=config.threads, progress=progress)
    matrix = made.vectors
    if config.method != "none":
        moments = Moments.none(source.dim).with_rows(matrix[~made.empty])
        whitening = WhitenConfig(method=config.method, dim=config.dim)
        matrix = fit(moments, whitening, f"the {moments.rows:,} words").apply(matrix)
        matrix[made.empty] = 0
    weights = sif_weights(vocab.words, vocab, config.sif_a) if config.sif_a else None
    return Distilled(Embeddings(vocab.words, matrix), weights, source.dim)
