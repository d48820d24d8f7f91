"""Every file argument of every command against files that are not what they should be: exit code 1 or 2 with one line
that was written for the user, or success; never a traceback, never a Python exception's own words, no file harmed."""

import os
import shlex
import shutil
from pathlib import Path

import pytest

from tests.calls import CALLS
from tests.conftest import GOLDEN
from wv_cli import __main__
from wv_cli.cli import COMMANDS

TEMPLATES = [f"{name} {call}" for name, row in CALLS.items() for call in row.bad_files]
BAD = {
    "empty": b"",
    "newlines": b"\n\n\n",
    "rubbish": bytes(range(256)) * 64,
    "zeros": bytes(5000),
    "text": b"the quick brown fox\njumps over the lazy dog\n",
    "not-utf8": b"\xff\xfe caf\xe9 \x80\n\xc3\x28 1\n" * 9,
    "one-word": b"word\n",
    "one-word-counted": b"word 7\n",
    "one-row": b"1 4\nthe 1 2 3 4\n",
    "same-rows": b"4 2\nthe 1 1\nof 1 1\nand 1 1\nin 1 1\n",
    "zero-rows": b"4 2\nthe 0 0\nof 0 0\nand 0 0\nin 0 0\n",
    "nan": b"4 2\nthe 1 nan\nof 1 2\nand 3 4\nin inf 1\n",
    "huge": b"4 2\nthe 1e38 1e38\nof 1e38 2\nand 3 -1e38\nin 4 1\n",
    "no-rows": b"0 4\n",
    "no-columns": b"4 0\nthe\nof\nand\nin\n",
    "huge-header": b"99999999999 99999999999\nthe 1\n",
    "negative-header": b"-3 -4\nthe 1\n",
    "long-line": b"x" * 3_000_000,
    "many-columns": b"the " + b"1 " * 300_000 + b"\n",
    "gzip": b"\x1f\x8b\x08\x00" + bytes(range(255, 0, -1)) * 9,
    "half.vec": b"",
    "half.model": b"",
    "half.codes": b"",
    "half.hasher": b"",
    "half.lm": b"",
    "half.arpa": b"",
    "half.transform": b"",
    "half.texts": b"",
    "half.state": b"",
    "half.glovestate": b"",
}
# In the full tier: of empty, odd and unusual files the default one has some of each kind.
MORE = ["newlines", "zeros", "not-utf8", "one-word", "one-word-counted", "one-row", "same-rows", "huge", "no-rows"]
MORE += ["no-columns", "negative-header", "long-line", "many-columns"]
PATHS = {"missing": "no-such-file", "folder": "folder", "below-a-file": "good.txt/x"}


