"""Whether there are ranks, and how they agree."""

import sys

import pytest

from tests.cluster.threads import ThreadRanks, run_ranks
from wv_cli.cluster.mpi import world
from wv_cli.cluster.ranks import agree, ranks_of_launcher
from wv_cli.cluster.training import require_same
from wv_cli.errors import Elsewhere, UsageError, WvError
from wv_cli.system.launcher import started_together


@pytest.mark.parametrize(
    ("environment", "count"),
    [
        ({}, 1),
        ({"OMPI_COMM_WORLD_SIZE": "4"}, 4),
        ({"PMI_SIZE": "2"}, 2),
        ({"SLURM_STEP_NUM_TASKS": "8"}, 8),
        ({"OMPI_COMM_WORLD_SIZE": "1", "PMI_SIZE": "1"}, 1),
        ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, 1),  # in a batch script, outside srun
        ({"PMI_SIZE": "many"}, 1),
    ],
)
def test_the_launcher_says_how_many_processes_there_are(environment: dict[str, str], count: int) -> None:
    assert started_together(environment) == count


def test_a_process_alone_has_no_ranks_and_imports_no_mpi() -> None:
    before = "mpi4py" in sys.modules
    assert ranks_of_launcher() is None
    assert ("mpi4py" in sys.modules) == before


def test_without_mpi4py_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(WvError, match=r"pip install mpi4py"):
        world(2)


def test_an_error_of_one_rank_is_said_by_it_alone_with_its_name() -> None:
    def task(ranks: ThreadRanks) -> tuple[str, int, bool]:
        try:
            with agree(ranks):
                if ranks.rank == 1:
                    raise UsageError("this is wrong")
        except WvError as error:
            return str(error), error.exit_code, isinstance(error, Elsewhere)
        raise AssertionError("went on")

    assert run_ranks(3, task) == [("", 2, True), ("rank 1 of 3 (here): this is wrong", 2, False), ("", 2, True)]


def test_an_error_that_all_ranks_have_is_said_once_and_is_no_rank_s() -> None:
    def task(ranks: ThreadRanks) -> str:
        with pytest.raises(WvError) as caught, agree(ranks):
            raise WvError("no text")
        return str(caught.value)

    assert run_ranks(2, task) == ["no text", ""]


def test_other_options_are_refused_with_the_rank() -> None:
    def task(ranks: ThreadRanks) -> str:
        with pytest.raises(WvError) as caught:
            require_same(ranks, {"dim": 100 if ranks.rank == 0 else 50, "window": 5})
        assert caught.value.exit_code == 2
        return str(caught.value)

    said = run_ranks(2, task)[0]
    assert said == "rank 1 of 2 (here) has dim 50, rank 0 of 2 (here) has 100; start all with the same command line"


def test_other_versions_are_refused_with_the_rank() -> None:
    def task(ranks: ThreadRanks) -> str:
        with pytest.raises(WvError) as caught:
            require_same(ranks, {}, version=f"0.{ranks.rank}")
        return str(caught.value)

    assert "rank 1 of 2 (here) has wv 0.1, rank 0 of 2 (here) has 0.0" in run_ranks(2, task)[0]
