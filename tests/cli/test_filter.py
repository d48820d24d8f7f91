"""`wv filter`: what stays and what does not, runs that are killed and go on, and what is refused."""

import gzip
import json
import random
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from tests.processes import Process, has_used, run_measured
from wv_cli.__main__ import run
from wv_cli.filtering import journal as journals
from wv_cli.filtering import part_files, shard_files, shards
from wv_cli.io import compression
from wv_cli.text import record_files

MODEL = GOLDEN / "ft-labels.ftz"
REPORT = "_filter.report"


def corpus(folder, records=400):
    """A shard of JSON lines, one in CSV, one packed in two members, with lines that are no records."""
    folder.mkdir(exist_ok=True)
    chance = random.Random(1)
    lines = []
    for number in range(records):
        text = " ".join(chance.choices(["bake", "the", "bread", "oven", "é\n"], k=chance.randrange(12)))
        lines.append(json.dumps({"id": number, "text": text}, ensure_ascii=number % 2 == 0) + "\n")
    lines[7] = "no record\n"
    lines[8] = "\n"
    (folder / "a.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "b.jsonl.gz").write_bytes(
        gzip.compress("".join(lines[:99]).encode(), mtime=0) + gzip.compress("".join(lines[99:]).encode(), mtime=0)
    )
    rows = [f'{number},"{json.loads(line)["text"]}"\r\n' for number, line in enumerate(lines) if line[0] == "{"]
    (folder / "c.csv").write_text("id,text\r\n" + "".join(rows), encoding="utf-8", newline="")
    return [str(folder / name) for name in ("a.jsonl", "b.jsonl.gz", "c.csv")]


