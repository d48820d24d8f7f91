"""Files of other machines: read, copied and written through fsspec, against an S3 server (moto), a web server and
fsspec's own memory."""

import functools
import gzip
import http.server
import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import wv_cli
from tests.guides import console
from tests.io.remote.conftest import RECORDS, TEXT, run
from wv_cli.errors import TimedOut, UsageError, WvError
from wv_cli.guides import guide_text
from wv_cli.io import remote, remote_copies, remote_reading

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("s3fs")


class Server(http.server.SimpleHTTPRequestHandler):
    """A web server. One whose files can be read from any byte on sends `cut` bytes less than were asked for, each
    `fails` times."""

    ranges, cut, fails = True, 0, 0
    gets = 0

    def log_message(self, *words):
        pass

    def do_GET(self):
        type(self).gets += 1
        asked = self.headers.get("Range")
        if not (self.ranges and asked):
            super().do_GET()
            return
        data = Path(self.translate_path(self.path)).read_bytes()
        start, end = asked.removeprefix("bytes=").split("-")
        part = data[int(start) : int(end) + 1]
        if type(self).fails and len(part) > self.cut:
            type(self).fails -= 1
            part = part[: len(part) - self.cut]
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {start}-{end}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)

    def end_headers(self):
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")
        super().end_headers()


