"""`wv filter` from S3 to S3: parts, reports, repeated runs, and that nothing is replaced that should stay."""

import gzip
import subprocess
import sys

import pytest

import wv_cli
from tests.io.remote.conftest import RECORDS, run, versions
from wv_cli.errors import WvError


def test_records_are_filtered_from_s3_to_s3(bucket, tmp_path):
    found = wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", rejected=str(tmp_path / "rest"))
    assert (found["records"], found["kept"]) == (200, 60)
    assert sorted(bucket.find("corpus/kept")) == [
        "corpus/kept/_filter.report",
        "corpus/kept/lang=de/b.jsonl.gz",
        "corpus/kept/lang=en/a.jsonl",
    ]
    kept = gzip.decompress(bucket.cat_file("corpus/kept/lang=de/b.jsonl.gz"))
    assert kept == b"".join(each for i, each in enumerate(RECORDS[100:], 100) if 5 <= i % 20 + 1 <= 10)
    assert sorted(path.name for path in (tmp_path / "rest").rglob("*.*")) == ["a.jsonl", "b.jsonl.gz"]
    with pytest.raises(WvError, match=r"s3://corpus/kept/_filter.report: a finished run with other rules, rej"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="1..10")
    wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="1..10", overwrite=True)


def test_files_of_no_run_in_s3_are_not_replaced(bucket):
    bucket.pipe_file("corpus/kept/lang=en/a.jsonl", b"not of wv")
    before = versions(bucket, "corpus/kept")
    with pytest.raises(WvError, match=r"s3://corpus/kept/lang=en/a.jsonl: is there, and no report says"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10")
    assert versions(bucket, "corpus/kept") == before
    wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", overwrite=True)
    assert bucket.cat_file("corpus/kept/lang=en/a.jsonl") != b"not of wv"


def test_parts_in_s3_are_added_up(bucket, cache):
    for part in ("1/2", "2/2"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", part=part)
    shown = run("filter", "--summary", "s3://corpus/kept")
    assert (shown.returncode, shown.stderr) == (0, "") and "kept 60 of 200 records" in shown.stdout
    assert not [*cache.rglob("*.jsonl*")]
    assert "s3://corpus/text: no report of wv filter" in run("filter", "--summary", "s3://corpus/text").stderr


@pytest.mark.parametrize(
    ("inputs", "options"),
    [
        ("s3://corpus/records/", {"output": "s3://corpus/records/"}),
        ("s3://corpus/records", {"output": "s3://corpus/kept", "rejected": "s3://corpus/records/"}),
        ("s3://corpus/records/lang=en/a.jsonl", {"output": "s3://corpus/records/lang=en"}),
        ("s3://corpus/records/lang=en/*.jsonl", {"output": "s3://corpus/records/lang=en"}),
        ("s3://corpus/records/lang=en/a.jsonl", {"output": "s3://corpus/records/lang=en/a.jsonl"}),
    ],
)
def test_what_is_read_in_s3_is_not_replaced(bucket, inputs, options):
    before = versions(bucket, "corpus/records")
    with pytest.raises(WvError, match=r"s3://corpus/records/.*(is both read and written|is a file; name a folder)"):
        wv_cli.filter([inputs], **options, words="5..10")
    assert versions(bucket, "corpus/records") == before


def test_a_folder_below_the_input_in_s3_is_not_read_again(bucket):
    for _ in range(2):
        wv_cli.filter(["s3://corpus/records/lang=en"], "s3://corpus/records/lang=en/kept", words="5..10")
        before = versions(bucket, "corpus/records")
        with pytest.raises(WvError, match=r"s3://corpus/records/lang=en/kept/a.jsonl: is both read and written"):
            wv_cli.filter(["s3://corpus/records/lang=en"], "s3://corpus/records/lang=en/kept", words="5..11")
        assert versions(bucket, "corpus/records") == before
        bucket.rm("corpus/records/lang=en/kept", recursive=True)


def test_text_in_s3_is_not_replaced_by_its_words(bucket):
    before = bucket.cat_file("corpus/text/a.txt")
    with pytest.raises(WvError, match=r"s3://corpus/text/a.txt: is both read and written"):
        wv_cli.tokenize(["s3://corpus/text/a.txt"], "s3://corpus/text/a.txt")
    assert bucket.cat_file("corpus/text/a.txt") == before


def test_rejected_records_in_s3(bucket, cache, monkeypatch):
    """The reports of parts can be added up, and a run repeated elsewhere has nothing to do and the same evidence."""
    bucket.pipe("corpus/bench.jsonl", b'{"text":"' + b" ".join(b"n%d" % n for n in range(30)) + b'"}')
    rules = {"words": "5..10", "contamination": "s3://corpus/bench.jsonl<=0.5", "rejected": "s3://corpus/rest"}
    found = []
    for home in ("one", "two"):
        monkeypatch.setenv("WV_CACHE", str(cache / home))
        for part in ("1/2", "2/2"):
            wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", **rules, part=part)
        found.append((versions(bucket, "corpus/kept"), versions(bucket, "corpus/rest")))
    assert found[0] == found[1]
    shown = run("filter", "--summary", "s3://corpus/kept/")
    assert (shown.returncode, shown.stderr) == (0, "") and "of 200 records" in shown.stdout
    rest = b"".join(bucket.cat_file(name) for name in versions(bucket, "corpus/rest") if name.endswith("a.jsonl"))
    assert str(cache).encode() not in rest


def test_keys_are_on_a_disk_that_parts_share(bucket):
    with pytest.raises(WvError, match="keys s3://corpus/keys: parts share it; name a folder of a disk"):
        wv_cli.filter(["s3://corpus/records/"], near_duplicates=0.8, keys="s3://corpus/keys", part="1/2")


def test_a_finished_run_in_s3_has_nothing_to_do(bucket, cache, monkeypatch):
    """Repeated on any machine, whole or in parts: no record is judged, and no file is written."""
    calls = [{"part": "1/2"}, {"part": "2/2"}]
    found = [wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", **call) for call in calls]
    wv_cli.filter(["s3://corpus/records/"], "s3://corpus/whole", words="5..10", split="id_")
    before = {name: versions(bucket, f"corpus/{name}") for name in ("kept", "whole")}
    with monkeypatch.context() as patch:
        patch.setattr("wv_cli.filtering.shards.Shards.pending", None)
        again = [wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", **call) for call in calls]
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/whole", words="5..10", split="id_")
    assert again == found
    assert {name: versions(bucket, f"corpus/{name}") for name in ("kept", "whole")} == before
    with pytest.raises(WvError, match=r"s3://corpus/kept/_filter.part-1-of-2.report: expected the rules of the other"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..11", part="1/2")
    with pytest.raises(WvError, match="expected those of a run in 3 parts, found those of a run in 2 parts"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", part="1/3")
    bucket.pipe("corpus/kept/lang=en/a.jsonl", b"of somebody else")
    with pytest.raises(WvError, match=r"s3://corpus/kept/lang=en/a.jsonl: expected the .* bytes .*, found 16"):
        for call in calls:
            wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", **call)
    assert not [*cache.rglob("*.jsonl*")]


def test_what_is_overwritten_in_s3_goes(bucket):
    """The reports of other parts, and the folders of labels that no record has any more."""
    for part in ("1/2", "2/2"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", part=part)
    rules = {"words": "5..10", "overwrite": True}
    wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", **rules, where="id<8", split="id")
    names = [name.removeprefix("corpus/kept/") for name in versions(bucket, "corpus/kept")]
    assert names == [*(f"{i}/lang=en/a.jsonl" for i in (4, 5, 6, 7)), "_filter.report"]
    wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", **rules, where="id<6", split="id")
    names = [name.removeprefix("corpus/kept/") for name in versions(bucket, "corpus/kept")]
    assert names == [*(f"{i}/lang=en/a.jsonl" for i in (4, 5)), "_filter.report"]


def test_parts_on_one_machine_leave_each_other_alone(bucket, cache, monkeypatch):
    """What one part has written so far is not removed when another one is uploaded."""
    from wv_cli.filtering import shards

    usual = shards.Shards.write_report
    program = "import wv_cli; wv_cli.filter(['s3://corpus/records/'], 's3://corpus/kept', words='5..10', part='2/2')"

    def run_other(self, argv):
        subprocess.run([sys.executable, "-c", program], check=True)
        usual(self, argv)

    monkeypatch.setattr(shards.Shards, "write_report", run_other)
    wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", part="1/2")
    monkeypatch.setattr(shards.Shards, "write_report", usual)
    assert wv_cli.filter(summary="s3://corpus/kept")["kept"] == 60
    assert len(versions(bucket, "corpus/kept")) == 4


def test_a_folder_that_cannot_be_listed_is_not_taken_for_an_empty_one(bucket, monkeypatch):
    """Neither is a finished part replaced by one with other rules, nor another part's report removed."""
    from wv_cli.io import remote_copies

    for part in ("1/2", "2/2"):
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..10", part=part)
    before = versions(bucket, "corpus/kept")

    def fail(name):
        raise WvError(f"{name}: cannot read: Access Denied")

    with pytest.raises(WvError, match="expected the rules"):  # fails after the reports are fetched
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..11", part="1/2")
    with monkeypatch.context() as patch, pytest.raises(WvError, match="Access Denied"):
        patch.setattr(remote_copies, "files_in", fail)
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/kept", words="5..11", part="1/2")
    with monkeypatch.context() as patch:
        patch.setattr(remote_copies, "files_in", lambda name: [])
        wv_cli.filter(["s3://corpus/records/"], "s3://corpus/other", words="5..10", part="1/2")
    assert versions(bucket, "corpus/kept") == before
