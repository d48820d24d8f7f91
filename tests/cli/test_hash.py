"""`wv hash`, and the commands that read what it writes, as a shell runs them."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import ROOT
from tests.processes import PATIENCE, Process
from wv_cli.vectors.formats import load

PAIRS = ROOT / "data" / "similarity" / "EN-WS-353-ALL.txt"


def done(result):
    assert result.returncode == 0, result.stderr
    return result.stdout


def failed(result, *parts, code=1):
    assert result.returncode == code and "Traceback" not in result.stderr, result.stderr
    for part in parts:
        assert part in result.stderr, result.stderr


def test_hash_save_apply_search_score(wv, slice_vectors, tmp_path):
    result = wv(
        "hash", slice_vectors, "-m", "lsh", "--length", 64, "-o", "a.codes", "-o", "a.txt", "--save-hasher", "h"
    )
    done(result)
    assert "wrote a.codes, a.txt, h: " in result.stderr and "lsh, 64 bits" in result.stderr
    meta = json.loads((tmp_path / "a.codes.meta.json").read_text())
    assert meta["method"] == "lsh" and meta["bits_per_word"] == 64 and meta["parameters"]["seed"] == 1
    done(wv("hash", slice_vectors, "--hasher", "h", "-o", "b.codes", "-q", "--no-meta"))
    assert (tmp_path / "a.codes").read_bytes() == (tmp_path / "b.codes").read_bytes()
    assert (load(tmp_path / "a.codes").codes.data == load(tmp_path / "a.txt").codes.data).all()
    assert "codes, " in done(wv("check", "a.codes")) and "no damage" in done(wv("check", "a.txt"))
    near = [line.split("\t") for line in done(wv("nn", "a.codes", "the", "-k", 5)).splitlines()]
    assert len(near) == 5 and all(float(score) * 64 == round(float(score) * 64) for _, score in near)
    exact = done(wv("nn", slice_vectors, "the", "-k", 5))
    everything = wv("nn", "a.codes", "the", "-k", 5, "--rerank", slice_vectors, "--candidates", 10**6)
    assert [line.split("\t")[0] for line in done(everything).splitlines()] == [
        line.split("\t")[0] for line in exact.splitlines()
    ]
    scored = done(wv("eval", "similarity", "a.codes", slice_vectors, "-d", PAIRS, "--tsv", "-q"))
    assert len(scored.splitlines()) == 3
    kept = json.loads(done(wv("eval", "retrieval", "a.codes", "-d", slice_vectors, "--queries", 50, "--json")))
    assert 5 < kept["results"][0]["map"] < 100 and kept["results"][0]["bits"] == 64


@pytest.mark.parametrize("method", ["lsh", "fly"])
def test_packed_codes_for_other_programs(wv, slice_vectors, tmp_path, method):
    call = ["hash", slice_vectors, "-m", method, "--length", 20, "--limit", 300, "-q"]
    done(wv(*call, "-o", "a.codes", "-o", "little.npy", "--packed", "little", "--save-hasher", "h"))
    done(wv("hash", slice_vectors, "--hasher", "h", "--limit", 300, "-o", "big.npy", "--packed", "big", "-q"))
    codes = load(tmp_path / "a.codes")
    for order in ("little", "big"):
        packed = np.load(tmp_path / f"{order}.npy")
        assert packed.dtype == np.uint8 and (packed == np.packbits(codes.matrix > 0, axis=1, bitorder=order)).all()
        assert (tmp_path / f"{order}.words.txt").read_bytes() == b"".join(word + b"\n" for word in list_bytes(codes))
    failed(wv("nn", "big.npy", "the"), "found '|u1'; wv reads codes of wv hash from .codes")


def list_bytes(vectors):
    return [vectors.words.bytes_at(row) for row in range(len(vectors))]


def test_packed_codes_need_an_order_and_an_array(wv, slice_vectors, tmp_path):
    call = ["hash", slice_vectors, "-m", "sign"]
    failed(wv(*call, "-o", "a.npy"), "a.npy: --packed is missing, little or big", code=2)
    failed(wv(*call, "-o", "a.codes", "--packed", "big"), "--packed needs an output NAME.npy", code=2)
    failed(wv("hash", slice_vectors, "-m", "pq", "-o", "a.npy", "--packed", "big"), "--method pq cannot", code=2)
    done(wv("hash", slice_vectors, "-m", "pq", "--length", 16, "--save-hasher", "h", "-q"))
    failed(wv("hash", slice_vectors, "--hasher", "h", "-o", "a.npy", "--packed", "big"), "product codes are bytes")
    assert not list(tmp_path.glob("a.*"))


def test_product_codes(wv, slice_vectors, tmp_path):
    call = ["hash", slice_vectors, "-m", "pq", "--length", 64, "-o", "a.codes", "-o", "a.txt", "--save-hasher", "h"]
    assert "pq, 64 bits" in wv(*call).stderr
    done(wv("hash", slice_vectors, "--hasher", "h", "-o", "b.txt", "-q"))
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()
    row = (tmp_path / "a.txt").read_text("utf-8").split("\n")[1].split("\t")[1]
    assert len(row.split(" ")) == 8 and all(0 <= int(byte) < 256 for byte in row.split(" "))
    near = [done(wv("nn", path, "the", "-k", 5)) for path in ("a.codes", "a.txt")]
    assert near[0] == near[1] and len(near[0].splitlines()) == 5
    everything = wv("nn", "a.codes", "the", "-k", 5, "--rerank", slice_vectors, "--candidates", 10**6)
    exact = done(wv("nn", slice_vectors, "the", "-k", 5))
    assert [line.split("\t")[0] for line in done(everything).splitlines()] == [
        line.split("\t")[0] for line in exact.splitlines()
    ]
    assert "no damage" in done(wv("check", "a.codes"))
    kept = json.loads(done(wv("eval", "retrieval", "a.codes", "-d", slice_vectors, "--queries", 50, "--json")))
    assert kept["results"][0]["map"] > 50 and kept["results"][0]["bits"] == 64
    done(wv("eval", "similarity", "a.codes", slice_vectors, "-d", PAIRS, "--tsv", "-q"))
    failed(wv("hash", slice_vectors, "-m", "pq", "--length", 100, "-o", "x"), "the nearest it has: ", code=2)


def test_bioword_is_named(wv, slice_vectors, tmp_path):
    text = done(wv("hash", "--help"))
    assert "bioword" in text and "see wv bioword" in " ".join(text.split())
    for method in (["-qm", "bioword"], ["-m", "bioword"], ["--method=bioword"]):
        refused = wv("hash", slice_vectors, *method, "-o", "x")
        failed(refused, "bioword learns from a text, not from vectors; see `wv bioword --help`", code=2)
        assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_sparse_codes_as_text_on_stdout(wv, slice_vectors):
    out = done(wv("hash", slice_vectors, "-m", "fly", "--length", 7, "-o", "-", "-q"))
    first, *rows = out.splitlines()
    assert json.loads(first.removeprefix("# wv codes "))["active"] == 7
    assert all(len(row.split("\t")[1].split(" ")) == 7 for row in rows)
    near = done(wv("nn", "-", "the", input=out)).splitlines()
    assert len(near) == 10 and all(round(float(line.split("\t")[1]) * 7, 3) in range(8) for line in near)


def test_batch_queries_and_json(wv, slice_vectors):
    done(wv("hash", slice_vectors, "-m", "biohash", "--length", 8, "-o", "a.codes", "-q"))
    asked = wv("nn", "a.codes", "--json", "-k", 2, input="the\nof and\nqqqq\n")
    lines = asked.stdout.splitlines()
    assert asked.returncode == 1
    answers = [json.loads(line) for line in lines]
    assert [answer["query"] for answer in answers] == ["the", "of and", "qqqq"]
    assert len(answers[1]["neighbors"]) == 2 and "not in a.codes" in answers[2]["error"]
    result = wv("hash", slice_vectors, "-m", "itq", "-o", "b.codes", "--json")
    facts = json.loads(done(result))
    assert facts["outputs"] == ["b.codes"] and facts["bits"] == 32 and facts["active"] == 0


def test_bad_calls(wv, slice_vectors, tmp_path):
    failed(wv("hash", slice_vectors, "-o", "x"), "--method is missing", code=2)
    failed(wv("hash", slice_vectors, "-m", "lsh", "--hasher", "h", "-o", "x"), "--method and --hasher cannot", code=2)
    failed(wv("hash", slice_vectors, "-m", "lsh"), "-o FILE is missing", code=2)
    failed(wv("hash", slice_vectors, "-m", "lsj", "-o", "x"), "'lsj'", code=2)
    failed(wv("hash", slice_vectors, "-m", "lsh", "-o", slice_vectors), "both read and written", code=2)
    failed(wv("hash", slice_vectors, "-m", "fly", "--length", 320, "-o", "x"), "--length 320", code=2)
    failed(wv("hash", slice_vectors, "-m", "biohash", "--batch", 0, "-o", "x"), "--batch", code=2)
    failed(wv("hash", slice_vectors, "--hasher", "h", "-o", "x"), "h: cannot read")
    done(wv("hash", slice_vectors, "-m", "sign", "--save-hasher", "h", "-o", "a.codes", "-q"))
    failed(wv("hash", slice_vectors, "--hasher", "a.codes", "-o", "x"), "these are codes, not the hasher")
    done(wv("convert", slice_vectors, "short.vec", "--limit", 20, "-q"))
    failed(wv("nn", "a.codes", "the", "--rerank", "short.vec"), "has no vector for")
    failed(wv("nn", slice_vectors, "the", "--rerank", "short.vec"), "--rerank needs codes", code=2)
    other = tmp_path / "other.vec"
    other.write_text("2 3\na 1 2 3\nb 4 5 6\n")
    failed(wv("hash", other, "--hasher", "h", "-o", "x"), "expected vectors of 32 numbers", "found 3")
    failed(wv("convert", slice_vectors, "x.codes"), "'.codes' names no format to write", code=2)
    (tmp_path / "cut.codes").write_bytes((tmp_path / "a.codes").read_bytes()[:-9])
    failed(wv("nn", "cut.codes", "the"), "cut.codes: byte", "cut short")
    assert not (tmp_path / "x").exists()


def test_sgd_is_interrupted_and_goes_on(wv, slice_vectors, tmp_path):
    call = ["hash", str(slice_vectors), "-m", "biohash", "--rule", "sgd", "--length", "16", "--save-hasher", "h"]
    done(wv(*call, "--epochs", 300, "-o", "whole.codes", "-q", "--no-meta"))
    argv = [sys.executable, "-m", "wv_cli", *call, "--epochs", "300", "-o", "part.codes", "--no-meta"]
    child = Process(argv, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    line = child.stderr.readline()
    assert line.startswith("epoch "), line
    child.send_signal(signal.SIGINT)
    _, rest = child.communicate(timeout=PATIENCE)
    if child.returncode == 0:
        pytest.skip("the run was over before the signal")
    assert child.returncode == 130 and "--resume" in rest and (tmp_path / "part.codes.checkpoint").exists()
    assert not (tmp_path / "part.codes").exists()
    done(wv(*call, "--epochs", 300, "-o", "part.codes", "--no-meta", "--resume"))
    assert (tmp_path / "part.codes").read_bytes() == (tmp_path / "whole.codes").read_bytes()
    assert not (tmp_path / "part.codes.checkpoint").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_full_disk(wv, slice_vectors):
    failed(wv("hash", slice_vectors, "-m", "lsh", "-o", "/dev/full"), "/dev/full", "space")
