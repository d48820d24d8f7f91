"""The table of evaluation tasks: name -> what it measures, its config, and the module whose `run` does it.

`wv eval` has one subcommand per row. A task's module has `run(vectors, data, config) -> Report`, where vectors is a
sequence of base.Vectors, data a sequence of paths and config an instance of the row's config class. Modules are
imported when they run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wv_cli.config import Options
from wv_cli.evaluation.base import Each, Report, Vectors
from wv_cli.evaluation.config import (
    AnalogyConfig,
    EvalConfig,
    LabelsConfig,
    PerplexityConfig,
    RetrievalConfig,
    SearchConfig,
    StsConfig,
    TranslationConfig,
    WicConfig,
)
from wv_cli.registry import Registry, load

__all__ = ["TASKS", "Report", "Task", "Vectors"]


@dataclass(frozen=True)
class Task:
    """`measure` is the number --min-score looks at, `scale` its range (lowest, highest); `data` says what a data file
    holds; the fields of `config` are its options; `subject` is what is scored, or besides and in its place what the
    options `others` name. Options `of_subject` mean nothing without a subject. `by_file`: the module's `run` takes an
    Each, by which it scores each file of vectors before it compares them."""

    name: str
    summary: str
    measure: str
    scale: tuple[float, float]
    data: str
    module: str
    config: type[Options]
    subject: str = "vectors"
    others: tuple[str, ...] = ()
    of_subject: tuple[str, ...] = ()
    by_file: bool = False

    def run(
        self, vectors: Sequence[Vectors], data: Sequence[str], config: Options, each: Each[Any] | None = None
    ) -> Report:
        """Scores every vector file on every data file; only where `by_file` may `each` be given. Raises UsageError,
        BadFile and what loading raises."""
        config.validate()
        how = {"each": each} if each is not None else {}
        report: Report = load(f"{self.module}:run")(vectors, data, config, **how)
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
                by_file=True,
            ),
            Task(
                "analogy",
                "Share of `a is to b as c is to ?` questions answered with the expected word.",
                "accuracy",
                (0.0, 100.0),
                "`a b c d` lines under `: section` headings, as in Google's questions-words.txt",
                "wv_cli.evaluation.analogy",
                AnalogyConfig,
                by_file=True,
            ),
            Task(
                "retrieval",
                "Share of the exact nearest words that a search in codes finds.",
                "map",
                (0.0, 100.0),
                "vectors, whose exact neighbors are the truth",
                "wv_cli.evaluation.retrieval",
                RetrievalConfig,
            ),
            Task(
                "translation",
                "Share of words with a translation among their nearest words in another language.",
                "p1",
                (0.0, 100.0),
                "`word translation` lines, one for each of a word's translations, as in MUSE's dictionaries",
                "wv_cli.evaluation.translation",
                TranslationConfig,
            ),
            Task(
                "labels",
                "Precision, recall and F1 of a classifier's labels.",
                "f1",
                (0.0, 1.0),
                "lines with their labels, as a classifier is trained on",
                "wv_cli.evaluation.labels",
                LabelsConfig,
                "model",
            ),
            Task(
                "perplexity",
                "How well language models predict a text.",
                "mean_log10",
                (-99.0, 0.0),
                "running text, a sentence a line",
                "wv_cli.evaluation.perplexity",
                PerplexityConfig,
                "model",
            ),
            Task(
                "search",
                "How well systems rank documents for queries.",
                "ndcg",
                (0.0, 1.0),
                "corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv (BEIR's layout), compressed or not",
                "wv_cli.evaluation.search",
                SearchConfig,
                others=("encoder", "bm25", "run"),
                of_subject=("restrict_vocab", "from_format"),
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
                others=("encoder", "sentence_vectors"),
                of_subject=("case", "subwords", "restrict_vocab", "stop_words", "from_format"),
            ),
            Task(
                "wic",
                "Accuracy of telling whether a word has the same meaning in two sentences.",
                "accuracy",
                (0.0, 100.0),
                "`word TAB N or V TAB i-j TAB sentence TAB sentence` lines in NAME.data.txt, and T or F lines in "
                "NAME.gold.txt (WiC). The numbers i and j are the positions of the word in the two sentences",
                "wv_cli.evaluation.wic",
                WicConfig,
                others=("hasher", "encoder"),
                of_subject=("subwords", "restrict_vocab", "window", "from_format"),
            ),
        ]
    ],
)
