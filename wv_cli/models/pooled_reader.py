"""Lines of labeled text as a pooled classifier reads them: tokens, features and labels. Training and prediction read
lines with the same reader, so that they see the same.

Features are fastText's: the words of a line that the model knows, and hashed n-grams of words and of characters; their
values are tf-idf. Tokens are the pieces of a tokenizer, or the known words; their values are sublinear frequencies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import _pooled, _prediction
from wv_cli.encoders.tokenizer import Tokenizer
from wv_cli.errors import WvError
from wv_cli.io import memory
from wv_cli.text.lowercase import lowercase_chunks
from wv_cli.text.records.labels import value_of
from wv_cli.words import WordList, encode


@dataclass(frozen=True, eq=False)
class ReadLines:
    """Line i has the tokens ids[starts[i]:starts[i + 1]], int32 and int64, so its features, each once, with float32
    values of length 1, and its labels. `seen` (lines, 2) int32 counts its words, and those that the model knows."""

    starts: NDArray[np.int64]
    ids: NDArray[np.int32]
    token_values: NDArray[np.float32]
    feature_starts: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    label_starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    seen: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.seen)

    @property
    def has_input(self) -> NDArray[np.bool_]:
        """(lines,): which lines have a token or a feature."""
        found: NDArray[np.bool_] = (np.diff(self.starts) > 0) | (np.diff(self.feature_starts) > 0)
        return found

    def take(self, lines: NDArray[np.int64]) -> "ReadLines":
        """Some of the lines, by their numbers."""
        tokens, token_starts = _stretches(self.starts, lines)
        features, feature_starts = _stretches(self.feature_starts, lines)
        labels, label_starts = _stretches(self.label_starts, lines)
        return ReadLines(
            token_starts,
            self.ids[tokens],
            self.token_values[tokens],
            feature_starts,
            self.features[features],
            self.values[features],
            label_starts,
            self.labels[labels],
            self.seen[lines],
        )


def _stretches(starts: NDArray[np.int64], lines: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the places of what these lines have, where each line's begin among them)."""
    counts = np.diff(starts)[lines]
    ends = np.concatenate([[0], np.cumsum(counts)])
    return np.arange(ends[-1]) + np.repeat(starts[lines] - ends[:-1], counts), ends


def join_lines(parts: Sequence[ReadLines]) -> ReadLines:
    """Lines that were read one part after the other."""

    def join(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    def starts(name: str) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(getattr(part, name)) for part in parts]))])

    return ReadLines(
        starts("starts"),
        join("ids"),
        join("token_values"),
        starts("feature_starts"),
        join("features"),
        join("values"),
        starts("label_starts"),
        join("labels"),
        join("seen"),
    )


@dataclass(frozen=True, eq=False)
class Reading:
    """How lines are read. `tokenizer` has the settings of a tokenizer.json whose pieces, all below `tokens`, are the
    tokens; None: words are. At most `max_length` tokens of a line are read. Features are `words` and n-grams, of up to
    `word_ngrams` words and of `minn` to `maxn` characters, hashed to `buckets`; those that are `kept` (n-grams,) int32
    have a number, behind the words', and all features an `idf`. kept None: every bucket has one, and no feature a
    value. The labels of question q begin at `questions[q]`; () is one question."""

    words: WordList
    labels: WordList
    label_prefix: str
    lowercase: bool
    word_ngrams: int
    minn: int
    maxn: int
    buckets: int
    max_length: int
    tokenizer: dict[str, Any] | None
    tokens: int
    kept: NDArray[np.int32] | None = None
    idf: NDArray[np.float32] | None = None
    questions: tuple[int, ...] = ()

    @property
    def question_starts(self) -> NDArray[np.int32]:
        """(questions + 1,): where the labels of each begin, and the last end."""
        return np.array([*(self.questions or (0,)), len(self.labels)], np.int32)

    @property
    def uses_buckets(self) -> bool:
        return self.word_ngrams > 1 or self.maxn > 0


def name_of_question(label: str, prefix: str) -> str:
    """The question that a label such as `__label__quality=3` answers, as labels write it; "" for another label."""
    name, equals, _ = label.removeprefix(prefix).partition("=")
    return name if equals else ""


