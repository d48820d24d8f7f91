"""Scores of word vectors after every epoch, on pairs or analogies: the best epoch is kept, and the run may end early.

The data choose what is kept: their score is no measure of the vectors, which other data must give. Whoever reports
says so. State that a stopped run needs is in the model's arrays, so that it goes on as if it had not been stopped.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wv_cli.commands.run import Metadata
from wv_cli.errors import WvError
from wv_cli.evaluation import TASKS, Vectors
from wv_cli.evaluation.analogy import read_questions
from wv_cli.evaluation.data import data_lines
from wv_cli.evaluation.similarity import read_pairs
from wv_cli.io import memory
from wv_cli.io.events import Log
from wv_cli.models.pairs import PairModel
from wv_cli.models.training.trainer import StepResult
from wv_cli.models.word2vec import Word2vec
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import split_words

AMONG = 30_000  # words: how word2vec's demo scripts ask analogies


@dataclass(frozen=True)
class Items:
    """The validation items: a file of analogies (`a b c d`, sections begin with `:`) or of pairs (`word word score`),
    told by what most of its first lines are."""

    path: str
    task: str
    digest: str

    @classmethod
    def read(cls, path: str) -> "Items":
        """Raises WvError for a file that cannot be read, BadFile for one that holds neither."""
        lines = data_lines(path)
        first = [line for line in lines[:100] if line.strip()]
        task = "analogy" if 2 * sum(map(_is_analogy, first)) > len(first) else "similarity"
        (read_questions if task == "analogy" else read_pairs)(path)
        text = "\n".join(lines).encode("utf-8", "surrogateescape")
        return cls(path, task, hashlib.blake2b(text, digest_size=16).hexdigest())

    def score(self, vectors: Embeddings, threads: int) -> float:
        """Analogies answered, in percent, among the first AMONG words, or Spearman's correlation. Raises WvError when
        there is no score: too few words of the data have vectors."""
        task = TASKS[self.task]
        protocol = {"restrict_vocab": AMONG, "threads": threads} if self.task == "analogy" else {}
        copy = Embeddings(vectors.words, np.array(vectors.matrix), vectors.subwords)
        report = task.run([Vectors("the vectors", lambda: copy)], [self.path], task.config(**protocol))
        score = report.scores[0][1]
        if math.isnan(score):
            raise WvError(f"{self.path}: cannot be scored: {report.unscored[0].partition(': ')[2]}")
        return score

    def score_text(self, score: float) -> str:
        return f"{score:.2f} % of the analogies" if self.task == "analogy" else f"Spearman {score:.4f}"


def _is_analogy(line: str) -> bool:
    fields = split_words(line)
    return line.startswith(":") or (len(fields) == 4 and not any(map(_is_number, fields)))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class Scorer(Protocol):
    """Scores a model's vectors: Items, or others that have `path`, `task` and `digest`."""

    @property
    def path(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def digest(self) -> str: ...
    def score(self, vectors: Embeddings, threads: int, /) -> float: ...
    def score_text(self, score: float, /) -> str: ...


class Validated:
    """A model whose best epoch is kept. Satisfies wv_cli.models.training.saved_run.Savable; `after_epoch` is what the
    run is given. `patience` N ends it after N epochs without a better score; 0 never does."""

    def __init__(self, model: Word2vec | PairModel, items: Scorer, patience: int, log: Log) -> None:
        """Scores the vectors as they begin: raises WvError when they cannot be scored, or when memory is too small for
        a second copy of the rows."""
        self.model, self.items, self.patience, self._log = model, items, patience, log
        rows = model.arrays()
        needed = sum(array.nbytes for array in rows.values())
        memory.require(needed, "--validation, which keeps the best epoch's rows", "lower --dim or raise --min-count")
        self._best = {name: np.zeros_like(array) for name, array in rows.items()}
        self._scores = np.zeros(model.epochs)
        self._scored = np.zeros(1, np.int64)
        items.score(model.embeddings(), model.config.threads)

    @property
    def scores(self) -> list[float]:
        """After each epoch so far."""
        return [float(score) for score in self._scores[: int(self._scored[0])]]

    @property
    def best_epoch(self) -> int:
        """From 1; the first of equals."""
        return int(np.argmax(self.scores)) + 1

    def after_epoch(self, epoch: int) -> bool:
        """Whether the run goes on (see training.run.train). An epoch that is scored already is not scored again."""
        if epoch > self._scored[0]:
            score = self.items.score(self.model.embeddings(), self.model.config.threads)
            self._scores[epoch - 1], self._scored[0] = score, epoch
            better = self.best_epoch == epoch
            if better:
                for name, array in self.model.arrays().items():
                    self._best[name][...] = array
            best = "" if better else f", the best was epoch {self.best_epoch}"
            self._log(f"epoch {epoch}: {self.items.score_text(score)}{best}", epoch=epoch, score=score, best=better)
        return not self.patience or epoch - self.best_epoch < self.patience

    def keep_best(self) -> Metadata:
        """The model's rows become those of the best epoch. Returns what the sidecar says."""
        for name, array in self.model.arrays().items():
            array[...] = self._best[name]
        scores, best = self.scores, self.best_epoch
        self._log(
            f"kept epoch {best} of {len(scores)}, {self.items.score_text(scores[best - 1])}; "
            f"{self.items.path} chose it: score the vectors on other data",
            kept_epoch=best,
            score=scores[best - 1],
        )
        return {"file": self.items.path, "task": self.items.task, "scores": scores, "kept_epoch": best}

    # What follows is the model's own, but for what is saved.

    @property
    def steps(self) -> int:
        return self.model.steps

    @property
    def epochs(self) -> int:
        return self.model.epochs

    @property
    def epoch_steps(self) -> int:
        return self.model.epoch_steps

    def worker(self) -> Any:
        return self.model.worker()

    def train_step(self, step: int, worker: Any) -> StepResult:
        return self.model.train_step(step, worker)

    def flush(self, worker: Any) -> None:
        self.model.flush(worker)

    def identity(self) -> Mapping[str, object]:
        return {**self.model.identity(), "validation": self.items.digest, "patience": self.patience}

    def schedule(self) -> Mapping[str, object]:
        return self.model.schedule()

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        best = {f"best_{name}": array for name, array in self._best.items()}
        return {**self.model.arrays(), **best, "scores": self._scores, "scored": self._scored}
