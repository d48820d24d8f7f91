"""GloVe's `vocab_count`: the words of standard input and how often they occur."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from wv_cli.cli.compat import Exit
from wv_cli.cli.compat.glove_tools import HELP_FLAGS, column, counter, flags_of, show_help, tell
from wv_cli.io.events import unheard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wv_cli.text.vocab import Vocab

# Characters are signed to GloVe: the end of a word, and ASCII, follow the bytes from 128 on.
_SIGNED = bytes((byte + 128) % 256 for byte in range(256))
_HASH_SEED, _HASH_SIZE, _HASHED_BYTES = 1159241, 1 << 20, 999


def main(words: Sequence[str]) -> int:
    if len(words) == 1 and words[0] in HELP_FLAGS:
        return show_help("vocab_count")
    flags = flags_of(words)
    verbose = flags.whole("-verbose", 2)
    most, least = flags.long("-max-vocab", 0), flags.long("-min-count", 1)
    tell("BUILDING VOCABULARY\n" + ("Processed 0 tokens." if verbose > 1 else ""))
    from wv_cli.io.output import open_output
    from wv_cli.models.glove.model import UNKNOWN
    from wv_cli.text.config import VocabConfig
    from wv_cli.text.corpus import count
    from wv_cli.text.reading_config import ReadingConfig
    from wv_cli.text.vocab import vocab_lines
    from wv_cli.vectors.recognize import input_texts

    every = count(
        input_texts(["-"], log=unheard, reading=ReadingConfig(force_text=True)),
        VocabConfig(),
        may_be_empty=True,
    )
    if every.words.find(UNKNOWN) >= 0:
        tell(
            "\nError, <unk> vector found in corpus.\nPlease remove <unk>s from your corpus "
            "(e.g. cat text8 | sed -e 's/<unk>/<raw_unk>/g' > text8.new)"
        )
        raise Exit(1)
    if verbose > 1:
        read = every.tokens_read
        tell(f"{counter(11, read, ' tokens.')}{column(0)}Processed {read} tokens.\n")
        tell(f"Counted {len(every)} unique words.\n")
    shortened = _most_frequent(every, most) if 0 < most < len(every) else every
    vocab = _by_bytes(shortened.most_frequent(shortened.often(least)))
    with open_output("-") as stream:
        stream.writelines(vocab_lines(vocab))
    if verbose > 0 and len(vocab) < len(shortened):
        tell(f"Truncating vocabulary at min count {least}.\n")
    elif verbose > 0 and len(vocab) < len(every):
        tell(f"Truncating vocabulary at size {most}.\n")
    tell(f"Using vocabulary of size {len(vocab)}.\n\n")
    return 0


def _most_frequent(vocab: "Vocab", most: int) -> "Vocab":
    """The `most` frequent words. Which of those with the count at the edge stay hangs on their places in GloVe's hash
    table, so that the same ones do."""
    first, last = (int(np.searchsorted(-vocab.counts, -vocab.counts[most - 1], side)) for side in ("left", "right"))
    edge = first + np.argsort(_places(vocab, first, last), kind="stable")[: most - first]
    return _take_words(vocab, np.concatenate([np.arange(first), edge]))


def _places(vocab: "Vocab", first: int, last: int) -> "NDArray[np.uint32]":
    """The places of words first .. last - 1 in the table (Ramakrishna and Zobel's shift-add-xor hash)."""
    letters = np.frombuffer(vocab.words.blob, np.int8)
    starts, lengths = vocab.words.starts[first:last], np.diff(vocab.words.starts[first : last + 1])
    places = np.full(last - first, _HASH_SEED, np.uint32)
    longer = np.arange(last - first)
    for position in range(_HASHED_BYTES):
        longer = longer[lengths[longer] > position]
        place = places[longer]
        places[longer] = place ^ ((place << 5) + letters[starts[longer] + position].astype(np.uint32) + (place >> 2))
    return places & np.uint32(_HASH_SIZE - 1)


def _by_bytes(vocab: "Vocab") -> "Vocab":
    """Words of equal count in the order of their bytes."""
    starts = vocab.words.starts.tolist()
    signed = vocab.words.blob.translate(_SIGNED)
    end = _SIGNED[:1]
    keys = [signed[begin:stop] + end for begin, stop in pairwise(starts)]
    bounds = np.flatnonzero(np.diff(vocab.counts, prepend=-1, append=-1)).tolist()
    order: list[int] = []
    for begin, stop in pairwise(bounds):
        order += sorted(range(begin, stop), key=keys.__getitem__)
    return _take_words(vocab, np.array(order, np.int64))


def _take_words(vocab: "Vocab", order: "NDArray[np.int64]") -> "Vocab":
    from wv_cli.text.vocab import Vocab

    return Vocab(vocab.words.take(order), vocab.counts[order], vocab.lines, vocab.tokens_read)
