"""What a launcher (mpirun, srun) says in the environment of the processes it starts. Imports nothing but the errors."""

import os
import sys
from collections.abc import Mapping

from wv_cli.errors import WvError
from wv_cli.io import host

# How many processes were started together, as the launcher says: Open MPI's mpirun, that of MPICH and Intel MPI,
# MVAPICH's, and srun for the step it starts (a batch script itself is no step and has no such variable).
_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")
# How many threads the libraries of linear algebra under NumPy use.
_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Bytes of address space (ulimit -v): what NumPy takes before any work, with one thread; what is enough for all threads.
_LEAST_SPACE, _MUCH_SPACE = 160_000 << 10, 1 << 30


def started_together(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes the launcher has started together; 1 without one."""
    counts = [environment.get(name, "") for name in _COUNTS]
    return max((int(count) for count in counts if count.isdecimal()), default=1) or 1


def refuse_processes() -> None:
    """Raises WvError where a launcher has started several processes, each of which would do the whole work."""
    if (started := started_together()) > 1:
        raise WvError(f"started as {started} processes, each of which would do all of the work; start it once")


def start_no_threads_for_products() -> None:
    """Before NumPy is imported: OpenBLAS starts its threads when it is loaded, and they spin for a while.

    The user's own number stays. Processes that this one starts lose nothing: Dask gives its workers 1 by itself."""
    os.environ.setdefault(_BLAS_THREADS[0], "1")


def prepare_for_little_memory() -> str:
    """Before NumPy is imported: one thread for its matrix products under a small limit on address space, since each
    takes some. Returns what is wrong where the limit is so low that NumPy would end the process; else ""."""
    limit = host.address_limit()
    if limit is not None and limit < _MUCH_SPACE:
        for name in _BLAS_THREADS:
            os.environ.setdefault(name, "1")
    if limit is not None and limit < _LEAST_SPACE and "numpy" not in sys.modules:
        found = f"the limit on memory (ulimit -v) is {limit >> 10} KB, too low to begin"
        return f"{found}; raise it to {2 * _LEAST_SPACE >> 10} or more"
    return ""
