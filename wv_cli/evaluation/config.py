"""The protocols of the evaluation tasks: each of these choices changes the number."""

import re
from typing import ClassVar, Literal

from wv_cli.config import Options, frozen, option, require, seed_option, threads_option
from wv_cli.config.wording import flag_of
from wv_cli.encoders.config import LAYER
from wv_cli.lm.config import PiecesConfig
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.text.reading_config import AskedConfig, label_field_option, require_label_fields
from wv_cli.transforms.config import WhitenConfig


def _restrict_vocab() -> int:
    help = "Use only the first N words of each vector file; 0 uses all."
    return option(0, help, low=0, low_is="the whole vocabulary")


def _draws() -> int:
    help = "Draws for confidence intervals and p-values; 0 computes none."
    return option(1000, help, low=0, high=1_000_000, low_is="no intervals and tests")


def _draws_seed() -> int:
    return seed_option("Random seed of the draws.", only="resamples>0")


# More than the plain mean is shown of each source.
_HAS_GAINS = "pooling!=mean or after or stop_words=both"
_METHODS = "|".join(WhitenConfig.options()["method"].choices)
_CHOICES = Literal["mean", "sif", "idf", "cls", "max", "sqrt-len", "first-last", "last-two"]


@frozen
class EvalConfig(Options):
    """The protocol of a score of vectors. Each of these choices changes the number, so every report names them."""

    group: ClassVar[str] = "Protocol"

    case: Literal["fold-first", "lower", "none"] = option(
        "fold-first",
        "Match words regardless of case (fold-first), in lower case, or as written.",
    )
    oov: Literal["skip", "zero"] = option("skip", "Words without a vector: skip their item, or count it as zero.")
    restrict_vocab: int = _restrict_vocab()
    strict: bool = option(False, "Fail on a malformed line instead of skipping it.")
    subwords: bool = option(True, "Compose unlisted words of fastText models from their character n-grams.")


@frozen
class LabelsConfig(PredictConfig):
    """How a classifier is scored on the labels it predicts."""

    label_field: tuple[str, ...] = label_field_option()
    per_label: bool = option(False, "Also show a row per label.", only="not number")
    confusions: int = option(5, "Number of most confused label pairs to show.", low=0, low_is="none", only="not number")
    reliability: bool = option(False, "Show by probability how often the answers are right.", only="not number")
    best: str | None = option(
        None, "Show scores by threshold, and the threshold best by f1, precision=P or recall=R.", only="not number"
    )

    def check(self) -> None:
        super().check()
        require_label_fields(self.label_field, self)
        if self.best is not None:
            require(not self.threshold, "--best chooses the threshold; leave out --threshold")
            self.goal()

    def goal(self) -> tuple[str, float]:
        """("f1", 0), or "precision" or "recall" with the value that must be reached. Raises UsageError."""
        name, _, value = (self.best or "f1").partition("=")
        least = float(value) if re.fullmatch(r"0?\.\d+|1|0|1\.0*", value) else None
        valid = (name == "f1" and not value) or (name in ("precision", "recall") and least is not None)
        require(valid, f"--best must be f1, precision=P or recall=R with P and R from 0 to 1, not {self.best!r}")
        return name, least or 0.0


@frozen
class AnalogyConfig(EvalConfig):
    method: Literal["3cosadd", "3cosmul"] = option(
        "3cosadd", "Rank by the cosine with b - a + c, or by products of cosines."
    )
    threads: int = threads_option("Search threads", common=False)


@frozen
class TranslationConfig(EvalConfig):
    """`target`: the vectors that hold the answers; it must be given."""

    target: str | None = option(None, "Vectors of the other language, whose words are the answers.", role="read")
    method: Literal["both", "nn", "csls"] = option(
        "both",
        "Rank answers by cosine (nn), by CSLS, or show both.",
    )
    csls_neighbors: int = option(
        10, "Nearest words whose mean cosine CSLS subtracts.", low=1, high=10**6, only="method=both|csls"
    )
    threads: int = threads_option("Search threads", common=False)


@frozen
class RetrievalConfig(Options):
    """The protocol of `wv eval retrieval`. Words are matched as they are spelled."""

    restrict_vocab: int = _restrict_vocab()
    neighbors: int = option(100, "Nearest words to find per query.", low=1, high=10**6)
    at: int = option(100, "Rank up to which recall counts.", low=1, high=10**9)
    queries: int = option(1000, "Number of words drawn as queries; 0 takes all.", low=0, high=10**9, low_is="all")
    seed: int = seed_option("Random seed of the draw.", only="queries>0")
    threads: int = threads_option("Search threads", common=False)


