"""Parquet of other writers goes through `wv` with its types, and what is added has types that readers agree on."""

import base64
import datetime
import io
import json
import os
import signal
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import BadFile
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.records.parquet_writing import Form, ParquetSink, Rows
from wv_cli.text.records.reading import Column
from wv_cli.text.source import Source
from wv_cli.vectors.recognize import input_texts

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
SCHEMA_OF_SPARK = b"org.apache.spark.sql.parquet.row.metadata"


def written(path, added=None, kept=None, log=None):
    """The file again, with the columns that are added and the rows that `kept` says of their texts."""
    source = Source(
        input_texts([str(path)], log=(log if log is not None else []).append, reading=ReadingConfig(field="text"))
    )
    out = io.BytesIO()
    sink = ParquetSink(out)
    for block in source.blocks(str(path), tuple(added or ())):
        stays = None if kept is None else [kept(text) for text in block.each]
        sink.write(block.to_write({name: of(block) for name, of in (added or {}).items()}, stays))
    sink.close()
    return out


def read(source):
    """The table of a file; read_table cannot take columns of one name, nor views."""
    return parquet.ParquetFile(source).read()


def save(path: Path, table, **settings) -> Path:
    parquet.write_table(table, path, **settings)
    return path


def test_strings_as_views(tmp_path):
    texts, view = ["one", None, "two", "three", ""], arrow.string_view()
    table = arrow.table(
        {
            "text": arrow.array(texts, view),
            "other": arrow.array([*string.ascii_letters[:5]], view),
            "inside": arrow.array([{"a": text} for text in texts], arrow.struct([("a", view)])),
            "many": arrow.array([[text] for text in texts], arrow.list_(view)),
            "bytes": arrow.array([b"1", b"2", b"3", b"4", b"5"], arrow.binary_view()),
        }
    )
    after = read(written(save(tmp_path / "v.parquet", table), kept=lambda text: text != b"three"))
    assert after.schema == table.schema
    assert after.to_pylist() == [table.to_pylist()[row] for row in (0, 2, 4)]


def test_a_text_that_is_no_utf_8_is_a_bad_record(tmp_path):
    texts = arrow.array([b"good", b"caf\xe9", b"", "é".encode()]).view(arrow.string())
    path, log = save(tmp_path / "x.parquet", arrow.table({"text": texts})), []
    assert read(written(path, log=log))["text"].to_pylist() == ["good", "", "é"]
    assert log == [f"{path}: row 2: expected UTF-8, found another byte; skipped"]


@pytest.mark.parametrize("name", ["s3:x.parquet", os.fsdecode(b"\xff\xe9.parquet")])
def test_names_that_pyarrow_takes_for_urls_or_cannot_spell(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with Path(name).open("wb") as file:
        parquet.write_table(arrow.table({"text": ["a b"]}), file)
    assert read(io.BytesIO(written(name).getvalue())).column("text").to_pylist() == ["a b"]


def test_row_groups_of_which_nothing_stays_are_left_out(tmp_path):
    path = save(tmp_path / "g.parquet", arrow.table({"text": ["a", "b", "c", "d"]}), row_group_size=1)
    metadata = parquet.read_metadata(written(path, kept=lambda text: text in (b"a", b"d")))
    assert [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)] == [1, 1]
    assert read(written(path, kept=lambda text: False)).schema.names == ["text"]


@pytest.mark.parametrize("by_spark", [True, False])
def test_times_of_96_bits(tmp_path, by_spark):
    """Microseconds in Spark's files, whose years go beyond 2262; else nanoseconds."""
    unit, years = ("us", (1, 9999)) if by_spark else ("ns", (1700, 2200))
    times = [datetime.datetime(year, 1, 1) for year in years]
    table = arrow.table({"text": ["a", "b"], "t": arrow.array(times, arrow.timestamp(unit))})
    if by_spark:
        table = table.replace_schema_metadata({"org.apache.spark.version": "4.0.0"})
    out = written(save(tmp_path / "t.parquet", table, use_deprecated_int96_timestamps=True))
    file = parquet.ParquetFile(out, coerce_int96_timestamp_unit=unit)
    assert file.schema.column(1).physical_type == "INT96" and file.read()["t"].to_pylist() == times


