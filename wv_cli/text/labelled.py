"""LabelledCorpus: lines with labels as a stream of ids, for the classifier; made in one pass as corpus.py does.

A token that begins with the label prefix is a label, every other token a word. By fastText's rules every line ends with
the word `</s>` (it is not in the stream: the line end means it), and words that --min-count drops have no row but
still count in word n-grams and through their character n-grams, so they stay in the stream where these are used.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli import _text
from wv_cli.errors import WvError
from wv_cli.system.spill import Spool
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import remapped, require_words
from wv_cli.text.id_stream import read_ids
from wv_cli.text.input_files import Inputs
from wv_cli.text.joining import Phrases, read_words
from wv_cli.text.source import Progress, Source
from wv_cli.text.vocab import SENTENCE_END, EmptyVocabulary, times
from wv_cli.words import WordList, encode

_GONE = np.iinfo(np.int32).min
FIRST_LABEL = -2  # WV_FIRST_LABEL of csrc/kernels/wv_shared.h: label i is in the stream as FIRST_LABEL - i


@dataclass(frozen=True, eq=False)
class LabelledCorpus:
    """`ids` is one-dimensional int32, read-only: word ids, labels (FIRST_LABEL - label) and -1 after each line.

    `words` are in order of falling count, `</s>` among them; the first `kept` have a row of their own, the others are
    below the cut and are listed only when n-grams need them. `counts` (kept,) and `label_counts` (labels,) are int64;
    `end_of_line` is the id of `</s>`, -1 when the cut dropped it. `tokens_read` counts all tokens, line ends
    included. The last `added` of the words with a row are there because they were asked for.
    """

    ids: NDArray[np.int32]
    words: WordList
    kept: int
    counts: NDArray[np.int64]
    end_of_line: int
    labels: WordList
    label_counts: NDArray[np.int64]
    tokens_read: int
    lines: int
    digest: str
    added: int = 0


def encode_labelled(
    inputs: Inputs,
    config: VocabConfig,
    *,
    label_prefix: str = "__label__",
    min_count_label: int = 0,
    fewest_labels: int = 2,
    keep_dropped: bool = False,
    also: WordList | None = None,
    phrases: Phrases | None = None,
    memory: int | None = None,
    spool_beside: str | None = None,
    progress: Progress | None = None,
) -> LabelledCorpus:
    """Reads texts (see text.source.Source) once. `config` is for words alone; with `keep_dropped` words that it cuts
    stay in the stream. The words `also` are kept, however rare: those that the cut drops, and those that the text does
    not have, stand behind the others as words seen once. `phrases` are joined first, as if the joined text were read.

    Raises WvError when there is no text, no label, fewer than `fewest_labels`, or no word, and what Source raises.
    """
    source = Source(inputs, lowercase=config.lowercase, lines=config.lines(), progress=progress)
    encoder = _text.Encoder(every_line=True)
    with Spool(spool_beside) as file:
        read_ids(source, encoder, memory, file)
        require_words(encoder.tokens, source.inputs)
        end_id = int(encoder.add_words(SENTENCE_END, np.array([0, len(SENTENCE_END)]))[0])
        wanted = encoder.add_words(also.blob, also.starts) if also is not None else np.empty(0, np.int32)
        read = read_words(encoder, file, phrases, also=end_id)
        counts = read.counts
        end = int(np.flatnonzero(read.ids == end_id)[0])
        counts[end] += encoder.lines
        tokens_read = int(counts.sum())
        order = np.argsort(-counts, kind="stable")
        is_label = np.zeros(len(counts), np.bool_)
        is_label[read.words.beginning_with(encode(label_prefix))] = True
        is_label[end] = False
        labels = _kept_labels(
            order[is_label[order] & (counts[order] > 0)],
            counts,
            label_prefix,
            min_count_label,
            fewest_labels,
            source.inputs,
        )
        words = order[~is_label[order]]
        kept = int(np.count_nonzero(counts[words] >= config.min_count))
        kept = min(kept, config.max_vocab or kept)
        frequent = kept
        if len(wanted):
            rare = np.isin(words[kept:], wanted)
            words = np.concatenate([words[:kept], words[kept:][rare], words[kept:][~rare]])
            kept += int(rare.sum())
            counts[words[frequent:kept]] = 1
        if not keep_dropped:
            words = words[:kept]
        final = np.full(len(counts), -1, np.int32)
        final[words] = np.arange(len(words), dtype=np.int32)
        final[labels] = FIRST_LABEL - np.arange(len(labels), dtype=np.int32)
        ids, _, lines, fingerprint = remapped(encoder, file, read.lookup(final), read.stream)
    if kept == 0 and not keep_dropped:
        message = f"no word occurs {times(config.min_count)} (--min-count): lower it or give more text"
        raise EmptyVocabulary(message)
    word_list, label_list = (read.words.take(chosen) for chosen in (words, labels))
    state = hashlib.blake2b(fingerprint.digest() + (bytes.fromhex(phrases.digest) if phrases else b""), digest_size=16)
    for part in (word_list, label_list):
        state.update(part.starts.astype("<i8").tobytes() + part.blob)
    return LabelledCorpus(
        ids=ids,
        words=word_list,
        kept=kept,
        counts=np.ascontiguousarray(counts[words[:kept]]),
        end_of_line=int(final[end]),
        labels=label_list,
        label_counts=np.ascontiguousarray(counts[labels]),
        tokens_read=tokens_read,
        lines=lines,
        digest=state.hexdigest(),
        added=kept - frequent,
    )


def renumbered(corpus: LabelledCorpus, words: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int32]:
    """The stream of `corpus` with other ids: those given for each of its words and labels, -1 for one to leave out."""
    # One table for the whole stream, from the last label over the line end to the last word.
    first = len(labels) + 1
    table = np.empty(first + len(words), np.int32)
    table[: first - 1] = np.where(labels < 0, _GONE, FIRST_LABEL - labels)[::-1]
    table[first - 1] = -1
    table[first:] = np.where(words < 0, _GONE, words)
    ids = table[corpus.ids + np.int32(first)]
    left: NDArray[np.int32] = ids[ids != _GONE]
    return left


def _kept_labels(
    labels: NDArray[np.int64],
    counts: NDArray[np.int64],
    prefix: str,
    min_count: int,
    fewest: int,
    inputs: Sequence[str],
) -> NDArray[np.int64]:
    """The labels frequent enough. Raises WvError when fewer than `fewest` are."""
    name = ", ".join(inputs)
    if len(labels) == 0:
        message = (
            f"{name}: no labels: expected lines such as `{prefix}cats the text`, found no word that begins with "
            f"{prefix!r}; label the lines or give --label-prefix"
        )
        raise WvError(message)
    kept = labels[counts[labels] >= min_count]
    if len(kept) < fewest:
        found = "one label" if len(labels) == 1 else f"{len(labels):,} labels"
        cut = f", {len(kept)} of them at least {times(min_count)} (--min-count-label)" if len(labels) > 1 else ""
        raise WvError(f"{name}: a classifier needs at least two labels to choose from, found {found}{cut}")
    return kept
