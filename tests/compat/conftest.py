"""The recorded runs, unpacked, and the process that runs ours, once a session."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat import replay

ZYGOTE = Path(__file__).with_name("zygote.py")


@pytest.fixture(scope="session", autouse=True)
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> None:
    replay.unpack_into(tmp_path_factory.mktemp("transcripts"))


@pytest.fixture(scope="session")
def zygote() -> "Iterator[subprocess.Popen[str]]":
    with subprocess.Popen([sys.executable, ZYGOTE], stdin=-1, stdout=-1, encoding="utf-8") as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