def contents(*folders):
    """Every file, hidden ones too, but for the report, which has the time."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for folder in folders
        for path in Path(folder).rglob("*")
        if path.is_file() and path.name != REPORT
    }


def read(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def text_of(line):
    return json.loads(line)["text"]


@pytest.fixture
def small_blocks(monkeypatch):
    """Some dozen blocks a shard, and a point after each three or so."""
    monkeypatch.setattr(record_files, "CHUNK", 1500)
    monkeypatch.setattr(compression, "CHUNK", 1500)
    monkeypatch.setattr(shard_files, "SAVE_BYTES", 4000)
    monkeypatch.setattr(part_files.host, "sync", lambda descriptor: None)  # of hundreds of points


def arguments(inputs, out, *more):
    rules = ("--words", "3..9", "--language", f"{MODEL}:bread,baking=0.01..", "--add-scores")
    return ["filter", *inputs, "-o", str(out / "kept"), "--rejected", str(out / "rejected"), *rules, "-q", *more]


def test_records_stay_as_they_are_and_in_order(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    rejected = tmp_path / "rejected"
    assert run(["filter", *inputs, "-o", str(tmp_path / "kept"), "--rejected", str(rejected), "--words", "3..9"]) == 0
    shown, said = capsys.readouterr()
    assert f"{inputs[0]}:8: byte" in said and "expected a JSON object; skipped" in said
    lines = Path(inputs[0]).read_bytes().splitlines(keepends=True)
    good = [line for line in lines if line.startswith(b"{")]
    stays = [3 <= len(text_of(line).encode().split()) <= 9 for line in good]
    wanted = b"".join(line for line, kept in zip(good, stays, strict=True) if kept)
    others = [line[:-2] + b',"filter":"words"}\n' for line, kept in zip(good, stays, strict=True) if not kept]
    assert (tmp_path / "kept" / "a.jsonl").read_bytes() == wanted
    assert (rejected / "a.jsonl").read_bytes() == b"".join(others)
    assert gzip.decompress((tmp_path / "kept" / "b.jsonl.gz").read_bytes()) == wanted
    rows = (tmp_path / "kept" / "c.csv").read_bytes()
    assert rows.startswith(b"id,text\r\n") and set(rows.split(b"\r\n")) < set(
        Path(inputs[2]).read_bytes().split(b"\r\n")
    )
    assert (rejected / "c.csv").read_bytes().startswith(b"id,text,filter\r\n")
    left = {path.name for folder in (tmp_path / "kept", rejected) for path in folder.iterdir()}
    assert left == {"a.jsonl", "b.jsonl.gz", "c.csv", REPORT}, "no journal and no part"
    assert f"kept {3 * sum(stays):,} of {3 * len(stays):,} records" in shown


def test_scores_are_added_and_counted(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")[:1]
    assert run([*arguments(inputs, tmp_path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    kept = read(tmp_path / "kept" / "a.jsonl")
    rejected = read(tmp_path / "rejected" / "a.jsonl")
    for record in [*kept, *rejected]:
        assert record["words"] == len(record["text"].encode().split())
        assert (record["language"] is None) == (record.get("filter") == "words")
    assert (len(kept), len(kept) + len(rejected)) == (result["kept"], result["records"])
    rule = result["rules"]["words"]
    assert rule["seen"] == result["records"] and rule["rejected"] == sum(each["filter"] == "words" for each in rejected)
    points = rule["percentiles"]
    assert len(points) == 101 and points == sorted(points)
    assert points[0] == min(each["words"] for each in [*kept, *rejected])
    assert result["rules"]["language"]["seen"] == result["records"] - rule["rejected"]


def test_a_dry_run_counts_the_same_and_writes_nothing(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    rules = ["--words", "3..9", "--json", "-q"]
    assert run(["filter", *inputs, *rules, "--dry-run"]) == 0
    dry = json.loads(capsys.readouterr().out)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}
    assert run(["filter", *inputs, *rules, "-o", str(tmp_path / "kept"), "--threads", "3"]) == 0
    wet = json.loads(capsys.readouterr().out)
    assert {name: dry[name] for name in ("records", "kept", "rules")} == {
        name: wet[name] for name in ("records", "kept", "rules")
    }


def test_the_report_of_a_filter_is_data(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    assert run(["filter", *inputs, "--words", "3..9", "--dry-run", "-q"]) == 0
    dry = capsys.readouterr()
    assert dry.out.splitlines()[0].split()[:3] == ["rule", "records", "rejected"] and not dry.err
    assert run(["filter", *inputs, "--words", "3..9", "-o", str(tmp_path / "kept")]) == 0
    assert capsys.readouterr().out == dry.out
    assert run(["filter", *inputs, "--words", "3..9", "-o", str(tmp_path / "again"), "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_one_record_is_explained(tmp_path, capsys):
    inputs = corpus(tmp_path / "in")
    assert run(["filter", *inputs, "--words", "3..9", "--heuristic", "characters=..5", "--explain", "8"]) == 0
    shown = capsys.readouterr().out.splitlines()
    record = [line for line in Path(inputs[0]).read_text(encoding="utf-8").splitlines() if line.startswith("{")][7]
    assert shown[0].startswith(f"record 8 of {inputs[0]}: ")
    assert any(line.startswith(f"words\t{len(text_of(record).encode().split())}\t") for line in shown)
    assert any(line.startswith(f"characters\t{len(text_of(record))}\t") for line in shown)
    assert run(["filter", *inputs, "--words", "3..9", "--explain", "9999"]) == 2
    assert "the inputs have" in capsys.readouterr().err


def is_whole(out):
    """Whether the outputs of a shard are whole and only lack their names: nothing is written to them any more."""
    journal = out / "kept" / ".wv-filter.json"
    return journal.exists() and json.loads(journal.read_text())["point"]["whole"]


class KilledError(BaseException):
    """No handler of errors takes it."""


STEPS = [(journals.Journal, "write"), (part_files.PartFile, "save"), (shards, "publish"), (shard_files, "open_sink")]


def test_a_run_that_is_cut_off_anywhere_goes_on_to_the_same_bytes(small_blocks, tmp_path, monkeypatch):
    """Before and after each step that changes a file. What was written after the last point is torn."""
    inputs = corpus(tmp_path / "in")
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    whole = contents(tmp_path / "whole")
    count = 0
    for place, name in STEPS:
        usual = getattr(place, name)
        for after in (False, True):
            for number in (1, 4):
                calls = 0

                def step(*given, usual=usual, number=number, after=after):
                    nonlocal calls
                    calls += 1
                    if calls == number and not after:
                        raise KilledError
                    done = usual(*given)
                    if calls == number:
                        raise KilledError
                    return done

                count += 1
                out = tmp_path / f"out{count}"
                with monkeypatch.context() as patch:
                    patch.setattr(place, name, step)
                    with pytest.raises(KilledError):
                        run(arguments(inputs, out, "--threads", "2"))
                for part in [] if is_whole(out) else out.rglob("*.wv-part"):
                    with part.open("ab") as file:
                        file.write(b"torn" * 10_000)  # more than will be written there
                assert run(arguments(inputs, out, "--threads", "2")) == 0
                assert contents(out) == whole, (name, after, number)


RUNNER = """
import sys
from wv_cli.filtering import shard_files
from wv_cli.io import compression
from wv_cli.text import record_files
record_files.CHUNK = compression.CHUNK = 1500
shard_files.SAVE_BYTES = 4000
from wv_cli.__main__ import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2))
def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path, seed):
    """SIGKILL at random moments until a run comes to its end."""
    inputs = corpus(tmp_path / "in", 4000)
    start = [sys.executable, "-c", RUNNER]
    seconds = run_measured([*start, *arguments(inputs, tmp_path / "whole")])
    whole, chance, kills = contents(tmp_path / "whole"), random.Random(seed), 0
    for _ in range(40):
        began = Process([*start, *arguments(inputs, tmp_path / "out", "--threads", str(1 + seed % 2))])
        if kills < 6 and has_used(began, chance.uniform(0.1, 0.7) * seconds):
            began.send_signal(chance.choice([signal.SIGKILL, signal.SIGTERM]))
            kills += 1
        if began.wait() == 0:
            break
    assert kills and contents(tmp_path / "out") == whole


