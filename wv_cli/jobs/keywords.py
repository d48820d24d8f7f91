"""The keyword arguments of wv_cli.train and wv_cli.train_glove, for type checkers and editors.

Made from the options of the jobs by `python -m tests.keywords`; None is an option that is not given.
"""

from collections.abc import Iterable
from os import PathLike
from typing import Literal, TypedDict

Path = str | PathLike[str]


class TrainOptions(TypedDict, total=False):
    """The options of `wv train`."""

    meta: bool | None
    loss: Literal["ns", "hs", "softmax", "nce", "ova", "hs_ns", "importance", "class"] | None
    dim: int | None
    window: int | None
    window_side: Literal["both", "left", "right"] | None
    whole_line: bool | None
    shrink_window: bool | None
    negative: int | None
    share_negatives: bool | None
    share_positions: bool | None
    power: float | None
    sample: float | None
    sample_formula: Literal["word2vec", "paper", "fasttext"] | None
    minn: int | None
    maxn: int | None
    buckets: int | None
    lr: float | None
    lr_floor: float | None
    epochs: int | None
    max_sentence: int | None
    cbow_mean: bool | None
    cbow_gradient: Literal["word2vec", "corrected"] | None
    seed: int | None
    threads: int | None
    deterministic: bool | None
    min_count: int | None
    max_vocab: int | None
    lowercase: bool | None
    dedup: bool | None
    min_line: int | None
    vocab: Path | None
    memory: int | None
    field: str | None
    no_header: bool | None
    tsv_quotes: bool | None
    bad_records: Literal["skip", "error"] | None
    tokenize: str | None
    force_text: bool | None
    save_vocab: Path | None
    phrases: Path | None
    learn_phrases: int | None
    phrase_threshold: float | None
    phrase_min_count: int | None
    phrase_score: Literal["word2vec", "npmi"] | None
    phrase_delimiter: str | None
    save_phrases: Path | None
    to: Path | None
    classes: int | None
    save_output_vectors: Path | None
    init: Path | None
    bad_rows: Literal["error", "skip"] | None
    keep_words: bool | None
    continue_: Path | None
    decay: float | None
    again: bool | None
    save_state: Path | None
    checkpoint: Path | None
    checkpoint_every: float | None
    resume: bool | None
    overwrite: bool | None
    max_time: float | None
    validation: Path | None
    patience: int | None
    word_ngrams: int | None
    dropout: float | None
    min_count_label: int | None
    label_prefix: str | None
    class_weights: str | None
    line_weights: bool | None
    pretrained: Path | None
    autotune_validation: Path | None
    autotune_duration: float | None
    autotune_log: Path | None
    autotune_metric: Path | None
    autotune_predictions: int | None
    autotune_size: int | None
    order: int | None
    hidden: int | None
    direct: bool | None
    context_matrices: Literal["full", "diagonal"] | None
    tree: Literal["huffman", "random", "clustered"] | None
    codes: int | None
    tie: bool | None
    batch: int | None
    tree_from: Path | None
    algorithm: Literal["dbow", "dm_mean", "dm_concat"] | None
    context: Literal["before", "around"] | None
    mean_gradient: Literal["document", "word2vec", "corrected"] | None
    doc_vectors: Path | None
    nested: str | None
    scale: float | None
    symmetric: bool | None
    max_length: int | None
    optimizer: Literal["adam", "adagrad"] | None
    warmup: float | None
    fields: Path | None
    tokenizer: Path | None


class GloveOptions(TypedDict, total=False):
    """The options of `wv glove`."""

    meta: bool | None
    dim: int | None
    window: int | None
    symmetric: bool | None
    weighting: Literal["distance", "flat"] | None
    x_max: float | None
    alpha: float | None
    eta: float | None
    bias_lr: float | None
    grad_clip: float | None
    iterations: int | None
    vectors: Literal["sum", "word", "all"] | None
    unk: bool | None
    seed: int | None
    threads: int | None
    min_count: int | None
    max_vocab: int | None
    lowercase: bool | None
    dedup: bool | None
    min_line: int | None
    vocab: Path | None
    memory: int | None
    field: str | None
    no_header: bool | None
    tsv_quotes: bool | None
    bad_records: Literal["skip", "error"] | None
    tokenize: str | None
    force_text: bool | None
    save_vocab: Path | None
    phrases: Path | None
    learn_phrases: int | None
    phrase_threshold: float | None
    phrase_min_count: int | None
    phrase_score: Literal["word2vec", "npmi"] | None
    phrase_delimiter: str | None
    save_phrases: Path | None
    counts: Iterable[Path] | None
    save_counts: Path | None
    counts_only: bool | None
    to: Path | None
    init: Path | None
    init_gradsq: Path | None
    continue_: Path | None
    decay: float | None
    again: bool | None
    save_state: Path | None
    checkpoint: Path | None
    checkpoint_every: float | None
    resume: bool | None
    overwrite: bool | None
    max_time: float | None
    dask: Path | None
