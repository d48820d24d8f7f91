"""Names inside folders that are no data: those of Hadoop, Spark and Delta, and hidden ones."""

from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from wv_cli.errors import WvError
from wv_cli.retrieval.files import find_files
from wv_cli.text.folder_files import is_data
from wv_cli.text.input_files import expand_inputs

DATA = ["_part=1/a.jsonl", "part-0.jsonl", "part_1/b.jsonl"]
OTHERS = [
    "_SUCCESS",
    ".part-0.jsonl.crc",
    "_delta_log/0.jsonl",
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
        f"{folder}: 3 names that begin with _ are left out, such as {folder}/_delta_log; give its path to read it"
    ]
    assert expand_inputs([str(folder / "_delta_log"), str(folder / "_SUCCESS")]) == [
        str(folder / "_delta_log" / "0.jsonl"), str(folder / "_SUCCESS"),
    ]  # fmt: skip


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
