"""Pairs of words and co-occurrences counted by the workers of a Dask cluster: the bytes of one process."""

import gzip
import json
import lzma
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.io.cluster.served import run, said, served, silent
from tests.peak import peak_bytes
from tests.tiers import full
from wv_cli._glove import RECORD
from wv_cli.commands import glove_run
from wv_cli.commands import phrases as phrases_job
from wv_cli.io.dask_cluster import DaskCluster, dask_cluster
from wv_cli.io.runs import Records
from wv_cli.models.glove import cooccurrence as glove_shards
from wv_cli.models.glove.config import GloveConfig
from wv_cli.text import shard_counting
from wv_cli.text.inputs import Texts
from wv_cli.text.shard_counting import Counted, Divided, records_of
from wv_cli.vectors.recognize import input_texts

pytest.importorskip("distributed", reason="needs the extra dask")

NUMBERS = 500


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many shards, of each of which there are several pieces."""
    for module in (phrases_job, glove_run):
        monkeypatch.setattr(module, "SHARD_BYTES", 60_000)
    monkeypatch.setattr(shard_counting, "_LEAST_PIECE", 1 << 12)
    monkeypatch.setattr(shard_counting, "_PIECE_BYTES", 1 << 16)
    monkeypatch.setattr(glove_shards, "_LEAST_SHARD", 100_000)


@pytest.mark.parametrize(
    "options",
    [
        "",
        *full(
            "--passes 3 --threshold 30 --min-count 2 --lowercase --delimiter +",
            "--score npmi --threshold 0.6 --threshold 0.4",
            "--memory 300k",
        ),
    ],
)
def test_phrases_and_the_joined_text_have_the_bytes_of_one_process(
    address: str, texts: list[str], tmp_path: Path, options: str, small: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blank").write_text("\n \n" * 20_000)
    facts = []
    for name, more in (("alone", []), ("dask", ["--dask", address])):
        files = ["-o", tmp_path / f"{name}.txt", "--save-phrases", tmp_path / f"{name}.phrases"]
        assert run("phrases", *texts, tmp_path / "blank", *files, *options.split(), "--json", *more) == 0
        facts.append({**json.loads(capsys.readouterr().out), "seconds": 0, "output": ""})
    assert facts[0] == facts[1]
    assert facts[0]["passes"][-1]["joined"] > 0
    for end in ("txt", "phrases"):
        assert (tmp_path / f"dask.{end}").read_bytes() == (tmp_path / f"alone.{end}").read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        "--phrases {phrases} --vocab {vocab}",
        *full(
            "",
            "--window 40 --min-count 20",  # units that are rounded
            "--left-only --weighting flat --max-vocab 900 --lowercase --min-line 5",
            "--vocab {vocab} --window 40 --min-count 9",
            "--phrases {phrases} --window 40 --min-count 20",
        ),
    ],
)
def test_co_occurrences_have_the_bytes_of_one_process(
    address: str, texts: list[str], slice_text: Path, tmp_path: Path, options: str, small: None
) -> None:
    (tmp_path / "other").write_bytes(slice_text.read_bytes()[:300_000])
    assert run("build-vocab", tmp_path / "other", "-o", tmp_path / "vocab", "-q") == 0
    phrases = ["--save-phrases", tmp_path / "phrases", "--threshold", 20, "-q"]
    assert run("phrases", slice_text, "-o", os.devnull, *phrases) == 0
    words = options.format(vocab=tmp_path / "vocab", phrases=tmp_path / "phrases").split()
    for name, more in (("alone", []), ("dask", ["--dask", address])):
        files = ["--save-counts", tmp_path / f"{name}.counts", "--save-vocab", tmp_path / f"{name}.vocab"]
        assert run("glove", *texts, *words, *files, "--counts-only", "-q", *more) == 0
    for end in ("counts", "vocab"):
        assert (tmp_path / f"dask.{end}").read_bytes() == (tmp_path / f"alone.{end}").read_bytes()
    assert (tmp_path / "alone.counts").stat().st_size > 100_000 * RECORD.itemsize


def test_vectors_and_the_state_are_those_of_one_process_and_the_cluster_is_gone_while_they_are_trained(
    address: str, slice_text: Path, tmp_path: Path, small: None, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    there: list[bool] = []

    @contextmanager
    def watched(*arguments: Any) -> Iterator[DaskCluster]:
        there.append(True)
        with dask_cluster(*arguments) as cluster:
            yield cluster
        there.append(False)

    train = glove_run.GloveRun._train

    def alone(*arguments: Any) -> Any:
        assert there in ([], [True, False])
        return train(*arguments)

    monkeypatch.setattr(glove_run, "executor", watched)
    monkeypatch.setattr(glove_run.GloveRun, "_train", alone)
    options = ["--threads", "1", "--iterations", "2", "--dim", "8", "-q", "--no-meta"]
    for name, more in (("alone", []), ("dask", ["--dask", address])):
        files = ["-o", tmp_path / f"{name}.bin", "--save-state", tmp_path / f"{name}.state"]
        assert run("glove", slice_text, *files, *options, *more) == 0
    assert there == [True, False]
    for end in ("bin", "state"):
        assert (tmp_path / f"dask.{end}").read_bytes() == (tmp_path / f"alone.{end}").read_bytes()
    words = ["glove", slice_text, "--continue", tmp_path / "dask.state", "-o", tmp_path / "next.bin"]
    capsys.readouterr()
    assert run(*words, "--dask", "no.where:1") == 2
    problem = "--continue is for one process, not for a cluster (--dask); leave it out"
    assert said(capsys.readouterr().err).startswith(f"wv glove: {problem}")


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak has another unit")
def test_memory_holds_for_the_process_that_asks(address: str, slice_xz: Path, tmp_path: Path) -> None:
    """Of 5.6 million words, whose records take more."""
    (tmp_path / "text").write_bytes(lzma.decompress(slice_xz.read_bytes()))
    wv = [sys.executable, "-m", "wv_cli", "glove", str(tmp_path / "text"), "--counts-only", "-q", "--dask", address]
    found = {}
    for memory in ("200M", "1G"):
        call = [*wv, "--save-counts", str(tmp_path / memory), "--memory", memory]
        found[memory] = peak_bytes(call)
    assert found["200M"] <= 220e6 < found["1G"]
    assert (tmp_path / "200M").stat().st_size > 220e6
    assert (tmp_path / "200M").read_bytes() == (tmp_path / "1G").read_bytes()


def counting() -> Counted:
    """A function that goes to the workers by value: they have no tests."""

    def numbers(part: Texts, row: int, first: int) -> Iterator[Records]:
        """Twenty records of each row, those of the first one in each part a thousand."""
        rows = np.repeat(np.arange(NUMBERS), [1000, *[20] * (NUMBERS - 1)])
        rows = rows[rows >= row]
        found = np.empty(len(rows), RECORD)
        found["row"], found["value"] = rows + 1, 0
        found["column"] = np.arange(len(rows)) - np.searchsorted(rows, rows) + first
        found["value"].view(np.int64)[:] = 1
        for begin in range(0, len(found), 77):
            yield found[begin : begin + 77].copy()

    return numbers


def test_pieces_of_records_are_bounded_and_lose_nothing(
    cluster: DaskCluster, slice_text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_counting, "_LEAST_PIECE", 100 * RECORD.itemsize)
    divided = Divided(input_texts([str(slice_text)], log=silent), 300_000, whole_lines=True)
    asked: list[int] = []
    sizes: list[int] = []
    mapped = cluster.map

    def watched(what: str, function: Any, shards: Any, *held: Any) -> Iterator[Any]:
        asked.extend(row for _, row in shards)
        for records, row in mapped(what, function, shards, *held):
            sizes.append(len(records))
            yield records, row

    monkeypatch.setattr(cluster, "map", watched)
    numbers = counting()
    stream = records_of(cluster, "test", numbers, divided.parts, cluster.broadcast(1), memory=1, beside=None)
    found = np.concatenate([each.copy() for each in stream])
    alone = np.concatenate([*numbers(divided.texts, 0, 1)])
    np.testing.assert_array_equal(found[["row", "column"]], alone[["row", "column"]])
    assert set(found["value"].view(np.int64).tolist()) == {len(divided.parts)} and len(divided.parts) > 1
    assert max(sizes) == 1000, "a row is in one piece"
    assert max(size for size in sizes if size != 1000) <= 100 + 77
    assert len(asked) == len(sizes) > 10 * len(divided.parts)


def test_co_occurrences_of_a_shard_come_in_pieces_whose_rows_are_counted_alone(
    slice_text: Path, cluster: DaskCluster
) -> None:
    text = input_texts([str(slice_text)], log=silent)
    config = GloveConfig(threads=1)
    corpus = glove_shards.encode(text, glove_shards.VocabConfig())
    units, _ = glove_shards.units_of(corpus, config)
    counting = glove_shards.Counting(corpus, config, units, 10**8)
    every = np.concatenate([each.copy() for each in counting.sums(None)])
    later = np.concatenate([each.copy() for each in counting.sums(None, first_row=50)])
    assert later.tobytes() == every[every["row"] > 50].tobytes()


def test_what_is_held_is_made_again_when_its_only_worker_is_killed(tmp_path: Path) -> None:
    def function(shard: int, value: int, once: Path = tmp_path / "once") -> int:
        import os

        if shard == 3 and not once.exists():
            once.touch()
            os.kill(os.getpid(), 9)
        return shard + value

    with served(tmp_path, 1) as found, dask_cluster(found, silent) as cluster:
        assert list(cluster.map("test", function, range(8), cluster.broadcast(100))) == [*range(100, 108)]
    assert (tmp_path / "once").exists()


@pytest.mark.parametrize("command", ["phrases {} -o {out}", "glove {} --save-counts {out} --counts-only"])
def test_bad_texts_are_one_line_and_harm_nothing(
    address: str, slice_text: Path, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, blank, output = tmp_path / "b.txt.gz", tmp_path / "blank", tmp_path / "v"
    damaged.write_bytes(gzip.compress(slice_text.read_bytes())[:-1000])
    blank.write_text(" \n\n")
    output.write_bytes(b"yesterday's")
    for path, problem in ((damaged, f": {damaged}: "), (blank, f"{blank}: no text: expected words")):
        assert run(*command.format(path, out=output).split(), "--dask", address) == 1
        line = said(capsys.readouterr().err)
        assert problem in line and line.startswith("wv ")
        assert ("worker tcp://" in line) == (path == damaged)
    assert output.read_bytes() == b"yesterday's"


def test_a_vocabulary_of_other_words_is_refused(
    address: str, slice_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "vocab").write_text("unheardof 9\nalike 8\n")
    words = ["glove", slice_text, "--vocab", tmp_path / "vocab", "--counts-only", "--save-counts", tmp_path / "c"]
    told = []
    for more in ([], ["--dask", address]):
        assert run(*words, *more) == 1
        told.append(said(capsys.readouterr().err))
    assert told[0] == told[1]
    assert " words of the text is in the vocabulary" in told[0]
