"""Fixtures: a Dask cluster of two worker processes, one for all tests."""

from collections.abc import Iterator

import pytest

from tests.cluster.served import served, silent
from wv_cli.cluster.dask_cluster import DaskCluster, dask_cluster


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("dask"), 2) as found:
        yield found


@pytest.fixture(scope="session")
def cluster(address: str) -> Iterator[DaskCluster]:
    with dask_cluster(address, silent) as found:
        yield found
