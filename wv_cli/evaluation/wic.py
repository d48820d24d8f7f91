"""Word in context: does a word mean the same in two sentences? Answered yes where the similarity of its two vectors is
above a threshold.

    word       its vector in the file, which no sentence changes: yes, unless the spelling differs
    context    the mean of the vectors of the --window words on each side
    dynamic    both, end to end (word2vec's in Liang et al. 2021)
    codes      BioWord's dynamic codes of the word with its window (the same); the share of common bits
    layer:K    an ELMo's vector of the word in the sentence; 0 does not know the sentence

The threshold is the one with the most right answers on the development data, given by --dev, for each representation by
itself; the data scored have no part in it. Similarities are cosines in float64; a word without a vector, and a context
without one, is the zero vector, whose cosine with everything is 0, and such items are counted.

Word in context (Pilehvar & Camacho-Collados 2019): pairs of sentences with a word, and whether it means the same.

NAME.data.txt     word TAB N or V TAB i-j TAB sentence TAB sentence; the word is word i of the first sentence and word j
                  of the second, counted from 0 between blanks
NAME.gold.txt     T or F for each line, beside it
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode_tokens
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.evaluation.base import Column, Report, Vectors, number, protocol
from wv_cli.evaluation.config import WicConfig
from wv_cli.evaluation.data import Malformed, composed_note, data_lines, restrict_words
from wv_cli.evaluation.statistics import wilson_interval
from wv_cli.hashing.bioword import load_hasher
from wv_cli.text.corpus import Corpus
from wv_cli.text.input_files import expand_inputs, shared_file
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup

_DATA, _GOLD = ".data.", ".gold."


@dataclass(frozen=True)
class InContext:
    """One data file. `words` are two sentences' words for each item, `targets` (items, 2) the place of the word asked
    in each, `gold` (items,) whether it means the same in both."""

    path: str
    words: list[tuple[list[str], list[str]]]
    targets: NDArray[np.int64]
    gold: NDArray[np.bool_]
    malformed: Malformed

    @property
    def sentences(self) -> list[list[str]]:
        """The first and the second of each item, in turn."""
        return [sentence for pair in self.words for sentence in pair]


def wic_files(paths: Sequence[str]) -> list[str]:
    """What to read of `paths`: not the answers beside data."""
    return [path for path in paths if _GOLD not in Path(path).name]


def read_wic(path: str, *, strict: bool = False) -> InContext:
    """Raises BadFile when no line is an item, when data and answers do not fit together, or under `strict` for a line
    that is no item; WvError when one of them cannot be read."""
    name = Path(path).name
    if _DATA not in name:
        problem = f"expected NAME{_DATA}txt, whose answers are beside it in NAME{_GOLD}txt, found another name"
        raise BadFile(path, problem)
    answers = str(Path(path).with_name(_GOLD.join(name.rsplit(_DATA, 1))))
    lines, gold = (_without_end(data_lines(each)) for each in (path, answers))
    if len(lines) != len(gold):
        problem = f"expected T or F for each of the {len(lines):,} lines of {path}, found {len(gold):,} lines"
        raise BadFile(answers, problem, line=min(len(lines), len(gold)) + 1)
    malformed = Malformed(path, strict, "`word TAB N or V TAB i-j TAB sentence TAB sentence`")
    words, targets, same = [], [], []
    for at, (line, answer) in enumerate(zip(lines, gold, strict=True), 1):
        if answer not in ("T", "F"):
            raise BadFile(answers, f"expected T or F, found {answer[:60]!r}", line=at)
        item = _item(line)
        if item is None:
            malformed.add(at, line)
        else:
            words.append(item[0])
            targets.append(item[1])
            same.append(answer == "T")
    if not words:
        raise BadFile(path, "expected words in two sentences, found none", line=1)
    return InContext(path, words, np.array(targets, np.int64), np.array(same, np.bool_), malformed)


def _item(line: str) -> tuple[tuple[list[str], list[str]], tuple[int, int]] | None:
    """(words of both sentences, places of the target); None: the line is none."""
    fields = line.split("\t")
    if len(fields) != 5:
        return None
    first, _, second = fields[2].partition("-")
    words = fields[3].split(), fields[4].split()
    if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
        return None
    if len(first) > 9 or len(second) > 9 or int(first) >= len(words[0]) or int(second) >= len(words[1]):
        return None
    return words, (int(first), int(second))


def _without_end(lines: list[str]) -> list[str]:
    lines = [line.rstrip("\r") for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


@dataclass(frozen=True)
class System:
    """A representation of one source: values[i] (items,) and zero[i] (items,), whether a vector is missing, belong to
    data set i, the development data first."""

    source: str
    name: str
    values: list[NDArray[np.float64]]
    zero: list[NDArray[np.bool_]]


def run(vectors: Sequence[Vectors], data: Sequence[str], config: WicConfig) -> Report:
    """Scores every source on every data file; see evaluation.Task.run."""
    if config.dev is None:
        message = "--dev FILE is missing, the data for choosing the threshold"
        raise UsageError(message)
    files = [*wic_files(expand_inputs([config.dev])), *wic_files(data)]
    sets = [read_wic(path, strict=config.strict) for path in files]
    systems: list[System] = []
    notes = [note for each in sets for note in each.malformed.notes()]
    for source in vectors:
        embeddings = restrict_words(source.load(), config.restrict_vocab)
        lookup = Lookup(embeddings, config.case, subwords=config.subwords)
        systems += _of_words(source.name, embeddings, lookup, sets, config.window)
        notes += composed_note(source.name, len(lookup.oov))
        del embeddings, lookup
    systems += [_of_hasher(path, sets, config) for path in config.hasher]
    for path in config.encoder:
        systems += _of_encoder(path, sets)
    report = _new_report(config, sets[0].path)
    report.notes += notes
    if (same := shared_file(data, [config.dev])) is not None:
        report.notes.append(f"{same} chose the thresholds, too, so its accuracy is higher than that of unseen items")
    for index, each in enumerate(sets[1:], 1):
        for system in systems:
            threshold = best_threshold(system.values[0], sets[0].gold)
            right = int(((system.values[index] > threshold) == each.gold).sum())
            low, high = wilson_interval(right, len(each.gold))
            accuracy = 100 * right / len(each.gold)
            report.rows.append(
                {
                    "data": each.path,
                    "vectors": system.source,
                    "of": system.name,
                    "accuracy": accuracy,
                    "low": 100 * low,
                    "high": 100 * high,
                    "threshold": threshold,
                    "items": len(each.gold),
                    "zero_vectors": int(system.zero[index].sum()),
                    "malformed": each.malformed.count,
                }
            )
            report.scores.append((f"{system.source} ({system.name}) on {each.path}", accuracy))
    return report


def best_threshold(values: NDArray[np.float64], gold: NDArray[np.bool_]) -> float:
    """Above which `gold` (items,) is true most often, the lowest of equals: half-way between two of the values, or so
    far below the first or above the last as cosines go."""
    order = np.argsort(values, kind="stable")
    ordered, same = values[order], gold[order].astype(np.int64)
    cuts = np.concatenate([[ordered[0] - 1], (ordered[1:] + ordered[:-1]) / 2, [ordered[-1] + 1]])
    # With i values below the cut: the false ones among them and the true ones above are right.
    right = np.concatenate([[0], np.cumsum(1 - same)]) + same.sum() - np.concatenate([[0], np.cumsum(same)])
    right[1:-1][ordered[1:] == ordered[:-1]] = -1  # equal values cannot be told apart
    return float(cuts[np.argmax(right)])


def _of_words(
    source: str, embeddings: Embeddings, lookup: Lookup, sets: Sequence[InContext], window: int
) -> Iterator[System]:
    pairs = [_word_and_context(embeddings, lookup, each, window) for each in sets]
    for name in ("word", "context", "dynamic"):
        made = []
        for word, context in pairs:
            made.append({"word": word, "context": context}.get(name, np.concatenate([word, context], axis=2)))
        yield System(source, name, *_cosines(made))


def _word_and_context(
    embeddings: Embeddings, lookup: Lookup, data: InContext, window: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(items, 2, dim) each."""
    word, context = (np.zeros((len(data.words), 2, embeddings.dim)) for _ in range(2))
    for item, sentences in enumerate(data.words):
        for side, words in enumerate(sentences):
            at = int(data.targets[item, side])
            first, last = (max(0, at - window), at + window + 1) if window else (0, len(words))
            word[item, side] = _mean(embeddings, lookup, words[at : at + 1])
            context[item, side] = _mean(embeddings, lookup, [*words[first:at], *words[at + 1 : last]])
    return word, context


