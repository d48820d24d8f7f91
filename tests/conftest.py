"""Fixtures every test may use, and the one rule of the suite: the installed package is what is tested.

pytest (and `python -m`) put the checkout first on sys.path, where `wv_cli` has no compiled modules. It is taken out
here while the package is imported, which settles where its modules come from; PYTHONSAFEPATH does the same for the
`python -m wv_cli` that tests start. An editable install goes on working: its import hook stands before sys.path.
"""

import lzma
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "tests" / "golden"
# Here OpenBLAS has one thread: more of them spin while they wait, beside a worker for every processor. The programs
# that tests start have as many as ever.
_asked = os.environ.get("OPENBLAS_NUM_THREADS")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy  # noqa: E402, F401

if _asked is None:
    del os.environ["OPENBLAS_NUM_THREADS"]
_paths = sys.path[:]
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
from tests import forked, tiers  # noqa: E402
from tests.processes import PATIENCE, end_processes  # noqa: E402
from wv_cli.io import mapped  # noqa: E402
from wv_cli.io.host import processors  # noqa: E402

sys.path[:] = _paths
_PROCESSORS = processors()
# One thread where a test asks for no number: the same results on every machine.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["PYTHONSAFEPATH"] = "1"
os.environ["WV_HISTORY"] = ""  # nothing of a test stays in the home folder
for _name in ("COLUMNS", "LINES"):  # help is as wide as where nobody says how wide
    os.environ.pop(_name, None)

# What nohup or a script's & has told us to ignore the programs under test must hear of again.
for _number, _usual in {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}.items():
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# Nothing is timed: a busy machine is no failure. Every run has the same examples, so that none fails for a change that
# has not touched what it tests; `--hypothesis-profile search` draws others.
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("wv", settings.get_profile("search"), derandomize=True)
settings.load_profile("wv")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--tier", choices=tiers.TIERS, default="default", help="which tests run: tests/README.md")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests of larger tiers, unless a test is named (`FILE::TEST`)."""
    tiers.mark_slow(items)
    if any("::" in argument for argument in config.args):
        return
    place = tiers.TIERS.index(config.getoption("tier"))
    left_out = [item for item in items if tiers.TIERS.index(tiers.tier_of(item)) > place]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        kept = {*items} - {*left_out}
        items[:] = [item for item in items if item in kept]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """For `-n auto`: one more than processors, since some tests wait for a process, a signal or a disk. None leaves it
    to xdist, which has a variable for it."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else _PROCESSORS + 1


Run = Callable[..., "subprocess.CompletedProcess[str]"]


def start_wv(
    *arguments: object,
    input: str = "",
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = PATIENCE,
) -> "subprocess.CompletedProcess[str]":
    """Runs the real entry point as a user's shell would. Text goes through UTF-8 with surrogateescape, so any bytes
    survive; without `input` stdin is empty."""
    return subprocess.run(
        [sys.executable, "-m", "wv_cli", *map(str, arguments)],
        input=input,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, **(env or {})},
        cwd=cwd,
        timeout=timeout,
        check=False,
    )


def run_wv(*arguments: object, env: dict[str, str] | None = None, **options: Any) -> "subprocess.CompletedProcess[str]":
    """The same, ten times sooner: in a process forked where the program is imported already (tests/forked.py). With an
    environment of its own, which modules may read as they are imported, it is started."""
    return start_wv(*arguments, env=env, **options) if env else forked.run([*map(str, arguments)], **options)


@pytest.fixture
def wv(tmp_path: Path) -> Run:
    """`wv("train", path, ...)` in the test's own folder -> CompletedProcess with returncode, stdout and stderr."""
    return partial(run_wv, cwd=tmp_path)


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Of those that a test starts."""
    yield
    end_processes()


@pytest.fixture(autouse=True)
def files_of_other_tests_may_change() -> Iterator[None]:
    """The program runs once in a process; here a file that one test mapped must not be judged in another one's run."""
    yield
    mapped._changed.clear()
    for address, (name, descriptor, _) in [*mapped._watched.items()]:
        mapped._watched[address] = (name, descriptor, mapped._state(descriptor))


@pytest.fixture(scope="session")
def static_folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders of static embeddings that other libraries wrote, what these encode, and a random BERT."""
    import tarfile

    folder = tmp_path_factory.mktemp("folders")
    with tarfile.open(GOLDEN / "static.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "static"


@pytest.fixture(scope="session")
def data() -> Path:
    """The shipped data: corpus/, similarity/, analogy/."""
    return ROOT / "data"


@pytest.fixture(scope="session")
def slice_xz(data: Path) -> Path:
    """The shipped corpus as it lies on disk: 97,000 lines, xz."""
    return data / "corpus" / "wiki8-slice.txt.xz"


@pytest.fixture(scope="session")
def slice_text(slice_xz: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first 3,000 lines of the shipped corpus (about 200,000 words) as a plain file."""
    path = tmp_path_factory.mktemp("corpus") / "slice.txt"
    with lzma.open(slice_xz, "rb") as packed:
        path.write_bytes(b"".join(islice(packed, 3000)))
    return path


@pytest.fixture(scope="session")
def slice_vectors(slice_text: Path) -> Iterator[Path]:
    """Vectors of the 3,000 lines in word2vec's text format: quickly made, good enough to read, search and score."""
    path = slice_text.parent / "slice.vec"
    done = run_wv("train", slice_text, "-o", path, "--dim", 32, "--epochs", 1, "-q")
    assert done.returncode == 0, done.stderr
    yield path
