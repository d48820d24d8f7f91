"""Every option that takes a file takes a pipe, with the same result, or refuses it by name before any work."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import click
import pytest

from tests.commands.made import end_after_trials
from tests.conftest import GOLDEN
from tests.processes import PATIENCE, Process
from wv_cli.__main__ import run
from wv_cli.cli.program import wv as group

T = "--dim 4 --epochs 1 --min-count 1 --threads 1 --no-meta -q"
G = "--dim 4 --iterations 1 --threads 1 --no-meta -q"
# A file in brackets is given as a pipe. Every output is called x.
CALLS = [
    ("train", "INPUT", f"[text] -o x.vec {T}"),
    ("train", "--vocab", f"text -o x.vec --vocab [vocab] {T}"),
    ("train", "--init", f"text -o x.vec --init [v.vec] {T}"),
    ("train", "--phrases", f"text -o x.vec --phrases [phrases] {T}"),
    ("train", "--continue", "more -o x.vec --continue [state] --threads 1 --no-meta -q"),
    ("train", "--validation", f"text -o x.vec --validation [pairs] {T}"),
    (
        "train",
        "--autotune-validation",
        f"labels --model supervised -o x.bin --autotune-validation [labels] --autotune-duration 0.001 {T}",
    ),
    ("train", "--calibration", f"labels --model pooled -o x.bin --calibration [held] {T}"),
    ("train", "--pretrained", f"labels --model supervised -o x.bin --pretrained [v.vec] {T}"),
    (
        "train",
        "--tree-from",
        f"text --model lbl --loss hs --tree clustered --tree-from [neural.lm] -o x.lm --order 2 {T}",
    ),
    ("glove", "INPUT", f"[text] -o x.vec {G}"),
    ("glove", "--vocab", f"text -o x.vec --vocab [vocab] {G}"),
    ("glove", "--continue", "more -o x.vec --continue [glove.state] --threads 1 --no-meta -q"),
    ("glove", "--phrases", f"text -o x.vec --phrases [phrases] {G}"),
    ("glove", "--vocab", f"--counts counts --vocab [counts.vocab] -o x.vec {G}"),
    ("glove", "--counts", f"--counts counts:[counts.vocab] -o x.vec {G}"),
    ("glove", "--counts", f"--counts [counts] --vocab counts.vocab -o x.vec {G}"),
    ("glove", "--init", f"text --init [counts] -o x.vec {G}"),
    ("glove", "--init-gradsq", f"text --init raw --init-gradsq [raw] -o x.vec {G}"),
    ("bioword", "INPUT", "[text] -o x.codes --cells 8 --length 2 --min-count 1 --epochs 1 --no-meta -q"),
    ("bioword", "--vocab", "text -o x.codes --vocab [vocab] --cells 8 --length 2 --epochs 1 --no-meta -q"),
    (
        "bioword",
        "--phrases",
        "text -o x.codes --phrases [phrases] --cells 8 --length 2 --min-count 1 --epochs 1 --no-meta -q",
    ),
    ("bioword", "--hasher", "text -o x.codes --hasher [hasher] --no-meta -q"),
    ("build-vocab", "INPUT", "[text] -o x.vocab -q"),
    ("phrases", "INPUT", "[text] -o x.txt -q"),
    ("tokenize", "INPUT", "[text] -o x.txt -q"),
    ("phrases", "--apply", "text -o x.txt --apply [phrases] -q"),
    ("whiten", "IN", "[v.vec] -o x.vec -q"),
    (
        "train",
        "--tokenizer",
        f"texts.tsv --no-header --model pairs -o x.npy --tokenizer [tokenizer] {T.replace('--min-count 1 ', '')}",
    ),
    (
        "train",
        "--class-weights",
        f"labels --model supervised -o x.bin --class-weights [weights] {T}",
    ),
    ("whiten", "--fit", "v.vec --fit [v.vec] -o x.vec -q"),
    ("whiten", "--counts", "v.vec --counts [vocab] -o x.vec -q"),
    ("whiten", "--moments", "v.vec --moments [moments] -o x.vec -q"),
    ("whiten", "IN", "[moments] moments --merge --save-moments x.moments -q"),
    ("whiten", "--transform", "v.vec --transform [transform] -o x.vec -q"),
    ("quantize", "MODEL", "[model.bin] -o x.ftz --dsub 2 --no-meta -q"),
    ("quantize", "--validation", "model.bin -o x.ftz --validation [labels] --no-meta"),
    (
        "quantize",
        "--input",
        "model.bin -o x.ftz --retrain --cutoff 8 --epochs 1 --input [labels] --threads 1 -q",
    ),
    ("convert", "IN", "[v.vec] x.bin -q"),
    ("hash", "IN", "[v.vec] -m lsh -o x.codes --no-meta -q"),
    ("align", "A", "[v.vec] v.vec -o x.vec -q"),
    ("nn", "VECTORS", "[v.vec] the"),
    ("eval", "--data", "similarity v.vec -d [pairs]"),
    ("eval", "VECTORS", "similarity [v.vec] -d pairs"),
    ("predict", "MODEL", "[model.bin] labels"),
    ("predict", "INPUT", "model.bin [labels]"),
    ("lm", "INPUT", "train [text] --smoothing witten-bell -o x.arpa --no-meta -q"),
    ("lm", "MODEL", "score [model.arpa] text"),
]
REFUSED = {"--init", "--init-gradsq", "--tokenizer"}
# Options of training commands whose files the table has all of; what the others are given is read once.
COMPLETE = ("train", "glove", "whiten", "quantize", "bioword")
WRITTEN = re.compile(r"--(output|save-.*|checkpoint|autotune-log|doc-vectors)$")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    lines = ["the of and to in a new york is the\n", "a new york of one and two of the in to\n"] * 20
    (folder / "text").write_text("".join(lines))
    (folder / "more").write_text("the new one of a and to two in\n" * 20)
    (folder / "held").write_text("".join(f"__label__{at % 2} {line}" for at, line in enumerate(lines[:20])))
    (folder / "labels").write_text("".join(f"__label__{at % 2} {line}" for at, line in enumerate(lines)))
    (folder / "pairs").write_text("the of 5\nand to 3\nin a 2\nnew york 4\none two 1\n")
    (folder / "texts.tsv").write_text("the of\tand to\nin a\tnew york\n" * 4)
    (folder / "weights").write_text("__label__0 2\n__label__1 1\n")
    shutil.copy(GOLDEN / "encoders" / "tiny-bert" / "tokenizer.json", folder / "tokenizer")
    (folder / "raw").write_bytes(b"\0\0\0\0\0\0\xf0?" * 2 * 11 * 5)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for line in [
            f"train text -o v.vec --save-state state {T}",
            f"train labels --model supervised -o model.bin --minn 2 --maxn 3 --buckets 20 {T}",
            f"train text --model nplm --hidden 4 --order 2 -o neural.lm {T}",
            "build-vocab text -o vocab --min-count 1 -q",
            "phrases text -o joined --save-phrases phrases --threshold 1 --min-count 1 -q",
            f"glove text --save-counts counts --save-vocab counts.vocab --save-state glove.state -o g.vec {G}",
            "bioword text -o h.codes --save-hasher hasher --cells 8 --length 2 --min-count 1 --epochs 1 --no-meta -q",
            "whiten v.vec --save-moments moments --save-transform transform -q",
            "lm train text --smoothing witten-bell -o model.arpa --no-meta -q",
        ]:
            assert run(line.split()) == 0, line
    finally:
        os.chdir(before)
    return folder


def result(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, dict[str, bytes]]:
    code = run(arguments)
    told = capfd.readouterr()
    made = {path.name: path.read_bytes() for path in Path.cwd().glob("x.*") if path.suffix not in (".jsonl", ".json")}
    for path in Path.cwd().glob("x.*"):
        path.unlink()
    return code, told.out + told.err, made


@pytest.mark.parametrize(("command", "option", "line"), CALLS, ids=lambda value: value.replace(" ", "_")[:60])
def test_a_pipe_is_as_good_as_a_file(command, option, line, files, tmp_path, monkeypatch, capfd):
    shutil.copytree(files, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    plain = [command, *re.sub(r"[\[\]]", "", line).split()]
    (name,) = re.findall(r"\[(.*?)\]", line)
    ends, data = os.pipe(), Path(name).read_bytes()

    def feed():
        with suppress(BrokenPipeError), os.fdopen(ends[1], "wb") as stream:
            stream.write(data)

    writer = threading.Thread(target=feed, daemon=True)
    writer.start()
    piped = [command, *re.sub(r"\[.*?\]", f"/dev/fd/{ends[0]}", line).split()]
    code, told, made = result(piped, capfd)
    os.close(ends[0])
    writer.join()
    if code:
        assert option in REFUSED | {"--counts"} and "found a" in told and f"/dev/fd/{ends[0]}: " in told, told
        assert not made
        return
    assert "is empty" not in told
    expected = result(plain, capfd)
    assert expected[0] == 0 and made == expected[2]
    if not made:
        assert told.replace(f"/dev/fd/{ends[0]}", name) == expected[1]


def test_the_table_has_every_option_that_takes_a_file():
    listed = {(command, option) for command, option, _ in CALLS}
    for name in COMPLETE:
        command = group.get_command(click.Context(group), name)
        for option in command.params:
            if isinstance(option, click.Option) and re.search("FILE|VOCAB", option.metavar or ""):
                assert WRITTEN.match(option.opts[-1]) or (name, option.opts[-1]) in listed, (name, option.opts)


def test_each_trial_is_scored_on_the_whole_of_a_pipe(files, tmp_path, monkeypatch):
    """The first trial alone had the labeled lines; the others failed silently."""
    monkeypatch.chdir(tmp_path)
    end_after_trials(monkeypatch, 4)
    ends, data = os.pipe(), (files / "labels").read_bytes()
    os.write(ends[1], data)
    os.close(ends[1])
    line = f"train {files}/labels --model supervised -o x.bin --autotune-validation /dev/fd/{ends[0]} "
    assert run([*line.split(), "--autotune-duration", "10h", *T.split()]) == 0
    os.close(ends[0])
    trials = [json.loads(each) for each in Path("x.bin.autotune.jsonl").read_text().splitlines()]
    scores = [trial["score"] for trial in trials if "score" in trial]
    assert len(scores) > 1 and min(scores[:3]) > 0


def test_a_line_is_answered_before_the_next_one_comes(files):
    """One process can be asked again and again: guide `every-night`."""
    calls = [
        "nn v.vec -k 1",
        "predict model.bin -",
        "vectors --sentences v.vec -",
        "lm score model.arpa",
        "search text",
    ]
    for call in calls:
        command = [sys.executable, "-m", "wv_cli", *call.split()]
        with Process(command, cwd=files, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            for word in (b"new", b"york"):
                process.stdin.write(word + b"\n")
                ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
                assert ready and process.stdout.read(9), call
            process.kill()
