"""The table of evaluation tasks: name -> what it measures, its options, and the module whose `run` does it.

`wv eval` has one subcommand per row. A task's module has `run(vectors, data, config) -> Report`, where vectors is a
sequence of base.Vectors, data a sequence of paths and config an instance of the row's config class. Modules are
imported when they run.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from wv_cli.evaluation.base import Report, Vectors
from wv_cli.evaluation.config import (
    EVAL_HELP,
    STS_HELP,
    AnalogyConfig,
    EvalConfig,
    LabelsConfig,
    RetrievalConfig,
    StsConfig,
    TaskConfig,
)
from wv_cli.registry import Registry

__all__ = ["TASKS", "Report", "Task", "Vectors"]


@dataclass(frozen=True)
class Task:
    """`measure` is the number --min-score looks at, `scale` its range (lowest, highest); `data` says what a data file
    holds; `options` are the config's fields that are command-line options, with their help; `subject` is what is
    scored."""

    name: str
    summary: str
    measure: str
    scale: tuple[float, float]
    data: str
    module: str
    config: type[TaskConfig]
    options: dict[str, str]
    subject: str = "vectors"

    def run(self, vectors: Sequence[Vectors], data: Sequence[str], config: TaskConfig) -> Report:
        """Scores every vector file on every data file. Raises UsageError, BadFile and what loading raises."""
        config.validate()
        report: Report = importlib.import_module(self.module).run(vectors, data, config)
        return report


TASKS: Registry[Task] = Registry(
    "evaluation task",
    [
        (task.name, task)
        for task in [
            Task(
                "similarity",
                "Rank correlation of cosines with people's judgements of word pairs.",
                "spearman",
                (-1.0, 1.0),
                "`word word score` lines, separated by tabs, blanks, commas or semicolons, with or without a header",
                "wv_cli.evaluation.similarity",
                EvalConfig,
                EVAL_HELP,
            ),
            Task(
                "analogy",
                "Share of `a is to b as c is to ?` questions answered with the expected word.",
                "accuracy",
                (0.0, 100.0),
                "`a b c d` lines under `: section` headings, as in Google's questions-words.txt",
                "wv_cli.evaluation.analogy",
                AnalogyConfig,
                {
                    **EVAL_HELP,
                    "method": "3cosadd: the cosine with b - a + c; 3cosmul: their products (Levy & Goldberg 2014).",
                    "threads": "Threads of the search; 0 uses all processors.",
                },
            ),
            Task(
                "retrieval",
                "How many of the nearest words by exact cosine codes find again.",
                "map",
                (0.0, 100.0),
                "vectors, whose exact neighbours are the truth",
                "wv_cli.evaluation.retrieval",
                RetrievalConfig,
                {
                    "neighbours": "How many nearest words of a query are to be found.",
                    "at": "Recall counts those among the first so many.",
                    "queries": "Words asked, drawn from the data's; 0 asks all.",
                    "seed": "Random seed of the draw.",
                    "restrict_vocab": EVAL_HELP["restrict_vocab"],
                    "threads": "Threads of the search; 0 uses all processors.",
                },
            ),
            Task(
                "labels",
                "Precision, recall and F1 of a classifier's labels.",
                "f1",
                (0.0, 1.0),
                "lines with their labels, as a classifier is trained on",
                "wv_cli.evaluation.labels",
                LabelsConfig,
                {
                    "k": "Labels predicted per line, the best first; -1: all.",
                    "threshold": "Predict only labels at least this probable.",
                    "per_label": "A row for every label, too.",
                    "confusions": "Show so many of the pairs of labels most often taken for each other.",
                    "threads": "Threads that predict.",
                },
                "model",
            ),
            Task(
                "sts",
                "Rank correlation, x 100, of sentence vectors' cosines with people's judgements of sentence pairs.",
                "spearman",
                (-100.0, 100.0),
                "`sentence,sentence,score` CSV or TSV lines, with or without a header (STS benchmark, SICK), or are "
                "SemEval's STS.input files beside their STS.gs files",
                "wv_cli.evaluation.sts",
                StsConfig,
                STS_HELP,
            ),
        ]
    ],
)