def _mean(embeddings: Embeddings, lookup: Lookup, words: list[str]) -> NDArray[np.float64]:
    """Of the vectors of those words that have one, zero where none has."""
    rows = [row for row in map(lookup.row, words) if row >= 0]
    listed = [row for row in rows if row < len(embeddings)]
    found = [embeddings.matrix[listed]]
    if len(listed) < len(rows):
        found.append(lookup.oov.vectors()[[row - len(embeddings) for row in rows if row >= len(embeddings)]])
    vectors = np.concatenate(found)
    mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64) if len(vectors) else np.zeros(embeddings.dim)
    return mean


def _of_hasher(path: str, sets: Sequence[InContext], config: WicConfig) -> System:
    """Of BioWord, whose own window counts."""
    hasher = load_hasher(path)
    words = hasher.vocab.words
    lookup = Lookup(Embeddings(words, np.zeros((len(words), 1), np.float32)), config.case)
    values, zero = [], []
    for data in sets:
        ids = [[lookup.row(word) for word in sentence] for sentence in data.sentences]
        known = [[id for id in sentence if id >= 0] for sentence in ids]
        stream = np.array([id for sentence in known for id in [*sentence, *([-1] if sentence else [])]], np.int32)
        starts = list(accumulate(map(len, known[:-1]), initial=0))
        places = data.targets.reshape(-1).tolist()
        asked = list(zip(starts, ids, places, strict=True))
        at = [start + sum(id >= 0 for id in sentence[:place]) for start, sentence, place in asked]
        unknown: NDArray[np.bool_] = np.array([sentence[place] < 0 for _, sentence, place in asked], np.bool_)
        missing: NDArray[np.bool_] = np.logical_or(unknown[::2], unknown[1::2])
        shared = np.zeros(len(data.words))
        if len(stream):
            codes = hasher.dynamic(Corpus(stream, hasher.vocab, sum(map(len, known)), len(known), "")).data
            a, b = (codes[np.minimum(at[side::2], len(codes) - 1)] for side in (0, 1))
            shared = (a[:, :, None] == b[:, None, :]).sum(axis=(1, 2)) / codes.shape[1]
        values.append(np.where(missing, 0, shared))
        zero.append(missing)
    return System(path, "codes", values, zero)


