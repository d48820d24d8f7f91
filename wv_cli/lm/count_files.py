"""Files of counts of n-grams: what --counts-only writes, for parts of a text that are counted apart and summed.

A container (io.container) of the arrays of NgramCounts. The sum of files is what counting their texts one after the
other gives, word for word.
"""

import os
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from wv_cli import _text
from wv_cli._arpa import ascending
from wv_cli.errors import UsageError, WvError
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.io.output import open_output
from wv_cli.lm.asking import SENTENCE_END
from wv_cli.lm.config import LARGEST_ORDER
from wv_cli.lm.counts import DEFAULT_MEMORY, NgramCounts, Records, buffers, new_shelf, ngram_runs, of_records
from wv_cli.lm.trie import Trie, link
from wv_cli.lm.vocabulary import SPECIAL, read_words
from wv_cli.words import WordList

KIND = "ngram-counts"
_LARGEST_SUM = 2**62
_LAYOUT: container.Layout = {
    "letters": ("|u1", ("letters",)),
    "starts": ("<i8", ("starts",)),
    "levels": ("<i8", ("levels",)),
    "word": ("<i4", ("nodes",)),
    "first": ("<i4", ("inner and 1",)),
    "count": ("<i8", ("nodes",)),
}


def save(path: str, counts: NgramCounts) -> None:
    """Writes counts, whole or not at all. Raises WvError."""
    trie = counts.trie
    arrays: dict[str, NDArray[np.generic]] = {
        "letters": np.frombuffer(trie.words.blob, np.uint8),
        "starts": trie.words.starts,
        "levels": trie.levels,
        "word": trie.word,
        "first": trie.first,
        "count": counts.count,
    }
    with open_output(path) as stream:
        container.write(stream, KIND, {"order": trie.order}, arrays, between=trie.shelf.let_go)


def load(path: str | os.PathLike[str]) -> NgramCounts:
    """Reads counts. Raises BadFile for a file that is damaged, or whose counts are those of no text."""
    with open_input(path, "counts of n-grams") as source:
        reader = container.Reader(source, KIND)
        order = reader.fact("order", int, 1, LARGEST_ORDER)
        sizes = reader.expect(_LAYOUT, "counts of n-grams")
        if sizes["levels"] != order + 1 or sizes["inner and 1"] > sizes["nodes"] or sizes["starts"] <= len(SPECIAL):
            reader.refuse("the sizes of its arrays do not fit each other")
        arrays = reader.read()
        words = read_words(reader, arrays)
        levels, word, first, count = (arrays[name] for name in ("levels", "word", "first", "count"))
        if len(words) != levels[1] or not words.is_a_vocabulary():
            reader.refuse("the words are not those of a text", reader.offset("letters"))
        if count.min() < 0 or float(count.sum(dtype=np.float64)) >= _LARGEST_SUM:
            reader.refuse("the counts are negative, or too large for their sum", reader.offset("count"))
        try:
            suffix, lacking = link(levels, word, first)
        except ValueError as error:
            reader.refuse(str(error), reader.offset("levels"))
        counts = NgramCounts(Trie(words, levels, word, first, suffix), count)
        if lacking or not _of_a_text(counts):
            reader.refuse("the counts are those of no text", reader.offset("count"))
        return counts


def sum_counts(
    parts: Sequence[NgramCounts],
    order: int | None = None,
    *,
    memory: int | None = None,
    spool_beside: str | None = None,
    threads: int = 1,
) -> NgramCounts:
    """The counts of all parts together, of n-grams up to `order` (None: as long as the shortest part has them). Raises
    UsageError when a part has no n-grams of that length, WvError when sums are too large."""
    least = min(part.trie.order for part in parts)
    order = order or least
    if order > least:
        message = f"--order {order}: one of the --counts has n-grams of up to {least} words; count them again"
        raise UsageError(message)
    if sum(int(part.count[part.trie.level(1)].sum()) for part in parts) >= _LARGEST_SUM:
        message = "the counts add up to 2^62 or more, which no text has"
        raise WvError(message)
    words = _text.WordMap()
    ids = [words.add(part.trie.words.blob, part.trie.words.starts) for part in parts]
    every = WordList(*words.words())
    memory = memory or DEFAULT_MEMORY
    with ngram_runs(spool_beside, order, buffers(memory) // 2) as runs:
        for part, own_ids in zip(parts, ids, strict=True):
            runs.add(_records(part, own_ids, len(every), order))
        return of_records([runs.merge()], every, order, new_shelf(spool_beside, memory), threads)


def _windows(counts: NgramCounts, length: int, order: int) -> NDArray[np.int64]:
    """How many windows of `order` words the n-grams of a length are whole: all of the longest ones, of others those
    that end a sentence."""
    own = counts.count[counts.trie.level(length)]
    if length == order:
        return own
    longer = np.append(counts.count[counts.trie.level(length + 1)], 0)
    children = counts.trie.children(length)
    inside = np.add.reduceat(longer, children[:-1])
    inside[children[:-1] == children[1:]] = 0
    return np.asarray(own - inside)


def _of_a_text(counts: NgramCounts) -> bool:
    """Whether n-grams end only where sentences do, and occur."""
    order = counts.trie.order
    if order > 1 and (counts.count[counts.trie.levels[1] :] < 1).any():
        return False
    for length in range(1, order):
        whole, word = _windows(counts, length, order), counts.trie.word[counts.trie.level(length)]
        if (whole < 0).any() or whole[word != SENTENCE_END].any():
            return False
    return True


def _records(counts: NgramCounts, ids: NDArray[np.int32], words: int, order: int) -> Iterator[Records]:
    """The records of a part in order, its words called by `ids`."""
    parts = []
    for length in range(1, order + 1):
        whole = _windows(counts, length, order)
        there = whole > 0
        records = np.zeros((int(np.count_nonzero(there)), order + 2), np.int32)
        records[:, :length] = ids[counts.trie.rows(length)[there]]
        records[:, order:] = whole[there].view(np.int32).reshape(-1, 2)
        parts.append(records)
    every = np.concatenate(parts)
    yield every[ascending(np.ascontiguousarray(every[:, :order]), words)]
