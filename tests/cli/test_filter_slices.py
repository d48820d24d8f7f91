"""`wv filter --part I/N` of large files: slices of lines or of row groups, which together are what one run writes."""

import json
import random
from itertools import pairwise

import pytest

from tests.cli.test_filter import arguments, cut_off, read, small_blocks
from tests.cli.test_filter_parts import filter_parts, outputs, summary
from wv_cli.__main__ import run
from wv_cli.filtering import slices
from wv_cli.filtering.slices import Slice, cut_large, refuse_other_cuts
from wv_cli.text.records.spans import cut_lines

__all__ = ["small_blocks"]  # a fixture

pytestmark = pytest.mark.usefixtures("any_size")


@pytest.fixture
def any_size(monkeypatch):
    """Small files are cut, too."""
    monkeypatch.setattr(slices, "LARGE", 0)


def texts(count=500):
    chance = random.Random(3)
    return [
        " ".join(chance.choices(["bake", "the", "bread", "oven", "é"], k=chance.randrange(12))) for _ in range(count)
    ]


@pytest.fixture
def big(tmp_path):
    """JSON lines behind a mark, with a long one, blank ones and some that are no records; the last has no line end."""
    lines = [json.dumps({"id": number, "text": text}, ensure_ascii=False) for number, text in enumerate(texts())]
    lines[100] = json.dumps({"id": 100, "text": "the bread " * 900})
    for number in (7, 250, 498):
        lines[number] = "no record"
    lines[8] = lines[300] = ""
    path = tmp_path / "in" / "big.v1.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbf" + "\n".join(lines).encode())
    (path.parent / "small.jsonl").write_text('{"id": 0, "text": "bake the bread"}\n')
    return path


def joined(found, folder, stem="big.v1"):
    """The slices of an output one after the other, in the order of their names."""
    names = sorted(name for name in found if name.startswith(f"{folder}/{stem}-"))
    assert names
    return b"".join(found[name] for name in names)


@pytest.mark.parametrize("count", [2, 3, 7, 40])
def test_slices_together_are_one_run(small_blocks, big, tmp_path, capsys, count):
    assert run(arguments([str(big.parent)], tmp_path / "whole")) == 0
    filter_parts(str(big.parent), tmp_path / "out", count)
    found, whole = outputs(tmp_path / "out"), outputs(tmp_path / "whole")
    for folder in ("kept", "rejected"):
        assert joined(found, folder) == whole[f"{folder}/{big.name}"]
        assert found[f"{folder}/small.jsonl"] == whole[f"{folder}/small.jsonl"]
    assert summary(tmp_path / "out", capsys) == summary(tmp_path / "whole", capsys)


def test_a_part_of_a_slice_goes_on(small_blocks, big, tmp_path, monkeypatch):
    filter_parts(str(big.parent), tmp_path / "whole", 2)
    for number in (1, 2):
        for point in (1, 2, 1):
            cut_off([str(big.parent)], tmp_path / "out", monkeypatch, "--part", f"{number}/2", number=point)
        assert run([*arguments([str(big.parent)], tmp_path / "out"), "--part", f"{number}/2"]) == 0
    assert outputs(tmp_path / "out") == outputs(tmp_path / "whole")


def test_places_of_what_is_skipped_are_those_in_the_file(big, tmp_path, capsys):
    filter_parts(str(big.parent), tmp_path / "out", 4)
    reports = [json.loads(path.read_text()) for path in (tmp_path / "out" / "kept").glob("*.report")]
    found = [each["byte"] for report in reports for shard in report["shards"] for each in shard["skipped_at"]]
    data, places = big.read_bytes(), []
    while (at := data.find(b"no record", places[-1] + 1 if places else 0)) >= 0:
        places.append(at)
    assert sorted(found) == places


@pytest.mark.parametrize(
    ("first", "said"), [('{"other": 1}\n' * 200, "this file counts as empty"), ("[\n", "found an array; write lines")]
)
def test_what_the_first_lines_of_a_file_say_holds_for_every_slice(small_blocks, tmp_path, capsys, first, said):
    """As in one run, though later lines are records."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "big.jsonl").write_text(first + '{"text": "bake the bread now"}\n' * 900)
    (folder / "small.jsonl").write_text('{"text": "bake the bread now"}\n')
    code = run(arguments([str(folder)], tmp_path / "whole"))
    assert code == int("array" in said)
    for number in (1, 2, 3):
        capsys.readouterr()
        part = [*arguments([str(folder)], tmp_path / "out"), "--part", f"{number}/3"]
        part.remove("-q")
        assert run(part) == code
        assert said in capsys.readouterr().err
    assert not any(path.read_bytes() for path in (tmp_path / "out").rglob("big-*.jsonl"))


def test_first_lines_without_the_field_in_a_slice_are_skipped(small_blocks, tmp_path, capsys):
    """The first block of the file has others."""
    path = tmp_path / "in" / "big.jsonl"
    path.parent.mkdir()
    good, bad = '{"text": "bake the bread now"}\n' * 8, '{"other": 1}\n'
    path.write_text(bad * 20 + good * 9 + bad * 200 + good * 9)
    assert run(arguments([str(path.parent)], tmp_path / "whole")) == 0
    filter_parts(str(path.parent), tmp_path / "out", 5)
    assert joined(outputs(tmp_path / "out"), "kept", "big") == (tmp_path / "whole" / "kept" / "big.jsonl").read_bytes()
    assert summary(tmp_path / "out", capsys) == summary(tmp_path / "whole", capsys)


def test_row_groups(tmp_path, capsys):
    """The same rows in the same row groups, with the same schema."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"id": [*range(500)], "text": [*texts(498), None, "bake the bread"]})
    path = tmp_path / "in" / "big.parquet"
    path.parent.mkdir()
    parquet.write_table(table, path, row_group_size=40, compression="zstd")
    assert run(arguments([str(path.parent)], tmp_path / "whole")) == 0
    filter_parts(str(path.parent), tmp_path / "out", 3)
    for folder in ("kept", "rejected"):
        whole = parquet.ParquetFile(tmp_path / "whole" / folder / path.name)
        pieces = [*map(parquet.ParquetFile, sorted((tmp_path / "out" / folder).glob("big-*-of-*.parquet")))]
        assert len(pieces) == 6
        groups = [piece.read_row_group(i) for piece in pieces for i in range(piece.num_row_groups)]
        wanted = [whole.read_row_group(i) for i in range(whole.num_row_groups)]
        assert len(groups) == len(wanted)
        assert all(one.equals(other, check_metadata=True) for one, other in zip(groups, wanted, strict=True))
    assert summary(tmp_path / "out", capsys) == summary(tmp_path / "whole", capsys)


