"""`wv predict`: predicts the labels of every line of texts with a classifier.."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.distribution import ask, refuse_with_dask
from wv_cli.commands.job import Job
from wv_cli.commands.parts.prediction import Answers, AskedTexts
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import require
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.text.input_files import expand_inputs, refuse_overwriting

if TYPE_CHECKING:
    from wv_cli.models.text_classifier import Answered, TextClassifier
    from wv_cli.text.inputs import Texts
    from wv_cli.text.records.reading import Column
    from wv_cli.text.records.writing import Answer, Asked
    from wv_cli.text.source import Source


@dataclass(frozen=True, kw_only=True)
class PredictJob(Job):
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input, plain or compressed.

    MODEL is a fastText classifier (.bin or .ftz), made by `wv train --model supervised` or by fastText, or one of
    `wv train --model pooled`.

    Each line of input gives one line of output, in fastText's format. An empty line gets the labels that the model
    learned for line ends. A line of output is empty if the model knows nothing of the line, or if no label reaches
    --threshold. Labels in the input are skipped.

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
                found = asking.lines(Source(texts), asking.open())
            else:
                from wv_cli.text.parts import shards

                divided = [
                    texts.of_shard(shard) for shard in shards(expand_inputs(texts), SHARD_BYTES, whole_lines=True)
                ]
                found = ask(asked.dask, self.run.log, "predict", asking, divided)
            for lines in found:
                file.write(lines)
                count += bytes(lines).count(b"\n")
        return {"lines": count}

    def _add(self, texts: "Texts", name: str) -> int:
        """Writes the records again, with labels, their probabilities and the share of known words. Returns their
        number."""
        from wv_cli.models.classifier import load_classifier
        from wv_cli.text.records.writing import add_answers

        config, names = self.config, added_names(name)

        def open_answer() -> "Answer":
            return partial(_columns, names, load_classifier(self.asked.model), config, self.answers)

        return add_answers(texts, self.answers.output, names, open_answer, config.threads)


def added_names(name: str) -> tuple[str, str, str]:
    """The fields that `--add NAME` adds: label, probability, and the share of words that the model knows."""
    return name, f"{name}_score", f"{name}_known"


def _columns(
    names: tuple[str, str, str], classifier: "TextClassifier", config: PredictConfig, answers: Answers, block: "Asked"
) -> "dict[str, Column]":
    import numpy as np

    from wv_cli.filtering.units import answer_units
    from wv_cli.io.json_text import to_unicode
    from wv_cli.text.records.reading import Column
    from wv_cli.vectors.fasttext import LABEL_PREFIX

    one, label, score = config.k == 1, names[0], names[1]
    best: list[Any] = []
    scores: list[Any] = []
    share: list[float] = []
    if block.count:
        answered = answer_units(classifier, block.each, answers.unit, answers.flatten, config.k, config.threshold)
        prefix = LABEL_PREFIX.decode()
        labels = [to_unicode(label.removeprefix(prefix)) for label in classifier.labels]
        seen, known = answered.seen.T
        found = np.where((known > 0) | (answers.unknown == ANSWER), answered.found, -1).tolist()
        for row, probabilities, count in zip(answered.labels.tolist(), answered.probabilities, found, strict=True):
            named = [labels[label] for label in row[:count]] if count >= 0 else [answers.unknown]
            shown = probabilities[:count] if count >= 0 else [0.0]
            best.append(named if not one else named[0] if named else None)
            scores.append(shown if not one else shown[0] if named else None)
        share = np.round(known / np.maximum(seen, 1), 4).tolist()
    return {
        label: Column("text", best, many=not one),
        score: Column("number", scores, many=not one),
        names[2]: Column("number", share),
    }


@dataclass(frozen=True)
class Prediction:
    """Predictions by the classifier in `file`. Satisfies wv_cli.models.training.asking.Asking."""

    file: str
    config: PredictConfig
    prob: bool = False
    as_json: bool = False

    def open(self) -> "TextClassifier":
        from wv_cli.models.classifier import load_classifier

        return load_classifier(self.file)

    def answer(self, classifier: "TextClassifier", asked: "Texts") -> bytes:
        from wv_cli.text.source import Source

        return b"".join(self.lines(Source(asked), classifier))

    def lines(self, source: "Source", classifier: "TextClassifier") -> Iterator[bytes | memoryview]:
        """Many lines at a time."""
        config = self.config
        names = list(classifier.labels) if self.as_json else []
        for answered in classifier.answers(source, config.k, config.threshold, config.threads):
            if self.as_json:
                yield "".join(_objects(answered, names)).encode()
            else:
                yield answered.lines(classifier.labels, self.prob)


def _objects(answered: "Answered", names: list[str]) -> Iterator[str]:
    from wv_cli.io.json_text import to_json

    rows = zip(answered.labels.tolist(), answered.probabilities.tolist(), answered.found.tolist(), strict=True)
    for labels, probabilities, found in rows:
        facts = {
            "labels": [names[label] for label in labels[:found]],
            "probabilities": [round(p, 6) for p in probabilities[:found]],
        }
        yield to_json(facts) + "\n"
