"""How often a text changes the rows of a classifier: what ranks that train one together go by (cluster.exchange)."""

import numpy as np
from numpy.typing import NDArray

from wv_cli.models.hotrows import Path
from wv_cli.text.labelled import FIRST_LABEL, LabelledCorpus

Often = NDArray[np.float64]


def occurrences(
    corpus: LabelledCorpus, rows: int, rows_of_words: tuple[NDArray[np.int64], NDArray[np.int32]] | None
) -> Often:
    """How often each of the input `rows` stands in a line because of a word there. `rows_of_words`, (starts, rows), are
    those of every word; None: a word has the row of its number, if there is one."""
    ids = corpus.ids
    counts = np.bincount(ids[ids >= 0], minlength=len(corpus.words)).astype(np.float64)
    if corpus.end_of_line >= 0:
        counts[corpus.end_of_line] += np.count_nonzero(ids == -1)
    if rows_of_words is None:
        return np.concatenate([counts[: corpus.kept], np.zeros(rows - corpus.kept)])
    starts, own = rows_of_words
    return np.bincount(own, np.repeat(counts, np.diff(starts)), rows).astype(np.float64)


def output_updates(corpus: LabelledCorpus, rows: int, noise: Often | None, negative: int, tree: Path | None) -> Often:
    """How often an example changes each of the output `rows`: those of the labels it is of and of `negative` drawn in
    proportion to `noise` (labels,), or the inner nodes of the Huffman `tree` above its label; with neither all."""
    if tree is None and noise is None:
        return np.ones(rows)
    counts = np.bincount(FIRST_LABEL - corpus.ids[corpus.ids <= FIRST_LABEL], minlength=len(corpus.labels))
    share = counts / max(1, counts.sum())
    if tree is None:
        assert noise is not None, "there is one of the two"
        drawn: Often = share + negative * noise / noise.sum()
        return drawn
    starts, node, _ = tree
    return np.bincount(node, np.repeat(share, np.diff(starts)), rows).astype(np.float64)
