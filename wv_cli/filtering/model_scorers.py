"""The scorers of the table SCORERS: what makes a number of every document."""

import difflib
from collections.abc import Callable, Collection
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.filtering.cutting import Cut, open_cutter, recipe_of_model
from wv_cli.filtering.flattening import flatten
from wv_cli.filtering.scorer_options import ScorerOptions
from wv_cli.filtering.scorer_types import LabelScorer, NumberScorer, Scorer, Scores, split_subject
from wv_cli.filtering.units import LabelAnswers, answer_units, divide
from wv_cli.models.classifier import load_classifier
from wv_cli.models.text_classifier import ALL, TextClassifier
from wv_cli.text.records.labels import value_of

_ANY = "*"  # in the place of labels


def language(subject: str, options: ScorerOptions) -> Scorer:
    """`MODEL:en,de`: the probability of the most probable of these languages, `MODEL:*` of all, 0 for a text without
    known words."""
    return _of_labels(subject, options, unknown_is_zero=True)


def classifier(subject: str, options: ScorerOptions) -> Scorer:
    """`MODEL:LABEL`: the probability of the label."""
    return _of_labels(subject, options, unknown_is_zero=False)


def number(subject: str, options: ScorerOptions) -> NumberScorer:
    """`MODEL`, or `MODEL:QUESTION`: the expected number of a classifier whose labels are numbers, NaN where it has no
    answer."""
    path, named = split_subject(subject)
    model = _open_model(path)

    def pick(answered: LabelAnswers) -> Scores:
        return answered.to(question).expected_numbers(numbers).astype(np.float32)

    try:
        question = model.question(named or None)
        numbers = question.numbers
    except UsageError as error:
        name = model.labels[model.question(named).first if named else 0].removeprefix(model.label_prefix)
        raise UsageError(f"{error}; name a label, such as {path}:{name}") from None
    asked = _ask(model, path, options, ALL)
    return NumberScorer(*asked, low=float(numbers.min()), high=float(numbers.max()), pick=pick)


_open_models: WeakValueDictionary[tuple[str, int, int], TextClassifier] = WeakValueDictionary()


def _open_model(path: str) -> TextClassifier:
    """The classifier of a file, that of another rule where one is about the same."""
    status = Path(path).stat() if Path(path).is_file() else None
    if status is None:
        return load_classifier(path)
    key = (path, status.st_ino, status.st_mtime_ns)
    model = _open_models.get(key) or load_classifier(path)
    _open_models[key] = model
    return model


def _ask(
    model: TextClassifier, path: str, options: ScorerOptions, k: int
) -> tuple[Callable[[list[bytes]], LabelAnswers], TextClassifier | None]:
    """What a ModelScorer asks, and the model where all rules about it ask the same: one with several questions, which
    answers all of each document."""
    several = len(model.questions) > 1
    words_of, k = _words_for(path, options.tokenize), ALL if several else k

    def ask(texts: list[bytes]) -> LabelAnswers:
        return answer_units(model, words_of(texts), options.unit, options.flatten, k)

    return ask, model if several else None


def _of_labels(subject: str, options: ScorerOptions, *, unknown_is_zero: bool) -> LabelScorer:
    """With `unknown_is_zero` a text without a word that the model knows has no language; fastText answers by the row of
    its line end, as classifiers of other things do."""
    path, named = split_subject(subject)
    if not named:
        message = f"{subject!r}: expected MODEL:LABEL, such as lid.176.ftz:en"
        raise UsageError(message)
    model = _open_model(path)
    every, chosen = _named_labels(model, named, path)

    def pick(answered: LabelAnswers) -> tuple[Scores, NDArray[np.int32]]:
        valid = np.arange(answered.labels.shape[1]) < answered.found[:, None]
        of_chosen = np.where(valid & np.isin(answered.labels, chosen), answered.probabilities, np.float32(0))
        best: Scores = of_chosen.max(axis=1, initial=np.float32(0)).astype(np.float32)
        if unknown_is_zero:
            best = np.where(answered.seen[:, 1] > 0, best, np.float32(0))
        labels = np.take_along_axis(answered.labels, of_chosen.argmax(axis=1)[:, None], axis=1)[:, 0]
        return best, np.where(best > 0, labels, np.int32(-1))

    asked = _ask(model, path, options, 1) if every else _ask(model.among(chosen), path, options, ALL)
    values = [value_of(label.removeprefix(each.prefix)) for each in model.questions for label in each.labels]
    return LabelScorer(*asked, labels=values, pick=pick)