def test_types_that_pyarrow_reads_as_other_ones(tmp_path):
    """polars and DataFusion take them from the schema that Arrow's writers save: the zone of times in INT96, long
    strings in a dictionary. Elements of lists keep their name."""
    texts = arrow.DictionaryArray.from_arrays(
        arrow.array([0, 1], arrow.int8()), arrow.array(["a", "b"], arrow.large_string())
    )
    times, items = arrow.array([1, 2], arrow.timestamp("us", "UTC")), arrow.list_(arrow.field("item", arrow.int64()))
    table = arrow.table({"text": texts, "t": times, "l": arrow.array([[1], []], items)})
    settings = {"use_deprecated_int96_timestamps": True, "use_compliant_nested_type": False}
    path = save(tmp_path / "a.parquet", table, **settings)
    out = written(path, {"n": lambda block: Column("count", [1, 2])})
    assert saved_schema(out) == table.append_column("n", arrow.array([1, 2])).schema
    assert read(out).drop(["n"]).schema == read(path).schema
    assert "l.list.item" in str(parquet.ParquetFile(out).schema.column(2).path)


def saved_schema(source):
    saved = parquet.read_metadata(source).metadata[b"ARROW:schema"]
    return arrow.ipc.read_schema(arrow.py_buffer(base64.b64decode(saved)))


def test_spark_sees_what_is_added(tmp_path):
    """Its list of columns holds types that Parquet lacks, such as intervals and vectors."""
    columns = {"type": "struct", "fields": [{"name": "text", "type": "string", "nullable": True, "metadata": {}}]}
    added = {
        "n": lambda block: Column("count", [1]),
        "s": lambda block: Column("number", [[np.float32(1)]], many=True),
    }
    for known in (json.dumps(columns), "{}", "[", "null"):
        table = arrow.table({"text": ["a"]}).replace_schema_metadata({SCHEMA_OF_SPARK: known, "other": "1"})
        path = save(tmp_path / "s.parquet", table)
        assert parquet.read_schema(written(path)).metadata == {SCHEMA_OF_SPARK: known.encode(), b"other": b"1"}
        metadata = parquet.read_schema(written(path, added)).metadata
        assert metadata.pop(b"other") == b"1"
        if known[1:] not in ("}", "", "ull"):
            many = {"type": "array", "elementType": "double", "containsNull": True}
            new = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in (("n", "long"), ("s", many))]
            assert json.loads(metadata.pop(SCHEMA_OF_SPARK)) == {**columns, "fields": columns["fields"] + new}
        assert metadata == {}


def test_a_file_without_a_schema_of_arrow_gets_none(tmp_path):
    """Else polars and DataFusion would read Spark's times in another unit than before."""
    path = save(tmp_path / "s.parquet", arrow.table({"text": ["a"]}), store_schema=False)
    assert b"ARROW:schema" not in (parquet.read_metadata(written(path)).metadata or {})


def test_chunks_by_content_and_the_page_index_stay(tmp_path):
    """Equal rows behind other rows are the same bytes of a file."""
    rng = np.random.default_rng(1)
    texts = [rng.bytes(400).hex() for _ in range(8000)]
    cut = {"min_chunk_size": 16384, "max_chunk_size": 65536, "norm_level": 0}
    table = arrow.table({"text": texts}).replace_schema_metadata({"content_defined_chunking": json.dumps(cut)})
    settings = {"compression": "zstd", "write_page_index": True}
    path = save(tmp_path / "c.parquet", table, **settings, use_content_defined_chunking=cut)
    out = written(path, kept=lambda text: text.decode() not in texts[:3])
    assert parquet.read_metadata(out).row_group(0).column(0).has_offset_index
    before, after = path.read_bytes(), out.getvalue()
    windows = [before[at : at + 64] in after for at in range(0, len(before) - 4096, 4096)]
    assert sum(windows) > len(windows) / 2


@pytest.mark.parametrize("said", ['{"x": 1}', '{"min_chunk_size": -1, "max_chunk_size": -5}', "[" * 9999, "7", "\xff"])
def test_chunks_that_cannot_be_are_none(said, tmp_path):
    table = arrow.table({"text": ["a"]}).replace_schema_metadata({"content_defined_chunking": said})
    assert read(written(save(tmp_path / "c.parquet", table))).column("text").to_pylist() == ["a"]