def test_parts_are_on_the_disk_before_the_journal_says_so(small_blocks, tmp_path, monkeypatch):
    inputs, events, usual = corpus(tmp_path / "in")[:1], [], journals.Journal.write

    def write(self, point):
        events.append("journal")
        with monkeypatch.context() as patch:
            patch.setattr(part_files.host, "sync", lambda descriptor: None)
            usual(self, point)

    monkeypatch.setattr(part_files.host, "sync", lambda descriptor: events.append("part"))
    monkeypatch.setattr(journals.Journal, "write", write)
    assert run(arguments(inputs, tmp_path)) == 0
    assert events[-3:] == ["journal", "part", "part"] and len(events) > 9, "the report and its folder come last"
    points = [events[at : at + 4] for at in range(0, len(events) - 3, 4)]
    assert all(point == ["part", "part", "part", "journal"] for point in points), "kept, rejected, report"


def cut_off(inputs, out, monkeypatch, *more, number=1):
    """A run that ends behind its first point, or behind that of a `number`."""
    with monkeypatch.context() as patch:
        usual = journals.Journal.write

        def write(self, point):
            nonlocal number
            usual(self, point)
            number -= 1
            if number == 0:
                raise KilledError

        patch.setattr(journals.Journal, "write", write)
        with pytest.raises(KilledError):
            run(arguments(inputs, out, *more))


