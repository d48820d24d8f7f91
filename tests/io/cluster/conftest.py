"""Fixtures: a Dask cluster of two worker processes, one for all tests, and texts for it."""

import bz2
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.io.cluster.served import served, silent
from wv_cli.io.dask_cluster import DaskCluster, dask_cluster


@pytest.fixture(scope="package")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("dask"), 2) as found:
        yield found


@pytest.fixture(scope="package")
def cluster(address: str) -> Iterator[DaskCluster]:
    with dask_cluster(address, silent) as found:
        yield found


@pytest.fixture
def texts(slice_text: Path, tmp_path: Path) -> list[str]:
    """A plain text, a packed one, and one of long lines."""
    (tmp_path / "packed.bz2").write_bytes(bz2.compress(slice_text.read_bytes()[:100_000]))
    (tmp_path / "long.txt").write_bytes(slice_text.read_bytes()[:400_000].replace(b"\n", b" "))
    return [str(slice_text), str(tmp_path / "packed.bz2"), str(tmp_path / "long.txt")]