def _named_labels(model: TextClassifier, named: str, path: str) -> tuple[bool, NDArray[np.int32]]:
    """(whether these are all labels of a question, their numbers). Raises UsageError for labels that the model has not,
    and for those of several questions, whose probabilities do not compare."""
    known = {label.removeprefix(model.label_prefix): number for number, label in enumerate(model.labels)}
    # Values of fields may be written as they are there, with blanks.
    written = {**{value_of(label): number for label, number in known.items()}, **known}
    every = {f"{each.name}={_ANY}" if each.name else _ANY: each for each in model.questions}
    if named == _ANY and named not in known and named not in every:
        raise UsageError(f"{path}: answers several questions; name one, such as {path}:{next(iter(every))}")
    if named not in known and (question := every.get(named)):
        return True, np.arange(question.first, question.first + len(question.labels), dtype=np.int32)
    chosen = np.array([written[label] for label in _labels(named, written, model, path)], np.int32)
    asked = {each.name for each in model.questions for label in chosen if 0 <= label - each.first < len(each.labels)}
    if len(asked) > 1:
        names = " and ".join(each.name for each in model.questions if each.name in asked)
        raise UsageError(f"{path}: expected labels of one question, found those of {names}; give each a rule")
    return False, chosen


def _labels(named: str, known: Collection[str], model: TextClassifier, path: str) -> list[str]:
    """The labels of a list with commas, which labels may hold, too: each is as long as one that the model has. Raises
    UsageError for one that it has not, with those of the question that it names."""
    parts, found = named.split(","), []
    questions = [each.name for each in model.questions if each.name]
    while parts:
        ends = range(len(parts), 0, -1)
        labels = [",".join(parts[:end]).removeprefix(model.label_prefix) for end in ends]
        label = next((label for label in labels if label in known), None)
        if label is None:
            values = [*dict.fromkeys(map(value_of, known))]
            own = [each for each in values if each.startswith(labels[-1].partition("=")[0] + "=")] if questions else []
            near = difflib.get_close_matches(labels[-1], own or values, n=3) or (own or values)[:5]
            asked = f"; its questions: {', '.join(questions)}" if questions and not own else ""
            raise UsageError(f"{path}: has no label {labels[-1]!r}; labels like it: {', '.join(near)}{asked}")
        found.append(label)
        parts = parts[label.count(",") + 1 :]
    return found


def _words_for(path: str, asked: str | None) -> Cut:
    return open_cutter(recipe_of_model(path, asked)) or (lambda texts: texts)


def _as_scores(perplexities: NDArray[np.float64]) -> Scores:
    """Infinite beyond float32, as of a text of words to which an ARPA file gives the probability 0."""
    with np.errstate(over="ignore"):
        return perplexities.astype(np.float32)


def perplexity(subject: str, options: ScorerOptions) -> Scorer:
    """`MODEL`: the perplexity by a language model of words, or with a tokenizer of pieces. By these an empty text has
    NaN, which no rule keeps."""
    from wv_cli.lm.files import load
    from wv_cli.lm.perplexities import DocumentScorer, WordScorer
    from wv_cli.lm.pieces import Pieces

    if options.tokenizer is None:
        by_words, words_of = WordScorer(load(subject), subject), _words_for(subject, options.tokenize)

        def score(texts: list[bytes]) -> Scores:
            parts, starts = divide(words_of(texts), options.unit)
            return _as_scores(by_words.perplexities(flatten(parts, options.flatten), starts))

        return score
    scorer = DocumentScorer(load(subject), Pieces(options.tokenizer), options.perplexity_of)
    return lambda texts: _as_scores(scorer.perplexities(text.decode("utf-8", "replace") for text in texts))