def test_a_run_goes_on_only_as_it_began(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")
    cut_off(inputs, tmp_path, monkeypatch)
    before = contents(tmp_path / "kept")
    other = arguments(inputs, tmp_path)
    other[other.index("3..9")] = "4..9"
    for wrong, differs in (
        (other, "rules"),
        (arguments(inputs[:2], tmp_path), "inputs"),
        (arguments(inputs, tmp_path, "--flatten", "none"), "settings"),
        (arguments(inputs, tmp_path, "--field", "id"), "reading"),
        ([word for word in arguments(inputs, tmp_path) if word != "--add-scores"], "--add-scores"),
    ):
        assert run(wrong) == 1
        said = capsys.readouterr().err
        assert f"belongs to a run with other {differs}" in said and "--overwrite" in said
        assert contents(tmp_path / "kept") == before
    data = Path(inputs[0]).read_bytes()
    Path(inputs[0]).write_bytes(data.replace(b'"id": 200', b'"id": 201'))
    assert run(arguments(inputs, tmp_path)) == 1
    assert "other inputs (a.jsonl has other contents); give" in capsys.readouterr().err
    Path(inputs[0]).write_bytes(data + b"\n")
    assert run(arguments(inputs, tmp_path)) == 1
    assert "other inputs (a.jsonl has " in capsys.readouterr().err
    assert run(arguments(inputs, tmp_path, "--overwrite")) == 0
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    assert contents(tmp_path / "kept", tmp_path / "rejected") == contents(
        tmp_path / "whole/kept", tmp_path / "whole/rejected"
    )


def test_another_model_of_the_name_is_another_run(small_blocks, tmp_path, monkeypatch, capsys):
    inputs = corpus(tmp_path / "in")
    model = tmp_path / "model.ftz"
    model.write_bytes(MODEL.read_bytes())
    monkeypatch.setitem(globals(), "MODEL", model)
    cut_off(inputs, tmp_path, monkeypatch)
    model.write_bytes((GOLDEN / "ft-labels.bin").read_bytes())
    assert run(arguments(inputs, tmp_path)) == 1
    assert "belongs to a run with other models" in capsys.readouterr().err


def test_one_run_at_a_time_in_a_folder(tmp_path, capsys):
    from wv_cli.io.lock import hold_lock

    inputs = corpus(tmp_path / "in")
    for folder in ("kept", "rejected"):
        (tmp_path / folder).mkdir(exist_ok=True)
        with hold_lock(tmp_path / folder / ".wv-filter.json", "a test"):
            assert run(arguments(inputs, tmp_path)) == 1
        assert "another wv filter" in capsys.readouterr().err
        assert not list((tmp_path / "kept").glob("[!.]*"))


def test_a_shard_that_vanishes_is_one_line(small_blocks, tmp_path, monkeypatch, capsys):
    """What is done stays, and the run goes on when the shard is there again."""
    inputs = corpus(tmp_path / "in")
    away = tmp_path / "away"
    usual = shards.Shards.finish

    def finish(self, *given):
        usual(self, *given)
        Path(inputs[1]).rename(away)

    with monkeypatch.context() as patch:
        patch.setattr(shards.Shards, "finish", finish)
        assert run(arguments(inputs, tmp_path / "out")) == 1
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "skipped" not in line]
    assert said == f"wv filter: {inputs[1]}: cannot read: no such file or directory; check the spelling of the path"
    away.rename(inputs[1])
    assert run(arguments(inputs, tmp_path / "out")) == 0
    assert run(arguments(inputs, tmp_path / "whole")) == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


@pytest.mark.parametrize("syncs", [0, 2, 3])
def test_a_full_disk_is_one_line(small_blocks, tmp_path, monkeypatch, capsys, syncs):
    inputs, sync, left = corpus(tmp_path / "in"), part_files.host.sync, iter(range(syncs))

    def full(descriptor):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(part_files.host, "sync", full)
        assert run(arguments(inputs, tmp_path / "out")) == 1
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "skipped" not in line]
    assert "cannot write: no space left on device" in said
    # The part file stayed, which no journal named: it took room on the full disk and was of no use.
    assert not (tmp_path / "out" / "kept").exists()
    assert [run(arguments(inputs, tmp_path / name)) for name in ("out", "whole")] == [0, 0]
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_run_that_fails_leaves_no_empty_folder(tmp_path, capsys):
    bad, kept = tmp_path / "bad.jsonl", tmp_path / "new" / "kept"
    bad.write_text('{"text": 5}\n')
    call = ["filter", str(bad), "-o", str(kept), "--words", "1..", "--near-duplicates", "0.7"]
    assert run(call) == 1 and "the field text is no string" in capsys.readouterr().err
    assert not kept.parent.exists()
    kept.mkdir(parents=True)
    assert run(call) == 1 and kept.exists() and not contents(kept)


