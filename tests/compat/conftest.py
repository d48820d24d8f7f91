"""The recorded runs, unpacked once a session."""

import pytest

from tests.compat import replay


@pytest.fixture(scope="session", autouse=True)
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> None:
    replay.unpack_into(tmp_path_factory.mktemp("transcripts"))
