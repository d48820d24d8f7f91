"""Perplexity of language models on a text: 10 to the power of minus the mean log10 probability of its events.

Events are the words and one </s> a line. Words that a model does not list are <unk> (OOV); with them the perplexity is
over all events, without them their events are left out, though words after them still pay for the back-off, as KenLM's
query counts. Models of different vocabularies do not compare: the one with fewer words looks better.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError, WvError
from wv_cli.evaluation.base import Column, Report, Row, Vectors, number, p_value
from wv_cli.evaluation.config import PerplexityConfig
from wv_cli.evaluation.statistics import randomization_p, ratio_interval
from wv_cli.io.events import unheard
from wv_cli.lm.asking import LanguageModel, count_normalizers, normalizers_of, take_unnormalized
from wv_cli.lm.files import load
from wv_cli.lm.interpolation import fitted_weights, mix_scores
from wv_cli.lm.neural import Normalizers
from wv_cli.lm.preparation import Preparation
from wv_cli.lm.scoring import Scorer
from wv_cli.text.input_files import shared_file
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts
from wv_cli.words import WordList

Floats = NDArray[np.float64]
_LOG2_10 = float(np.log2(10))


@dataclass(frozen=True, eq=False)
class Events:
    """What models say of one text: log10 p `scores` and whether a word is `oov`, both (models, events), where the
    events of each sentence end, and the sums of each model that was trained without them."""

    scores: NDArray[np.float32]
    oov: NDArray[np.bool_]
    ends: NDArray[np.int64]
    normalizers: list[Normalizers | None]

    def sums(self, scores: NDArray[np.floating], used: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """(the sum of log10 p, the number of events) of each sentence, over the events used."""
        starts = np.concatenate([[0], self.ends[:-1]])
        return (
            np.add.reduceat(np.where(used, scores, 0.0), starts, dtype=np.float64),
            np.add.reduceat(used, starts, dtype=np.float64),
        )


def run(vectors: Sequence[Vectors], data: Sequence[str], config: PerplexityConfig) -> Report:
    """Scores every model on every text; see evaluation.Task.run. Raises UsageError for models of different vocabularies
    without config.common_vocab, and what reading raises."""
    names = [each.name for each in vectors]
    paths = [*data, config.mix] if config.mix is not None else list(data)
    report = _new_report(config, len(names))
    found = _events(names, paths, config, report)
    weights = None
    if config.mix is not None:
        held_out = found[-1]
        weights = fitted_weights(held_out.scores[:, _select_events(held_out, config)])
        shares = " + ".join(f"{weight:.4f} {name}" for weight, name in zip(weights, names, strict=True))
        report.protocol.append(f"mixture: {shares}, fitted on {config.mix}")
        if (same := shared_file(data, [config.mix])) is not None:
            report.notes.append(f"{same} is fitted on, too, so its mixture is better than that of unseen text")
    if any(found[0].normalizers):
        report.columns += [
            Column("log_z", "ln Z", number(4, signed=True)),
            Column("log_z_spread", "spread of ln Z", number(4)),
        ]
        report.protocol.append("Z: the sum over all words, which training by noise contrast takes for 1")
    for path, events in zip(data, found, strict=False):
        _add_rows(report, path, names, events, weights, config)
    return report


def _new_report(config: PerplexityConfig, models: int) -> Report:
    kept = "words that all models list" if config.common_vocab else "all words, OOV as <unk>"
    protocol = [f"{kept}, and one </s> a line", "intervals of 95 %: bootstrap over the sentences"]
    columns = [
        Column("data", "data", label=True),
        Column("model", "model", label=True),
        Column("perplexity", "perplexity", number(2)),
        Column("low", "low", number(2)),
        Column("high", "high", number(2)),
        Column("perplexity_without_oov", "without OOV", number(2)),
        Column("bits", "bits", number(4)),
        Column("mean_log10", "mean log10", number(6)),
        Column("events", "events", "{:,}".format),
        Column("oov", "OOV", "{:,}".format),
    ]
    if models > 1 or config.mix is not None:
        columns += [Column("difference", "bits more", number(4, signed=True)), Column("p", "p", p_value)]
        protocol.append("differences to the first model in bits an event, p: signs of sentences drawn anew")
    return Report("perplexity", "mean_log10", config, columns, protocol=protocol)


def _events(names: list[str], paths: list[str], config: PerplexityConfig, report: Report) -> list[Events]:
    """What all models say of each text; one of them is in memory at a time."""
    scores: list[list[NDArray[np.float32]]] = [[] for _ in paths]
    oov: list[list[NDArray[np.bool_]]] = [[] for _ in paths]
    ends: list[NDArray[np.int64]] = []
    sums: list[list[Normalizers | None]] = [[] for _ in paths]
    first: WordList | None = None
    preparation = Preparation(config)
    for model, name in _models(names, config):
        if len(names) > 1 and not config.common_vocab:
            first = first or model.words
            _require_same(names[0], first, name, model.words)
        for i, path in enumerate(paths):
            log = report.notes.append if name == names[0] else unheard
            source = preparation.blocks(Source(input_texts([path], log=log, reading=config)))
            asked = count_normalizers(model)
            parts = list(Scorer(asked).read(source))
            sums[i].append(normalizers_of(asked))
            if not sum(len(part.ids) for part in parts):
                message = f"{path}: no text: expected a sentence a line, found none"
                raise WvError(message)
            scores[i].append(np.concatenate([np.asarray(part.scores) for part in parts]))
            oov[i].append(np.concatenate([part.oov for part in parts]))
            if name == names[0]:
                ends.append(np.flatnonzero(np.concatenate([np.asarray(part.ids) for part in parts]) < 0) + 1)
    return [Events(np.array(s), np.array(o), e, z) for s, o, e, z in zip(scores, oov, ends, sums, strict=False)]


def _models(names: list[str], config: PerplexityConfig) -> Iterator[tuple[LanguageModel, str]]:
    """The models, one after the other. Raises UsageError when none of them can be asked as the config wants it."""
    refused: UsageError | None = None
    asked = False
    for name in names:
        model = load(name)
        if config.unnormalized:
            try:
                model, asked = take_unnormalized(model, name), True
            except UsageError as error:
                refused = error
        yield model, name
    if refused is not None and not asked:
        raise refused


def _require_same(first: str, words: WordList, second: str, others: WordList) -> None:
    if len(words) == len(others) and (words.find_all(others) >= 0).all():
        return
    message = (
        f"{first} lists {len(words):,} words and {second} {len(others):,}, which are not the same: perplexities over "
        "different vocabularies do not compare; train on one vocabulary (--limit-vocab), or count only words that all "
        "models list: --common-vocab"
    )
    raise UsageError(message)


def _select_events(events: Events, config: PerplexityConfig) -> NDArray[np.bool_]:
    """The events that count, among them the end of every sentence."""
    used = np.ones(events.oov.shape[1], bool)
    if config.common_vocab:
        used[events.oov.any(axis=0)] = False
    return used


def _add_rows(
    report: Report, path: str, names: list[str], events: Events, weights: Floats | None, config: PerplexityConfig
) -> None:
    used = _select_events(events, config)
    scores: list[NDArray[np.floating]] = list(events.scores)
    oov = list(events.oov)
    shown = list(names)
    if weights is not None:
        shown.append("mixture")
        scores.append(mix_scores(events.scores, weights))
        oov.append(events.oov.all(axis=0))
    first, counts = events.sums(scores[0], used)
    for name, own, unknown in zip(shown, scores, oov, strict=True):
        sums, _ = events.sums(own, used)
        total = float(counts.sum())
        mean = float(sums.sum()) / total
        low, high = ratio_interval(sums, counts, config.resamples, config.seed)
        row: Row = {
            "data": path, "model": name, "perplexity": _power(-mean), "low": _power(-high), "high": _power(-low),
            "perplexity_without_oov": _power(-float(np.mean(own[used & ~unknown], dtype=np.float64)))
            if (used & ~unknown).any() else None,
            "bits": -mean * _LOG2_10, "mean_log10": mean, "events": int(total), "oov": int(np.count_nonzero(unknown)),
        }  # fmt: skip
        sums_of = dict(zip(names, events.normalizers, strict=True)).get(name)
        if any(events.normalizers):
            row["log_z"], row["log_z_spread"] = (sums_of.mean, sums_of.spread) if sums_of else (None, None)
        if len(shown) > 1:
            row["difference"] = (float(first.sum()) / total - mean) * _LOG2_10
            other = own is not scores[0]
            row["p"] = randomization_p(first - sums, config.resamples, config.seed) if other else None
        report.rows.append(row)
        report.scores.append((f"{name} on {path}", mean))


def _power(exponent: float) -> float:
    return float("inf") if exponent >= 300 else float(10.0**exponent)
