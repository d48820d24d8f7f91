"""`--add` of `wv lm score`, `wv vectors --sentences` and `wv predict --unit`: records written again with fields added.

The bytes of records, threads and formats are tested with tests/text/test_records.py, since all commands write by
text/records/writing.py.
"""

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest

from tests.conftest import GOLDEN
from wv_cli.__main__ import run
from wv_cli.filtering.units import answer_units, divide
from wv_cli.models.classifier import ALL, load_classifier

TEXTS = ["the cat sat\n\nthe dog sat on mat\nmat", "", "the the", "unheard of"]
RAW = "".join(f'{{ "text" : {json.dumps(text)} , "n":1.50}}\n' for text in TEXTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("adds")
    lines = [f"__label__{'ab'[n % 2]} the {'cat' if n % 2 else 'dog'} sat on mat {n % 5}" for n in range(40)]
    (folder / "x.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "words.txt").write_text("".join(f"{line.partition(' ')[2]}\n" for line in lines))
    (folder / "x.jsonl").write_text(RAW)
    (folder / "x.csv").write_text("n,text\r\n" + "".join(f'1,"{text}"\r\n' for text in TEXTS), newline="")
    small = ["--dim", "4", "--epochs", "5", "--min-count", "1", "--threads", "1", "--no-meta", "-q"]
    assert run(["train", "--model", "supervised", f"{folder}/x.txt", "-o", f"{folder}/model.bin", *small]) == 0
    lm = ["lm", "train", f"{folder}/words.txt", "-o", f"{folder}/model.lm", "--smoothing", "witten-bell", "-q"]
    assert run(lm) == 0
    return folder


def answers(capsys, *words):
    assert run([*map(str, words)]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_scores_of_a_language_model(folder, capsys):
    written = answers(capsys, "lm", "score", folder / "model.lm", folder / "x.jsonl", "--add", "lm")
    assert re.sub(r',"lm":[^}]*', "", written) == RAW
    plain = [
        json.loads(line)
        for line in answers(capsys, "lm", "score", folder / "model.lm", folder / "x.jsonl", "--json").splitlines()
    ]
    for record, score in zip(map(json.loads, written.splitlines()), plain, strict=True):
        assert record["lm"] == pytest.approx(score["log10"], rel=1e-6) and record["lm_oov"] == score["oov"]
        assert record["lm_perplexity"] == pytest.approx(10 ** (-score["log10"] / score["events"]), rel=1e-6)


def test_lines_and_paragraphs_are_sentences_of_a_record(folder, capsys):
    """Their scores are summed; blank ones are none."""
    for unit, parts in (
        ("line", ["the cat sat", "the dog sat on mat", "mat"]),
        ("paragraph", ["the cat sat", "the dog sat on mat mat"]),
    ):
        (folder / "parts.txt").write_text("".join(f"{part}\n" for part in parts))
        each = [
            json.loads(line)
            for line in answers(capsys, "lm", "score", folder / "model.lm", folder / "parts.txt", "--json").splitlines()
        ]
        written = answers(capsys, "lm", "score", folder / "model.lm", folder / "x.jsonl", "--add", "lm", "--unit", unit)
        total, events = math.fsum(one["log10"] for one in each), sum(one["events"] for one in each)
        found = json.loads(written.splitlines()[0])
        assert found["lm"] == pytest.approx(total, rel=1e-6)
        assert found["lm_perplexity"] == pytest.approx(10 ** (-total / events), rel=1e-6)


def test_fragments_without_a_word_have_no_perplexity(folder, capsys):
    written = answers(capsys, "lm", "score", folder / "model.lm", folder / "x.jsonl", "--add", "lm", "--no-sentences")
    assert [json.loads(line)["lm_perplexity"] is None for line in written.splitlines()] == [False, True, False, False]


def test_vectors_of_sentences(folder, capsys):
    written = answers(capsys, "vectors", folder / "model.bin", "--sentences", folder / "x.jsonl", "--add", "v")
    assert re.sub(r',"v":\[[^}]*', "", written) == RAW
    lines = [text.replace("\n", " ") for text in TEXTS]
    exact = answers(capsys, "vectors", folder / "model.bin", "--sentences", *lines, "--precision", "exact", "-q")
    wanted = np.array([line.split() for line in exact.splitlines()], np.float32)
    assert np.array_equal(np.array([json.loads(line)["v"] for line in written.splitlines()], np.float32), wanted)
    assert (
        answers(
            capsys, "vectors", folder / "model.bin", "--sentences", folder / "x.jsonl", "--precision", "exact", "-q"
        )
        == exact
    )
    rows = answers(capsys, "vectors", folder / "model.bin", "--sentences", folder / "x.csv", "--add", "v").splitlines()
    assert rows[0] == "n,text,v" and rows[-1].startswith('1,"unheard of",')
    found = np.array(rows[-1].rpartition(",")[2].split(), np.float32)
    assert np.array_equal(found, wanted[-1])


@pytest.mark.full
@pytest.mark.parametrize("more", [[], ["-k", "2"]], ids=["one", "list"])
def test_the_score_of_no_answer_is_a_number_like_all_others(folder, tmp_path, capsys, more):
    """DuckDB 2.0 types a column by its first 20,480 rows, polars 2.1 by 100: after integers 0.958 was read as 1."""
    for name, text in (("x.jsonl", '{"text":"zzz"}\n'), ("x.csv", "text\nzzz\n"), ("x.tsv", "text\nzzz\n")):
        (tmp_path / name).write_text(text)
        written = answers(capsys, "predict", folder / "model.bin", tmp_path / name, "--add", "l", *more)
        assert re.search(r"und.*\b0\.0\b.*\b0\.0\b", written.splitlines()[-1]), written


def test_counts_are_whole_numbers(folder, tmp_path, capsys):
    call = ["filter", folder / "x.jsonl", "-o", tmp_path / "kept", "--add-scores", "-q"]
    answers(capsys, *call, "--words", "1..", "--heuristic", "words-with-letter=0..")
    first = (tmp_path / "kept" / "x.jsonl").read_text().splitlines()[0]
    assert first.endswith(',"words":9,"words-with-letter":1.0}')


def test_vectors_of_an_encoder(folder, capsys):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    encoder = ("--encoder", GOLDEN / "encoders" / "tiny-bert", "--sentences")
    written = answers(capsys, "vectors", *encoder, folder / "x.jsonl", "--add", "v", "-q")
    assert re.sub(r',"v":\[[^}]*', "", written) == RAW
    lines = [text.replace("\n", " ") for text in TEXTS]
    exact = answers(capsys, "vectors", *encoder, *lines, "--precision", "exact", "-q")
    wanted = np.array([line.split() for line in exact.splitlines()], np.float32)
    assert np.array_equal(np.array([json.loads(line)["v"] for line in written.splitlines()], np.float32), wanted)


def test_vectors_become_a_column_of_parquet(folder, tmp_path, capsys):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": TEXTS}), folder / "x.parquet")
    out = tmp_path / "out.parquet"
    answers(capsys, "vectors", folder / "model.bin", "--sentences", folder / "x.parquet", "--add", "v", "-o", out)
    added = parquet.read_table(out)["v"]
    assert added.type == pyarrow.list_(pyarrow.float32()) and [len(row) for row in added.to_pylist()] == [4] * 4


@pytest.mark.parametrize("store_schema", [True, False])
def test_vectors_of_a_fixed_size(folder, tmp_path, capsys, store_schema):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": TEXTS}), folder / "x.parquet", store_schema=store_schema)
    ask = ("vectors", folder / "model.bin", "--sentences", "--add", "v")
    for fixed, out in ((("--fixed-size",), tmp_path / "a.parquet"), ((), tmp_path / "b.parquet")):
        answers(capsys, *ask, *fixed, folder / "x.parquet", "-o", out)
    fixed, free = (parquet.read_table(tmp_path / f"{name}.parquet")["v"] for name in "ab")
    assert fixed.type == pyarrow.list_(pyarrow.field("element", pyarrow.float32()), 4)
    assert fixed.to_pylist() == free.to_pylist()


def test_a_fixed_size_is_about_tables(folder, capsys):
    for words, said in (
        (("--add", "v"), "--fixed-size is about parquet and arrow, and "),
        ((), "--fixed-size needs --add"),
    ):
        ask = ["vectors", folder / "model.bin", "--sentences", *words, "--fixed-size", folder / "x.jsonl"]
        assert run([*map(str, ask)]) == 2
        assert said in capsys.readouterr().err


def test_a_document_has_the_mean_of_its_units(folder, capsys):
    model = load_classifier(folder / "model.bin")
    texts = [text.encode() for text in TEXTS]
    for unit in ("paragraph", "line"):
        parts, starts = divide(texts, unit)
        found = answer_units(model, texts, unit, "space", ALL)
        for number, (begin, end) in enumerate(pairwise(starts.tolist())):
            each = [dict(model.predict(part.decode().replace("\n", " "), ALL)[0]) for part in parts[begin:end]]
            means = {label: np.mean([one[label] for one in each]) for label in each[0]}
            names = [model.labels[label] for label in found.labels[number].tolist()]
            assert dict(zip(names, found.probabilities[number].tolist(), strict=True)) == pytest.approx(means, rel=1e-5)
            assert found.probabilities[number][0] >= found.probabilities[number][1]
    whole = answers(capsys, "predict", folder / "model.bin", folder / "x.jsonl", "--add", "a", "-k", "2")
    assert whole == answers(
        capsys, "predict", folder / "model.bin", folder / "x.jsonl", "--add", "a", "-k", "2", "--unit", "document"
    )
    lines = answers(
        capsys, "predict", folder / "model.bin", folder / "x.jsonl", "--add", "a", "-k", "2", "--unit", "line"
    )
    assert whole.splitlines()[1:] == lines.splitlines()[1:] and whole != lines


def test_units_of_texts():
    texts = [b"a\n\n\nb\nc\n", b"\n\n", b""]
    assert divide(texts, "document")[0] is texts
    parts, starts = divide(texts, "paragraph")
    assert (parts, starts.tolist()) == ([b"a", b"b\nc\n", b"\n\n", b""], [0, 2, 3, 4])
    assert divide(texts, "line")[0] == [b"a", b"b", b"c", b"\n\n", b""]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("lm score {}/model.lm --add x", "--add needs INPUT"),
        ("lm score {0}/model.lm {0}/x.txt --add x", "x.txt is none; change its ending"),
        ("predict {0}/model.bin - --add x", "standard input is none; name the field of JSON lines with the texts"),
        ("lm score {0}/model.lm {0}/x.jsonl --unit line", "--unit needs --add"),
        ("lm score {0}/model.lm {0}/x.jsonl -o y", "--output needs --add"),
        ("lm score {0}/model.lm {0}/x.jsonl --add x --json", "--json"),
        ("lm score {0}/model.lm {0}/x.jsonl --add text", "there is already a field"),
        ("lm score {0}/model.lm {0}/x.jsonl --add x -o {0}/x.jsonl", "is also an input"),
        ("vectors {0}/model.bin {0}/x.jsonl --add x", "--add needs --sentences"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x --json", "--add and --json"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x --precision 3", "--add and --precision"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x --pooling mean", "--add and --pooling"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x --counts {0}/x.jsonl", "--add and --counts"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x --case none", "--add and --case"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x --dask local", "--add and --dask"),
        ("vectors {0}/model.bin {0}/x.jsonl --sentences --add x -o {0}/x.jsonl", "is also an input"),
        ("vectors {0}/model.bin one two --sentences --add x", "one: cannot read"),
        ("vectors {0}/model.bin one two --sentences --bad-records error", "--bad-records is about records"),
        ("vectors {0}/model.bin one --field x", "--field is about records"),
        ("predict {0}/model.bin {0}/x.jsonl --unit line", "--unit needs --add"),
    ],
)
def test_what_is_refused(folder, capsys, words, problem):
    before = (folder / "x.jsonl").read_bytes()
    assert run(words.format(folder).split()) in (1, 2)
    said = capsys.readouterr()
    assert problem in said.err and said.err.count("\n") == 1 and not said.out
    assert (folder / "x.jsonl").read_bytes() == before
