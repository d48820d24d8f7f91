"""Every command that reads text reads records: the same output as for their texts, a line each."""

import json
from pathlib import Path

import pytest

from wv_cli.__main__ import run

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
