"""The search for options of word vectors: search space and score of a trial; see jobs.trials.

What the vectors are asked in the end has the say in a search, so its data must not be what reports them. The size of
the vectors is not searched for: more numbers are nearly always better, and cost whoever uses them.
"""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from wv_cli.engine.run import Outcome, train
from wv_cli.engine.threads import Threads
from wv_cli.errors import UsageError
from wv_cli.jobs.trials import Choice, Number, Search, SearchPlan, Space, propose_options
from wv_cli.jobs.validation import Items
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.corpus import Corpus
from wv_cli.vectors.embeddings import Embeddings

SPACE: Space = (
    Choice(("model",), (("skipgram",), ("cbow",)), 1.0, 0.6),
    Choice(("minn", "maxn"), ((0, 0), (2, 5), (3, 6)), 1.4, 1.0),
    Number("window", 1, 30, 1.0, 0.5),
    Number("negative", 1, 50, 1.0, 0.5),
    Number("epochs", 1, 100, 1.0, 0.5),
    Number("lr", 1e-3, 1, 1.0, 0.5, digits=3),
    Number("sample", 1e-6, 1e-1, 3.0, 1.5, digits=3),
)
_TOGETHER = 3  # options that a trial changes: with all of them at once nearly every trial is worse than the best
_ATTEMPTS = 1000  # at a proposal that was not tried yet


def space_of(config: Word2vecConfig, given: Collection[str], named: Collection[str]) -> Space:
    """The search space of a run with `config`. Options that are `given` are fixed. Values with which one of the
    `named` options would have no effect are left out. Raises UsageError when nothing is left."""
    unused = () if LAYERS[config.loss].draws else ("negative",)
    free = [move for move in SPACE if not {*given, *unused} & set(move.names)]
    fitting = [replace(move, rows=_fitting(move, config, named)) if isinstance(move, Choice) else move for move in free]
    found = tuple(move for move in fitting if isinstance(move, Number) or len(move.rows) > 1)
    if not found:
        message = "--autotune-validation: all options that it searches for are given; leave one of them out"
        raise UsageError(message)
    return found


def _fitting(choice: Choice, config: Word2vecConfig, named: Collection[str]) -> tuple[tuple[Any, ...], ...]:
    def fits(row: tuple[Any, ...]) -> bool:
        chosen = replace(config, **dict(zip(choice.names, row, strict=True)))
        try:
            chosen.validate()
            chosen.reject_ineffective(named)
        except UsageError:
            return False
        return True

    return tuple(filter(fits, choice.rows))


@dataclass(frozen=True)
class Task:
    """The text, the validation data and the starting vectors `init` of all trials; a trial runs as many steps at once
    as `workers`. `require_space` raises WvError for a model of so many bytes that the disk has no room for, which is
    then not chosen."""

    corpus: Corpus
    items: Items
    init: str | None
    model: Callable[[Word2vecConfig], Word2vec]
    workers: int
    require_space: Callable[[int], None] = lambda size: None


class WordSearch(Search[Word2vecConfig]):
    """A search for the options of word vectors over one text."""

    def __init__(self, plan: SearchPlan, config: Word2vecConfig, space: Space, task: Task) -> None:
        """Raises WvError when the text has too few words of the data to be scored."""
        super().__init__(plan, config)
        self.space, self.task = space, task
        words = task.corpus.vocab.words
        random = np.random.default_rng(0).standard_normal((len(words), 2)).astype(np.float32)
        task.items.score(Embeddings(words, random), config.threads)

    @property
    def scores(self) -> tuple[float, float]:
        return self.task.items.scores

    def header(self) -> dict[str, Any]:
        options = {name: value for name, value in asdict(self.first).items() if name != "threads"}
        return {
            "autotune": 1,
            "validation": self.plan.validation,
            "task": self.task.items.task,
            "items": self.task.items.digest,
            "given": sorted({*self.plan.given} & {name for move in SPACE for name in move.names}),
            **self.task.corpus.identity,
            "init": self.task.init,
            "start": options,
        }

    def proposal(self, number: int, fraction: float) -> tuple[Word2vecConfig, int] | None:
        if number == 0:
            return self.first, 0
        best = self.first if self.best is None else self.best_options()
        tried = [replace(self.first, **trial.config) for trial in self.trials]
        random = np.random.default_rng((best.seed, number))
        values = {**asdict(best), "lr": best.start_lr}
        for _ in range(_ATTEMPTS):
            moves = random.choice(len(self.space), min(_TOGETHER, len(self.space)), replace=False)
            drawn = propose_options(tuple(self.space[move] for move in moves), values, (), random, fraction)
            config = replace(best, **drawn)
            if config not in tried:
                return config, 0
        return None

    def attempt(self, config: Word2vecConfig, dsub: int, seconds: float) -> tuple[float | None, Outcome]:
        model = self.task.model(config)
        self.task.require_space(sum(array.nbytes for array in model.arrays().values()))
        outcome = train(Threads(model, self.task.workers), max_seconds=seconds)
        if not outcome.finished:
            return None, outcome
        return self.task.items.score(model.embeddings(), config.threads), outcome

    def shown(self, score: float) -> str:
        return self.task.items.shown(score)

    def number(self, score: float) -> str:
        return f"{score:.2f}" if self.task.items.task == "analogy" else super().number(score)

    def metadata(self) -> dict[str, object]:
        return {"file": self.task.items.path, "task": self.task.items.task, **super().metadata()}
