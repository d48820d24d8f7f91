"""Arrow's own files as records: read and written again as pyarrow has them."""

import json

import pytest

import wv_cli
from tests.conftest import GOLDEN
from wv_cli.errors import WvError
from wv_cli.io.kinds import is_arrow
from wv_cli.text.records.arrow import take_rows

arrow = pytest.importorskip("pyarrow")

TEXTS = ["one two three", "one", "", "x \u00e9 y z", "one two three four"] * 50
TYPES = {
    "string": arrow.string(),
    "large_string": arrow.large_string(),
    "string_view": arrow.string_view(),
    "dictionary": arrow.dictionary(arrow.int32(), arrow.string()),
    "binary": arrow.binary(),
}


def write(path, table, kind, codec=None, rows=70):
    options = arrow.ipc.IpcWriteOptions(compression=codec)
    new = arrow.ipc.new_file if kind == "file" else arrow.ipc.new_stream
    with new(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)


def read(path):
    """(table, rows of each batch)."""
    data = path.read_bytes()
    reader = arrow.ipc.open_file(data) if data.startswith(b"ARROW1") else arrow.ipc.open_stream(data)
    table = reader.read_all()
    return table, [batch.num_rows for batch in table.to_batches()]


def make_table(kind="string"):
    text = arrow.array([each.encode() for each in TEXTS] if kind == "binary" else TEXTS, TYPES[kind])
    columns = {
        "id": arrow.array(range(len(TEXTS)), arrow.int32()),
        "text": text,
        "meta": arrow.array([{"score": i / 7, "tags": ["a"] * (i % 3)} for i in range(len(TEXTS))]),
        "when": arrow.array(range(len(TEXTS)), arrow.timestamp("us", "UTC")),
    }
    return arrow.table(columns).replace_schema_metadata({"huggingface": json.dumps({"info": {}})})


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_filter_keeps_kind_codec_schema_and_batches(tmp_path, kind, codec):
    table = make_table()
    write(tmp_path / "a.arrow", table, kind, codec)
    wv_cli.filter([tmp_path / "a.arrow"], tmp_path / "kept", words="3..9")
    kept, batches = read(tmp_path / "kept" / "a.arrow")
    wanted = table.filter(arrow.array([len(each.split()) >= 3 for each in TEXTS]))
    assert kept.equals(wanted, check_metadata=True) and len(batches) == -(-len(TEXTS) // 70)
    write(tmp_path / "again.arrow", wanted, kind, codec, rows=50)
    sizes = [path.stat().st_size for path in (tmp_path / "kept" / "a.arrow", tmp_path / "again.arrow")]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.2)  # with the codec
    assert (tmp_path / "kept" / "a.arrow").read_bytes().startswith(b"ARROW1") == (kind == "file")


@pytest.mark.parametrize("name", ["polars.arrow", "polars-stream.arrow"])
def test_files_of_polars(tmp_path, name):
    """Their first bytes are other ones than those of Arrow's own library, and strings are views, in lists, too."""
    wv_cli.filter([GOLDEN / name], tmp_path, words="3..9")
    kept, whole = read(tmp_path / name)[0], read(GOLDEN / name)[0]
    assert kept.schema.equals(whole.schema, check_metadata=True)
    assert kept.to_pylist() == [row for row in whole.to_pylist() if row["id"] != 2]
    codecs = [is_compressed(path) for path in (tmp_path / name, GOLDEN / name)]
    assert codecs == [name == "polars-stream.arrow"] * 2


def is_compressed(path):
    """By the magic number of a frame of Zstandard."""
    return b"\x28\xb5\x2f\xfd" in path.read_bytes()


VIEW = arrow.string_view()


def of_views(index):
    return arrow.DictionaryArray.from_arrays(arrow.array([0, 1, None], index), arrow.array(["a", "b"], VIEW))


@pytest.mark.parametrize(
    "column",
    [
        of_views(arrow.uint32()),
        arrow.StructArray.from_arrays([of_views(arrow.int8())], ["c"]),
        arrow.array([["a"], [], None], arrow.list_(VIEW)),
        arrow.array([["a"], [], None], arrow.large_list(VIEW)),
        arrow.array([["a", "b"], ["c", "d"], None], arrow.list_(VIEW, 2)),
        arrow.array([[{"q": "a"}], [], None], arrow.large_list(arrow.struct([("q", VIEW)]))),
        arrow.array([[("k", "v")], [], None], arrow.map_(VIEW, VIEW)),
    ],
    ids=lambda column: str(column.type),
)
def test_rows_of_views_are_taken(column):
    table = arrow.table({"text": arrow.array(["x", "y", "z"], VIEW), "other": column})
    found = take_rows(table, [True, False, True])
    assert found.schema == table.schema
    assert found["other"].to_pylist() == [column.to_pylist()[0], column.to_pylist()[2]]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_every_type_of_text(tmp_path, kind, name):
    ending = "feather" if kind == "file" else "arrows"
    write(tmp_path / f"a.{ending}", make_table(name), kind)
    wv_cli.tokenize([tmp_path / f"a.{ending}"], output=tmp_path / "out.txt", words="blanks")
    assert (tmp_path / "out.txt").read_text().splitlines() == TEXTS
    wv_cli.filter([tmp_path / f"a.{ending}"], tmp_path / "kept", words="3..9", add_scores=True)
    kept, _ = read(tmp_path / "kept" / f"a.{ending}")
    assert kept.schema.field("text").type == TYPES[name] and kept["words"].to_pylist()[:3] == [3, 4, 4]


