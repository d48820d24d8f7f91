"""What every command owes its user, run over the table of commands: help, misuse, bad input, full disks, closed pipes.

A new command needs one row in CALLS of tests/calls.py. What only one command does is tested in that command's own file.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click
import pytest

from tests.calls import CALLS
from tests.conftest import GOLDEN, Run, start_wv
from tests.tiers import full
from tests.walk import require_rows
from wv_cli import _cpu
from wv_cli.cli import COMMANDS
from wv_cli.cli.program import wv as group

EVERY = pytest.mark.parametrize("name", list(COMMANDS))
READERS = pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.reads])
WRITERS = pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.writes and call.reads])
# One of each way to write: the tests of these start the program, those of the others are in the full tier.
SOME = ("phrases", "train", "nn", "eval", "help")


def filled(arguments: str, names: dict[str, object]) -> list[str]:
    return [word.format(**names) for word in arguments.split()]


def with_some(names: Iterable[str]) -> pytest.MarkDecorator:
    found = list(names)
    return pytest.mark.parametrize(
        "name", [*(each for each in found if each in SOME), *full(*(each for each in found if each not in SOME))]
    )


@pytest.fixture
def names(tmp_path: Path, slice_text: Path, slice_vectors: Path, data: Path) -> dict[str, object]:
    """Good files for every placeholder; tests put a bad one in the place of one of them."""
    text = tmp_path / "short.txt"
    with slice_text.open("rb") as whole:
        text.write_bytes(whole.read(20_000))
    pairs = data / "similarity" / "EN-WS-353-ALL.txt"
    model = GOLDEN / "ft-labels.bin"
    found = {"text": text, "vectors": slice_vectors, "model": model, "labeled": text, "pairs": pairs}
    counts = GOLDEN / "w2v.vocab"
    found["records"] = tmp_path / "records.jsonl"
    found["records"].write_text('{"text": "some words"}\n')
    return {**found, "other": slice_vectors, "counts": counts, "out": tmp_path / "out.vec"}


def assert_failed(
    done: "subprocess.CompletedProcess[str]", name: str, *parts: str, code: int = 1, group: bool = False
) -> None:
    """Exit code, one message that says who speaks and what it is about, no traceback."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    message = done.stderr.strip().splitlines()[-1]
    if message.startswith("{"):  # with --json
        event = json.loads(message)
        message = f"{event['command']}: {event['message']}"
    path = f"{name} {CALLS[name].good.split()[0]}" if name in ("eval", "lm") and not group else name
    assert message.startswith(f"wv {path}: "), done.stderr
    for part in parts:
        assert part in message, done.stderr


def assert_works(name: str, names: dict[str, object], done: "subprocess.CompletedProcess[str]") -> None:
    assert done.returncode == 0, done.stderr
    if CALLS[name].writes:
        assert Path(str(names["out"])).stat().st_size > 0


def with_bad(name: str, names: dict[str, object], bad: object) -> list[str]:
    call = CALLS[name]
    assert call.reads is not None
    return [name, *filled(call.good, {**names, call.reads: bad})]


def test_every_command_has_a_row() -> None:
    require_rows("CALLS of tests/calls.py", CALLS, COMMANDS)
    assert list(CALLS) == list(COMMANDS), "CALLS of tests/calls.py has the order of COMMANDS in wv_cli/cli/__init__.py"


def test_help_lists_every_command_with_its_summary(wv: Run) -> None:
    done = wv("--help")
    assert done.returncode == 0
    for name, row in COMMANDS.items():
        assert f"{name}  " in done.stdout
        assert row.summary.split()[-1] in done.stdout


def test_help_names_every_instruction_set(wv: Run) -> None:
    help = "".join(wv("--help").stdout.split())
    assert set(_cpu.built()) <= set(help.partition("(WV_ISA=")[2].partition("choosesanother")[0].split("|"))


def test_completion_shows_the_summaries() -> None:
    assert {name: group.get_command(click.Context(group), name).short_help for name in COMMANDS} == {
        name: row.summary for name, row in COMMANDS.items()
    }


