"""Several models of one text, trained one after the other in one run, whose vectors become one.

A run of an ensemble is the steps of its first model, then those of the second, and so on: it stops, is saved and goes
on as a run of one model does. Not here: how their vectors are joined (wv_cli.transforms.ensemble).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli.models.training.trainer import StepResult
from wv_cli.models.word2vec import Word2vec

Workers = dict[int, Any]  # of one thread: what it needs for the models that it has trained, by their number


class Ensemble:
    """Models whose text is cut into the same blocks. Satisfies wv_cli.models.training.saved_run.Savable."""

    def __init__(self, models: Sequence[Word2vec]) -> None:
        self.models = models
        self._ends = np.cumsum([model.steps for model in models])

    @property
    def steps(self) -> int:
        return int(self._ends[-1])

    @property
    def epochs(self) -> int:
        """Of all models together."""
        return sum(model.epochs for model in self.models)

    @property
    def epoch_steps(self) -> int:
        return self.models[0].epoch_steps

    def worker(self) -> Workers:
        return {}

    def train_step(self, step: int, worker: Workers) -> StepResult:
        """See models.training.trainer.Trainable."""
        number = int(np.searchsorted(self._ends, step, side="right"))
        model = self.models[number]
        if number not in worker:
            worker[number] = model.worker()
        return model.train_step(step - int(self._ends[number]) + model.steps, worker[number])

    def flush(self, worker: Workers) -> None:
        for number, each in worker.items():
            self.models[number].flush(each)

    def identity(self) -> Mapping[str, object]:
        return self._number_facts(lambda model: model.identity())

    def schedule(self) -> Mapping[str, object]:
        return self._number_facts(lambda model: model.schedule())

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        return self._number_facts(lambda model: model.arrays())

    def _number_facts(self, facts: Any) -> dict[str, Any]:
        """The facts of every model, by its number from 1."""
        return {
            f"{name} of model {number}": value
            for number, model in enumerate(self.models, 1)
            for name, value in facts(model).items()
        }
