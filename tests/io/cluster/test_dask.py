"""Work on a real Dask cluster: two worker processes, which the tests start, or which `--dask local` does."""

import contextlib
import gzip
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import GOLDEN, ROOT, Run
from tests.guides import console
from tests.io.cluster.served import nothing, run, said, served
from tests.processes import PATIENCE, Process
from tests.tiers import full
from wv_cli.errors import WvError
from wv_cli.guides import guide_text
from wv_cli.io import dask_cluster as module
from wv_cli.io.dask_cluster import DaskCluster
from wv_cli.text import shard_counting
from wv_cli.text.parts import Shard, shards

pytest.importorskip("distributed", reason="needs the extra dask")


@pytest.fixture
def preload(tmp_path: Path) -> dict[str, str]:
    """An environment in which every worker does what the file `preload.py` says, before anything else."""
    return {"DASK_DISTRIBUTED__WORKER__PRELOAD": json.dumps([str(tmp_path / "preload.py")])}


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8])
def test_values_are_merged_in_the_order_of_their_shards(cluster: DaskCluster, count: int) -> None:
    def function(shard: int) -> list[int]:
        import time

        time.sleep(shard % 3 / 100)
        return [shard]

    def merge(one: list[int], other: list[int]) -> list[int]:
        return [*one, *other]

    done: list[int] = []
    found = cluster.reduce("test", function, range(count), merge, done.append)
    assert found == (list(range(count)) if count else None)
    assert sorted(done) == list(range(count))


def test_values_come_in_order_and_few_are_made_before_they_are_asked_for(cluster: DaskCluster) -> None:
    drawn: list[int] = []

    def drawing() -> Iterator[int]:
        for number in range(20):
            drawn.append(number)
            yield number

    values = cluster.map("test", lambda number: -number, drawing())
    assert next(values) == 0
    assert len(drawn) == 4 == 2 * cluster.threads
    assert list(values) == [-number for number in range(1, 20)]


def test_the_task_of_a_worker_that_is_killed_is_done_by_another(cluster: DaskCluster, tmp_path: Path) -> None:
    def function(shard: int, once: Path = tmp_path / "once") -> int:
        import os

        if shard == 3 and not once.exists():
            once.touch()
            os.kill(os.getpid(), 9)
        return shard

    assert cluster.reduce("test", function, range(8), lambda one, other: one + other, nothing) == 28
    assert (tmp_path / "once").exists()


def test_a_scheduler_that_is_lost_is_one_line(
    slice_text: Path, tmp_path: Path, preload: dict[str, str], wv: Run
) -> None:
    (tmp_path / "preload.py").write_text(
        "import os, time\nfrom wv_cli.text import corpus\n"
        "def tally(*_, **__):\n    os.kill(os.getppid(), 9)\n    time.sleep(60)\ncorpus.tally = tally\n"
    )
    with served(tmp_path, 1, **preload) as found:  # the parent of its workers
        done = wv("build-vocab", slice_text, "-o", "v", "--dask", found)
    assert done.returncode == 1
    assert said(done.stderr).startswith(f"wv build-vocab: --dask {found}: the scheduler was lost while it had work")


def test_what_a_worker_did_not_foresee_is_one_line(cluster: DaskCluster) -> None:
    def function(shard: int) -> int:
        if shard == 2:
            raise LookupError("first line\nsecond line")
        return shard

    with pytest.raises(WvError, match=r"^--dask tcp://\S+: a task failed: LookupError: first line$"):
        cluster.reduce("test", function, range(4), max, nothing)
    with pytest.raises(WvError, match="a task failed: LookupError"):
        list(cluster.map("test", function, range(4)))


