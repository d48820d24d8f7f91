"""Runs commands in which one chosen call goes wrong (faults.c): a child for each, forked from a process that has
everything imported, so that only what the command itself does is counted."""

import ctypes
import importlib
import io
import itertools
import json
import os
import pkgutil
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import GOLDEN

SHIM = Path(__file__).with_name("faults.c")
_MARK = "WV_FAULTS"
_LONGEST = 300.0  # seconds a command may take


@dataclass(frozen=True)
class Command:
    """`outputs` are the files it writes; the first, or its folder, has a checkpoint when the command trains by steps
    (`resumes`). A `fresh` command finds no outputs of another run, others find those of the command line `before`, or
    files that are nothing."""

    line: str
    outputs: tuple[str, ...]
    resumes: bool = False
    fresh: bool = False
    before: str = ""

    @property
    def checkpoint(self) -> str:
        return f"{self.outputs[0].partition('/')[0]}.checkpoint"

    def clear(self, folder: Path) -> None:
        """Removes what it has written, and what it has left."""
        for name in (*self.outputs, self.checkpoint):
            place = folder / name.partition("/")[0]
            if place.is_dir():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)
        for path in folder.glob(".*wv-tmp"):
            path.unlink()

    @property
    def name(self) -> str:
        return f"{self.line.split()[0]} {self.outputs[0]}"


def _static(folder: str) -> tuple[str, ...]:
    """The files of a static embedding."""
    names = ("model.safetensors", "tokenizer.json", "config.json", "modules.json")
    return tuple(f"{folder}/{name}" for name in names)


_TRAIN = "train text.txt --dim 4 --epochs 300 --min-count 2 --threads 1 --no-meta -q"
_PAIRS = (
    "train pairs.tsv --no-header --model pairs --dim 4 --epochs 300 --min-count 1 --batch 4 --no-meta -q -o pairs "
    "-o pairs.vec"
)
_CONVERT = "convert vectors.vec static --to static -q"
COMMANDS = [
    Command("build-vocab text.txt -o words.txt -q", ("words.txt",)),
    Command("build-vocab text.txt -o spilt.txt --memory 64K -q", ("spilt.txt",)),
    Command("tokenize text.txt -o tokens.txt -q", ("tokens.txt",)),
    Command(f"{_TRAIN} -o words.vec", ("words.vec",), True),
    Command(f"{_TRAIN} --minn 2 --maxn 3 --buckets 200 -o subwords.bin", ("subwords.bin",), True),
    Command(f"{_TRAIN} -o begun.vec --save-state begun.state", ("begun.vec", "begun.state"), True),
    Command(f"{_TRAIN} --loss hs --model cbow -o numbers.npy", ("numbers.npy", "numbers.words.txt"), True),
    Command(
        "train labeled.txt --model supervised --dim 4 --epochs 300 --threads 1 --no-meta -q -o labels.bin",
        ("labels.bin",),
        True,
    ),
    Command(
        "glove text.txt -o glove.vec --save-counts counts.bin --save-state glove.state --dim 4 --iterations 300 "
        "--min-count 2 --threads 1 -q --no-meta",
        ("counts.bin", "glove.vec", "glove.state"),
        True,
    ),
    Command(
        "bioword text.txt -o bioword.codes --save-hasher bioword.hasher --cells 16 --length 4 --epochs 100 --batch 50 "
        "--threads 1 -q --no-meta",
        ("bioword.codes", "bioword.hasher"),
        True,
    ),
    Command(
        "hash vectors.vec -o biohash.codes --save-hasher biohash.hasher --method biohash --rule sgd --expansion 16 "
        "--length 4 --batch 10 --epochs 300 --threads 1 -q --no-meta",
        ("biohash.codes", "biohash.hasher"),
        True,
    ),
    Command(
        "hash vectors.vec -o lsh.codes --method lsh --save-hasher lsh.hasher -q --no-meta", ("lsh.codes", "lsh.hasher")
    ),
    Command(
        "whiten vectors.vec -o white.vec --save-moments moments --save-transform transform -q",
        ("white.vec", "moments", "transform"),
    ),
    Command("align vectors.vec vectors.vec -o aligned.vec -q", ("aligned.vec",)),
    Command("search index text.txt -o texts.index --no-meta -q", ("texts.index",)),
    Command("convert vectors.vec binary.bin -q", ("binary.bin",)),
    Command("phrases text.txt -o phrases.txt -q", ("phrases.txt",)),
    Command("lm train text.txt --smoothing witten-bell -o model.arpa --no-meta -q", ("model.arpa",)),
    Command(
        "train text.txt --model nplm --dim 4 --hidden 4 --negative 4 --epochs 300 --threads 1 -o neural.lm --no-meta "
        "-q",
        ("neural.lm",),
        True,
    ),
    Command("lm train text.txt --smoothing witten-bell -o model.lm --memory 1k --no-meta -q", ("model.lm",)),
    Command("quantize model.bin -o small.ftz --cutoff 50 -q --no-meta", ("small.ftz",)),
    Command(
        _PAIRS,
        (*_static("pairs"), "pairs.vec"),
        True,
        before=f"{_PAIRS} --max-length 3",
    ),
    Command(
        "train text.txt --model doc2vec --dim 4 --epochs 300 --min-count 2 --threads 1 --no-meta -q -o model.d2v "
        "--doc-vectors docs.npy",
        ("model.d2v", "docs.npy"),
        True,
    ),
    Command(_CONVERT, _static("static"), before=f"{_CONVERT} --split punctuation"),
    Command("distil vocab.txt --encoder encoder --dim 2 -q -o distilled", _static("distilled"), fresh=True),
    Command("lm mix first.arpa second.arpa -q -o mixed.arpa", ("mixed.arpa",)),
    Command("predict labels.ftz text.txt -o predicted.txt", ("predicted.txt",)),
    Command("plot vectors.vec --top 9 -q -o plot.html", ("plot.html",)),
    Command(
        "filter pages.jsonl pages.csv -o kept --rejected gone --words 2.. --exact-duplicates document --add-scores -q",
        ("kept/pages.jsonl", "kept/pages.csv", "gone/pages.jsonl", "gone/pages.csv"),
        fresh=True,
    ),
]


