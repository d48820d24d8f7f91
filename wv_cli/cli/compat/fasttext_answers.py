"""fastText's commands that ask a classifier: test, test-label, predict, predict-prob."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.cli.compat import Exit, abort, say, tell
from wv_cli.cli.compat.fasttext_args import answer_count, threshold
from wv_cli.cli.compat.fasttext_model import load, require_count

if TYPE_CHECKING:
    from wv_cli.evaluation.labels import Counts
    from wv_cli.vectors.fasttext import FastTextModel

_ARGUMENTS = """
  <k>          (optional; 1 by default) predict top k labels
  <th>         (optional; 0.0 by default) probability threshold
"""
_DATA = "\n  <model>      model filename\n  <test-data>  test data filename"
_USAGES = {
    "test": f"usage: fasttext test <model> <test-data> [<k>] [<th>]\n{_DATA} (if -, read from stdin){_ARGUMENTS}\n",
    "test-label": f"usage: fasttext test-label <model> <test-data> [<k>] [<th>]\n{_DATA}{_ARGUMENTS}\n",
    "predict": "usage: fasttext predict[-prob] <model> <test-data> [<k>] [<th>]\n"
    f"{_DATA} (if -, read from stdin){_ARGUMENTS}\n",
}


def test(words: Sequence[str]) -> int:
    asked = _Asked.read("test", words)
    _tell_totals(asked, asked.counts(), "{:.3g}")
    return 0


def test_label(words: Sequence[str]) -> int:
    from wv_cli.evaluation.labels import scores

    asked = _Asked.read("test-label", words)
    counts = asked.counts()
    for label, name in enumerate(asked.model.labels):
        precision, recall, f1 = scores(*(int(each[label]) for each in (counts.right, counts.predicted, counts.gold)))
        say(f"F1-Score : {_show(f1)}  Precision : {_show(precision)}  Recall : {_show(recall)}   {name}\n")
    _tell_totals(asked, counts, "{:.3f}")
    return 0


def predict(words: Sequence[str]) -> int:
    return _predict(words, prob=False)


def predict_prob(words: Sequence[str]) -> int:
    return _predict(words, prob=True)


@dataclass(frozen=True)
class _Asked:
    """MODEL DATA [K] [TH]."""

    model: "FastTextModel"
    path: str
    data: str
    k: int
    threshold: float

    @classmethod
    def read(cls, usage: str, words: Sequence[str]) -> "_Asked":
        """Shows the usage and raises Exit(1) for another number of words; aborts as fastText does."""
        if not 2 <= len(words) <= 4:
            tell(_USAGES[usage])
            raise Exit(1)
        k = answer_count(words[2]) if len(words) > 2 else 1
        least = threshold(words[3]) if len(words) > 3 else 0.0
        model, data = load(words[0]), words[1]
        if data != "-" and not Path(data).exists():
            tell(f"{'Input' if usage == 'predict' else 'Test'} file cannot be opened!\n")
            raise Exit(1)
        require_count(k, all_labels=True)
        return cls(model, words[0], data, k, least)

    def counts(self) -> "Counts":
        """Of a model without labels there is nothing to count."""
        from wv_cli.evaluation.labels import Counts, count
        from wv_cli.models.classifier import Classifier

        if not self.model.is_classifier:
            return Counts.none(0)
        return count(Classifier(self.model, self.path), [self.data], self.k, self.threshold, bare_end=True)


def _predict(words: Sequence[str], *, prob: bool) -> int:
    asked = _Asked.read("predict", words)
    if not asked.model.is_classifier:
        abort("Model needs to be supervised for prediction!")
    from wv_cli.models.classifier import Classifier
    from wv_cli.text.source import Source

    classifier = Classifier(asked.model, asked.path)
    for answered in classifier.answers(Source([asked.data], bare_end=True), asked.k, asked.threshold, bare_end=True):
        sys.stdout.buffer.write(answered.lines(classifier.labels, prob))
        sys.stdout.buffer.flush()  # who writes a line and waits for its labels must get them
    return 0


def _tell_totals(asked: _Asked, counts: "Counts", form: str) -> None:
    precision, recall, _ = counts.micro()
    shown = [form.format(number) for number in (precision, recall)]
    say(f"N\t{counts.lines}\nP@{asked.k}\t{shown[0]}\nR@{asked.k}\t{shown[1]}\n")


def _show(score: float) -> str:
    return "--------" if math.isnan(score) else f"{score:f}"
