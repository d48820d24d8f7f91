"""Suite `engines`: one corpus filtered by the command, in parts, from S3, and by `Filter` inside other engines.

    python benchmarks/run.py corpus.txt --suite engines --rounds 3

The corpus is the paragraphs of a text as JSON lines, again and again up to BYTES, in 20 shards and in one file. The
Python that runs this has wv, ray[data], pyspark with Java, dask[dataframe], datatrove with orjson and regex, s3fs and
moto[server].

CPU seconds are those of a process and of all that come from it; the server of S3, on this machine, is not counted. The
same records must be kept everywhere, and the slices of one file must have its bytes, or the run ends with exit code 1.
An engine runs twice with one worker: with `Filter`, and keeping the same records by a field that says so. What Ray and
Spark do besides differs by seconds between runs.
"""

import hashlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import record
from measure import HERE, WV, measure
from record import Run

ENGINES = ("Ray Data", "Spark", "Dask", "datatrove")
RULES = {"words": "50..100000", "heuristic": ["gopher-repetition", "gopher-quality"]}
BYTES, SHARDS, BUCKET = 200_000_000, 20, "corpus"
_LINES = (1, 3, 6, 9)  # of a document, in turn

# Waits for a process and for all that outlive their parents, as daemons of engines do: Linux hands these to it.
_WAITING = """
import ctypes, os, signal, subprocess, sys, threading
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
child, cpu, code = subprocess.Popen(sys.argv[1:], stdout=sys.stderr), 0.0, 1
def end():
    for pid in open(f"/proc/self/task/{os.getpid()}/children").read().split():
        os.kill(int(pid), signal.SIGKILL)
    threading.Timer(5, end).start()
while True:
    try:
        pid, status, used = os.wait4(-1, 0)
    except ChildProcessError:
        break
    cpu += used.ru_utime + used.ru_stime
    if pid == child.pid:
        code = os.waitstatus_to_exitcode(status)
        timer = threading.Timer(20, end)
        timer.start()
print(cpu, flush=True)
os._exit(abs(code))
"""


def engines(options: Any, result: Run, say: Any) -> bool:
    result["data"] = record.inputs(Path(options.corpus))
    result["rules"], runs, kept = RULES, list[Run](), dict[str, str]()
    with tempfile.TemporaryDirectory(dir=options.scratch) as name:
        work = Path(name)
        megabytes = _write_corpus(Path(options.corpus), work) / 1e6
        (work / "rules.toml").write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in RULES.items()))
        with _s3(work) as remote:
            for number, _ in record.rounds(options):
                for task, program, run in _runs(work, remote):
                    cpu, digest = run()
                    kept[f"{task}, {program}"] = digest
                    runs.append({"task": task, "program": program, "round": number, "cpu_seconds": round(cpu, 3)})
                    say(f"round {number} {task}, {program}: {cpu:.2f} CPU s, {digest[:8]}")
    result["runs"], result["summary"], result["digests"] = runs, record.summary(runs), kept
    for row in result["summary"]:
        row["mb_per_cpu_second"] = megabytes / row["cpu_seconds"]
    same = len({digest for what, digest in kept.items() if "one file" not in what}) == 1
    same = same and len({digest for what, digest in kept.items() if "one file" in what}) == 1
    say(f"what is kept is {'the same' if same else 'NOT the same'} everywhere")
    return same


def _write_corpus(text: Path, work: Path) -> int:
    """Shards in in/, the same as one file in one/; `keep` says what the rules keep. Returns the bytes."""
    import wv_cli

    rules, written = wv_cli.Filter(RULES), 0
    (work / "in").mkdir()
    (work / "one").mkdir()
    documents = _documents(text)
    with (work / "one" / "corpus.jsonl").open("wb") as whole:
        for shard in range(SHARDS):
            with (work / "in" / f"part-{shard:02}.jsonl").open("wb") as file:
                while written < BYTES * (shard + 1) // SHARDS:
                    some = [*itertools.islice(documents, 50)]
                    for (number, text_of), keep in zip(
                        some, rules([each for _, each in some]).keep.tolist(), strict=True
                    ):
                        line = json.dumps({"id": number, "keep": keep, "text": text_of}).encode() + b"\n"
                        written += len(line)
                        file.write(line)
                        whole.write(line)
    return written


def _documents(text: Path) -> Iterator[tuple[int, str]]:
    """(number, text) without an end: the paragraphs of a text, some of them in each document."""
    numbers = itertools.count()
    while True:
        with text.open(encoding="utf-8") as lines:
            for length in itertools.cycle(_LINES):
                if not (some := [*itertools.islice(lines, length)]):
                    break
                yield next(numbers), "".join(some).rstrip("\n")


