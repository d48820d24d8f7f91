"""Which instruction set the kernels run on. The only module that links them; the others ask it for the table."""

import os

from wv_cli.core.cpu cimport wv_compiler, wv_flags, wv_isa_count, wv_isa_usable

from wv_cli.errors import UsageError


cdef extern from "kernels/tables.h" nogil:
    const wv_kernels *const *wv_isa_tables


cdef const wv_kernels *chosen = NULL


cdef const wv_kernels *kernels() noexcept nogil:
    return chosen


cdef const wv_kernels *kernels_named(str name) except NULL:
    cdef int index
    for index in range(wv_isa_count()):
        if wv_isa_tables[index].name.decode() == name:
            if not wv_isa_usable(index):
                raise UsageError(f"WV_ISA: this machine cannot run {name!r}; it runs: {', '.join(usable())}")
            return wv_isa_tables[index]
    raise UsageError(f"WV_ISA: unknown instruction set {name!r}; this build holds: {', '.join(built())}")


def built() -> list[str]:
    """Names of the instruction sets in this build, best last."""
    return [wv_isa_tables[index].name.decode() for index in range(wv_isa_count())]


def usable() -> list[str]:
    """Names of the instruction sets this machine can run, best last."""
    return [wv_isa_tables[index].name.decode() for index in range(wv_isa_count()) if wv_isa_usable(index)]


def name() -> str:
    """Name of the chosen instruction set."""
    return chosen.name.decode()


def compiler() -> str:
    """The C compiler of this build and its version."""
    return wv_compiler().decode().strip()


def flags() -> dict[str, str]:
    """Flags of all C of this build, and under the name of each instruction set those that its kernels add."""
    found = {"all": wv_flags().decode()}
    for index in range(wv_isa_count()):
        found[wv_isa_tables[index].name.decode()] = wv_isa_tables[index].flags.decode()
    return found


def choose(requested: str | None = None) -> None:
    """Choose by name, or the best one when `requested` is None or empty. Raises UsageError, never falls back."""
    global chosen
    chosen = kernels_named(requested or usable()[-1])


# An unusable WV_ISA is reported by the command line (wv_cli.__main__) and by `import wv_cli` alike.
choose(os.environ.get("WV_ISA"))
