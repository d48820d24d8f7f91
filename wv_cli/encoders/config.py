"""How sentences are encoded."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wv_cli.config import Config, option, threads_option

# How the vectors of a sentence's tokens become one: see encoders/pooling.py. LAYER is one more: `layer:3`.
POOLINGS = ("mean", "cls", "max", "sqrt-len", "first-last", "last-two")
LAYER = r"layer:\d{1,3}"


@dataclass(frozen=True)
class EncoderConfig(Config):
    """What an encoder's folder does not say, or should be done otherwise. `max_length` 0 and `normalize` None: as the
    folder says."""

    group: ClassVar[str] = "Encoder"

    max_length: int = option(
        0,
        "Tokens of a sentence that are read, the encoder's own [CLS] and [SEP] among them; longer ones are cut.",
        low=0,
        high=10**6,
        low_is="as the encoder's folder says",
    )
    normalize: bool | None = option(None, "Vectors of unit length, or not.", shown="as the encoder's folder says")
    runtime: Literal["auto", "onnx", "numpy"] = option(
        "auto",
        "What computes: onnx, ONNX Runtime with the folder's model.onnx; numpy, this program with its "
        "model.safetensors; auto, the first of them that can.",
    )
    mix: str | None = option(
        None,
        "A weighted sum of all layers in the place of the last one: W0,W1,... from the embeddings up, or "
        "softmax:W0,W1,... for weights as ELMo's users train them.",
    )
    gamma: float = option(1.0, "Multiplies the sum.", above=0, high=1e6, only="mix")
    mix_norm: bool = option(False, "Layers of a mix are brought to mean 0 and variance 1 first.", only="mix")
    stateful: bool = option(
        False, "ELMo: go on with the states the sentence before has left, as the original does, instead of with zeros."
    )
    threads: int = threads_option("Threads that encode; 0: all processors.")


@dataclass(frozen=True)
class DistilConfig(Config):
    """What `wv distil` makes of an encoder's vectors of words."""

    group: ClassVar[str] = "Method"

    pooling: Literal["mean", "cls", "max", "sqrt-len", "first-last", "last-two"] | None = option(
        None,
        "How the tokens of a word are joined, as for wv vectors; also layer:K.",
        also=LAYER,
        shown="the encoder's own",
    )
    method: Literal["pca", "whiten", "none"] = option(
        "pca", "pca: the directions of largest variance; whiten: these with variance 1; none: vectors as they are."
    )
    dim: int = option(
        256, "Dimensions to keep; 0 keeps all that vary.", low=0, high=100_000, low_is="all", only="method=pca|whiten"
    )
    sif_a: float = option(1e-3, "The a of the words' weights a / (a + p(word)); 0: no weights.", low=0, low_is="none")
    threads: int = threads_option("Threads that encode; 0: all processors.")