@pytest.mark.parametrize(
    ("data", "found", "step"),
    [
        (
            b'{"text": "one two three"}\n',
            "JSON lines without such an ending",
            "end its name in .jsonl, or give --field",
        ),
        (b"id,text\n1,one two three\n", "CSV without such an ending", "end its name in .csv, or give --field"),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture", "give records"),
        (b"one two three\nfour\n", "text", "to filter its lines, end its name in .tsv and give --no-header --field 1"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_name_without_an_ending_of_records(data, found, step, pack, tmp_path, monkeypatch, capsys):
    """The next step works."""
    monkeypatch.chdir(tmp_path)
    Path("records").write_bytes(pack(data))
    call = ["--words", "2..", "-o", "kept", "-q"]
    assert run(["filter", "records", *call]) == 2
    said = f"expected a file of records (.jsonl, .csv, .tsv, .parquet, .arrow, .warc), found {found}; {step}"
    assert capsys.readouterr().err == f"wv filter: records: {said}\n"
    if ending := re.search(r"\.[a-z]+", step):
        name = f"records{ending[0]}" + ".gz" * (pack is not bytes)
        Path("records").rename(name)
        more = ["--no-header", "--field", "1"] if "--no-header" in step else []
        assert run(["filter", name, *call, *more]) == 0
        kept = Path("kept", name).read_bytes()
        assert b"one two three" in (kept if pack is bytes else gzip.decompress(kept))


@pytest.mark.parametrize("name", ["README.md", "LICENSE"])
def test_a_file_beside_the_shards_of_a_folder(name, tmp_path, monkeypatch, capsys):
    """The pattern that the message names leaves it out."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in", name).write_text("Shards of a corpus.")
    Path("in", "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "one two three"}\n'))
    assert run(["filter", "in", "--words", "2..", "-o", "kept", "-q"]) == 2
    said = capsys.readouterr().err
    assert "found text; to leave it out, name the files beside it, such as in/*.jsonl.gz; to filter its lines" in said
    assert [str(path) for path in Path().glob("in/*.jsonl.gz")] == ["in/a.jsonl.gz"]
    assert run(["filter", f"in/{name}", "--words", "2..", "-o", "kept", "-q"]) == 2
    assert "to leave it out" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["{a}", "-o", "{in}", "--words", "1.."], "is both read and written; choose another output"),
        (["{in}", "-o", "{in}/kept", "--words", "1.."], "/in, so that the same command given again would read what"),
        (["{in}", "-o", "{out}", "--words", "1..", "--rejected", "{in}/x/y"], "choose a place outside, or a name that"),
        (["{in}", "--near-duplicates", ".9", "--dry-run", "--clusters", "{in}/c.tsv"], "/in/c.tsv: lies in "),
        (["{in}", "--near-duplicates", ".9", "--keys", "{in}/keys"], "/in/keys: lies in "),
        (["{a}", "{in}", "-o", "{out}", "--words", "1.."], "/in/a.jsonl is given twice; name it once"),
        (["{a}", "-o", "{a}", "--words", "1.."], "is a file; name a folder"),
        (["{a}", "-o", "{out}"], "no rule is given"),
        (["{a}", "-o", "{out}", "--words", "1..", "--unit", "document"], "--unit needs --language or --classifier or"),
        (["{a}", "-o", "{out}", "--replace-pii", "--rejected", "{out}.no"], "no rule is given"),
        (["{a}", "-o", "{out}", "--where", "id>3", "--near-duplicates", "0.7", "--add-scores"], "--add-scores needs"),
        (["-o", "{out}", "--words", "1.."], "no input; name files or folders, or - for standard input"),
        (["{a}", "--words", "1.."], "give -o FOLDER, or --dry-run or --explain N"),
        (["{a}", "--words", "1..", "--dry-run", "-o", "{out}"], "leave -o out"),
        (["{a}", "--words", "1..", "-o", "{out}", "--rejected", "{out}"], "--rejected needs a folder of its own"),
        (["{a}", "--words", "1..", "--dry-run", "--rejected", "{out}"], "--rejected"),
        (["{a}", "--words", "1..", "--dry-run", "--explain", "1"], "--dry-run has no effect with --explain"),
        (
            ["{text}", "--words", "1..", "-o", "{out}"],
            "(.jsonl, .csv, .tsv, .parquet, .arrow, .warc), found text; to filter its lines",
        ),
        (
            ["{latin}", "--words", "1..", "-o", "{out}"],
            "(.jsonl, .csv, .tsv, .parquet, .arrow, .warc), found text; to filter its lines",
        ),
        (["nosuch.txt", "--words", "1..", "-o", "{out}"], "nosuch.txt: cannot read: no such file"),
        (
            ["{a}", "--language", "{model}:bread>=.1", "--language", "{model}:baking>=.1", "-o", "{out}"],
            "two rules are called language",
        ),
        (["{a}", "--language", "{model}:nosuch>=.5", "-o", "{out}"], "has no label 'nosuch'"),
        (["{a}", "--language", "{model}>=.5", "-o", "{out}"], "expected MODEL:LABEL"),
        (["{a}", "--language", "none.bin:en>=.5", "-o", "{out}"], "none.bin: cannot read"),
        (["-", "--words", "1..", "--field", "text", "-o", "{out}"], "standard input has no name for a file in"),
        (["{in}", "--words", "1..", "-o", "-"], "writes one kind of records, and the inputs are csv and jsonl"),
        (["{a}", "--words", "1..", "-o", "-", "--rejected", "{out}"], "--rejected"),
        (["{a}", "--words", "1..", "-o", "-", "--overwrite"], "--overwrite"),
        (["{a}", "--words", "1..", "-o", "-", "--dask", "local"], "--dask needs files and a folder"),
        (["-", "--words", "1..", "--dry-run", "--dask", "local"], "--dask needs files and a folder"),
        (["{a}", "--words", "1..", "-o", ""], "--output: the name is empty"),
        (["{a}", "--words", "1..", "-o", "{out}", "--rejected", "-"], "--rejected needs a folder"),
        (["{a}", "--words", "1..", "-o", "{out}", "--save-index", "{out}.i"], "--save-index needs --near-duplicates"),
    ],
)
def test_what_is_refused(tmp_path, capsys, words, problem):
    inputs = corpus(tmp_path / "in", 20)
    (tmp_path / "x.txt").write_text("some text\n")
    (tmp_path / "latin.txt").write_bytes("fühlte sich müde größer\n".encode("latin-1") * 50)
    names = {
        "a": inputs[0],
        "in": str(tmp_path / "in"),
        "out": str(tmp_path / "out"),
        "text": str(tmp_path / "x.txt"),
        "latin": str(tmp_path / "latin.txt"),
        "model": str(MODEL),
    }
    before = contents(tmp_path / "in")
    assert run(["filter", *(word.format(**names) for word in words)]) in (1, 2)
    said = capsys.readouterr().err.splitlines()
    assert problem in said[-1], said
    assert contents(tmp_path / "in") == before and not list(tmp_path.glob("out/[!.]*"))


def test_streams_do_not_lie_in_an_input_folder(tmp_path, monkeypatch, capfd):
    corpus(tmp_path, 20)
    monkeypatch.chdir(tmp_path)
    assert run(["filter", ".", "--near-duplicates", ".9", "--dry-run", "--clusters", "-"]) == 0
    assert capfd.readouterr().out.startswith("file\trecord\tcluster")


def test_two_files_of_rules_that_say_different_things(tmp_path, capsys):
    """The last file does not win silently. What both say holds, and what the command says."""
    one, other, text = (tmp_path / name for name in ("one.toml", "other.toml", "in.jsonl"))
    text.write_text('{"text": "a text"}\n')
    one.write_text("near-duplicates = 0.8\n")
    other.write_text("near-duplicates = 0.7\n")
    call = ["filter", str(text), "--dry-run", "-q", "--rules", str(one), "--rules"]
    assert run([*call, str(other)]) == 2
    said = f"near-duplicates: {one} says 0.8, {other} 0.7; give --near-duplicates itself, which holds for both"
    assert said in capsys.readouterr().err
    assert run([*call, str(one)]) == run([*call, str(other), "--near-duplicates", "0.75"]) == 0
