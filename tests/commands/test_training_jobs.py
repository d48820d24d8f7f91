"""What every job that trains owes its command: one way to be run, a checkpoint, refusals before anything is read."""

import inspect

import pytest

from wv_cli.commands.bioword import BiowordJob
from wv_cli.commands.glove import GloveJob
from wv_cli.commands.hash import HashJob
from wv_cli.commands.job import Job, build
from wv_cli.commands.supervised import SupervisedJob
from wv_cli.commands.word2vec import Word2vecJob
from wv_cli.errors import UsageError

# Each with what it must be given, one input and one output.
EVERY = {
    Word2vecJob: {"inputs": ("in",), "outputs": ("out.vec",)},
    SupervisedJob: {"inputs": ("in",), "outputs": ("out.bin",)},
    GloveJob: {"inputs": ("in",), "outputs": ("out.vec",)},
    BiowordJob: {"inputs": ("in",), "outputs": ("out.codes",)},
    HashJob: {"rule": "sgd", "vectors": "in", "method": "biohash", "outputs": ("out.codes",)},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", EVERY)
def test_all_are_run_alike(kind):
    assert inspect.signature(kind.run) == inspect.signature(Job.run)
    job = build(kind, EVERY[kind])
    job.validate()
    assert job.results()[0].startswith("out.") and job.invocation.argv == () and job.invocation.meta


@pytest.mark.parametrize("kind", EVERY)
def test_an_input_is_not_overwritten(kind):
    (out,) = EVERY[kind]["outputs"]
    same = {**EVERY[kind], **({"vectors": out} if kind is HashJob else {"inputs": (out,)})}
    with pytest.raises(UsageError, match=f"{out}: is both read and written"):
        build(kind, same).validate()


@pytest.mark.parametrize("kind", EVERY)
def test_a_checkpoint_lies_beside_the_first_file(kind):
    job = build(kind, EVERY[kind])
    assert job.checkpoint_path == f"{job.results()[0]}.checkpoint" and job.checkpoint_path in job.writes()
    assert build(kind, {**EVERY[kind], "checkpoint": "c"}).checkpoint_path == "c"
    nowhere = {**EVERY[kind], "outputs": ("-",)}
    assert build(kind, nowhere).checkpoint_path is None
    for options in ({"resume": True}, {"checkpoint_every": 5.0}):
        with pytest.raises(UsageError, match="needs --checkpoint FILE"):
            build(kind, {**nowhere, **options}).validate()


def test_what_trains_nothing_has_no_checkpoint():
    linear = {**EVERY[HashJob], "method": "lsh"}
    assert build(HashJob, {**linear, "checkpoint": "c", "resume": True}).checkpoint_path is None
    build(HashJob, {**linear, "resume": True}).validate()
    with pytest.raises(UsageError, match="--hasher trains nothing"):
        build(BiowordJob, {**EVERY[BiowordJob], "hasher": "h", "checkpoint_every": 5.0}).validate()
    counting = {**EVERY[GloveJob], "outputs": (), "counts_only": True, "save_counts": "counts"}
    assert build(GloveJob, counting).checkpoint_path is None
    with pytest.raises(UsageError, match="--counts-only trains nothing"):
        build(GloveJob, {**counting, "resume": True}).validate()
