"""Labeled texts in the words and labels of a classifier that goes on with them."""

import hashlib
from dataclasses import replace

import numpy as np

from wv_cli.text.config import VocabConfig
from wv_cli.text.continued_vocabulary import extend_vocab
from wv_cli.text.labeled import LabeledCorpus, renumber_ids
from wv_cli.text.vocab import Vocab
from wv_cli.words import concatenate_words


def extend_labeled(
    corpus: LabeledCorpus,
    words: Vocab,
    labels: Vocab,
    config: VocabConfig,
    *,
    min_count_label: int = 0,
    keep_dropped: bool = False,
) -> LabeledCorpus:
    """A text of which every word and label was kept, in the ids of a classifier with `words` and `labels`, both of
    which grow as text.continued_vocabulary.extend_vocab says; `config` is for words alone. With `keep_dropped` the
    words that it cuts stay in the stream. Raises WvError for counts of 2^63 or more."""
    kept = extend_vocab(words, Vocab(corpus.words, corpus.counts, corpus.lines, corpus.tokens_read), config)
    cut = VocabConfig(min_count=max(1, min_count_label))
    tagged = extend_vocab(labels, Vocab(corpus.labels, corpus.label_counts), cut)
    numbers = kept.words.find_all(corpus.words)
    dropped = np.flatnonzero(numbers < 0)
    if keep_dropped:
        numbers[dropped] = len(kept) + np.arange(len(dropped))
    state = hashlib.blake2b(bytes.fromhex(corpus.digest + kept.digest + tagged.digest), digest_size=16)
    return replace(
        corpus,
        ids=renumber_ids(corpus, numbers, tagged.words.find_all(corpus.labels), len(tagged)),
        words=concatenate_words(kept.words, corpus.words.take(dropped)) if keep_dropped else kept.words,
        kept=len(kept),
        counts=kept.counts,
        end_of_line=int(numbers[corpus.end_of_line]),
        labels=tagged.words,
        label_counts=tagged.counts,
        tokens_read=kept.tokens_read,
        digest=state.hexdigest(),
    )
