"""What ranks have counted, added up: the numbers of one process, to the bit."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cluster.served import silent
from tests.cluster.threads import ThreadRanks, run_ranks
from wv_cli._glove import RECORD
from wv_cli.cluster.sums import OtherRanks, Records, added, counting_by, records_of_all
from wv_cli.cluster.training import of_all, pooled_by
from wv_cli.errors import WvError
from wv_cli.formats.recognise import texts
from wv_cli.glove.config import GloveConfig
from wv_cli.glove.cooccurrence import count
from wv_cli.text import parts
from wv_cli.text.config import PhrasesConfig, VocabConfig
from wv_cli.text.corpus import encode
from wv_cli.text.inputs import Texts
from wv_cli.text.parts import Part
from wv_cli.text.phrases import JoinedText

Pair = tuple[int, int]
PAIRS = st.dictionaries(st.tuples(st.integers(1, 9), st.integers(1, 2**31 - 1)), st.integers(1, 2**60), max_size=40)


def part_of(path: Path, ranks: ThreadRanks, *, whole_lines: bool = True) -> Texts:
    return texts([str(path)], note=silent, part=Part(ranks.rank, ranks.size, whole_lines))


def records(units: dict[Pair, int]) -> Records:
    found = np.empty(len(units), RECORD)
    for place, ((row, column), sum) in enumerate(sorted(units.items())):
        found[place] = row, column, 0
        found["value"].view(np.int64)[place] = sum
    return found


def units(blocks: Sequence[Records]) -> list[tuple[int, int, int]]:
    return [
        (int(row), int(column), int(value))
        for block in blocks
        for row, column, value in zip(block["row"], block["column"], block["value"].view(np.int64), strict=True)
    ]


@given(PAIRS, PAIRS)
def test_two_lists_are_added_up_pair_by_pair(one: dict[Pair, int], other: dict[Pair, int]) -> None:
    expected = Counter(one) + Counter(other)
    assert units([added(records(one), records(other))]) == sorted((*pair, sum) for pair, sum in expected.items())


@pytest.mark.parametrize("size", [2, 3, 5])
def test_streams_of_other_lengths_and_blocks_become_one_on_rank_0(size: int) -> None:
    random = np.random.default_rng(size)
    own: list[dict[Pair, int]] = [
        {(int(row), int(column)): 1 + rank for row, column in random.integers(1, 200, (7000 * rank, 2))}
        for rank in range(size)  # rank 0 has nothing
    ]

    def task(ranks: ThreadRanks) -> list[tuple[int, int, int]]:
        whole = records(own[ranks.rank])
        blocks = (whole[first : first + 900 + ranks.rank] for first in range(0, len(whole), 900 + ranks.rank))
        return units([piece.copy() for piece in records_of_all(ranks, blocks, memory=1)])

    found = run_ranks(size, task)
    expected = sum(map(Counter, own), Counter())
    assert found[0] == sorted((*pair, sum) for pair, sum in expected.items())
    assert not any(found[1:])


@pytest.mark.parametrize("window", [10, 40])  # sums of fractions that are exact, and that are rounded once
def test_ranks_count_the_co_occurrences_of_one_process(slice_text: Path, window: int) -> None:
    config = GloveConfig(window=window, threads=1)
    alone = np.concatenate([each.copy() for each in count(encode([str(slice_text)], VocabConfig()), config)])

    def task(ranks: ThreadRanks) -> list[Records]:
        corpus = of_all(encode(part_of(slice_text, ranks), VocabConfig(), pooled=pooled_by(ranks)), ranks)
        blocks = count(corpus, config, summed=lambda own: records_of_all(ranks, own, 1 << 20))
        return [each.copy() for each in blocks]

    first, *others = run_ranks(3, task)
    assert np.concatenate(first).tobytes() == alone.tobytes()
    assert not any(others)


@pytest.mark.parametrize("options", [{}, {"score": "npmi", "thresholds": (0.6, 0.5)}, {"memory": 1}], ids=str)
def test_ranks_find_and_join_the_phrases_of_one_process(slice_text: Path, options: dict[str, object]) -> None:
    config = PhrasesConfig(**{"thresholds": (200.0, 100.0), **options})  # type: ignore[arg-type]

    def joined(inputs: Texts, others: OtherRanks | None) -> tuple[bytes, bytes, list[int], list[dict[str, float]]]:
        with JoinedText(inputs, config, others=others) as text:
            numbers = [text.lines, text.tokens_read, text.tokens]
            return b"".join(text.chunks()), b"".join(text.rows()), numbers, [done.facts for done in text.passes]

    chunks, *known = joined(texts([str(slice_text)], note=silent), None)
    found = run_ranks(3, lambda ranks: joined(part_of(slice_text, ranks), OtherRanks(ranks, None)))
    assert b"".join(each[0] for each in found) == chunks
    for _, *each in found:
        assert each == known
    assert known[2][-1]["joined"] > 0


@pytest.mark.parametrize("lines", [True, False])
def test_ranks_count_the_words_of_one_process(
    slice_text: Path, tmp_path: Path, lines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, too, which is cut between words and still is one."""
    monkeypatch.setattr(parts, "_LONG_LINE", 1 << 10)
    path = tmp_path / "text"
    path.write_bytes(slice_text.read_bytes() if lines else slice_text.read_bytes().replace(b"\n", b" "))
    config = VocabConfig(min_count=2)

    def task(ranks: ThreadRanks | None) -> tuple[str, int, int, int] | None:
        asked = part_of(path, ranks, whole_lines=False) if ranks else texts([str(path)], note=silent)
        with counting_by(ranks, asked, config) as counts:
            if counts is None:
                return None
            (kept,) = counts.kept
            return kept.digest, counts.lines, counts.tokens, counts.words

    alone = task(None)
    assert run_ranks(3, task) == [alone, None, None]
    assert alone is not None and (alone[1] == 1) != lines


def test_texts_without_a_word_have_no_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b" \n" * 100)

    def task(ranks: ThreadRanks) -> None:
        with counting_by(ranks, part_of(path, ranks), VocabConfig()):
            pass

    with pytest.raises(WvError, match="no text: expected words"):
        run_ranks(2, task)