def test_added_numbers_have_the_value_that_was_compared(tmp_path):
    path = save(tmp_path / "n.parquet", arrow.table({"text": ["a", "b"]}))
    table = read(
        written(
            path,
            {
                "score": lambda block: Column("number", [np.float32(0.1), None]),
                "scores": lambda block: Column("number", [[np.float32(0.3)], []], many=True),
                "count": lambda block: Column("count", [16_777_217, None]),
                "vector": lambda block: Column("number", np.array([[0.1, 2], [3, 4]], np.float32), many=True),
            },
        )
    )
    assert [str(table.schema.field(name).type) for name in table.schema.names[1:]] == [
        "double", "list<element: double>", "int64", "list<element: float>"]  # fmt: skip
    assert table["score"].to_pylist() == [0.1, None] and table["scores"].to_pylist() == [[0.3], []]
    assert table["count"].to_pylist() == [16_777_217, None]


def test_two_columns_of_the_name_are_told(tmp_path):
    table = arrow.table([arrow.array(["a"]), arrow.array(["b"])], names=["text", "text"])
    with pytest.raises(BadFile, match="expected one column text, found 2; rename one"):
        written(save(tmp_path / "two.parquet", table))


def test_another_column_may_occur_twice(tmp_path):
    table = arrow.table([["a"], ["b"], ["c"]], names=["text", "x", "x"])
    assert read(written(save(tmp_path / "two.parquet", table))).equals(table)


@pytest.mark.parametrize("kind", ["interval", "variant"])
def test_types_that_would_be_lost_are_told(kind):
    """DuckDB 2.0 has them; pyarrow 26 reads the first as bytes, the second as an object, and would write these."""
    path = GOLDEN / f"duckdb-{kind}.parquet"
    with pytest.raises(BadFile, match=f"columns of type {kind.upper()}, which would be written as bytes; cast them to"):
        written(path)
    source = Source(input_texts([str(path)], log=print, reading=ReadingConfig(field="text")))
    assert [block.each for block in source.blocks(str(path), ())] == [[b"a b c"]]


# The program, terminated while pyarrow writes the second row group, or behind it.
TERMINATED = """
import os, signal, sys
from wv_cli.__main__ import main
from wv_cli.text.records import parquet_writing
within, flush = sys.argv.pop(1) == "within", parquet_writing.ParquetSink._flush
def terminate():
    os.kill(os.getpid(), signal.SIGTERM)
class File:
    def __init__(self, file):
        self.file = file
    def write(self, data):
        terminate()
        return self.file.write(data)
def flush_and_terminate(self):
    if within and self._writer:
        self._output._file = File(self._output._file)
    flush(self)
    if not within:
        terminate()
parquet_writing.ParquetSink._flush = flush_and_terminate
main()
"""


@pytest.mark.parametrize("output", ["b.parquet", "-"])
@pytest.mark.parametrize("when", ["within", "behind"])
def test_a_file_that_is_terminated_is_none(when, output, tmp_path):
    """Nothing is left of a file; what went to a pipe has no end, so that no reader takes it for whole."""
    parquet.write_table(arrow.table({"text": ["the of"] * 90}), tmp_path / "a.parquet", row_group_size=30)
    (tmp_path / "v.vec").write_text("2 2\nthe 1 2\nof 0 1\n")
    options = ["vectors", "v.vec", "a.parquet", "--sentences", "--add", "v", "-o", output]
    command = [sys.executable, "-P", "-c", TERMINATED, when, *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (143, b"wv vectors: terminated\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "v.vec"]
    assert done.stdout.startswith(b"PAR1") == (output == "-") and not done.stdout.endswith(b"PAR1")


def test_a_signal_while_a_writer_is_freed_is_not_lost(monkeypatch):
    """Python drops what a finalizer raises: Ctrl-C there was swallowed, and the run went on."""
    real = parquet.ParquetWriter.__del__

    def finalize(writer):
        real(writer)
        if not interrupted:
            interrupted.append(True)
            os.kill(os.getpid(), signal.SIGINT)

    interrupted = []
    monkeypatch.setattr(parquet.ParquetWriter, "__del__", finalize)
    sink = ParquetSink(io.BytesIO())
    table = arrow.table({"text": ["a"]})
    sink.write(Rows(table, 0, Form("name", {})))
    with pytest.raises(KeyboardInterrupt):
        sink.close()
    assert interrupted
