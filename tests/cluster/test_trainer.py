"""Models that several ranks train together, here threads of one process (tests/cluster/threads.py)."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.checkpoints import SIZES, stop_and_go_on
from tests.cluster.served import silent
from tests.cluster.threads import ThreadRanks, run_ranks
from wv_cli.cluster.trainer import Figures, RankTrainer
from wv_cli.cluster.training import RankPeers, of_all, pooled_by
from wv_cli.engine.peers import PARTS
from wv_cli.engine.run import Outcome, train
from wv_cli.engine.threads import Threads
from wv_cli.errors import WvError
from wv_cli.formats.recognise import input_texts
from wv_cli.models.config import Word2vecConfig
from wv_cli.models.word2vec import Word2vec
from wv_cli.text import parts
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode
from wv_cli.text.parts import Part

CONFIG = Word2vecConfig(dim=32, epochs=2)


def part_of(path: Path, ranks: ThreadRanks) -> Corpus:
    asked = input_texts([str(path)], log=silent, part=Part(ranks.rank, ranks.size))
    return of_all(encode(asked, VocabConfig(), pooled=pooled_by(ranks)), ranks)


def model_of(path: Path, ranks: ThreadRanks, config: Word2vecConfig = CONFIG) -> Word2vec:
    return Word2vec(config, part_of(path, ranks), peers=RankPeers(ranks))


def trained(path: Path, ranks: ThreadRanks, config: Word2vecConfig = CONFIG) -> tuple[Word2vec, Figures, Outcome]:
    model = model_of(path, ranks, config)
    trainer = RankTrainer(model, ranks, threads=1)
    outcome = train(trainer)
    return model, trainer.figures(), outcome


def final_loss(model: Word2vec, corpus: Corpus) -> float:
    """The mean loss of the model on the whole text, with the learning rate of the end."""
    other = Word2vec(model.config, corpus)
    for name, array in other.arrays().items():
        array[...] = model.arrays()[name]
    worker = other.worker()
    sums = [other.train_step(step, worker)[:2] for step in range(other.steps - other.epoch_steps, other.steps)]
    return sum(loss for loss, _ in sums) / sum(examples for _, examples in sums)


def test_the_ranks_have_the_vocabulary_of_one_process(slice_text: Path) -> None:
    alone = encode([str(slice_text)], VocabConfig())
    for size in (2, 3):
        parts = run_ranks(size, lambda ranks: part_of(slice_text, ranks))
        for corpus in parts:
            assert corpus.vocab.digest == alone.vocab.digest
            assert (corpus.tokens, corpus.lines, corpus.tokens_read) == (alone.tokens, alone.lines, alone.tokens_read)
        assert np.array_equal(np.concatenate([corpus.ids for corpus in parts]), alone.ids)


def test_a_line_that_is_cut_between_words_is_one_line_of_the_vocabulary(
    slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_LONG_LINE", 1 << 10)
    path = tmp_path / "text"
    path.write_bytes(slice_text.read_bytes().replace(b"\n", b" "))
    alone = encode([str(path)], VocabConfig()).vocab
    for corpus in run_ranks(3, lambda ranks: part_of(path, ranks)):
        assert (corpus.vocab.digest, corpus.vocab.lines, corpus.vocab.tokens) == (alone.digest, 1, alone.tokens)


def test_texts_without_a_word_have_no_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b" \n" * 100)
    with pytest.raises(WvError, match="no text: expected words"):
        run_ranks(2, lambda ranks: part_of(path, ranks))


@pytest.mark.parametrize(
    ("model", "loss", "most"),
    [
        ("skipgram", "ns", 0.06),
        *(
            pytest.param(*case, marks=pytest.mark.full)
            for case in (("cbow", "ns", 0.06), ("skipgram", "hs", 0.06), ("skipgram", "nce", 0.1))
        ),
    ],
)
def test_two_ranks_learn_what_one_learns(slice_text: Path, model: str, loss: str, most: float) -> None:
    config = replace(CONFIG, model=model, loss=loss, epochs=3)
    corpus = encode([str(slice_text)], VocabConfig())
    alone = Word2vec(config, corpus)
    start = final_loss(alone, corpus)
    train(Threads(alone))
    (one, _, outcome), (other, _, _) = run_ranks(2, lambda ranks: trained(slice_text, ranks, config))
    assert all(np.array_equal(array, other.arrays()[name]) for name, array in one.arrays().items())
    assert outcome.finished and outcome.totals.tokens == 3 * corpus.tokens
    learnt = start - final_loss(alone, corpus)
    assert start - final_loss(one, corpus) > (1 - most) * learnt


def test_the_same_ranks_make_the_same_vectors(slice_text: Path) -> None:
    first, second = (run_ranks(2, lambda ranks: trained(slice_text, ranks)[0].input)[0] for _ in range(2))
    assert np.array_equal(first, second)


def test_what_the_ranks_send_is_counted(slice_text: Path) -> None:
    _, figures, _ = run_ranks(2, lambda ranks: trained(slice_text, ranks))[0]
    assert figures.rounds == 2 * 64
    assert 1 < figures.bytes_per_word < 10_000


@pytest.mark.parametrize("sizes", SIZES)
def test_a_checkpoint_is_continued_by_any_number_of_ranks(
    slice_text: Path, tmp_path: Path, sizes: tuple[int, int]
) -> None:
    stop_and_go_on(tmp_path / "model.checkpoint", sizes, lambda ranks: model_of(slice_text, ranks))


def test_a_signal_of_one_rank_ends_all_at_the_same_part(slice_text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All know it one meeting later, and rank 0 saves."""
    own = threading.local()

    @contextmanager
    def caught() -> Iterator[list[int]]:
        yield [signal.SIGTERM] if own.rank == 1 else []

    def task(ranks: ThreadRanks) -> tuple[Outcome, list[int]]:
        saved: list[int] = []
        own.rank = ranks.rank
        trainer = RankTrainer(model_of(slice_text, ranks), ranks, threads=1)
        return train(trainer, save=saved.append if ranks.rank == 0 else None), saved

    monkeypatch.setattr("wv_cli.engine.run.caught_signals", caught)
    found = run_ranks(2, task)
    second = 2 * PARTS // 128
    assert [(outcome.next_step, outcome.signal, saved) for outcome, saved in found] == [
        (second, signal.SIGTERM, [second]),
        (second, signal.SIGTERM, []),
    ]


def test_ranks_save_on_the_way_and_learn_the_same(slice_text: Path) -> None:
    """A checkpoint is of values that all have; whoever takes part in it need not know of it before."""

    def task(ranks: ThreadRanks) -> tuple[Word2vec, list[int], Outcome]:
        saved: list[int] = []
        model = model_of(slice_text, ranks)
        mine = {"save": saved.append, "save_every": 1e-9} if ranks.rank == 0 else {}
        return model, saved, train(RankTrainer(model, ranks, threads=1), **mine)

    (one, saved, outcome), (other, nothing, _) = run_ranks(2, task)
    assert outcome.finished and len(saved) > 10 and saved == sorted(set(saved)) and saved[-1] < PARTS and not nothing
    assert all(np.array_equal(array, other.arrays()[name]) for name, array in one.arrays().items())


def test_a_training_of_no_epochs_ends(slice_text: Path) -> None:
    (_, _, outcome), _ = run_ranks(2, lambda ranks: trained(slice_text, ranks, replace(CONFIG, epochs=0)))
    assert outcome.finished and outcome.totals.tokens == 0
