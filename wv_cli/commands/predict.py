"""`wv predict`: predicts the labels of every line of texts with a classifier."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.distribution import ask, refuse_with_dask
from wv_cli.commands.job import Job
from wv_cli.commands.parts.prediction import Answers, AskedTexts
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, require
from wv_cli.errors import UsageError
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.text.input_files import expand_inputs, refuse_overwriting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.filtering.units import LabelAnswers
    from wv_cli.models.text_classifier import Answered, Question, TextClassifier
    from wv_cli.text.inputs import Texts
    from wv_cli.text.records.reading import Column
    from wv_cli.text.records.writing import Answer, Asked
    from wv_cli.text.source import Source


@frozen
class PredictJob(Job):
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input, plain or compressed.

    MODEL is a fastText classifier (.bin or .ftz), made by `wv train --model supervised` or by fastText, or one of
    `wv train --model pooled`.

    Each line of input gives one line of output, in fastText's format. An empty line gets the labels that the model
    learned for line ends. A line of output is empty if the model knows nothing of the line, or if no label reaches
    --threshold. Labels in the input are skipped. With --number it is a number. A model of several questions answers
    each, one behind the other, and fields of --add have their names.

    With --dask, workers process parts of INPUT; the result is the same. Every worker needs this version of wv and
    the same files at the same paths.
    """

    JSON_HELP: ClassVar[str] = ""

    asked: AskedTexts
    answers: Answers = field(default_factory=Answers)
    config: PredictConfig = field(default_factory=PredictConfig)

    def check(self) -> None:
        refuse_with_dask(self.asked.dask)
        require(self.answers.add is None or self.asked.dask is None, "--add and --dask cannot be used together")
        refuse_overwriting(self.asked.inputs, self.answers.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        return None, PredictRun(run, self.asked, self.answers, self.config).finish()


ANSWER = "answer"  # as --unknown: what fastText says
SHARD_BYTES = 1 << 22  # of text that a task answers: some seconds of work


@dataclass(frozen=True)
class PredictRun:
    """One run over the texts that are `asked`."""

    run: Run
    asked: AskedTexts
    answers: Answers
    config: PredictConfig

    def finish(self) -> Metadata:
        """Answers and returns the number of lines or records. Looks at the texts before the model is read."""
        from wv_cli.io.output import open_output
        from wv_cli.text.source import Source
        from wv_cli.text.tokenizing import recipe_for
        from wv_cli.vectors.recognize import input_texts

        asked, answers = self.asked, self.answers
        config = replace(self.config, tokenize=recipe_for([asked.model], self.config.tokenize, self.run.log))
        texts = input_texts(
            asked.inputs, log=self.run.log, written=[answers.output], reading=config, one_line=answers.add is None
        )
        if answers.add is not None:
            return {"records": self._add(texts, answers.add)}
        asking = Prediction(asked.model, self.config, answers.prob, answers.as_json)
        count = 0
        with open_output(answers.output) as file:
            if asked.dask is None:
                found = asking.lines(Source(texts), asking.open(self.run.log))
            else:
                from wv_cli.text.parts import shards

                divided = [
                    texts.of_shard(shard) for shard in shards(expand_inputs(texts), SHARD_BYTES, whole_lines=True)
                ]
                if config.number:
                    asking.open(self.run.log)  # workers tell nothing
                found = ask(asked.dask, self.run.log, "predict", asking, divided)
            for lines in found:
                file.write(lines)
                count += bytes(lines).count(b"\n")
        return {"lines": count}

    def _add(self, texts: "Texts", name: str) -> int:
        """Writes the records again, with labels and their probabilities, or expected numbers, and the share of known
        words. Returns how many records there are."""
        from wv_cli.models.classifier import load_classifier
        from wv_cli.text.records.writing import CutTexts, add_answers

        config = self.config

        def open_answer() -> "tuple[tuple[str, ...], Answer]":
            classifier = load_classifier(self.asked.model)
            columns = _number_columns if config.number else _label_columns
            questions = classifier.number_questions(self.run.log) if config.number else [*classifier.questions]
            answer = partial(_columns, name, columns, classifier, questions, config, self.answers)
            return tuple(answer(CutTexts(0, []))), answer

        return add_answers(texts, self.answers.output, open_answer, config.threads)


def _columns(
    name: str,
    columns: "Callable[..., dict[str, Column]]",
    classifier: "TextClassifier",
    questions: "list[Question]",
    config: PredictConfig,
    answers: Answers,
    block: "Asked",
) -> "dict[str, Column]":
    """The fields that `--add NAME` adds for each of the questions: label and probability, or a number; and the share of
    words that the model knows. Of several questions fields have their names."""
    from wv_cli.filtering.units import answer_units
    from wv_cli.models.text_classifier import ALL
    from wv_cli.text.records.reading import Column

    every = config.number or len(classifier.questions) > 1
    k, threshold = (ALL, 0.0) if every else (config.k, config.threshold)
    answered = answer_units(classifier, block.each, answers.unit, answers.flatten, k, threshold)
    found: dict[str, Column] = {}
    for question in questions:
        own = f"{name}_{question.name}" if question.name else name
        own_answers = answered.to(question, ALL if config.number else config.k, config.threshold)
        more = columns(own, question, own_answers, config, answers)
        for clash in found.keys() & {*more, f"{name}_known"}:
            raise UsageError(
                f"{classifier.name}: its questions would add {clash} twice; train it on fields with other names"
            )
        found |= more
    seen, known = answered.seen.T
    return {**found, f"{name}_known": Column("number", _known_share(seen, known))}


def _number_columns(
    name: str, question: "Question", answered: "LabelAnswers", config: PredictConfig, answers: Answers
) -> "dict[str, Column]":
    """None in the place of the number of a text without a known word."""
    from wv_cli.text.records.reading import Column

    found = answered.expected_numbers(question.numbers).round(6).tolist()
    known = answered.seen[:, 1].tolist()
    expected = [number if words else None for number, words in zip(found, known, strict=True)]
    return {name: Column("number", expected)}


def _known_share(seen: "NDArray[np.int32]", known: "NDArray[np.int32]") -> list[float]:
    import numpy as np

    found: list[float] = np.round(known / np.maximum(seen, 1), 4).tolist()
    return found


def _label_columns(
    name: str, question: "Question", answered: "LabelAnswers", config: PredictConfig, answers: Answers
) -> "dict[str, Column]":
    import numpy as np

    from wv_cli.io.json_text import to_unicode
    from wv_cli.text.records.labels import value_of
    from wv_cli.text.records.reading import Column

    one = config.k == 1
    best: list[Any] = []
    scores: list[Any] = []
    labels = [to_unicode(value_of(label.removeprefix(question.prefix))) for label in question.labels]
    known = answered.seen[:, 1]
    found = np.where((known > 0) | (answers.unknown == ANSWER), answered.found, -1).tolist()
    for row, probabilities, count in zip(answered.labels.tolist(), answered.probabilities, found, strict=True):
        named = [labels[label] for label in row[:count]] if count >= 0 else [answers.unknown]
        shown = probabilities[:count] if count >= 0 else [0.0]
        best.append(named if not one else named[0] if named else None)
        scores.append(shown if not one else shown[0] if named else None)
    return {name: Column("text", best, many=not one), f"{name}_score": Column("number", scores, many=not one)}


@dataclass(frozen=True)
class Prediction:
    """Predictions by the classifier in `file`. Satisfies wv_cli.models.training.asking.Asking."""

    file: str
    config: PredictConfig
    prob: bool = False
    as_json: bool = False

    def open(self, log: Callable[[str], None] | None = None) -> "TextClassifier":
        """Raises UsageError where numbers are asked for and labels are none; `log` is told of questions where some
        labels are none."""
        from wv_cli.models.classifier import load_classifier

        classifier = load_classifier(self.file)
        if self.config.number:
            classifier.number_questions(log)
        return classifier

    def answer(self, classifier: "TextClassifier", asked: "Texts") -> bytes:
        from wv_cli.text.source import Source

        return b"".join(self.lines(Source(asked), classifier))

    def lines(self, source: "Source", classifier: "TextClassifier") -> Iterator[bytes | memoryview]:
        """Many lines at a time."""
        config = self.config
        if config.number:
            yield from self._number_lines(source, classifier)
            return
        names = list(classifier.labels) if self.as_json else []
        for answered in classifier.answers(source, config.k, config.threshold, config.threads):
            if self.as_json:
                yield "".join(_objects(answered, names)).encode()
            else:
                yield answered.lines(classifier.labels, self.prob)

    def _number_lines(self, source: "Source", classifier: "TextClassifier") -> Iterator[bytes]:
        """A line without a number has nothing that the model knows. Of several questions numbers have the names."""
        from wv_cli.io.json_text import to_json
        from wv_cli.models.text_classifier import ALL

        questions = classifier.number_questions()
        named = bool(questions[0].name)
        for answered in classifier.answers(source, ALL, threads=self.config.threads):
            columns = [answered.to(each).expected_numbers(each.numbers).round(6).tolist() for each in questions]
            for row in zip(*columns, strict=True):
                numbers = {
                    each.name or "number": number if number == number else None  # NaN is another number than itself
                    for each, number in zip(questions, row, strict=True)
                }
                if self.as_json:
                    yield (to_json({"numbers": numbers} if named else numbers) + "\n").encode()
                else:
                    known = [(name, number) for name, number in numbers.items() if number is not None]
                    yield (" ".join(f"{name}={n:.6g}" if named else f"{n:.6g}" for name, n in known) + "\n").encode()


def _objects(answered: "Answered", names: list[str]) -> Iterator[str]:
    from wv_cli.io.json_text import to_json

    rows = zip(answered.labels.tolist(), answered.probabilities.tolist(), answered.found.tolist(), strict=True)
    for labels, probabilities, found in rows:
        facts = {
            "labels": [names[label] for label in labels[:found]],
            "probabilities": [round(p, 6) for p in probabilities[:found]],
        }
        yield to_json(facts) + "\n"
