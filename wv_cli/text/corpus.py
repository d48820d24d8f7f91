"""Corpus: a text as a stream of word ids, made in one pass over the text.

While the text is read, words get provisional ids in order of first sight; counts and the id stream come out of the
same pass. When the counts are complete the vocabulary is cut and ordered, and one walk over the stream replaces
provisional ids by final ones. Every model reads the Corpus; none reads text. The stream is in memory, or, beyond a
limit, in a spool file that has no name (it is gone when the process ends, however it ends) and is mapped into memory.
"""

import hashlib
import mmap
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder
from wv_cli.errors import WvError
from wv_cli.io.events import OnProgress
from wv_cli.io.spill import Spool
from wv_cli.text.config import Marked, VocabConfig
from wv_cli.text.continued_vocabulary import extend_vocab
from wv_cli.text.id_stream import IdStream, read_ids
from wv_cli.text.input_files import Inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Phrases, ReadWords, read_words
from wv_cli.text.source import Source
from wv_cli.text.thread_counting import LEAST_BYTES, tally_in_threads
from wv_cli.text.vocab import SENTENCE_END, EmptyVocabulary, Tally, Vocab, order_words
from wv_cli.words import WordList
from wv_cli.words import encode as encode_word

END_OF_LINE = -1


@dataclass(frozen=True, eq=False)
class Corpus:
    """`ids` is one-dimensional int32, C-contiguous and read-only, perhaps a mapped file: word ids, and -1 after each
    line that has a word in it, or after every line. Other lines, and words outside `vocab`, leave nothing. `tokens` is
    the number of word ids, `lines` that of line ends in the stream; `digest` tells this corpus (ids, vocabulary) from
    others.
    `tokens_read` counts all words of the text, those outside `vocab` included. `labels` are tokens that were told from
    words, with their counts (int64); they are not in the stream. The last `added` words of the vocabulary are there
    because they were asked for. `left_out` lines were not read (text.lines). `text` is the digest of a text that is to
    be known again, whatever the options."""

    ids: NDArray[np.int32]
    vocab: Vocab
    tokens: int
    lines: int
    digest: str
    tokens_read: int = 0
    labels: WordList = field(default_factory=lambda: WordList.from_words([]))
    label_counts: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    added: int = 0
    left_out: int = 0
    text: str = ""

    @property
    def nbytes(self) -> int:
        """Of ids, words and their counts."""
        return self.ids.nbytes + self.vocab.nbytes

    @property
    def identity(self) -> dict[str, str]:
        """What a checkpoint says of the text that it was trained on."""
        return {"corpus": self.digest, "vocabulary": self.vocab.digest}

    def require_different_words(self) -> int:
        """Words of the vocabulary. Raises WvError unless there are two that can be told from each other."""
        if len(self.vocab) < 2:
            message = f"training needs at least two different words, the vocabulary has {len(self.vocab)}; "
            raise WvError(message + "give more text or lower --min-count")
        return len(self.vocab)


