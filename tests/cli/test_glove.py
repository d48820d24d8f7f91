"""`wv glove` through the real entry point: its stages, GloVe's own files, sums of shards, interruptions, refusals."""

import os
import random
import shutil
import signal
import subprocess
import time
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests import forked
from tests.killed import run_killed
from tests.tiers import full
from wv_cli._glove import RECORD
from wv_cli.vectors.formats import load

COUNTING = ["--min-count", "10", "--window", "4"]
TRAINING = ["--dim", "16", "--iterations", "2"]
FAST = [*TRAINING, *COUNTING]


@pytest.fixture(scope="module")
def short_text(slice_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("short") / "short.txt"
    with slice_text.open("rb") as lines:
        path.write_bytes(b"".join(islice(lines, 400)))
    return path


def ok(done):
    assert done.returncode == 0, done.stderr
    return done


def refused(done, *texts, code=1):
    assert done.returncode == code, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr
    for text in texts:
        assert text in done.stderr
    return done


def test_one_command_and_the_stages_give_the_same_vectors(wv, short_text, tmp_path):
    done = ok(wv("glove", short_text, "-o", "whole.vec", *FAST))
    costs = [float(line.split()[3]) for line in done.stderr.splitlines() if line.startswith("iteration")]
    assert len(costs) == 2 and costs[1] < costs[0]
    ok(wv("build-vocab", short_text, "-o", "words.vocab", "--min-count", "10"))
    ok(wv("glove", short_text, "--vocab", "words.vocab", "--counts-only", "--save-counts", "c.bin", *COUNTING))
    ok(wv("glove", "--counts", "c.bin", "--vocab", "words.vocab", "-o", "staged.vec", "--min-count", "10", *TRAINING))
    ok(wv("glove", short_text, "-o", "small.vec", "--memory", "1M", *FAST))
    whole = (tmp_path / "whole.vec").read_bytes()
    assert (tmp_path / "staged.vec").read_bytes() == whole == (tmp_path / "small.vec").read_bytes()
    assert (tmp_path / "c.bin").stat().st_size % 16 == 0


def test_counts_do_not_depend_on_memory_or_threads(wv, slice_text, tmp_path):
    for name, options in [("a", []), ("b", ["--memory", "1M", "--threads", "2"]), ("c", ["--memory", "300k"])]:
        ok(wv("glove", slice_text, "--counts-only", "--save-counts", f"{name}.bin", *options))
    first = (tmp_path / "a.bin").read_bytes()
    assert first == (tmp_path / "b.bin").read_bytes() == (tmp_path / "c.bin").read_bytes()


def test_shards_with_their_own_vocabularies_sum_to_the_whole(wv, short_text, tmp_path):
    lines = short_text.read_bytes().splitlines(keepends=True)
    for name, part in [("a", lines[:150]), ("b", lines[150:]), ("whole", lines)]:
        (tmp_path / f"{name}.txt").write_bytes(b"".join(part))
        ok(wv("build-vocab", f"{name}.txt", "-o", f"{name}.vocab", "--min-count", "1"))
        ok(wv("glove", f"{name}.txt", "--vocab", f"{name}.vocab", "--min-count", "1", "--counts-only",
              "--save-counts", f"{name}.bin", "--window", "4"))  # fmt: skip
    shards = ["--counts", "a.bin:a.vocab", "--counts", "b.bin:b.vocab", "--vocab", "whole.vocab", "--min-count", "1"]
    ok(wv("glove", *shards, "--counts-only", "--save-counts", "sum.bin"))
    merged = np.fromfile(tmp_path / "sum.bin", RECORD)
    whole = np.fromfile(tmp_path / "whole.bin", RECORD)
    np.testing.assert_array_equal(merged[["row", "column"]], whole[["row", "column"]])
    np.testing.assert_allclose(merged["value"], whole["value"], rtol=1e-12)


def test_shuffled_counts_and_a_cut_vocabulary(wv, short_text, tmp_path):
    ok(wv("build-vocab", short_text, "-o", "w.vocab", "--min-count", "5", "--no-sentence-end"))
    ok(wv("glove", short_text, "--vocab", "w.vocab", "--counts-only", "--save-counts", "c.bin", "--window", "4"))
    records = np.fromfile(tmp_path / "c.bin", RECORD)
    np.random.default_rng(1).permutation(records).tofile(tmp_path / "shuf.bin")
    for name in ("c", "shuf"):
        ok(
            wv(
                "glove",
                "--counts",
                f"{name}.bin",
                "--vocab",
                "w.vocab",
                "-o",
                f"{name}.vec",
                "--min-count",
                "10",
                *TRAINING,
            )
        )
    assert (tmp_path / "c.vec").read_bytes() == (tmp_path / "shuf.vec").read_bytes()
    assert len(load(tmp_path / "c.vec")) < max(records["row"]), "--min-count 10 cuts the words of the file"


def test_glove_s_own_binary_files_are_a_start(wv, short_text, tmp_path):
    """vectors.bin of GloVe is raw doubles; after one iteration without movement the sum is still there."""
    ok(wv("build-vocab", short_text, "-o", "w.vocab", "--min-count", "10"))
    words = len((tmp_path / "w.vocab").read_text().splitlines()) - 1
    start = np.random.default_rng(2).normal(0, 0.1, (2, words, 17))
    start.astype("<f8").tofile(tmp_path / "vectors.bin")
    np.full((2, words, 17), 1e20).tofile(tmp_path / "gradsq.bin")
    arguments = ["glove", short_text, "--vocab", "w.vocab", *FAST, "--init", "vectors.bin"]
    ok(wv(*arguments, "--init-gradsq", "gradsq.bin", "-o", "sum.vec"))
    np.testing.assert_allclose(load(tmp_path / "sum.vec").matrix, start[:, :, :16].sum(axis=0), atol=2e-6)
    ok(wv(*arguments, "--init-gradsq", "gradsq.bin", "--vectors", "all", "--unk", "-o", "all.vec"))
    everything = load(tmp_path / "all.vec")
    assert everything.words[words] == "<unk>" and everything.dim == 34
    np.testing.assert_allclose(everything.matrix[:-1], np.concatenate(start, axis=1), atol=2e-6)
    np.testing.assert_allclose(everything.matrix[-1], np.concatenate(start, axis=1)[-100:].mean(axis=0), atol=2e-6)
    ok(wv(*arguments, "--vectors", "word", "-o", "moved.vec"))
    assert np.abs(load(tmp_path / "moved.vec").matrix - start[0, :, :16]).max() > 0.01
    refused(wv(*arguments, "--dim", "15", "-o", "no.vec"), "vectors.bin", "expected", "doubles")


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["-o", "a.vec", "--eta", "nan"], ["--eta"]),
        (["-o", "a.vec", "--x-max", "0"], ["--x-max"]),
        (["-o", "a.vec", "--grad-clip", "inf"], ["--grad-clip"]),
        (["-o", "a.vec", "--counts", "c.bin"], ["INPUT", "--counts"]),
        (["--counts-only"], ["--save-counts"]),
        (["-o", "a.vec", "--counts-only", "--save-counts", "c"], ["leave -o out"]),
        (["-o", "a.vec", "--init-gradsq", "g.bin"], ["--init"]),
        (["-o", "-", "--resume"], ["--checkpoint FILE"]),
        (["-o", "a.unknown"], ["a.unknown"]),
        ([], ["-o FILE"]),
    ],
    ids=str,
)
def test_misuse_is_refused_before_any_work(arguments, texts, wv, short_text, tmp_path):
    refused(wv("glove", short_text, *arguments), *texts, code=2)
    assert os.listdir(tmp_path) == []


