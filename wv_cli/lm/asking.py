"""What all language models answer, whatever they are made of: the words they list, and how probable events are.

`model.words` are those it lists, <unk>, <s> and </s> before all others. `model.scorer` has, for states that only the
model understands:

    begin(ends)                the state at the begin of a sentence; `ends` false: of a line that is none
    score(ids, state, ends)    (scores, lengths, the state behind them) of a stream of ids, from and as buffers
    all(state)                 log10 p of every word
"""

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from wv_cli.errors import UsageError

if TYPE_CHECKING:
    from wv_cli.lm.kenlm import KenlmModel
    from wv_cli.lm.model import Ngrams
    from wv_cli.lm.neural import NeuralModel, Normalizers

UNKNOWN, SENTENCE, SENTENCE_END = 0, 1, 2  # the ids of <unk>, <s> and </s> in every model
LanguageModel: TypeAlias = "Ngrams | KenlmModel | NeuralModel"


def take_unnormalized(model: LanguageModel, name: str) -> "NeuralModel":
    """The model with its scores taken for logarithms of probabilities as they are. Raises UsageError, about `name`, for
    one that was not trained for that."""
    from wv_cli.lm.neural import NeuralModel

    if isinstance(model, NeuralModel) and model.may_be_unnormalized:
        return replace(model, unnormalized=True)
    message = (
        f"--unnormalized: {name} was not trained by noise contrast (wv train --model nplm --loss nce): without the sum "
        "over all words its scores are no probabilities"
    )
    raise UsageError(message)


def count_normalizers(model: LanguageModel) -> LanguageModel:
    """The model, with the sums over all words of its scores (Normalizers) counted anew from here on where training by
    noise contrast has made them about 1."""
    from wv_cli.lm.neural import NeuralModel, Normalizers

    return replace(model, normalizers=Normalizers()) if isinstance(model, NeuralModel) else model


def normalizers_of(model: LanguageModel) -> "Normalizers | None":
    """None for a model of which there is nothing to say, or that was asked without them."""
    from wv_cli.lm.neural import NeuralModel

    if isinstance(model, NeuralModel) and model.may_be_unnormalized and model.normalizers.count:
        return model.normalizers
    return None
