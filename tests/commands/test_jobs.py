"""What every job owes its command: one way to be run, and refusals before anything is read."""

import inspect
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from wv_cli.commands.align import AlignJob
from wv_cli.commands.convert import ConvertJob
from wv_cli.commands.distil import DistilJob
from wv_cli.commands.filter import FilterJob
from wv_cli.commands.job import Job, build
from wv_cli.commands.lm_convert import LmConvertJob
from wv_cli.commands.ngrams import NgramJob
from wv_cli.commands.quantize import QuantizeJob
from wv_cli.commands.vocabulary import VocabularyJob
from wv_cli.commands.whiten import WhitenJob
from wv_cli.config import options_of
from wv_cli.errors import UsageError
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats.static_folder import save_folder
from wv_cli.words import WordList

# Each with the option for its input, its output, and what else it needs.
EVERY = {
    AlignJob: ("a", "out.vec", {"b": "in2"}),
    ConvertJob: ("source", "out.vec", {}),
    DistilJob: ("vocab", "out", {"encoder": "folder"}),
    LmConvertJob: ("model", "out.lm", {}),
    NgramJob: ("inputs", "out.lm", {}),
    QuantizeJob: ("model", "out.ftz", {"cutoff": 5}),
    VocabularyJob: ("inputs", "out.vocab", {}),
    WhitenJob: ("inputs", "out.bin", {}),
}
# An output appears when the inputs have been read, so it may take the place of one.
REPLACING = (AlignJob, ConvertJob, DistilJob, LmConvertJob, WhitenJob)


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
    job = made(kind, "in")
    job.validate()
    assert job.results() == [EVERY[kind][1]] and job.invocation.argv == () and job.invocation.meta


@pytest.mark.parametrize("kind", [kind for kind in EVERY if kind not in REPLACING])
def test_an_input_is_not_overwritten(kind):
    out = EVERY[kind][1]
    Path(out).touch()
    with pytest.raises(UsageError, match=f"{out}:? is (both read and written|also an input)"):
        made(kind, out).validate()


@pytest.mark.parametrize("kind", REPLACING, ids=lambda kind: kind.__name__)
def test_an_output_may_take_the_place_of_an_input_but_not_its_words_file(kind):
    made(kind, EVERY[kind][1]).validate()
    if "output_format" in vars(kind) and "to_format" in options_of(kind):
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


@pytest.mark.parametrize("kind", ["file", "link"])
@pytest.mark.parametrize(
    "arguments",
    [
        "distil --encoder model -o taken --dim 2",
        "distil --encoder model -o taken/ --dim 2",
        "convert model taken --to static",
        "train pairs.tsv --model pairs --init model -o taken",
        "demo -o taken --epochs 1",
    ],
)
def test_a_folder_that_cannot_be_made_is_refused_before_the_work(wv, model, kind, arguments):
    taken, pairs = Path("taken"), Path("pairs.tsv")
    pairs.write_text("a cat\tthe cat\na dog\tthe dog\n")
    taken.write_text("precious") if kind == "file" else taken.symlink_to("nowhere")
    done = wv(*arguments.split())
    message = "cannot make the folder: a file of this name is there; remove it or choose another name"
    assert (done.returncode, done.stderr.splitlines()[-1].endswith(message)) == (1, True), done.stderr
    assert len(done.stderr.splitlines()) == 1 and os.path.lexists("taken")


@pytest.fixture
def model(folder):
    """The folder of a static embedding."""
    found = folder / "model"
    save_folder(found, Embeddings(WordList.from_words(["cat", "dog"]), np.eye(2, dtype=np.float32)))
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        "distil --encoder model -o model --dim 2",
        "distil words --encoder model -o ./model/",
        "distil --encoder model -o model/tokenizer.json --to word2vec-text",
        "distil --encoder link -o model",
        "convert model model --to static",
        "convert model/model.safetensors model --to static",
        "train pairs.tsv --model pairs --init model -o model",
        "train pairs.tsv --model pairs --init model -o hard",
        "train pairs.tsv --model pairs --tokenizer model/tokenizer.json -o model",
        "search index words --model model -o model/tokenizer.json",
        "plot v.vec cat dog -o v.vec --to html",
        "plot v.vec cat dog --beside model -o model/config.json --to html",
        "vectors --encoder model --sentences cat -o model/vocab.txt",
        "vectors v.vec --sentences --pooling mean cat -o v.vec",
        "vectors v.vec --sentences --pooling sif --counts counts cat -o counts",
        "vectors v.vec --sentences r.jsonl --add x -o v.vec",
        "lm score m.arpa r.jsonl --add x -o m.arpa",
        "whiten v.vec --counts counts -o counts --to word2vec-text",
        "whiten v.vec -o t --transform t --to word2vec-text",
        "whiten v.npy -o v.words.txt --to word2vec-text",
        "align v.vec v2.vec -o counts --dictionary counts --to word2vec-text",
        "lm train words -o counts --limit-vocab counts --to arpa",
        "phrases words -o counts --connectors counts",
        "glove --counts t:counts -o counts --to word2vec-text",
        "glove --counts t:counts -o out.vec --save-vocab counts",
        "filter r.jsonl --dry-run --near-duplicates 0.5 --rules rules.toml --clusters rules.toml",
        "eval search v.vec -d model --save-run v.vec",
    ],
)
def test_nothing_that_is_read_is_written(wv, model, folder, arguments):
    """Files, files in folders of models, files beside others; by whatever name."""
    for name, text in {
        "words": "cat\ndog\n",
        "counts": "cat 2\ndog 1\n",
        "pairs.tsv": "a cat\tthe cat\na dog\tthe dog\n",
        "r.jsonl": '{"text": "cat"}\n',
        "v.vec": "2 2\ncat 1 0\ndog 0 1\n",
        "v.words.txt": "cat\ndog\n",
        "m.arpa": "",
        "model/vocab.txt": "cat\ndog\n",
        "t": "",
        "rules.toml": 'words = "1.."',
    }.items():
        Path(name).write_text(text)
    shutil.copy("v.vec", "v2.vec")
    np.save("v.npy", np.eye(2, dtype=np.float32))
    Path("link").symlink_to("model")
    Path("hard").mkdir()
    os.link("model/model.safetensors", "hard/model.safetensors")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = wv(*arguments.split())
    assert (done.returncode, "both read and written" in done.stderr) == (2, True), done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_shipped_recipe_is_no_file_of_this_name():
    assert build(FilterJob, {"inputs": ("r.jsonl",), "rules": ("fineweb", "rules.toml")}).rules.reads() == [
        "rules.toml"
    ]
