"""What is written under a name that ends like a compression: read by the programs it is named for, whole or not at
all, and read back by every reader of ours."""

import bz2
import gzip
import lzma
import re
import sys
from itertools import islice

import numpy as np
import pytest

from tests import zstd
from tests.conftest import GOLDEN
from wv_cli.errors import UsageError, WvError
from wv_cli.io.compression import COMPRESSIONS, compression_of, inner_name
from wv_cli.io.output import check_writable, open_output
from wv_cli.vectors.formats import FORMATS, load, save
from wv_cli.vectors.formats.fasttext_bin import load_model, save_model
from wv_cli.vectors.formats.streams import RowSource, save_blocks
from wv_cli.vectors.recognize import is_sidecar

UNPACK = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zst": zstd.zstd.decompress,
}
WRITABLE = [row for row in FORMATS.values() if row.write]


@pytest.fixture(scope="module")
def vectors():
    return load(GOLDEN / "gensim.bin")


def test_names():
    assert set(UNPACK) == set(COMPRESSIONS)
    assert [compression_of(name) for name in ("a.vec.gz", "a.gz.vec", "gz", "a.zst")] == [".gz", "", "", ".zst"]
    assert [inner_name(name) for name in ("a.vec.xz", "a.vec")] == ["a.vec", "a.vec"]


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_other_programs_unpack_it(ending, slice_text, tmp_path):
    """Blocks of all sizes, single bytes too."""
    with slice_text.open("rb") as text:
        lines = [b"", *islice(text, 500), b"x", bytes(3 << 20)]
    path = tmp_path / f"text{ending}"
    with open_output(path) as stream:
        for line in lines:
            assert stream.write(line) == len(line)
    data = path.read_bytes()
    assert UNPACK[ending](data) == b"".join(lines) and len(data) < 80_000
    with open_output(tmp_path / f"again{ending}") as stream:
        stream.write(b"".join(lines))
    assert UNPACK[ending]((tmp_path / f"again{ending}").read_bytes()) == b"".join(lines)
    with open_output(tmp_path / f"empty{ending}"):
        pass
    assert UNPACK[ending]((tmp_path / f"empty{ending}").read_bytes()) == b""


@pytest.mark.quick
@pytest.mark.parametrize("ending", COMPRESSIONS)
@pytest.mark.parametrize("row", WRITABLE, ids=lambda row: row.name)
def test_every_format(row, ending, vectors, tmp_path):
    plain, packed = tmp_path / f"plain{row.suffixes[0]}", tmp_path / f"packed{row.suffixes[0]}{ending}"
    save(plain, vectors)
    save(packed, vectors)
    unpacked = UNPACK[ending](packed.read_bytes())
    if row.name == "npy":  # a digest is put into the head of a plain file when it is complete: no way back here
        assert unpacked[128:] == plain.read_bytes()[128:]
    else:
        assert unpacked == plain.read_bytes()
    if row.words_ending:
        words = tmp_path / f"packed{row.words_ending}"
        assert words.read_bytes() == (tmp_path / f"plain{row.words_ending}").read_bytes()
        assert is_sidecar(str(words)) and not is_sidecar(str(packed))
    if row.read:
        read = load(packed)
        assert list(read.words) == list(vectors.words) and np.array_equal(read.matrix, load(plain).matrix)
    if row.header:
        blocks = tmp_path / f"blocks{row.suffixes[0]}{ending}"
        source = RowSource(GOLDEN / "gensim.bin")
        save_blocks(blocks, source.rows, source.dim, source.blocks())
        assert UNPACK[ending](blocks.read_bytes()) == unpacked


def test_a_failure_leaves_what_was_there(vectors, tmp_path):
    path = tmp_path / "v.vec.gz"
    path.write_bytes(b"yesterday's")
    with pytest.raises(RuntimeError), open_output(path) as stream:
        stream.write(bytes(1 << 20))
        raise RuntimeError
    assert path.read_bytes() == b"yesterday's" and len(list(tmp_path.iterdir())) == 1


def test_models(tmp_path):
    """They are mapped where they are plain, and read whole where they are not."""
    for name in ("ft-words.bin", "ft-labels.bin"):
        model = load_model(GOLDEN / name)
        save_model(tmp_path / f"{name}.gz", model)
        assert UNPACK[".gz"]((tmp_path / f"{name}.gz").read_bytes()) == (GOLDEN / name).read_bytes()
        assert list(load_model(tmp_path / f"{name}.gz").words) == list(model.words)


def test_what_zstd_needs(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, zstd.NAME, None)
    message = f"{tmp_path}/v.vec.zst: the ending asks for zstd; {zstd.REMEDY}"
    with pytest.raises(WvError, match=re.escape(message)):
        check_writable(tmp_path / "v.vec.zst")
    check_writable(tmp_path / "v.vec.xz")


def test_the_disk_is_not_asked_for_what_gets_smaller(tmp_path):
    with pytest.raises(WvError, match="needs about"):
        check_writable(tmp_path / "v.vec", 1 << 60)
    check_writable(tmp_path / "v.vec.gz", 1 << 60)


def test_an_ending_that_is_no_format(vectors, tmp_path):
    with pytest.raises(UsageError, match=r"v\.gz: the ending '' names no format to write"):
        save(tmp_path / "v.gz", vectors)
    save(tmp_path / "v.gz", vectors, format="word2vec-binary")
    assert gzip.decompress((tmp_path / "v.gz").read_bytes()).startswith(b"%d 50\n" % len(vectors))
