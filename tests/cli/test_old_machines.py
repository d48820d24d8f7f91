"""Machines with less: a processor without AVX, no /proc, the C locale. The same vectors, byte for byte."""

import os
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

WV = ["-P", "-m", "wv_cli"]
TRAIN = [*WV, "train", "text.txt", "--dim", "10", "--epochs", "1", "--threads", "1", "-q"]
EMULATOR = shutil.which("qemu-x86_64")
HIDDEN = 'mount -t tmpfs none /proc; exec "$@"'
NO_PROC = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", HIDDEN, "sh"]


def run(prefix: list[str], *command: str, cwd: Path, **env: str) -> "subprocess.CompletedProcess[str]":
    done = [*prefix, *command]
    return subprocess.run(done, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def folder(slice_text, tmp_path_factory):
    """A folder with a text and the vectors that the plainest kernels make of it here."""
    folder = tmp_path_factory.mktemp("old")
    with slice_text.open() as whole, (folder / "text.txt").open("w") as text:
        text.writelines(islice(whole, 400))
    done = run([sys.executable], *TRAIN, "-o", "here.vec", cwd=folder, WV_ISA="baseline")
    assert done.returncode == 0, done.stderr
    return folder


def emulated(processor: str) -> list[str]:
    """python on `processor`, under its own name so that it finds its environment."""
    return [str(EMULATOR), "-cpu", processor, "-0", sys.executable, str(Path(sys.executable).resolve())]


@pytest.mark.skipif(EMULATOR is None, reason="needs qemu-x86_64")
def test_a_processor_without_avx(folder):
    """Core 2 where NumPy runs on it; from 2.4 on NumPy wants SSE4.2, which Nehalem has."""
    for processor in ("core2duo", "Nehalem"):
        if run(emulated(processor), "-c", "import numpy", cwd=folder).returncode == 0:
            break
    else:
        pytest.skip("NumPy runs on no such processor")
    version = run(emulated(processor), *WV, "--version", cwd=folder)
    assert "(baseline kernels; this machine runs: baseline)" in version.stdout, version.stderr
    done = run(emulated(processor), *TRAIN, "-o", "old.vec", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "old.vec").read_bytes() == (folder / "here.vec").read_bytes()


def test_without_proc_in_the_c_locale(folder):
    if not shutil.which("unshare") or run(NO_PROC, "test", "!", "-e", "/proc/self", cwd=folder).returncode != 0:
        pytest.skip("needs unshare, and the right to use it")
    done = run(
        [*NO_PROC, sys.executable],
        *TRAIN,
        "-o",
        "c.vec",
        cwd=folder,
        WV_ISA="baseline",
        LC_ALL="C",
        LANG="C",
        PYTHONUTF8="0",
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "c.vec").read_bytes() == (folder / "here.vec").read_bytes()
