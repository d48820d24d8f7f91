"""`wv filter --split`: each record that stays is in the folder of its label, with the bytes that it has without."""

import gzip
import json
import os
import resource
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow
import pyarrow.parquet as parquet
import pytest

from tests.cli.test_filter import MODEL, REPORT, STEPS, KilledError, contents, small_blocks
from wv_cli import load_classifier, train
from wv_cli.__main__ import run
from wv_cli.filtering import journal as journals
from wv_cli.filtering import label_files, shard_files, shards
from wv_cli.filtering.label_files import LabelFiles, label_folder

__all__ = ["small_blocks"]  # a fixture

LABELS = ["en", "de", "a/b", None, ".x", 3, True, "null", "日本"]
FOLDERS = ["en", "de", "a%2Fb", "null", "%2Ex", "3", "true", "%6Eull", "日本"]


def corpus(folder, records=400):
    """JSON lines, plain and packed, and CSV. The last record of the plain ones has no line end."""
    folder.mkdir()
    rows = [{"id": i, "text": "bake the bread " * (i % 7), "lang": LABELS[i % 9]} for i in range(records)]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "a.jsonl").write_bytes(b"no record\n" + lines[:-1])
    (folder / "sub").mkdir()
    (folder / "sub" / "b.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0))
    csv = "".join(f"{row['id']},{row['text']},{'' if row['lang'] is None else row['lang']}\n" for row in rows)
    (folder / "c.csv").write_text(f"id,text,lang\n{csv}", encoding="utf-8")
    return str(folder)


def arguments(inputs, out, *more, split="lang"):
    rules = ("--words", "3..9", "--language", f"{MODEL}:bread,baking=0.01..", "--add-scores", "-q")
    split = ["--split", split] if split else []
    return ["filter", inputs, "-o", str(out / "kept"), "--rejected", str(out / "rejected"), *split, *rules, *more]


def files(folder):
    """Every file but the report, unpacked, by its path."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != REPORT]
    unpack = {".gz": gzip.decompress}
    return {str(path.relative_to(folder)): unpack.get(path.suffix, bytes)(path.read_bytes()) for path in paths}


def report_of(out):
    return json.loads((out / "kept" / REPORT).read_text())


def interrupt(*given):
    raise KilledError


def by_folder(name, data):
    """The lines of a file that was not split, by the folder that each belongs to."""
    found, lines = {}, data.splitlines(keepends=True)
    header = lines.pop(0) if name.endswith(".csv") else b""
    for line in lines:
        label = json.loads(line)["lang"] if not header else line.decode().split(",")[2].strip()
        folder = label_folder(label)
        found[f"{folder}/{name}"] = found.get(f"{folder}/{name}", header) + line
    return found


def test_each_label_has_a_folder(small_blocks, tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path / "whole", split=None)) == 0
    assert run([*arguments(inputs, tmp_path / "out"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    wanted, whole = {}, files(tmp_path / "whole" / "kept")
    for name, data in whole.items():
        wanted |= by_folder(name, data)
    assert files(tmp_path / "out" / "kept") == wanted and len(wanted) > 20
    assert {name.split("/")[0] for name in wanted} == {*FOLDERS, "True"}, "CSV has texts alone"
    assert files(tmp_path / "out" / "rejected") == files(tmp_path / "whole" / "rejected")
    assert found["labels"] == report_of(tmp_path / "out")["totals"]["labels"]
    assert sum(found["labels"].values()) == found["kept"]
    shard = report_of(tmp_path / "out")["shards"][0]
    assert sum(shard["labels"].values()) == shard["kept"] and len(shard["output_bytes"]) == len(shard["labels"]) + 1
    assert not [path for path in (tmp_path / "out" / "kept").rglob("*") if path.name.startswith(".")]
    assert run(arguments(inputs, tmp_path / "out")) == 0, "nothing to do"
    assert run(["filter", "--summary", str(tmp_path / "out" / "kept")]) == 0
    assert "in folders: " in capsys.readouterr().out


def test_labels_that_a_file_system_takes_for_one_are_refused(small_blocks, tmp_path, monkeypatch, capsys):
    """Case is ignored by macOS and Windows; a link stands for that here."""
    usual = shards.make_folder

    def make_folder(path, **named):
        other = next((each for each in path.parent.glob("*") if each.name.lower() == path.name.lower()), path)
        if other == path:
            usual(path, **named)
        elif not path.exists():
            path.symlink_to(other)

    monkeypatch.setattr(shards, "make_folder", make_folder)
    shard = tmp_path / "a.jsonl"
    shard.write_text(
        "".join(json.dumps({"text": "bake the bread", "lang": lang}) + "\n" for lang in ("EN", "en", "de"))
    )
    out = tmp_path / "out"
    assert run(["filter", str(shard), "-o", str(out), "--split", "lang", "--words", "1..", "-q"]) == 1
    assert f"{out}/en/a.jsonl: is {out}/EN/a.jsonl on this file system" in capsys.readouterr().err
    assert json.loads((out / "EN" / "a.jsonl").read_text())["lang"] == "EN"


def test_labels_are_those_of_a_rule(tmp_path):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path, split="language")) == 0
    kept = {name for name in files(tmp_path / "kept") if not name.startswith("lang")}
    assert kept == {f"{label}/{name}" for label in ("bread",) for name in ("a.jsonl", "sub/b.jsonl.gz", "c.csv")}
    out = ["-o", str(tmp_path / "any"), "-q", "--split", "best"]
    assert run(["filter", inputs, *out, "--classifier", f"best={MODEL}:*=.."]) == 0
    assert {name.split("/")[0] for name in files(tmp_path / "any")} >= {"bread"}


def test_threads_and_parts_write_the_same(small_blocks, tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    assert run(arguments(inputs, tmp_path / "threads", "--threads", "3")) == 0
    for part in ("1/2", "2/2"):
        assert run(arguments(inputs, tmp_path / "parts", "--part", part)) == 0
    whole = contents(tmp_path / "whole")
    assert contents(tmp_path / "threads") == whole
    assert {name: data for name, data in contents(tmp_path / "parts").items() if ".report" not in name} == whole
    capsys.readouterr()
    for out in ("whole", "parts"):
        assert run(["filter", "--summary", str(tmp_path / out / "kept"), "--json"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == shown[1]


def test_a_run_that_is_cut_off_anywhere_goes_on_to_the_same_bytes(small_blocks, tmp_path, monkeypatch):
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    whole = contents(tmp_path / "whole")
    count = 0
    for place, name in [*STEPS[:3], (LabelFiles, "save"), (shard_files, "open_label_files")]:
        usual = getattr(place, name)
        for number in (1, 3, 20):
            calls = 0

            def step(*given, usual=usual, number=number, **named):
                nonlocal calls
                calls += 1
                if calls == number:
                    raise KilledError
                return usual(*given, **named)

            count += 1
            out = tmp_path / f"out{count}"
            with monkeypatch.context() as patch:
                patch.setattr(place, name, step)
                try:
                    run(arguments(inputs, out, "--threads", "2"))
                except KilledError:
                    assert calls == number
            assert run(arguments(inputs, out, "--threads", "2")) == 0
            assert contents(out) == whole, (name, number)


def test_what_other_labels_left_goes(small_blocks, tmp_path, monkeypatch):
    """Neither the labels of an earlier run, nor a file that was not split, stay beside the new ones."""
    inputs = corpus(tmp_path / "in")
    kept = tmp_path / "out" / "kept"
    assert run(arguments(inputs, tmp_path / "out", split=None)) == 0
    (kept / "mine.txt").write_text("of somebody else")
    assert run(arguments(inputs, tmp_path / "out")) == 1, "other rules"
    assert run(arguments(inputs, tmp_path / "out", "--overwrite")) == 0
    found = files(kept)
    assert "a.jsonl" not in found and "mine.txt" in found and "en/a.jsonl" in found
    with pytest.raises(KilledError), monkeypatch.context() as patch:
        patch.setattr(journals.Journal, "remove", interrupt)
        run(arguments(inputs, tmp_path / "out", "--overwrite", split="language"))
    assert run(arguments(inputs, tmp_path / "out", "--overwrite", split="language")) == 0
    assert {name.split("/")[0] for name in files(kept)} == {"bread", "mine.txt"}
    assert not (kept / "en").exists()
    assert run(arguments(inputs, tmp_path / "out", "--overwrite", split=None)) == 0
    assert {*files(kept)} == {"a.jsonl", "c.csv", "sub/b.jsonl.gz", "mine.txt"}


def test_labels_that_are_gone_from_the_input_go(tmp_path):
    """The rules are the same, so the run needs no --overwrite."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "x y z", "lang": "en"}\n{"text": "x y z", "lang": "de"}\n')
    call = ["filter", str(path), "-o", str(tmp_path / "kept"), "--words", "1..", "--split", "lang", "-q"]
    assert run(call) == 0
    path.write_text('{"text": "x y z", "lang": "fr"}\n{"text": "x y z", "lang": "de"}\n')
    assert run(call) == 0
    assert {*files(tmp_path / "kept")} == {"fr/a.jsonl", "de/a.jsonl"}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_tables(tmp_path, monkeypatch, ending):
    """Rows, their order, types and metadata stay; several groups of a label come together."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(shard_files, "SAVE_BYTES", 1000)
    names = arrow.array([f"l{i % 11}" if i % 5 else None for i in range(3000)]).dictionary_encode()
    table = arrow.table({"text": ["bake the bread"] * 3000, "lang": names, "n": range(3000)}).replace_schema_metadata(
        {"made by": "a test"}
    )
    path, out = tmp_path / f"t.{ending}", tmp_path / "out"
    if ending == "parquet":
        parquet.write_table(table, path, row_group_size=700, compression="zstd")
    else:
        with arrow.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=700)
    call = ["filter", str(path), "-o", str(out), "--where", "n!=7", "--split", "lang", "-q"]
    assert run(call) == 0
    found = {}
    for file in out.glob("*/*"):
        some = parquet.read_table(file) if ending == "parquet" else arrow.ipc.open_file(file).read_all()
        assert some.schema.equals(table.schema, check_metadata=True)
        found[file.parent.name] = some["n"].to_pylist()
        if ending == "parquet":
            assert parquet.read_metadata(file).row_group(0).column(0).compression == "ZSTD"
            assert parquet.read_metadata(file).num_row_groups > 1
    wanted = {}
    for number, label in enumerate(table["lang"].to_pylist()):
        wanted.setdefault(label or "null", []).append(number)
    wanted["l7"].remove(7)
    assert found == wanted
    assert [each.name for each in out.iterdir() if not each.is_dir()] == [REPORT]


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_more_labels_than_files_may_be_open(tmp_path, ending):
    rows = [{"text": "bake the bread", "lang": f"l{i % 500}"} for i in range(2000)]
    path = tmp_path / f"a.{ending}"
    if ending == "parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    used, limits = max(map(int, os.listdir("/proc/self/fd"))), resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 40, limits[1]))
    try:
        assert run(["filter", str(path), "-o", str(tmp_path / "out"), "--words", "1..", "--split", "lang", "-q"]) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert len([*(tmp_path / "out").glob("*/*")]) == 500


@pytest.mark.parametrize(
    ("label", "folder"),
    [
        ("en", "en"),
        ("eng_Latn", "eng_Latn"),
        ("../../etc", "%2E.%2F..%2Fetc"),
        ("..", "%2E."),
        (".", "%2E"),
        ("_SUCCESS", "%5FSUCCESS"),
        ("a\\b:c\0", "a%5Cb%3Ac%00"),
        ("100%", "100%25"),
        (2.5, "2.5"),
        (1.0, "1"),
        ("1.0", "1.0"),
        (-0.0, "0"),
        (1e300, "1e+300"),
        (float("nan"), "null"),
        (Decimal("3.00"), "3"),
        (b"en", "en"),
        (date(2024, 5, 1), "2024-05-01"),
        (False, "false"),
        ("", "null"),
        (None, "null"),
        (["en"], "null"),
        ("\ud800", "\ufffd"),
    ],
)
def test_a_label_is_a_name_of_a_folder(label, folder):
    assert label_folder(label) == folder


@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_a_number_is_the_label_that_training_makes_of_it(tmp_path, ending):
    """However it is written, which the records that are written keep."""
    written = ["1", "1.0", "0.5", "5e-1", "2", '"2"', "true"]
    lines = [f'{{"text": "the  bread",  "stars": {label}}}\n' for label in written]
    shard, out = tmp_path / f"a.{ending}", tmp_path / "out"
    shard.write_text("".join(lines))
    if ending == "parquet":
        rows = [{"text": "the bread", "stars": stars} for stars in map(Decimal, ("1", "1.0", "0.5", "2"))]
        kind = pyarrow.schema([("text", "string"), ("stars", pyarrow.decimal128(9, 4))])
        parquet.write_table(pyarrow.Table.from_pylist([*rows], kind), shard)
    assert run(["filter", str(shard), "-o", str(out), "--split", "stars", "--words", "1..", "-q"]) == 0
    if ending == "jsonl":
        found = {path.parent.name: path.read_text() for path in out.glob("*/*")}
        assert found == {
            "1": "".join(lines[:2]),
            "0.5": "".join(lines[2:4]),
            "2": "".join(lines[4:6]),
            "true": lines[6],
        }
    train(shard, tmp_path / "m.bin", model="supervised", dim=2, epochs=1, min_count=1, label_field=("stars",))
    labels = {label.removeprefix("__label__") for label in load_classifier(tmp_path / "m.bin").labels}
    assert labels == {path.parent.name for path in out.glob("*/*")} >= {"0.5", "1", "2"}


def test_labels_of_a_rule_are_the_values_that_it_was_trained_on(tmp_path):
    rows = [
        {"text": f"{word} bread", "topic": topic} for word, topic in (("old", "social science"), ("new", "50%"))
    ] * 20
    shard = tmp_path / "a.jsonl"
    shard.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {"model": "supervised", "dim": 4, "epochs": 30, "min_count": 1, "threads": 1, "label_field": ("topic",)}
    train(shard, tmp_path / "m.bin", **options)
    rule = ["--classifier", f"best={tmp_path}/m.bin:*=..", "--add-scores"]
    for split in ("best", "topic"):
        assert run(["filter", str(shard), "-o", str(tmp_path / split), "--split", split, *rule, "-q"]) == 0
    assert files(tmp_path / "best") == files(tmp_path / "topic")
    assert {path.name for path in (tmp_path / "best").iterdir()} >= {"social science", "50%25"}


def test_lists_are_told_of(tmp_path, capsys):
    rows = [{"text": "bake", "lang": value} for value in (["en"], {"a": 1}, "en", None)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["filter", f"{tmp_path}/a.jsonl", "--words", "1..", "-o"]
    told = "2 of the first 4 records have a list or an object as lang, which is no label; they go to the folder null"
    assert run([*words, f"{tmp_path}/split", "--split", "lang"]) == 0
    assert told in capsys.readouterr().err
    assert run([*words, f"{tmp_path}/where", "--where", "lang=en"]) == 0
    assert "no label" not in capsys.readouterr().err


def test_long_labels_stay_apart():
    names = {label_folder("日" * 200 + end) for end in "ab"}
    assert len(names) == 2 and all(len(name.encode()) < 160 for name in names)


def test_a_field_with_as_many_values_as_records_is_refused(small_blocks, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(label_files, "MOST", 50)
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path / "out", split="id")) == 1
    assert (
        "--split id: found more than 50 labels, such as 1, 2, 3; name a field with fewer values"
        in capsys.readouterr().err
    )
    assert not [name for name in files(tmp_path / "out" / "kept") if not name.startswith(".")]
    assert run(arguments(inputs, tmp_path / "out", "--overwrite")) == 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["-o", "-"], "--split has no effect with --output -"),
        (["--dry-run"], "--split has no effect with --dry-run"),
        (["-o", "{out}", "--rejected", "{out}/en"], "--rejected needs a folder outside that of --output"),
        (["-o", "{top}"], "lies in the folder of --output, where --split may write anywhere"),
    ],
)
def test_what_is_refused(tmp_path, capsys, words, problem):
    inputs = corpus(tmp_path / "in", 20)
    before = files(tmp_path)
    names = {"out": str(tmp_path / "out"), "top": str(tmp_path)}
    given = [word.format(**names) for word in words]
    assert run(["filter", inputs, "--words", "1..", "--split", "lang", *given]) == 2
    assert problem in capsys.readouterr().err
    assert files(tmp_path) == before


def test_a_column_that_is_not_there_is_refused(tmp_path, capsys):
    corpus(tmp_path / "in", 20)
    assert run(arguments(str(tmp_path / "in" / "c.csv"), tmp_path / "out", split="language_")) == 2
    assert "expected the column language_, found id, text, lang" in capsys.readouterr().err
    assert run(arguments(str(tmp_path / "in" / "a.jsonl"), tmp_path / "out", split="x")) == 0
    assert {*files(tmp_path / "out" / "kept")} == {"null/a.jsonl"}


def test_folders_of_other_parts_are_refused(tmp_path, capsys):
    """A part cannot know which labels the shards of the others had."""
    inputs = corpus(tmp_path / "in")
    for part in ("1/2", "2/2"):
        assert run(arguments(inputs, tmp_path / "out", "--part", part)) == 0
    before = contents(tmp_path / "out")
    assert run(arguments(inputs, tmp_path / "out", "--part", "1/3", "--overwrite")) == 1
    assert "a run in another number of parts wrote folders of labels; remove" in capsys.readouterr().err
    assert contents(tmp_path / "out") == before
    assert run(arguments(inputs, tmp_path / "out", "--overwrite", split="language")) == 0
    assert {name.split("/")[0] for name in files(tmp_path / "out" / "kept")} == {"bread"}


def test_a_worker_writes_the_same(tmp_path, monkeypatch):
    """As the processes of a cluster do it."""
    from wv_cli.filtering.parsing import parse_rules
    from wv_cli.filtering.rule_set import RuleSet
    from wv_cli.filtering.scorer_options import ScorerOptions
    from wv_cli.filtering.shard_pass import PassOptions, ShardTask
    from wv_cli.text.reading_config import RecordsConfig

    inputs = Path(corpus(tmp_path / "in")) / "a.jsonl"
    call = ["filter", str(inputs), "-o", str(tmp_path / "out"), "--words", "3..9", "--split", "lang", "-q"]
    assert run(call) == 0
    (tmp_path / "worker").mkdir()
    rules = RuleSet(tuple(parse_rules("words", "3..9")), ScorerOptions())
    task = ShardTask(rules, RecordsConfig(), (str(tmp_path / "worker"),), PassOptions(only=True, split="lang"))
    done, _ = task.judge_shard((str(inputs), "a.jsonl"))
    root = os.path.realpath(tmp_path / "worker")
    found = {os.path.relpath(path, root): Path(saved.part).read_bytes() for path, saved in done.parts.items()}
    assert found == files(tmp_path / "out")
