"""Vector files are known where running text is expected, and running text is never taken for one."""

import lzma

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.io import container
from wv_cli.vectors import formats
from wv_cli.vectors.formats import SNIFF_BYTES, glove_text
from wv_cli.vectors.recognize import is_sidecar, recognize

KNOWN = {
    "fasttext.vec": "word2vec-text vectors",
    "gensim.vec": "word2vec-text vectors",
    "gensim-spaces.vec": "word2vec-text vectors",
    "glove-header.txt": "word2vec-text vectors",
    "gensim.bin": "word2vec-binary vectors",
    "w2v-sg-ns.bin": "word2vec-binary vectors",
    "w2v-sg-ns.txt.xz": "word2vec-text vectors",
    "ft-words.bin": "a fastText model",
    "ft-labels.ftz": "a fastText model",
    "gensim.npy": "a NumPy array",
    "sign.codes": "a codes file of wv",
    "sign.codes.txt": "codes of words",
}


@pytest.mark.parametrize("name", KNOWN)
def test_files_of_the_original_tools(name):
    path = GOLDEN / name
    content = lzma.decompress(path.read_bytes()) if name.endswith(".xz") else path.read_bytes()
    assert recognize(content[:SNIFF_BYTES]) == KNOWN[name]


def test_our_own_files(tmp_path):
    container.save(tmp_path / "x", "checkpoint", {}, {"a": np.zeros(3)})
    assert recognize((tmp_path / "x").read_bytes()) == "a checkpoint file of wv"
    kinds = ("hasher", "codes", "moments", "transform", "vec")
    own = [path for path in (GOLDEN / "own").iterdir() if path.suffix[1:] in kinds]
    assert len(own) == 12
    assert [path for path in own if not recognize(path.read_bytes()[:SNIFF_BYTES])] == []


def rows(count, dim, number="0.25"):
    return b"".join(b"word%d %s\n" % (row, b" ".join([number.encode()] * dim)) for row in range(count))


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (rows(20, 10), "glove-text vectors"),
        (rows(20, 9), None),
        (rows(20, 10, "25"), None),  # a table of counts
        (rows(3, 10) + b"and then there is text\n", None),
        (b"4 3\n" + rows(4, 3), "word2vec-text vectors"),
        (b"4 3\n" + rows(4, 2), None),
        (b"4 3\nshort lines of text\nand others\n", None),
        (b"1000 5000\n" + rows(1, 5000)[:20000], "word2vec-text vectors"),  # the first row is cut
        (b"1984 12\n", None),
        (b"in 1984 12 34\nwords\n", None),
        (b"the 1061396\nof 593677\n", None),  # a vocabulary
        (b"wv is a toolkit\n{", None),
        (b"", None),
    ],
)
def test_what_is_beyond_doubt(head, found):
    assert recognize(head) == found


def test_the_shipped_text(slice_text):
    assert recognize(slice_text.read_bytes()[:SNIFF_BYTES]) is None


def test_sidecars(tmp_path):
    (tmp_path / "a.npy").write_bytes(b"")
    assert is_sidecar(str(tmp_path / "x.vec.meta.json"))
    assert is_sidecar(str(tmp_path / "a.words.txt"))
    assert not is_sidecar(str(tmp_path / "b.words.txt"))  # may be anybody's


def test_rows_of_every_number_are_looked_at_and_words_are_not():
    for number in ("1", "-1", "2.", "+.5", "-.5e3", "1e-3", "nan", "-NaN", "inf", "-Infinity"):
        for head in (f"a {number} {number}\nb 1 1\n", f"a\t{number} {number}", f". . {number} {number} \r\nb 1 1\n"):
            looked_at = [row.name for row in formats.candidates(head.encode())]
            assert glove_text.sniff(head.encode()) and "glove-text" in looked_at, head
    for head in (b"information on nanotubes in infinite lines\nwith 3 4 5\n", b'{"text": "page 1 of 20", "id": 7}\n'):
        assert [*formats.candidates(head)] == []
