"""Names inside folders that are no data: those of Hadoop and Spark, and hidden ones; tables that keep old rows."""

import re
from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import UsageError, WvError
from wv_cli.io import remote
from wv_cli.retrieval.files import find_files
from wv_cli.text.folder_files import describe_table, is_data
from wv_cli.text.input_files import expand_inputs

DATA = ["_part=1/a.jsonl", "part-0.jsonl", "part_1/b.jsonl"]
OTHERS = [
    "_SUCCESS",
    ".part-0.jsonl.crc",
    "_logs/0.jsonl",
    "part_1/_metadata",
    ".git/c.jsonl",
    "_temporary/0/d.jsonl",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (*DATA, *OTHERS):
        path = tmp_path / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if name == "_SUCCESS" else '{"text": "red apples"}\n')
    return tmp_path / "out"


def test_names():
    names = ("a", "_a", ".a", "a_", "_a=1", "._a=1", "__init__.py", "._a.py", "_py")
    assert [name for name in names if is_data(name)] == ["a", "a_", "_a=1", "__init__.py"]


def test_every_reader_of_folders_has_the_same_files(folder):
    wanted = [str(folder / name) for name in DATA]
    log = []
    assert expand_inputs([str(folder)]) == wanted
    assert [found.path for found in find_files([str(folder)], log.append)] == wanted
    assert log == [
        f"{folder}: 3 names that begin with _ are left out, such as {folder}/_logs; give its path to read it"
    ]
    assert expand_inputs([str(folder / "_logs"), str(folder / "_SUCCESS")]) == [
        str(folder / "_logs" / "0.jsonl"), str(folder / "_SUCCESS"),
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["", "below/rows"])
@pytest.mark.parametrize(
    ("mark", "program"),
    [("_delta_log/0.json", "Delta Lake"), (".hoodie/a.properties", "Hudi"), ("metadata/v1.metadata.json", "Iceberg"),
     ("data/0.lance", "Lance")],
)  # fmt: skip
def test_a_table_that_keeps_old_rows_is_no_folder_of_records(folder, mark, program, place):
    """Rows that were deleted or replaced stay in files of the folder, until somebody cleans it up."""
    path = folder / place / mark
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    told = f"{folder / place}: a table of {program}, whose files may hold rows that were deleted or replaced; "
    with pytest.raises(UsageError, match=re.escape(told)):
        expand_inputs([str(folder)])
    assert expand_inputs([str(folder / "part-0.jsonl")])
    log = []
    assert [each.path for each in find_files([str(folder)], log.append)]
    assert sum(message.startswith(told) for message in log) == 1
    assert not any("such as" in message and "_delta_log" in message for message in log)


def test_a_remote_table_is_one_too(monkeypatch):
    monkeypatch.setattr(remote, "files_in", lambda name: [f"{name}/_delta_log/0.json", f"{name}/a.parquet"])
    with pytest.raises(UsageError, match="s3://bucket/rows: a table of Delta Lake"):
        expand_inputs(["s3://bucket/rows"])
    log = []
    assert [each.path for each in find_files(["s3://bucket/rows"], log.append)] == ["s3://bucket/rows/a.parquet"]
    assert "s3://bucket/rows: a table of Delta Lake" in log[0]


@pytest.mark.parametrize(
    "name",
    [
        "_delta_log_of_mine/",
        "metadata/notes.json",
        "a.metadata.json",
        "metadata/a/b.metadata.json",
        "a.lance",
        "data/a.lance/",
    ],
)
def test_names_like_those_of_tables_are_none(name):
    assert describe_table("f", [name]) is None


def test_a_folder_of_other_names_has_no_files(tmp_path):
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(WvError, match=r"no files in this folder \(names that begin with \. or _ are left out\)"):
        expand_inputs([str(tmp_path)])


@pytest.mark.parametrize(
    "call",
    [
        "filter out -o kept --words 1..", "filter out --dry-run --words 1..",
        f"predict {GOLDEN / 'ft-labels.bin'} out --add label", "build-vocab out --min-count 1 -o -",
        "lm train out -o x.lm --order 2 --smoothing witten-bell", "search out apples", "tokenize out",
        f"eval labels {GOLDEN / 'ft-labels.bin'} -d out",
    ],
)  # fmt: skip
def test_what_spark_writes_is_read_by_every_command(wv, tmp_path, call):
    (tmp_path / "out").mkdir()
    for number, text in enumerate(("__label__cake sugar apples", "__label__cake green sugar")):
        (tmp_path / "out" / f"part-0000{number}-c000.json").write_text(f'{{"text":"{text}"}}\n')
    (tmp_path / "out" / "_SUCCESS").touch()
    (tmp_path / "out" / "._SUCCESS.crc").write_bytes(b"crc\0")
    done = wv(*call.split())
    assert done.returncode == 0 and "_SUCCESS" not in done.stderr and "begin with" not in done.stderr
    if call.startswith("filter"):
        assert "kept 2 of 2" in done.stdout + done.stderr
