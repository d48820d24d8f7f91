"""`wv predict`: predicts the labels of every line of texts with a classifier. commands/predict_run.py has the work."""

from dataclasses import dataclass, field
from typing import ClassVar

from wv_cli.commands.distribution import refuse_with_dask
from wv_cli.commands.job import Job
from wv_cli.commands.parts.prediction import Answers, AskedTexts
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import require
from wv_cli.models.prediction_config import PredictConfig
from wv_cli.text.input_files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class PredictJob(Job):
    """Predict the labels of every line of INPUT: text files, folders, or - for standard input, plain or compressed.

    MODEL is a fastText classifier (.bin or .ftz), made by `wv train --model supervised` or by fastText.

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
        from wv_cli.commands.predict_run import PredictRun

        return None, PredictRun(run, self.asked, self.answers, self.config).finish()
