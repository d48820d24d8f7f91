"""What a command does not import: a short job takes as long as its start."""

import importlib.util
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.lm.golden import kenlm_files

# Of the standard library and the packages: what a cluster, a bar or a network needs.
OUTSIDE = {"asyncio", "ssl", "socket", "importlib.metadata", "multiprocessing.resource_tracker", "tqdm"}
# Ours: what a search for options or a score needs.
OURS = {f"wv_cli.{name}" for name in ("evaluation", "commands.autotune", "commands.validation")}
# The rooms of which a query has modules; below `_` all extension modules count as one. Whatever another command needs,
# its own jobs, the engine and the cluster among it, a query does not wait for.
BELOW = {"cli", "config", "errors", "io", "registry", "vectors", "words"} | {"vectors.formats", "vectors.neighbors"}
# Of these every room inside.
INNER = {"vectors.formats", "vectors.neighbors", "models.glove", "models.training"}
JOB = {"commands"} | {f"commands.{name}" for name in ("job", "part", "parts", "parts.resume", "run")}
QUESTION = JOB | {"commands.questions", "commands.parts.asking", "commands.parts.vectors"}
PREDICT = {f"commands.{name}" for name in ("distribution", "parts.prediction", "predict")}
# A command with options of its own has no job.
ASKED = {"commands", "commands.distribution", "commands.parts"}
QUERIES = {
    "nn words.bin the": (QUESTION | {"commands.nn"}, 68),
    "similarity words.bin the of": (QUESTION | {"commands.similarity"}, 63),
    "vectors words.bin the": (ASKED | {"commands.parts.pooling", "encoders", "transforms", "text"}, 77),
    "vectors labels.bin --sentences the": (
        ASKED | {"commands.parts.pooling", "commands.sentences", "encoders", "transforms", "text"},
        82,
    ),
    "predict labels.bin labeled.txt": (JOB | PREDICT | {"models", "text", "filtering"}, 94),
    "predict labels.bin labeled": (JOB | PREDICT | {"models", "text", "filtering"}, 94),  # an ending of no format
    "lm score words.lm text.txt": (
        {"commands", "commands.parts", "commands.parts.asked_lm"} | {"lm", "text", "filtering"},
        59,
    ),
    "search text.index history": (JOB | {"commands.search", "retrieval", "text"}, 49),
    "convert words.bin words.vec -q": (JOB | {"commands.convert", "commands.parts.vectors"}, 62),
}
# Of the standard library: what these queries did without when they were last looked at, each some milliseconds.
SLOW = {"bz2", "concurrent.futures", "csv", "hashlib", "logging", "random", "secrets", "shutil", "string", "tempfile"}
MAY_HAVE = {
    "search text.index history": {"hashlib"},
    "convert words.bin words.vec -q": {
        "bz2",
        "concurrent.futures",
        "hashlib",
        "logging",
        "random",
        "secrets",
        "shutil",
        "string",
    },
}
LACKS = {
    **{call: {"vectors.neighbors"} for call in QUERIES if call.split()[0] not in ("nn", "search")},
    "search text.index history": {"vectors.formats", "words"},
    "lm score words.lm text.txt": {"vectors.formats", "vectors.neighbors", "words"},
}
QUERY = (
    "import sys; from wv_cli.__main__ import run; status = run(sys.argv[1:]); "
    "print(*sys.modules, file=sys.stderr); sys.exit(status)"
)
CODE = (
    "import sys; from wv_cli.__main__ import run; status = run(sys.argv[2:]); "
    "print(*sorted({*sys.argv[1].split()} & {*sys.modules}), file=sys.stderr); sys.exit(status)"
)


