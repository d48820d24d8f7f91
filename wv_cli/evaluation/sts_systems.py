"""The ways to make sentence vectors that `wv eval sts` compares, and their cosines.

Vectors come of word vectors (wv_cli/transforms/sentences.py), of an encoder (wv_cli/encoders) or of a file of sentence
vectors made elsewhere; each may then be transformed (wv_cli/transforms/whiten.py). A transform given by name is fitted
on the vectors of sentences, never on scores: of the data scored, of other data (a training set), or of both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.errors import BadFile
from wv_cli.evaluation.config import StsConfig
from wv_cli.evaluation.data import composed_note
from wv_cli.evaluation.sts_data import SentencePairs
from wv_cli.text.vocab import Vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.sentences import sentence_vectors, word_rows
from wv_cli.transforms.whiten import FEWEST_ROWS, Transform, fit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.lookup import Lookup

METHODS: tuple[str, ...] = get_args(WhitenConfig.__annotations__["method"])
NONE = "-"
GIVEN = "given"  # the pooling of sentence vectors made elsewhere
OWN = "own"  # that of a model of texts
_KEEPS_EVERY_AXIS = ("zca", "abtt")


@dataclass(frozen=True)
class System:
    """One way to make sentence vectors of one source, and its cosines: values[i] and zero[i] (sentences without a
    vector, of each pair) belong to data set i."""

    vectors: str
    pooling: str
    after: str
    stop_words: str
    values: list[NDArray[np.float64]]
    zero: list[NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Material:
    """What every source is asked for: the sentences of the data sets that are scored, then those of `fit_sets`, to
    which transforms are fitted in the place of the former, or besides. `saved` are transforms by their files' names."""

    sets: Sequence[SentencePairs]
    fit_sets: Sequence[SentencePairs]
    config: StsConfig
    vocab: Vocab | None
    stop_list: frozenset[str]
    saved: dict[str, Transform]
    notes: list[str] = field(default_factory=list)  # what the report should say about transforms

    @property
    def texts(self) -> list[str]:
        """Each data set's first sentences, then its second ones."""
        return [pair[side] for pairs in (*self.sets, *self.fit_sets) for side in (0, 1) for pair in pairs.texts]

    @property
    def scored_texts(self) -> int:
        """How many of the texts are scored: the first of them."""
        return sum(2 * len(pairs.texts) for pairs in self.sets)

    def parts(self) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
        """(name, texts that are transformed, texts that their transform is fitted to) of each fit, by their places."""
        places = np.arange(len(self.texts))
        others = places[self.scored_texts :]
        if self.config.fit in ("train", "together"):
            yield "", places, others if self.config.fit == "train" else places
            return
        first = 0
        for pairs in self.sets:
            own = places[first : first + 2 * len(pairs.texts)]
            yield f" on {pairs.path}" if len(self.sets) > 1 else "", own, np.append(own, others)
            first += len(own)

    def systems(
        self, name: str, pooling: str, base: NDArray[np.floating], empty: NDArray[np.bool_], stop: str = "keep"
    ) -> Iterator[System]:
        """One for the vectors `base` of the texts as they are, one for each transform after them. `empty` marks texts
        without a vector. Raises WvError for a saved transform of vectors of another size."""
        for file, transform in self.saved.items():
            transform.require_dim(base.shape[1], f"{name} under {file}")
        for after in (NONE, *dict.fromkeys(self.config.after)):
            made, what = self._transform(base, empty, after, name)
            values, zero = cosines(made[: self.scored_texts], self.sets)
            yield System(name, pooling, what, stop, values, zero)

    def _transform(
        self, base: NDArray[np.floating], empty: NDArray[np.bool_], after: str, name: str
    ) -> tuple[NDArray[np.float64], str]:
        """(the vectors, what the report calls the transform)."""
        if after == NONE:
            return base.astype(np.float64), NONE
        transform, dim = self.saved.get(after), 0
        if transform is not None:
            made = (base - transform.mean) @ transform.matrix
            made[empty] = 0
            return made, after
        dim = 0 if after in _KEEPS_EVERY_AXIS else self.config.dim
        config = WhitenConfig(method=after, dim=dim)  # type: ignore[arg-type]
        texts, made = self.texts, np.zeros(base.shape)
        for where, own, fitted in self.parts():
            seen = fitted[~empty[fitted]]
            moments = Moments.none(base.shape[1]).with_rows(base[seen])
            transform = fit(moments, config, f"the {moments.rows} sentences with words{where}")
            self._note_few_rows(len({texts[i] for i in seen.tolist()}), after, transform, f"{name}{where}")
            # Directions that do not vary in one file leave zeros behind, which no cosine sees.
            made[own, : transform.new_dim] = (base[own] - transform.mean) @ transform.matrix
        made[empty] = 0
        return made, f"{after} {dim}" if dim else after

    def _note_few_rows(self, rows: int, after: str, transform: Transform, name: str) -> None:
        """Notes a transform that too few different sentences decide. Repeated ones say nothing new."""
        if not transform.overfits(rows):
            return
        note = (
            f"{name}: --after {after} is fitted on {rows:,} different sentences for {transform.new_dim} dimensions and "
            f"may ruin the scores (expected {FEWEST_ROWS} a dimension); use --after soft, or whiten with "
            f"--dim {max(1, rows // FEWEST_ROWS)}"
        )
        if note not in self.notes:
            self.notes.append(note)