def test_a_batch_larger_than_a_block(tmp_path):
    table = arrow.table({"text": [f"{i} x" for i in range(10_000)]})
    write(tmp_path / "a.arrow", table, "stream", rows=10_000)
    wv_cli.filter([tmp_path / "a.arrow"], tmp_path / "kept", words="2..9")
    kept, batches = read(tmp_path / "kept" / "a.arrow")
    assert kept.equals(table) and batches == [10_000]


def test_a_folder_of_datasets(tmp_path):
    """As Dataset.save_to_disk writes it, and DatasetDict around it."""
    (tmp_path / "set" / "train").mkdir(parents=True)
    write(tmp_path / "set" / "train" / "data-00000-of-00001.arrow", make_table(), "stream")
    for name in ("train/state.json", "train/dataset_info.json", "dataset_dict.json"):
        (tmp_path / "set" / name).write_text('{\n  "splits": ["train"]\n}')
    found = wv_cli.filter([tmp_path / "set"], tmp_path / "kept", words="3..9")
    assert found["records"] == len(TEXTS)
    assert (tmp_path / "kept" / "train" / "data-00000-of-00001.arrow").is_file()


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("rows", [0, 5])
def test_few_rows(tmp_path, kind, rows):
    write(tmp_path / "a.arrow", make_table().slice(0, rows), kind)
    wv_cli.filter([tmp_path / "a.arrow"], tmp_path / "kept", words="1000..2000")
    kept, _ = read(tmp_path / "kept" / "a.arrow")
    assert kept.num_rows == 0 and kept.schema.equals(make_table().schema)


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_damaged_file_is_an_error(tmp_path, kind):
    write(tmp_path / "a.arrow", make_table(), kind)
    data = (tmp_path / "a.arrow").read_bytes()
    for cut in (10, len(data) // 2, len(data) - 300):
        (tmp_path / "cut.arrow").write_bytes(data[:cut])
        with pytest.raises(WvError, match=r"cut.arrow: expected (an Arrow IPC file or stream|the rows of batch \d)"):
            wv_cli.filter([tmp_path / "cut.arrow"], tmp_path / "kept", words="3..9")
    assert not (tmp_path / "kept" / "cut.arrow").exists()
    (tmp_path / "text.arrow").write_text("one two\n")
    with pytest.raises(WvError, match=r"text.arrow: expected an Arrow IPC"):
        wv_cli.filter([tmp_path / "text.arrow"], tmp_path / "kept", words="3..9")


def test_another_ending_is_advised(tmp_path):
    for kind, what in (("file", "an Arrow IPC file"), ("stream", "an Arrow IPC stream")):
        write(tmp_path / "a.bin", make_table(), kind)
        assert is_arrow((tmp_path / "a.bin").read_bytes()[:64])
        with pytest.raises(WvError, match=rf"a.bin: .*found {what}.*; end its name in .arrow"):
            wv_cli.build_vocab([tmp_path / "a.bin"], tmp_path / "v")
    # How a stream of polars begins: its message has its root at byte 4, where Arrow's own writers have 16.
    (tmp_path / "p.bin").write_bytes(bytes.fromhex("ffffffffe000000004000000f2ffffff1400000004000100") + bytes(40))
    with pytest.raises(WvError, match=r"p.bin: .*found an Arrow IPC stream; end its name in .arrow"):
        wv_cli.build_vocab([tmp_path / "p.bin"], tmp_path / "v")


def test_one_output_has_one_file(tmp_path, capsys):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.arrow", make_table(), "stream")
    (tmp_path / "l.txt").write_text("__label__a one two\n__label__b three four\n" * 20)
    wv_cli.train([tmp_path / "l.txt"], tmp_path / "m.bin", model="supervised", dim=4, min_count=1)
    with pytest.raises(WvError, match="writes one file of arrow, and there are 2"):
        wv_cli.predict(tmp_path / "m.bin", [tmp_path / "a.arrow", tmp_path / "b.arrow"], tmp_path / "o.arrow", add="l")
    wv_cli.predict(tmp_path / "m.bin", [tmp_path / "a.arrow"], tmp_path / "o.arrow", add="l")
    found, _ = read(tmp_path / "o.arrow")
    assert found.column_names == ["id", "text", "meta", "when", "l", "l_score", "l_known"]
