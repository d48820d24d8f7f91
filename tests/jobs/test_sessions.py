"""What every session owes its command: one way to be run, and refusals before anything is read."""

import inspect

import pytest

from wv_cli.errors import UsageError
from wv_cli.glove.config import GloveConfig
from wv_cli.hashing.config import BiowordConfig, HashConfig
from wv_cli.jobs.bioword import BiowordSession
from wv_cli.jobs.glove import GloveSession
from wv_cli.jobs.hash import HashSession
from wv_cli.jobs.session import Session
from wv_cli.jobs.supervised import SupervisedSession
from wv_cli.jobs.training_session import TrainingSession
from wv_cli.jobs.word2vec import Word2vecSession
from wv_cli.models.config import SupervisedConfig, Word2vecConfig

# Each with what it must be given, one input and one output.
EVERY = {
    Word2vecSession: {"config": Word2vecConfig(), "inputs": ("in",), "outputs": ("out.vec",)},
    SupervisedSession: {"config": SupervisedConfig(), "inputs": ("in",), "outputs": ("out.bin",)},
    GloveSession: {"config": GloveConfig(), "inputs": ("in",), "outputs": ("out.vec",)},
    BiowordSession: {"config": BiowordConfig(), "inputs": ("in",), "outputs": ("out.codes",)},
    HashSession: {"config": HashConfig(rule="sgd"), "vectors": "in", "method": "biohash", "outputs": ("out.codes",)},
}
TRAINING = [kind for kind in EVERY if issubclass(kind, TrainingSession)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", EVERY)
def test_all_are_run_alike(kind):
    assert inspect.signature(kind.run) == inspect.signature(Session.run)
    session = kind(**EVERY[kind])
    session.validate()
    assert session.results()[0].startswith("out.") and session.argv == () and session.write_meta


@pytest.mark.parametrize("kind", EVERY)
def test_an_input_is_not_overwritten(kind):
    out = EVERY[kind]["outputs"][0]
    read = "vectors" if kind is HashSession else "inputs"
    same = {**EVERY[kind], read: (out,) if read == "inputs" else out}
    with pytest.raises(UsageError, match=f"{out}: is both read and written"):
        kind(**same).validate()


@pytest.mark.parametrize("kind", TRAINING)
def test_a_checkpoint_lies_beside_the_first_file(kind):
    session = kind(**EVERY[kind])
    assert (
        session.checkpoint_path == f"{session.outputs[0]}.checkpoint" and session.checkpoint_path in session.written()
    )
    assert kind(**EVERY[kind], checkpoint="c").checkpoint_path == "c"
    nowhere = {**EVERY[kind], "outputs": ("-",)}
    assert kind(**nowhere).checkpoint_path is None
    for options in ({"resume": True}, {"checkpoint_every": 5.0}):
        with pytest.raises(UsageError, match="needs --checkpoint FILE"):
            kind(**nowhere, **options).validate()


def test_what_trains_nothing_has_no_checkpoint():
    linear = {**EVERY[HashSession], "method": "lsh"}
    assert HashSession(**linear, checkpoint="c", resume=True).checkpoint_path is None
    HashSession(**linear, resume=True).validate()
    with pytest.raises(UsageError, match="--hasher trains nothing"):
        BiowordSession(**EVERY[BiowordSession], hasher="h", checkpoint_every=5.0).validate()
    counting = {**EVERY[GloveSession], "outputs": (), "counts_only": True, "save_counts": "counts"}
    assert GloveSession(**counting).checkpoint_path is None
    with pytest.raises(UsageError, match="--counts-only trains nothing"):
        GloveSession(**counting, resume=True).validate()
