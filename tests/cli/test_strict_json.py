"""Whatever is written as JSON is read by a strict reader, where words, labels and names of files are no UTF-8."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from wv_cli.__main__ import run

BAD = b"caf\xc3"
NAME = os.fsdecode(BAD)
CALLS = [
    "nn v.vec bar --json",
    f"nn v.vec {NAME} --json",
    "nn v.vec bar --beside {NAME}.vec --json",
    "analogy v.vec bar two one --json",
    f"similarity v.vec bar {NAME} --json",
    f"odd-one-out v.vec bar one {NAME} --json",
    f"texts-distance v.vec bar {NAME} --json",
    f"vectors v.vec {NAME} bar --json",
    "vectors v.vec --sentences r.jsonl --json",
    "predict m.bin r.jsonl --json",
    "predict m.bin s.jsonl --add label",
    "predict m.bin r.csv --add label",
    "predict m.bin r.tsv --add label -k 2",
    f"predict m.bin s.jsonl --add {NAME}",
    f"predict m.bin r.csv --add {NAME}",
    "filter r.jsonl -o kept --classifier m.bin:a=0.01.. --json",
    "check v.vec --json",
    "lm score m.lm r.jsonl --words --json",
    "lm score m.lm s.jsonl --add lm",
    "lm next m.lm bar --json",
    "eval labels m.bin -d labeled.txt --json",
    "eval perplexity m.lm -d r.jsonl --json",
    "search {NAME}.txt bar --json",
    f"train {NAME}.txt -o {NAME}.bin --dim 2 --min-count 1 --json",
    f"build-vocab {NAME}.txt -o x.vocab --min-count 1 --json",
    "whiten v.vec -o w.vec --json",
]


def refuse(name: str) -> None:
    raise AssertionError(name)


def require_strict(data: bytes) -> None:
    assert json.loads(data.decode(), parse_constant=refuse) is not None
    assert not any("\ud800" <= c <= "\udfff" for c in json.dumps(json.loads(data), ensure_ascii=False))


def strict(line: str) -> dict[str, Any]:
    require_strict(line.encode())
    event: dict[str, Any] = json.loads(line)
    return event


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("strict")
    for name in ("v.vec", f"{NAME}.vec"):
        (folder / name).write_bytes(b"4 2\n" + BAD + b" 1 0\nbar 2 1\none 0 1\ntwo 1 3\n")
    (folder / f"{NAME}.txt").write_bytes(b"bar one " + BAD + b" two\n" * 8)
    labeled = b"__label__" + BAD + b" bar one two\n__label__a " + BAD + b" two\n"
    (folder / "labeled.txt").write_bytes(labeled * 4)
    (folder / "r.jsonl").write_text('{"text": "bar one"}\n{"text": "caf\\udcc3 bar two"}\n')
    (folder / "s.jsonl").write_text('{"text": "bar one"}\n')
    (folder / "r.csv").write_text("text\nbar one\n")
    (folder / "r.tsv").write_text("text\nbar one\n")
    text, small = str(folder / f"{NAME}.txt"), ["--dim", "2", "--min-count", "1", "--no-meta", "-q"]
    labels = str(folder / "labeled.txt")
    assert run(["train", labels, "--model", "supervised", "-o", str(folder / "m.bin"), *small]) == 0
    assert (
        run(["lm", "train", text, "-o", str(folder / "m.lm"), "--order", "2", "--smoothing", "witten-bell", "-q"]) == 0
    )
    return folder


@pytest.mark.parametrize("call", CALLS)
def test_what_a_command_writes(wv, folder, tmp_path, call):
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    words = [word.replace("{NAME}", NAME) for word in call.split()]
    done = wv(*words)
    assert done.returncode == int(words[0] == "check"), done.stderr
    out = done.stdout.encode("utf-8", "surrogateescape")
    assert out.decode()
    if not any(word.endswith((".csv", ".tsv")) for word in words):
        for line in out.splitlines():
            require_strict(line)
    for path in tmp_path.glob("*.meta.json"):
        require_strict(path.read_bytes())


@pytest.mark.parametrize(
    ("call", "code", "says"),
    [
        ("nn missing.vec bar --json", 1, "no such file"),
        ("nn v.vec bar --nearest 3 --json", 2, "no such option"),
        ("train corpus.txt -o out.vec --json --max-time 0s --epochs 9", 2, "--max-time"),
    ],
)
def test_errors_are_events(wv, tmp_path, call, code, says):
    done = wv(*call.split())
    event = strict(done.stderr.splitlines()[-1])
    assert done.returncode == code and not done.stdout
    assert {**event, "message": ""} == {
        "event": "error",
        "exit_code": code,
        "command": f"wv {call.split()[0]}",
        "message": "",
    }
    assert says in event["message"]


def test_notes_are_events(wv, tmp_path):
    (tmp_path / "twice.vec").write_text("3 1\na 1\nb 2\na 3\n")
    done = wv("nn", "twice.vec", "a", "--json")
    event = strict(done.stderr)
    assert event["event"] == "message" and event["command"] == "wv nn" and event["message"].startswith("note: ")


def test_the_end_of_a_stopped_run_is_an_event(wv, tmp_path):
    (tmp_path / "long.txt").write_text("the quick brown fox jumps over the lazy dog\n" * 200_000)
    done = wv("train", "long.txt", "-o", "a.vec", "--epochs", 500, "--max-time", "0.2s", "--json")
    event = strict(done.stderr.splitlines()[-1])
    assert done.returncode == event["exit_code"] == 124 and "--resume" in event["message"]


def test_the_replacement_is_one_letter(wv, folder, tmp_path):
    done = wv("nn", folder / "v.vec", "bar", "-k", 3, "--json")
    words = [each["word"] for each in json.loads(done.stdout)["neighbors"]]
    assert "caf\ufffd" in words