def encode(
    inputs: Inputs,
    config: VocabConfig,
    *,
    vocab: Vocab | None = None,
    marked: Marked | None = None,
    also: WordList | None = None,
    older: Vocab | None = None,
    phrases: Phrases | None = None,
    memory: int | None = None,
    spool_beside: str | None = None,
    progress: OnProgress | None = None,
    may_be_empty: bool = False,
    every_line: bool = False,
    compute_digest: bool = False,
) -> Corpus:
    """Reads texts (see text.source.Source) once and returns their ids.

    With `vocab` its words (after cut(config)) and counts are used as they are and other words are dropped; otherwise
    the vocabulary is made from the text, without what is `marked`, and with the words `also`, however rare: those that
    the cut drops or the text does not have stand behind the others, as words seen once; or, with the vocabulary
    `older`, it is what that grows to (text.continued_vocabulary). `phrases` are joined first, as if the joined text
    were read. When the ids take more than `memory` bytes they go to a file in the folder of `spool_beside` (default:
    the current folder). With `every_line` each line has a line end in the stream, whether it has a word or not. Memory
    used otherwise: 4 bytes a token and the vocabulary. `compute_digest` is Source's.

    Raises WvError when there is no text or no word of it is in `vocab` (unless it `may_be_empty`, which needs a
    `vocab`), when the cuts leave no word, when the spool cannot be written, and what Source raises.
    """
    known = vocab.cut(config) if vocab is not None else None
    source = Source(
        inputs, lowercase=config.lowercase, lines=config.lines(), progress=progress, compute_digest=compute_digest
    )
    # Words that are in no vocabulary stand between others: they are dropped when phrases have been joined.
    at_once = known is not None and phrases is None
    encoder = _encoder.Encoder(
        (known.words.blob, known.words.starts) if known is not None and at_once else None, every_line=every_line
    )
    labels, label_counts, added = WordList.from_words([]), np.empty(0, np.int64), 0
    with Spool(spool_beside) as file:
        read_ids(source, encoder, memory, file)
        if not may_be_empty:
            require_words(encoder.tokens, source.inputs)
        if also is not None:
            encoder.add_words(also.blob, also.starts)
        read = read_words(encoder, file, phrases)
        if older is not None:
            known = extend_vocab(older, _all_words(read.words, read.counts, encoder.lines)[0], config)
            lookup = read.lookup(known.words.find_all(read.words).astype(np.int32))
        elif known is None:
            final, known, added, labels, label_counts = _final_ids(read, config, encoder.lines, marked, also)
            lookup = read.lookup(final)
        elif at_once:
            lookup = np.arange(len(known), dtype=np.int32)
        else:
            lookup = read.lookup(known.words.find_all(read.words).astype(np.int32))
        ids, tokens, lines, fingerprint = remap_ids(encoder, file, lookup, read.stream, every_line=every_line)
    if not may_be_empty:
        require_known(tokens, encoder.tokens)
    parts = [fingerprint.digest(), bytes.fromhex(known.digest)] + ([bytes.fromhex(phrases.digest)] if phrases else [])
    digest = hashlib.blake2b(b"".join(parts), digest_size=16).hexdigest()
    left_out = source.lines.left_out if source.lines else 0
    found = (ids, known, tokens, lines, digest, encoder.tokens, labels, label_counts, added, left_out)
    return Corpus(*found, text=source.digest)


def empty_corpus(vocab: Vocab) -> Corpus:
    """Nothing to learn, in the ids of `vocab`."""
    return Corpus(np.array([END_OF_LINE], np.int32), vocab, 0, 0, vocab.digest, vocab.tokens_read)


def remap_ids(
    encoder: _encoder.Encoder,
    file: Spool,
    lookup: NDArray[np.int32],
    stream: IdStream | None = None,
    *,
    every_line: bool = False,
) -> tuple[NDArray[np.int32], int, int, _encoder.Fingerprint]:
    """The finished stream with the final ids of `lookup` instead of provisional ones (-1: dropped), how many
    tokens and line ends it has, and its fingerprint. Nothing can be fed to the encoder afterwards. `stream` has the ids
    if they have been taken from the encoder."""
    encoder.forget_words()
    fingerprint = _encoder.Fingerprint()
    if file.is_open:
        with file.errors():
            length, tokens, lines = _encoder.remap_file(file.descriptor, lookup, fingerprint, every_line=every_line)
            # The map outlives the descriptor, and the file outlives both its name and the descriptor.
            mapped = mmap.mmap(file.descriptor, length * 4, access=mmap.ACCESS_READ) if length else b""
        ids = np.frombuffer(mapped, np.int32)
    elif stream is not None and stream.ids is not None:
        length, tokens, lines = _encoder.remap(stream.ids, lookup, fingerprint, every_line=every_line)
        ids = stream.ids[:length]
        ids.flags.writeable = False
    else:
        buffer, tokens, lines = encoder.take_ids(lookup, fingerprint, every_line=every_line)
        ids = np.frombuffer(memoryview(buffer), np.int32)
    return ids, tokens, lines, fingerprint