@pytest.mark.parametrize("options", ["--lowercase --max-vocab 2000", *full("", "--min-line 5 --min-count 1")])
def test_a_vocabulary_has_the_bytes_of_one_process(
    address: str, texts: list[str], tmp_path: Path, options: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(shard_counting, "SHARD_BYTES", 60_000)
    words = ["build-vocab", *texts, *options.split(), "--json", "-o"]
    assert run(*words, tmp_path / "alone") == 0
    alone = json.loads(capsys.readouterr().out)
    assert run(*words, tmp_path / "dask", "--dask", address) == 0
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "alone").read_bytes()
    told = capsys.readouterr()
    assert json.loads(told.err)["dashboard"].startswith("http://127.0.0.1:")
    dask = json.loads(told.out)
    assert {**dask, "seconds": 0, "output": 0} == {**alone, "seconds": 0, "output": 0}


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_a_text_without_words_is_refused_as_ever(
    address: str, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blank").write_text(text)
    assert run("build-vocab", tmp_path / "blank", "-o", tmp_path / "v", "--dask", address) == 1
    problem = "no text: expected words divided by spaces or line ends, found none"
    assert said(capsys.readouterr().err) == f"wv build-vocab: {tmp_path / 'blank'}: {problem}"
    assert not (tmp_path / "v").exists()


def test_a_damaged_file_is_named_with_the_worker_that_read_it(
    address: str, slice_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged, output = tmp_path / "b.txt.gz", tmp_path / "v"
    damaged.write_bytes(gzip.compress(slice_text.read_bytes())[:-1000])
    output.write_bytes(b"yesterday's")
    assert run("build-vocab", slice_text, damaged, "-o", output, "--dask", address) == 1
    line = said(capsys.readouterr().err)
    assert line.startswith("wv build-vocab: worker tcp://") and f": {damaged}: " in line
    assert output.read_bytes() == b"yesterday's"


@pytest.mark.parametrize(
    ("change", "problem"),
    [("rm {}", "cannot read: no such file"), ("truncate -s 9 {}", "9 bytes here, 1,1")],
)
def test_a_worker_that_does_not_see_the_file_is_named(
    address: str, slice_text: Path, tmp_path: Path, change: str, problem: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / "text"
    path.write_bytes(slice_text.read_bytes())

    def cut(*arguments: Any, **options: Any) -> list[Shard]:
        found = shards(*arguments, **options)
        subprocess.run(shlex.split(change.format(path)), check=True)
        return found

    monkeypatch.setattr(shard_counting, "shards", cut)
    assert run("build-vocab", path, "-o", tmp_path / "v", "--dask", address) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("wv build-vocab: worker tcp://") and f": {path}: {problem}" in line
    assert not (tmp_path / "v").exists()


ALONE = "is for one process, not for a cluster (--dask)"
STREAM = "several processes cannot share a stream; give files, which all of them can read"


@pytest.mark.parametrize(
    ("line", "code", "problem"),
    [
        ("build-vocab text -o v --merge", 2, f"--merge {ALONE}; vocabularies are summed once"),
        ("build-vocab text -o v --memory 1G", 2, f"--memory {ALONE}; leave it out"),
        ("build-vocab text -o v --dedup", 2, f"--dedup {ALONE}; leave it out"),
        ("build-vocab - -o v", 1, f"standard input: {STREAM}"),
        ("build-vocab /dev/null -o v", 1, f"/dev/null: {STREAM}"),
        ("predict MODEL -", 1, f"standard input: {STREAM}"),
        ("vectors MODEL the --dask local", 2, "--dask needs --sentences"),
        ("vectors MODEL --sentences --pooling mean a", 2, "--pooling and --dask cannot be used together: workers make"),
        ("vectors --encoder DIR --sentences -o v.npy a", 2, "-o and --dask cannot be used together: workers give"),
        ("vectors --encoder DIR --sentences --stateful a", 2, "--stateful and --dask cannot be used together: a sen"),
        ("phrases text -o v --across-lines", 2, f"--across-lines {ALONE}; leave it out"),
        ("phrases - -o v", 1, f"standard input: {STREAM}"),
        ("glove --counts text -o v.vec", 2, f"--counts {ALONE}; leave it out"),
        ("glove text -o v.vec --dedup", 2, f"--dedup {ALONE}; leave it out"),
        ("glove text -o v.vec --learn-phrases 1", 2, f"--learn-phrases {ALONE}; find them before with `wv phrases"),
        ("glove text --save-counts v --counts-only --threads 2", 2, "--threads has no effect with --dask and with"),
        ("glove - -o v.vec", 1, f"standard input: {STREAM}"),
        ("phrases - -o v --apply MODEL", 1, f"standard input: {STREAM}"),
        ("phrases text -o v --apply -", 1, f"standard input: {STREAM}"),
        (f"eval similarity - -d {ROOT}/data/similarity/EN-WS-353-ALL.txt", 1, f"standard input: {STREAM}"),
        ("predict none text", 1, "none: cannot read: no such file or directory; check the spelling of the path"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(
    slice_text: Path, tmp_path: Path, line: str, code: int, problem: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Before a cluster is looked for."""
    (tmp_path / "text").symlink_to(slice_text)
    monkeypatch.chdir(tmp_path)
    shutil.copy(GOLDEN / "ft-labels.bin", "MODEL")
    command, *words = line.split()
    assert run(command, *words, "--dask", "no.where:1") == code
    (told,) = capsys.readouterr().err.splitlines()
    speaker = f"wv {command} {words[0]}" if command == "eval" else f"wv {command}"
    assert told.startswith(f"{speaker}: {problem}")


def test_without_dask_its_extra_is_named(
    slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("build-vocab", slice_text, "-o", tmp_path / "v", "--dask", "local") == 1
    problem = "--dask local needs the package distributed; pip install distributed"
    assert capsys.readouterr().err == f"wv build-vocab: {problem}\n"


@pytest.mark.parametrize("asked", ["tcp://127.0.0.1:1", "no-such-host.invalid:1", "mute"])
def test_a_scheduler_that_does_not_answer_is_one_line(
    slice_text: Path, tmp_path: Path, asked: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        asked = f"127.0.0.1:{mute.getsockname()[1]}" if asked == "mute" else asked
        assert run("build-vocab", slice_text, "-o", tmp_path / "v", "--dask", asked) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"wv build-vocab: --dask {asked}: no scheduler answers (")
    assert "`dask scheduler`" in line and "--dask local" in line


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("somewhere", "missing port"),
        pytest.param("nonsense://x:1", "unknown address scheme", marks=pytest.mark.full),
        pytest.param("", "missing port", marks=pytest.mark.full),
        pytest.param("127.0.0.1:many", "invalid literal", marks=pytest.mark.full),
    ],
)
def test_what_is_no_address_is_one_line(slice_text: Path, wv: Run, asked: str, why: str) -> None:
    """And the process ends."""
    done = wv("build-vocab", slice_text, "-o", "v", "--dask", asked)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"wv build-vocab: --dask {asked}: no scheduler answers ({why}")


def test_a_scheduler_without_workers_is_one_line(
    slice_text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scheduler itself may take its time to answer."""
    require = DaskCluster.require_workers

    def wait_shortly(cluster: DaskCluster) -> None:
        monkeypatch.setattr(module, "ANSWER_SECONDS", 0.2)
        require(cluster)

    monkeypatch.setattr(DaskCluster, "require_workers", wait_shortly)
    with served(tmp_path, 0) as found:
        assert run("build-vocab", slice_text, "-o", tmp_path / "v", "--dask", found) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"wv build-vocab: --dask {found}: the scheduler has no workers; start some: dask worker {found}"


@pytest.mark.full
def test_a_worker_without_wv_is_named(
    slice_text: Path, tmp_path: Path, preload: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "preload.py").write_text(
        "from importlib import metadata\n"
        "def version(name):\n    raise metadata.PackageNotFoundError(name)\nmetadata.version = version\n"
    )
    with served(tmp_path, 1, **preload) as found:
        assert run("build-vocab", slice_text, "-o", tmp_path / "v", "--dask", found) == 1
    line = said(capsys.readouterr().err)
    assert line.startswith("wv build-vocab: worker tcp://") and " has no wv, this process " in line


def test_a_worker_with_another_version_is_named(
    slice_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = tmp_path / "other" / "wv_toolkit-0.0.1.dist-info" / "METADATA"
    facts.parent.mkdir(parents=True)
    facts.write_text("Metadata-Version: 2.1\nName: wv-toolkit\nVersion: 0.0.1\n")
    with served(tmp_path, 1, PYTHONPATH=str(facts.parent.parent)) as found:
        assert run("build-vocab", slice_text, "-o", tmp_path / "v", "--dask", found) == 1
    line = said(capsys.readouterr().err)
    assert line.startswith("wv build-vocab: worker tcp://") and " has wv 0.0.1, this process " in line


def test_a_task_that_no_worker_survives_ends_with_one_line(
    slice_text: Path, tmp_path: Path, preload: dict[str, str], wv: Run
) -> None:
    (tmp_path / "preload.py").write_text(
        "import os\nfrom wv_cli.text import corpus\ncorpus.tally = lambda *_, **__: os.kill(os.getpid(), 9)\n"
    )
    (tmp_path / "v").write_bytes(b"yesterday's")
    env = {**preload, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    done = wv("build-vocab", slice_text, "-o", "v", "--dask", "local", env=env)
    assert done.returncode == 1
    assert said(done.stderr).startswith(
        "wv build-vocab: --dask local: the workers that did one of the tasks were lost, 1 in all, the last of them tcp:"
    )
    assert (tmp_path / "v").read_bytes() == b"yesterday's"


def test_a_local_cluster_that_starts_slowly_is_not_told_of(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    """Dask warns where it took a second to make folders, in this process and in its workers."""
    (tmp_path / "preload.py").write_text("import warnings\nwarnings.warn('it took long')\n")
    preload = json.dumps([str(tmp_path / "preload.py")])
    env = {f"DASK_DISTRIBUTED__{each}__PRELOAD": preload for each in ("NANNY", "WORKER")}
    done = wv("build-vocab", slice_text, "-o", "v", "--dask", "local", "-q", env=env)
    assert (done.returncode, done.stderr) == (0, "")


def processes(session: int) -> list[int]:
    """Those of a session that are alive."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, own = place.read_text().rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                found.append(int(place.parent.name))
    return found


STARTING = "import pathlib, time\npathlib.Path('started').touch()\ntime.sleep(1)\n"
COUNTING = """
import pathlib, time
from wv_cli.text import corpus
def tally(*_, **__):
    pathlib.Path("started").touch()
    time.sleep(120)
    pathlib.Path("finished").touch()
corpus.tally = tally
"""


@pytest.mark.parametrize(
    "meanwhile", [pytest.param(STARTING, id="starting", marks=pytest.mark.full), pytest.param(COUNTING, id="counting")]
)
def test_ctrl_c_ends_the_local_cluster_and_says_one_line(
    slice_text: Path, tmp_path: Path, preload: dict[str, str], meanwhile: str
) -> None:
    """Which a terminal sends to all processes of its foreground."""
    (tmp_path / "preload.py").write_text(meanwhile)
    command = [sys.executable, "-m", "wv_cli", "build-vocab", str(slice_text), "-o", "v", "--dask", "local"]
    with Process(
        command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env={**os.environ, **preload}, start_new_session=True
    ) as process:
        while not (tmp_path / "started").exists():
            assert process.poll() is None
            time.sleep(0.05)
        assert len(processes(process.pid)) > 2
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate()[1]
        assert process.returncode == 130
        assert said(told) == "wv build-vocab: interrupted"
        until = time.monotonic() + PATIENCE  # multiprocessing's own helper ends when this process has
        while processes(process.pid) and time.monotonic() < until:
            time.sleep(0.05)
        assert processes(process.pid) == []
    assert not (tmp_path / "v").exists()
    assert not (tmp_path / "finished").exists(), "a task is not waited for"


def test_the_command_of_the_guide_runs_as_it_stands(slice_text: Path, tmp_path: Path, wv: Run) -> None:
    (tmp_path / "corpus.txt").symlink_to(slice_text)
    blocks = console.blocks(guide_text("many-machines"), "sh")
    (line,) = [line for block in blocks for line in block.splitlines() if "--dask local" in line]
    program, *words = shlex.split(line)
    assert (program, wv(*words).returncode) == ("wv", 0)
