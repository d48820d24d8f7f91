"""Contamination: how much of a benchmark's item a document holds, by runs of words.

An item, a question or a passage, is the set of its runs of eight words. One of five to seven words is a single run, and
shorter ones are not looked for. Words are compared as those of near-duplicates are, without case, punctuation and
accents; numbers stay, and letters are words in scripts without blanks. The score of a document is the greatest share of
an item's runs that it holds, wherever they are.

Text that is wrapped or punctuated otherwise is found whole. Of an item in which one word in twenty was changed about
two thirds are found (.95^8). GPT-3's report took runs of 13 words, datatrove takes 12; there one run decides, however
long the item is.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from wv_cli._knowntexts import Shingler
from wv_cli.errors import BadFile
from wv_cli.filtering.duplicates import Like
from wv_cli.filtering.near_duplicates import character_page, simplify_bytes
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import split_subject
from wv_cli.io.events import unheard
from wv_cli.io.remote import show_names
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.reading import NoRecords
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts

RUN, SHORTEST = 8, 5  # words
_BITS = 24  # of a hash, by which most runs of a text are known to be in no item


def contamination(subject: str, options: ScorerOptions) -> "Contamination":
    """`FILE` or `FILE:FIELD`: the greatest share of an item of the benchmark in FILE."""
    path, field = split_subject(subject)
    return Contamination(path, read_items(path, field))


def read_items(path: str, field: str = "") -> list[bytes]:
    """The items of a benchmark: a field of the records in a file, or its lines. Raises WvError."""
    reading = ReadingConfig(field=field) if field else ReadingConfig()
    texts = input_texts([path], log=unheard, reading=reading)
    source = Source(texts)
    if texts.records(path) is not None:
        try:
            return [text for block in source.blocks(path, ()) for text in block.each]
        except NoRecords as error:
            problem = f"expected the field {source.field} with texts, found none; write FILE:FIELD<=SHARE"
            raise BadFile(path, problem) from error
    return b"".join(source).splitlines()


class Contamination:
    """Looks for the items of the benchmark `path`. Threads may share it. Raises BadFile where all are too short."""

    def __init__(self, path: str, items: Sequence[bytes]) -> None:
        self._path, self.items = show_names(path), items
        words = np.diff(_shingler(1).hashes(list(items))[1]).tolist()
        self._widths = sorted({min(count, RUN) for count in words if count >= SHORTEST})
        if not self._widths:
            raise BadFile(path, f"expected items of {SHORTEST} words and more, found none among {len(items):,}")
        self._shinglers = list(map(_shingler, self._widths))
        runs, owners = [], []
        for shingler, width in zip(self._shinglers, self._widths, strict=True):
            chosen = [number for number, count in enumerate(words) if min(count, RUN) == width]
            hashes, starts = shingler.hashes([items[number] for number in chosen])
            runs.append(hashes)
            owners.append(np.repeat(np.array(chosen, np.int64), np.diff(starts)))
        pairs = np.unique(np.rec.fromarrays([np.concatenate(runs), np.concatenate(owners)]))
        self._run, begin = np.unique(pairs["f0"], return_index=True)
        self._begin, self._owner = np.append(begin, len(pairs)), pairs["f1"]
        self._size = np.bincount(self._owner, minlength=len(items))
        self._some = np.zeros(1 << _BITS, np.bool_)
        self._some[self._run >> np.uint64(64 - _BITS)] = True

    def __call__(self, texts: list[bytes]) -> NDArray[np.float32]:
        return self.shares(texts)[0].astype(np.float32)

    def like(self, texts: list[bytes]) -> list[Like]:
        """The item of which each text holds the most."""
        shares, items = self.shares(texts)
        found = zip(shares.tolist(), items.tolist(), strict=True)
        return [Like(self._path, item + 1, share) for share, item in found]

    def shares(self, texts: list[bytes]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """(n,), (n,) the greatest share of an item that each text holds, and that item, the first of several."""
        rows, places = [], []
        for found, at, starts in self._find_runs(texts):
            rows.append(found)
            places.append(np.searchsorted(starts, at, side="right") - 1)
        place, owner, share = self._shares(np.concatenate(rows), np.concatenate(places))
        shares, items = np.zeros(len(texts)), np.zeros(len(texts), np.int64)
        order = np.lexsort((-owner, share))  # the greatest share last, of equal ones the first item
        shares[place[order]], items[place[order]] = share[order], owner[order]
        return shares, items

    def without_items(self, text: bytes, accepts: Callable[[NDArray[np.float32]], NDArray[np.bool_]]) -> bytes | None:
        """The text without its lines that hold a run of an item whose share is not one that the rule `accepts`. None
        where no word would be left, or where lines that meet now hold such an item themselves."""
        found = [(*each[:2], width) for each, width in zip(self._find_runs([text]), self._widths, strict=True)]
        row = np.concatenate([rows for rows, _, _ in found])
        _, owner, share = self._shares(row, np.zeros(len(row), np.int64))
        wrong = np.zeros(len(self._size), np.bool_)
        wrong[owner[~accepts(share.astype(np.float32))]] = True
        of_wrong = np.logical_or.reduceat(wrong[self._owner], self._begin[:-1])
        lines = text.split(b"\n")
        counts = [len(simplify_bytes(line, keep_numbers=True, separate=True).split()) for line in lines]
        line = np.repeat(np.arange(len(lines)), counts)
        stays = np.ones(len(lines), np.bool_)
        for rows, at, width in found:
            words = at[of_wrong[rows], None] + np.arange(width)
            stays[line[words[words < len(line)]]] = False
        left = b"\n".join(compress(lines, stays.tolist()))
        has_words = any(count for count, kept in zip(counts, stays, strict=True) if kept)
        return left if has_words and bool(accepts(self([left]))[0]) else None

    def _find_runs(
        self, texts: list[bytes]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """For each width of runs: which runs of items the texts hold, where each begins among the runs of all texts,
        and where those of each text begin."""
        for shingler in self._shinglers:
            hashes, starts = shingler.hashes(texts)
            seen = np.flatnonzero(self._some[hashes >> np.uint64(64 - _BITS)])
            row = np.minimum(np.searchsorted(self._run, hashes[seen]), len(self._run) - 1)
            true = self._run[row] == hashes[seen]
            yield row[true], seen[true], starts

    def _shares(
        self, row: NDArray[np.int64], place: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """(texts, items, shares) of the items of which a run `row` stands in the text `place`."""
        held = np.unique(place * len(self._run) + row)  # a run counts once
        place, row = held // len(self._run), held % len(self._run)
        counts = self._begin[row + 1] - self._begin[row]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        owner = self._owner[np.repeat(self._begin[row], counts) + within]
        pair, number = np.unique(np.repeat(place, counts) * len(self._size) + owner, return_counts=True)
        place, owner = pair // len(self._size), pair % len(self._size)
        return place, owner, number / self._size[owner]


def _shingler(width: int) -> Shingler:
    page, words = (partial(each, keep_numbers=True, separate=True) for each in (character_page, simplify_bytes))
    return Shingler(page, words, width)
