"""Retraining of a pruned classifier, for `wv quantize` and the search for options."""

from collections.abc import Callable

from wv_cli.errors import Interrupted
from wv_cli.models.retraining import Retraining
from wv_cli.models.training.progress import Progress
from wv_cli.models.training.run import train
from wv_cli.models.training.threads import Threads
from wv_cli.text.input_files import Inputs
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.vectors.fasttext import FastTextModel


def retrainer(
    inputs: Inputs, config: QuantizeConfig, on_progress: Callable[[Progress], None] | None = None
) -> Callable[[FastTextModel], FastTextModel]:
    """The function with which wv_cli.transforms.quantize.quantize retrains on labeled texts. It raises WvError when
    the texts have no known label or the training diverges, Interrupted for a signal."""

    def retrain(model: FastTextModel) -> FastTextModel:
        training = Retraining(
            model, inputs, lr=config.lr, epochs=config.epochs, seed=config.seed, threads=config.threads
        )
        outcome = train(Threads(training, config.threads), on_progress=on_progress)
        if outcome.signal is not None:
            message = "stopped; nothing was written, start again"
            raise Interrupted(message, outcome.signal)
        return training.fasttext_model()

    return retrain