@frozen
class PerplexityConfig(PiecesConfig, AskedConfig):
    """The protocol of `wv eval perplexity`."""

    common_vocab: bool = option(False, "Count only words that all models list; their vocabularies may differ.")
    mix: str | None = option(
        None, "Also score the models' linear interpolation, with weights fitted to this held-out text.", role="read"
    )
    unnormalized: bool = option(
        False,
        "Use scores of noise-contrast models as log probabilities, without normalizing.",
    )
    resamples: int = _draws()
    seed: int = _draws_seed()


@frozen
class WicConfig(Options):
    """The protocol of `wv eval wic`. `dev` must be given. `hasher` and `encoder` are scored besides word vectors, or in
    their place."""

    group: ClassVar[str] = "Protocol"

    dev: str | None = option(None, "File of the same layout for choosing the threshold.", role="read")
    window: int = option(
        5, "Context words on each side; 0 uses the whole sentence.", low=0, high=10**6,
        low_is="the whole sentence",
    )  # fmt: skip
    hasher: tuple[str, ...] = option(
        (), "Also score the dynamic codes of this BioWord hasher; may be repeated.", role="read"
    )
    encoder: tuple[str, ...] = option(
        (), "Also score the layers of the ELMo in this folder; may be repeated.", metavar="DIR", role="read"
    )
    case: Literal["fold-first", "lower", "none"] = option(
        "fold-first", "Match words regardless of case (fold-first), in lower case, or as written."
    )
    restrict_vocab: int = _restrict_vocab()
    strict: bool = option(False, "Fail on a malformed line instead of skipping it.")
    subwords: bool = option(True, "Compose unlisted words of fastText models from their character n-grams.")


@frozen
class StsConfig(EvalConfig):
    """`after`: names of transforms to fit on sentences, or files of saved ones. `encoder` and `sentence_vectors` are
    scored besides word vectors, or in their place."""

    encoder: tuple[str, ...] = option(
        (), "Also score the encoder in this folder; may be repeated.", metavar="DIR", role="read"
    )
    sentence_vectors: tuple[str, ...] = option(
        (),
        "Also score these sentence vectors, one row per sentence; may be repeated.",
        role="read",
    )

    oov: Literal["skip", "zero"] = option(
        "zero",
        "Sentences without any vector: count similarity 0, or skip their pairs.",
    )
    pooling: tuple[_CHOICES, ...] = option(
        (),
        "Pooling of a sentence's word or token vectors; may be repeated.",
        also=LAYER,
        shown="mean; an encoder's own",
    )
    after: tuple[str, ...] = option(
        (),
        "Also score after this transform (method or saved file); may be repeated.",
    )
    dim: int = option(
        0,
        "Dimensions that a transform keeps; 0 keeps all that vary.",
        low=0,
        high=100_000,
        low_is="all",
        only="after=whiten|pca|soft|project",
    )
    fit: Literal["test", "together", "train", "all"] = option(
        "test",
        "Sentences to fit on: each file's own, all files', --fit-data's, or own and those.",
        only=f"after={_METHODS}",
    )
    fit_data: tuple[str, ...] = option(
        (), "Sentence pairs to fit on; their scores are not used.", only="fit=train|all", role="read"
    )
    max_length: int = option(
        0,
        "Tokens that an encoder reads per sentence.",
        low=0,
        high=10**6,
        low_is="as its folder says",
        only="encoder",
    )
    published: bool = option(False, "Also show published results for data files of known names.")
    threads: int = threads_option("Encoder threads", only="encoder", common=False)
    stop_words: Literal["keep", "drop", "both"] = option("keep", "Keep or drop English stop words, or show both.")
    stop_list: str | None = option(
        None, "File of stop words to drop instead.", only="stop_words=drop|both", role="read"
    )
    counts: str | None = option(
        None,
        "Word frequencies (`word count` lines) for sif and idf.",
        only="pooling=sif|idf",
        role="read",
    )
    sif_a: float = option(1e-3, "Constant a of SIF's weights a / (a + p(word)).", above=0, only="pooling=sif")
    resamples: int = option(
        1000,
        "Bootstrap samples for the intervals of gains; 0 computes none.",
        low=0,
        high=1_000_000,
        low_is="no intervals of gains",
        only=_HAS_GAINS,
    )
    seed: int = seed_option("Random seed of the bootstrap.", only=_HAS_GAINS)

    def check(self) -> None:
        message = "--pooling sif needs the words' frequencies: give --counts VOCAB (`wv build-vocab` makes one)"
        require("sif" not in self.pooling or self.counts is not None, message)
        others = [*self.encoder, *self.sentence_vectors]
        weighs = next((name for name in self.pooling if name in ("sif", "idf")), "")
        require(not (others and weighs), f"--pooling {weighs} weighs words; {''.join(others[:1])} has none")
        message = "--stop-words both needs word vectors only; choose keep or drop"
        require(not (others and self.stop_words == "both"), message)
        message = "--pooling has no effect with --sentence-vectors, which are pooled already; leave it out"
        require(not (self.sentence_vectors and self.pooling), message)
        require(self.fit in ("test", "together") or bool(self.fit_data), f"--fit {self.fit} needs --fit-data FILE")