def test_files_of_other_machines(big, tmp_path):
    """Each part reads its slices only."""
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.pipe("/slices/in/big.v1.jsonl", big.read_bytes())
    try:
        assert run(arguments(["memory://slices/in"], tmp_path / "whole")) == 0
        filter_parts("memory://slices/in", tmp_path / "out", 3)
    finally:
        memory.rm("/slices", recursive=True)
    found, whole = outputs(tmp_path / "out"), outputs(tmp_path / "whole")
    assert joined(found, "kept") == whole[f"kept/{big.name}"]


def test_what_can_only_be_read_whole_is_not_cut(tmp_path):
    """CSV, packed files, and a Parquet file of one row group."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    import gzip

    lines = b"".join(b'{"text": "%d"}\n' % number for number in range(300))
    (tmp_path / "a.csv").write_text("text\n" + "some words\n" * 900)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines))
    (tmp_path / "c.jsonl").write_bytes(gzip.compress(lines))  # its name does not say so
    parquet.write_table(pyarrow.table({"text": texts()}), tmp_path / "d.parquet")
    for path in tmp_path.iterdir():
        whole = [Slice(str(path), path.name)]
        assert cut_large(whole, 4) == whole


def test_only_what_is_larger_than_a_share_is_cut(big, monkeypatch):
    small = Slice(str(big.parent / "small.jsonl"), "small.jsonl")
    found = cut_large([Slice(str(big), big.name), small], 3)
    assert [each.name for each in found] == [
        f"big.v1-{i:05}-of-{len(found) - 1:05}.jsonl" for i in range(len(found) - 1)
    ] + ["small.jsonl"]
    spans = [each.span for each in found[:-1]]
    assert spans[0].begin == 0 and spans[-1].end == big.stat().st_size
    assert all(one.end == other.begin for one, other in pairwise(spans))
    assert big.read_bytes()[spans[1].begin - 1 : spans[1].begin] == b"\n"
    monkeypatch.setattr(slices, "LARGE", 1 << 20)
    assert len(cut_large([Slice(str(big), big.name), small], 3)) == 2


def test_a_line_that_is_longer_than_a_slice(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 900 + b"\nshort\n" + b"y" * 10)
    assert [each[:2] for each in cut_lines(str(path), 10)] == [(0, 901), (901, 917)]
    path.write_bytes(b"")
    assert cut_lines(str(path), 10) == []


def test_records_are_not_written_twice_in_other_slices(big, tmp_path, capsys):
    """A run in other parts, or in one, would leave the slices of the one before beside its own."""
    folder = str(big.parent)
    filter_parts(folder, tmp_path / "out", 2)
    for more in ([], ["--part", "1/3"]):
        before = outputs(tmp_path / "out")
        capsys.readouterr()
        assert run([*arguments([folder], tmp_path / "out"), *more, "--overwrite"]) == 1
        said = capsys.readouterr().err
        assert "has records of an input that this run cuts into other slices; remove it, or name another" in said
        assert outputs(tmp_path / "out") == before
    assert run(arguments([folder], tmp_path / "whole")) == 0
    assert run([*arguments([folder], tmp_path / "whole"), "--part", "1/2", "--overwrite"]) == 1
    assert f"{big.name}: has records of an input" in capsys.readouterr().err
    refuse_other_cuts([tmp_path / "whole" / "kept"], [Slice(folder, "small.jsonl")])


def test_a_name_that_a_slice_would_take(big, capsys, tmp_path):
    (big.parent / "big.v1-00000-of-00003.jsonl").write_text('{"text": "bake the bread"}\n')
    assert run([*arguments([str(big.parent)], tmp_path / "out"), "--part", "1/2"]) == 1
    assert "has the name of a slice of another file; rename it" in capsys.readouterr().err


def test_slices_are_told(big, tmp_path, capsys):
    arguments_of_part = [*arguments([str(big.parent)], tmp_path / "out"), "--part", "1/2"]
    arguments_of_part.remove("-q")
    assert run(arguments_of_part) == 0
    assert "part 1/2 has 2 of 4 files and slices of files" in capsys.readouterr().err
    assert all(read(path) is not None for path in (tmp_path / "out" / "kept").glob("*.jsonl"))