def divide_labels(labels: WordList, prefix: str, names: Sequence[str], text: str) -> tuple[WordList, tuple[int, ...]]:
    """(the labels by question, where those of each begin), for questions with these names, as labels write them. `text`
    is the input in messages. Raises WvError for a label of none of them, and for a question with fewer than two."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for label in labels:
        if (name := name_of_question(label, prefix)) not in found:
            expected = f"{prefix}{names[0]}=VALUE"
            raise WvError(f"{text}: expected labels such as {expected}, found {label}; --label-field has the names")
        found[name].append(label)
    for name, own in found.items():
        if len(own) < 2:
            message = (
                f"{text}: the field {value_of(name)}: expected two labels or more to choose from, found {len(own)}"
            )
            raise WvError(f"{message}; leave the field out, or lower --min-count-label")
    starts = accumulate((len(own) for own in found.values()), initial=0)
    return WordList.from_words([label for own in found.values() for label in own]), tuple(starts)[:-1]


def problem_of_questions(reading: Reading) -> str:
    """What is wrong with the questions of a reading; "" for good ones: each has two labels, which name it alone."""
    starts, names = reading.question_starts, set[str]()
    if starts[0] != 0 or (np.diff(starts) < 2).any():
        return "the questions do not divide the labels"
    for first, last in pairwise(starts.tolist()):
        own = {name_of_question(reading.labels[label], reading.label_prefix) for label in range(first, last)}
        if len(own) != 1 or own & {"", *names}:
            return "the labels do not name their questions"
        names |= own
    return ""


class LineReader:
    """Reads lines as `reading` says. Threads may share it."""

    def __init__(self, reading: Reading, path: str) -> None:
        """`path` is the file that messages name. Raises BadFile, WvError, ValueError for parts that do not fit."""
        self._reading, self._words = reading, len(reading.words)
        prefix, bucket_row = encode(reading.label_prefix), None
        buckets = reading.buckets if reading.uses_buckets else 0
        if buckets and reading.kept is not None:
            memory.require(4 * buckets, f"a table of {buckets:,} buckets", "train with fewer --buckets")
            bucket_row = np.full(buckets, -1, np.int32)
            bucket_row[reading.kept] = np.arange(len(reading.kept), dtype=np.int32)
        self._inner = _prediction.LineReader(
            (reading.words.blob, reading.words.starts),
            (reading.labels.blob, reading.labels.starts),
            minn=reading.minn,
            maxn=reading.maxn,
            word_ngrams=reading.word_ngrams,
            buckets=buckets,
            bucket_row=bucket_row,
            prefix=prefix,
        )
        self._prefix, self._tokenizer = prefix, None
        if reading.tokenizer is not None:
            made, rows = reading.tokenizer, reading.tokens
            self._tokenizer = Tokenizer(Path(path), max_length=reading.max_length, rows=rows, special=False, made=made)

    def read(self, text: bytes) -> ReadLines:
        """Whole lines; the last may lack its newline."""
        if self._reading.lowercase:
            text = b"".join(lowercase_chunks([text], self._prefix))
        feature_starts, features, label_starts, labels, seen = self._inner.read(text)
        if self._tokenizer is None:
            starts, ids = self._known_words(feature_starts, features)
        else:
            ids, starts, _ = self._tokenizer.read(self._texts(text))
        starts, ids, token_values = _pooled.weigh(starts, ids)
        values = np.empty(0, np.float32)
        if self._reading.idf is not None:
            feature_starts, features, values = _pooled.weigh(feature_starts, features, self._reading.idf)
        return ReadLines(starts, ids, token_values, feature_starts, features, values, label_starts, labels, seen)

    def _known_words(
        self, starts: NDArray[np.int64], ids: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """(starts, ids) of the words among features."""
        is_word, line = ids < self._words, np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        counts = np.bincount(line[is_word], minlength=len(starts) - 1)
        ends, words = np.concatenate([[0], np.cumsum(counts)]), ids[is_word]
        most = self._reading.max_length
        if (counts <= most).all():
            return ends, words
        kept = np.arange(len(words)) - np.repeat(ends[:-1], counts) < most
        return np.concatenate([[0], np.cumsum(np.minimum(counts, most))]), words[kept]

    def _texts(self, text: bytes) -> list[str]:
        """The lines without their labels."""
        lines = text.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if text else []
        if self._prefix not in text:
            return lines
        prefix = self._reading.label_prefix
        return [
            " ".join(word for word in line.split() if not word.startswith(prefix)) if prefix in line else line
            for line in lines
        ]


def read_features(reading: Reading, text: Sequence[bytes], path: str) -> tuple[Reading, ReadLines]:
    """(the reading with the n-grams and the idf of a text's lines, the lines). `text` has blocks of whole lines."""
    words, reader = len(reading.words), LineReader(reading, path)
    rows = words + (reading.buckets if reading.uses_buckets else 0)
    parts, found = [reader.read(block) for block in text], np.zeros(rows, np.int64)
    for part in parts:
        _, once, _ = _pooled.weigh(part.feature_starts.copy(), part.features.copy())
        found += np.bincount(once, minlength=rows)
    kept = np.flatnonzero(found[words:]).astype(np.int32)
    counts = np.concatenate([found[:words], found[words:][kept]])
    idf = (np.log((1 + sum(map(len, parts))) / (1 + counts)) + 1).astype(np.float32)
    numbers = np.arange(rows, dtype=np.int32)
    numbers[words + kept] = words + np.arange(len(kept), dtype=np.int32)

    def weigh(part: ReadLines) -> ReadLines:
        starts, features, values = _pooled.weigh(part.feature_starts, numbers[part.features], idf)
        return replace(part, feature_starts=starts, features=features, values=values)

    return replace(reading, kept=kept, idf=idf), join_lines([weigh(part) for part in parts])
