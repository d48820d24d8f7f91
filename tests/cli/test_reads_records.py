"""Every command that reads text reads records: the same output as for their texts, a line each."""

import gzip
import json
from pathlib import Path

import pytest

from wv_cli.__main__ import run
from wv_cli.io import meta

SMALL = "--min-count 1 --threads 1 --no-meta"
CALLS = [
    "build-vocab {} -o {out} --min-count 1",
    "phrases {} -o {out} --min-count 1 --threshold 0",
    "tokenize {} -o {out} --no-meta",
    f"train {{}} -o {{out}}.vec --dim 4 --epochs 1 {SMALL}",
    f"train --model supervised {{}} -o {{out}}.bin --dim 4 --epochs 1 {SMALL}",
    f"glove {{}} -o {{out}}.vec --dim 4 --iterations 1 {SMALL}",
    "lm train {} -o {out}.arpa --order 2 --smoothing witten-bell --no-meta",
    "lm score model.lm {}",
    "predict model.bin {} -o {out}",
    "vectors model.bin --sentences {}",
    "eval labels model.bin -d {} --threads 1",
    "eval perplexity model.lm -d {}",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readers")
    lines = [f"__label__{'ab'[n % 2]} the {'cat' if n % 2 else 'dog'} sat on mat {n % 5}" for n in range(40)]
    (folder / "x.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "x.jsonl").write_text("".join(json.dumps({"id": n, "text": line}) + "\n" for n, line in enumerate(lines)))
    (folder / "x.csv").write_text("text,n\r\n" + "".join(f'"{line}",1\r\n' for line in lines), newline="")
    text = str(folder / "x.txt")
    train = [
        "train",
        "--model",
        "supervised",
        text,
        "-o",
        str(folder / "model.bin"),
        "--dim",
        "4",
        *SMALL.split(),
        "-q",
    ]
    assert run(train) == 0
    assert run(["lm", "train", text, "-o", str(folder / "model.lm"), "--smoothing", "witten-bell", "-q"]) == 0
    return folder


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(call.split()[:3]))
def test_records_are_read_as_their_texts(folder, tmp_path, monkeypatch, capsys, call):
    monkeypatch.chdir(folder)
    found, quiet = [], [] if call.startswith("lm score") else ["-q"]
    for name in ("x.txt", "x.jsonl", "x.csv"):
        (tmp_path / name).mkdir()
        words = call.format(name, out=tmp_path / name / "out").split()
        if call.startswith("vectors") and name == "x.txt":  # sentences, and the lines of files of records
            words = [*words[:-1], *Path(name).read_text().splitlines()]
        assert run([*words, *quiet]) == 0, capsys.readouterr().err
        files = [path.read_bytes() for path in sorted((tmp_path / name).iterdir())]
        found.append([*files, capsys.readouterr().out.replace(name, "FILE")])
    assert found[0] == found[1] == found[2] and any(found[0])


@pytest.mark.parametrize("call", [call for call in CALLS if "tokenize" not in call], ids=lambda call: call[:22])
def test_tokenize_reads_raw_text_as_wv_tokenize_writes_it(folder, tmp_path, monkeypatch, capsys, call):
    monkeypatch.chdir(tmp_path)
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    raw = [
        f"__label__{'ab'[n % 2]} The {'Cat' if n % 2 else 'dog'}: sat{',' * (n % 3)}on mat {n % 5}.5! e\u0301"
        for n in range(40)
    ]
    Path("raw.txt").write_text("".join(f"{line}\n" for line in raw))
    Path("raw.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in raw))
    Path("raw.txt.gz").write_bytes(gzip.compress(Path("raw.txt").read_bytes()))
    assert run(["tokenize", "raw.txt", "-o", "cut.txt", "--lowercase", "--digits", "zero", "--no-meta", "-q"]) == 0
    found, quiet = [], [] if call.startswith("lm score") else ["-q"]
    for name in ("cut.txt", "raw.txt", "raw.jsonl", "raw.txt.gz"):
        (folder := tmp_path / f"of-{name}").mkdir()
        words = [*call.format(name, out=folder / "out").split(), *quiet]
        if call.startswith("vectors") and not name.endswith("jsonl"):
            words = [*words[:-2], *(Path("cut.txt").read_text().splitlines() if name == "cut.txt" else raw), "-q"]
        if name != "cut.txt":
            words += ["--tokenize", "lowercase, unicode,digits=zero"]
        assert run(words) == 0, capsys.readouterr().err
        files = [path.read_bytes() for path in sorted(folder.iterdir())]
        found.append([*files, capsys.readouterr().out.replace(name, "FILE")])
    assert any(found[0]) and all(each == found[0] for each in found)


@pytest.mark.full
def test_the_recipe_stands_beside_the_model(folder, tmp_path, monkeypatch, capsys):
    """Questions are told of it, and take it with --tokenize model; a state and a checkpoint hold to it."""
    monkeypatch.chdir(tmp_path)

    def told(words: str, code: int = 0) -> str:
        assert run(words.split()) == code
        return capsys.readouterr().err

    Path("raw.txt").write_text("__label__a The Cat, sat. It ran!\n__label__b the DOG; ran, too.\n" * 5)
    Path("raw.jsonl").write_text('{"text": "The Cat, sat\\non"}\n{"text": "DOG;"}\n')
    Path("cut.jsonl").write_text('{"text": "the cat , sat\\non"}\n{"text": "dog ;"}\n')
    recipe = "--tokenize unicode,lowercase"
    told(f"train raw.txt -o a.vec --dim 2 --min-count 1 --save-state a.state {recipe} -q")
    told(f"train raw.txt -o a.bin --model supervised --dim 2 --min-count 1 {recipe} -q")
    told(f"lm train raw.txt -o a.lm --order 2 --smoothing witten-bell {recipe},sentences -q")
    told("quantize a.bin -o a.ftz -q")
    assert [meta.read(name).get("tokenize") for name in ("a.vec", "a.bin", "a.ftz", "a.lm")] == [
        *["unicode,lowercase"] * 3,
        "unicode,lowercase,sentences",
    ]
    for question in ("predict a.bin --prob", "vectors a.vec --sentences", "lm score a.lm"):
        end = "" if question.startswith("lm") else "-q"
        assert "--tokenize unicode,lowercase" in told(f"{question} raw.jsonl")
        told(f"{question} cut.jsonl {end}")
        told(f"{question} raw.jsonl --tokenize model")
        answers = capsys.readouterr()
        assert not answers.err
    for question, name in (("predict a.bin", "p"), ("vectors a.vec --sentences", "v"), ("lm score a.lm", "s")):
        told(f"{question} raw.jsonl --add {name} -o {name}1.jsonl --tokenize model")
        told(f"{question} cut.jsonl --add {name} -o {name}2.jsonl" + ("" if name == "s" else " -q"))
        rows = [[json.loads(line) for line in Path(f"{name}{n}.jsonl").read_text().splitlines()] for n in (1, 2)]
        assert [row.pop("text") for row in rows[0]] != [row.pop("text") for row in rows[1]]
        assert rows[0] == rows[1] and rows[0][0]
    rule = "--classifier a.bin:a=0.. --classifier other=plain.bin:a=0.. --add-scores"
    told("train raw.txt -o plain.bin --model supervised --dim 2 --min-count 1 -q")
    assert "--tokenize unicode,lowercase" in told(f"filter raw.jsonl -o out0 {rule}")
    for threads in (1, 2):
        told(f"filter raw.jsonl -o out{threads} {rule} --tokenize model --threads {threads} -q")
        assert not capsys.readouterr().err
    told(f"filter cut.jsonl -o out3 {rule} -q")
    told("filter raw.jsonl -o out4 --classifier plain.bin:a=0.. --tokenize lowercase,unicode --add-scores -q")
    scores = [
        [json.loads(line) for line in next(Path(f"out{n}").glob("*.jsonl")).read_text().splitlines()] for n in range(5)
    ]
    assert [[row["classifier"] for row in rows] for rows in (scores[1], scores[2])] == [
        [row["classifier"] for row in scores[3]]
    ] * 2
    assert scores[0][0]["classifier"] != scores[1][0]["classifier"]
    # A classifier without settings of its own gets texts as they are.
    assert [row["other"] for row in scores[1]] == [row["other"] for row in scores[0]]
    assert [row["classifier"] for row in scores[4]] == [row["other"] for row in scores[3]]
    assert not told("eval perplexity a.lm -d raw.txt --tokenize model")
    assert "note: a.lm: trained with --tokenize" in told("eval perplexity a.lm -d raw.txt")
    told("build-vocab raw.txt -o cut.vocab --min-count 1 -q")
    # A state is continued with its recipe.
    told("train raw.txt -o b.vec --continue a.state --again -q")
    assert meta.read("b.vec")["tokenize"] == "unicode,lowercase"
    error = told("train raw.txt -o b.vec --continue a.state --again --tokenize unicode -q", 2)
    assert "--tokenize is unicode,lowercase in the state and unicode here" in error
    for words, wanted in (
        ("train raw.txt -o c.vec --tokenize bogus", "words must be one of"),
        ("train raw.txt -o c.vec --tokenize unicode,lower", "found 'lower'"),
        ("train raw.txt -o c.vec --tokenize unicode,blanks", "words twice"),
        ("train raw.txt -o c.vec --tokenize unicode,digits", "digits must be one of"),
        ("train raw.txt -o c.vec --tokenize digits=nine", "digits must be one of"),
        ("train raw.txt -o c.vec --tokenize speed=9", "found 'speed=9'"),
        ("train raw.txt -o c.vec --tokenize model", "questions to one model"),
        (f"train raw.txt -o c.bin --model supervised {recipe},sentences", "cannot be used together"),
        (f"train raw.txt -o c.bin --model supervised {recipe} --autotune-validation raw.txt", "cannot be used"),
        (f"predict a.bin raw.txt {recipe},sentences", "each line has one answer"),
        ("vectors a.vec the --tokenize model", "--tokenize needs --sentences"),
        ("build-vocab cut.vocab --merge --tokenize unicode", "no effect with --merge"),
        ("filter raw.jsonl -o out --heuristic lines=1.. --tokenize unicode", "--tokenize needs a rule about words"),
        ("filter raw.jsonl -o out --classifier plain.bin:a=0.1.. --tokenize model", "no sidecar of plain.bin names"),
        ("filter raw.jsonl -o out --classifier a.bin:a=0.1.. --tokenize unicode,sentences", "a text has one score"),
        ("filter raw.jsonl -o out --classifier a.bin:a=0.1.. --tokenize unicode,lower", "found 'lower'"),
    ):
        assert wanted in told(words, 2), words
    for damaged in (b'{"tokenize": ["unicode"]}', b"[", None):
        if damaged is None:
            Path("a.vec.meta.json").unlink()
        else:
            Path("a.vec.meta.json").write_bytes(damaged)
        assert "a.vec.meta.json names no tokenization" in told(
            "vectors a.vec --sentences raw.jsonl --tokenize model", 2
        )
