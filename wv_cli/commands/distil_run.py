"""An encoder's vectors of the words of a vocabulary: the work of `wv distil VOCAB`."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.config import DistilConfig
from wv_cli.encoders.pooling import Pooling
from wv_cli.io.events import OnProgress
from wv_cli.text.vocab import Vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.sentences import SIF_A, sif_weights
from wv_cli.transforms.whiten import fit
from wv_cli.vectors.embeddings import Embeddings


@dataclass(frozen=True, eq=False)
class Distilled:
    """The vectors of a distilled encoder. `weights` (words,) are not in the vectors; None: there are none. `from_dim`:
    numbers of the encoder's vectors."""

    vectors: Embeddings
    weights: NDArray[np.float64] | None
    from_dim: int

    def apply_weights(self) -> Embeddings:
        """The vectors, each times its weight: for formats that have no other place for it."""
        if self.weights is None:
            return self.vectors
        matrix = (self.vectors.matrix * self.weights[:, None]).astype(np.float32)
        return Embeddings(self.vectors.words, matrix)


def distil(encoder: str, vocab: Vocab, config: DistilConfig, progress: OnProgress | None = None) -> Distilled:
    """The vectors of all words of `vocab`. Raises what open_encoder raises, UsageError for a config that makes no
    sense, WvError for a vocabulary too small for what is to be fitted on it."""
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
