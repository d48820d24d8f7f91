from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Literal

# Made from the options of commands by `python -m tests.function_stub`; None is an option that is not given.

Path = str | PathLike[str]

def similarity(
    vectors: Path | Iterable[Path],
    data: Path | Iterable[Path],
    *,
    case: Literal["fold-first", "lower", "none"] | None = None,
    oov: Literal["skip", "zero"] | None = None,
    restrict_vocab: int | None = None,
    strict: bool | None = None,
    subwords: bool | None = None,
    min_score: float | None = None,
    dask: str | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Rank correlation of cosines with people's judgements of word pairs."""

def analogy(
    vectors: Path | Iterable[Path],
    data: Path | Iterable[Path],
    *,
    case: Literal["fold-first", "lower", "none"] | None = None,
    oov: Literal["skip", "zero"] | None = None,
    restrict_vocab: int | None = None,
    strict: bool | None = None,
    subwords: bool | None = None,
    method: Literal["3cosadd", "3cosmul"] | None = None,
    threads: int | None = None,
    min_score: float | None = None,
    dask: str | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Share of `a is to b as c is to ?` questions answered with the expected word."""

def retrieval(
    vectors: Path | Iterable[Path],
    data: Path | Iterable[Path],
    *,
    restrict_vocab: int | None = None,
    neighbors: int | None = None,
    at: int | None = None,
    queries: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    min_score: float | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Share of the exact nearest words that a search in codes finds."""

def translation(
    vectors: Path | Iterable[Path],
    data: Path | Iterable[Path],
    *,
    case: Literal["fold-first", "lower", "none"] | None = None,
    oov: Literal["skip", "zero"] | None = None,
    restrict_vocab: int | None = None,
    strict: bool | None = None,
    subwords: bool | None = None,
    target: Path | None = None,
    method: Literal["both", "nn", "csls"] | None = None,
    csls_neighbors: int | None = None,
    threads: int | None = None,
    min_score: float | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Share of words with a translation among their nearest words in another language."""

def labels(
    vectors: Path | Iterable[Path],
    data: Path | Iterable[Path],
    *,
    field: str | None = None,
    no_header: bool | None = None,
    tsv_quotes: bool | None = None,
    bad_records: Literal["skip", "error"] | None = None,
    tokenize: str | None = None,
    force_text: bool | None = None,
    number: bool | None = None,
    k: int | None = None,
    threshold: float | None = None,
    threads: int | None = None,
    label_field: str | Iterable[str] | None = None,
    per_label: bool | None = None,
    confusions: int | None = None,
    reliability: bool | None = None,
    best: str | None = None,
    min_score: float | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Precision, recall and F1 of a classifier's labels."""

def perplexity(
    vectors: Path | Iterable[Path],
    data: Path | Iterable[Path],
    *,
    field: str | None = None,
    no_header: bool | None = None,
    tsv_quotes: bool | None = None,
    bad_records: Literal["skip", "error"] | None = None,
    tokenize: str | None = None,
    force_text: bool | None = None,
    normalize: Literal["none", "ccnet", "datatrove"] | None = None,
    tokenizer: Path | None = None,
    common_vocab: bool | None = None,
    mix: Path | None = None,
    unnormalized: bool | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    min_score: float | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """How well language models predict a text."""

def search(
    vectors: Path | Iterable[Path] | None = None,
    data: Path | Iterable[Path] | None = None,
    *,
    encoder: Path | Iterable[Path] | None = None,
    bm25: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]
    | Iterable[Literal["lucene", "robertson", "atire", "bm25l", "bm25+"]]
    | None = None,
    run: Path | Iterable[Path] | None = None,
    fuse: str | Iterable[str] | None = None,
    fuse_by: Literal["ranks", "scores"] | None = None,
    save_run: Path | None = None,
    split: str | None = None,
    at: int | None = None,
    recall_at: int | None = None,
    depth: int | None = None,
    restrict_vocab: int | None = None,
    k1: float | None = None,
    b: float | None = None,
    stop_words: Literal["keep", "drop"] | None = None,
    stem: Literal["none", "english"] | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    min_score: float | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """How well systems rank documents for queries."""

def sts(
    vectors: Path | Iterable[Path] | None = None,
    data: Path | Iterable[Path] | None = None,
    *,
    case: Literal["fold-first", "lower", "none"] | None = None,
    oov: Literal["skip", "zero"] | None = None,
    restrict_vocab: int | None = None,
    strict: bool | None = None,
    subwords: bool | None = None,
    encoder: Path | Iterable[Path] | None = None,
    sentence_vectors: Path | Iterable[Path] | None = None,
    pooling: Literal["mean", "sif", "idf", "cls", "max", "sqrt-len", "first-last", "last-two"]
    | Iterable[Literal["mean", "sif", "idf", "cls", "max", "sqrt-len", "first-last", "last-two"]]
    | None = None,
    after: str | Iterable[str] | None = None,
    dim: int | None = None,
    fit: Literal["test", "together", "train", "all"] | None = None,
    fit_data: Path | Iterable[Path] | None = None,
    max_length: int | None = None,
    published: bool | None = None,
    threads: int | None = None,
    stop_words: Literal["keep", "drop", "both"] | None = None,
    stop_list: Path | None = None,
    counts: Path | None = None,
    sif_a: float | None = None,
    resamples: int | None = None,
    seed: int | None = None,
    min_score: float | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Rank correlation, x 100, of sentence vectors' cosines with people's judgements of sentence pairs."""

def wic(
    vectors: Path | Iterable[Path] | None = None,
    data: Path | Iterable[Path] | None = None,
    *,
    dev: Path | None = None,
    window: int | None = None,
    hasher: Path | Iterable[Path] | None = None,
    encoder: Path | Iterable[Path] | None = None,
    case: Literal["fold-first", "lower", "none"] | None = None,
    restrict_vocab: int | None = None,
    strict: bool | None = None,
    subwords: bool | None = None,
    min_score: float | None = None,
    from_format: str | None = None,
    bad_rows: Literal["error", "skip"] | None = None,
    log: Callable[..., object] | None = None,
) -> dict[str, Any]:
    """Accuracy of telling whether a word has the same meaning in two sentences."""