@pytest.fixture
def web(tmp_path):
    """(the class of a web server, the name of its folder, the folder)."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "a.txt").write_bytes(TEXT)

    class Own(Server):
        pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Own, directory=str(tmp_path / "web")))
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield Own, f"http://127.0.0.1:{running.server_port}", tmp_path / "web"
    running.shutdown()
    running.server_close()


def read(name, size=1 << 16):
    with remote_reading.open_stream(name) as stream:
        return b"".join(iter(lambda: stream.read(size), b""))


def words(name):
    return wv_cli.tokenize([name], output=os.devnull, words="unicode")


OPTIONS = ("--dim", "8", "--min-count", "1", "--epochs", "1", "--threads", "1", "-q")


@pytest.mark.slow
def test_text_and_vectors_of_s3(bucket, tmp_path):
    (tmp_path / "texts").mkdir()
    for name in ("a.txt", "b.txt.gz"):
        (tmp_path / "texts" / name).write_bytes(bucket.cat_file(f"corpus/text/{name}"))
    assert run("train", tmp_path / "texts", "-o", tmp_path / "here.vec", *OPTIONS).returncode == 0
    found = run("train", "s3://corpus/text/", "-o", "s3://corpus/out/there.vec", *OPTIONS)
    assert (found.returncode, found.stderr) == (0, "")
    assert bucket.cat_file("corpus/out/there.vec") == (tmp_path / "here.vec").read_bytes()
    assert sorted(bucket.ls("corpus/out")) == ["corpus/out/there.vec", "corpus/out/there.vec.meta.json"]
    assert str(tmp_path) not in bucket.cat_file("corpus/out/there.vec.meta.json").decode()
    near = [run("nn", place, "king").stdout for place in (tmp_path / "here.vec", "s3://corpus/out/there.vec")]
    assert near[0] == near[1] != ""
    assert len(wv_cli.load("s3://corpus/out/there.vec")) == len(wv_cli.load(tmp_path / "here.vec"))


def test_parquet_in_s3(bucket, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.Table.from_pylist([json.loads(each) for each in RECORDS])
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=50)
    bucket.put_file(str(tmp_path / "p.parquet"), "corpus/p.parquet")
    wv_cli.filter(["s3://corpus/p.parquet"], "s3://corpus/kept", words="5..10")
    wv_cli.filter([tmp_path / "p.parquet"], tmp_path / "kept", words="5..10")
    assert bucket.cat_file("corpus/kept/p.parquet") == (tmp_path / "kept" / "p.parquet").read_bytes()


def test_an_output_inside_an_input_folder_is_refused(bucket):
    for folder in ("s3://corpus/records/", "s3://corpus/records"):
        with pytest.raises(UsageError, match=rf"^s3://corpus/records/kept: lies in {folder}, so that"):
            wv_cli.filter([folder], "s3://corpus/records/kept", words="1..")
    for input, output in (("s3://corpus/records/*/*", "records/kept"), ("s3://corpus/records/", "records/_kept")):
        wv_cli.filter([input], f"s3://corpus/{output}", words="1..")


def test_a_pattern_names_files(bucket):
    assert remote.files_in("s3://corpus/text/*.txt") == ["s3://corpus/text/a.txt"]
    assert remote.files_in("s3://corpus/records/*/*") == [
        "s3://corpus/records/lang=de/b.jsonl.gz",
        "s3://corpus/records/lang=en/a.jsonl",
    ]
    with pytest.raises(WvError, match=r"s3://corpus/\*.csv: no file has a name like this"):
        words("s3://corpus/*.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("s3://nowhere-at-all/a.txt", "s3://nowhere-at-all/a.txt: cannot read: no such file there"),
        ("s3://corpus/none.txt", "s3://corpus/none.txt: cannot read: no such file there"),
        ("zz://corpus/a.txt", "zz://corpus/a.txt: unknown protocol zz"),
        ("gs://corpus/a.txt", "gs://corpus/a.txt: gs:// needs another package; pip install fsspec gcsfs"),
    ],
)
def test_what_cannot_be_read(bucket, name, message):
    if name.startswith("gs") and importlib.util.find_spec("gcsfs"):
        pytest.skip("gcsfs is installed")
    for call in (words, wv_cli.load):
        with pytest.raises(WvError) as caught:
            call(name)
        assert str(caught.value).startswith(message)


def test_without_fsspec_the_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        WvError, match=r"^s3://b/a.txt: a name with s3:// needs the package fsspec; pip install fsspec s3fs"
    ):
        words("s3://b/a.txt")


def test_nothing_is_written_to_a_bucket_that_is_not_there(bucket, tmp_path):
    with pytest.raises(WvError, match=r"^s3://nowhere-at-all/v.vec: cannot write: no such file there"):
        wv_cli.train(["s3://corpus/text/"], "s3://nowhere-at-all/v.vec", dim=8)


def test_a_failed_upload_keeps_the_file(bucket, cache, monkeypatch):
    def fail(*words, **options):
        raise OSError("the network is down")

    monkeypatch.setattr(bucket, "put_file", fail)
    with pytest.raises(WvError) as caught:
        wv_cli.convert(_vectors(cache), "s3://corpus/out/v.vec")
    assert "s3://corpus/out/v.vec: cannot write" in str(caught.value)
    assert "the network is down" in str(caught.value)
    assert not bucket.exists("corpus/out/v.vec")
    assert [path.read_bytes() for path in cache.glob("outputs/*/v.vec")] == [WRITTEN]
    assert str(cache / "outputs") in str(caught.value)


def test_a_short_upload_is_an_error(bucket, cache, monkeypatch):
    put = bucket.put_file
    (cache.parent / "short").write_bytes(WRITTEN[:-1])
    monkeypatch.setattr(bucket, "put_file", lambda path, key: put(str(cache.parent / "short"), key))
    with pytest.raises(WvError, match=f"expected {len(WRITTEN)} bytes there, found {len(WRITTEN) - 1}"):
        wv_cli.convert(_vectors(cache), "s3://corpus/out/v.vec")


VECTORS = b"2 3\nking 1 2 3\nqueen 2 3 4\n"
WRITTEN = b"2 3\nking 1.000000 2.000000 3.000000 \nqueen 2.000000 3.000000 4.000000 \n"


def _vectors(cache):
    path = cache.parent / "in.vec"
    path.write_bytes(VECTORS)
    return path


def test_a_model_is_copied_once_and_again_when_it_changes(bucket, cache):
    bucket.pipe("corpus/v.vec", VECTORS)
    assert wv_cli.nn("s3://corpus/v.vec", ["king"])["answers"]
    first = [*cache.rglob("v.vec")]
    changed = first[0].stat().st_mtime_ns
    wv_cli.nn("s3://corpus/v.vec", ["king"])
    assert [path.stat().st_mtime_ns for path in cache.rglob("v.vec")] == [changed]
    bucket.pipe("corpus/v.vec", VECTORS.replace(b"queen", b"prince"))
    assert wv_cli.nn("s3://corpus/v.vec", ["prince"])["answers"]
    assert len([*cache.rglob("v.vec")]) == 1


def test_words_beside_a_matrix_are_copied(bucket, tmp_path):
    wv_cli.convert(_vectors(tmp_path / "x"), "s3://corpus/out/v.npy")
    assert sorted(bucket.ls("corpus/out")) == ["corpus/out/v.npy", "corpus/out/v.words.txt"]
    assert wv_cli.load("s3://corpus/out/v.npy").words[0] == "king"


def test_errors_have_the_names_that_were_given(bucket):
    bucket.pipe("corpus/bad.vec", b"2 3\nking 1 2 3\nqueen 2 x 4\n")
    with pytest.raises(WvError, match=r"^s3://corpus/bad.vec:3: "):
        wv_cli.convert("s3://corpus/bad.vec", os.devnull, to_format="word2vec-text")
    found = run("nn", "s3://corpus/bad.vec", "king")
    assert found.stderr.startswith("wv nn: s3://corpus/bad.vec:3: ")


def test_a_rule_may_name_a_model_elsewhere(bucket, tmp_path):
    (tmp_path / "l.txt").write_text("__label__a one two\n__label__b three four\n" * 20)
    wv_cli.train([tmp_path / "l.txt"], "s3://corpus/m.bin", model="supervised", dim=4, min_count=1, epochs=5)
    wv_cli.filter(["s3://corpus/records/"], tmp_path / "kept", classifier="s3://corpus/m.bin:a>=0.01")
    assert wv_cli.Filter(classifier="good=s3://corpus/m.bin:a>=0.01")(["one two"]).keep.tolist() == [True]


def test_a_folder_and_an_index_are_searched_by_their_names(bucket):
    bucket.pipe("corpus/v.vec", VECTORS)
    wv_cli.search_index(["s3://corpus/text/"], "s3://corpus/i.idx", model="s3://corpus/v.vec")
    for place in ("s3://corpus/text/", "s3://corpus/i.idx"):
        found = wv_cli.search(place, ["king"], k=1)
        assert found["answers"][0]["file"] == "s3://corpus/text/a.txt"


def test_checkpoints_are_written_here(bucket):
    with pytest.raises(UsageError, match="checkpoint s3://corpus/c: is written again and again; name a file"):
        wv_cli.train(["s3://corpus/text/"], "s3://corpus/v.vec", checkpoint="s3://corpus/c")


def test_file_names_with_a_protocol(tmp_path):
    (tmp_path / "a b.txt").write_bytes(TEXT)
    wv_cli.tokenize([(tmp_path / "a b.txt").as_uri()], output=(tmp_path / "out.txt").as_uri(), words="unicode")
    assert (tmp_path / "out.txt").read_bytes() == TEXT


def test_files_in_memory():
    system = fsspec.filesystem("memory")
    system.pipe({"/m/a.txt": TEXT, "/m/b.txt": TEXT})
    wv_cli.tokenize(["memory://m/"], output="memory://out/c.txt.gz", words="unicode")
    assert gzip.decompress(system.cat_file("/out/c.txt.gz")) == 2 * TEXT


def test_a_web_server(web, tmp_path):
    server, address, folder = web
    for server.ranges in (True, False):
        remote.forget()
        assert read(f"{address}/a.txt") == TEXT
    (folder / "v.vec").write_bytes(VECTORS)
    assert wv_cli.load(f"{address}/v.vec?download=true").words[1] == "queen"
    with pytest.raises(WvError, match=r"w.vec: cannot write: a web server is only read"):
        wv_cli.convert(f"{address}/v.vec", f"{address}/w.vec")


def test_a_large_file_is_read_in_blocks_from_any_place(web):
    _, address, folder = web
    data = os.urandom(3_000_001)
    (folder / "large").write_bytes(data)
    assert read(f"{address}/large", 50_000) == data
    with remote_reading.open_stream(f"{address}/large") as stream:
        for place in (2_999_000, 5, 1_500_000):
            stream.seek(place)
            assert stream.read(1000) == data[place : place + 1000]


def test_a_broken_transfer_is_tried_again(web):
    server, address, _ = web
    server.cut, server.fails = 7, 3
    assert read(f"{address}/a.txt") == TEXT


def test_a_transfer_that_stays_short_is_an_error(web):
    server, address, _ = web
    server.cut, server.fails = 7, 1000
    with pytest.raises(WvError, match=r"a.txt: cannot read: expected [\d,]+ bytes from byte 0 on, found [\d,]+"):
        words(f"{address}/a.txt")


def test_a_copy_that_is_short_is_an_error(bucket, monkeypatch):
    bucket.pipe("corpus/v.vec", VECTORS)
    monkeypatch.setattr(bucket, "get_file", lambda key, path: Path(path).write_bytes(VECTORS[:-1]))
    with pytest.raises(WvError, match=f"v.vec: cannot read: expected {len(VECTORS)} bytes, found {len(VECTORS) - 1}"):
        wv_cli.load("s3://corpus/v.vec")


def test_a_file_that_is_replaced_while_it_is_read_is_an_error(bucket):
    with remote_reading.open_stream("s3://corpus/text/a.txt") as stream:
        stream.read(10)
        bucket.pipe("corpus/text/a.txt", TEXT.replace(b"king", b"duke"))
        with pytest.raises(WvError, match=r"a.txt: was changed while it was read"):
            stream.readall()


def test_a_name_that_leads_out_of_its_folder_is_not_copied(monkeypatch):
    assert remote.path_below("s3://b/d/../../x", "s3://b/d/") == "../../x"
    monkeypatch.setattr(remote_copies, "files_in", lambda name: ["memory://d/../../x"])
    monkeypatch.setattr(remote_copies, "status", lambda name: remote.Status(1, "", True))
    with pytest.raises(WvError, match="its name leads out of the folder"):
        remote_copies.local_copy("memory://d/")


@pytest.mark.slow
def test_the_lines_of_the_guide_run(server, bucket, tmp_path):
    text = guide_text("remote")
    path = console.make_path(tmp_path / "bin")
    environment = {**os.environ, "PATH": path}
    for code in console.blocks(text, "sh"):
        done = subprocess.run(
            ["bash", "-e"], input=code, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "kept").glob("*/*")] == ["b.jsonl.gz"]
    code = "\n".join(console.blocks(text, "python"))
    (tmp_path / "example.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-P", "example.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stopped_training_goes_on(bucket, cache):
    options = {"dim": 8, "min_count": 1, "epochs": 200, "threads": 1}
    with pytest.raises(TimedOut):
        wv_cli.train(["s3://corpus/text/"], "s3://corpus/v.bin", **options, max_time=0.01)
    assert [*cache.glob("outputs/*/v.bin.checkpoint")] and not bucket.exists("corpus/v.bin")
    wv_cli.train(["s3://corpus/text/"], "s3://corpus/v.bin", **options, resume=True)
    assert bucket.exists("corpus/v.bin") and not [*cache.glob("outputs/*")]
