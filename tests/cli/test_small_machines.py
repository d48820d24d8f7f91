"""Old and small machines, as far as a test can be one; .ci/small has the rest: no /proc, read-only files, nobody."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Run
from wv_cli.errors import WvError
from wv_cli.io.output import check_writable

LIMITED = """\
import resource
resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))
from wv_cli.__main__ import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses are Linux's")
def test_training_within_512_megabytes(slice_text: Path, tmp_path: Path) -> None:
    """Of addresses, which are more than memory: a thread's stack alone counts 8 MB."""
    line = f"train {slice_text} -o v.bin --dim 50 --epochs 1 --threads 1 --memory 64M -q"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *line.split()],
        cwd=tmp_path,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # it reserves addresses for every core
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "v.bin").stat().st_size > 100_000


def test_a_locale_of_ascii_changes_no_byte(wv: Run, tmp_path: Path) -> None:
    words = "\u00e9t\u00e9 \udcff \u00e9t\u00e9\n".encode("utf-8", "surrogateescape")
    (tmp_path / "text.txt").write_bytes(words)
    plain = {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = wv("build-vocab", "text.txt", "-o", "-", "--min-count", 1, "-q", env=plain)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.encode("utf-8", "surrogateescape") == b"</s> 1\n\xc3\xa9t\xc3\xa9 2\n\xff 1\n"


def test_an_empty_environment(slice_vectors: Path, tmp_path: Path) -> None:
    """Neither HOME nor PATH nor a locale, as cron and containers have it."""
    command = [sys.executable, "-P", "-m", "wv_cli", "nn", str(slice_vectors), "-k", "2"]
    done = subprocess.run(command, cwd=tmp_path, env={}, input="music\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 2)


def test_a_read_only_file_system_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = os.statvfs(tmp_path)
    read_only = os.statvfs_result((*found[:8], found.f_flag | os.ST_RDONLY, *found[9:]))
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(os, "statvfs", lambda _: read_only)
    with pytest.raises(WvError, match=r"out.bin: cannot write: .* is on a read-only file system; write elsewhere"):
        check_writable(tmp_path / "out.bin")
