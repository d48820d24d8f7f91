"""A text as sentences for a neural language model: a Corpus whose ids are those of language models.

<unk>, <s> and </s> are 0, 1 and 2, the words of the vocabulary follow; words outside it are <unk>, and blank lines are
sentences, which a Corpus otherwise leaves out. A line ends with -1.
"""

import hashlib
import mmap

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder
from wv_cli.errors import WvError
from wv_cli.io.events import OnProgress
from wv_cli.io.spill import Spool
from wv_cli.lm.asking import SENTENCE, SENTENCE_END, UNKNOWN
from wv_cli.lm.vocabulary import SPECIAL, new_encoder
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import END_OF_LINE, Corpus, require_words
from wv_cli.text.id_stream import IdStream, read_ids
from wv_cli.text.input_files import Inputs
from wv_cli.text.source import Source
from wv_cli.text.vocab import Vocab, order_words
from wv_cli.words import WordList

_BLOCK = 1 << 22


def encode_sentences(
    inputs: Inputs,
    config: VocabConfig,
    *,
    vocab: Vocab | None = None,
    memory: int | None = None,
    spool_beside: str | None = None,
    progress: OnProgress | None = None,
) -> Corpus:
    """Reads texts once. The vocabulary is `vocab`, or else that of the text, after cut(config); <unk> may stand in the
    text. Raises WvError for a text or a vocabulary with <s> or </s> in it, and what text.corpus.encode raises."""
    source = Source(inputs, lowercase=config.lowercase, lines=config.lines(), progress=progress)
    encoder = new_encoder(SPECIAL)
    with Spool(spool_beside) as file:
        read_ids(source, encoder, memory, file)
        require_words(encoder.tokens, source.inputs)
        blob, starts, counts = encoder.vocabulary()
        words = WordList(blob, starts)
        if counts[[SENTENCE, SENTENCE_END]].any():
            message = (
                f"{', '.join(source.inputs)}: <s> or </s>, which mark sentences, stand there as words; take them out"
            )
            raise WvError(message)
        lookup = np.full(len(words), UNKNOWN, np.int32)
        if vocab is None:
            listed = words[len(SPECIAL) :]
            everything, order = order_words(
                listed.blob, listed.starts, counts[len(SPECIAL) :], lines=encoder.lines, tokens_read=encoder.tokens
            )
            known = everything.cut(config)
            lookup[order[: len(known)] + len(SPECIAL)] = np.arange(len(known), dtype=np.int32) + len(SPECIAL)
        else:
            known = vocab.cut(config)
            if (known.words.find_all(SPECIAL) >= 0).any():
                message = "the vocabulary lists <unk>, <s> or </s>, which every model has of its own; take them out"
                raise WvError(message)
            found = known.words.find_all(words).astype(np.int32)
            lookup[found >= 0] = found[found >= 0] + len(SPECIAL)
        tokens, lines = encoder.tokens, encoder.lines
        encoder.forget_words()
        ids, fingerprint = _final_ids(IdStream(encoder, file), file, np.append(lookup, np.int32(END_OF_LINE)))
    digest = hashlib.blake2b(fingerprint.digest() + bytes.fromhex(known.digest), digest_size=16).hexdigest()
    return Corpus(ids, known, tokens, lines, digest, tokens, left_out=source.lines.left_out if source.lines else 0)


def _final_ids(
    stream: IdStream, file: Spool, lookup: NDArray[np.int32]
) -> tuple[NDArray[np.int32], _encoder.Fingerprint]:
    """The stream with the ids of `lookup`, whose last entry is that of line ends, and its fingerprint."""
    fingerprint, length = _encoder.Fingerprint(), 0
    for block in stream.blocks():
        final = np.take(lookup, block, mode="wrap")
        fingerprint.update(final)
        if stream.ids is not None:
            block[:] = final
        else:
            file.write(final, length)
        length += len(final)
    if stream.ids is not None:
        stream.ids.flags.writeable = False
        return stream.ids, fingerprint
    with file.errors():  # the map outlives the descriptor, and the file outlives both its name and the descriptor
        return np.frombuffer(mmap.mmap(file.descriptor, length * 4, access=mmap.ACCESS_READ), np.int32), fingerprint


def all_words(vocab: Vocab) -> WordList:
    """The words of a model by their ids."""
    return WordList.from_words([*SPECIAL, *vocab.words])


def occurrences(ids: NDArray[np.int32], words: int) -> NDArray[np.int64]:
    """How often each of `words` ids stands in a corpus; </s> as often as there are lines."""
    counts = np.zeros(words, np.int64)
    for begin in range(0, len(ids), _BLOCK):
        part = ids[begin : begin + _BLOCK]
        counts += np.bincount(np.where(part < 0, SENTENCE_END, part), minlength=words)
    return counts
