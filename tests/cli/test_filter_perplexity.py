"""--perplexity of models of words: the same as `wv lm score --add`, by models of every format."""

import json
import tarfile

import pytest

from tests.cli.test_batch_filter import write_tokenizer
from tests.conftest import GOLDEN
from wv_cli.__main__ import run
from wv_cli.lm.pieces import Pieces, join_pieces

LM = GOLDEN / "lm"
SENTENCES = (LM / "micro.train.txt").read_text().splitlines()
TEXTS = [*SENTENCES[:6], "\n".join(SENTENCES[6:9]), "", "zzz <s> qqq", f"{SENTENCES[0].upper()}, zzz"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    (tmp_path / "text.txt").write_text("\n".join(SENTENCES) + "\n")
    return tmp_path


def perplexities(path, field):
    return [json.loads(line)[field] for line in path.read_text().splitlines()]


@pytest.mark.parametrize("options", [(), ("--unit", "line"), ("--tokenize", "unicode,lowercase,punctuation=drop")])
@pytest.mark.parametrize(
    "model", ["words.o2.arpa", "words.o4.probing.bin", "words.o2.trie-q8.bin", "own.lm", "neural.lm"]
)
def test_the_scores_are_those_of_lm_score(folder, model, options):
    if model == "own.lm":
        run(["lm", "train", "text.txt", "-o", model, "--order", "2", "--discount-fallback", "-q"])
    elif model == "neural.lm":
        run(
            [
                "train",
                "--model",
                "lbl",
                "text.txt",
                "-o",
                model,
                "--dim",
                "4",
                "--epochs",
                "1",
                "--min-count",
                "1",
                "-q",
            ]
        )
    else:
        with tarfile.open(LM / "kenlm.tar.xz") as archive:
            archive.extract(model, folder, filter="data")
    assert run(["filter", "in.jsonl", "-o", "out", "--perplexity", f"{model}=..", "--add-scores", *options, "-q"]) == 0
    assert run(["lm", "score", model, "in.jsonl", "--add", "lm", "-o", "scored.jsonl", *options, "-q"]) == 0
    found = perplexities(folder / "out" / "in.jsonl", "perplexity")
    assert found == perplexities(folder / "scored.jsonl", "lm_perplexity") and len({*found}) == len(TEXTS)


def test_texts_are_cut_as_the_model_was_trained(folder, capsys):
    run(["lm", "train", "text.txt", "-o", "own.lm", "--order", "2", "--discount-fallback", "--tokenize", "-q"])
    for output, options in (("plain", []), ("cut", ["--tokenize"])):
        call = ["filter", "in.jsonl", "-o", output, "--perplexity", "own.lm=..", "--add-scores", *options]
        assert run(call) == 0
        noted = "own.lm: trained with --tokenize unicode,lowercase; give --tokenize model" in capsys.readouterr().err
        assert noted == (output == "plain")
    plain, cut = (perplexities(folder / output / "in.jsonl", "perplexity") for output in ("plain", "cut"))
    assert plain[:-2] == cut[:-2] and plain[-1] > cut[-1]  # the last text is in capitals


def test_a_model_of_pieces_needs_its_tokenizer(folder, capsys):
    write_tokenizer("sp.model")
    (folder / "pieces.txt").write_bytes(join_pieces(Pieces("sp.model").cut(SENTENCES)))
    run(["lm", "train", "pieces.txt", "-o", "pieces.lm", "--order", "2", "--discount-fallback", "-q"])
    capsys.readouterr()
    assert run(["filter", "in.jsonl", "--perplexity", "pieces.lm<=40", "--dry-run"]) == 2
    message = capsys.readouterr().err
    assert "pieces.lm: is a model of pieces of words; name its sentencepiece model with --tokenizer FILE" in message
    call = ["filter", "in.jsonl", "--perplexity", "pieces.lm<=40", "--tokenizer", "sp.model", "--dry-run"]
    assert run(call) == 0
    for option in (["--unit", "line"], ["--tokenize", "unicode"]):
        assert run([*call, *option]) == 2
        assert f"{option[0]}" in capsys.readouterr().err


def test_threads_share_a_model(folder, monkeypatch):
    (folder / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 2000))
    model, outputs = str(LM / "micro.o3.arpa"), []
    for threads in ("1", "4"):
        call = ["filter", "in.jsonl", "-o", f"out{threads}", "--perplexity", f"{model}<=50", "--add-scores", "-q"]
        assert run([*call, "--threads", threads]) == 0
        outputs.append((folder / f"out{threads}" / "in.jsonl").read_bytes())
    assert outputs[0] == outputs[1]
