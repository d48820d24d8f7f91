"""`wv filter`: paragraphs that came before, shards without records, records that are filtered again."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_filter import REPORT, KilledError, arguments, contents, corpus, cut_off, read, small_blocks
from wv_cli.__main__ import run
from wv_cli.filtering import journal as journals
from wv_cli.filtering import shards

__all__ = ["small_blocks"]  # a fixture


PARAGRAPHS = [
    "Menu\n\nbake the bread\nin 1 oven",
    "menu \n\nthe oven is hot é",
    "MENU\n\n",
    "",
    "bake  the bread\nIn 2 oven",
]


def shards_of(texts, folder):
    """The same texts as JSON lines with and without escapes, CSV with and without quotes."""
    folder.mkdir()
    ascii_lines = [f'{{"id": {n}, "text" : {json.dumps(text)} , "x":1.50}}\n' for n, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("".join(ascii_lines))
    lines = [json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts]
    (folder / "b.jsonl").write_text("".join(lines), encoding="utf-8")
    rows = [f'{n},"{text}"\r\n' if "\n" in text else f"{n},{text}\r\n" for n, text in enumerate(texts)]
    (folder / "c.csv").write_text("id,text\r\n" + "".join(rows), encoding="utf-8", newline="")
    return [folder / name for name in ("a.jsonl", "b.jsonl", "c.csv")]


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        (["in"], ["a/part-0.jsonl", "b/c/part-0.jsonl", "part-1.jsonl"]),
        (["in/"], ["a/part-0.jsonl", "b/c/part-0.jsonl", "part-1.jsonl"]),
        (["in/a/part-0.jsonl", "in/part-1.jsonl"], ["part-0.jsonl", "part-1.jsonl"]),
        (["in/a/part-0.jsonl", "in/b/c/part-0.jsonl"], ["a/part-0.jsonl", "b/c/part-0.jsonl"]),
        (["in/a", "in/b/c"], ["a/part-0.jsonl", "b/c/part-0.jsonl"]),
        (["in/b", "in/part-1.jsonl"], ["c/part-0.jsonl", "part-1.jsonl"]),
    ],
)
def test_shards_keep_their_tree(inputs, outputs, tmp_path, monkeypatch):
    """Of equal names none is lost: each output has the record of its input."""
    monkeypatch.chdir(tmp_path)
    for name in ("a/part-0.jsonl", "b/c/part-0.jsonl", "part-1.jsonl"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"text": "bake the bread", "from": name}) + "\n")
    assert run(["filter", *inputs, "-o", "kept", "--rejected", "others", "--words", "1..", "-q"]) == 0
    for folder, count in (("kept", 1), ("others", 0)):
        found = {str(path.relative_to(folder)): path for path in Path(folder).rglob("*") if path.is_file()}
        assert (found.pop(REPORT, None) is not None) == (folder == "kept")
        assert sorted(found) == outputs
        assert all(len(read(path)) == count for path in found.values())
    assert all(read(tmp_path / "kept" / name)[0]["from"].endswith(name) for name in outputs)


def test_paragraphs_that_came_before_go(tmp_path, capsys):
    """The first of equal lines stays, in the form that CCNet compares; the bytes of all other fields, too."""
    kept = {
        "a.jsonl": b'{"id": 0, "text" : "Menu\\n\\nbake the bread\\nin 1 oven" , "x":1.50}\n'
        b'{"id": 1, "text" : "\\nthe oven is hot \\u00e9" , "x":1.50}\n'
        b'{"id": 3, "text" : "" , "x":1.50}\n'
        b'{"id": 4, "text" : "bake  the bread" , "x":1.50}\n',
        "b.jsonl": '{"text": "Menu\\n\\nbake the bread\\nin 1 oven"}\n{"text": "\\nthe oven is hot é"}\n'
        '{"text": ""}\n{"text": "bake  the bread"}\n'.encode(),
        "c.csv": 'id,text\r\n0,"Menu\n\nbake the bread\nin 1 oven"\r\n1,"\nthe oven is hot é"\r\n3,\r\n'
        '4,"bake  the bread"\r\n'.encode(),
    }
    for path in shards_of(PARAGRAPHS, tmp_path / "in"):
        out = [tmp_path / f"{path.name}-{half}" for half in ("kept", "rejected")]
        command = ["filter", str(path), "-o", str(out[0]), "--rejected", str(out[1]), "--exact-duplicates", "paragraph"]
        assert run([*command, "--json", "-q"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["kept"], found["shortened"], found["rules"]["exact-duplicates"]["rejected"]) == (4, 2, 1)
        assert found["kept_bytes"] == sum(
            map(len, ["Menu\n\nbake the bread\nin 1 oven", "\nthe oven is hot é ", "bake  the bread"])
        )
        assert (out[0] / path.name).read_bytes() == kept[path.name]
        assert run(["filter", str(path), "--dry-run", "--exact-duplicates", "paragraph"]) == 0
        assert "kept 4 of 5 records (80.0%), 2 of them without some paragraphs" in capsys.readouterr().out
        assert b"MENU" in (out[1] / path.name).read_bytes() and b"\\n\\nthe" not in (out[1] / path.name).read_bytes()


def test_paragraphs_in_parquet(tmp_path, capsys):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    wanted = ["Menu\n\nbake the bread\nin 1 oven", "\nthe oven is hot é", "", "bake  the bread"]
    table = pyarrow.table({"text": PARAGRAPHS, "n": range(5), "data": [{"text": text} for text in PARAGRAPHS]})
    kinds = [
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.binary(),
        pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
    ]
    rules = ["--exact-duplicates", "paragraph", "-q"]
    for number, kind in enumerate(kinds):
        values = [text.encode() for text in PARAGRAPHS] if kind == pyarrow.binary() else PARAGRAPHS
        path, out = tmp_path / f"{number}.parquet", tmp_path / "kept"
        parquet.write_table(table.set_column(0, "text", pyarrow.array(values, kind)), path)
        assert run(["filter", str(path), "-o", str(out), *rules]) == 0
        found = parquet.read_table(out / path.name)
        assert found.schema.field("text").type == kind and found["n"].to_pylist() == [0, 1, 3, 4]
        texts = [text.decode() if isinstance(text, bytes) else text for text in found["text"].to_pylist()]
        assert texts == wanted
    assert run(["filter", str(path), "-o", str(tmp_path / "nested"), *rules, "--field", "data.text"]) == 2
    assert "inside a struct cannot be shortened" in capsys.readouterr().err


@pytest.mark.full
def test_paragraphs_are_compute_digest_after_a_cut(small_blocks, tmp_path, monkeypatch):
    inputs = corpus(tmp_path / "in")
    rules = ("--exact-duplicates", "paragraph", "--threads", "2")
    assert run(arguments(inputs, tmp_path / "whole", *rules)) == 0
    cut_off(inputs, tmp_path / "out", monkeypatch, *rules)
    assert run(arguments(inputs, tmp_path / "out", *rules)) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_shard_without_records_counts_as_empty(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")[:1]
    (tmp_path / "in" / "none.jsonl").write_text('{"other": "x"}\n')
    (tmp_path / "in" / "no.csv").write_text("id,other\n1,x\n")
    bad = [str(tmp_path / "in" / "none.jsonl"), str(tmp_path / "in" / "no.csv")]
    for more in (["--dry-run"], ["-o", str(tmp_path / "kept")]):
        assert run(["filter", *bad[:1], *inputs, *bad[1:], "--words", "3..9", *more, "--json"]) == 0
        said = capsys.readouterr()
        assert json.loads(said.out)["unreadable"] == 2 and json.loads(said.out)["kept"] > 9
        assert "none.jsonl: expected the field text, found other" in said.err and "counts as empty" in said.err
    assert (tmp_path / "kept" / "none.jsonl").read_bytes() == b""
    assert run(["filter", *bad, "--words", "3..9", "--dry-run", "-q"]) == 1
    assert "none of the 2 inputs has a record" in capsys.readouterr().err
    for more in (["--threads", "1"], ["--rejected", str(tmp_path / "no" / "rejected")], ["--near-duplicates", "0.72"]):
        given = ["--words", "3..9", "-o", str(tmp_path / "no" / "kept"), *more, "-q"]
        if "--near-duplicates" in more:
            given += ["--save-index", str(tmp_path / "index")]
        assert run(["filter", *bad, *given]) == 1
        assert "none of the 2 inputs has a record" in capsys.readouterr().err
        assert not (tmp_path / "no").exists() and not (tmp_path / "index").exists()
    assert run(["filter", bad[0], "--words", "3..9", "--dry-run", "-q"]) == 1
    assert (
        capsys.readouterr().err == f"wv filter: {bad[0]}: expected the field text, found other; name one with --field\n"
    )


def test_rejected_records_are_filtered_again(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")[:1]
    assert run(arguments(inputs, tmp_path)) == 0
    again = [
        "filter",
        str(tmp_path / "rejected" / "a.jsonl"),
        "-o",
        str(tmp_path / "k2"),
        "--rejected",
        str(tmp_path / "r2"),
    ]
    assert run([*again, "--heuristic", "characters=9..", "-q"]) == 1
    assert "there is already a field of those to be added (filter)" in capsys.readouterr().err
    assert run([*again, "--heuristic", "characters=9..", "-q", "--reason", "second", "--overwrite"]) == 0
    assert all({"filter", "second"} <= set(record) for record in read(tmp_path / "r2" / "a.jsonl"))
    assert run(["filter", *inputs, "--dry-run", "--words", "1..", "--reason", "x"]) == 2
    assert "--reason needs --rejected" in capsys.readouterr().err


def test_duplicates_are_no_work_of_a_cluster(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")[:1]
    for rule in (
        ["--exact-duplicates", "document"],
        ["--near-duplicates", "0.7"],
        ["--words", "1..", "--explain", "1"],
    ):
        more = [] if "--explain" in rule else ["-o", str(tmp_path / "kept")]
        assert run(["filter", *inputs, *rule, *more, "--dask", "local"]) == 2
        assert "is for one process, not for a cluster (--dask)" in capsys.readouterr().err


def test_a_folder_that_is_removed_meanwhile(small_blocks, tmp_path, monkeypatch, capsys):
    """The message blamed a worker, also where none was at work."""
    inputs, usual = corpus(tmp_path / "in"), shards.Shards.finish

    def finish(self, *given):
        shutil.rmtree(tmp_path / "out")
        usual(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(shards.Shards, "finish", finish)
        assert run(arguments(inputs, tmp_path / "out")) == 1
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "skipped" not in line]
    assert said.startswith(f"wv filter: {tmp_path / 'out'}/") and "expected its part file" in said
    assert "its folder is gone or has been emptied" in said
    assert run(arguments(inputs, tmp_path / "out")) == 0


@pytest.mark.parametrize("more", [(), ("--part", "1/1")])
def test_killed_after_the_journal_is_gone(small_blocks, tmp_path, monkeypatch, more):
    """The next run found all done, and left the part files that the killed one had not removed."""
    inputs = corpus(tmp_path / "in")

    def killed(self):
        journals.remove_output(self.path)
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(journals.Journal, "remove", killed)
        with pytest.raises(KilledError):
            run(arguments(inputs, tmp_path / "out", *more))
    assert list((tmp_path / "out" / "kept").glob(".*.wv-part"))
    assert run(arguments(inputs, tmp_path / "out", *more)) == 0
    assert not list((tmp_path / "out" / "kept").glob(".*"))
