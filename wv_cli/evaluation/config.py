"""The protocols of the evaluation tasks: each of these choices changes the number."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from wv_cli.config import Config, option, require, search_threads_option, seed_option
from wv_cli.encoders.config import LAYER
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.text.config import ReadingConfig
from wv_cli.transforms.config import WhitenConfig


def _restrict_vocab() -> int:
    help = "Use only the first N words of each vector file, for questions and answers; 0 uses all."
    return option(0, help, low=0, low_is="the whole vocabulary")


# More than the plain mean is shown of each source.
_HAS_GAINS = "pooling!=mean or after or stop_words=both"
_METHODS = "|".join(WhitenConfig.options()["method"].choices)
_CHOICES = Literal["mean", "sif", "idf", "cls", "max", "sqrt-len", "first-last", "last-two"]


@dataclass(frozen=True)
class EvalConfig(Config):
    """The protocol of a score of vectors. Each of these choices changes the number, so every report names them."""

    group: ClassVar[str] = "Protocol"

    case: Literal["fold-first", "lower", "none"] = option(
        "fold-first",
        "fold-first: upper and lower case are one, the first (most frequent) word with a spelling stands for all; "
        "lower: look up the data's words in lower case; none: as written.",
    )
    oov: Literal["skip", "zero"] = option(
        "skip", "Words without a vector: skip leaves the item out; zero keeps it, as similarity 0 or a wrong answer."
    )
    restrict_vocab: int = _restrict_vocab()
    strict: bool = option(False, "A malformed line is an error; otherwise it is counted and left out.")
    subwords: bool = option(True, "Compose words that a fastText model does not list of their character n-grams.")


@dataclass(frozen=True)
class LabelsConfig(PredictConfig):
    """How a classifier is scored on the labels it predicts."""

    per_label: bool = option(False, "A row for every label, too.")
    confusions: int = option(
        5, "Show so many of the pairs of labels most often taken for each other.", low=0, low_is="none"
    )


@dataclass(frozen=True)
class AnalogyConfig(EvalConfig):
    method: Literal["3cosadd", "3cosmul"] = option(
        "3cosadd", "3cosadd: the cosine with b - a + c; 3cosmul: their products (Levy & Goldberg 2014)."
    )
    threads: int = search_threads_option()


@dataclass(frozen=True)
class TranslationConfig(EvalConfig):
    """`target`: the vectors that hold the answers; it must be given."""

    target: str | None = option(None, "FILE with the vectors of the other language, whose words are the answers.")
    method: Literal["both", "nn", "csls"] = option(
        "both",
        "How answers are ranked. nn: by cosine; csls: by cosine less how near everything is to a word (Conneau et al. "
        "2018); both shows both.",
    )
    csls_neighbours: int = option(
        10, "Nearest words whose mean cosine CSLS takes off.", low=1, high=10**6, only="method=both|csls"
    )
    threads: int = search_threads_option()


@dataclass(frozen=True)
class RetrievalConfig(Config):
    """The protocol of `wv eval retrieval`. Words are matched as they are spelled."""

    restrict_vocab: int = _restrict_vocab()
    neighbours: int = option(100, "How many nearest words of a query are to be found.", low=1, high=10**6)
    at: int = option(100, "Recall counts those among the first so many.", low=1, high=10**9)
    queries: int = option(1000, "Words asked, drawn from the data's; 0 asks all.", low=0, high=10**9, low_is="all")
    seed: int = seed_option("Random seed of the draw.", only="queries>0")
    threads: int = search_threads_option()


@dataclass(frozen=True)
class PerplexityConfig(ReadingConfig):
    """The protocol of `wv eval perplexity`."""

    common_vocab: bool = option(False, "Count only words that all models list; models of different ones may be given.")
    mix: str | None = option(
        None, "Show the models' linear interpolation, too, with the weights that fit this text best (FILE, held out)."
    )
    unnormalised: bool = option(
        False,
        "Take the scores of models trained by noise contrast (--loss nce) for logarithms of probabilities as they are, "
        "without the sum over all words.",
    )
    resamples: int = option(
        1000, "Draws for intervals and p; 0 for none.", low=0, high=1_000_000, low_is="no intervals and tests"
    )
    seed: int = seed_option("Of the draws.", only="resamples>0")


@dataclass(frozen=True)
class WicConfig(Config):
    """The protocol of `wv eval wic`. `dev` must be given. `hasher` and `encoder` are scored besides word vectors, or in
    their place."""

    group: ClassVar[str] = "Protocol"

    dev: str | None = option(None, "FILE of the same layout on which the threshold is chosen.")
    window: int = option(
        5, "Words on each side that are a word's context; 0: the whole sentence.", low=0, high=10**6,
        low_is="the whole sentence",
    )  # fmt: skip
    hasher: tuple[str, ...] = option((), "Score the dynamic codes of this BioWord hasher, too. Repeat for more.")
    encoder: tuple[str, ...] = option((), "Score the layers of the ELMo in this folder, too. Repeat for more.")
    case: Literal["fold-first", "lower", "none"] = option("fold-first", "As for similarity.")
    restrict_vocab: int = _restrict_vocab()
    strict: bool = option(False, "A malformed line is an error; otherwise it is counted and left out.")
    subwords: bool = option(True, "Compose words that a fastText model does not list of their character n-grams.")


@dataclass(frozen=True)
class StsConfig(EvalConfig):
    """`after`: names of transforms to fit on sentences, or files of saved ones. `encoder` and `sentence_vectors` are
    scored besides word vectors, or in their place."""

    encoder: tuple[str, ...] = option((), "Score the encoder in this folder, too, or without VECTORS. Repeat for more.")
    sentence_vectors: tuple[str, ...] = option(
        (),
        "Score the rows of this file, too: one for each sentence of the data as they stand there, the first and second "
        "of a pair one after the other, then those of --fit-data. Repeat for more.",
    )

    oov: Literal["skip", "zero"] = option(
        "zero",
        "Sentences no word of which has a vector: zero gives their pairs similarity 0, skip leaves them out.",
    )
    pooling: tuple[_CHOICES, ...] = option(
        (),
        "Sentence vectors: plain mean, SIF (weights by frequency, common component removed), or mean weighted "
        "by inverse document frequency; of an encoder's tokens cls, max, sqrt-len, first-last, last-two, layer:K. "
        "Repeat for more.",
        also=LAYER,
        shown="mean; an encoder's own",
    )
    after: tuple[str, ...] = option(
        (),
        "Then apply a transform: whiten, zca, pca, soft, abtt or project fitted on these sentences, or a FILE that `wv "
        "whiten --save-transform` saved. Repeat for more; each is shown beside the result without.",
    )
    dim: int = option(
        0,
        "Dimensions that whiten, pca, soft and project keep; 0 keeps all that vary.",
        low=0,
        high=100_000,
        low_is="all",
        only="after=whiten|pca|soft|project",
    )
    fit: Literal["test", "train", "all"] = option(
        "test",
        "What a transform is fitted on: test, the sentences scored; train, those of --fit-data; all, both.",
        only=f"after={_METHODS}",
    )
    fit_data: tuple[str, ...] = option(
        (), "FILE of sentence pairs to fit on, such as a training set; its scores are not used.", only="fit=train|all"
    )
    max_length: int = option(
        0,
        "Tokens of a sentence that an encoder reads.",
        low=0,
        high=10**6,
        low_is="as its folder says",
        only="encoder",
    )
    published: bool = option(False, "Show what papers report for these data, too, where the files' names tell which.")
    threads: int = option(
        0,
        "Threads of an encoder; 0 uses all processors.",
        low=0,
        high=1024,
        low_is="all processors",
        only="encoder",
        group="Run",
    )
    stop_words: Literal["keep", "drop", "both"] = option("keep", "Keep or drop English stop words; both shows both.")
    stop_list: str | None = option(None, "FILE with the stop words to drop instead.", only="stop_words=drop|both")
    counts: str | None = option(
        None,
        "Vocabulary FILE (`word count` lines) for sif; for idf, too, instead of the sentences.",
        only="pooling=sif|idf",
    )
    sif_a: float = option(1e-3, "The a of SIF's weight a / (a + p(word)).", above=0, only="pooling=sif")
    resamples: int = option(
        1000,
        "Bootstrap samples for the intervals of gains; 0 for none.",
        low=0,
        high=1_000_000,
        low_is="no intervals of gains",
        only=_HAS_GAINS,
    )
    seed: int = seed_option("Of the bootstrap.", only=_HAS_GAINS)

    def check(self) -> None:
        message = "--pooling sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
        require("sif" not in self.pooling or self.counts is not None, message)
        others = [*self.encoder, *self.sentence_vectors]
        weighs = next((name for name in self.pooling if name in ("sif", "idf")), "")
        require(not (others and weighs), f"--pooling {weighs} weighs words; {''.join(others[:1])} has none")
        message = "--stop-words both shows two lines of word vectors; an encoder or sentence vectors have one"
        require(not (others and self.stop_words == "both"), message)
        message = "--sentence-vectors are pooled; --pooling has no place there"
        require(not (self.sentence_vectors and self.pooling), message)
        require(self.fit == "test" or bool(self.fit_data), f"--fit {self.fit} needs --fit-data FILE")