def _of_encoder(path: str, sets: Sequence[InContext]) -> Iterator[System]:
    """Of an ELMo, whose tokens are the words between blanks. Raises WvError for an encoder of word pieces."""
    encoder = open_encoder(path, EncoderConfig(), ("layer:0",))
    sentences = [[" ".join(sentence) for sentence in data.sentences] for data in sets]
    probe = sentences[0][0]
    if encoder.names(probe, encoder.tokens([probe])[0][0]) != sets[0].sentences[0]:
        message = f"{path}: expected an encoder whose tokens are words, an ELMo; this one cuts them into pieces"
        raise WvError(message)
    for layer in range(encoder.layers + 1):
        made = []
        for texts, data in zip(sentences, sets, strict=True):
            found = encode_tokens(encoder, texts, Pooling.parse(f"layer:{layer}", encoder.layers, path))
            places = zip(found, data.targets.reshape(-1).tolist(), strict=True)
            vectors = [each[place] if place < len(each) else np.zeros(encoder.dim) for each, place in places]
            made.append(np.array(vectors, np.float64).reshape(len(data.words), 2, encoder.dim))
        yield System(path, f"layer:{layer}", *_cosines(made))


def _cosines(
    made: Sequence[NDArray[np.float64]],
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.bool_]]]:
    """Of the two vectors of every item (items, 2, dim), and whether one is zero."""
    values, zero = [], []
    for vectors in made:
        norms = np.sqrt(np.einsum("ijk,ijk->ij", vectors, vectors))
        missing = (norms == 0).any(axis=1)
        dots = np.einsum("ik,ik->i", vectors[:, 0], vectors[:, 1])
        # Rounded, so that sentences of the same words in another order are ties.
        values.append(np.round(dots / np.where(missing, 1, norms.prod(axis=1)), 12))
        zero.append(missing)
    return values, zero


def _new_report(config: WicConfig, dev: str) -> Report:
    columns = [
        Column("data", "data", label=True),
        Column("vectors", "vectors", label=True),
        Column("of", "of", label=True),
        Column("accuracy", "accuracy", number(2)),
        Column("low", "95 % from", number(1)),
        Column("high", "to", number(1)),
        Column("threshold", "above", number(4)),
        Column("items", "items", "{:,}".format),
        Column("zero_vectors", "zero", "{:,}".format),
        Column("malformed", ""),
    ]
    words = f"{config.window} words on each side" if config.window else "the whole sentence"
    lines = [
        *protocol(config),
        f"context: {words}",
        f"the threshold of each line was chosen on {dev}",
        "items with a word or context without a vector have similarity 0",
    ]
    return Report("wic", "accuracy", config, columns, protocol=lines)
