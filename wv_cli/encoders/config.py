"""How sentences are encoded."""

from typing import ClassVar, Literal

from wv_cli.config import Options, frozen, option, seed_option, threads_option

# How the vectors of a sentence's tokens become one: see encoders/pooling.py. LAYER is one more: `layer:3`.
POOLINGS = ("mean", "cls", "max", "sqrt-len", "first-last", "last-two")
LAYER = r"layer:\d{1,3}"


@frozen
class EncoderConfig(Options):
    """What an encoder's folder does not say, or should be done otherwise. `max_length` 0 and `normalize` None: as the
    folder says."""

    group: ClassVar[str] = "Encoder"

    max_length: int = option(
        0,
        "Tokens to read per sentence, including the encoder's [CLS] and [SEP].",
        low=0,
        high=10**6,
        low_is="as the encoder's folder says",
    )
    dim: int = option(
        0,
        "Keep the first numbers of each vector, before scaling (Matryoshka).",
        low=0,
        high=100_000,
        low_is="all",
    )
    normalize: bool | None = option(None, "Scale vectors to unit length, or not.", shown="as the encoder's folder says")
    runtime: Literal["auto", "onnx", "numpy"] = option(
        "auto",
        "Program that runs the encoder: ONNX Runtime, numpy, or the first that can.",
    )
    mix: str | None = option(
        None,
        "Sum all layers with these weights: W0,W1,... from the embeddings up, or softmax:W0,W1,...",
    )
    gamma: float = option(1.0, "Factor of the sum of layers.", above=0, high=1e6, only="mix")
    mix_norm: bool = option(False, "Normalize the layers of --mix to mean 0 and variance 1 first.", only="mix")
    stateful: bool = option(False, "ELMo: carry states over from the previous sentence, as the original does.")
    threads: int = threads_option("Encoding threads")


@frozen
class FitConfig(Options):
    """How `wv distil --train` fits the table of an encoder's pieces to its sentence vectors."""

    group: ClassVar[str] = "Training"

    train: str | None = option(None, "Fit the rows to the encoder's vectors of these texts, one a line.", role="read")
    loss: Literal["cosine", "mse", "contrastive"] = option("cosine", "Loss of the fit.", only="train")
    epochs: int = option(5, "Passes over the texts; 0 only maps the rows.", low=0, high=100_000, only="train")
    batch: int = option(256, "Texts per step.", low=2, high=1 << 20, only="train")
    lr: float = option(0.03, "Learning rate, in units of the rows' root mean square.", above=0, high=100, only="train")
    seed: int = seed_option("Random seed of the order of texts.", only="train")


@frozen
class DistilConfig(Options):
    """What `wv distil` makes of an encoder's vectors of words."""

    group: ClassVar[str] = "Method"

    pooling: Literal["mean", "cls", "max", "sqrt-len", "first-last", "last-two"] | None = option(
        None,
        "Pooling of a word's tokens, as for wv vectors, or layer:K.",
        also=LAYER,
        shown="the encoder's own; mean for pieces",
    )
    method: Literal["pca", "whiten", "none"] = option("pca", "Reduce with PCA, whiten, or keep vectors as they are.")
    dim: int = option(
        256, "Dimensions to keep; 0 keeps all that vary.", low=0, high=100_000, low_is="all", only="method=pca|whiten"
    )
    sif_a: float | None = option(
        None,
        "Constant a of the weights a / (a + p); 0 disables them.",
        low=0,
        low_is="none",
        shown="1e-3; 1e-4 for pieces",
    )
    dtype: Literal["float32", "float16", "int8"] = option("float32", "Type of the folder's numbers.")
    threads: int = threads_option("Encoding threads")