def count(
    inputs: Inputs,
    config: VocabConfig,
    progress: OnProgress | None = None,
    *,
    may_be_empty: bool = False,
    threads: int = 1,
) -> Vocab:
    """All words of texts with their counts, not cut (see Vocab.cut). Raises WvError when there is no text, unless it
    may be empty, and what Source raises."""
    found = tally(inputs, config, progress, threads=threads)
    if not may_be_empty:
        require_words(found.tokens_read, inputs.inputs if isinstance(inputs, Texts) else inputs)
    return found.vocab()


def tally(
    inputs: Inputs,
    config: VocabConfig,
    progress: OnProgress | None = None,
    *,
    phrases: Phrases | None = None,
    threads: int = 1,
) -> Tally:
    """All words of texts, perhaps none, in order of first sight; with `phrases` joined first, but for `tokens_read`.
    Several threads count where there are no phrases. Raises what Source raises."""
    config.validate()
    source = Source(inputs, lowercase=config.lowercase, lines=config.lines(), progress=progress)
    if threads > 1 and phrases is None and (source.total is None or source.total >= LEAST_BYTES):
        return tally_in_threads(source, threads)
    encoder = _encoder.Encoder(keep_ids=phrases is not None)
    with Spool(None) as file:
        read_ids(source, encoder, None, file)
        read = read_words(encoder, file, phrases)
    return Tally(read.words, read.counts, encoder.lines - source.divided, encoder.tokens)


def _final_ids(
    read: ReadWords, config: VocabConfig, lines: int, marked: Marked | None, also: WordList | None
) -> tuple[NDArray[np.int32], Vocab, int, WordList, NDArray[np.int64]]:
    """The final id of each word read (-1: dropped), the vocabulary, how many of its words are there because of `also`,
    the labels and their counts."""
    counts, is_label = read.counts, np.zeros(len(read.counts), np.bool_)
    if marked is not None:
        is_label[read.words.beginning_with(encode_word(marked.prefix))] = True
    words = np.flatnonzero(~is_label)
    listed = read.words.take(words) if is_label.any() else read.words
    everything, order = _all_words(listed, counts[words], lines, int(counts.sum()))
    vocab = everything.cut(config)
    frequent = len(vocab)
    kept = np.arange(frequent)
    if also is not None:
        wanted = np.unique(everything.words.find_all(also))
        rare = wanted[(wanted >= frequent) & (wanted != everything.words.find(SENTENCE_END))]  # line ends are no word
        kept = np.concatenate([kept, rare])
        ones = np.ones(len(rare), np.int64)
        vocab = Vocab(everything.words.take(kept), np.concatenate([vocab.counts, ones]), vocab.lines, vocab.tokens_read)
    final = np.full(len(counts), -1, np.int32)
    final[words[order[kept]]] = np.arange(len(kept), dtype=np.int32)
    labels = np.flatnonzero(is_label & (counts >= max(1, marked.min_count if marked else 0)))
    labels = labels[np.argsort(-counts[labels], kind="stable")]
    return final, vocab, len(kept) - frequent, read.words.take(labels), counts[labels]


def _all_words(
    words: WordList, counts: NDArray[np.int64], lines: int, tokens: int | None = None
) -> tuple[Vocab, NDArray[np.int64]]:
    """The vocabulary, not cut, of words in order of first sight; see order_words(). `tokens` were read, labels
    included."""
    tokens = int(counts.sum()) if tokens is None else tokens
    return order_words(words.blob, words.starts, counts, lines=lines, tokens_read=tokens)


def require_known(tokens: int, read: int) -> None:
    """Raises WvError when none of the words that were read is in the vocabulary."""
    if tokens == 0:
        message = (
            f"none of the {read:,} words of the text is in the vocabulary; do they belong together "
            "(same language, same --lowercase)?"
        )
        raise WvError(message)


def require_words(tokens: int, inputs: Sequence[str]) -> None:
    """Raises EmptyVocabulary when no word has been read."""
    if tokens == 0:
        names = "standard input" if list(inputs) == ["-"] else ", ".join(inputs)
        message = f"{names}: no text: expected words divided by spaces or line ends, found none"
        raise EmptyVocabulary(message)
