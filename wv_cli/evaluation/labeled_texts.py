"""The labeled texts that a classifier is scored on: their labels stand in lines, or in fields of records."""

from collections.abc import Callable, Sequence

from wv_cli.errors import UsageError
from wv_cli.models.text_classifier import Question, TextClassifier
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.labels import LabelFields, value_of
from wv_cli.vectors.recognize import input_texts


def labeled_texts(
    inputs: Sequence[str],
    classifier: TextClassifier,
    fields: Sequence[str],
    reading: ReadingConfig,
    log: Callable[[str], None],
) -> Texts:
    """The lines of files with their labels, or with `fields` their records with the labels that these have. Raises
    UsageError for fields that the questions of the classifier do not fit, and for labels of an unknown prefix."""
    several = len(classifier.questions) > 1
    for name in fields if several else ():
        classifier.question(name)
    if len(fields) > 1 and not several:
        raise UsageError(f"{classifier.name}: answers one question; give one --label-field")
    for question in classifier.questions if fields else ():
        question.require_prefix()
    labels = LabelFields(fields, classifier.label_prefix, several) if fields else None
    return input_texts(inputs, log=log, reading=reading, labels=labels)


def no_line(question: Question, fields: Sequence[str]) -> str:
    """Why a question of a file has no score, and what to do. `fields` are those of labeled_texts()."""
    fault, label = "no line has both a label and a word that the model knows", question.labels[0]
    if fields:
        value = value_of(label.removeprefix(question.prefix))
        return f"{fault}; labels are the values of the fields of --label-field, and the model has {value!r}"
    way = "or --label-field names the fields of records with them"
    return f"{fault}; a line begins with its labels, such as {label}, {way}"
