"""Rows of several ranks, added up."""

import numpy as np
from numpy.typing import NDArray

from tests.cluster.threads import ThreadRanks, run_ranks
from wv_cli.cluster.exchange import Exchange

NOTES = np.zeros(1, np.float32)
DIM = 16


def matrices(rows: int = 50) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """An input and an output matrix, the same on every rank."""
    random = np.random.default_rng(1)
    return random.random((rows, DIM), np.float32), random.random((rows, DIM), np.float32)


def exchange_of(
    ranks: ThreadRanks, pair: tuple[NDArray[np.float32], ...], updates: float, lr: float = 0.025
) -> Exchange:
    often = np.full(len(pair[0]), updates)
    return Exchange(ranks, [(each, often) for each in pair], words=1000.0, most_rounds=4, lr=lr)


def test_what_one_rank_has_learnt_about_a_rare_row_all_have_in_full() -> None:
    def task(ranks: ThreadRanks) -> NDArray[np.float32]:
        pair = matrices()
        exchange = exchange_of(ranks, pair, 1e-6)
        if ranks.rank == 1:
            pair[0][7] += 1
        exchange.flush()
        return pair[0]

    expected = matrices()[0]
    expected[7] += 1
    for found in run_ranks(3, task):
        assert np.allclose(found, expected, atol=1e-3)


def test_rows_that_no_rank_has_changed_are_not_sent() -> None:
    def task(ranks: ThreadRanks) -> int:
        pair = matrices(5000)
        exchange = exchange_of(ranks, pair, 1e-6)
        before = ranks.bytes_sent
        pair[1][ranks.rank] += 1
        for round in range(4):
            exchange.meet(round, NOTES)
        return ranks.bytes_sent - before

    sent = max(run_ranks(2, task))
    bits, rows, notes = 2 * 5000 / 8, 2 * DIM * 4, 4 * 4
    assert sent <= bits + 16 + rows + notes


def test_rows_that_go_further_with_every_update_are_due_more_often() -> None:
    def task(ranks: ThreadRanks) -> list[int]:
        sent = []
        for lr in (0.025, 0.05, 0.1):
            exchange = exchange_of(ranks, matrices(), 0.075, lr)  # 75 updates in a round
            before = ranks.bytes_sent
            for round in range(4):
                exchange.meet(round, NOTES)
            sent.append((ranks.bytes_sent - before) // (DIM * 4))
        return sent

    (found, _) = run_ranks(2, task)
    assert found == [100, 200, 400]


def test_what_a_rank_learns_while_a_sum_is_on_its_way_stays() -> None:
    def task(ranks: ThreadRanks) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        pair = matrices()
        exchange = exchange_of(ranks, pair, 1.0)
        pair[0][3] += 1 + ranks.rank
        exchange.meet(0, NOTES)
        pair[0][3] += 10
        exchange.meet(1, NOTES)  # takes in the mean of 1 and 2, for the row is at its optimum in the first rounds
        early = pair[0][3] - matrices()[0][3]
        exchange.flush()
        return early, pair[0]

    (first, all_of_one), (second, all_of_other) = run_ranks(2, task)
    assert np.allclose(first, 11.5, atol=1e-4) and np.allclose(second, 11.5, atol=1e-4)
    assert np.array_equal(all_of_one, all_of_other)


def test_a_row_is_taken_as_unchanged_once_its_change_has_been_exchanged() -> None:
    """Sums round: without care a row would differ from its base in the last bit, and be sent for ever."""

    def task(ranks: ThreadRanks) -> int:
        pair = matrices()
        exchange = exchange_of(ranks, pair, 1e-6)
        pair[0][:] += np.random.default_rng(ranks.rank).random(pair[0].shape, np.float32) / 3
        for round in range(8):
            exchange.meet(round, NOTES)
        before = ranks.bytes_sent
        exchange.flush()
        return ranks.bytes_sent - before

    assert max(run_ranks(2, task)) <= 2 * (50 / 8 + 1)


def test_notes_are_added_up_and_known_one_meeting_later() -> None:
    def task(ranks: ThreadRanks) -> list[object]:
        exchange = exchange_of(ranks, matrices(), 1.0)
        answers = [exchange.meet(round, np.full(2, ranks.rank + 1, np.float32)) for round in range(2)]
        return [answers[0], None if answers[1] is None else answers[1].tolist()]

    assert run_ranks(3, task) == [[None, [6.0, 6.0]]] * 3


def test_sums_are_shared_out_while_the_ranks_train_or_when_they_meet() -> None:
    """A rank that asks meanwhile, and changes rows after that, has what one has that does not ask."""

    def task(ranks: ThreadRanks) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        pair = matrices()
        exchange = exchange_of(ranks, pair, 10.0)
        for round in range(3):
            pair[0][ranks.rank :: 3] += 1
            exchange.meet(round, NOTES)
            pair[1][::2] += 1
            if ranks.rank:
                exchange.poll()
            pair[0][1::2] -= 0.5
        exchange.flush()
        return pair

    first, *others = run_ranks(3, task)
    assert not np.array_equal(first[0], matrices()[0])
    for found in others:
        assert all(np.array_equal(one, other) for one, other in zip(first, found, strict=True))