def test_help_works_without_loading_numpy() -> None:
    """One process shows the help of one command after the other."""
    code = (
        "import contextlib, io, json, sys; from wv_cli.__main__ import run\n"
        "for name in sys.argv[1:]:\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as shown:\n"
        "        status = run([name, '--help'])\n"
        "    print(json.dumps([name, status, shown.getvalue(), 'numpy' in sys.modules]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *COMMANDS], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    shown = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, *_ in shown] == [*COMMANDS]
    for name, status, text, has_numpy in shown:
        assert (status, has_numpy) == (0, False) and text.startswith(f"Usage: wv {name}"), name


@EVERY
def test_unknown_option_is_misuse(name: str, wv: Run) -> None:
    done = wv(name, "--no-such-option")
    assert done.returncode == 2
    assert_failed(done, name, "no such option --no-such-option", code=2, group=True)
    assert done.stderr.count("\n") == 1 and done.stdout == ""


def test_unknown_command_names_the_nearest(wv: Run) -> None:
    done = wv("trian")
    assert done.returncode == 2
    assert done.stderr.startswith("wv: unknown command 'trian'; did you mean 'train'?\n")


@pytest.mark.quick
@EVERY
def test_good_call_works(name: str, wv: Run, names: dict[str, object]) -> None:
    """The calls below fail for the reason the tests give, not because the call itself is wrong."""
    assert_works(name, names, wv(name, *filled(CALLS[name].good, names)))


@with_some(CALLS)
def test_good_call_works_where_it_is_started(name: str, names: dict[str, object], tmp_path: Path) -> None:
    """As a shell does, so that nothing is imported but what the command imports."""
    assert_works(name, names, start_wv(name, *filled(CALLS[name].good, names), cwd=tmp_path))


@READERS
def test_missing_input(name: str, wv: Run, names: dict[str, object]) -> None:
    assert_failed(wv(*with_bad(name, names, "no-such-file")), name, "no-such-file")


@READERS
def test_folder_as_input(name: str, wv: Run, names: dict[str, object], tmp_path: Path) -> None:
    """Texts may be folders, but not empty ones; vectors may not."""
    folder = tmp_path / "folder"
    folder.mkdir()
    assert_failed(wv(*with_bad(name, names, folder)), name, "folder")


@READERS
def test_empty_input(name: str, wv: Run, names: dict[str, object], tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    assert_failed(wv(*with_bad(name, names, empty)), name, "empty")


@READERS
def test_broken_archive_as_input(name: str, wv: Run, names: dict[str, object], tmp_path: Path) -> None:
    """The first bytes say gzip, the rest is nonsense: no format of ours and no codec can read it."""
    rubbish = tmp_path / "rubbish.gz"
    rubbish.write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(255, 0, -1)) * 40)
    assert_failed(wv(*with_bad(name, names, rubbish)), name, "rubbish.gz")


@pytest.mark.parametrize("name", [name for name, call in CALLS.items() if call.reads in ("vectors", "model")])
def test_binary_rubbish_as_vectors(name: str, wv: Run, names: dict[str, object], tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.bin"
    rubbish.write_bytes(bytes(range(256)) * 400)
    assert_failed(wv(*with_bad(name, names, rubbish)), name, "rubbish.bin")


@READERS
@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_input(name: str, wv: Run, names: dict[str, object], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the quick brown fox\n" * 100)
    secret.chmod(0)
    assert_failed(wv(*with_bad(name, names, secret)), name, "secret")


@WRITERS
def test_a_failure_leaves_yesterdays_file_alone(name: str, wv: Run, names: dict[str, object], tmp_path: Path) -> None:
    out = Path(str(names["out"]))
    out.write_text("yesterday\n")
    before = set(tmp_path.iterdir())
    assert wv(*with_bad(name, names, "no-such-file")).returncode == 1
    assert out.read_text() == "yesterday\n"
    assert set(tmp_path.iterdir()) == before


@WRITERS
def test_output_folder_is_checked(name: str, wv: Run, names: dict[str, object]) -> None:
    call = filled(CALLS[name].good, {**names, "out": "no-such-folder/out.vec"})
    assert_failed(wv(name, *call), name, "no-such-folder")


@with_some(name for name, call in CALLS.items() if call.writes and call.reads)
def test_output_that_grows_too_large(name: str, names: dict[str, object], tmp_path: Path) -> None:
    """A limit on the file size fails the write in the middle, as a full disk does."""
    out = Path(str(names["out"]))
    out.write_text("yesterday\n")
    before = set(tmp_path.iterdir())
    call = [sys.executable, "-m", "wv_cli", name, *filled(CALLS[name].good, names)]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert_failed(done, name, "out.vec", "file too large")
    assert out.read_text() == "yesterday\n"
    assert set(tmp_path.iterdir()) == before


@with_some(name for name, call in CALLS.items() if call.prints)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_full_disk_on_stdout(name: str, names: dict[str, object], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "wv_cli", name, *filled(str(CALLS[name].prints), names)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert_failed(subprocess.CompletedProcess(done.args, done.returncode, "", done.stderr), name, "space")


@with_some(name for name, call in CALLS.items() if call.prints)
def test_closed_pipe_is_no_error(name: str, names: dict[str, object], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "wv_cli", name, *filled(str(CALLS[name].prints), names)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
