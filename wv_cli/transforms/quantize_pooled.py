"""Smaller pooled classifiers: the n-grams that matter least are dropped, and rows become bytes.

Most of such a file is n-grams that one training line has. Those with the largest norm times idf stay: that is how far
an n-gram can move a text before the text's values are scaled to length 1. All words and all tokens stay."""

from dataclasses import replace

import numpy as np

from wv_cli.errors import WvError
from wv_cli.models.pooled_files import dump_pooled
from wv_cli.models.pooled_model import PooledModel
from wv_cli.transforms.config import POOLED_CUTOFF


def prune_pooled(model: PooledModel, cutoff: int) -> PooledModel:
    """The model with `cutoff` words and n-grams, but with all words; 0 keeps all."""
    reading, words = model.reading, len(model.reading.words)
    assert reading.kept is not None and reading.idf is not None, "a model that was trained"
    rows, idf = model.ngrams.arrays()[0], reading.idf
    if not 0 < cutoff < len(rows):
        return model
    weight = np.linalg.norm(rows[words:], axis=1) * idf[words:]
    kept = np.sort(np.argsort(-weight, kind="stable")[: max(0, cutoff - words)])
    all_kept = np.concatenate([np.arange(words), words + kept])
    small = replace(reading, kept=reading.kept[kept], idf=idf[all_kept])
    return replace(model, reading=small, ngrams=replace(model.ngrams, rows=model.ngrams.rows.take(all_kept, axis=0)))


def quantize_pooled(model: PooledModel, cutoff: int = POOLED_CUTOFF, size: int | None = None) -> bytes:
    """The file of the pruned model, its rows in bytes. `size` chooses a cutoff instead with which the file has at most
    so many bytes. Raises WvError when it has more without any n-gram."""
    if size is None:
        return dump_pooled(prune_pooled(model, cutoff), quantized=True)
    words, rows = len(model.reading.words), len(model.ngrams.rows)
    row_bytes = model.ngrams.dim + 8  # with its idf and the number of its bucket
    while True:
        small = dump_pooled(prune_pooled(model, rows), quantized=True)
        if len(small) <= size:
            return small
        if rows <= words:
            message = f"a model of {size:,} bytes cannot be made: without n-grams it has {len(small):,}; ask for more"
            raise WvError(message)
        rows = max(words, rows + (size - len(small)) // row_bytes)
