"""What `--add` writes beside the texts of records: scores of a language model, vectors of texts."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from wv_cli.filtering.flattening import flatten
from wv_cli.filtering.units import divide
from wv_cli.lm.preparation import Preparation
from wv_cli.lm.scoring import Scorer
from wv_cli.text.records.reading import Column
from wv_cli.text.records.writing import Answer, Asked
from wv_cli.words import decode

Vectors = Callable[[Sequence[str]], NDArray[np.float32]]


def score_names(name: str) -> tuple[str, str, str]:
    """The fields of `wv lm score --add NAME`: log10 of the probability, perplexity, words that the model lacks."""
    return name, f"{name}_perplexity", f"{name}_oov"


@dataclass(frozen=True)
class RecordScorer:
    """Scores of the texts of records, whose units are sentences. One thread asks."""

    names: tuple[str, str, str]
    scorer: Scorer
    prepared: Preparation
    flatten: str
    unit: str
    ends: bool = True

    def __call__(self, block: Asked) -> dict[str, Column]:
        parts, starts = divide(block.each, self.unit)
        text = b"".join(self.prepared.blocks([flatten(parts, self.flatten)]))
        scored = self.scorer.score(text)
        ids, scores, lacking = np.asarray(scored.ids), np.asarray(scored.scores), scored.oov
        ends = np.append(0, np.flatnonzero(ids < 0) + 1)[starts]
        log10, perplexity, oov = [], [], []
        events = ids >= 0 if not self.ends else np.ones(len(ids), np.bool_)
        for begin, end in pairwise(ends.tolist()):
            found = scores[begin:end][events[begin:end]].tolist()
            total = math.fsum(found)
            exponent = -total / len(found) if found else math.inf
            log10.append(np.float32(total))
            perplexity.append(np.float32(10**exponent) if exponent < 38 else None)
            oov.append(int(np.count_nonzero(lacking[begin:end])))
        name, of_perplexity, of_oov = self.names
        return {
            name: Column("number", log10),
            of_perplexity: Column("number", perplexity),
            of_oov: Column("count", oov),
        }


def vector_answer(name: str, vectors: Vectors, *, fixed_size: bool = False) -> Answer:
    """The answer that adds the vector of each text as the field `name`."""

    def answer(block: Asked) -> dict[str, Column]:
        found = np.ascontiguousarray(vectors([decode(text) for text in block.each]))
        return {name: Column("number", found, many=True, fixed_size=fixed_size)}

    return answer
