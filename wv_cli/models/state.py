"""States: what a finished run leaves so that its model can go on with other text, in one file.

A container (wv_cli.system.container) of the kind "state" with the header

    {"model": name, "config": {...}, "vocabulary_config": {...}, "lines": N, "tokens_read": N, "trained": X, "lr": X,
     "wv": version}

and the arrays `words` (the letters, end to end), `starts`, `counts`, `input`, `output` and what else the model learns.
A checkpoint (wv_cli.engine.checkpoint) is of a run that is not over and belongs to one text; a state belongs to none.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import __version__
from wv_cli.system import container, memory
from wv_cli.system.input import open_input
from wv_cli.text.vocab import MOST_COUNTED, Vocab
from wv_cli.words import WordList

Arrays = Mapping[str, NDArray[Any]]

_KIND = "state"
_WORDS: container.Layout = {"words": ("|u1", ("letters",)), "starts": ("<i8", ("ends",)), "counts": ("<i8", ("words",))}
_MOST_TRAINED, _MOST_LR = 1e30, 1000
_LARGEST = 1e18  # of a row's numbers: their products are finite


@dataclass(frozen=True)
class StateOptions:
    """How a state was made: `model` is its name among the models, `config` and `vocab_config` are the options by the
    names of their fields. `trained` is the number of tokens learnt from, those of every epoch; `lr` what the learning
    rate was when none had been."""

    model: str
    config: dict[str, Any]
    vocab_config: dict[str, Any]
    trained: float
    lr: float

    def lr_after(self, tokens: int, share: float) -> float:
        """The learning rate at which `tokens` more (those of every epoch) begin, when it falls to nothing from the
        first token of the state to the last of these, and of the state's only `share` are counted."""
        return self.lr * tokens / max(1.0, tokens + share * self.trained)


@dataclass(frozen=True, eq=False)
class State:
    """`arrays` are what the model has learnt, without the words and their counts, which are `vocab`."""

    options: StateOptions
    vocab: Vocab
    arrays: Arrays = field(default_factory=dict)


def save_state(path: str, state: State) -> None:
    """Writes a state whole or not at all. Raises WvError."""
    vocab, options = state.vocab, state.options
    header = {
        "model": options.model,
        "config": options.config,
        "vocabulary_config": options.vocab_config,
        "lines": vocab.lines,
        "tokens_read": vocab.tokens_read,
        "trained": options.trained,
        "lr": options.lr,
        "wv": __version__,
    }
    letters = np.frombuffer(vocab.words.blob, np.uint8)
    starts = vocab.words.starts - vocab.words.starts[0]
    container.save(path, _KIND, header, {"words": letters, "starts": starts, "counts": vocab.counts, **state.arrays})


def read_options(path: str) -> StateOptions:
    """What a state says of itself, before it is read. Raises BadFile, WvError."""
    with open_input(path, "a state") as source:
        return _options(container.Reader(source, _KIND))


def read_state(path: str, layout: container.Layout) -> State:
    """Reads a state of a model whose arrays are `layout`; in it the size "words" is that of the vocabulary, and the
    other sizes are for the model to check. Raises BadFile for another file, or one that is damaged, WvError when it
    cannot be read."""
    with open_input(path, "a state") as source:
        reader = container.Reader(source, _KIND)
        options = _options(reader)
        lines = reader.fact("lines", int, 0, MOST_COUNTED)
        tokens = reader.fact("tokens_read", int, 0, MOST_COUNTED)
        sizes = reader.expect({**_WORDS, **layout}, "a state of this model")
        if sizes["ends"] != sizes["words"] + 1:
            reader.refuse(f"expected {sizes['words'] + 1:,} ends of words, found {sizes['ends']:,}: words are missing")
        memory.require(reader.offset(None), "reading the state", "train on a machine with more")
        arrays = reader.read()
        words, counts = _words(reader, arrays.pop("words"), arrays.pop("starts")), arrays.pop("counts")
        if counts.min() < 1 or np.any(np.diff(counts) > 0) or float(counts.sum(dtype=np.float64)) > MOST_COUNTED:
            reader.refuse("the counts are no counts of words, the most frequent first", reader.offset("counts"))
        reader.require_finite({name: array for name, array in arrays.items() if array.dtype.kind == "f"}, _LARGEST)
        return State(options, Vocab(words, counts, lines, tokens), arrays)


def _options(reader: container.Reader) -> StateOptions:
    return StateOptions(
        model=reader.fact("model", str),
        config=reader.fact("config", dict),
        vocab_config=reader.fact("vocabulary_config", dict),
        trained=reader.fact("trained", float, 0, _MOST_TRAINED),
        lr=reader.fact("lr", float, 0, _MOST_LR),
    )


def _words(reader: container.Reader, letters: NDArray[np.uint8], starts: NDArray[np.int64]) -> WordList:
    """Raises BadFile unless they are different words of a text."""
    if len(starts) < 3 or starts[0] != 0 or starts[-1] != len(letters) or np.any(np.diff(starts) < 1):
        reader.refuse("expected where each of several words begins, found other numbers", reader.offset("starts"))
    words = WordList(letters.tobytes(), starts)
    if not words.is_a_vocabulary():
        problem = "expected different words, found one twice or one that no text can hold"
        reader.refuse(problem, reader.offset("words"))
    return words
