"""Vectors in other programs: DuckDB, polars and sqlite-vec open Parquet and SQLite, faiss, usearch and pgvector take
arrays. Those need the extra `engines`."""

import sqlite3
import sys
from contextlib import closing

import numpy as np
import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.errors import UsageError, WvError
from wv_cli.words import WordList

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
MODEL = GOLDEN / "own" / "vectors.vec"
TEXTS = {"faq": "the one tool\n\ntwo in a house", "notes": "of the king"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Word vectors, and chunks of an index as float32, int8 and bits, in every format."""
    folder = tmp_path_factory.mktemp("tables")
    for ending in ("parquet", "sqlite"):
        wv_cli.convert(GOLDEN / "gensim.vec", folder / f"words.{ending}")
    index = wv_cli.Index(model=MODEL)
    index.add(TEXTS)
    for dtype in ("float32", "int8", "bit"):
        for ending in ("parquet", "db", "npy"):
            index.export(folder / f"{dtype}.{ending}", dtype=dtype)
    return folder


@pytest.fixture(scope="module")
def words():
    return wv_cli.load(GOLDEN / "gensim.vec")


@pytest.fixture
def database(files):
    """sqlite-vec, with the files of words and chunks."""
    sqlite_vec, apsw = pytest.importorskip("sqlite_vec"), pytest.importorskip("apsw")
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    for name in ("words.sqlite", "float32.db", "int8.db", "bit.db"):
        connection.execute(f"attach ? as {name.partition('.')[0]}", (str(files / name),))
    return connection


def test_parquet(files, words):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(files / "words.parquet")
    assert str(table.schema.field("vector").type) == "fixed_size_list<element: float>[50]"
    assert table["word"].to_pylist() == list(words)
    assert table["vector"].combine_chunks().flatten().to_numpy().tobytes() == words.matrix.tobytes()


def test_sqlite(files, words):
    with closing(sqlite3.connect(files / "words.sqlite")) as database:
        rows = database.execute("select id, word, vector from vectors order by id").fetchall()
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    assert [(row[0], row[1]) for row in rows] == list(enumerate(words, 1))
    assert b"".join(row[2] for row in rows) == words.matrix.astype("<f4").tobytes()


def test_chunks(files):
    with closing(sqlite3.connect(files / "int8.db")) as database:
        rows = database.execute("select file, line, text, record from chunks").fetchall()
    assert rows == [
        ("faq", 1, "the one tool", None),
        ("faq", 3, "two in a house", None),
        ("notes", 1, "of the king", None),
    ]
    unit, whole, bits = (np.load(files / f"{dtype}.npy") for dtype in ("float32", "int8", "bit"))
    assert (unit.dtype, whole.dtype, bits.dtype) == (np.float32, np.int8, np.uint8)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-6)
    cosines = (unit * wv_cli.encode(MODEL, [row[2] for row in rows])).sum(axis=1)
    lengths = np.linalg.norm(wv_cli.encode(MODEL, [row[2] for row in rows]), axis=1)
    assert (cosines / lengths > 0.9999).all()
    assert (bits == np.packbits(unit > 0, axis=1, bitorder="little")).all() and np.abs(whole).max() == 127
    parquet = pytest.importorskip("pyarrow.parquet")
    for dtype, matrix in {"float32": unit, "int8": whole, "bit": bits}.items():
        table = parquet.read_table(files / f"{dtype}.parquet")
        assert table.column_names == ["file", "line", "text", "record", "vector"]
        assert str(table.schema.field("record").type) == "string"  # though no chunk is of a record
        assert (np.array(table["vector"].to_pylist(), matrix.dtype) == matrix).all()


def test_duckdb(files, words):
    duckdb = pytest.importorskip("duckdb")
    expected = words.similarity("of", "in")
    query = """select array_cosine_similarity(a.vector::FLOAT[50], b.vector::FLOAT[50])
               from read_parquet($path) a, read_parquet($path) b where a.word = 'of' and b.word = 'in'"""
    ((found,),) = duckdb.execute(query, {"path": str(files / "words.parquet")}).fetchall()
    assert abs(found - expected) < 1e-6
    path = {"path": str(files / "int8.parquet")}
    ((kind,),) = duckdb.execute("select typeof(vector::TINYINT[10]) from read_parquet($path) limit 1", path).fetchall()
    assert kind == "TINYINT[10]"


def test_polars(files, words):
    polars = pytest.importorskip("polars")
    table = polars.read_parquet(files / "words.parquet")
    assert table.schema["vector"] == polars.Array(polars.Float32, 50)
    assert table["word"].to_list() == list(words) and (table["vector"].to_numpy() == words.matrix).all()
    assert polars.read_parquet(files / "int8.parquet").schema["vector"].inner == polars.Int8


def test_sqlite_vec_searches_words(database, words):
    """As they are, and in a table of its own."""
    direct = "select word from words.vectors order by vec_distance_cosine(vector, ?) limit 5"
    query = words["king" if "king" in words else "of"].astype("<f4").tobytes()
    expected = [word for word, _ in words.neighbors(["king" if "king" in words else "of"], k=4)]
    assert [word for (word,) in database.execute(direct, (query,))][1:] == expected
    database.execute("create virtual table own using vec0(vector float[50] distance_metric=cosine)")
    database.execute("insert into own(rowid, vector) select id, vector from words.vectors")
    nearest = "select word from own join words.vectors on id = own.rowid where own.vector match ? and k = 5"
    assert [word for (word,) in database.execute(nearest, (query,))][1:] == expected


def test_sqlite_vec_takes_int8_and_bits(database, files):
    unit = np.load(files / "float32.npy")
    dim = unit.shape[1]
    for dtype, kind, maker in (("int8", f"int8[{dim}]", "vec_int8"), ("bit", f"bit[{-(-dim // 8) * 8}]", "vec_bit")):
        database.execute(f"create virtual table own_{dtype} using vec0(vector {kind})")
        database.execute(f"insert into own_{dtype}(rowid, vector) select id, {maker}(vector) from {dtype}.chunks")
        query = np.load(files / f"{dtype}.npy")[1].tobytes()
        found = database.execute(
            f"select rowid, distance from own_{dtype} where vector match {maker}(?) and k = 1", (query,)
        )
        assert list(found) == [(2, 0)]
    cosines = [distance for (distance,) in database.execute(
        "select vec_distance_cosine(vec_int8(vector), vec_int8(?)) from int8.chunks order by id",
        (np.load(files / "int8.npy")[0].tobytes(),))]  # fmt: skip
    np.testing.assert_allclose(cosines, 1 - unit @ unit[0], atol=1e-5)


@pytest.fixture(scope="module")
def nearest(files, words):
    """(the matrix of a file .npy, the rows of the five nearest of its first one)."""
    wv_cli.convert(GOLDEN / "gensim.vec", files / "words.npy")
    listed = list(words)
    return np.load(files / "words.npy"), [listed.index(word) for word, _ in words.neighbors([listed[0]], k=5)]


def test_faiss_takes_arrays(nearest):
    faiss = pytest.importorskip("faiss")
    matrix, expected = nearest
    unit = matrix.copy()
    faiss.normalize_L2(unit)
    index = faiss.IndexFlatIP(matrix.shape[1])
    index.add(unit)
    assert index.search(unit[:1], 6)[1][0, 1:].tolist() == expected


def test_usearch_takes_arrays(nearest):
    index_module = pytest.importorskip("usearch.index")
    matrix, expected = nearest
    index = index_module.Index(ndim=matrix.shape[1], metric="cos", dtype="f32")
    index.add(np.arange(len(matrix)), matrix)
    assert index.search(matrix[0], 6, exact=True).keys[1:].tolist() == expected


def test_pgvector_takes_rows(nearest):
    pgvector = pytest.importorskip("pgvector")
    for row in nearest[0][:5]:
        text = pgvector.Vector(row).to_text()
        assert (pgvector.Vector.from_text(text).to_numpy() == row).all()


@pytest.mark.parametrize("name", ["t.parquet", "t.sqlite"])
def test_words_that_are_not_utf8(name, tmp_path):
    vectors = wv_cli.Embeddings(WordList.from_words([b"a", b"\xff"]), np.eye(2, dtype=np.float32))
    with pytest.raises(WvError, match=r"row 2: the word b'\\xff' is not UTF-8, which (parquet|sqlite) cannot keep"):
        wv_cli.save(tmp_path / name, vectors)
    assert not list(tmp_path.iterdir())


def test_chunks_without_vectors(files, tmp_path):
    index = wv_cli.Index(tmp_path / "i.index")
    index.add(TEXTS)
    index.export(tmp_path / "object.db")
    index.save()
    found = wv_cli.search_export(tmp_path / "i.index", tmp_path / "command.db")
    assert found == {"output": str(tmp_path / "command.db"), "chunks": 3, "dim": 0, "dtype": ""}
    assert (tmp_path / "object.db").read_bytes() == (tmp_path / "command.db").read_bytes()
    for name in (tmp_path / "object.db", files / "float32.db"):
        with closing(sqlite3.connect(name)) as database:
            rows = database.execute("select id, file, line, text, record from chunks").fetchall()
        assert rows == [
            (1, "faq", 1, "the one tool", None),
            (2, "faq", 3, "two in a house", None),
            (3, "notes", 1, "of the king", None),
        ]
    parquet = pytest.importorskip("pyarrow.parquet")
    wv_cli.search_export(tmp_path / "i.index", tmp_path / "t.parquet")
    table = parquet.read_table(tmp_path / "t.parquet")
    assert table.column_names == ["file", "line", "text", "record"] and table["line"].to_pylist() == [1, 3, 1]


@pytest.mark.parametrize("dtype", [None, "int8", "bit"])
def test_the_command_writes_what_the_object_writes(files, dtype, tmp_path):
    index = wv_cli.Index(tmp_path / "i.index", model=MODEL)
    index.add(TEXTS)
    index.save()
    for ending in ("db", "npy"):
        found = wv_cli.search_export(tmp_path / "i.index", tmp_path / f"t.{ending}", dtype=dtype)
        assert found["dtype"] == (dtype or "float32") and found["dim"] == 8
        assert (tmp_path / f"t.{ending}").read_bytes() == (files / f"{found['dtype']}.{ending}").read_bytes()


def test_no_rows(tmp_path):
    for name in ("t.parquet", "t.db"):
        wv_cli.save(tmp_path / name, wv_cli.Embeddings([], np.zeros((0, 3), np.float32)))
    with closing(sqlite3.connect(tmp_path / "t.db")) as database:
        assert database.execute("select count(*) from vectors").fetchone() == (0,)


def test_what_is_refused(monkeypatch, tmp_path):
    index = wv_cli.Index(model=MODEL)
    for options, message in (
        ({"path": "t.csv"}, "t.csv: the ending names no format; choose one of .parquet, .sqlite, .db, .npy"),
    ):
        with pytest.raises(UsageError, match=message):
            index.export(**options)
    plain = wv_cli.Index()
    plain.add(TEXTS)
    with pytest.raises(UsageError, match="would hold the vectors alone, and the index has no vectors; make it"):
        plain.export(tmp_path / "t.npy")
    with pytest.raises(UsageError, match="dtype is the type of vectors, and the index has no vectors"):
        plain.export(tmp_path / "t.db", dtype="int8")
    index.add(TEXTS)
    with pytest.raises(UsageError, match="dtype must be one of float32, int8, bit, not float16"):
        index.export(tmp_path / "t.npy", dtype="float16")
    index.remove([*TEXTS])
    with pytest.raises(UsageError, match="the index: has no texts; add some"):
        index.export(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for call in (lambda: index.export("t.parquet"), lambda: wv_cli.convert("none.vec", tmp_path / "t.parquet")):
        with pytest.raises(WvError, match=r"writing [Pp]arquet needs the package pyarrow; pip install pyarrow"):
            call()
    with pytest.raises(UsageError, match="parquet cannot be written in blocks"):
        monkeypatch.undo()
        wv_cli.whiten(GOLDEN / "gensim.vec", tmp_path / "t.parquet", method="pca")
    assert not list(tmp_path.iterdir())
