"""The table of readers has a row for everything that the program's tables list, whole files are read, and a short run
over all targets finds nothing. The long run is `python -m tests.fuzz`."""

import importlib
import json
import math
import os
import random
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import GOLDEN, ROOT
from tests.fuzz.checkpoints import MODELS as TRAINED
from tests.fuzz.checkpoints import saved
from tests.fuzz.containers import Parsed, change_container
from tests.fuzz.harness import Limits, Run, Target, attempt, file_of
from tests.fuzz.mutations import ANYWHERE, IN_TEXT, mutated
from tests.fuzz.targets import TARGETS
from tests.walk import require_rows
from wv_cli.commands.models import MODELS
from wv_cli.errors import BadFile, WvError
from wv_cli.evaluation import TASKS
from wv_cli.hashing import HASHERS
from wv_cli.io import compression
from wv_cli.text.records.kinds import RECORDS
from wv_cli.vectors.formats import FORMATS

EACH = 60  # files of a target in the short run


def containers():
    """The kinds that are read anywhere in the package: the second argument of every container.Reader."""
    found = set()
    for path in (ROOT / "wv_cli").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for kind in re.findall(r"container\.Reader\(source, ([\w\"]+)", text):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found.add(kind.strip('"') if '"' in kind else getattr(importlib.import_module(module), kind))
    return found


def test_the_table_has_every_reader():
    covered = {each for target in TARGETS.values() for each in target.covers}
    tables = {
        "format": [name for name, row in FORMATS.items() if row.read],
        "hasher": HASHERS,
        "task": TASKS,
        "container": containers(),
        "codec": [codec.name for codec in compression._CODECS],
        "model": TRAINED,
        "records": [name for name in RECORDS if name not in ("arrow", "parquet")],  # pyarrow reads these
    }
    wanted = {f"{table}:{name}" for table, names in tables.items() for name in names}
    require_rows("`covers` of the targets in tests/fuzz/targets.py", covered, wanted)
    assert set(MODELS) <= set(TRAINED)


@pytest.mark.full
@pytest.mark.parametrize("name", TARGETS)
def test_whole_files_are_read(name, tmp_path):
    """Or refused for what they were made for; one at least is read."""
    target = TARGETS[name]
    for beside, content in target.beside.items():
        (tmp_path / beside).parent.mkdir(exist_ok=True)
        (tmp_path / beside).write_bytes(content())
    outcomes = {attempt(target, data, tmp_path, Limits(seconds=math.inf)) for data in target.seeds()}
    assert ("read", "", "") in outcomes and outcomes <= {("read", "", ""), ("refused", "", "")}


@pytest.mark.full
def test_short_run(tmp_path):
    """Some files of every target, all of them refused in one line or read and used."""
    options = [
        "--files",
        EACH * len(TARGETS),
        "--keep",
        tmp_path / "kept",
        "--record",
        tmp_path / "record",
        "--patience",
        "inf",
    ]
    command = [sys.executable, "-m", "tests.fuzz", *map(str, options)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((tmp_path / "record").read_text())
    assert record["read"] + record["refused"] == EACH * len(TARGETS) and record["findings"] == 0
    assert {counts["target"] for counts in record["runs"]} == set(TARGETS)
    assert all(counts["read"] or counts["refused"] for counts in record["runs"])
    # What is always refused is not used, what is always read was not damaged.
    assert 0.1 < record["read"] / (record["read"] + record["refused"]) < 0.9


def failing(path):
    data = path.read_bytes()
    if data[:1] == b"k":
        os.kill(os.getpid(), 9)
    if data[:1] == b"d":
        raise KeyError("x")
    if data[:1] == b"m":
        np.ones(1 << 30, np.uint8)
    if data[:1] == b"w":
        np.float32(1e38) * np.float32(1e38)
    if data[:1] == b"e":
        raise BadFile(path, "two\nlines")
    if data[:1] == b"r":
        raise WvError("no")


@pytest.mark.full
def test_what_is_a_finding(tmp_path):
    """Death, other exceptions, memory, warnings, long messages; in whatever order, every file is counted once."""
    bad = {"k": "crash", "d": "KeyError", "m": "MemoryError", "w": "RuntimeWarning", "e": "message"}
    for letter, kind in {**bad, "r": "refused", "x": "read"}.items():
        target = Target(
            f"t-{letter}", lambda letter=letter: [b"x" * 50], failing, ((lambda data, _, c=letter: c.encode()),)
        )
        run = Run([target], 1, Limits(256 << 20, math.inf), 1, tmp_path)
        run.run(3)
        counts = run.counts[target.name]
        assert sum(counts.values()) == 3
        assert [finding.kind for finding in run.findings] == [kind] * 3 if letter in bad else counts[kind] == 3


def test_files_follow_the_seed():
    target = TARGETS["codes"]
    assert file_of(target, 1, 7) == file_of(target, 1, 7) != file_of(target, 2, 7)
    for ways in (ANYWHERE, IN_TEXT):
        for way in ways:
            for data in (b"a", b"1 2\nx 0.5 1\n", b'{"a": 1}\n'):
                assert isinstance(mutated([data], [way], random.Random(3)), bytes)


@pytest.mark.parametrize("name", ["sparse.codes", "zca.transform", "itq.hasher", "skipgram.checkpoint"])
def test_containers_are_taken_apart_and_put_together(name):
    data = saved("skipgram")[1] if name == "skipgram.checkpoint" else (GOLDEN / "own" / name).read_bytes()
    assert Parsed.of(data).data() == data
    changed = {change_container(data, random.Random(number)) for number in range(50)}
    assert len(changed - {data}) > 40
