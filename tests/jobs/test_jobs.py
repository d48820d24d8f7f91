"""What every job owes its command: one way to be run, and refusals before anything is read."""

import inspect
from pathlib import Path

import pytest

from wv_cli.errors import UsageError
from wv_cli.jobs.align import AlignJob
from wv_cli.jobs.convert import ConvertJob
from wv_cli.jobs.distil import DistilJob
from wv_cli.jobs.index import IndexJob
from wv_cli.jobs.job import Job, build, option_names
from wv_cli.jobs.ngrams import NgramJob
from wv_cli.jobs.quantize import QuantizeJob
from wv_cli.jobs.vocabulary import VocabularyJob
from wv_cli.jobs.whiten import WhitenJob

# Each with the option for its input, its output, and what else it needs.
EVERY = {
    AlignJob: ("a", "out.vec", {"b": "in2"}),
    ConvertJob: ("source", "out.vec", {}),
    DistilJob: ("vocab", "out", {"encoder": "folder"}),
    IndexJob: ("vectors", "out.index", {}),
    NgramJob: ("inputs", "out.lm", {}),
    QuantizeJob: ("model", "out.ftz", {"cutoff": 5}),
    VocabularyJob: ("inputs", "out.vocab", {}),
    WhitenJob: ("inputs", "out.bin", {}),
}
# An output appears when the inputs have been read, so it may take the place of one.
REPLACING = (AlignJob, ConvertJob, DistilJob, WhitenJob)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def made(kind, read, **options):
    name, output, needed = EVERY[kind]
    return build(kind, {name: (read,) if name == "inputs" else read, "output": output, **needed, **options})


@pytest.mark.parametrize("kind", EVERY)
def test_all_are_run_alike(kind):
    assert inspect.signature(kind.run) == inspect.signature(Job.run)
    if kind is IndexJob:
        pytest.importorskip("faiss")
    job = made(kind, "in")
    job.validate()
    assert job.results() == [EVERY[kind][1]] and job.invocation.argv == () and job.invocation.meta


@pytest.mark.parametrize("kind", [kind for kind in EVERY if kind not in REPLACING])
def test_an_input_is_not_overwritten(kind):
    if kind is IndexJob:
        pytest.importorskip("faiss")
    out = EVERY[kind][1]
    Path(out).touch()
    with pytest.raises(UsageError, match=f"{out}:? is (both read and written|also an input)"):
        made(kind, out).validate()


@pytest.mark.parametrize("kind", REPLACING, ids=lambda kind: kind.__name__)
def test_an_output_may_take_the_place_of_an_input_but_not_its_words_file(kind):
    made(kind, EVERY[kind][1]).validate()
    if kind.REPLACES_INPUT and "to_format" in option_names(kind):
        Path("out.words.txt").touch()
        job = made(kind, "out.words.txt", output="out.npy")
        with pytest.raises(UsageError, match="is both read and written"):
            job.validate()


@pytest.mark.parametrize("kind", EVERY)
def test_what_trains_nothing_has_no_checkpoint(kind):
    assert made(kind, "in").checkpoint_path is None


def test_standard_input_is_read_once():
    for other in ({"transform": "-"}, {"moments": ("-",)}, {"fit": "-"}):
        with pytest.raises(UsageError, match="can be read only once"):
            made(WhitenJob, "-", **other).validate()
