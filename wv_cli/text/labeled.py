"""LabeledCorpus: lines with labels as a stream of ids, for the classifier; made in one pass as corpus.py does.

A token that begins with the label prefix is a label, every other token a word. By fastText's rules every line ends with
the word `</s>` (it is not in the stream: the line end means it), and words that --min-count drops have no row but
still count in word n-grams and through their character n-grams, so they stay in the stream where these are used.
"""

import hashlib
import re
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wv_cli import _encoder
from wv_cli._text import SEPARATORS
from wv_cli.errors import WvError, show_bytes
from wv_cli.io.events import OnProgress
from wv_cli.io.spill import Spool
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import remap_ids, require_words
from wv_cli.text.id_stream import read_ids
from wv_cli.text.input_files import Inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.joining import Phrases, read_words
from wv_cli.text.lines import whole_lines
from wv_cli.text.raw_files import is_file
from wv_cli.text.source import Source
from wv_cli.text.vocab import SENTENCE_END, EmptyVocabulary, Tally, Vocab, times
from wv_cli.words import WordList, encode

_GONE = np.iinfo(np.int32).min
_AN_EMPTY_LINE = np.array([-1], np.int32).tobytes()  # what a part has that is left without a word: streams have ids
_LOOKED_AT, _FEWEST_LINES = 10_000_000, 100  # ids and labels by which the order of lines is judged
WEIGHT_PREFIX = b"__weight__"
MOST_WEIGHT = 1000
FIRST_LABEL = -2  # WV_FIRST_LABEL of csrc/base/wv_shared.h: label i is in the stream as FIRST_LABEL - i


@dataclass(frozen=True, eq=False)
class LabeledWords:
    """The words and labels of a text. `words` are in order of falling count, `</s>` among them; the first `kept` have a
    row of their own, the others are below the cut and are listed only when n-grams need them. `counts` (kept,) and
    `label_counts` (labels,) are int64; `end_of_line` is the id of `</s>`, -1 when the cut dropped it. `tokens_read`
    counts all tokens, line ends included. The last `added` of the words with a row are there because they were asked
    for. `line_weights` are the different weights of lines: number i is in the stream as the label len(labels) + i."""

    words: WordList
    kept: int
    counts: NDArray[np.int64]
    end_of_line: int
    labels: WordList
    label_counts: NDArray[np.int64]
    tokens_read: int
    added: int = field(default=0, kw_only=True)
    line_weights: NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32), kw_only=True)


