"""One run of `wv predict`: what a classifier says of every line of texts, as lines of bytes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from wv_cli.cluster.dask_cluster import dask_cluster
from wv_cli.cluster.inputs import refuse_for_cluster
from wv_cli.cluster.ranks import joined
from wv_cli.engine.saved_run import Say
from wv_cli.formats.fasttext_bin import load_model
from wv_cli.formats.recognise import texts
from wv_cli.models.classifier import Answered, Classifier
from wv_cli.models.config import PredictConfig
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import require_size, shards, size_of
from wv_cli.text.source import Source

SHARD_BYTES = 1 << 22  # of text that a task answers: some seconds of work


@dataclass(frozen=True, kw_only=True)
class PredictionRun:
    """`model` is the file of a classifier; answers are shown as fastText shows them, with `prob` with probabilities, or
    `as_json` as objects. With `dask`, the address of a scheduler, its workers predict."""

    model: str
    inputs: tuple[str, ...]
    config: PredictConfig
    prob: bool = False
    as_json: bool = False
    dask: str | None = None

    def answers(self, say: Say) -> Iterator[bytes | memoryview]:
        """The answers to many lines at a time, in order. Raises WvError and its kin, for `inputs` before `model`."""
        asked = texts(self.inputs, note=say, force=self.config.force_text)
        if self.dask is None:
            source = Source(asked)
            yield from self._shown(source, Classifier(load_model(self.model), self.model))
            return
        refuse_for_cluster(self.dask, joined())
        divided = [asked.only(shard) for shard in shards(expand_inputs(asked), SHARD_BYTES, whole_lines=True)]
        run = replace(self, model=str(Path(self.model).absolute()))
        task = partial(_answers_of_shard, run, size_of(self.model))
        with dask_cluster(self.dask, say, same_kernels=True) as cluster:
            yield from cluster.mapped("predict", task, divided)
            cluster.everywhere(_forget)

    def _shown(self, source: Source, classifier: Classifier) -> Iterator[bytes | memoryview]:
        config = self.config
        names = list(classifier.labels) if self.as_json else []
        for answered in classifier.answers(source, config.k, config.threshold, config.threads):
            if self.as_json:
                yield "".join(_objects(answered, names)).encode()
            else:
                yield answered.lines(classifier.labels, self.prob)


def _answers_of_shard(run: PredictionRun, size: int, asked: Texts) -> bytes:
    require_size(run.model, size)
    status = Path(run.model).stat()
    classifier = _classifier(run.model, (status.st_ino, status.st_size, status.st_mtime_ns))
    return b"".join(run._shown(Source(asked), classifier))


@lru_cache(maxsize=1)
def _classifier(path: str, version: tuple[int, ...]) -> Classifier:
    """Of the model that is there now, which a worker needs for many shards."""
    return Classifier(load_model(path), path)


def _forget() -> None:
    _classifier.cache_clear()


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
