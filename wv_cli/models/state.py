"""States: what a finished run leaves so that its model can go on with other text, in one file.

A container (wv_cli.system.container) of the kind "state" with the header

    {"model": name, "config": {...}, "vocabulary_config": {...}, "lines": N, "tokens_read": N, "trained": X, "lr": X,
     "wv": version}

and the arrays `words` (the letters, end to end), `word_starts`, `word_counts`, for a classifier the same three of its
labels, `input`, `output` and what else the model learns.
A checkpoint (wv_cli.engine.checkpoint) is of a run that is not over and belongs to one text; a state belongs to none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
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
    """`arrays` are what the model has learnt; the words and their counts are `vocab`, a classifier's labels
    `labels`."""

    options: StateOptions
    vocab: Vocab
    arrays: Arrays
    labels: Vocab | None = None


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
    listed = {**_listed("word", vocab), **(_listed("label", state.labels) if state.labels is not None else {})}
    container.save(path, _KIND, header, {**listed, **state.arrays})


def read_options(path: str) -> StateOptions:
    """What a state says of itself, before it is read. Raises BadFile, WvError."""
    with open_input(path, "a state") as source:
        return _options(container.Reader(source, _KIND))


def read_state(path: str, layout: container.Layout, *, labelled: bool = False) -> State:
    """Reads a state of a model whose arrays are `layout`, and which has labels if it is `labelled`; in the layout the
    sizes "words" and "labels" are how many there are, and other sizes are for the model to check. Raises BadFile for
    another file, or one that is damaged, WvError when it cannot be read."""
    with open_input(path, "a state") as source:
        reader = container.Reader(source, _KIND)
        options = _options(reader)
        lines = reader.fact("lines", int, 0, MOST_COUNTED)
        tokens = reader.fact("tokens_read", int, 0, MOST_COUNTED)
        lists = {**_layout("word"), **(_layout("label") if labelled else {})}
        sizes = reader.expect({**lists, **layout}, "a state of this model")
        for name in ("word", "label") if labelled else ("word",):
            many, ends = sizes[f"{name}s"], sizes[f"{name}_ends"]
            if ends != many + 1:
                reader.refuse(f"expected {many + 1:,} ends of {name}s, found {ends:,}: {name}s are missing")
        memory.require(reader.offset(None), "reading the state", "train on a machine with more")
        arrays = reader.read()
        vocab = _vocab(reader, arrays, "word", lines, tokens)
        labels = _vocab(reader, arrays, "label") if labelled else None
        learnt = {name: array for name, array in arrays.items() if name not in lists}
        floats = {name: array for name, array in learnt.items() if array.dtype.kind == "f"}
        reader.require_finite(floats, _LARGEST)
        return State(options, vocab, learnt, labels)


def _options(reader: container.Reader) -> StateOptions:
    return StateOptions(
        model=reader.fact("model", str),
        config=reader.fact("config", dict),
        vocab_config=reader.fact("vocabulary_config", dict),
        trained=reader.fact("trained", float, 0, _MOST_TRAINED),
        lr=reader.fact("lr", float, 0, _MOST_LR),
    )


def _layout(name: str) -> container.Layout:
    """Of a list of words or labels."""
    return {
        f"{name}s": ("|u1", (f"{name}_letters",)),
        f"{name}_starts": ("<i8", (f"{name}_ends",)),
        f"{name}_counts": ("<i8", (f"{name}s",)),
    }


def _listed(name: str, vocab: Vocab) -> dict[str, NDArray[Any]]:
    words = vocab.words[:]  # from the beginning of its letters
    letters = np.frombuffer(words.blob, np.uint8)
    return {f"{name}s": letters, f"{name}_starts": words.starts, f"{name}_counts": vocab.counts}


def _vocab(reader: container.Reader, arrays: Arrays, name: str, lines: int = 0, tokens: int = 0) -> Vocab:
    """The list that _listed() wrote. Raises BadFile unless its words are different ones of a text, two at least, and
    its counts those of words."""
    letters, starts, counts = (arrays[f"{name}{part}"] for part in ("s", "_starts", "_counts"))
    if len(counts) < 2 or starts[0] != 0 or starts[-1] != len(letters) or np.any(np.diff(starts) < 1):
        problem = f"expected where each of several {name}s begins, found other numbers"
        reader.refuse(problem, reader.offset(f"{name}_starts"))
    words = WordList(letters.tobytes(), starts)
    if not words.is_a_vocabulary():
        problem = f"expected different {name}s, found one twice or one that no text can hold"
        reader.refuse(problem, reader.offset(f"{name}s"))
    if counts.min() < 1 or np.any(np.diff(counts) > 0) or float(counts.sum(dtype=np.float64)) > MOST_COUNTED:
        problem = f"expected counts of {name}s, the most frequent first, found other numbers"
        reader.refuse(problem, reader.offset(f"{name}_counts"))
    return Vocab(words, counts, lines, tokens)
