"""What the recorded runs of GloVe's programs do not show, or show beside what differs on purpose."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.compat import replay
from tests.compat.differs_glove_tools import FIRST_RECORD
from tests.compat.test_transcripts import run, typed
from wv_cli._glove import RECORD
from wv_cli.vectors import formats

GLOVE = ["-input-file", "shuf.bin", "-vocab-file", "vocab.txt", "-vector-size", "3", "-threads", "1", "-seed", "3"]


def records(data: bytes) -> np.ndarray:
    return np.frombuffer(data, RECORD)


def tools(line: str, folder: Path, stdin: bytes = b"", status: int = 0) -> replay.Done:
    done = typed(["glove-tools", *line.split()], stdin, folder)
    assert done.status == status and b"Traceback" not in done.stderr, done.stderr.decode()
    return done


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder of the next command line, with a vocabulary, shuffled records and a text."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("shuf.bin", "vocab.txt", "text30.txt"):
        (folder / name).write_bytes((replay.inputs() / name).read_bytes())
    return folder


@pytest.mark.parametrize("name", FIRST_RECORD)
def test_only_the_first_record_differs(name: str, tmp_path: Path) -> None:
    case = replay.case(name)
    done = run(case, tmp_path)
    ours, theirs = records(done.stdout).copy(), records(case.stream("stdout"))
    assert 2 * ours["value"][0] == pytest.approx(theirs["value"][0], rel=1e-12)
    ours["value"][0] *= 2
    assert replay.problems(case, replay.Done(done.status, ours.tobytes(), done.stderr, done.folder)) == []


@pytest.mark.parametrize("name", ["cooccur/overflow-file", "cooccur/overflow-length"])
def test_temporary_files_are_all_that_differs(name: str, tmp_path: Path) -> None:
    case = replay.case(name)
    done = run(case, tmp_path)
    (problem,) = replay.problems(case, done)
    assert problem.startswith("stderr") and b"2 files in total" in done.stderr
    assert [path.name for path in done.folder.iterdir()] == ["vocab.txt"], "none was left behind"


def costs(stderr: bytes) -> list[float]:
    return [float(cost) for cost in re.findall(rb"cost: ([0-9.]+)", stderr)]


@pytest.mark.parametrize("name", ["basic", "alpha", "eta", "x-max", "grad-clip", "iter", "defaults-threads-iter",
                                  "load-init-gradsq", "vector-size-default"])  # fmt: skip
def test_the_costs_are_those_of_the_original(name: str, tmp_path: Path) -> None:
    """As near as another start and another order of the records let them be."""
    case = replay.case(f"glove/{name}")
    ours, theirs = costs(run(case, tmp_path).stderr), costs(case.stream("stderr"))
    np.testing.assert_allclose(ours, theirs, rtol=0.15)


def test_raw_files_of_the_original_are_read_and_written(work: Path) -> None:
    """Without a pass over the counts what was loaded is what is saved."""
    theirs = replay.case("glove/gradsq-binary-2").folder / "files"
    for name, start in [("vectors", "vectors.000.bin"), ("gradsq", "gradsq.000.bin")]:
        (work / start).write_bytes((theirs / f"{name}.bin").read_bytes())
    options = "-iter 0 -load-init-param 1 -load-init-gradsq 1 -save-gradsq 1 -binary 2"
    tools(f"glove {' '.join(GLOVE)} {options}", work.parent)
    for name in ("vectors", "gradsq"):
        ours, wanted = (np.fromfile(folder / f"{name}.bin") for folder in (work, theirs))
        np.testing.assert_allclose(ours, wanted, rtol=2e-7)
        ours, wanted = ((folder / f"{name}.txt").read_bytes() for folder in (work, theirs))
        assert replay.same_but_last_digits(ours, wanted)


def test_a_checkpoint_is_what_training_goes_on_with(work: Path) -> None:
    line = f"glove {' '.join(GLOVE)} -binary 2 -save-gradsq 1 -save-file v -gradsq-file g"
    first = tools(f"{line} -iter 3 -checkpoint-every 1", work.parent)
    assert (work / "v.003.bin").read_bytes() == (work / "v.bin").read_bytes() != (work / "v.002.bin").read_bytes()
    assert (work / "g.003.txt").read_bytes() == (work / "g.txt").read_bytes() != (work / "g.001.txt").read_bytes()
    start = "-load-init-param 1 -init-param-file v.bin -load-init-gradsq 1 -init-gradsq-file g.bin"
    second = tools(f"{line} {start} -iter 1", work.parent)
    assert costs(second.stderr)[0] < costs(first.stderr)[-1], "and what it began with is written anew"
    assert sorted(path.name for path in work.iterdir() if path.name.startswith(".")) == []


def test_from_text_to_vectors(work: Path) -> None:
    text = (work / "text30.txt").read_bytes()
    vocab = tools("vocab_count -min-count 3", work.parent, text).stdout
    (work / "vocab.txt").write_bytes(vocab)
    counted = tools("cooccur -window-size 5", work.parent, text).stdout
    mixed = tools("shuffle -seed 1", work.parent, counted).stdout
    assert mixed != counted and np.array_equal(np.sort(records(mixed)), records(counted))
    (work / "shuf.bin").write_bytes(mixed)
    tools("glove -input-file shuf.bin -vector-size 12 -iter 3 -model 0", work.parent)
    (work / "0.glove").write_bytes((work / "vectors.txt").read_bytes())
    vectors = formats.load(work / "0.glove")
    assert list(vectors.words) == [line.split()[0].decode() for line in vocab.splitlines()] + ["<unk>"]
    assert vectors.dim == 2 * 13
    np.testing.assert_allclose(vectors.matrix[-1], vectors.matrix[-101:-1].mean(axis=0), atol=1e-6)


def test_ids_are_line_numbers_whatever_the_counts(work: Path) -> None:
    text = (work / "text30.txt").read_bytes()
    first = records(tools("cooccur -window-size 4", work.parent, text).stdout)
    lines = (work / "vocab.txt").read_bytes().splitlines(keepends=True)
    (work / "vocab.txt").write_bytes(b"".join(reversed(lines)))
    second = records(tools("cooccur -window-size 4", work.parent, text).stdout).copy()
    for side in ("row", "column"):
        second[side] = len(lines) + 1 - second[side]
    assert np.array_equal(np.sort(second), first)


def test_words_of_equal_count_stand_by_their_bytes_and_non_ascii_first(work: Path) -> None:
    """As C compares characters that are signed."""
    text = "na naïve z café caf 中 a"
    found = tools("vocab_count", work.parent, text.encode()).stdout.decode()
    assert found.split()[::2] == ["中", "a", "café", "caf", "naïve", "na", "z"]


@pytest.mark.parametrize(
    ("line", "stdin", "status", "texts"),
    [
        ("", b"", 2, ["vocab_count, cooccur, shuffle, glove"]),
        ("count", b"", 2, ["vocab_count, cooccur, shuffle, glove", "'count'"]),
        ("cooccur -memory 0", b"", 2, ["-memory", "gigabytes", "not 0"]),
        ("cooccur -window-size 0", b"", 2, ["--window must be between 1 and 1000, not 0"]),
        ("cooccur -overflow-file nosuch/o", b"", 1, ["nosuch/o", "does not exist"]),
        ("shuffle -array-size 0", b"", 2, ["-array-size", "at least 1"]),
        ("shuffle", b"0123456789abcdef+", 1, ["standard input: byte 16", "16 bytes", "1 more"]),
        ("glove -input-file text30.txt", b"", 1, ["text30.txt: byte", "16 bytes"]),
        ("glove -input-file shuf.bin -vector-size 0", b"", 2, ["--dim must be between 1"]),
    ],
)
def test_misuse_is_one_line(line, stdin, status, texts, work: Path) -> None:
    done = tools(line, work.parent, stdin, status)
    last = done.stderr.decode().splitlines()[-1]
    assert all(text in last for text in texts), last
    assert done.stdout == b"" and not (work / "vectors.txt").exists()
