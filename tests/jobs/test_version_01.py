"""Files written by version 0.1.0 are read by this one, and its checkpoints go on to what it would have written."""

import hashlib
import lzma
import platform
import re
import shlex
import shutil
from itertools import islice

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.formats import load
from wv_cli.hashing.bioword import load_hasher as load_bioword
from wv_cli.hashing.saved import load_hasher
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform, fit

OLD = GOLDEN / "version-0.1"
DIGESTS = {name: digest for digest, name in map(str.split, (OLD / "digests.txt").read_text().splitlines())}
RUNS = dict(re.findall(r"^\| `(\S+)\.checkpoint` \| `wv ([^`]+)`", (OLD / "README.md").read_text(), re.M))


@pytest.fixture
def vectors():
    return load(OLD / "vectors.vec")


def test_moments(vectors):
    old, new = Moments.load(OLD / "vectors.moments"), Moments.none(8).with_rows(vectors.matrix)
    assert (old.rows, old.weight) == (new.rows, new.weight) == (len(vectors), len(vectors))
    np.testing.assert_allclose(old.mean, new.mean, rtol=1e-12)
    np.testing.assert_allclose(old.scatter, new.scatter, rtol=1e-9)


def test_transform(vectors):
    old = Transform.load(OLD / "zca.transform")
    assert old.facts["method"] == "zca" and old.facts["rows"] == len(vectors)
    np.testing.assert_allclose(old.apply(vectors.matrix), load(OLD / "white.vec").matrix, atol=1e-5)
    new = fit(Moments.load(OLD / "vectors.moments"), WhitenConfig("zca"), "vectors.vec")
    np.testing.assert_allclose(old.matrix, new.matrix, rtol=1e-8, atol=1e-8)
    assert old.facts == new.facts and old.rank == new.rank


@pytest.mark.parametrize(
    ("method", "codes"), [("itq", "dense"), ("fly", "sparse"), ("pq", "product")], ids=lambda name: name
)
def test_hashers_and_codes(method, codes, vectors):
    kept = load(OLD / f"{codes}.codes").codes
    made = load_hasher(OLD / f"{method}.hasher").encode(vectors)
    assert kept.method == method and kept.words == vectors.words and kept.parameters == made.parameters
    np.testing.assert_array_equal(kept.data, made.data)


def test_bioword_hasher():
    kept, made = load(OLD / "bioword.codes").codes, load_bioword(str(OLD / "bioword.hasher")).static()
    assert kept.words == made.words and kept.parameters == made.parameters
    np.testing.assert_array_equal(kept.data, made.data)


def test_every_run_has_a_digest():
    assert sorted(RUNS) == sorted(path.stem for path in OLD.glob("*.checkpoint")) and len(RUNS) == 6
    assert sorted(RUNS) == sorted(name.rpartition(".")[0] for name in DIGESTS)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the digests hold for x86-64")
@pytest.mark.parametrize("name", RUNS)
def test_checkpoints_go_on(name, wv, tmp_path, slice_xz):
    for target, source, lines in [
        ("text.txt", slice_xz, 300),
        ("labelled.txt", GOLDEN / "cook.valid.txt.xz", 150),
    ]:
        with lzma.open(source, "rb") as packed:
            (tmp_path / target).write_bytes(b"".join(islice(packed, lines)))
    shutil.copy(OLD / "vectors.vec", tmp_path)
    arguments = [*shlex.split(RUNS[name]), "--threads", 1, "--seed", 3, "--no-meta"]
    output = tmp_path / arguments[arguments.index("-o") + 1]
    checkpoint = tmp_path / f"{output.name}.checkpoint"
    for resume in ([], ["--resume"]):
        if resume:
            shutil.copy(OLD / f"{name}.checkpoint", checkpoint)
        done = wv(*arguments, *resume, env={"WV_ISA": "baseline"})
        assert done.returncode == 0, done.stderr
        assert ("going on at" in done.stderr) == bool(resume), done.stderr
        assert hashlib.sha256(output.read_bytes()).hexdigest() == DIGESTS[output.name]
        output.unlink()
    assert not checkpoint.exists()
