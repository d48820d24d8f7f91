"""One run of `wv predict`: what a classifier says of every line of texts, as lines of bytes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from wv_cli.formats.fasttext_bin import load_model
from wv_cli.formats.recognise import input_texts
from wv_cli.models.classifier import Answered, Classifier
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.system.events import Log
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import shards
from wv_cli.text.source import Source

SHARD_BYTES = 1 << 22  # of text that a task answers: some seconds of work


@dataclass(frozen=True, kw_only=True)
class PredictionRun:
    """`file` is a classifier; answers are shown as fastText shows them, with `prob` with probabilities, or `as_json` as
    objects. Satisfies wv_cli.engine.asking.Asking."""

    file: str
    config: PredictConfig
    prob: bool = False
    as_json: bool = False

    def answers(self, inputs: tuple[str, ...], log: Log, dask: str | None = None) -> Iterator[bytes | memoryview]:
        """The answers to many lines at a time, in order; with `dask`, the address of a scheduler, by its workers.
        Raises WvError and its kin, for `inputs` before `file`."""
        asked = input_texts(inputs, log=log, force=self.config.force_text)
        if dask is None:
            source = Source(asked)
            yield from self._shown(source, self.opened())
            return
        from wv_cli.jobs.distribution import ask, refuse_with_dask

        refuse_with_dask(dask)
        divided = [asked.only(shard) for shard in shards(expand_inputs(asked), SHARD_BYTES, whole_lines=True)]
        yield from ask(dask, log, "predict", self, divided)

    def opened(self) -> Classifier:
        return Classifier(load_model(self.file), self.file)

    def answer(self, classifier: Classifier, asked: Texts) -> bytes:
        return b"".join(self._shown(Source(asked), classifier))

    def _shown(self, source: Source, classifier: Classifier) -> Iterator[bytes | memoryview]:
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