def inputs(folder: Path) -> None:
    from tests.fuzz import seeds

    text = seeds.text()
    (folder / "text.txt").write_bytes(text)
    (folder / "labeled.txt").write_bytes(text)
    lines = [line.replace(b'"', b"'") for line in text.splitlines()]
    (folder / "pairs.tsv").write_bytes(b"".join(b"%b\t%b\n" % pair for pair in itertools.pairwise(lines)))
    (folder / "pages.jsonl").write_bytes(b"".join(b'{"text": "%b"}\n' % line for line in lines))
    (folder / "pages.csv").write_bytes(b"text\n" + b"".join(b'"%b"\n' % line for line in lines))
    (folder / "vocab.txt").write_bytes(b"the 9\nof 7\none 5\ntwo 3\n")
    shutil.copy(GOLDEN / "own" / "vectors.vec", folder)
    for name, source in {
        "model.bin": "ft-words.bin",
        "labels.ftz": "ft-labels.ftz",
        "first.arpa": "lm/micro.o3.arpa",
        "second.arpa": "lm/micro2.o3.arpa",
    }.items():
        shutil.copy(GOLDEN / source, folder / name)
    shutil.copytree(GOLDEN / "encoders" / "tiny-bert", folder / "encoder")


def preloaded() -> None:
    """Starts this process again with the shim in it, unless it has it; then imports the whole package."""
    if os.environ.get(_MARK):
        import wv_cli  # conftest has seen to it that this is the installed one

        for module in pkgutil.walk_packages(wv_cli.__path__, "wv_cli."):
            importlib.import_module(module.name)
        return
    built = Path(tempfile.mkdtemp()) / "faults.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-w", "-o", built, SHIM, "-ldl"], check=True)
    os.environ |= {_MARK: str(built), "LD_PRELOAD": str(built), "OPENBLAS_NUM_THREADS": "1"}
    os.environ.pop("PYTHONSAFEPATH", None)
    os.execv(sys.executable, [sys.executable, "-m", *_module(), *sys.argv[1:]])


def _module() -> list[str]:
    return [f"tests.fuzz.{Path(sys.argv[0]).stem}"]


@contextmanager
def workplace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        inputs(Path(folder))
        yield Path(folder)
    built = os.environ.get(_MARK)
    if built:
        shutil.rmtree(Path(built).parent, ignore_errors=True)


@dataclass(frozen=True)
class Done:
    """`signal` 0: it ended by itself. Counts are of calls that could go wrong."""

    code: int
    signal: int
    said: str
    allocations: int
    file_calls: int
    reads: int


def run(line: str, folder: Path, *, fail_at: int = 0, kill_at: int = 0, break_at: int = 0) -> Done:
    """Runs a command line of wv in a child, in `folder`."""
    said, told = folder / ".said", folder / ".told"
    told.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        _child(line.split(), folder, said, told, (fail_at, kill_at, break_at))
    begin = time.monotonic()
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() - begin > _LONGEST:
            os.kill(child, 14)
        time.sleep(0.001)
    counts = json.loads(told.read_text()) if told.exists() else [0, 0, 0]
    code = os.waitstatus_to_exitcode(status)
    text = said.read_text("utf-8", "replace") if said.exists() else ""
    return Done(max(code, 0), max(-code, 0), text, *counts)


def _child(line: Sequence[str], folder: Path, said: Path, told: Path, at: tuple[int, int, int]) -> None:
    """Never returns."""
    code = 99
    try:
        from wv_cli.__main__ import run as run_line

        os.chdir(folder)
        os.dup2(os.open(said, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0, closefd=False), write_through=True)
        shim = ctypes.CDLL(None)
        shim.wv_arm(*map(ctypes.c_long, at))
        try:
            code = run_line(list(line))
        except BaseException:
            shim.wv_arm(*[ctypes.c_long(0)] * 3)
            import traceback

            traceback.print_exc()
            code = 98
        counts = [shim.wv_allocations(), shim.wv_file_calls(), shim.wv_reads()]
        shim.wv_arm(*[ctypes.c_long(0)] * 3)
        told.write_text(json.dumps(counts))
    finally:
        os._exit(code)


def contents(folder: Path, names: Sequence[str]) -> dict[str, bytes | None]:
    return {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in names}


def chosen(count: int, most: int, seed: str) -> list[int]:
    """At most `most` of the numbers 1 .. count, spread by chance."""
    numbers = list(range(1, count + 1))
    return numbers if count <= most else sorted(random.Random(seed).sample(numbers, most))
