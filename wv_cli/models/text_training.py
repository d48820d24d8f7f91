"""What the models of whole texts have in common in training: their blocks, and which checkpoints they go on with."""

from typing import Any, TypeVar

from wv_cli.engine.blocks import BlockTraining
from wv_cli.models.sentence_config import Doc2vecConfig, Sent2vecConfig
from wv_cli.text.corpus import Corpus

STEP_IDS = 20_000  # some 10 ms of work

TextConfig = TypeVar("TextConfig", Sent2vecConfig, Doc2vecConfig)


class TextTraining(BlockTraining[TextConfig]):
    """A model that is trained on `corpus` in blocks of STEP_IDS ids."""

    corpus: Corpus

    def __init__(self, config: TextConfig, corpus: Corpus) -> None:
        """Raises WvError for a corpus that cannot be trained on."""
        corpus.require_different_words()
        self.config, self.corpus = config, corpus

    def identity(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of threads may change."""
        return {**self.config.identity(), **self.corpus.identity}

    def schedule(self) -> dict[str, Any]:
        """See engine.saved_run.Savable."""
        return {"version": 1, "step_ids": STEP_IDS}
