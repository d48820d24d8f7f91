"""`wv filter --keys`: duplicates of all parts, found by keys that each part writes. The bytes are those of one run."""

import json
import random
import shutil

import pytest

from tests.conftest import start_wv
from wv_cli.__main__ import run
from wv_cli.filtering import slices

RULES = ("--near-duplicates", "0.72", "--words", "22..")
CHOICES = {
    "verified": RULES,
    "exact, too": (*RULES, "--exact-duplicates", "document"),
    "only exact": ("--exact-duplicates", "document", "--words", "22.."),
    "not verified": (*RULES, "--no-verify"),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Five shards of copies with edits, one with no record, and one whose records are all too short."""
    folder, chance, number = tmp_path_factory.mktemp("tree"), random.Random(1), 0
    words = ["".join(chance.choices("bdfgklmnprst", k=6)) for _ in range(2000)]
    base = [chance.choices(words, k=chance.randrange(20, 100)) for _ in range(60)]
    for name in ("a", "lang=de/c", "lang=de/d", "e", "f"):
        lines = []
        for _ in range(60):
            rate = chance.choice([0, 0, 0.01, 0.03, 0.05])
            text = [chance.choice(words) if chance.random() < rate else word for word in chance.choice(base)]
            lines.append(json.dumps({"id": number, "text": " ".join(text)}) + "\n")
            number += 1
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(lines))
    (folder / "none.jsonl").write_text('{"other": 1}\n')
    (folder / "short.jsonl").write_text('{"text": "two words"}\n' * 3)
    return folder


def outputs(folder):
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".report"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def call(tree, *more):
    return run(["filter", str(tree), *more, "-q"])


def folders(out):
    return ["-o", str(out / "kept"), "--rejected", str(out / "gone")]


def write_keys(tree, keys, count, rules=RULES, *more):
    for number in range(1, count + 1):
        assert call(tree, *rules, "--keys", str(keys), "--part", f"{number}/{count}", *more) == 0


@pytest.mark.parametrize("rules", CHOICES.values(), ids=CHOICES)
def test_any_number_of_parts_gives_the_bytes_of_one_run(tree, tmp_path, capsys, rules):
    assert call(tree, *rules, *folders(tmp_path / "one"), "--json") == 0
    whole = json.loads(capsys.readouterr().out)
    last = [*whole["rules"]][-1]
    assert 50 < whole["rules"][last]["rejected"] < 250
    for count in (1, 3, 8):
        keys, out = tmp_path / f"keys{count}", tmp_path / f"out{count}"
        write_keys(tree, keys, count, rules, "--threads", str(1 + count % 2))
        assert call(tree, *rules, "--keys", str(keys), "--json") == 0
        decided = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert decided["kept"] == whole["kept"] and decided["rules"][last] == whole["rules"][last]
        for number in range(1, count + 1):
            part = ["--part", f"{number}/{count}", "--keys", str(keys), "--threads", "2"]
            assert call(tree, *rules, *part, *folders(out)) == 0
        assert outputs(out) == outputs(tmp_path / "one"), count
        capsys.readouterr()
        assert run(["filter", "--summary", str(out / "kept"), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["rules"] == whole["rules"]
    assert call(tree, *rules, "--keys", str(keys), *folders(tmp_path / "alone")) == 0
    assert outputs(tmp_path / "alone") == outputs(tmp_path / "one")


def test_a_cluster_filters_by_the_decisions(tree, tmp_path):
    pytest.importorskip("distributed")
    rules, keys = CHOICES["exact, too"], tmp_path / "keys"
    write_keys(tree, keys, 2, rules)
    assert call(tree, *rules, "--keys", str(keys)) == 0
    by_workers = ["--keys", str(keys), *folders(tmp_path / "dask"), "--dask", "local"]
    assert start_wv("filter", tree, *rules, *by_workers, "-q", cwd=tmp_path).returncode == 0
    assert call(tree, *rules, *folders(tmp_path / "one")) == 0
    assert outputs(tmp_path / "dask") == outputs(tmp_path / "one")


def test_shards_that_are_cut_elsewhere_give_the_same_records(tree, tmp_path):
    """The same records in one file, and in files of 7."""
    paths = [tree / f"{name}.jsonl" for name in ("a", "e", "f", "lang=de/c", "lang=de/d", "short")]
    lines = [line for path in paths for line in path.read_text().splitlines(keepends=True)]
    kept = []
    for size in (len(lines), 7):
        folder = tmp_path / f"by{size}"
        folder.mkdir()
        for at in range(0, len(lines), size):
            (folder / f"{at:05}.jsonl").write_text("".join(lines[at : at + size]))
        keys, out = tmp_path / f"keys{size}", tmp_path / f"out{size}"
        write_keys(folder, keys, 3)
        assert call(folder, *RULES, "--keys", str(keys)) == 0
        for number in (1, 2, 3):
            assert call(folder, *RULES, "--keys", str(keys), "--part", f"{number}/3", "-o", str(out)) == 0
        kept.append(b"".join(outputs(out)[name] for name in sorted(outputs(out))))
    assert kept[0] == kept[1] and 30 < kept[0].count(b"\n") < 250


def test_slices_of_a_large_file_give_the_bytes_of_one_run(tree, tmp_path, monkeypatch, capsys):
    """Lines that are no records count in no slice; records that go name the number in the whole file."""
    monkeypatch.setattr(slices, "LARGE", 0)
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [line for path in sorted(tree.rglob("*.jsonl")) for line in path.read_text().splitlines(keepends=True)]
    lines[50] = lines[200] = "no record\n"
    (folder / "big.jsonl").write_text("".join(lines))
    shutil.copy(tree / "f.jsonl", folder / "small.jsonl")
    rules = CHOICES["exact, too"]
    assert call(folder, *rules, *folders(tmp_path / "one")) == 0
    one = outputs(tmp_path / "one")
    for count in (2, 5):
        keys, out = tmp_path / f"keys{count}", tmp_path / f"out{count}"
        write_keys(folder, keys, count, rules)
        assert call(folder, *rules, "--keys", str(keys)) == 0
        for number in range(1, count + 1):
            assert call(folder, *rules, "--keys", str(keys), "--part", f"{number}/{count}", *folders(out)) == 0
        found = outputs(out)
        for name in ("kept", "gone"):
            cut = sorted(each for each in found if each.startswith(f"{name}/big-"))
            assert len(cut) > 1 and b"".join(found[each] for each in cut) == one[f"{name}/big.jsonl"]
            assert found[f"{name}/small.jsonl"] == one[f"{name}/small.jsonl"]
    capsys.readouterr()
    assert call(folder, *rules, "--keys", str(keys), *folders(tmp_path / "whole")) == 1
    assert "has no decisions about big.jsonl; filter in as many parts as have written keys" in capsys.readouterr().err


def test_older_indexes_are_asked_and_a_new_one_is_saved(tree, tmp_path):
    """The index is that of one run, byte for byte."""
    old, new, keys = tmp_path / "old", tmp_path / "new", tmp_path / "keys"
    assert call(tree / "a.jsonl", *RULES, "-o", str(tmp_path / "first"), "--save-index", str(old)) == 0
    rules = (*RULES, "--against", str(old))
    assert call(tree, *rules, *folders(tmp_path / "one"), "--save-index", str(new)) == 0
    write_keys(tree, keys, 3, rules)
    assert call(tree, *rules, "--keys", str(keys), "--save-index", str(tmp_path / "again")) == 0
    for number in (1, 2, 3):
        assert call(tree, *rules, "--keys", str(keys), "--part", f"{number}/3", *folders(tmp_path / "out")) == 0
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")
    assert (tmp_path / "again").read_bytes() == new.read_bytes()


def test_a_part_that_has_its_keys_has_nothing_to_do(tree, tmp_path, capsys):
    keys = tmp_path / "keys"
    write_keys(tree, keys, 2)
    before = {path: path.stat().st_mtime_ns for path in keys.iterdir()}
    assert sorted(path.name for path in before) == ["part-1-of-2.keys", "part-2-of-2.keys"]
    write_keys(tree, keys, 2)
    assert {path: path.stat().st_mtime_ns for path in keys.iterdir()} == before
    whole = (keys / "part-1-of-2.keys").read_bytes()
    (keys / "part-1-of-2.keys").write_bytes(whole[:-20])
    capsys.readouterr()
    assert call(tree, *RULES, "--keys", str(keys)) == 1
    assert "cut short or damaged; write it again with wv filter --keys --part" in capsys.readouterr().err
    assert run(["filter", str(tree), *RULES, "--keys", str(keys), "--part", "1/2"]) == 0
    assert (keys / "part-1-of-2.keys").read_bytes() == whole
    assert "part-1-of-2.keys has the keys of " in capsys.readouterr().out


def test_steps_out_of_order_and_other_corpora_are_refused(tree, tmp_path, capsys):
    keys, copied = tmp_path / "keys", tmp_path / "copied"
    shutil.copytree(tree, copied)
    step, out = ["--keys", str(keys)], folders(tmp_path / "out")

    def refused(*words):
        capsys.readouterr()
        assert run(["filter", str(copied), *words]) == 1
        said = capsys.readouterr().err.splitlines()
        assert not (tmp_path / "out").exists()
        return said[-1]

    assert "no keys of parts in this folder; write them with wv filter --keys" in refused(*RULES, *step)
    assert "no such file; give the same command without --part" in refused(*RULES, *step, "--part", "1/2", *out)
    assert call(copied, *RULES, *step, "--part", "2/2") == 0
    assert "expected the keys of 2 parts, found 1; give the command with --part 1/2, too" in refused(*RULES, *step)
    assert call(copied, *RULES, *step, "--part", "1/2") == 0
    other = ("--near-duplicates", "0.8", "--words", "22..")
    assert "expected the settings of this run, found others; write the keys of" in refused(*other, *step)
    assert call(copied, *other, *step, "--part", "1/2") == 0, "keys of another run are replaced"
    assert "expected the settings of the other parts, found others" in refused(*RULES, *step)
    assert call(copied, *RULES, *step, "--part", "1/2") == 0
    assert call(copied, *RULES, *step) == 0
    assert "expected the settings of this run" in refused(*other, *step, "--part", "1/2", *out)
    text = (copied / "e.jsonl").read_text()
    (copied / "e.jsonl").write_text(text[:-1] + " \n")
    assert "expected the corpus of this run, found others" in refused(*RULES, *step)
    (copied / "e.jsonl").write_text(text.replace('"id"', '"no"'))
    capsys.readouterr()
    codes = [call(copied, *RULES, *step, "--part", f"{number}/2", *out) for number in (1, 2)]
    assert sorted(codes) == [0, 1], "the part without the file has nothing to say"
    assert "e.jsonl has changed since its keys were written; write all keys again" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "out")
    shutil.copy(keys / "part-1-of-2.keys", keys / "part-1-of-3.keys")
    assert "expected the keys of one run, found those of runs in 2 and 3 parts; remove" in refused(*RULES, *step)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["--words", "1..", "--keys", "{k}", "--part", "1/2"], "--keys needs --near-duplicates"),
        (["--exact-duplicates", "paragraph", "--keys", "{k}"], "parts have no keys of paragraphs"),
        ([*RULES, "--keys", "{k}", "--dry-run"], "--keys"),
        ([*RULES, "--keys", "{k}", "-o", "-"], "--keys"),
        ([*RULES, "--keys", "{k}", "--rejected", "{k}/gone"], "--rejected needs"),
        ([*RULES, "--keys", "{k}", "--part", "1/2", "--add-scores"], "--add-scores needs"),
        ([*RULES, "--keys", "{k}", "--dask", "local"], "--keys is for one process, not for a cluster (--dask)"),
        ([*RULES, "--keys", "{k}", "--part", "1/2", "--save-index", "{k}/i"], "the step that decides"),
        (
            [*RULES, "--part", "1/2", "-o", "{k}"],
            "a part sees no records of the other parts (--part); give --keys FOLDER, as wv help duplicates shows",
        ),
        (["--exact-duplicates", "paragraph", "--part", "1/2", "-o", "{k}"], "parts have no keys of paragraphs"),
    ],
)
def test_what_is_refused(tree, tmp_path, capsys, more, problem):
    assert run(["filter", str(tree), *(word.format(k=tmp_path / "k") for word in more)]) == 2
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "k").exists()