@pytest.fixture(scope="module")
def folder(slice_text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start")
    with slice_text.open() as whole:
        lines = [*islice(whole, 400)]
    (folder / "text.txt").write_text("".join(lines))
    (folder / "labeled.txt").write_text("".join(f"__label__{len(line) % 2} {line}" for line in lines))
    (folder / "labeled").write_bytes((folder / "labeled.txt").read_bytes())
    for call in (CALLS[0], CALLS[3], *CALLS[-2:]):
        imported(folder, call)
    return folder


def imported(folder: Path, call: str) -> str:
    argv = [sys.executable, "-c", CODE, " ".join(OUTSIDE | OURS), *call.split()]
    done = subprocess.run(argv, cwd=folder, input="the\n", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.strip()


CALLS = (
    "train text.txt -o words.bin -q --no-meta --dim 10 --overwrite",
    "train text.txt -o words.vec -q --no-meta --dim 10 --minn 3 --maxn 4 --overwrite",
    "glove text.txt -o glove.bin -q --no-meta --dim 10 --iterations 1 --overwrite",
    "train labeled.txt -o labels.bin --model supervised -q --no-meta --dim 10 --overwrite",
    "build-vocab text.txt -o words.vocab -q",
    "phrases text.txt -o joined.txt -q",
    "predict labels.bin labeled.txt",
    "nn words.bin the",
    "vectors words.bin",
    "convert words.bin words.vec -q",
    "search index text.txt -o text.index -q --no-meta",
    "lm train text.txt -o words.lm -q --no-meta --order 2",
)


@pytest.mark.parametrize("call", CALLS)
def test_a_job_imports_only_what_it_uses(call: str, folder: Path) -> None:
    assert imported(folder, call) == ""


def room_in(module: str) -> str:
    inner = ".".join(module.split(".")[:2])
    return inner if inner in INNER else module.split(".")[0]


@pytest.mark.parametrize("call", QUERIES)
def test_a_query_imports_few_rooms(call: str, folder: Path) -> None:
    """Rooms by name; of commands, every module. The number of modules may fall, and is not to creep up."""
    rooms, most = QUERIES[call]
    argv = [sys.executable, "-c", QUERY, *call.split()]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert SLOW.intersection(loaded) <= MAY_HAVE.get(call, set())
    modules = [name.removeprefix("wv_cli.") for name in loaded if name.startswith("wv_cli.")]
    found = {name if name.startswith("commands") else room_in(name) for name in modules}
    assert {room for room in found if not room.startswith("_")} == BELOW - LACKS.get(call, set()) | rooms
    assert len([name for name in modules if not name.startswith(("_", "cli"))]) <= most


@pytest.mark.parametrize(
    "call",
    ["build-vocab text.txt -o words.vocab -q", "filter records.jsonl -o kept --words 1.. --overwrite -q"],
)
def test_texts_and_records_need_no_format_of_vectors(call: str, folder: Path) -> None:
    """Nor is a record with numbers taken for a row of GloVe's."""
    (folder / "records.jsonl").write_text('{"text": "page 1 of 20", "id": 7}\n')
    argv = [sys.executable, "-c", QUERY, *call.split()]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True)
    assert not [name for name in done.stderr.split() if name.startswith("wv_cli.vectors.formats")]


def test_scores_of_a_kenlm_file_need_no_numpy(folder: Path) -> None:
    """NumPy is a large part of the start of a short job."""
    model = kenlm_files(folder) / "words.o4.probing.bin"
    (folder / "plain.txt").write_text("the cat\nunseen words of no number\n")
    argv = [sys.executable, "-c", QUERY, "lm", "score", str(model), "plain.txt"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stdout.count("Total: ") == 2 and "numpy" not in done.stderr.split()


PRODUCT_THREADS = (
    "import atexit, os, sys; from wv_cli.__main__ import main; atexit.register(lambda: print("
    "os.environ.get('OPENBLAS_NUM_THREADS'), len(os.listdir('/proc/self/task')), file=sys.stderr)); main()"
)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
@pytest.mark.parametrize(
    ("call", "chosen", "expected"),
    [
        ("nn words.bin the", None, "1 1"),
        ("convert words.bin words.vec -q", "3", "3 "),
        ("whiten words.bin -o white.bin -q", None, "None "),
    ],
)
def test_a_start_begins_no_threads_for_products(folder: Path, call: str, chosen: str | None, expected: str) -> None:
    """But of the commands that use them, and as many as the user says."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment |= {"OPENBLAS_NUM_THREADS": chosen} if chosen else {}
    argv = [sys.executable, "-c", PRODUCT_THREADS, *call.split()]
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr.startswith(expected)


def test_a_start_is_not_searched_for_garbage(folder: Path) -> None:
    code = (
        "import atexit, gc, sys; from wv_cli.__main__ import main; before = gc.get_stats()[0]['collections']; "
        "atexit.register(lambda: print(gc.get_stats()[0]['collections'] - before, file=sys.stderr)); main()"
    )
    argv = [sys.executable, "-c", code, *CALLS[0].split()]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == "0\n"


@pytest.mark.parametrize("name", sorted(OUTSIDE | OURS))
def test_what_must_not_be_imported_is_there(name: str) -> None:
    assert importlib.util.find_spec(name) is not None