def call(arguments: str) -> int:
    return __main__.run(shlex.split(arguments))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, slice_text, slice_vectors):
    path = tmp_path_factory.mktemp("bad")
    before = Path.cwd()
    os.chdir(path)
    lines = slice_text.read_text().splitlines()[:100]
    Path("good.txt").write_text("".join(f"{line[:300]}\n" for line in lines))
    Path("good.labeled").write_text("".join(f"__label__{i % 2} {line[:200]}\n" for i, line in enumerate(lines)))
    Path("good.vec").write_bytes(slice_vectors.read_bytes())
    Path("good.search/qrels").mkdir(parents=True)
    Path("good.search/corpus.jsonl").write_text('{"_id": "d", "text": "the"}\n{"_id": "e", "text": "of"}\n')
    Path("good.search/queries.jsonl").write_text('{"_id": "q", "text": "the"}\n')
    Path("good.search/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    Path("good.model").write_bytes((GOLDEN / "ft-labels.bin").read_bytes())
    Path("good.pairs").write_text("the of 1\nand in 2\nto a 3\nis was 4\nas by 5\n")
    Path("good.tsv").write_text("anchor\tpositive\nthe of\tand in\nto a\tis was\nas by\tthe in\n")
    Path("good.questions").write_text(": all\nthe of and in\n")
    Path("good.dictionary").write_text("the of\nand in\nto a\nto the\n")
    Path("good.sts").write_text("the of,and in,1\nto a,the is,2\nof was,as by,3\nin the,of by,4\n")
    Path("good.data.txt").write_text("the\tN\t0-1\tthe of\tand the\nof\tN\t1-0\tin of\tof to\n")
    Path("good.gold.txt").write_text("T\nF\n")
    for made in (
        "build-vocab good.txt -o good.vocab --min-count 1 -q",
        "lm train good.txt -o good.lm -q",
        "lm convert good.lm good.arpa",
        "hash good.vec -m lsh -o good.codes --save-hasher good.hasher -q --no-meta",
        "whiten good.vec --save-transform good.transform -q",
        "search index good.txt -o good.texts -q --no-meta --model good.vec",
        "train good.txt -o good.bin --save-state good.state --dim 4 --epochs 1 --min-count 1 -q --no-meta",
        "glove good.txt -o good.bin --save-state good.glovestate --dim 4 --iterations 1 --min-count 1 -q --no-meta",
    ):
        assert call(made) == 0
    Path("folder").mkdir()
    shutil.copytree(GOLDEN / "encoders" / "tiny-bert", "good.encoder")
    for name, content in BAD.items():
        kind = name.partition("half.")[2]
        whole = Path(f"good.{kind}").read_bytes() if kind else content
        Path(name).write_bytes(whole[: len(whole) * 3 // 5] if kind else whole)
    yield path
    os.chdir(before)


def test_every_command_is_called() -> None:
    assert {name for name, row in CALLS.items() if row.bad_files} == set(COMMANDS) - {"demo", "help"}


def usual_files(template: str) -> list[str]:
    """The bad files of the default tier: every third one. Which third depends on the call, so each is tried with 40."""
    files = [each for each in (*BAD, *PATHS) if each not in MORE]
    return files[TEMPLATES.index(template) % 3 :: 3]


@pytest.mark.parametrize("template", TEMPLATES)
def test_bad_files(template, folder, capfd, monkeypatch):
    require_manners(template, usual_files(template), folder, capfd, monkeypatch)


@pytest.mark.full
@pytest.mark.parametrize("template", TEMPLATES)
def test_more_bad_files(template, folder, capfd, monkeypatch):
    others = [each for each in (*BAD, *PATHS) if each not in usual_files(template)]
    require_manners(template, others, folder, capfd, monkeypatch)


def remove_made(folder):
    """What calls have made: outputs, and the links of `wv links`, for which the next call must not find a folder."""
    for path in (*folder.glob("out*"), folder / PATHS["missing"], *(folder / "folder").iterdir()):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def require_manners(template, bad_files, folder, capfd, monkeypatch):
    os.chdir(folder)
    monkeypatch.setattr("os.isatty", lambda descriptor: False)
    kept = {path: path.read_bytes() for path in folder.iterdir() if path.is_file() and "out" not in path.name}
    wrong = []
    name = template.split()[0]
    for what in bad_files:
        remove_made(folder)
        bad = shlex.quote(PATHS.get(what, what))
        capfd.readouterr()
        try:
            code = call(template.replace("{}", bad))
        except Exception as error:  # a traceback, as main() does not catch it
            wrong.append((what, repr(error)))
            continue
        err = capfd.readouterr().err
        last = (err.strip().splitlines() or [""])[-1]
        fine = code in (0, 1, 2) and "Traceback" not in err and "run `wv --debug" not in err
        spoken = code == 0 or name == "check" or last.startswith((f"wv {name}", "Error: "))
        if not (fine and spoken and (code == 0 or len(last) < 1500)) or (code and list(folder.glob("out*"))):
            wrong.append((what, code, err[-300:], [path.name for path in folder.glob("out*")]))
    assert not wrong
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.parametrize(
    "command", [["glove", "--iterations", 1], ["train", "--epochs", 1], ["bioword", "--epochs", 1]]
)
def test_a_given_vocabulary_is_cut_only_where_the_user_says_so(wv, tmp_path, command):
    """A vocabulary of rare words, of which the default --min-count would leave one."""
    (tmp_path / "t").write_text("aap noot mies\n" * 2)
    (tmp_path / "v").write_text("aap 9\nnoot 2\nmies 1\n")
    size = ["--cells", 8, "--length", 2] if command[0] == "bioword" else ["--dim", 2]
    output = "o.codes" if command[0] == "bioword" else "o.glove"
    run = [command[0], "t", "--vocab", "v", *size, *command[1:], "-o", output, "--overwrite"]
    for more, kept in (([], 3), (["--min-count", 2], 2)):
        done = wv(*run, *more)
        assert done.returncode == 0, done.stderr
        assert f"{kept} different ones" in done.stderr
