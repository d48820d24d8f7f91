"""A run that continues a state is killed at every system call of its end: the next run knows what was learnt."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE
from wv_cli import train
from wv_cli.__main__ import run
from wv_cli.errors import WvError
from wv_cli.io import output
from wv_cli.models.training import checkpoint, saved_run
from wv_cli.models.training.state import read_options

SMALL = "--threads 1 --min-count 1 -q"
# The first day's training and what a night adds to it.
COMMANDS = {
    "words": f"train {{}} -o v.vec --dim 6 --epochs 4 {SMALL} --save-state X",
    "subwords": f"train {{}} -o v.bin --minn 2 --maxn 3 --buckets 50 --dim 6 --epochs 4 {SMALL} --no-meta "
    "--save-state X",
    "classifier": f"train --model supervised {{}} -o v.bin --dim 6 --epochs 4 {SMALL} --save-state X",
    "glove": f"glove {{}} -o v.vec --save-counts v.counts --dim 6 --iterations 4 {SMALL} --save-state X",
}
CALLS = [(os, "fsync"), (Path, "replace"), (Path, "unlink"), (output, "remove_strays")]
FIXED = ("--dim", "--minn", "--maxn", "--buckets", "--model", "--epochs", "--iterations")


def night(line: str, text: str) -> list[str]:
    """The command of a night: the options are those of the state."""
    words = line.format(text).split()
    kept = [word for at, word in enumerate(words) if word not in FIXED and (not at or words[at - 1] not in FIXED)]
    return [*kept, "--continue", "X"]


@pytest.fixture(params=["words", *(pytest.param(name, marks=pytest.mark.full) for name in COMMANDS if name != "words")])
def command(request, tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    for name, words in (
        ("a", "one two three four five"),
        ("b", "two six three seven one"),
        ("c", "nine one ten two six"),
    ):
        lines = [f"__label__{at % 2} {words}\n" for at in range(60)]
        Path(f"{name}.txt").write_text("".join(lines))
    line = COMMANDS[request.param]
    assert run(line.format("a.txt").split()) == 0
    return line


def contents() -> dict[str, bytes]:
    """All files but the sidecars, in which times stand."""
    return {path.name: path.read_bytes() for path in Path.cwd().iterdir() if not path.name.endswith(".meta.json")}


def restore(files: dict[str, bytes]) -> None:
    for path in Path.cwd().iterdir():
        path.unlink()
    for name, data in files.items():
        Path(name).write_bytes(data)


def killed_at(number: int, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the run was killed at call `number`, in another process."""
    child = os.fork()
    if child == 0:
        left = number

        def wrapped(function):
            def call(*given, **named):
                nonlocal left
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*given, **named)

            return call

        for owner, name in CALLS:
            monkeypatch.setattr(owner, name, wrapped(getattr(owner, name)))
        try:
            os._exit(run(arguments))
        finally:
            os._exit(99)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL)
    return ended != 0


def test_whatever_call_of_the_end_is_the_last_the_next_run_knows(command, monkeypatch, capfd):
    again = night(command, "b.txt")
    assert run([*again, "--max-time", "1e-9"]) == 124
    stopped = contents()
    assert run([*again, "--resume"]) == 0
    done = contents()
    assert "X.checkpoint" not in done and done["X"] != stopped["X"]
    ended = set()
    for number in range(1, 60):
        restore(stopped)
        if not killed_at(number, [*again, "--resume"], monkeypatch):
            break
        torn, new = contents(), Path("X").read_bytes() == done["X"]
        ended.add(new)
        # Where the state is new, so is everything else.
        assert not new or all(torn[name] == done[name] for name in done), f"call {number}"
        assert run([*again, "--resume"]) == 0, f"call {number}: {capfd.readouterr().err}"
        assert contents() == done, f"call {number}, --resume"
        restore(torn)
        code = run(again)
        told = capfd.readouterr().err
        if new:
            assert code == 0 and contents() == done, f"call {number}: {told}"
        else:
            assert code == 1 and "--resume" in told and Path("X").read_bytes() == stopped["X"], f"call {number}: {told}"
        restore(torn)
        assert run(night(command, "c.txt")) == (0 if new else 1), f"call {number}, the next night"
        assert len(read_options("X").texts) == (3 if new else 1)
    assert number > 6 and ended == {True, False}


