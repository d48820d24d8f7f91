"""`wv predict`: predicts the labels of every line of texts with a classifier."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from wv_cli.formats.fasttext_bin import load_model
from wv_cli.formats.recognise import input_texts
from wv_cli.jobs.distribution import ask, refuse_with_dask
from wv_cli.jobs.job import Job
from wv_cli.jobs.part import Part
from wv_cli.jobs.run import Metadata, Run
from wv_cli.models.classifier import Answered, Classifier
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.system.output import open_output
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import shards
from wv_cli.text.source import Source

SHARD_BYTES = 1 << 22  # of text that a task answers: some seconds of work


@dataclass(frozen=True, kw_only=True)
class AskedTexts(Part):
    """The input of a prediction: the classifier in the file `model`, and texts whose lines are classified; with
    `dask`, the address of a scheduler, its workers predict."""

    model: str
    inputs: tuple[str, ...]
    dask: str | None = None

    def reads(self) -> list[str]:
        return [self.model, *self.inputs]


@dataclass(frozen=True, kw_only=True)
class Answers(Part):
    """The output file, with a line for each line of text: the labels, with `prob` their probabilities, or `as_json` an
    object."""

    CONDITIONS: ClassVar[dict[str, str]] = {"prob": "not as_json"}

    output: str = "-"
    prob: bool = False
    as_json: bool = False

    def results(self) -> list[str]:
        return [self.output]


@dataclass(frozen=True, kw_only=True)
class PredictJob(Job):
    """The job of `wv predict`. It writes no sidecars."""

    asked: AskedTexts
    config: PredictConfig = field(default_factory=PredictConfig)
    answers: Answers = field(default_factory=Answers)

    def check(self) -> None:
        refuse_with_dask(self.asked.dask)
        refuse_overwriting(self.asked.inputs, self.answers.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Answers many lines at a time, in order. Looks at the texts before the model is read."""
        asked, answers = self.asked, self.answers
        texts = input_texts(asked.inputs, log=run.log, written=[answers.output], force=self.config.force_text)
        asking = Prediction(asked.model, self.config, answers.prob, answers.as_json)
        with open_output(answers.output) as file:
            if asked.dask is None:
                file.writelines(asking.lines(Source(texts), asking.opened()))
            else:
                divided = [texts.only(shard) for shard in shards(expand_inputs(texts), SHARD_BYTES, whole_lines=True)]
                file.writelines(ask(asked.dask, run.log, "predict", asking, divided))
        return None, {}


@dataclass(frozen=True)
class Prediction:
    """Predictions by the classifier in `file`. Satisfies wv_cli.engine.asking.Asking."""

    file: str
    config: PredictConfig
    prob: bool = False
    as_json: bool = False

    def opened(self) -> Classifier:
        return Classifier(load_model(self.file), self.file)

    def answer(self, classifier: Classifier, asked: Texts) -> bytes:
        return b"".join(self.lines(Source(asked), classifier))

    def lines(self, source: Source, classifier: Classifier) -> Iterator[bytes | memoryview]:
        """Many lines at a time."""
        config = self.config
        names = list(classifier.labels) if self.as_json else []
        for answered in classifier.answers(source, config.k, config.threshold, config.threads):
            if self.as_json:
                yield "".join(_objects(answered, names)).encode()
            else:
                yield answered.lines(classifier.labels, self.prob)


def _objects(answered: Answered, names: list[str]) -> Iterator[str]:
    rows = zip(answered.labels.tolist(), answered.probabilities.tolist(), answered.found.tolist(), strict=True)
    for labels, probabilities, found in rows:
        facts = {
            "labels": [
                names[label].encode("utf-8", "surrogateescape").decode("utf-8", "replace") for label in labels[:found]
            ],
            "probabilities": [round(p, 6) for p in probabilities[:found]],
        }
        yield json.dumps(facts) + "\n"
