"""Counts of earlier texts in today's vocabulary, against dictionaries; states of GloVe, damaged too; rows carried."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tests.reference.glove import count as brute_force
from tests.tiers import full
from wv_cli._glove import RECORD
from wv_cli.errors import BadFile
from wv_cli.io import container
from wv_cli.io.input import open_input
from wv_cli.models.glove.config import GloveConfig
from wv_cli.models.glove.continued_counts import EarlierCounts
from wv_cli.models.glove.cooccurrence import count, distance_units
from wv_cli.models.glove.model import Glove
from wv_cli.models.glove.state import open_state, row_layout, save_state
from wv_cli.models.glove.tiles import TileStore
from wv_cli.models.training.state import StateOptions
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import encode

CUT = VocabConfig(min_count=2)
DIM = 6


@pytest.fixture(scope="module")
def texts(slice_text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("days")
    lines = slice_text.read_bytes().splitlines(keepends=True)[:160]
    days = [folder / f"{day}.txt" for day in range(3)]
    for day, part in zip(days, (lines[:60], lines[60:100], lines[100:]), strict=True):
        day.write_bytes(b"".join(part))
    return [str(day) for day in days]


def named(corpus, config):
    """The counts of a text by its words, exactly."""
    sums, scale = brute_force(corpus.ids.tolist(), config.window, config.symmetric, config.weighting == "flat")
    words = list(corpus.vocab.words)
    return {(words[row], words[column]): Fraction(units, scale) for (row, column), units in sums.items()}


def rounded(counts):
    return {pair: float(value) for pair, value in counts.items()}


def saved(path, corpus, blocks, rows=None):
    """The state of a model with these counts."""
    records = np.concatenate([block.copy() for block in blocks]).view(np.uint8).reshape(-1, RECORD.itemsize)
    words = len(corpus.vocab)
    if rows is None:
        shapes = {name: (words, *shape[1:]) for name, (_, shape) in row_layout(DIM).items()}
        rows = {name: np.full(shape, 1 + place, np.float32) for place, (name, shape) in enumerate(shapes.items())}
    save_state(str(path), StateOptions("glove", {"dim": DIM}, {}, 0, 0.05), corpus.vocab, rows, records)
    return open_state(str(path))


def gone_on(state, text, config, share, tmp_path, memory=None):
    """The corpus of a text in the words of both, and all counts by words."""
    corpus = encode([text], CUT, older=state.vocab)
    earlier = EarlierCounts(state, corpus.vocab.words, share)
    stream = count(corpus, config, memory=memory, spool_beside=str(tmp_path / "x"), earlier=earlier)
    blocks = [block.copy() for block in stream]
    records = np.concatenate(blocks)
    assert (np.diff(records["row"].astype(np.int64) << 32 | records["column"]) > 0).all(), "sorted, every pair once"
    words = list(corpus.vocab.words)
    return corpus, blocks, {(words[row - 1], words[column - 1]): value for row, column, value in records.tolist()}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window": 4, "weighting": "flat", "threads": 2},
        *full({"window": 3, "symmetric": False}, {"window": 25}),
    ],
    ids=str,
)
def test_counts_of_three_days_are_the_sums_of_dictionaries(texts, options, tmp_path):
    """Day by day into the state; the words of a day are those that it has or that were there, the sums exact. With
    little memory as with much."""
    config = GloveConfig(**{"threads": 1, **options})
    corpus = encode([texts[0]], CUT)
    expected = named(corpus, config)
    days = {memory: (corpus, [block.copy() for block in count(corpus, config)]) for memory in (1 << 17, None)}
    for text in texts[1:]:
        found = {}
        for memory in days:
            state = saved(tmp_path / "a.state", *days[memory])
            corpus, blocks, found[memory] = gone_on(state, text, config, 1.0, tmp_path, memory)
            days[memory] = corpus, blocks
        one, other = (corpus for corpus, _ in days.values())
        assert list(one.vocab.words) == list(other.vocab.words) and one.ids.tolist() == other.ids.tolist()
        for pair, value in named(one, config).items():
            expected[pair] = expected.get(pair, 0) + value
        sums = rounded(expected)
        for counts in found.values():
            if config.window < 23:
                assert counts == sums, "rounded once"
            else:
                assert counts == pytest.approx(sums, rel=1e-12)


@pytest.mark.parametrize("weighting", ["distance", "flat"])
def test_a_share_of_a_count_is_kept_however_small(texts, weighting, tmp_path):
    config = GloveConfig(weighting=weighting, window=5, threads=1)
    corpus = encode([texts[0]], CUT)
    expected, blocks = rounded(named(corpus, config)), [block.copy() for block in count(corpus, config)]
    for text, share in zip(texts[1:], (0.3, 0.01), strict=True):
        state = saved(tmp_path / "a.state", corpus, blocks)
        corpus, blocks, found = gone_on(state, text, config, share, tmp_path)
        expected = {pair: value * share for pair, value in expected.items()}
        for pair, value in rounded(named(corpus, config)).items():
            expected[pair] = expected.get(pair, 0) + value
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-10)


def test_without_a_share_only_the_words_stay(texts, tmp_path):
    config = GloveConfig(threads=1)
    corpus = encode([texts[0]], CUT)
    state = saved(tmp_path / "a.state", corpus, count(corpus, config))
    grown, _, found = gone_on(state, texts[1], config, 0.0, tmp_path)
    assert set(corpus.vocab.words) < set(grown.vocab.words)
    assert found == rounded(named(grown, config))


def test_units_leave_room_for_earlier_counts():
    units, scale = distance_units(10, "distance", 1000, 5000.0)
    assert scale % 2520 == 0 and 2**49 < scale * (2 * 1000 * 3.3 + 5000) < 2**51
    assert units.tolist() == [0, *(scale // d for d in range(1, 11))]
    for weighting in ("distance", "flat"):
        units, scale = distance_units(30, weighting, 10**9, 1e15)
        assert scale >= 1 and scale * 1e15 < 2**62 and units[1] == scale


def test_the_same_counts_have_the_same_name(texts, tmp_path):
    corpus = encode([texts[0]], CUT)
    state = saved(tmp_path / "a.state", corpus, count(corpus, GloveConfig(threads=1)))
    other = saved(tmp_path / "b.state", corpus, count(corpus, GloveConfig(threads=1, window=9)))
    names = {
        EarlierCounts(each, corpus.vocab.words, share).digest("00") for each in (state, other) for share in (1.0, 0.5)
    }
    assert len(names) == 4
    assert EarlierCounts(state, corpus.vocab.words, 1.0).digest("00") in names


@pytest.mark.parametrize("share", [1.0, 0.25, 0.0])
def test_rows_go_to_their_words(texts, share, tmp_path):
    """Vectors as they were; of the sums of squared gradients the share beyond the 1 they begin with, in GloVe's units
    whatever the rates; new words as they begin."""
    first = encode([texts[0]], CUT)
    random = np.random.default_rng(3)
    rows = {
        name: random.random((len(first.vocab), *shape[1:]), np.float32) * 3 + 1
        for name, (_, shape) in row_layout(DIM).items()
    }
    state = saved(tmp_path / "a.state", first, count(first, GloveConfig(threads=1)), rows)
    corpus = encode([texts[1]], CUT, older=state.vocab)
    config = GloveConfig(dim=DIM, eta=0.1, bias_lr=0.4, threads=1)
    ids = corpus.vocab.words.find_all(state.vocab.words)
    with TileStore(count(corpus, config), len(corpus.vocab), str(tmp_path / "x")) as store:
        fresh, model = (Glove(config, corpus.vocab, store, "") for _ in range(2))
        model.load_state(state.rows, ids, share)
    for name, array in model.state_rows().items():
        old = rows[name] if "squares" not in name else 1 + share * (rows[name] - 1)
        np.testing.assert_allclose(array[ids], old, rtol=1e-6)
        new = np.setdiff1d(np.arange(len(corpus.vocab)), ids)
        assert len(new) > 50
        np.testing.assert_array_equal(array[new], fresh.state_rows()[name][new])
    for name in ("words", "contexts"):  # the constants beside the biases
        np.testing.assert_array_equal(getattr(model, name)[:, :, DIM + 2 :], getattr(fresh, name)[:, :, DIM + 2 :])
    np.testing.assert_array_equal(model.words[:, :, DIM + 1], fresh.words[:, :, DIM + 1])
    np.testing.assert_array_equal(model.contexts[:, :, DIM], fresh.contexts[:, :, DIM])


@pytest.fixture
def good(texts, tmp_path):
    corpus = encode([texts[0]], VocabConfig(min_count=20))
    return saved(tmp_path / "good.state", corpus, count(corpus, GloveConfig(threads=1)))


def test_a_state_is_what_was_saved(good, tmp_path):
    path = str(tmp_path / "good.state")
    save_state(path + ".gz", good.options, good.vocab, good.rows, good.records)
    for again in (open_state(path), open_state(path + ".gz")):
        assert again.options == good.options and list(again.vocab.words) == list(good.vocab.words)
        assert (again.largest, again.digest) == (good.largest, good.digest)
        assert np.array_equal(again.records, good.records)
        assert all(np.array_equal(again.rows[name], array) for name, array in good.rows.items())
    assert good.largest == good.records.copy().view(RECORD)["value"].max()


def record(row, column, value):
    return lambda records: np.concatenate([np.array([(row, column, value)], RECORD), records])


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("records", lambda records: records[::-1], "sorted, each once"),
        ("records", lambda records: records[[0, 0, 1]], "sorted, each once"),
        ("records", record(0, 1, 1.0), "expected pairs of words 1 to"),
        ("records", record(1, 9999, 1.0), "expected pairs of words 1 to"),
        ("records", record(1, 1, np.nan), "with a count above 0"),
        ("records", record(1, 1, 1e16), "up to 1e+15"),
        ("word_vectors", lambda array: array * np.float32(np.nan), "finite numbers up to 1e+15 in the array word_vec"),
        ("context_biases", lambda array: array * np.float32(1e30), "finite numbers up to 1e+15"),
        ("word_squares", lambda array: array * 0, "squared gradients above 0"),
        ("context_bias_squares", lambda array: -array, "squared gradients above 0"),
        ("context_vectors", lambda array: array[:, 1:], "do not fit a state of GloVe"),
        ("word_counts", lambda array: array[::-1], "expected counts of words"),
        ("word_counts", lambda array: array[1:], "do not fit a state of GloVe"),
        ("word_starts", lambda array: array[1:], "words are missing"),
    ],
)
def test_a_damaged_state_is_refused(good, tmp_path, name, change, message):
    with open_input(tmp_path / "good.state", "") as source:
        reader = container.Reader(source, "state")
        header, arrays = reader.header, reader.read()
    if name == "records":
        changed = np.ascontiguousarray(change(arrays[name].copy().view(RECORD)[:, 0]))
        changed = changed.view(np.uint8).reshape(-1, RECORD.itemsize)
    else:
        changed = np.ascontiguousarray(change(arrays[name]))
    container.save(tmp_path / "bad.state", "state", header, {**arrays, name: changed})
    with pytest.raises(BadFile) as error:
        open_state(str(tmp_path / "bad.state"))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_every_byte_is_in_the_check_sum(good, tmp_path):
    whole = (tmp_path / "good.state").read_bytes()
    for place in (len(whole) // 3, len(whole) - 20):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        (tmp_path / "bad.state").write_bytes(damaged)
        with pytest.raises(BadFile, match="its check sum differs"):
            open_state(str(tmp_path / "bad.state"))
    for length in (9, 3000):
        (tmp_path / "bad.state").write_bytes(whole[:-length])
        with pytest.raises(BadFile, match="cut short"):
            open_state(str(tmp_path / "bad.state"))


def test_a_config_without_a_dimension(good, tmp_path):
    options = replace(good.options, config={"dim": "six"})
    save_state(str(tmp_path / "bad.state"), options, good.vocab, good.rows, good.records)
    with pytest.raises(BadFile, match="do not fit a state of GloVe"):
        open_state(str(tmp_path / "bad.state"))