def test_the_same_text_is_learnt_once_unless_it_is_asked(command, capfd):
    again = night(command, "b.txt")
    assert run(again) == 0
    done = contents()
    Path("v.vec").unlink(missing_ok=True)
    Path("renamed.txt").write_bytes(Path("b.txt").read_bytes())
    loud = [word for word in night(command, "renamed.txt") if word != "-q"]
    assert run(loud) == 0 and "already learnt" in capfd.readouterr().err
    Path("renamed.txt").unlink()
    assert contents() == done, "what is missing is written from the state"
    assert run([*again, "--save-state", "Y"]) == 0
    assert Path("Y").read_bytes() == done["X"]
    assert run([*again, "--again"]) == 0
    assert contents()["X"] != done["X"]
    texts = read_options("X").texts
    assert len(texts) == 3 and texts[1] == texts[2]


def test_a_text_that_was_begun_again_is_gone_on_with(command):
    again = [*night(command, "b.txt"), "--again"]
    assert run(again) == 0 and run([*again, "--max-time", "1e-9"]) == 124
    assert run(again) == 1, "the checkpoint is of a run that has not ended"
    assert run([*night(command, "b.txt"), "--resume"]) == 0
    assert len(read_options("X").texts) == 3 and not list(Path.cwd().glob("*.checkpoint"))


def test_killed_for_real_between_the_renames_and_the_end(command):
    """One with a process that is not a copy of this one."""
    again = night(command, "b.txt")
    assert run([*again, "--max-time", "1e-9"]) == 124
    code = (
        "import os, signal, sys; from wv_cli.models.training import saved_run; from wv_cli.__main__ import run;"
        "saved_run.SavedRun.remove = lambda self: os.kill(os.getpid(), signal.SIGKILL); run(sys.argv[1:])"
    )
    ended = subprocess.run([sys.executable, "-c", code, *again, "--resume"], timeout=PATIENCE, check=False)
    assert ended.returncode == -signal.SIGKILL and list(Path.cwd().glob("*.checkpoint"))
    state = Path("X").read_bytes()
    assert run([*again, "--resume"]) == 0
    assert Path("X").read_bytes() == state and not list(Path.cwd().glob("*.checkpoint"))


def test_a_checkpoint_of_a_new_beginning_is_not_taken_for_ended(command, capfd):
    """The state that is there has learnt the text, but not from this run."""
    anew = command.format("a.txt").split()
    assert run([*anew, "--max-time", "1e-9"]) == 124
    assert run(night(command, "b.txt")) == 1 and "--resume" in capfd.readouterr().err
    assert run([*anew, "--resume"]) == 0


def test_what_was_learnt_is_kept_when_an_output_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("one two three four five\n" * 60)
    options = {"dim": 6, "epochs": 4, "min_count": 1, "threads": 1, "meta": False}
    train("a.txt", ["v.npy", "v.vec"], **options)
    done = contents()
    restore({"a.txt": done["a.txt"], "v.vec": b"yesterday's"})
    real = output.open_output

    def full(path):
        if str(path).endswith(".npy"):
            raise WvError(f"{path}: cannot write: no space left on device")
        return real(path)

    from wv_cli.vectors import formats

    with monkeypatch.context() as patch:
        patch.setattr(formats, "open_output", full)
        with pytest.raises(WvError, match=r"v\.npy: .*; written all the same: v\.vec; what was learnt is in v\.npy\.c"):
            train("a.txt", ["v.npy", "v.vec"], **options)
    assert set(contents()) == {"a.txt", "v.vec", "v.npy.checkpoint"} and contents()["v.vec"] == done["v.vec"]
    steps = []
    monkeypatch.setattr(
        saved_run, "train", lambda trainer, **how: steps.append(trainer.next_step) or real_train(trainer, **how)
    )
    train("a.txt", ["v.npy", "v.vec"], resume=True, **options)
    assert contents() == done and steps[0] > 0
    assert checkpoint.text_of("v.vec") is None


real_train = saved_run.train


def test_options_of_one_night_are_not_those_of_the_next(command):
    before = read_options("X")
    name = "iterations" if command.startswith("glove") else "epochs"
    assert run([*night(command, "b.txt"), f"--{name}", "1"]) == 0
    after = read_options("X")
    assert (after.config, after.vocab_config) == (before.config, before.vocab_config) and after.config[name] == 4
