"""An S3 server on this machine (moto) with a bucket of texts and records, and a cache of one's own."""

import gzip
import json

import pytest

from tests.conftest import start_wv
from wv_cli.io import remote

TEXT = b"".join(b"the king and the queen of number %d walk to the old town\n" % (i % 50) for i in range(400))
RECORDS = [json.dumps({"id": i, "text": "word " * (i % 20 + 1)}).encode() + b"\n" for i in range(200)]


@pytest.fixture(scope="module")
def server():
    """The environment of a program that finds an S3 server on this machine."""
    fsspec, moto = pytest.importorskip("fsspec"), pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    patch = pytest.MonkeyPatch()
    running = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in environment.items():
        patch.setenv(name, value)
    yield environment
    fsspec.filesystem("s3").clear_instance_cache()
    patch.undo()
    running.stop()


@pytest.fixture
def bucket(server):
    """A file system of S3 with a folder of texts and of records."""
    import fsspec

    system = fsspec.filesystem("s3")
    system.mkdir("corpus")
    system.pipe({"corpus/text/a.txt": TEXT, "corpus/text/b.txt.gz": gzip.compress(TEXT), "corpus/text/_SUCCESS": b""})
    system.pipe("corpus/records/lang=en/a.jsonl", b"".join(RECORDS[:100]))
    system.pipe("corpus/records/lang=de/b.jsonl.gz", gzip.compress(b"".join(RECORDS[100:])))
    yield system
    system.rm("corpus", recursive=True)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WV_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(remote, "_PAUSES", (0, 0, 0))
    remote.forget()
    return tmp_path / "cache"


def run(*words):
    return start_wv(*words, env={"OMP_NUM_THREADS": "1"})


def versions(bucket, folder):
    """When each file was written."""
    bucket.invalidate_cache()
    return {name: (info["LastModified"], info["ETag"]) for name, info in bucket.find(folder, detail=True).items()}
