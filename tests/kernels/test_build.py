"""What CMakeLists.txt refuses to build for."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CSRC = Path(__file__).resolve().parents[2] / "csrc"


@pytest.mark.skipif(importlib.util.find_spec("cmake") is None, reason="no cmake")
@pytest.mark.skipif(not all(map(shutil.which, ("cc", "make"))), reason="no C compiler or no make")
def test_a_python_without_the_gil_is_refused(tmp_path: Path) -> None:
    """Its extension modules are others; told before a compiler is."""
    (tmp_path / "sitecustomize.py").write_text("import sysconfig; sysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n")
    command = [
        sys.executable,
        "-m",
        "cmake",
        "-S",
        CSRC,
        "-B",
        tmp_path / "build",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "wv needs a Python with the GIL" in " ".join(done.stderr.split())