def of_words(name: str, embeddings: Embeddings, material: Material) -> tuple[list[System], list[str]]:
    """The systems of one file of word vectors, and what the report should say about it."""
    config = material.config
    lookup = Lookup(embeddings, config.case, subwords=config.subwords)
    texts = material.texts
    systems: list[System] = []
    for stop in ("keep", "drop") if config.stop_words == "both" else (config.stop_words,):
        if embeddings.texts is not None:
            rows = [word_rows(text, lookup, material.stop_list if stop == "drop" else frozenset()) for text in texts]
            own = embeddings.texts.of_ids([np.array(each, np.int64) for each in rows])
            systems += material.systems(name, OWN, own, np.array([not each for each in rows]), stop)
        first = ("mean",) if embeddings.texts is None else ()
        for pooling in dict.fromkeys((*first, *config.pooling)):
            base, empty = sentence_vectors(
                texts,
                embeddings,
                lookup,
                pooling,
                vocab=material.vocab,
                stop_words=material.stop_list if stop == "drop" else frozenset(),
                a=config.sif_a,
            )
            systems += material.systems(name, pooling, base, empty, stop)
    return systems, composed_note(name, len(lookup.oov))


def of_encoder(path: str, material: Material) -> tuple[list[System], list[str]]:
    """The same of an encoder's folder. Vectors are what the pooling gives, before a folder's Normalize: cosines are the
    same, and a transform sees the lengths."""
    config = material.config
    names = tuple(dict.fromkeys(("mean", *config.pooling))) if config.pooling else ()
    encoder = open_encoder(path, EncoderConfig(max_length=config.max_length, threads=config.threads), names)
    chosen = [Pooling.parse(name, encoder.layers, path) for name in names or (encoder.pooling,)]
    systems: list[System] = []
    made = encode(encoder, material.texts, chosen, threads=config.threads)
    for pooling, each in zip(chosen, made, strict=True):
        systems += material.systems(path, pooling.name, each.vectors, each.empty)
    cut = made[0].cut
    notes = [f"{path}: {cut:,} sentences are longer than it reads; their ends were left out"] if cut else []
    return systems, notes


def of_rows(name: str, embeddings: Embeddings, material: Material) -> list[System]:
    """The same of sentence vectors made elsewhere: a row for each sentence as they stand in the data files, the first
    and the second of a pair one after the other; then those of the data to fit on. Raises BadFile for another number
    of rows."""
    pairs = [len(each.texts) for each in (*material.sets, *material.fit_sets)]
    if len(embeddings) != 2 * sum(pairs):
        problem = (
            f"expected {2 * sum(pairs):,} rows, one for each sentence of the {sum(pairs):,} pairs in their order, "
            f"found {len(embeddings):,}"
        )
        raise BadFile(name, problem)
    order, first = [], 0
    for count in pairs:
        order += [first + np.arange(0, 2 * count, 2), first + np.arange(1, 2 * count, 2)]
        first += 2 * count
    base = embeddings.matrix[np.concatenate(order)]
    empty: NDArray[np.bool_] = np.logical_not(base.any(axis=1))
    return list(material.systems(name, GIVEN, base, empty))


def cosines(
    vectors: NDArray[np.float64], sets: Sequence[SentencePairs]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.int64]]]:
    """Of the pairs of every data set, and how many of each pair's sentences have no vector."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit = vectors / np.where(norms == 0, 1, norms)[:, None]
    values, zero, first = [], [], 0
    for pairs in sets:
        n = len(pairs.texts)
        x, y = slice(first, first + n), slice(first + n, first + 2 * n)
        # Sentences of the same words in another order differ in the last bits; they are ties.
        values.append(np.round(np.clip(np.einsum("ij,ij->i", unit[x], unit[y]), -1, 1), 12))
        zero.append((norms[x] == 0).astype(np.int64) + (norms[y] == 0))
        first += 2 * n
    return values, zero