def _runs(work: Path, remote: dict[str, str]) -> Iterator[tuple[str, str, Any]]:
    """(task, program, what measures it) of a round."""
    rules = ["--rules", work / "rules.toml", "--threads", "1", "-q", "--overwrite"]
    shards, one = work / "in", work / "one"

    def command(out: str, inputs: object, parts: int = 0, environment: dict[str, str] | None = None) -> Any:
        def run() -> tuple[float, str]:
            target = f"s3://{BUCKET}/{out}" if environment else work / out
            argv = [*WV, "filter", inputs, "-o", target, *rules]
            each = [[*argv, "--part", f"{part}/{parts}"] for part in range(1, parts + 1)] or [argv]
            cpu = sum(_cpu(one, environment) for one in each)
            if environment:
                _download(out, work / out, environment)
            return cpu, _digest_of_bytes(work / out) if inputs == one else _digest(work / out)

        return run

    yield "20 shards", "wv filter", command("command", shards)
    for parts in (1, 4, 16):
        yield f"{parts} {'parts' if parts > 1 else 'part'}", "wv filter", command(f"parts-{parts}", shards, parts)
    yield "one file", "wv filter", command("whole", one)
    yield "one file, 4 parts", "wv filter", command("slices", one, 4)
    yield "S3", "wv filter", command("s3", f"s3://{BUCKET}/in", 0, remote)
    yield "S3, 4 parts", "wv filter", command("s3-parts", f"s3://{BUCKET}/in", 4, remote)
    for engine in ENGINES:
        for task, given in (("Filter", str(work / "rules.toml")), ("a field", None)):
            yield task, engine, _engine(engine, work, given)


def _engine(engine: str, work: Path, rules: str | None) -> Any:
    def run() -> tuple[float, str]:
        with tempfile.TemporaryDirectory(dir=work) as folder:
            job = {"shards": str(work / "in"), "out": f"{folder}/out", "work": folder, "rules": rules}
            cpu = _cpu([sys.executable, "-P", HERE / "peer_engines.py", engine, json.dumps(job)])
            return cpu, _digest(Path(folder) / "out")

    return run


def _cpu(argv: list[Any], environment: dict[str, str] | None = None) -> float:
    before = os.environ.copy()
    os.environ.update(environment or {})
    try:
        used = measure([sys.executable, "-I", "-S", "-c", _WAITING, *map(str, argv)])
    finally:
        os.environ.clear()
        os.environ.update(before)
    return float(used.stdout)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name[0] not in "._")


def _digest(folder: Path) -> str:
    """Of the records in the files of a folder, whatever their order."""
    found = []
    for path in _files(folder):
        if path.suffix in (".json", ".jsonl", ".part"):
            with path.open("rb") as lines:
                found += [
                    hashlib.md5(f"{each['id']} {each['text']}".encode()).digest() for each in map(json.loads, lines)
                ]
    return hashlib.sha256(b"".join(sorted(found))).hexdigest()


def _digest_of_bytes(folder: Path) -> str:
    """Of the files of a folder, one after the other."""
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _s3:
    """A server of S3 with the shards. Its environment finds it."""

    def __init__(self, work: Path) -> None:
        self._work = work

    def __enter__(self) -> dict[str, str]:
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self._server.stdout is not None
        environment = {
            "AWS_ENDPOINT_URL": self._server.stdout.readline().strip(),
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "us-east-1",
            "WV_CACHE": str(self._work / "cache"),
        }
        _copy(environment, "put", str(self._work / "in"), f"{BUCKET}/in")
        return environment

    def __exit__(self, *_: object) -> None:
        self._server.terminate()
        self._server.wait()


_SERVER = """
import threading
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print("http://%s:%d" % server.get_host_and_port(), flush=True)
threading.Event().wait()
"""
_COPY = """
import sys, s3fs
what, source, target = sys.argv[1:]
system = s3fs.S3FileSystem()
if what == "put":
    system.mkdir(target.partition("/")[0])
getattr(system, what)(source, target, recursive=True)
"""


def _copy(environment: dict[str, str], *words: str) -> None:
    subprocess.run([sys.executable, "-c", _COPY, *words], check=True, env={**os.environ, **environment})


def _download(out: str, folder: Path, environment: dict[str, str]) -> None:
    _copy(environment, "get", f"{BUCKET}/{out}", str(folder))