def test_bad_counts(wv, tmp_path):
    (tmp_path / "w.vocab").write_text("the 9\nof 5\nand 5\n")
    good = np.array([(1, 2, 1.5), (2, 1, 1.5)], RECORD)
    cases = {
        "cut.bin": (good.tobytes()[:-3], "16 bytes"),
        "empty.bin": (b"", "16 bytes"),
        "beyond.bin": (np.array([(1, 4, 1.0)], RECORD).tobytes(), "(1, 4, 1)"),
        "nan.bin": (np.array([(1, 2, 1.0), (1, 3, np.nan)], RECORD).tobytes(), "record 2"),
        "zero.bin": (np.array([(0, 0, 0.0)], RECORD).tobytes(), "record 1"),
    }
    for name, (content, text) in cases.items():
        (tmp_path / name).write_bytes(content)
        refused(wv("glove", "--counts", name, "--vocab", "w.vocab", "-o", "a.vec"), name, text)
    refused(wv("glove", "--counts", "missing.bin", "--vocab", "w.vocab", "-o", "a.vec"), "missing.bin")
    good.tofile(tmp_path / "good.bin")
    refused(wv("glove", "--counts", "good.bin", "-o", "a.vec"), "good.bin:VOCAB", code=2)
    (tmp_path / "wrong.vocab").write_text("of 5\nthe 9\nand 5\n")
    refused(wv("glove", "--counts", "good.bin:wrong.vocab", "-o", "a.vec"), "wrong.vocab:2", "falling counts")
    (tmp_path / "lines.txt").write_text("the\nof\n" * 30)
    refused(wv("glove", "lines.txt", "-o", "a.vec"), "no co-occurrences")
    assert not (tmp_path / "a.vec").exists()


