"""The file without a name: what is written comes back, nothing is left behind, a folder that cannot is named."""

import numpy as np
import pytest

from wv_cli.errors import WvError
from wv_cli.io.spill import Spool

PAIR = np.dtype([("id", "<i4"), ("value", "<f8")], align=True)


@pytest.mark.parametrize("dtype", [np.int32, np.float64, PAIR])
def test_what_is_written_comes_back(dtype, tmp_path):
    with Spool(str(tmp_path / "x")) as spool:
        assert not spool.is_open and list(tmp_path.iterdir()) == []
        items = np.frombuffer(np.random.default_rng(1).bytes(100 * np.dtype(dtype).itemsize), dtype)
        spool.write(items[60:], 60)
        spool.write(items[:60], 0)
        assert spool.is_open and list(tmp_path.iterdir()) == []
        out = np.empty(30, dtype)
        assert spool.read(out, 50) == 30 and out.tobytes() == items[50:80].tobytes()
        assert spool.read(out, 90) == 10 and out[:10].tobytes() == items[90:].tobytes()
        assert spool.read(out, 100) == 0
        spool.truncate(20 * items.itemsize)
        assert spool.read(out, 5) == 15 and spool.read(out[:0], 0) == 0


@pytest.mark.parametrize("what", ["the word ids", "co-occurrence counts"])
def test_a_folder_that_is_not_there_is_named(what, tmp_path):
    spool = Spool(str(tmp_path / "no" / "x"), what)
    for work in (lambda a: spool.write(a, 0), lambda a: spool.read(a, 0), lambda a: spool.truncate(0)):
        with pytest.raises(WvError, match=f"no: cannot keep {what} in a file here: no such file or directory"):
            work(np.zeros(3, np.int32))
    spool.close()


def test_what_was_written_and_is_gone(tmp_path):
    with Spool(str(tmp_path / "x"), "n-grams") as spool:
        spool.write(np.arange(9, dtype=np.int32), 0)
        out = np.empty(4, np.int32)
        spool.fill(out, 5)
        assert out.tolist() == [5, 6, 7, 8]
        spool.truncate(32)
        with pytest.raises(WvError, match="the file of n-grams here has become shorter; start again"):
            spool.fill(out, 5)