@frozen
class SearchConfig(Options):
    """The protocol of `wv eval search`. `encoder`, `bm25` and `run` are scored besides vectors, or in their place."""

    group: ClassVar[str] = "Protocol"

    encoder: tuple[str, ...] = option(
        (), "Also score the encoder in this folder; may be repeated.", metavar="DIR", role="read"
    )
    bm25: tuple[Literal["lucene", "robertson", "atire", "bm25l", "bm25+"], ...] = option(
        (), "Also score this variant of BM25; may be repeated."
    )
    run: tuple[str, ...] = option(
        (), "Also score the ranked lists of this TREC run file; may be repeated.", role="read"
    )
    fuse: tuple[str, ...] = option((), "Also score the systems' fusion, weighted W1,W2,...; may be repeated.")
    fuse_by: Literal["ranks", "scores"] = option(
        "ranks", "Sum reciprocal ranks, or scores in standard deviations of a system's list.", only="fuse"
    )
    save_run: str | None = option(None, "Write the ranked lists of all systems to this TREC run file.", role="write")
    split: str = option("test", "Name of the judgements: qrels/SPLIT.tsv.")
    at: int = option(10, "Rank up to which NDCG, MRR and MAP count.", low=1, high=1_000_000)
    recall_at: int = option(100, "Rank up to which recall counts.", low=1, high=1_000_000)
    depth: int = option(1000, "Documents that a system ranks per query.", low=1, high=1_000_000)
    restrict_vocab: int = _restrict_vocab()
    k1: float = option(1.5, "BM25: how slowly a repeated word saturates.", low=0, high=1000, only="bm25")
    b: float = option(0.75, "BM25: how much long documents are penalized.", low=0, high=1, only="bm25")
    stop_words: Literal["keep", "drop"] = option("drop", "BM25: keep or drop 33 English stop words.", only="bm25")
    stem: Literal["none", "english"] = option("none", "BM25: reduce words to their English stems.", only="bm25")
    max_length: int = option(
        0,
        "Tokens that an encoder reads per text.",
        low=0,
        high=10**6,
        low_is="as its folder says",
        only="encoder",
    )
    dim: int = option(
        0, "First numbers of an encoder's vectors to keep.", low=0, high=100_000, low_is="all", only="encoder"
    )
    resamples: int = _draws()
    seed: int = _draws_seed()
    threads: int = threads_option("Search threads", common=False)

    def check(self) -> None:
        for name in ("at", "recall_at"):
            rank = getattr(self, name)
            message = f"{flag_of(name)} {rank} is beyond --depth {self.depth}; raise --depth"
            require(rank <= self.depth, message)
        self.weights()
        message = "--k1 0 and --bm25 bm25l give all documents of a query one score; choose a --k1 above 0"
        require(self.k1 > 0 or "bm25l" not in self.bm25, message)
        require("/" not in self.split, f"--split must be a name as in qrels/NAME.tsv, not {self.split!r}")

    def weights(self) -> list[list[float]]:
        """Those of each fusion. Raises UsageError."""
        found = []
        for text in self.fuse:
            known = re.fullmatch(r"(\d{1,6}(\.\d*)?|\.\d+)(,(\d{1,6}(\.\d*)?|\.\d+))+", text)
            weights = [float(part) for part in text.split(",")] if known else []
            message = f"--fuse must be two or more weights W1,W2,..., not all 0, one for each system, not {text!r}"
            require(any(weights), message)
            found.append(weights)
        return found
