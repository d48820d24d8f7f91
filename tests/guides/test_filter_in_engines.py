"""The programs of the guide filter-in-engines keep the records that `wv filter` keeps, in the engines that are
installed (extra `engines-filter`; Spark needs Java)."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.guides import console
from wv_cli.guides import guide_text

TEXT = guide_text("filter-in-engines")
MOST_LINES = 20
# The packages of each section, with blanks between them, and what its examples write.
ENGINES = {
    "pandas": ("pandas", ["pandas.jsonl"]),
    "polars": ("polars", ["polars.jsonl", "lazy.jsonl"]),
    "Hugging Face datasets": ("datasets", ["datasets.jsonl"]),
    "datatrove": ("datatrove", ["datatrove"]),
    "Ray Data": ("ray", ["ray"]),
    "Dask": ("dask pandas", ["dask"]),
    "Spark": ("pyspark", ["spark"]),
}
# Warnings of the engines are theirs, and nothing is asked of a network.
ENVIRONMENT = {
    "PYTHONWARNINGS": "ignore",
    "HF_HOME": "hub",
    "HF_HUB_OFFLINE": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "SPARK_LOCAL_IP": "127.0.0.1",
}


def sections():
    """The examples of each engine."""
    parts = re.split(r"^## (.+)$", TEXT, flags=re.MULTILINE)[1:]
    found = {name: console.blocks(body, "python") for name, body in zip(parts[::2], parts[1::2], strict=True)}
    return {name: examples for name, examples in found.items() if examples}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the guide's commands make."""
    work = tmp_path_factory.mktemp("guide")
    assert not console.check(TEXT, work, console.make_path(tmp_path_factory.mktemp("path") / "bin"))
    return work


def records(place):
    """The records in a file, or in the files of a folder."""
    files = (
        [place]
        if place.is_file()
        else [path for path in place.rglob("*") if path.suffix in (".json", ".jsonl", ".part")]
    )
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def ids(place):
    return sorted(int(record["id"]) for record in records(place))


def require(name):
    for package in ENGINES[name][0].split():
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    if name == "Spark" and not shutil.which("java"):
        pytest.skip("Spark needs Java")


def run(example, folder):
    (folder / "example.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "-P", "example.py"],
        cwd=folder, capture_output=True, text=True, env={**os.environ, **ENVIRONMENT}, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_engine_has_its_examples():
    assert [*sections()] == [*ENGINES]
    for name, examples in sections().items():
        assert len(examples) == len(ENGINES[name][1])
        assert all(len([line for line in each.splitlines() if line]) <= MOST_LINES for each in examples), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_keeps_the_same_records(name, request):
    outputs = ENGINES[name][1]
    require(name)
    folder = request.getfixturevalue("folder")
    wanted = ids(folder / "command" / "shard.jsonl")
    for example, output in zip(sections()[name], outputs, strict=True):
        run(example, folder)
        assert ids(folder / output) == wanted and wanted


@pytest.mark.slow
@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_makes_of_other_fields_what_the_table_says(name, request, tmp_path):
    require(name)
    folder = request.getfixturevalue("folder")
    shutil.copy(folder / "rules.toml", tmp_path)
    kept = (folder / "command" / "shard.jsonl").read_text().splitlines()
    odd = [{**json.loads(line), "code": "007", "date": "2013-05-18T10:42:00Z"} for line in kept]
    row = re.search(rf"^\| {name} \| `(.+)` \| `(.+)` \| (kept|an error) \|$", TEXT, flags=re.MULTILINE)
    for example, output in zip(sections()[name], ENGINES[name][1], strict=True):
        write(tmp_path / "shard.jsonl", [*odd[:-1], {**odd[-1], "late": "x"}])
        if row[3] == "an error":
            with pytest.raises(AssertionError, match="'late'"):
                run(example, tmp_path)
            write(tmp_path / "shard.jsonl", odd)
        run(example, tmp_path)
        found = [record.get("metadata", record) for record in records(tmp_path / output)]
        assert len(found) == len(odd)
        assert {json.dumps(record["code"]) for record in found} == {row[1]}
        assert {json.dumps(record["date"]) for record in found} == {row[2]}
        assert any(record.get("late") == "x" for record in found) == (row[3] == "kept")
