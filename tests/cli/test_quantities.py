"""Sizes and times written with a unit: the command line and calls from Python read them alike."""

import numpy as np
import pytest

import wv_cli
from wv_cli.cli.arguments import read_arguments
from wv_cli.cli.calling import arguments_of
from wv_cli.cli.quantities import parse_size, parse_time
from wv_cli.errors import UsageError


@pytest.mark.parametrize(
    ("text", "size"), [("500000", 500_000), ("300M", 3 * 10**8), ("2gb", 2 * 10**9), ("1.5k", 1500), ("1", 1)]
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("0.5", 0.5), ("30s", 30), ("15M", 900), ("2h", 7200)])
def test_times(text, seconds):
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "M", "lots", "-1", "0", "nan", "inf", "1e400", "5x", "0.2", "1 000"])
def test_no_size(text):
    with pytest.raises(ValueError, match="is not a size; write 500000, 300M or 2G"):
        parse_size(text)


@pytest.mark.parametrize("text", ["", "h", "soon", "-1", "0", "nan", "inf", "1e400", "5x"])
def test_no_time(text):
    with pytest.raises(ValueError, match="is not a time; write 90, 30s, 15m or 2h"):
        parse_time(text)


@pytest.mark.parametrize("value", ["2G", "2000M", 2 * 10**9, np.int64(2 * 10**9)])
def test_a_size_of_a_call(value):
    assert read_arguments({"memory": value}, arguments_of("train"), "train") == {"memory": 2 * 10**9}


@pytest.mark.parametrize("value", ["5h", "300m", 18_000, 18_000.0, np.float32(18_000)])
def test_a_time_of_a_call(value):
    assert read_arguments({"max_time": value}, arguments_of("train"), "train") == {"max_time": 18_000.0}


def test_a_call_with_units_trains(tmp_path):
    (tmp_path / "text").write_text("one two three one two three\n" * 20)
    with pytest.raises(wv_cli.TimedOut):
        wv_cli.train(tmp_path / "text", tmp_path / "v.bin", memory="2G", max_time="0.00001s", threads=1, min_count=1)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"memory": "lots"}, UsageError, "memory: 'lots' is not a size; write 500000, 300M or 2G"),
        ({"memory": 0}, UsageError, "memory: '0' is not a size"),
        ({"memory": 2e9}, TypeError, "memory: expected a whole number, found float"),
        ({"memory": b"2G"}, TypeError, "memory: expected a whole number, found bytes"),
        ({"max_time": "soon"}, UsageError, "max_time: 'soon' is not a time; write 90, 30s, 15m or 2h"),
        ({"max_time": -1}, UsageError, "max_time: '-1' is not a time"),
        ({"max_time": float("nan")}, UsageError, "max_time: 'nan' is not a time"),
        ({"max_time": ["1h"]}, TypeError, "max_time: expected a number"),
    ],
)
def test_what_calls_refuse(options, kind, message):
    with pytest.raises(kind, match=message):
        wv_cli.train("text", "v.bin", **options)
