"""`wv merge-models`: the mean of states that runs left which each trained a part of one text (`wv train --shard`).

The rows of all begin with the same numbers, but move so far from there that spaces turn. A model is the same after a
rotation of its input and output rows together, and so those of each state are turned to the first's by orthogonal
Procrustes on the most frequent words before they are averaged, each state counting by the words that it has trained.
What that is worth: suite `ranks` of the benchmarks. Tried by hand, without a record: two halves of a text answer fewer
analogies when they are averaged unturned.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wv_cli import formats
from wv_cli.config import flag_of
from wv_cli.engine.state import State, StateOptions, read_state, save_state
from wv_cli.errors import BadFile, UsageError
from wv_cli.formats import fasttext_bin
from wv_cli.jobs.growing import continued, state_of
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.layers import LAYERS
from wv_cli.models.subwords import Subwords, fasttext_model
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.config import VocabConfig
from wv_cli.transforms.align import mapped, procrustes, with_directions
from wv_cli.vectors.embeddings import Embeddings

MODELS = ("skipgram", "cbow")
_STATE = ".state"
_TURNED = ("input", "output")  # what is learnt besides, biases, has no direction
_ANCHORS = 10_000  # of the most frequent words; 2,000 and all do about as well


def is_state(path: str) -> bool:
    """Whether what is written to `path` is a state; else it is vectors or a model."""
    return path.endswith(_STATE)


def merge(paths: Sequence[str]) -> State:
    """The mean of the states at `paths`, in the space of the first, which says that it has trained the words of all.
    Raises UsageError for fewer than two, for a state with other options than the first and for one that is given twice;
    BadFile for one with other words, and what read_state raises."""
    if len(paths) < 2:
        message = f"{', '.join(paths) or 'nothing'}: one state has nothing to be merged with; give those of all shards"
        raise UsageError(message)
    told = [state_of(path, MODELS) for path in paths]
    for path, each in zip(paths, told, strict=True):
        _require_same_options(path, each, paths[0], told[0])
    trained = sum(each.trained for each in told)
    shares = [np.float32(each.trained / trained if trained else 1 / len(told)) for each in told]
    layout = Word2vec.state_layout(_config(paths[0], told[0]))
    first = read_state(paths[0], layout)
    learnt = [name for name, array in first.arrays.items() if array.dtype.kind == "f"]
    mean = {**first.arrays, **{name: first.arrays[name] * shares[0] for name in learnt}}
    seen = {_digest(first, learnt): paths[0]}
    for path, share in zip(paths[1:], shares[1:], strict=True):
        state = read_state(path, layout)
        if (state.vocab.digest, state.vocab.lines) != (first.vocab.digest, first.vocab.lines):
            problem = f"expected the words and counts of {paths[0]}, found others; train all shards with one --vocab"
            raise BadFile(path, problem)
        digest = _digest(state, learnt)
        if digest in seen:
            problem = f"{path}: has the numbers of {seen[digest]}, which would count twice"
            raise UsageError(f"{problem}; give the state of each shard once")
        seen[digest] = path
        rotation = _rotation(state, first)
        for name in learnt:
            rows = state.arrays[name]
            mean[name] += share * (mapped(rows, rotation) if name in _TURNED else rows)
    return State(replace(told[0], trained=trained), first.vocab, mean)


def _digest(state: State, learnt: Sequence[str]) -> bytes:
    """Of the numbers that a state has learnt."""
    digest = hashlib.blake2b(digest_size=16)
    for name in learnt:
        digest.update(state.arrays[name].data)
    return digest.digest()


def _rotation(state: State, first: State) -> NDArray[np.float64]:
    """What turns the rows of `state` to those of `first`, which has the same words."""
    one, other = state.arrays["input"], first.arrays["input"]
    words = np.arange(min(len(first.vocab), _ANCHORS))
    return procrustes(one, other, with_directions(one, other, np.stack([words, words], axis=1)))


def save(state: State, path: str, to: str | None) -> None:
    """Writes the state, or its vectors in the format `to` (default: by the name of the file), or with subwords and a
    name NAME.bin a fastText model. Raises WvError."""
    if is_state(path):
        save_state(path, state)
        return
    config = _config(path, state.options)
    words, rows = state.vocab.words, state.arrays["input"]
    subwords = Subwords.of(words, config)
    if fasttext_bin.is_model(path, to, subwords=config.maxn > 0):
        least = VocabConfig(**state.options.vocab_config).min_count
        model = fasttext_model(config, least, state.vocab, subwords, rows, state.arrays["output"])
        fasttext_bin.save_model(path, model)
        return
    formats.save(path, Embeddings(words, rows if subwords is None else subwords.means(rows)), format=to)


def require_writable(path: str, to: str | None, first: str) -> None:
    """Raises UsageError when what comes of the state `first` cannot be written to `path`; BadFile, WvError."""
    if is_state(path):
        if to is not None:
            raise UsageError(f"--to has no meaning for {path}, which will be a state")
        return
    config = _config(first, state_of(first, MODELS))
    if not fasttext_bin.is_model(path, to, subwords=config.maxn > 0):
        formats.format_for_output(path, to)
    elif LAYERS[config.loss].fasttext is None:
        raise UsageError(f"{path}: fastText's models know no --loss {config.loss}; write a .vec or a state")


def _config(path: str, told: StateOptions) -> Word2vecConfig:
    continued(path, told, Word2vecConfig, ())  # raises for options that no run can have
    return Word2vecConfig(**told.config)


def _require_same_options(path: str, told: StateOptions, first: str, expected: StateOptions) -> None:
    configs = [_config(each, options).identity() for each, options in ((path, told), (first, expected))]
    found, wanted = (
        {**config, **options.vocab_config} for config, options in zip(configs, (told, expected), strict=True)
    )
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            message = f"{path}: {flag_of(name)} is {found.get(name)}, in {first} it is {wanted.get(name)}"
            raise UsageError(f"{message}; merge states of runs with the same options")
