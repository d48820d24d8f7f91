"""Arrays that wait in files without a name: they hold what was put there, and leave nothing behind."""

import mmap

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.io import host
from wv_cli.io.shelf import Shelf


@pytest.mark.parametrize("memory", [None, 0, 4000])
def test_arrays_keep_their_numbers(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(host, "resident", lambda: 1 << 40)
    shelf = Shelf(str(tmp_path / "out"), "numbers", memory)
    arrays = [shelf.new(size, np.int32) for size in (0, 1, 100, 5000)]
    for i, array in enumerate(arrays):
        array[:] = np.arange(len(array)) * (i + 1)
    shelf.let_go()
    for i, array in enumerate(arrays):
        assert np.array_equal(array, np.arange(len(array)) * (i + 1))
    in_files = [isinstance(getattr(array.base, "obj", array.base), mmap.mmap) for array in arrays]
    assert in_files == {None: [False] * 4, 0: [False, True, True, True], 4000: [False, False, False, True]}[memory]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("memory", [None, 0, 2000])
def test_pieces_are_one_array(memory, tmp_path):
    shelf = Shelf(str(tmp_path / "out"), "numbers", memory)
    pieces = shelf.pieces(np.int64)
    numbers = np.arange(1000, dtype=np.int64)
    for begin, end in ((0, 0), (0, 30), (30, 31), (31, 400), (400, 1000)):
        pieces.append(numbers[begin:end])
    out = np.empty(pieces.length, np.int64)
    pieces.move(out)
    shelf.drop_pieces()
    assert np.array_equal(out, numbers)


@pytest.mark.parametrize("memory", [None, 0, 2000])
def test_pieces_become_an_array(memory, tmp_path):
    """Which is their file where they are in one."""
    shelf = Shelf(str(tmp_path / "out"), "numbers", memory)
    pieces = shelf.pieces(np.int64)
    for begin in range(0, 1000, 100):
        pieces.append(np.arange(begin, begin + 100))
    array = pieces.array()
    shelf.drop_pieces()
    assert array.dtype == np.int64 and np.array_equal(array, np.arange(1000))
    assert isinstance(getattr(array.base, "obj", array.base), mmap.mmap) == (memory is not None)


@pytest.mark.parametrize("memory", [None, 0, 2000])
def test_numbers_are_added_as_pieces_move(memory, tmp_path):
    shelf = Shelf(str(tmp_path / "out"), "numbers", memory)
    pieces = shelf.pieces(np.int32)
    for begin in range(0, 1000, 100):
        pieces.append(np.arange(begin, begin + 100, dtype=np.int32))
    out = np.empty(1000, np.int32)
    pieces.move(out, 7)
    shelf.drop_pieces()
    assert np.array_equal(out, np.arange(7, 1007))


def test_spans_fit_a_quarter_of_the_memory():
    assert Shelf(None, "numbers", 4 * 80).spans(5, 31, 8) == [(5, 15), (15, 25), (25, 31)]
    assert Shelf(None, "numbers", 0).spans(5, 7, 8) == [(5, 6), (6, 7)]
    assert Shelf().spans(5, 10**6 + 5, 8) == [(5, 10**6 + 5)]
    assert Shelf().spans(5, 5, 8) == []


def test_a_file_goes_with_its_array(tmp_path, monkeypatch):
    """So does the room of an array in memory."""
    asked = []
    monkeypatch.setattr(host, "let_go", lambda mapped: asked.append(len(mapped)))
    monkeypatch.setattr(host, "resident", lambda: 1 << 40)
    shelf = Shelf(str(tmp_path / "out"), "numbers", 4000)
    first, second = shelf.new(100, np.int64), shelf.new(1000, np.int64)
    shelf.let_go()
    assert len(asked) == 1 and not shelf.take(201)
    del first, second
    shelf.let_go()
    assert len(asked) == 1 and shelf.take(1000)


def test_memory_is_given_back():
    """What pieces took is there for an array."""
    shelf = Shelf(None, "numbers", 4 * 800)
    pieces = shelf.pieces(np.int64)
    pieces.append(np.arange(100))
    assert not shelf.take(1)
    pieces.move(np.empty(100, np.int64))
    assert shelf.take(800) and not shelf.take(1)


def test_pages_stay_while_there_is_room(tmp_path, monkeypatch):
    """Giving them back costs time when they are touched again."""
    asked = []
    shelf = Shelf(str(tmp_path / "out"), "numbers", 1 << 30)
    shelf.take(1 << 28)
    kept = shelf.new(100, np.int32)
    monkeypatch.setattr(host, "let_go", asked.append)
    for size, calls in (((1 << 28) - 1, 0), ((1 << 28) + 1, 1)):
        monkeypatch.setattr(host, "resident", lambda size=size: size)
        shelf.let_go()
        assert len(asked) == calls and len(kept) == 100


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(WvError, match="no: cannot keep numbers in a file here: no such file or directory"):
        Shelf(str(tmp_path / "no" / "x"), "numbers", 0).new(1, np.int32)


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    def full(descriptor, length):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(host, "reserve", full)
    with pytest.raises(WvError, match="cannot keep numbers in a file here: no space left on device; free some space"):
        Shelf(str(tmp_path / "x"), "numbers", 0).new(1, np.int32)
