"""GloVe's `cooccur`: how often the words of a vocabulary stand near each other in standard input."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wv_cli.cli.compat.flags import Flags
from wv_cli.cli.compat.glove_tools import (
    COUNTER_STEP,
    GIGABYTE,
    column,
    counter,
    flags_of,
    memory_of,
    require_opened,
    show_help,
    tell,
)
from wv_cli.io.events import unheard

if TYPE_CHECKING:
    from wv_cli.text.vocab import Vocab

_HARMONIC, _CLOSE = 0.1544313298, 1e-3  # a table of products up to n has n (ln n + _HARMONIC) cells
_MERGING = "Merging cooccurrence files: processed"


def main(words: Sequence[str]) -> int:
    if not words:
        return show_help("cooccur")
    asked = _Asked.from_flags(flags_of(words))
    asked.tell_options()
    require_opened(asked.vocab_file, "vocab file")
    from wv_cli.io.memory import for_buffers
    from wv_cli.io.output import check_writable, open_output
    from wv_cli.models.glove import cooccurrence
    from wv_cli.models.glove.config import GloveConfig
    from wv_cli.text.config import VocabConfig
    from wv_cli.text.corpus import encode
    from wv_cli.text.reading_config import ReadingConfig
    from wv_cli.vectors.recognize import input_texts

    config = GloveConfig(
        window=asked.window,
        symmetric=asked.symmetric != 0,
        weighting="distance" if asked.weighting else "flat",
    )
    config.validate()
    check_writable(asked.overflow_file)
    vocab, repeated = _vocabulary(asked.vocab_file)
    asked.tell_vocabulary(len(vocab), repeated)
    limit = max(int(asked.memory * GIGABYTE), 1)
    corpus = encode(
        input_texts(["-"], log=unheard, reading=ReadingConfig(force_text=True)),
        VocabConfig(min_count=1),
        vocab=vocab,
        memory=for_buffers(limit) // 3,  # the positions of every word take as much again
        spool_beside=asked.overflow_file,
        may_be_empty=True,
    )
    asked.tell_counting(corpus.tokens_read, len(vocab))
    memory = for_buffers(limit)
    written = 0
    with open_output("-") as stream:
        for block in cooccurrence.count(corpus, config, memory=memory, spool_beside=asked.overflow_file):
            stream.write(block.view("u1").data)
            asked.tell_merged(written, len(block))
            written += len(block)
    tell(f"{column(0)}{_MERGING} {written} lines.\n\n")
    return 0


def _vocabulary(path: str) -> "tuple[Vocab, list[str]]":
    """The words by rank, and those that stand there again: their ranks are nobody's. Raises BadFile."""
    import numpy as np

    from wv_cli.errors import BadFile
    from wv_cli.text.vocab import Vocab, read_ranked_vocab
    from wv_cli.words import WordList

    vocab = read_ranked_vocab(path)
    if not len(vocab):
        raise BadFile(path, "expected lines of `word count`, found none")
    again = np.flatnonzero(vocab.words.find_all(vocab.words) != np.arange(len(vocab))).tolist()
    if not again:
        return vocab, []
    # What no text can hold takes their place.
    words = [vocab.words.bytes_at(row) for row in range(len(vocab))]
    repeated = [vocab.words[row] for row in again]
    for row in again:
        words[row] = b" %d" % row
    return Vocab(WordList.from_words(words), vocab.counts), repeated


@dataclass(frozen=True)
class _Asked:
    """The flags, and what is told: GloVe's own account, of a dense table for the pairs of frequent words and of files
    for the others. Our counts are made otherwise (models/glove/cooccurrence.py), so the numbers of that account decide
    nothing but what is told."""

    verbose: int
    symmetric: int
    window: int
    vocab_file: str
    overflow_file: str
    memory: float
    weighting: int
    most: int
    overflow: int

    @classmethod
    def from_flags(cls, flags: Flags) -> "_Asked":
        memory = memory_of(flags, 3)
        records = 0.85 * memory * GIGABYTE / 16
        return cls(
            verbose=flags.whole("-verbose", 2),
            symmetric=flags.whole("-symmetric", 1),
            window=flags.whole("-window-size", 15),
            vocab_file=flags.text("-vocab-file", "vocab.txt"),
            overflow_file=flags.text("-overflow-file", "overflow"),
            memory=memory,
            weighting=flags.whole("-distance-weighting", 1),
            most=flags.long("-max-product", _most_product(records)),
            overflow=flags.long("-overflow-length", int(records / 6)),
        )

    def tell_options(self) -> None:
        tell("COUNTING COOCCURRENCES\n")
        if self.verbose > 0:
            tell(f"window size: {self.window}\ncontext: {'symmetric' if self.symmetric else 'asymmetric'}\n")
        if self.verbose > 1:
            tell(f"max product: {self.most}\noverflow length: {self.overflow}\n")
            tell(f'Reading vocab from file "{self.vocab_file}"...')

    def tell_vocabulary(self, words: int, repeated: list[str]) -> None:
        tell("".join(f"Error, duplicate entry located: {word}.\n" for word in repeated))
        if self.verbose > 1:
            tell(f"loaded {words} words.\nBuilding lookup table...table contains {self._cells(words)} elements.\n")
            tell("Processing token: 0")

    def tell_counting(self, tokens: int, words: int) -> None:
        if self.verbose < 2:
            return
        tell(f"{counter(19, tokens)}{column(0)}Processed {tokens} tokens.\n")
        dots = len({int(0.75 * math.log(words // rank)) for rank in _divisors(words)})
        tell(f"Writing cooccurrences to disk{'.' * dots}2 files in total.\n{_MERGING} 0 lines.")
        if words < self.most // words:  # no pair is left to the files
            tell(f"{column(39)}0 lines.")

    def tell_merged(self, before: int, more: int) -> None:
        if self.verbose > 1:
            for done in range(before // COUNTER_STEP + 1, (before + more) // COUNTER_STEP + 1):
                tell(f"{column(39)}{done * COUNTER_STEP} lines.")

    def _cells(self, words: int) -> int:
        """Of the dense table: of each row those up to the largest product of ranks."""
        import numpy as np

        return 1 + int(np.minimum(self.most // np.arange(1, words + 1), words).sum())


def _divisors(words: int) -> Iterator[int]:
    """A rank for each value of words // rank."""
    rank = 1
    while rank <= words:
        yield rank
        rank = words // (words // rank) + 1


def _most_product(records: float) -> int:
    """The largest product of ranks with a cell, so that the table has `records` cells."""
    product = 1e5
    for _ in range(100):
        found = records / (math.log(product) + _HARMONIC)
        if abs(found - product) * (math.log(product) + _HARMONIC) <= _CLOSE:
            break
        product = found
    return int(product)