LONG = ["--dim", "60", "--iterations", "12", "--min-count", "2", "--no-meta", "--seed", "3"]


@pytest.fixture(scope="module")
def uninterrupted(slice_text, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    done = forked.run(["glove", str(slice_text), "-o", "v.vec", *LONG], cwd=folder)
    assert done.returncode == 0, done.stderr
    return (folder / "v.vec").read_bytes()


@pytest.mark.parametrize("number", [*full(signal.SIGINT, signal.SIGTERM), signal.SIGKILL])
def test_interrupted_at_random_moments_the_result_is_the_same(number, slice_text, tmp_path, uninterrupted):
    moments, call = random.Random(int(number)), ["glove", str(slice_text), "-o", "v.vec", *LONG, "--resume"]
    (tmp_path / "v.vec").write_text("yesterday's")
    ends = []
    for _ in range(4):  # of some 1,800 steps
        done = run_killed(number, moments.randint(1, 900), [*call, "--checkpoint-every", "0.05"], tmp_path)
        ends.append(done.returncode)
        assert done.returncode in (0, -number, 128 + number), done.stderr
        assert "Traceback" not in done.stderr
        assert (tmp_path / "v.vec").read_bytes() in (b"yesterday's", uninterrupted)
    assert any(ends)
    done = forked.run(call, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "v.vec").read_bytes() == uninterrupted
    assert sorted(os.listdir(tmp_path)) == ["v.vec"]


def test_max_time_and_another_run_s_checkpoint(wv, slice_text, tmp_path):
    options = ["-o", "v.vec", "--dim", "60", "--min-count", "2", "--iterations", "500"]
    refused(wv("glove", slice_text, *options, "--max-time", "0.3"), "--resume", code=124)
    refused(wv("glove", slice_text, *options, "--resume", "--eta", "0.02"), "eta: 0.05", "0.02 now")
    assert sorted(os.listdir(tmp_path)) == ["v.vec.checkpoint"]


def test_divergence_is_noticed(wv, short_text, tmp_path):
    start = ["build-vocab", short_text, "-o", "w.vocab", "--min-count", "10"]
    ok(wv(*start))
    words = len((tmp_path / "w.vocab").read_text().splitlines()) - 1
    np.full((2, words, 17), 1e15).tofile(tmp_path / "huge.bin")
    arguments = ["--vocab", "w.vocab", *FAST, "--init", "huge.bin", "-o", "a.vec", "--grad-clip", "1e38"]
    refused(wv("glove", short_text, *arguments), "NaN or infinity", "--eta")
    assert not (tmp_path / "a.vec").exists()


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_the_makefile_makes_only_what_is_needed(short_text, data, tmp_path):
    shutil.copy(data / "Makefile.glove", tmp_path)
    (tmp_path / "text.txt").write_bytes(short_text.read_bytes())
    settings = ["CORPUS=text.txt", "DIM=8", "ITERATIONS=1", f"PAIRS={data}/similarity/EN-WS-353-ALL.txt"]
    forked.write_program(tmp_path / "wv_cli")
    call = ["make", "-f", "Makefile.glove", "WV=./wv_cli", *settings]

    def make(*more):
        done = subprocess.run([*call, *more], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.count("wv_cli")

    assert make("counts") == 2
    assert make() == 2 and "spearman" in (tmp_path / "text.scores").read_text()
    assert make() == 0, "nothing has changed"
    os.utime(tmp_path / "text.counts")
    assert make() == 2
    Path(tmp_path / "text.txt").write_bytes(short_text.read_bytes() * 2)
    os.utime(tmp_path / "text.txt", (time.time() + 5, time.time() + 5))
    assert make("-n") == 4
