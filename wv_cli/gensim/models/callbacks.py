"""gensim's base of callbacks, which are told of a training."""

from typing import Any


class CallbackAny2Vec:
    """Base of callbacks. Every method gets the model, whose vectors are those of the moment."""

    def on_train_begin(self, model: Any) -> None:
        """Before the first epoch."""

    def on_epoch_begin(self, model: Any) -> None:
        """Before an epoch."""

    def on_epoch_end(self, model: Any) -> None:
        """After an epoch, with no thread running."""

    def on_train_end(self, model: Any) -> None:
        """After the last epoch."""
