"""One number for a fastText model, to see what making it smaller costs: precision of the first label for a classifier,
Spearman's correlation with people's judgements for word vectors. Not a report: those, with intervals and tests, are
made by the tasks of wv_cli.evaluation."""

from collections.abc import Sequence

import numpy as np

from wv_cli.errors import WvError
from wv_cli.evaluation.labeled_texts import no_line
from wv_cli.evaluation.similarity import read_pairs
from wv_cli.models.text_classifier import TextClassifier
from wv_cli.text.inputs import Texts
from wv_cli.text.source import Source
from wv_cli.vectors.correlation import spearman
from wv_cli.vectors.fasttext import FastTextModel
from wv_cli.words import WordList


def precision_at_1(classifier: TextClassifier, texts: Texts) -> float:
    """The share of the lines of labeled_texts() with a known label for which the first answer is one of their labels,
    as fastText's `test` counts; of several questions, all that the texts have labels of together. Raises WvError when
    there is nothing to score."""
    lines = right = 0
    answers = classifier.answers(Source(texts))
    for answered in (every.to(question) for every in answers for question in classifier.questions):
        counts = np.diff(answered.true_starts)
        line = np.repeat(np.arange(len(counts)), counts)
        scored = (counts > 0) & (answered.found > 0)
        hits = np.bincount(
            line, answered.true_labels == np.repeat(answered.labels[:, 0], counts), minlength=len(counts)
        )
        lines += int(scored.sum())
        right += int((hits[scored] > 0).sum())
    if not lines:
        fields: Sequence[str] = texts.labels.names if texts.labels is not None else ()
        several = len(classifier.questions) > 1
        question = classifier.question(fields[0]) if fields and several else classifier.questions[0]
        raise WvError(f"{', '.join(texts.inputs)}: {no_line(question, fields)}")
    return right / lines


def correlation(model: FastTextModel, path: str) -> float:
    """The rank correlation of cosines of word vectors with the scores of the pairs in `path`. Words that are not known,
    as written or in lower case, have the vector of their n-grams. Raises WvError when there is nothing to score,
    BadFile for a file of pairs that is none."""
    pairs = read_pairs(path)
    left, right = (
        model.word_vectors(_spellings(model, [pair[side] for pair in pairs.words])).astype(np.float64)
        for side in (0, 1)
    )
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    cosines = np.einsum("ij,ij->i", left, right) / np.where(norms > 0, norms, 1)
    result = spearman(cosines, pairs.gold)
    if not np.isfinite(result):
        message = f"{path}: no correlation: fewer than two pairs, or all alike"
        raise WvError(message)
    return result


def _spellings(model: FastTextModel, words: list[str]) -> list[str]:
    """The words as the model knows them; those it does not know, as written."""
    lower = [word.lower() for word in words]
    written, lowered = (model.words.find_all(WordList.from_words(each)) for each in (words, lower))
    return [lower[i] if written[i] < 0 <= lowered[i] else word for i, word in enumerate(words)]
