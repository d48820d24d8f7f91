"""How words' vectors become the vector of a text."""

from typing import Literal

from wv_cli.config import Options, frozen, option
from wv_cli.encoders.config import LAYER, POOLINGS

OWN = "own"  # the rule of the vectors, or of the model, themselves


@frozen
class TextPooling(Options):
    """The rule of a text's vector, and what it needs to know of words."""

    pooling: str | None = option(
        None,
        "Pooling of a sentence's word vectors, or of an encoder's token vectors.",
        choices=("mean", "sif", "idf", OWN, *POOLINGS[1:]),
        also=LAYER,
    )
    counts: str | None = option(
        None, "Word frequencies (`word count` lines) for sif and idf.", metavar="VOCAB", role="read"
    )
    case: Literal["fold-first", "lower", "none"] = option(
        "fold-first", "With --pooling: match words regardless of case, in lower case, or as written."
    )
