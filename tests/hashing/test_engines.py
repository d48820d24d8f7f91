"""Packed codes in the programs that search codes: the table of the guide on codes. Needs the extra `engines`; a
program that is not installed is skipped."""

import numpy as np
import pytest

from wv_cli.hashing.config import HashConfig
from wv_cli.hashing.fit import fit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.packed_codes import save_packed

pytestmark = [
    pytest.mark.quick,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of their bindings on newer Pythons
]
ROWS, DIM, ZERO_ROW, ZERO_AT = 50, 64, 3, (7, 11)


@pytest.fixture(scope="module")
def vectors():
    x = np.random.default_rng(5).standard_normal((ROWS, DIM)).astype(np.float32)
    x[ZERO_ROW] = 0
    x[ZERO_AT] = 0
    return x


@pytest.fixture(scope="module")
def packed(vectors, tmp_path_factory):
    """Codes of `sign` in both orders."""
    embeddings = Embeddings([f"w{i}" for i in range(ROWS)], vectors)
    codes = fit(embeddings, "sign", HashConfig(normalize=False)).encode(embeddings)
    folder = tmp_path_factory.mktemp("codes")
    found = {}
    for order in ("little", "big"):
        save_packed(str(folder / f"{order}.npy"), codes, order)
        found[order] = np.load(folder / f"{order}.npy")
    return found


@pytest.fixture(scope="module")
def distances(vectors):
    """Hamming distances of the first row to all."""
    bits = vectors > 0
    return (bits[0] != bits).sum(axis=1)


def test_numpy(vectors, packed):
    for order, codes in packed.items():
        assert codes.dtype == np.uint8 and (codes == np.packbits(vectors > 0, axis=1, bitorder=order)).all()


def test_faiss(vectors, packed, distances):
    faiss = pytest.importorskip("faiss")
    index = faiss.IndexBinaryFlat(DIM)
    index.add(packed["little"])
    found, rows = index.search(packed["little"][:1], ROWS)
    assert (found[0] == distances[rows[0]]).all() and rows[0, 0] == 0
    # Its own codes are the same, but for numbers that are exactly zero, whose bits it sets.
    own = faiss.IndexLSH(DIM, DIM, False).sa_encode(vectors)
    assert (own == np.packbits(vectors >= 0, axis=1, bitorder="little")).all()
    assert np.unpackbits(own ^ packed["little"]).sum() == DIM + 1


def test_sqlite_vec(vectors, packed, distances):
    sqlite_vec, apsw = pytest.importorskip("sqlite_vec"), pytest.importorskip("apsw")
    database = apsw.Connection(":memory:")
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    own = [next(database.execute("select vec_quantize_binary(vec_f32(?))", (row.tobytes(),)))[0] for row in vectors]
    assert [bytes(code) for code in own] == [code.tobytes() for code in packed["little"]]
    database.execute(f"create virtual table codes using vec0(code bit[{DIM}])")
    rows = [(row, code.tobytes()) for row, code in enumerate(packed["little"])]
    database.executemany("insert into codes(rowid, code) values (?, vec_bit(?))", rows)
    query = "select rowid, distance from codes where code match vec_bit(?) and k = 20"
    found = list(database.execute(query, (packed["little"][0].tobytes(),)))
    assert len(found) == 20 and all(distance == distances[row] for row, distance in found)


def test_usearch(packed, distances):
    index_module = pytest.importorskip("usearch.index")
    for codes in packed.values():  # counted bits have no order
        index = index_module.Index(ndim=DIM, metric="hamming", dtype="b1")
        index.add(np.arange(ROWS), codes)
        found = index.search(codes[0], 20, exact=True)
        assert len(found.keys) == 20 and (found.distances == distances[found.keys.astype(int)]).all()


def test_sentence_transformers(vectors, packed):
    library = pytest.importorskip("sentence_transformers")
    quantize = library.quantize_embeddings
    assert (quantize(vectors, "ubinary") == packed["big"]).all()
    assert (quantize(vectors, "binary") == (packed["big"].astype(int) - 128).astype(np.int8)).all()


def test_pgvector(vectors, packed):
    pgvector = pytest.importorskip("pgvector")
    found = [pgvector.Bit(code.tobytes()).to_text() for code in packed["big"]]
    assert found == ["".join("01"[int(number > 0)] for number in row) for row in vectors]


K, EQUAL = 40, slice(5, 25)  # answers, and rows that have one code


@pytest.fixture(scope="module")
def tied():
    """(codes of `--packed little` with many equal distances, the distances to the first, the K best by distance and
    then by row)."""
    bits = np.random.default_rng(2).integers(0, 2, (300, 32)).astype(bool)
    bits[EQUAL] = bits[5]
    bits[100] = False
    distances = (bits != bits[0]).sum(axis=1)
    assert distances[100] == bits[0].sum()
    order = np.argsort(distances, kind="stable")
    assert distances[order[K - 1]] == distances[order[K]]  # the last place is tied
    return np.packbits(bits, axis=1, bitorder="little"), distances, order[:K]


def test_ties_in_faiss(tied):
    codes, distances, best = tied
    faiss = pytest.importorskip("faiss")
    for index in (faiss.IndexBinaryFlat(32), faiss.IndexLSH(32, 32, False)):
        bits = np.unpackbits(codes, axis=1, bitorder="little").astype(np.float32) - 0.5
        rows = codes if isinstance(index, faiss.IndexBinaryFlat) else bits
        index.add(rows)
        found, answers = index.search(rows[:1], K)
        assert (answers[0] == best).all() and (found[0] == distances[best]).all()


def test_ties_in_sqlite_vec(tied):
    codes, distances, best = tied
    sqlite_vec, apsw = pytest.importorskip("sqlite_vec"), pytest.importorskip("apsw")
    database = apsw.Connection(":memory:")
    database.enable_load_extension(True)
    database.load_extension(sqlite_vec.loadable_path())
    database.execute("create virtual table codes using vec0(code bit[32])")
    database.executemany("insert into codes(rowid, code) values (?, vec_bit(?))", enumerate(map(bytes, codes)))
    query = (codes[0].tobytes(),)
    found = list(database.execute(f"select rowid, distance from codes where code match vec_bit(?) and k = {K}", query))
    assert [distance for _, distance in found] == distances[best].tolist()
    assert all(distance == distances[row] for row, distance in found)
    ordered = "select rowid from codes order by vec_distance_hamming(vec_bit(?), code), rowid limit ?"
    assert [row for (row,) in database.execute(ordered, (*query, K))] == best.tolist()


def test_ties_in_usearch(tied):
    codes, distances, best = tied
    index_module = pytest.importorskip("usearch.index")
    index = index_module.Index(ndim=32, metric="hamming", dtype="b1")
    index.add(np.arange(len(codes)), codes)
    found = index.search(codes[0], K, exact=True)
    assert (found.distances == distances[best]).all() and (distances[found.keys.astype(int)] == found.distances).all()
