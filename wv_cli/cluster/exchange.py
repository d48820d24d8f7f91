"""How ranks that train copies of one model keep them together: what each has changed is added up, row by row.

    base      the row as all ranks know it, the same on every one
    current   the row as this rank trains it

    delta = current - base                     of this rank, when the row is due
    sum   = delta_0 + ... + delta_(size-1)     computed while the ranks train on
    learnt = current - base - delta           since the row was sent
    base += share * sum;   current = base + learnt

so that what a rank has learnt meanwhile stays, and a row that it has not changed is the base again, to the bit. Of this
only the subtraction and the last line stop the threads; share * sum is computed while they train.

How much of the sum is added? A row x is learnt from the rows y of the other matrix; near its optimum n updates leave
exp(-n lr s H) of its distance from there, H = mean of y y^T, s = slope of the sigmoid. So there are directions, those
that most y share, in which every rank arrives between two exchanges, and the sum of what size ranks have changed would
go far beyond; and there are those of the words' differences, in which all have come a little way, and the mean would
lose most of what was learnt. In the eigenvectors of H each coordinate of the sum is therefore multiplied by

    share = (1 - exp(-movers way)) / (movers (1 - exp(-way))),   way = updates lr s eigenvalue,

1 for a short way, 1 / movers for a long one: then the ranks come together as far as one that makes all their updates.
All but the longest ways are taken as one (kernels/exchange.c).
Plain averaging of all rows (pWord2Vec: Ji et al. 2016) is 1 / movers throughout; GraphWord2Vec (Gill et al. 2021) sums
what is orthogonal between ranks and averages the rest. `movers` is how many ranks move the row, from the words of their
texts: (sum of updates)^2 / sum of squares, so that what one rank has learnt about its own words is added in full.

A row is due when each rank has changed it as far as _UPDATES updates would with the learning rate _LR, after 1, 2, 4,
... rounds, and at least twice an epoch: the hottest rows after every round. Rows of one such interval take turns, so
that every round exchanges as much. Rows that are changed so seldom that many ranks have nothing to say are announced
first, one bit each; in the next round those go that any rank has changed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wv_cli._exchange import DIRECTIONS, Exchanged, Ways
from wv_cli.cluster.ranks import Pending, Ranks
from wv_cli.system.memory import pad_width

_UPDATES, _LR = 300.0, 0.025
_HOTTEST = 2048  # rows of which the moments are taken
_OLDER = 4  # the moments change quickly at first: they are taken anew after a fourth more meetings
_SELDOM = 4.0  # updates in an interval, of all ranks together
_FLUSH_BYTES = 1 << 22  # at once: about a meeting's, whose memory is there
# The slope of the sigmoid, between 0 and 1/4. By trial (4 ranks, a million words, skip-gram with negative sampling):
# losses are the same from 0.05 to 0.2.
_SLOPE = 0.1
_AT_THE_OPTIMUM = 1e30  # a way: after the first updates, which are the same everywhere

Rows = NDArray[np.int64]


def ways(values: NDArray[np.float64], vectors: NDArray[np.float64]) -> Ways:
    """How far an update goes along the eigenvectors, (columns, columns) as columns, given how far along each, rising:
    the last ones with a way of their own, the others with their mean."""
    columns, own = len(values), min(DIRECTIONS, len(values))
    directions, way = np.zeros((pad_width(columns), DIRECTIONS), np.float32), np.zeros(DIRECTIONS, np.float32)
    directions[:columns, :own], way[:own] = vectors[:, columns - own :], values[columns - own :]
    other = float(values[: columns - own].mean()) if own < columns else 0.0
    return Ways(directions[:columns], np.ascontiguousarray(directions.T), way, other)


class _Table:
    """One matrix, (rows, columns) float32, and when its rows are due."""

    def __init__(
        self,
        current: NDArray[np.float32],
        updates: NDArray[np.float64],
        movers: NDArray[np.float64],
        words: float,
        most_rounds: int,
        lr: float,
    ) -> None:
        """`updates` is how often one word of the text changes each row, `words` how many a rank trains in a round."""
        self.current, self.base = current, current.copy()  # the copy has no padding
        self.columns = current.shape[1]
        rounds = _UPDATES * _LR / np.maximum(updates * words * lr, 1e-12)
        self.last_level = max(0, int(np.log2(max(most_rounds, 1))))
        level = np.clip(np.round(np.log2(rounds)), 0, self.last_level).astype(np.int64)
        due_updates = updates * words * 2.0**level
        self.rows = Exchanged(current, self.base, due_updates.astype(np.float32), movers.astype(np.float32))
        seldom = due_updates * movers < _SELDOM
        self._hottest = np.argsort(-updates, kind="stable")[:_HOTTEST]
        weights = updates[self._hottest] / max(updates[self._hottest].sum(), 1e-12)
        self._weights = np.sqrt(weights).astype(np.float32)
        self._often = self._turns(level, ~seldom)
        self._seldom = self._turns(level, seldom)

    def _turns(self, level: NDArray[np.int64], chosen: NDArray[np.bool_]) -> list[list[Rows]]:
        """For every level the rows of each of its 2^level turns."""
        found = []
        for each in range(self.last_level + 1):
            rows = np.flatnonzero(chosen & (level == each))
            found.append([rows[turn :: 1 << each] for turn in range(1 << each)] if len(rows) else [])
        return found

    def ways(self, far: float) -> Ways:
        """How far an update goes of rows that are learnt from these, `far` from one of length 1; the same on all."""
        rows = self.base[self._hottest] * self._weights[:, None]
        values, vectors = np.linalg.eigh((rows.T @ rows).astype(np.float64))
        return ways(far * np.maximum(values, 0), vectors)

    def due(self, round: int) -> Rows:
        return _turn(self._often, round)

    def to_announce(self, round: int) -> Rows:
        return _turn(self._seldom, round)

    def moved(self, rows: Rows) -> NDArray[np.uint8]:
        """Which of the rows this rank has changed."""
        different = np.empty(len(rows), np.uint8)
        self.rows.moved(rows, different)
        return different


def _turn(turns: list[list[Rows]], round: int) -> Rows:
    return np.concatenate([np.empty(0, np.int64), *(each[round % len(each)] for each in turns if each)])


@dataclass
class _Message:
    """What is being summed: for every table its rows, one after the other, then the notes. Once the sums are `shared`
    out, `buffer` has what is added to the rows."""

    rows: list[Rows]
    sent: NDArray[np.float32]
    buffer: NDArray[np.float32]
    pending: Pending
    shared: bool = False


class Exchange:
    """The matrices of one rank, kept together with those of the others. All ranks begin with the same values."""

    def __init__(
        self,
        ranks: Ranks,
        shared: Sequence[tuple[NDArray[np.float32], NDArray[np.float64]]],
        *,
        words: float,
        most_rounds: int,
        lr: float,
    ) -> None:
        """`shared` has every array and how often one word of this rank's text changes each of its rows; `words` is how
        many words a rank trains between two meetings; no row is due less often than every `most_rounds` of them."""
        self._ranks = ranks
        self._tables = []
        for array, updates in shared:
            own = updates.astype(np.float32)
            total, squares = self._sum(own.copy()), self._sum(own * own)
            movers = np.where(squares > 0, total * total / np.maximum(squares, 1e-30), 1).clip(1, ranks.size)
            each = total.astype(np.float64) / movers
            rows = array[:, None] if array.ndim == 1 else array
            self._tables.append(_Table(rows, each, movers.astype(np.float64), words, most_rounds, lr))
        self._far, self._met, self._next_moments = lr * _SLOPE, 0, 0
        self._constant = ways(np.full(1, self._far), np.ones((1, 1)))  # biases are learnt from a constant 1
        self._message: _Message | None = None
        self._memory = np.empty((2, 0), np.float32)  # of messages, of which there is one at a time
        self._announced: tuple[list[Rows], NDArray[np.uint8], Pending] | None = None

    def _sum(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        self._ranks.start_all_reduce(values).wait()
        self._ranks.broadcast_array(values)  # which rows are due must be the same everywhere, to the bit
        return values

    @property
    def busy(self) -> bool:
        """Whether something is on its way that poll() would move on."""
        return self._message is not None

    def poll(self) -> None:
        """Moves what is on its way on, and computes with what has come; called now and then while the threads train."""
        if self._message is not None and self._message.pending.done():
            self._share_out(self._message)
        if self._announced is not None:
            self._announced[2].done()

    def meet(self, round: int, notes: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """After a round, while no thread computes: takes in what was on its way, sends what is due now. `notes` are
        added up over the ranks; returned are the sums of the last meeting's, None at the first."""
        answer = self._take_in()
        self._met += 1
        rows = [
            np.concatenate([table.due(round), told])
            for table, told in zip(self._tables, self._take_announced(), strict=True)
        ]
        self._message = self._send(rows, notes)
        seldom = [table.to_announce(round) for table in self._tables]
        if any(map(len, seldom)):
            moved = [table.moved(rows) for table, rows in zip(self._tables, seldom, strict=True)]
            bits = np.packbits(np.concatenate(moved))
            self._announced = seldom, bits, self._ranks.start_all_or(bits)
        return answer

    def flush(self) -> NDArray[np.float32] | None:
        """While no thread computes: exchanges whatever any rank has changed, so that all have the same values. Returns
        what the next meeting would have."""
        answer = self._take_in()
        self._take_announced()
        nothing = np.empty(0, np.float32)
        for place, table in enumerate(self._tables):
            step = max(1, _FLUSH_BYTES // (4 * table.columns))
            for first in range(0, len(table.current), step):
                rows = np.arange(first, min(first + step, len(table.current)))
                bits = np.packbits(table.moved(rows))
                self._ranks.start_all_or(bits).wait()
                each = [np.empty(0, np.int64)] * len(self._tables)
                each[place] = rows[np.unpackbits(bits, count=len(rows)).astype(np.bool_)]
                self._message = self._send(each, nothing)
                self._take_in()
        return answer

    def _places(self, rows: list[Rows]) -> Iterator[tuple[_Table, Rows, slice]]:
        """The rows of all tables, and where in a message their numbers are."""
        end = 0
        for table, each in zip(self._tables, rows, strict=True):
            begin, end = end, end + len(each) * table.columns
            yield table, each, slice(begin, end)

    def _send(self, rows: list[Rows], notes: NDArray[np.float32]) -> _Message:
        numbers = sum(len(each) * table.columns for table, each in zip(self._tables, rows, strict=True))
        if numbers + len(notes) > self._memory.shape[1]:
            self._memory = np.empty((2, numbers + len(notes)), np.float32)
        sent, buffer = self._memory[0, :numbers], self._memory[1, : numbers + len(notes)]
        for table, each, place in self._places(rows):
            table.rows.send(each, sent[place], buffer[place])
        buffer[numbers:] = notes
        return _Message(rows, sent, buffer, self._ranks.start_all_reduce(buffer))

    def _share_out(self, message: _Message) -> None:
        """The sums of a complete message become what is added to the rows."""
        if message.shared:
            return
        message.shared = True
        for (table, each, place), far in zip(self._places(message.rows), self._ways(), strict=True):
            table.rows.share(far, each, message.buffer[place])

    def _ways(self) -> list[Ways]:
        """How far the rows of each table go with an update."""
        if self._met == 1:
            return [ways(np.full(table.columns, _AT_THE_OPTIMUM), np.eye(table.columns)) for table in self._tables]
        if self._met >= self._next_moments:
            self._moments = [table.ways(self._far) for table in self._tables[:2]]
            self._next_moments = self._met + max(1, self._met // _OLDER)
        # The rows of the first table are learnt from those of the second, and all others from the first's.
        return [
            self._constant if table.columns == 1 else self._moments[1 if place == 0 else 0]
            for place, table in enumerate(self._tables)
        ]

    def _take_in(self) -> NDArray[np.float32] | None:
        message, self._message = self._message, None
        if message is None:
            return None
        message.pending.wait()
        self._share_out(message)
        for table, each, place in self._places(message.rows):
            table.rows.take_in(each, message.sent[place], message.buffer[place])
        return message.buffer[len(message.sent) :].copy()

    def _take_announced(self) -> list[Rows]:
        """The rows announced last that any rank has changed, for every table."""
        announced, self._announced = self._announced, None
        if announced is None:
            return [np.empty(0, np.int64)] * len(self._tables)
        rows, bits, pending = announced
        pending.wait()
        told = np.unpackbits(bits, count=sum(map(len, rows))).astype(np.bool_)
        ends = np.cumsum([len(each) for each in rows])[:-1]
        return [each[chosen] for each, chosen in zip(rows, np.split(told, ends), strict=True)]
