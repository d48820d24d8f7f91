"""States: files with which a finished run can be continued on other text.

A container (wv_cli.io.container) of the kind "state" with the header

    {"model": name, "config": {...}, "vocabulary_config": {...}, "lines": N, "tokens_read": N, "trained": X, "lr": X,
     "texts": [digest, ...], "wv": version}

and the arrays `words` (the letters, end to end), `word_starts`, `word_counts`, for a classifier the same three of its
labels, `input`, `output` and what else the model learns; those of GloVe are in wv_cli.models.glove.state. A checkpoint
(wv_cli.models.training.checkpoint) is of a run that is not over and belongs to one text; a state belongs to none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wv_cli import __version__
from wv_cli.errors import WvError
from wv_cli.io import container, memory
from wv_cli.io.input import open_input
from wv_cli.text.vocab import MOST_COUNTED, Vocab
from wv_cli.words import WordList

Arrays = Mapping[str, NDArray[Any]]

KIND = "state"
_MOST_TRAINED, _MOST_LR = 1e30, 1000
_LARGEST = 1e18  # of a row's numbers: their products are finite


@dataclass(frozen=True)
class StateOptions:
    """How a state was made: `model` is its name among the models, `config` and `vocab_config` are the options by the
    names of their fields. `trained` is the number of tokens (GloVe's pairs) learnt from, those of every epoch; `lr`
    what the learning rate was when none had been. `texts` are the digests of the texts learnt, the last ones at the
    end."""

    model: str
    config: dict[str, Any]
    vocab_config: dict[str, Any]
    trained: float
    lr: float
    texts: tuple[str, ...] = ()

    def lr_after(self, tokens: int, fraction: float) -> float:
        """The learning rate at which `tokens` more (those of every epoch) begin, when it falls to nothing from the
        first token of the state to the last of these, and of the state's only `fraction` are counted."""
        return self.lr * tokens / max(1.0, tokens + fraction * self.trained)


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
    labels = list_arrays("label", state.labels) if state.labels is not None else {}
    arrays = {**list_arrays("word", state.vocab), **labels, **state.arrays}
    container.save(path, KIND, header_of(state.options, state.vocab), arrays)


def header_of(options: StateOptions, vocab: Vocab) -> dict[str, object]:
    """The part of a state's header that is not about arrays."""
    return {
        "model": options.model,
        "config": options.config,
        "vocabulary_config": options.vocab_config,
        "lines": vocab.lines,
        "tokens_read": vocab.tokens_read,
        "trained": options.trained,
        "lr": options.lr,
        "texts": list(options.texts),
        "wv": __version__,
    }


def read_options(path: str) -> StateOptions:
    """The options of a state, read before its arrays. Raises BadFile, WvError."""
    if path != "-" and not Path(path).exists():
        raise WvError(f"{path}: no such file; the first run leaves it: --save-state {path} without --continue")
    with open_input(path, "a state") as source:
        return options_of(container.Reader(source, KIND))


def read_state(path: str, layout: container.Layout, *, labeled: bool = False) -> State:
    """Reads a state of a model whose arrays are `layout`, and which has labels if it is `labeled`; in the layout the
    sizes "words" and "labels" are how many there are, and other sizes are for the model to check. Raises BadFile for
    another file, or one that is damaged, WvError when it cannot be read."""
    with open_input(path, "a state") as source:
        reader = container.Reader(source, KIND)
        options = options_of(reader)
        names = ("word", "label") if labeled else ("word",)
        lists = {key: value for name in names for key, value in list_layout(name).items()}
        reader.expect({**lists, **layout}, "a state of this model")
        memory.require(reader.offset(None), "reading the state", "train on a machine with more")
        arrays = reader.read()
        vocab = words_of(reader, arrays)
        labels = _list_of(reader, arrays, "label") if labeled else None
        learnt = {name: array for name, array in arrays.items() if name not in lists}
        floats = {name: array for name, array in learnt.items() if array.dtype.kind == "f"}
        reader.require_finite(floats, _LARGEST)
        return State(options, vocab, learnt, labels)


def options_of(reader: container.Reader) -> StateOptions:
    """The options in a state's header; states of earlier versions name no texts. Raises BadFile."""
    texts = reader.fact("texts", list) if "texts" in reader.header else []
    if not all(isinstance(text, str) for text in texts):
        reader.refuse("expected `texts` to be digests of texts, found others")
    return StateOptions(
        model=reader.fact("model", str),
        config=reader.fact("config", dict),
        vocab_config=reader.fact("vocabulary_config", dict),
        trained=reader.fact("trained", float, 0, _MOST_TRAINED),
        lr=reader.fact("lr", float, 0, _MOST_LR),
        texts=tuple(texts),
    )


def words_of(reader: container.Reader, arrays: Arrays) -> Vocab:
    """The vocabulary of which list_arrays() made three of the `arrays`. Raises BadFile unless its words are different
    ones of a text, two at least, and its counts those of words."""
    lines = reader.fact("lines", int, 0, MOST_COUNTED)
    return _list_of(reader, arrays, "word", lines, reader.fact("tokens_read", int, 0, MOST_COUNTED))


def list_layout(name: str) -> container.Layout:
    """The arrays of a list, of words or of labels, as list_arrays() makes them."""
    return {
        f"{name}s": ("|u1", (f"{name}_letters",)),
        f"{name}_starts": ("<i8", (f"{name}_ends",)),
        f"{name}_counts": ("<i8", (f"{name}s",)),
    }


def list_arrays(name: str, vocab: Vocab) -> dict[str, NDArray[Any]]:
    """The words of a vocabulary, or labels, and their counts as arrays."""
    words = vocab.words[:]  # from the beginning of its letters
    letters = np.frombuffer(words.blob, np.uint8)
    return {f"{name}s": letters, f"{name}_starts": words.starts, f"{name}_counts": vocab.counts}


def _list_of(reader: container.Reader, arrays: Arrays, name: str, lines: int = 0, tokens: int = 0) -> Vocab:
    letters, starts, counts = (arrays[f"{name}{part}"] for part in ("s", "_starts", "_counts"))
    if len(starts) != len(counts) + 1:
        many, ends = len(counts), len(starts)
        reader.refuse(f"expected {many + 1:,} ends of {name}s, found {ends:,}: {name}s are missing")
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