@dataclass(frozen=True, eq=False)
class LabeledCorpus(LabeledWords):
    """`ids` is one-dimensional int32, read-only: word ids, labels (FIRST_LABEL - label) and -1 after each of the
    `lines`; `digest` tells this corpus from others. `text` is the digest of a text that is to be known again, whatever
    the options."""

    ids: NDArray[np.int32]
    lines: int
    digest: str
    text: str = ""

    @property
    def nbytes(self) -> int:
        """Of ids, words and their counts."""
        return self.ids.nbytes + self.words.nbytes + self.counts.nbytes

    def is_sorted_by_label(self) -> bool:
        """Whether the label changes from line to line hardly ever: less than a tenth of what a random order has."""
        labels = self.labels_of(self.ids[:_LOOKED_AT])
        share = self.label_counts / max(1, self.label_counts.sum())
        expected = len(labels) * (1 - float(share @ share))
        return bool(len(labels) >= _FEWEST_LINES and 10 * np.count_nonzero(np.diff(labels)) < expected)

    def describe_rare_labels(self) -> str:
        """What is said of a text where most labels stand once, as measured numbers do; "" for another text."""
        once = int(np.count_nonzero(self.label_counts == 1))
        if once < _FEWEST_LINES or 2 * once <= self.label_counts.sum():
            return ""
        way = "round numbers to a few steps, or leave such labels out with --min-count-label"
        return f"{once:,} of {len(self.labels):,} labels stand once, which is too little to learn them; {way}"

    def labels_of(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """The labels in a piece of the stream, without the weights of lines."""
        labels = FIRST_LABEL - ids[ids <= FIRST_LABEL]
        return labels[labels < len(self.labels)]


def encode_labeled(
    inputs: Inputs,
    config: VocabConfig,
    *,
    label_prefix: str = "__label__",
    min_count_label: int = 0,
    fewest_labels: int = 2,
    keep_dropped: bool = False,
    line_weights: bool = False,
    also: WordList | None = None,
    phrases: Phrases | None = None,
    memory: int | None = None,
    spool_beside: str | None = None,
    progress: OnProgress | None = None,
    compute_digest: bool = False,
) -> LabeledCorpus:
    """Reads texts (see text.source.Source) once. `config` is for words alone; with `keep_dropped` words that it cuts
    stay in the stream. The words `also` are kept, however rare: those that the cut drops, and those that the text does
    not have, stand behind the others as words seen once. `phrases` are joined first, as if the joined text were read.
    `compute_digest` is Source's.

    With `line_weights` words such as __weight__0.5 are the weights of their lines.

    Raises WvError when there is no text, no label, fewer than `fewest_labels`, or no word, and what Source raises.
    """
    prefix = encode(label_prefix)
    source = Source(
        inputs,
        lowercase=config.lowercase,
        keep_case=prefix,
        lines=config.lines((prefix, WEIGHT_PREFIX) if line_weights else (prefix,)),
        progress=progress,
        compute_digest=compute_digest,
    )
    encoder = _encoder.Encoder(every_line=True)
    cut = _Cut(config, label_prefix, min_count_label, fewest_labels, keep_dropped, inputs, line_weights)
    with Spool(spool_beside) as file:
        read_ids(source, encoder, memory, file)
        require_words(encoder.tokens, source.inputs)
        end_id, asked = _add_asked(encoder, also)
        read = read_words(encoder, file, phrases, also=end_id)
        end = int(np.flatnonzero(read.ids == end_id)[0])
        found, final = cut.keep(Tally(read.words, read.counts, encoder.lines, encoder.tokens), end, asked)
        ids, _, lines, fingerprint = remap_ids(encoder, file, read.lookup(final), read.stream)

    state = hashlib.blake2b(fingerprint.digest(), digest_size=16)
    state.update(bytes.fromhex(phrases.digest) if phrases else b"")
    for part in (found.words, found.labels):
        state.update(part.starts.astype("<i8").tobytes() + part.blob)
    state.update(found.line_weights.astype("<f4").tobytes())
    return LabeledCorpus(**vars(found), ids=ids, lines=lines, digest=state.hexdigest(), text=source.digest)


def empty_labeled(words: Vocab, labels: Vocab) -> LabeledCorpus:
    """Nothing to learn, in the ids of these words and labels."""
    end = int(words.words.find(SENTENCE_END))
    found = (words.words, len(words), words.counts, end, labels.words, labels.counts, words.tokens_read)
    ids = np.frombuffer(_AN_EMPTY_LINE, np.int32)
    return LabeledCorpus(*found, ids=ids, lines=words.lines, digest=words.digest)


def _add_asked(encoder: _encoder.Encoder, also: WordList | None) -> tuple[int, NDArray[np.int32]]:
    """Adds the words that there are whether the text has them or not: the ids of `</s>` and of `also`."""
    end = int(encoder.add_words(SENTENCE_END, np.array([0, len(SENTENCE_END)]))[0])
    listed = encoder.add_words(also.blob, also.starts) if also is not None else memoryview(b"").cast("i")
    return end, np.asarray(listed)


@dataclass(frozen=True)
class _Cut:
    """Which tokens of the texts `inputs` are labels, which words, and which of both are frequent enough."""

    config: VocabConfig
    label_prefix: str
    min_count_label: int
    fewest_labels: int
    keep_dropped: bool
    inputs: Inputs
    line_weights: bool = False

    @property
    def _names(self) -> str:
        return ", ".join(self.inputs.inputs if isinstance(self.inputs, Texts) else self.inputs)

    def keep(self, read: Tally, end: int, asked: NDArray[np.int32]) -> tuple[LabeledWords, NDArray[np.int32]]:
        """What is kept of the tokens `read`, and the final id of each (-1: dropped). `end` is the place of `</s>` among
        them, `asked` are those of words that are kept however rare. Raises WvError."""
        config, counts = self.config, read.counts.copy()
        counts[end] += read.lines
        tokens_read = int(counts.sum())
        order = np.argsort(-counts, kind="stable")
        is_label = np.zeros(len(counts), np.bool_)
        is_label[read.words.beginning_with(encode(self.label_prefix))] = True
        is_label[end] = False
        labels = self._kept_labels(order[is_label[order] & (counts[order] > 0)], counts)
        weights = self._weights(read.words)
        is_word = ~is_label
        is_word[list(weights)] = False
        words = order[is_word[order]]
        kept = int(np.count_nonzero(counts[words] >= config.min_count))
        frequent = kept = min(kept, config.max_vocab or kept)
        if len(asked):
            rare = np.isin(words[kept:], asked)
            words = np.concatenate([words[:kept], words[kept:][rare], words[kept:][~rare]])
            kept += int(rare.sum())
            counts[words[frequent:kept]] = 1
        if not self.keep_dropped:
            words = words[:kept]
        if kept == 0 and not self.keep_dropped:
            message = f"no word occurs {times(config.min_count)} (--min-count): lower it or give more text"
            raise EmptyVocabulary(message)
        final = np.full(len(counts), -1, np.int32)
        final[words] = np.arange(len(words), dtype=np.int32)
        final[labels] = FIRST_LABEL - np.arange(len(labels), dtype=np.int32)
        values, places = np.unique(np.array(list(weights.values()), np.float32), return_inverse=True)
        final[list(weights)] = FIRST_LABEL - len(labels) - places
        found = LabeledWords(
            words=read.words.take(words),
            kept=kept,
            counts=np.ascontiguousarray(counts[words[:kept]]),
            end_of_line=int(final[end]),
            labels=read.words.take(labels),
            label_counts=np.ascontiguousarray(counts[labels]),
            tokens_read=tokens_read,
            added=kept - frequent,
            line_weights=values,
        )
        return found, final

    def _weights(self, words: WordList) -> dict[int, float]:
        """The weights of lines, by their places among the words. Raises WvError for a word that is no number."""
        weights: dict[int, float] = {}
        for place in words.beginning_with(WEIGHT_PREFIX).tolist() if self.line_weights else ():
            word = words.bytes_at(place)
            weights[place] = weight = number_of_weight(word[len(WEIGHT_PREFIX) :])
            if weight < 0:
                wanted = f"{WEIGHT_PREFIX.decode()}N with N from 0 to {MOST_WEIGHT:,}"
                message = f"{self._place_of(word)}: expected the weight of a line as {wanted}, found {show_bytes(word)}"
                raise WvError(message)
        return weights

    def _place_of(self, word: bytes) -> str:
        """The file and the line, or the record, that has the word first; all names where it is found in no file."""
        inputs = self.inputs
        if isinstance(inputs, Texts):
            inputs = replace(inputs.quiet(), reading=replace(inputs.reading, tokenize=None), labels=None)
        source = Source(inputs, lowercase=self.config.lowercase, keep_case=encode(self.label_prefix))
        blank = re.escape(SEPARATORS)
        pattern = re.compile(rb"(?<![^%b])%b(?![^%b])" % (blank, re.escape(word), blank))
        for path in filter(is_file, source.paths):
            source.select([path], 0)
            before = 0
            for block in whole_lines(source):
                if found := pattern.search(block):
                    number = before + block.count(b"\n", 0, found.start()) + 1
                    is_record = isinstance(inputs, Texts) and inputs.records(path)
                    return f"{path}: record {number:,}" if is_record else f"{path}:{number}"
                before += block.count(b"\n")
        return self._names

    def _kept_labels(self, labels: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels frequent enough. Raises WvError when fewer than `fewest_labels` are."""
        name, least = self._names, self.min_count_label
        if len(labels) == 0:
            message = (
                f"{name}: no labels: expected lines such as `{self.label_prefix}cats the text`, found no word that "
                f"begins with {self.label_prefix!r}; label the lines, give --label-prefix, or name the fields of "
                "records with --label-field"
            )
            raise WvError(message)
        kept = labels[counts[labels] >= least]
        if len(kept) < self.fewest_labels:
            found = "one label" if len(labels) == 1 else f"{len(labels):,} labels"
            cut = f", {len(kept)} of them at least {times(least)} (--min-count-label)" if len(labels) > 1 else ""
            raise WvError(f"{name}: a classifier needs at least two labels to choose from, found {found}{cut}")
        return kept


def number_of_weight(text: bytes) -> float:
    """The weight that a text is, -1 for none."""
    try:
        weight = float(text) if text.isascii() else -1.0
    except ValueError:
        return -1.0
    return weight if 0 <= weight <= MOST_WEIGHT else -1.0


def renumber_ids(
    corpus: LabeledCorpus, words: NDArray[np.int64], labels: NDArray[np.int64], count: int = 0
) -> NDArray[np.int32]:
    """The stream of `corpus` with other ids: those given for each of its words and labels, -1 for one to leave out.
    Weights of lines, if there are any, stand behind `count` labels."""
    labels = np.concatenate([labels, count + np.arange(len(corpus.line_weights))])
    # One table for the whole stream, from the last label over the line end to the last word.
    first = len(labels) + 1
    table = np.empty(first + len(words), np.int32)
    table[: first - 1] = np.where(labels < 0, _GONE, FIRST_LABEL - labels)[::-1]
    table[first - 1] = -1
    table[first:] = np.where(words < 0, _GONE, words)
    ids = table[corpus.ids + np.int32(first)]
    left: NDArray[np.int32] = ids[ids != _GONE]
    return left
