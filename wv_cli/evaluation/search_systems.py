"""The systems that `wv eval search` compares: each ranks the documents of a data set for each of its queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import EncoderConfig, open_encoder
from wv_cli.encoders.base import encode
from wv_cli.encoders.pooling import Pooling
from wv_cli.evaluation.config import SearchConfig
from wv_cli.evaluation.ranking import Ranked
from wv_cli.evaluation.search_data import SearchData
from wv_cli.retrieval.bm25 import Bm25, Bm25Options, Counts
from wv_cli.retrieval.fusion import GAINS
from wv_cli.retrieval.fusion import fuse as fuse_lists
from wv_cli.text.search_tokens import TokenReader
from wv_cli.transforms.composition import composer
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.neighbors.exact import Neighbors


@dataclass(frozen=True, eq=False)
class System:
    """The answers of one system: answers[i][j] are those to query j of data set i. `empty[i]` counts queries that it
    could not read: they have no answer."""

    name: str
    answers: list[list[Ranked]]
    empty: list[int]


def of_vectors(name: str, embeddings: Embeddings, sets: Sequence[SearchData], config: SearchConfig) -> System:
    """A text's vector is the mean of its words' vectors, or what a model of texts makes of it."""
    lines = composer(embeddings, name).lines
    return _nearest(name, [(lines(each.texts), lines(each.asked)) for each in sets], sets, config)


def of_encoder(path: str, sets: Sequence[SearchData], config: SearchConfig) -> tuple[System, list[str]]:
    """(the system, what the report should say about it)."""
    encoder = open_encoder(path, EncoderConfig(max_length=config.max_length, dim=config.dim, threads=config.threads))
    pooling = [Pooling.parse(encoder.pooling, encoder.layers, path)]
    made, cut = [], 0
    for each in sets:
        encoded = [encode(encoder, texts, pooling, threads=config.threads)[0] for texts in (each.texts, each.asked)]
        made.append((encoded[0].vectors, encoded[1].vectors))
        cut += encoded[0].cut + encoded[1].cut
    notes = [f"{path}: {cut:,} texts are longer than it reads; their ends were left out"] if cut else []
    return _nearest(path, made, sets, config), notes


def of_bm25(sets: Sequence[SearchData], config: SearchConfig) -> tuple[list[System], list[str]]:
    """(a system for each variant, of one index of tokens, what the report should say about them)."""
    variants = list(dict.fromkeys(config.bm25))
    systems = [System(name if name.startswith("bm25") else f"bm25-{name}", [], []) for name in variants]
    reader, every_word = TokenReader(config.stem, config.stop_words), TokenReader("none", "keep")
    dropped = 0
    for each in sets if variants else ():
        counts = Counts.count(map(reader.tokens, each.texts))
        asked = [reader.query_tokens(text) for text in each.asked]
        unread = [text for text, tokens in zip(each.asked, asked, strict=True) if not tokens]
        dropped += sum(bool(every_word.query_tokens(text)) for text in unread)
        own = each.rows_of_queries()
        for variant, system in zip(variants, systems, strict=True):
            index = Bm25.build(counts, Bm25Options(variant, config.k1, config.b))
            answers = []
            for query, excluded in zip(asked, own, strict=True):
                rows, scores = index.top(query, config.depth + len(excluded))
                kept = ~np.isin(rows, excluded)
                answers.append(Ranked.top(rows[kept], scores[kept], config.depth))
            system.answers.append(answers)
            system.empty.append(sum(not any(token in counts.tokens for token in query) for query in asked))
    queries = "1 query has" if dropped == 1 else f"{dropped:,} queries have"
    return systems, [f"bm25: {queries} stop words only; --stop-words keep ranks their documents"] if dropped else []


def _nearest(
    name: str,
    vectors: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
    sets: Sequence[SearchData],
    config: SearchConfig,
) -> System:
    """By cosine. A query without a vector has no answer."""
    answers, empty = [], []
    for (documents, queries), each in zip(vectors, sets, strict=True):
        index = Neighbors(documents, threads=config.threads)
        hits, scores = index.top_k(queries, config.depth, exclude=each.rows_of_queries())
        known = np.logical_not(np.all(queries == 0, axis=1))
        found = (hits >= 0) & known[:, None]
        answers.append([Ranked(hits[i][found[i]], scores[i][found[i]]) for i in range(len(queries))])
        empty.append(int(np.count_nonzero(~known)))
    return System(name, answers, empty)


def fuse(systems: Sequence[System], weights: Sequence[float], by: str) -> System:
    """The sum over systems of weight * gain (wv_cli.retrieval.fusion). A system of weight 0 is left out."""
    used = [(system, weight) for system, weight in zip(systems, weights, strict=True) if weight]
    answers = []
    for of_set in zip(*(system.answers for system, _ in used), strict=True):
        answers.append([_fuse(lists, [weight for _, weight in used], by) for lists in zip(*of_set, strict=True)])
    empty = [sum(not len(each.rows) for each in fused) for fused in answers]
    return System(f"fuse-{','.join(f'{weight:g}' for weight in weights)}", answers, empty)


def _fuse(lists: Sequence[Ranked], weights: Sequence[float], by: str) -> Ranked:
    rows, sums = fuse_lists([each.rows for each in lists], [GAINS[by](each.scores) for each in lists], weights)
    return Ranked.top(rows, sums, len(rows))
