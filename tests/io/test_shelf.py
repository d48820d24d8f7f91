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
    shelf.new(100, np.int32)
    monkeypatch.setattr(host, "let_go", asked.append)
    for size, calls in (((1 << 29) - 1, 0), ((1 << 29) + 1, 1)):
        monkeypatch.setattr(host, "resident", lambda size=size: size)
        shelf.let_go()
        assert len(asked) == calls


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(WvError, match="no: cannot keep numbers in a file here: no such file or directory"):
        Shelf(str(tmp_path / "no" / "x"), "numbers", 0).new(1, np.int32)


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    def full(descriptor, length):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(host, "reserve", full)
    with pytest.raises(WvError, match="cannot keep numbers in a file here: no space left on device; free some space"):
        Shelf(str(tmp_path / "x"), "numbers", 0).new(1, np.int32)
